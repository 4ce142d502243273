"""What the server's log says, and what it keeps to itself."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from heartroom.web import logs
from heartroom.web.identity import pseudonym


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    handlers = logging.getLogger().handlers[:]
    yield io.StringIO()
    structlog.reset_defaults()
    logging.getLogger().handlers[:] = handlers


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_an_event_is_one_line_of_json_with_pseudonyms_for_ids(stream: io.StringIO) -> None:
    logs.configure("info", "json", stream)
    structlog.get_logger("test").warning("lost", sid="AAAAAAAAAAAA", pid="a player", had=3)
    structlog.get_logger("test").debug("too small to be said")
    (line,) = lines(stream)
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "lost",
        "level": "warning",
        "had": 3,
        "session": pseudonym("AAAAAAAAAAAA"),
        "player": pseudonym("a player"),
    }
    assert "AAAAAAAAAAAA" not in stream.getvalue()


def test_an_error_brings_its_trace_in_the_same_line(stream: io.StringIO) -> None:
    logs.configure("info", "json", stream)
    try:
        raise ValueError("of all things")
    except ValueError:
        structlog.get_logger("test").exception("failed")
    (line,) = lines(stream)
    assert "ValueError: of all things" in line["exception"]


def test_what_libraries_warn_of_looks_the_same(stream: io.StringIO) -> None:
    logs.configure("info", "auto", stream)
    logging.getLogger("uvicorn.error").warning("%d of %d", 1, 2)
    logging.getLogger("uvicorn.error").info("nobody asked")
    (line,) = lines(stream)
    assert (line["event"], line["level"]) == ("1 of 2", "warning")


def test_on_a_terminal_it_is_for_people(stream: io.StringIO) -> None:
    logs.configure("debug", "text", stream)
    structlog.get_logger("test").debug("hello", sid="AAAAAAAAAAAA")
    assert "hello" in stream.getvalue()
    assert pseudonym("AAAAAAAAAAAA") in stream.getvalue()
    with pytest.raises(json.JSONDecodeError):
        json.loads(stream.getvalue())
