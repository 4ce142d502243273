"""When Python looks for garbage: seldom, and never among what lives long, unless memory grows.

Its collector would look through all that ten thousand connections consist of whenever a quarter has been
added: a second in which nobody is served. Nearly all that a server drops is free at once, by reference
counts, and connections are taken apart so that theirs is (`DirectProtocol.let_go`). So what has lived for a
moment is kept out of the collector's sight, and only when memory has doubled is everything looked through.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import structlog

_log = structlog.get_logger(__name__)

_YOUNG: Final = 2_000
"""Objects after which those are looked through that are so young."""
_NEVER: Final = 1_000_000
_GROWTH: Final = 2
_SLACK: Final = 256 * 2**20
"""Bytes by which memory may have grown besides."""
_EVERY_S: Final = 600.0
"""How often everything is looked through where memory cannot be measured."""


def resident() -> int | None:
    """Bytes of this process in memory; `None` where the system does not tell in the way of Linux."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


class Memory:
    """The collector of this process."""

    def __init__(self, size: Callable[[], int | None] = resident) -> None:
        self._size: Final = size
        self._after: int | None = None
        """Bytes after everything was looked through."""
        self._at_s = 0.0

    def begin(self) -> None:
        """What has been imported stays."""
        gc.set_threshold(_YOUNG, _NEVER, _NEVER)
        self._look_through()

    def tick(self) -> None:
        """To be called every second or so."""
        if self._is_due():
            began = time.perf_counter()
            self._look_through()
            _log.debug(
                "memory looked through", took_s=round(time.perf_counter() - began, 3), bytes=self._after
            )
        else:
            gc.freeze()

    def _is_due(self) -> bool:
        size = self._size()
        if size is None or self._after is None:
            return time.monotonic() - self._at_s > _EVERY_S
        return size > self._after * _GROWTH + _SLACK

    def _look_through(self) -> None:
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        self._after = self._size()
        self._at_s = time.monotonic()
