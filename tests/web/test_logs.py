"""What the server's log says, and what it keeps to itself."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from redis import Redis

from heartroom import __version__, metrics
from heartroom.client import Lost
from heartroom.web import logs
from heartroom.web.identity import Identity, pseudonym
from tests.support.games import CODE, GAME, WINNING
from tests.support.serving import SECRET, Server
from tests.support.stores import StoreProcess, eventually
from tests.web.test_app import flood


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


def test_what_has_a_trace_is_counted_as_unforeseen_whoever_logs_it(stream: io.StringIO) -> None:
    logs.configure("error", "json", stream)
    before = metrics.FAULTS._value.get()
    structlog.get_logger("test").error("to be expected")
    assert metrics.FAULTS._value.get() == before
    structlog.get_logger("test").error("task failed", exc_info=ValueError("of all things"))
    try:
        raise ValueError("of all things")
    except ValueError:
        logging.getLogger("uvicorn.error").exception("Exception in ASGI application")
        structlog.get_logger("test").exception("failed")
    assert metrics.FAULTS._value.get() == before + 3
    assert len(lines(stream)) == 4


def test_what_libraries_warn_of_looks_the_same(stream: io.StringIO) -> None:
    logs.configure("info", "auto", stream)
    logging.getLogger("asyncio").warning("%d of %d", 1, 2)
    logging.getLogger("asyncio").info("nobody asked")
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")  # counted instead
    (line,) = lines(stream)
    assert (line["event"], line["level"]) == ("1 of 2", "warning")


def test_on_a_terminal_it_is_for_people(stream: io.StringIO) -> None:
    logs.configure("debug", "text", stream)
    structlog.get_logger("test").debug("hello", sid="AAAAAAAAAAAA")
    assert "hello" in stream.getvalue()
    assert pseudonym("AAAAAAAAAAAA") in stream.getvalue()
    with pytest.raises(json.JSONDecodeError):
        json.loads(stream.getvalue())


# -- what a server says of its life


def events(server: Server) -> list[dict[str, Any]]:
    return [json.loads(line) for line in server.said().splitlines()]


def named(server: Server, event: str) -> list[dict[str, Any]]:
    return [line for line in events(server) if line["event"] == event]


async def test_a_server_says_what_befalls_it_and_shows_nobody_s_id(own: StoreProcess) -> None:
    server = Server(redis_url=own.url, secret=SECRET, log_format="json")
    players = []
    async with await server.connect() as client, await server.connect() as flooding:
        session = await client.new(GAME.name, {"code": CODE})
        await client.join(session)
        for action in WINNING:
            await client.act(*action)
        with pytest.raises(Lost):
            await flood(flooding, b"\xc1")
        own.kill()
        await client.until(lambda: not client.store_answers)
        own.start()
        await client.until(lambda: client.store_answers)
        assert await client.new(GAME.name, {"code": CODE}) != session
        for each in (client, flooding):
            player = Identity(SECRET).unseal(each.cookie or "")
            assert player is not None
            players.append(player)
    assert server.terminate() == 0
    (starts,) = named(server, "server starts")
    assert (starts["version"], starts["store"], starts["workers"]) == (__version__, "one", 1)
    begun, _ = named(server, "session begun")
    assert (begun["session"], begun["player"]) == (pseudonym(session), pseudonym(players[0]))
    assert begun["game"] == GAME.name
    (over,) = named(server, "game over")
    assert (over["session"], over["outcome"]) == (pseudonym(session), "won")
    assert over["actions"] == len(WINNING)
    (cut,) = named(server, "cut off for flooding")
    assert cut["player"] == pseudonym(players[1])
    (away,), (back,) = named(server, "store away"), named(server, "store back")
    assert away["level"] == "warning"
    assert away["reason"]
    assert back["after_s"] >= 0
    assert len(named(server, "draining begins")) == 1
    (ended,) = named(server, "server ended")
    assert ended["node"] == starts["node"]
    assert events(server)[0] == starts
    assert {line["level"] for line in events(server)} == {"info", "warning"}
    assert len(events(server)) == 9, "no line for a move"
    for secret in (SECRET, session, *players):
        assert secret not in server.said()
    server.stop()


def test_a_store_that_does_not_let_us_in_is_said_at_the_start(own: StoreProcess) -> None:
    with Redis(unix_socket_path=own.socket) as redis:
        redis.execute_command("CONFIG", "SET", "requirepass", "the right one")
    server = Server(redis_url=f"unix://:the-wrong-one@{own.socket}", secret=SECRET)
    eventually(lambda: bool(named(server, "store away")), "it is said")
    (away,) = named(server, "store away")
    assert away["level"] == "error"
    assert "password" in away["reason"]
    assert server.get("/readyz").status == 503
    assert len(named(server, "store away")) == 1
    assert server.terminate() == 0
    assert "the-wrong-one" not in server.said()
    server.stop()


def test_a_store_whose_channels_we_may_not_use_is_said_at_the_start(own: StoreProcess) -> None:
    """A new user of Redis has no channels unless they are given: then all works for a node that is alone."""
    with Redis(unix_socket_path=own.socket) as redis:
        redis.execute_command(
            "ACL", "SETUSER", "somebody", *["on", ">password", "~hr:*", "+@all", "resetchannels"]
        )
    server = Server(redis_url=f"unix://somebody:password@{own.socket}", secret=SECRET)
    eventually(lambda: bool(named(server, "store away")), "it is said")
    (away,) = named(server, "store away")
    assert away["level"] == "error"
    assert "channel" in away["reason"]
    assert server.get("/readyz").status == 503
    assert server.terminate() == 0
    server.stop()


def test_each_worker_says_who_it_is(tmp_path: Path) -> None:
    server = Server(data_dir=str(tmp_path), workers="2")
    eventually(lambda: len(named(server, "worker starts")) == 2, "two workers start")
    (starts,) = named(server, "server starts")
    assert (starts["store"], starts["workers"]) == ("embedded", 2)
    assert len({line["node"] for line in named(server, "worker starts")}) == 2
    eventually(lambda: server.get("/readyz").status == 200, "it is ready")
    assert server.terminate() == 0
    assert len(named(server, "server ended")) == 1
    server.stop()
