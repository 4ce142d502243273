"""How the server's log is written: one event a line, for people on a terminal and as JSON for programs.

Who reads a log need not be able to join every game and be every player: sessions and players appear under
pseudonyms only. `heartroom admin` shows the same ones.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO

import structlog

from heartroom import metrics
from heartroom.web.identity import pseudonym

_SHOWN_AS = {"sid": "session", "pid": "player"}
"""Keys whose values are ids: an event has a pseudonym in their place, under another key."""


def configure(level: str, style: str = "auto", stream: TextIO | None = None) -> None:
    """From now on our own events from `level` on, and the libraries' warnings, are written to `stream`
    (standard error). `level` and `style`: see `log_level` and `log_format` in `settings`."""
    stream = stream or sys.stderr
    number = logging.getLevelNamesMapping()[level.upper()]
    common: list[Any] = [
        structlog.stdlib.ExtraAdder(),
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _pseudonyms,
        _count_faults,
    ]
    if style == "text" or (style == "auto" and stream.isatty()):
        rendered: list[Any] = [structlog.dev.ConsoleRenderer(colors=stream.isatty())]
    else:
        rendered = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=common,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendered],
        )
    )
    logging.basicConfig(level=max(number, logging.WARNING), handlers=[handler], force=True)
    # It warns of every request that is none: whoever likes could fill the log. They are counted instead.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(stream),
        processors=[structlog.contextvars.merge_contextvars, *common[1:], *rendered],
    )


def _count_faults(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Whatever has a trace was unforeseen, wherever it was caught."""
    if event.get("exc_info"):
        metrics.FAULTS.inc()
    return event


def _pseudonyms(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for key, shown in _SHOWN_AS.items():
        if key in event:
            event[shown] = pseudonym(str(event.pop(key)))
    return event
