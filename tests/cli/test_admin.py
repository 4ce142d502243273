"""`heartroom admin` as it is typed, on each kind of store: what it shows, what it does, what it refuses."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import inspect
import json
import logging
import os
import pwd
import secrets
import socket
import stat
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Protocol

import msgspec
import pytest
import pytest_asyncio
import structlog
from click.testing import CliRunner, Result
from redis import Redis

from heartroom import __version__
from heartroom.admin import backup, looking
from heartroom.admin.broken import Broken
from heartroom.cli import main
from heartroom.client import Lost
from heartroom.games.game import Refused
from heartroom.leaderboards import results
from heartroom.players.service import Players
from heartroom.sessions.house import House
from heartroom.sessions.log import Deed, pack
from heartroom.sessions.room import Limits
from heartroom.store import keys
from heartroom.store.store import FORMAT, Store
from heartroom.web.identity import pseudonym
from tests.support.clusters import Cluster, cluster
from tests.support.days import PAR, Calendar, Node, known_deal, some_day
from tests.support.games import CODE, GAME, WINNING, begin, pid
from tests.support.guests import Guest, until
from tests.support.serving import HEARTROOM, SECRET, Server
from tests.support.stores import BINARIES, PATIENCE_S, StoreProcess, eventually


class Place(Protocol):
    """A store that is there."""

    @property
    def url(self) -> str: ...


@contextlib.contextmanager
def single(kind: str) -> Iterator[Place]:
    process = StoreProcess(BINARIES[kind])
    process.start()
    yield process
    process.remove()


def empty(place: Any) -> None:
    for node in getattr(place, "primaries", ()):
        node.ask("FLUSHALL")
    if isinstance(place, StoreProcess):
        with Redis.from_url(place.url) as redis:
            redis.flushall()


@pytest.fixture(scope="module", params=[*sorted(BINARIES), "cluster"])
def server(request: pytest.FixtureRequest) -> Iterator[Place]:
    if request.param == "cluster":
        with cluster(BINARIES["valkey"]) as of_three:
            yield of_three
    else:
        with single(request.param) as one:
            yield one


@pytest.fixture
def place(server: Place) -> Iterator[Place]:
    """An empty store."""
    yield server
    empty(server)


@pytest_asyncio.fixture
async def house(place: Place) -> AsyncIterator[House]:
    """A node on it."""
    async with open_house(place) as opened:
        yield opened


@pytest_asyncio.fixture
async def node(house: House) -> Node:
    """The same, with boards and a day of its own."""
    return Node(house, Calendar.on(some_day()))


@contextlib.asynccontextmanager
async def open_house(place: Place) -> AsyncIterator[House]:
    store = Store(place.url, timeout_s=20.0)
    house = House(store, Limits())
    house.start()
    try:
        yield house
    finally:
        await house.aclose()
        await store.aclose()


@pytest.fixture(autouse=True)
def own_log() -> Iterator[None]:
    """What a command sets up writes to a stream that is closed after the test."""
    yield
    structlog.reset_defaults()
    logging.getLogger().handlers.clear()


def typed(place: Place | None, *arguments: str, given: bytes | None = None) -> Result:
    env = {"HEARTROOM_REDIS_URL": place.url} if place is not None else {}
    ids = [one for one in arguments if one.startswith("-") and len(one) in (12, 16)]  # no option is so long
    words = [one for one in arguments if one not in ids or arguments[arguments.index(one) - 1] == "--player"]
    ids = [one for one in ids if one not in words]
    return CliRunner().invoke(main, ["admin", *words, *(["--", *ids] if ids else [])], input=given, env=env)


async def run(place: Place, *arguments: str) -> str:
    """What a command prints that does what it should."""
    done = await asyncio.to_thread(typed, place, *arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


async def told(place: Place, *arguments: str) -> Any:
    """The same, as JSON."""
    return json.loads(await run(place, *arguments, "--json"))


async def refused(place: Place, *arguments: str) -> str:
    """What a command says that cannot do it: one line."""
    done = await asyncio.to_thread(typed, place, *arguments)
    assert done.exit_code == 1, done.output
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


def not_served(url: str) -> str:
    """What `serve` says that does not start on this store."""
    env = {"HEARTROOM_REDIS_URL": url, "HEARTROOM_SECRET": SECRET}
    done = CliRunner().invoke(main, ["serve", "--port", "0"], env=env)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    return done.stderr


async def reasons(place: Place) -> list[tuple[str, str, str]]:
    """What was written down."""
    return [(one["action"], one["on"], one["reason"]) for one in await told(place, "actions")]


async def everything(store: Store) -> dict[bytes, Any]:
    """All that a backup should have, but for what a restore changes on purpose."""
    found: dict[bytes, Any] = {}
    async for bundle in backup._bundles(store, Broken()):
        for name, kind, expires_ms, value in bundle.keys:
            if name.startswith("hr:s:"):
                value = {field: one for field, one in value.items() if field not in (b"epoch", b"nodes")}
            found[name.encode()] = (kind, bool(expires_ms), value)
    found.pop(keys.ACTIONS.encode(), None)
    return found


# -- looking


async def test_nodes_are_listed_with_their_leases(place: Place, house: House) -> None:
    async with open_house(place) as other:
        for one in (house, other):
            await one.open(await begin(one.store))
        found = await told(place, "nodes")
        assert {node["node"] for node in found} == {house.store.node, other.store.node}
        assert all(node["alive"] and 0 < node["lease_ms"] <= Store.LEASE_MS for node in found)
    assert [node["node"] for node in await told(place, "nodes")] == [house.store.node]
    assert house.store.node in await run(place, "nodes")


async def test_nodes_are_listed_with_release_and_format_and_early_ones_as_unknown(
    place: Place, house: House
) -> None:
    await house.open(await begin(house.store))
    (node,) = await told(place, "nodes")
    assert (node["release"], node["format"]) == (__version__, FORMAT)
    await house.store.redis.hset(keys.NODES, "early", await house.store.time_ms())
    found = {one["node"]: one for one in await told(place, "nodes")}
    assert (found["early"]["release"], found["early"]["format"]) == (None, None)
    assert "unknown" in await run(place, "nodes")


async def test_what_no_node_has_said_keeps_nobody_from_the_nodes(place: Place) -> None:
    store = Store(place.url)
    try:
        sid = await begin(store)
        now = await store.time_ms()
        said = {"a": now, "b": now, "c": "garbage", b"\xff d": now}
        await store.redis.hset(keys.NODES, mapping=said)  # type: ignore[arg-type]
        await store.redis.hset(keys.ABOUT, mapping={"a": "1 0.1.0", "b": b"\xff"})
        await store.redis.hset(keys.LIVE, mapping={"a": b"%d\x90" % now, "b": b"%dx" % now, "e": "x"})
        listed, warnings = await partly(place, "nodes")
        assert [(one["node"], one["format"]) for one in listed] == [("a", 1), ("b", None)]
        assert len(warnings) == 5
        for arguments in (("sessions",), ("session", sid)):
            _, warnings = await partly(place, *arguments)
            assert len(warnings) == 5
        for key, warned in ((keys.LIVE, 4), (keys.ABOUT, 4), (keys.NODES, 3)):
            await store.redis.delete(key)
            await store.redis.set(key, "x")
            listed, warnings = await partly(place, "nodes")
            assert (len(listed), len(warnings)) == (2 if key != keys.NODES else 0, warned)
    finally:
        await store.aclose()


async def test_sessions_are_listed_by_pseudonym_with_who_plays(place: Place, house: House) -> None:
    ada, bob = pid(), pid()
    await house.rename(ada, "Ada")
    alone = await house.create(ada, GAME.name, {"code": CODE})
    table = await house.create(bob, "hearts", {})
    await (await house.open(table)).take_seat(ada)
    forgotten = await begin(house.store, bob)
    found = {one["session"]: one for one in await told(place, "sessions")}
    assert found.keys() == {pseudonym(alone), pseudonym(table), pseudonym(forgotten)}
    one = found[pseudonym(table)]
    assert (one["game"], one["version"], one["open"]) == ("hearts", 2, True)
    assert one["players"] == [
        {"player": pseudonym(bob), "name": ""},
        {"player": pseudonym(ada), "name": "Ada"},
    ]
    assert 0 <= one["idle_ms"] <= one["age_ms"]

    async def listed(*options: str) -> set[str]:
        return {one["session"] for one in await told(place, "sessions", *options)}

    assert await listed("--game", "hearts") == {pseudonym(table)}
    assert await listed("--player", pseudonym(ada)) == {pseudonym(alone), pseudonym(table)}
    assert (
        await listed("--player", "ada")
        == await listed("--player", ada)
        == {pseudonym(alone), pseudonym(table)}
    )
    assert await listed("--live") == {pseudonym(table)}
    assert await listed("--player", "nobody") == set()
    text = await run(place, "sessions")
    assert "Ada" in text
    for secret in (ada, bob, alone, table):
        assert secret not in text


async def test_a_session_is_shown_without_its_secrets_and_left_as_it_is(place: Place, house: House) -> None:
    player = pid()
    guest = await Guest.join(house, await begin(house.store, player), player)
    sid = guest.room.sid
    await guest.act("draw")
    await house.store.redis.expire(keys.session(sid), 1000)
    before = await house.store.redis.hgetall(keys.session(sid))
    facts = await told(place, "session", pseudonym(sid))
    by_id = await told(place, "session", sid)
    clocks = {"elapsed_ms", "expires_ms"}
    assert {n: v for n, v in facts.items() if n not in clocks} == {
        n: v for n, v in by_id.items() if n not in clocks
    }
    assert (facts["game"], facts["version"], facts["over"], facts["started"]) == (GAME.name, 1, False, True)
    assert facts["seats"] == [{"player": pseudonym(player), "name": "", "away": False, "left": False}]
    assert facts["nodes"] == [{"node": house.store.node, "alive": True}]
    text = await run(place, "session", sid)
    for told_text in (json.dumps(facts), text):
        for secret in (sid, player, CODE, "deal", "luck"):
            assert secret not in told_text
    assert await house.store.redis.hgetall(keys.session(sid)) == before
    assert await house.store.redis.ttl(keys.session(sid)) <= 1000
    assert await reasons(place) == []
    revealed = await told(place, "session", sid, "--reveal")
    assert revealed["deal"] == list(GAME.deal({"code": CODE}, bytes(32)).deal)
    assert revealed["revealed"]["session"] == sid
    assert [entry[1:][2] for entry in revealed["revealed"]["log"]] == [["draw"]]
    assert await reasons(place) == [("reveal", pseudonym(sid), "")]


async def test_the_deal_of_a_game_that_is_over_is_no_secret(place: Place, house: House) -> None:
    guest = await Guest.join(house, await begin(house.store, player := pid()), player)
    for action in WINNING:
        await guest.act(*action)
    facts = await told(place, "session", guest.room.sid)
    assert facts["over"]
    assert facts["options"] == {"code": CODE}


async def test_what_is_not_there_is_not_found(place: Place, house: House) -> None:
    for arguments in (
        ("session", "AAAAAAAAAAAA"),
        ("session", "0123456789ab"),
        ("session", "x"),
        ("end", "AAAAAAAAAAAA", "--reason", "r"),
        ("hide-name", "0123456789ab", "--reason", "r"),
        ("hide-name", "Ada", "--reason", "r"),
        ("hide-name", "A_name_as_an_id_", "--reason", "r"),
        ("hide-name", pid(), "--reason", "r", "--undo"),
        ("hide-row", "2026-11-30", "0123456789ab", "--reason", "r"),
        ("hide-row", "2026-11-30", pid(), "--reason", "r", "--undo"),
        ("rebuild", "2026-11-30"),
    ):
        assert "no " in await refused(place, *arguments) or "not " in await refused(place, *arguments)
    # nor is it written down as done
    assert await reasons(place) == []


# -- ending


async def test_a_game_is_ended_for_good_and_its_players_are_told(place: Place, house: House) -> None:
    guest = await Guest.join(house, await begin(house.store, player := pid()), player)
    sid = guest.room.sid
    await house.store.list_playing(player, sid, GAME.name, 1)
    await guest.act("draw")
    assert await told(place, "end", pseudonym(sid), "--reason", "asked for") == {"ended": pseudonym(sid)}
    await guest.outlet.until(lambda: guest.outlet.errors == ["ended"])
    assert await guest.act("draw") == "ended"
    assert await reasons(place) == [("end", pseudonym(sid), "asked for")]
    facts = await told(place, "session", sid)
    assert (facts["version"], facts["over"], facts["ended_by_house"]) == (2, True, True)
    assert await house.store.player(player) == ("", [])
    assert await house.store.redis.ttl(keys.log(sid)) > 30 * 86_400  # as that of a finished game


async def test_a_game_whose_log_is_full_can_be_ended(place: Place) -> None:
    store = Store(place.url)
    house = House(store, Limits(log_length=1))
    try:
        guest = await Guest.join(house, await begin(store, player := pid()), player)
        await guest.act("draw")
        assert await guest.act("draw") == "log_full"
        await run(place, "end", guest.room.sid, "--reason", "full")
        assert (await told(place, "session", guest.room.sid))["over"]
    finally:
        await house.aclose()
        await store.aclose()


async def test_a_game_that_is_over_cannot_be_ended(place: Place, house: House) -> None:
    guest = await Guest.join(house, await begin(house.store, player := pid()), player)
    for action in WINNING:
        await guest.act(*action)
    assert "game_over" in await refused(place, "end", guest.room.sid, "--reason", "too late")
    assert await reasons(place) == []


async def test_a_game_that_the_house_has_ended_is_not_ended_again(place: Place, house: House) -> None:
    sid = await begin(house.store, pid())
    await run(place, "end", sid, "--reason", "first")
    said = await refused(place, "end", sid, "--reason", "second")
    assert pseudonym(sid) in said
    assert "ended already" in said
    assert await reasons(place) == [("end", pseudonym(sid), "first")]
    assert (await told(place, "session", sid))["version"] == 1


async def test_what_was_done_is_listed_with_who_did_it(place: Place, house: House) -> None:
    player = pid()
    await house.store.redis.rpush(  # as it was written down before it was asked who
        keys.ACTIONS, json.dumps([1, "hide-name", pseudonym(player), "old"])
    )
    await house.rename(player, "Rude")
    await run(place, "hide-name", player, "--reason", " rude ")
    old, new = await told(place, "actions")
    user = pwd.getpwuid(os.getuid()).pw_name
    assert (old["reason"], old["by"]) == ("old", "")
    assert (new["reason"], new["by"]) == ("rude", f"{user}@{socket.gethostname()}")
    assert new["by"] in await run(place, "actions")


async def test_a_reason_of_several_lines_is_one_line_of_the_table(place: Place, house: House) -> None:
    player = pid()
    await house.rename(player, "Rude")
    reason = "rude\n\x1b[2J2026-11-30  end  \u2028nobody"
    await run(place, "hide-name", player, "--reason", reason)
    assert [one["reason"] for one in await told(place, "actions")] == [reason]
    _, line = (await run(place, "actions")).splitlines()
    assert line.endswith("rude [2J2026-11-30  end   nobody")


async def test_a_ranked_attempt_that_is_ended_counts_for_nothing_and_is_over(
    place: Place, node: Node
) -> None:
    player = pid()
    room = await node.begun(player)
    await run(place, "end", room.sid, "--reason", "r")
    standing = await node.daily.days.standing(node.day, player)
    assert (standing.running, standing.entered) == (False, False)
    assert await node.boards.of_day(node.day).total() == 0


# -- hiding


async def test_a_hidden_name_is_gone_everywhere_until_it_is_shown_again(place: Place, node: Node) -> None:
    player = pid()
    await node.house.rename(player, "Rude")
    room = await node.won(player)
    await told(place, "hide-name", pseudonym(player), "--reason", "rude")
    assert await node.house.store.names([player]) == [""]
    assert (await Players(node.house, node.boards).export(player))["hidden"] == ["name"]
    (row,) = (await node.boards.of_day(node.day).page("time", "")).best
    assert row.name == ""
    (row,) = (await node.boards.all_time.page("wins", "")).best
    assert row.name == ""
    with pytest.raises(Refused, match="name_hidden"):
        await node.house.rename(player, "Ruder")
    guest = await Guest.join(node.house, room.sid, player)
    await guest.outlet.until(lambda: guest.table.names == [""])
    assert await told(place, "hide-name", player, "--reason", "sorry", "--undo") == {
        "may_take_a_name_again": pseudonym(player)
    }
    assert await node.house.store.names([player]) == [""]
    assert await node.house.rename(player, "Polite") == "Polite"
    assert await reasons(place) == [
        ("hide-name", pseudonym(player), "rude"),
        ("show-name", pseudonym(player), "sorry"),
    ]
    assert "rude" in await run(place, "actions")


async def test_whoever_has_only_a_name_is_told_where_to_find_the_pseudonym(
    place: Place, house: House
) -> None:
    player = pid()
    await house.rename(player, "Rude")
    await house.create(player, GAME.name, {"code": CODE})
    assert "sessions --player" in await refused(place, "hide-name", "Rude", "--reason", "r")
    assert f"Rude {pseudonym(player)}" in await run(place, "sessions", "--player", "Rude")
    assert await reasons(place) == []
    await run(place, "hide-name", pseudonym(player), "--reason", "r")
    undone = await run(place, "hide-name", pseudonym(player), "--reason", "r", "--undo")
    assert undone == f"may take a name again: {pseudonym(player)}\n"


async def test_a_hidden_row_is_on_no_board_until_it_is_shown_again(place: Place, node: Node) -> None:
    cheat, honest = pid(), pid()
    room = await node.won(cheat)
    await node.won(honest)
    by_time = node.boards.of_day(node.day)
    before = await by_time.page("time", cheat)
    assert await told(place, "hide-row", node.day, pseudonym(cheat), "--reason", "a bot") == {
        "row_hidden": pseudonym(cheat),
        "day": node.day,
    }
    for _ in range(2):
        assert [row.pid for row in (await by_time.page("time", "")).best] == [honest]
        assert [row.pid for row in (await node.boards.all_time.page("wins", "")).best] == [honest]
        assert await node.boards.results(cheat) == []
        # neither a sweep nor a rebuild brings it back
        await node.house.store.redis.zadd(keys.runs(node.day), {cheat: 1})
        await node.boards.follow(room)
        assert (await told(place, "rebuild", node.day))["hidden"] == 1
    await run(place, "hide-row", node.day, cheat, "--reason", "no bot", "--undo")
    assert (await by_time.page("time", cheat)).best == before.best
    assert {row.pid for row in (await node.boards.all_time.page("wins", "")).best} == {cheat, honest}


# -- boards from logs


async def test_a_day_s_boards_are_built_anew_from_logs(place: Place, node: Node) -> None:
    right, lost, forged, liar, ghost, slow = (pid() for _ in range(6))
    for player in (right, lost, forged):
        await node.won(player, detours=2)
    await node.begun(liar)
    await node.begun(slow)
    boards = node.boards.of_day(node.day)
    good = await boards.page("moves", "")
    all_time = await node.boards.all_time.page("wins", "")
    result = await node.boards.result(node.day, forged)
    assert result is not None
    # a row is lost, one is too good to be true, one has no win behind it, one has no log
    await boards.remove(lost)
    await node.boards.people.remove_result(lost, node.day)
    await boards.remove(forged)
    better = result._replace(moves=PAR, elapsed_ms=1)
    for player, claimed in ((forged, better), (liar, better), (ghost, better)):
        scores = (claimed.by_time, claimed.by_moves)
        await boards.enter(player, "", 1, results.pack(claimed), scores)
    await node.boards.people.add_result(liar, node.day, results.pack(better))
    done = await told(place, "rebuild", node.day)
    assert done == {"right": 1, "entered": 2, "removed": 1, "hidden": 0, "unfinished": 1, "unproved": 1}
    after = await boards.page("moves", "")
    assert [row for row in after.best if row.pid != ghost] != []
    assert {(row.pid, row.score) for row in after.best} - {(ghost, better.by_moves)} == {
        (row.pid, row.score) for row in good.best
    }
    assert await node.boards.results(liar) == []
    assert await node.boards.result(node.day, forged) == result
    assert (await node.boards.all_time.page("wins", "")).best == all_time.best
    again = await told(place, "rebuild", node.day)
    assert (again["right"], again["entered"], again["removed"]) == (3, 0, 0)


async def test_a_rebuilt_board_has_what_the_logs_say_and_nothing_else(place: Place, node: Node) -> None:
    redis: Any = node.house.store.redis
    boards, all_time = node.boards.of_day(node.day), node.boards.all_time
    zed, ada, eve, bob, old = (pid() for _ in range(5))
    for player, name in ((zed, "Zed"), (ada, "Ada"), (eve, "Eve"), (bob, "Bob")):
        await node.house.rename(player, name)
        await node.won(player)
    result = await node.boards.result(node.day, zed)
    assert result is not None
    await boards.enter(old, "", 1, results.pack(result), (result.by_time, result.by_moves))  # its log expired
    by = [*((boards, name) for name in results.BOARDS), *((all_time, name) for name in results.ALL_TIME)]
    good = [await one.page(name, "") for one, name in by]

    for slot, name in ((node.day, "time"), (node.day, "moves"), (keys.ALL_TIME, "wins")):
        strays: dict[Any, float] = {"ghost\nGhost\nAAAAAAAAAAAAAAAA": 60, f"zed\nZedd\n{zed}": 1, "no row": 2}
        await redis.zadd(keys.board(slot, name), {**strays, b"\xff\n\xff\n\xff": 3})
        await redis.zadd(keys.board(slot, name), {f"ada\nAda\n{ada}": 0.5})
    await redis.zadd(keys.board(node.day, "time"), {f"bob\nBob\n{bob}": "inf"})
    await redis.zadd(keys.board(node.day, "moves"), {f"\n\n{old}": 7})
    for slot in (node.day, keys.ALL_TIME):
        await redis.hdel(keys.rows(slot), eve)
        await redis.hset(keys.facts(slot), "B" * 16, "1 x")
        await redis.hset(keys.rows(slot), b"\xff", "x")
        await redis.hset(keys.rows(slot), "C" * 16, "x")
    done = await told(place, "rebuild", node.day)
    assert (done["right"], done["entered"], done["unproved"]) == (1, 3, 1)
    assert done["removed"] > 8
    for (one, name), page in zip(by, good, strict=True):
        assert await one.page(name, "") == page, name
        assert await one.total() == (5 if one is boards else 4)
    assert await told(place, "rebuild", node.day) == {
        **{"right": 4, "entered": 0, "removed": 0, "hidden": 0, "unfinished": 0, "unproved": 1},
    }


async def test_a_board_that_is_no_board_is_built_anew(place: Place, node: Node) -> None:
    redis, player = node.house.store.redis, pid()
    await node.won(player)
    good = await node.boards.of_day(node.day).page("time", "")
    for key in (keys.board(node.day, "time"), keys.rows(node.day), keys.facts(node.day)):
        await redis.delete(key)
        await redis.set(key, "x")
        await run(place, "rebuild", node.day)
        assert await node.boards.of_day(node.day).page("time", "") == good


# -- what cannot be read


async def partly(place: Place, *arguments: str) -> tuple[Any, list[str]]:
    """What a command prints, as JSON, and says that did what it could."""
    done = await asyncio.to_thread(typed, place, *arguments, "--json")
    assert done.exit_code == 3, done.output
    return json.loads(done.stdout), done.stderr.splitlines()


async def test_one_broken_session_does_not_keep_from_the_others(place: Place, node: Node) -> None:
    redis = node.house.store.redis
    player = pid()
    whole = (await node.won(player)).sid
    garbage, table, odd, oddlog = [await begin(node.house.store, pid()) for _ in range(4)]
    await redis.hset(keys.session(table), "game", "hearts")
    for sid in (garbage, table):
        await redis.rpush(keys.log(sid), "garbage")
    await redis.delete(keys.session(odd))
    await redis.set(keys.session(odd), "x")
    await redis.set(keys.log(oddlog), "x")
    listed, said = await partly(place, "sessions")
    assert [one["session"] for one in listed] == [pseudonym(whole)]
    assert len(said) == 4
    for sid in (garbage, table, odd, oddlog):
        assert [sid in line for line in said] == [False] * 4
        assert sum(pseudonym(sid) in line for line in said) == 1
    listed, said = await partly(place, "sessions", "--live")
    assert ([one["session"] for one in listed], len(said)) == ([pseudonym(whole)], 4)
    counts, said = await partly(place, "rebuild", node.day)
    assert (counts["right"], len(said)) == (1, 1), "logs of other games do not matter to a day"
    for sid, reason in (
        (garbage, "entry 1 of 1 of its log"),
        (table, "entry 1 of 1 of its log"),
        (odd, "it is none"),
        (oddlog, "its log: what lies at its key is of another type"),
    ):
        for arguments in (("session", sid), ("end", sid, "--reason", "r")):
            assert reason in await refused(place, *arguments)
        assert reason in await refused(place, "session", pseudonym(sid))
    assert [one[0] for one in await reasons(place)] == ["rebuild"]
    await run(place, "end", await begin(node.house.store, pid()), "--reason", "r")


async def test_a_log_that_the_rules_do_not_have_is_named(place: Place, house: House) -> None:
    sid = await begin(house.store, pid())
    await house.store.redis.rpush(keys.log(sid), b"1700000000000" + pack(Deed(0, 1, ("explode", "x"))))
    for arguments in (("session", sid), ("end", sid, "--reason", "r")):
        said = await refused(place, *arguments)
        assert pseudonym(sid) in said
        assert "log" in said


async def test_of_what_cannot_be_read_the_first_is_named_and_the_rest_is_counted(
    place: Place, house: House
) -> None:
    for _ in range(14):
        await house.store.redis.rpush(keys.log(await begin(house.store, pid())), "garbage")
    await house.store.redis.rpush(keys.ACTIONS, "garbage")
    listed, said = await partly(place, "sessions")
    assert (listed, len(said), said[-1]) == ([], 11, "Warning: and 4 more")
    listed, said = await partly(place, "actions")
    assert (listed, len(said)) == ([], 1)
    assert said[0].startswith("Warning: action 1 of 1 cannot be read: ")


async def test_a_player_whose_attempt_cannot_be_read_keeps_the_row(place: Place, node: Node) -> None:
    player = pid()
    room = await node.won(player)
    await node.house.store.redis.rpush(keys.log(room.sid), "garbage")
    before = await node.boards.of_day(node.day).page("time", player)
    counts, said = await partly(place, "rebuild", node.day)
    assert (counts["unproved"], len(said)) == (1, 1)
    assert pseudonym(room.sid) in said[0]
    assert await node.boards.of_day(node.day).page("time", player) == before


# -- backup and restore


async def busy(node: Node) -> tuple[Guest, str]:
    """A house in which all kinds of things have happened. Returns somebody who plays, and a table."""
    ada, bob = pid(), pid()
    await node.house.rename(ada, "Ada")
    await node.won(ada)
    await node.begun(bob)
    table = await node.house.create(bob, "hearts", {}, public=True)
    await node.boards.people.new_group("a-group-of-2", "Friends", ada)
    await node.boards.people.set_recovery(ada, "digest")
    await node.boards.people.count(ada, "s" * 12, GAME.name, 1, 1, [("sum", "games", 1)])
    await node.boards.people.note_due("name", ada)
    guest = await Guest.join(node.house, await begin(node.house.store, bob), bob)
    for _ in range(3):
        await guest.act("draw")
    return guest, table


async def test_a_restored_store_has_all_that_was_backed_up_and_clients_take_a_snapshot(
    place: Place, tmp_path: Path
) -> None:
    file = tmp_path / "backup"
    async with open_house(place) as house:
        guest, table = await busy(Node(house, Calendar.on(some_day())))
        sid = guest.room.sid
        await house.store.list_waiting(table, "hearts", 5)
        counts = await told(place, "backup", str(file))
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert counts["sessions"] == 4
        assert counts["players"] == 2
        before = await everything(house.store)
        assert len({name.partition(b"{")[0] for name in before}) >= 15
        for _ in range(2):
            await guest.act("draw")
        assert "running" in await refused(place, "restore", "--force", str(file))
        holding = guest.leave()
        assert holding.version == 5
    assert "not empty" in await refused(place, "restore", str(file))
    assert await told(place, "restore", "--force", str(file)) == {
        **counts,
        **{"expired": 0, "unplayable": 0, "left_out": 0},
    }
    async with open_house(place) as house:
        assert await everything(house.store) == before
        back = await Guest.join(house, sid, guest.player, holding=holding)
        assert back.outlet.kinds()[0] == 1  # a snapshot, as of something that is new
        assert back.table.version == 3
        assert await back.act("draw") == 4
    assert [one[0] for one in await reasons(place)] == ["restore"]


async def test_a_backup_of_one_kind_of_store_can_be_restored_into_another(
    place: Place, node: Node, tmp_path: Path
) -> None:
    await busy(node)
    file = tmp_path / "backup"
    await run(place, "backup", str(file))
    before = await everything(node.house.store)
    process = StoreProcess(BINARIES["valkey"])
    process.start()
    store = Store(process.url)
    try:
        await run(process, "restore", str(file))
        assert await everything(store) == before
    finally:
        await store.aclose()
        process.remove()


async def test_what_had_a_time_to_live_is_not_kept_beyond_it(place: Place, tmp_path: Path) -> None:
    store = Store(place.url)
    try:
        soon, later = await begin(store), await begin(store)
        for sid, seconds in ((soon, 1), (later, 1000)):
            await store.redis.expire(keys.session(sid), seconds)
        await run(place, "backup", str(tmp_path / "backup"))
        while await store.redis.exists(keys.session(soon)):  # noqa: ASYNC110 (the store's own clock)
            await asyncio.sleep(0.01)
        counts = await told(place, "restore", "--force", str(tmp_path / "backup"))
        assert (counts["sessions"], counts["expired"]) == (1, 1)
        assert await store.peek(soon) is None
        assert 0 < await store.redis.ttl(keys.session(later)) <= 1000
    finally:
        await store.aclose()


async def test_a_backup_goes_through_pipes_too(place: Place) -> None:
    store = Store(place.url)
    try:
        sid = await begin(store)
        done = await asyncio.to_thread(typed, place, "backup", "-")
        empty(place)
        again = await asyncio.to_thread(lambda: typed(place, "restore", "-", given=done.stdout_bytes))
        assert again.exit_code == 0, again.output
        assert await store.peek(sid) is not None
    finally:
        await store.aclose()


async def test_a_backup_is_nobody_else_s_whatever_lies_where_it_goes(place: Place, tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("theirs")
    (tmp_path / "file.part").symlink_to(tmp_path / "theirs")
    (tmp_path / "file").write_text("old")
    (tmp_path / "file").chmod(0o644)
    await run(place, "backup", str(tmp_path / "file"))
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600
    assert not (tmp_path / "file").is_symlink()
    assert (tmp_path / "theirs").read_text() == "theirs"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["file", "file.part", "theirs"]  # noqa: ASYNC240


async def test_two_backups_to_one_file_do_not_mix(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(place.url)
    try:
        await begin(store)
        file, read, halves = tmp_path / "file", backup._read, list[str]()

        async def meanwhile(asked: Store, *what: Any) -> backup.Bundle:
            if not halves:
                halves.append("the other is made while one is half written")
                await run(place, "backup", str(file))
            return await read(asked, *what)

        monkeypatch.setattr(backup, "_read", meanwhile)
        await run(place, "backup", str(file))
        with file.open("rb") as made:
            backup.check(made)
        assert list(tmp_path.iterdir()) == [file]  # noqa: ASYNC240
    finally:
        await store.aclose()


async def test_where_nothing_can_be_written_it_says_where(place: Place, tmp_path: Path) -> None:
    said = await refused(place, "backup", str(tmp_path / "nowhere" / "file"))
    assert said.startswith(f"Error: {tmp_path / 'nowhere'}")
    assert "No such file" in said


async def test_who_has_read_enough_gets_no_more(place: Place) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = await asyncio.create_subprocess_exec(
            HEARTROOM, "admin", "actions",
            env={**os.environ, "HEARTROOM_REDIS_URL": place.url}, stdout=writing, stderr=subprocess.PIPE,
        )  # fmt: skip
        _, said = await ended.communicate()
    finally:
        os.close(writing)
    assert (ended.returncode, said) == (1, b"")


async def test_what_is_no_whole_backup_changes_nothing(place: Place, tmp_path: Path) -> None:
    store = Store(place.url)
    try:
        sid = await begin(store)
        good = tmp_path / "good"
        await run(place, "backup", str(good))
        raw, frames = good.read_bytes(), gzip.decompress(good.read_bytes())
        end = frames.rindex(b"\x81\xa7bundles") - 4
        for number, bad in enumerate(
            (
                b"",
                b"no backup",
                raw[:-9],
                raw[:100],
                raw + b"x",
                gzip.compress(b"\0\0\0\1\x80"),
                gzip.compress(frames[:end]),
            )
        ):
            file = tmp_path / str(number)
            file.write_bytes(bad)
            assert "backup" in await refused(place, "restore", "--force", str(file))
        assert await store.peek(sid) is not None
    finally:
        await store.aclose()


def packed(*bundles: tuple[str, str, tuple[Any, ...]]) -> bytes:
    """A file of the form of a backup, with anything in it."""
    frames = ({"heartroom_backup": 1, "version": "0", "made_ms": 0, "rules": {}}, *bundles)
    raw = [msgspec.msgpack.encode(frame) for frame in (*frames, {"bundles": len(bundles)})]
    return gzip.compress(b"".join(len(one).to_bytes(4) + one for one in raw))


SESSION: dict[bytes, bytes] = {
    b"game": GAME.name.encode(),
    b"rules": b"1",
    b"epoch": b"7",
    b"options": msgspec.msgpack.encode({"code": CODE}),
    b"deal": msgspec.msgpack.encode([1]),
    b"owner": b"A" * 16,
    b"settings": b"\x80",
    b"luck": b"x",
    b"created": b"1",
    b"nodes": b"",
}
SID = "A" * 12
ENTRY = b"1700000000000" + pack(Deed(0, 1, ("draw",)))


def without(name: bytes) -> dict[bytes, bytes]:
    return {field: value for field, value in SESSION.items() if field != name}


def of_session(fields: Any, *entries: Any) -> tuple[str, str, tuple[Any, ...]]:
    """A session as a backup has it."""
    log = ((keys.log(SID), "list", 0, list(entries)),) if entries else ()
    return "session", SID, ((keys.session(SID), "hash", 0, fields), *log)


PID, DAY = "A" * 16, "2026-11-30"
PLAYED = f"{SID} {GAME.name}".encode()
RESULT = results.pack(results.Result(DAY, SID, 60_000, 73, 73, 1_700_000_000_000))
FACTS = b"1 " + RESULT


def of_player(key: Any, kind: str, value: Any) -> tuple[str, str, tuple[Any, ...]]:
    """Something of a player as a backup has it."""
    return "player", PID, ((key(PID), kind, 0, value),)


def of_day(*there: tuple[str, str, Any], day: str = DAY) -> tuple[str, str, tuple[Any, ...]]:
    """Something of a day as a backup has it."""
    return "day", day, tuple((name, kind, 0, value) for name, kind, value in there)


def board(
    row: str = f"ada\nAda\n{PID}", score: float = 1.0, facts: bytes = FACTS
) -> tuple[tuple[str, str, Any], ...]:
    """A day's board with one row."""
    return (
        (keys.facts(DAY), "hash", {PID.encode(): facts}),
        (keys.rows(DAY), "hash", {PID.encode(): row.encode()}),
        (keys.board(DAY, "time"), "zset", [[row.encode(), score]]),
    )


NONE_OF_OURS = {
    "a family": (("lodger", "x", ()), "lodger"),
    "a key": (("day", "x", (("other:key", "string", 0, b"x"),)), "other:key"),
    "a key of another family": (("day", "x", ((keys.log("x"), "list", 0, [b"x"]),)), keys.log("x")),
    "a key of another": (("player", "x", ((keys.player("y"), "hash", 0, {b"name": b""}),)), keys.player("y")),
    "a mark": (("day", "x", ((keys.RESTORING, "string", 0, b"x"),)), keys.RESTORING),
    "a brace": (("day", "x}y", ((keys.day("x}y"), "string", 0, b"x"),)), "x}y"),
    "a type": (("day", "x", ((keys.day("x"), "list", 0, [b"x"]),)), keys.day("x")),
    "a key twice": (("due", "", ((keys.DUE, "set", 0, [b"x"]), (keys.DUE, "set", 0, [b"x"]))), keys.DUE),
    "text": (("day", "x", ((keys.day("x"), "string", 0, "eHg="),)), keys.day("x")),
    "a score": (("waiting", "x", ((keys.waiting("x"), "zset", 0, [[b"x", float("nan")]]),)), "waiting"),
    "half a row": (("waiting", "x", ((keys.waiting("x"), "zset", 0, [[b"x"]]),)), "waiting"),
    "an end": (("day", "x", ((keys.day("x"), "string", 2**63, b"x"),)), keys.day("x")),
    "no game": (of_session(without(b"game")), "game"),
    "no deal": (of_session(without(b"deal")), "deal"),
    "no number": (of_session(SESSION | {b"rules": b"x"}), SID),
    "no options": (of_session(SESSION | {b"options": b"\xc1"}), SID),
    "no time": (of_session(SESSION, ENTRY, b"x"), SID),
    "no deed": (of_session(SESSION, b"1700000000000x"), SID),
    "no setting": (of_session(SESSION | {b"settings": msgspec.msgpack.encode({"pace_s": "x"})}), SID),
    "settings that are no end": (of_session(SESSION | {b"options": b"\x91" * 10_000 + b"\x90"}), SID),
    "a log alone": (("session", SID, of_session(SESSION, ENTRY)[2][1:]), "log without its session"),
    "a session's id": (("session", "x", ((keys.session("x"), "hash", 0, SESSION),)), "session"),
    "an id": (("player", "x", ((keys.player("x"), "hash", 0, {}),)), "'x' is no id of a player"),
    "a name in no letters": (of_player(keys.player, "hash", {b"name": b"\xff"}), PID),
    "a long name": (of_player(keys.player, "hash", {b"name": b"x" * 300}), "no name"),
    "a name of two lines": (of_player(keys.player, "hash", {b"name": b"x\ny"}), "no name"),
    "what no player has": (of_player(keys.player, "hash", {b"gold": b"1"}), "gold"),
    "a hidden day": (of_player(keys.player, "hash", {b"hidden x": b"1"}), "'x' is no day"),
    "a recovery code": (of_player(keys.player, "hash", {b"recovery": b""}), "recovery"),
    "a game that is played": (of_player(keys.playing, "zset", [[b"x", 1.0]]), PID),
    "a game at no time": (of_player(keys.playing, "zset", [[PLAYED, -1.0]]), "no time"),
    "a game at the end of time": (of_player(keys.finished, "zset", [[PLAYED, float("inf")]]), "no time"),
    "a game that is over": (of_player(keys.finished, "zset", [[SID.encode(), 1.0]]), PID),
    "a result": (of_player(keys.results, "hash", {b"2026-11-30": b"x"}), PID),
    "a result of another day": (of_player(keys.results, "hash", {b"2026-12-01": RESULT}), "2026-11-30"),
    "statistics of nothing": (of_player(keys.statistics, "hash", {b"games": b"1"}), "games"),
    "statistics of words": (of_player(keys.statistics, "hash", {b"hearts/games": b"many"}), "many"),
    "a session to leave": (of_player(keys.leaving, "set", [b"\xff"]), PID),
    "a group to be in": (of_player(keys.groups, "set", [b"x"]), "id of a group"),
    "a group without name": (("group", SID, ((keys.group(SID), "hash", 0, {}),)), "name"),
    "a member": (("group", SID, ((keys.members(SID), "zset", 0, [[b"x", 1.0]]),)), "id of a player"),
    "whose code it is": (("recovery", "0" * 40, ((keys.recovery("0" * 40), "string", 0, b"x"),)), "player"),
    "a table": (("waiting", "hearts", ((keys.waiting("hearts"), "zset", 0, [[b"x", 1.0]]),)), "session"),
    "what is due": (("due", "", ((keys.DUE, "set", 0, [b"dance " + PID.encode()]),)), "dance"),
    "whose it is": (("due", "", ((keys.DUE, "set", 0, [b"forget \xff"]),)), "due"),
    "an action": (("actions", "", ((keys.ACTIONS, "list", 0, [b"x"]),)), "actions"),
    "an action at no time": (
        ("actions", "", ((keys.ACTIONS, "list", 0, [b'[1000000000000000,"end","x","r"]']),)),
        "no time",
    ),
    "a day": (of_day((keys.starts("x"), "hash", {}), day="x"), "'x' is no day"),
    "a day of all time": (of_day((keys.starts("all-time"), "hash", {}), day="all-time"), "all-time"),
    "a deal": (of_day((keys.day(DAY), "string", b"x")), DAY),
    "a start": (of_day((keys.starts(DAY), "hash", {b"x": SID.encode()})), "id of a player"),
    "facts alone": (of_day((keys.facts(DAY), "hash", {PID.encode(): FACTS})), "without rows"),
    "a row of another": (of_day(*board(row="ada\nAda\n" + "B" * 16)), "a row is of"),
    "a row of two parts": (of_day(*board(row="ada\nAda")), DAY),
    "a row on no list": (
        of_day((keys.board(DAY, "time"), "zset", [[b"a\nA\n" + PID.encode(), 1.0]])),
        "nobody",
    ),
    "half a score": (of_day(*board(score=1.5)), "score"),
    "facts of no version": (of_day(*board(facts=RESULT)), "version"),
    "facts that are none": (of_day(*board(facts=b"1 x")), DAY),
}
"""What no backup has, and what is named of it."""


@pytest.mark.parametrize("wrong", NONE_OF_OURS)
async def test_a_backup_with_what_no_house_has_changes_nothing(
    place: Place, tmp_path: Path, wrong: str
) -> None:
    file = tmp_path / "file"
    good = of_session(SESSION, ENTRY)
    bad, named = NONE_OF_OURS[wrong]
    store = Store(place.url)
    try:
        sid = await begin(store)
        for bundles in ((bad,), (bad, good) if bad[0] != "session" else (bad, ("waiting", "x", ()))):
            file.write_bytes(packed(*bundles))
            assert named in await refused(place, "restore", "--force", str(file))
        assert await store.peek(sid) is not None
        assert not await store.restoring()
        assert [key for key in await store.find_keys("*") if not key.startswith(b"hr:")] == []
        file.write_bytes(packed(good))
        assert (await told(place, "restore", "--force", str(file)))["sessions"] == 1
        opened = await store.peek(SID)
        assert opened is not None
        assert opened.version == 1
    finally:
        await store.aclose()


async def test_a_backup_with_what_a_house_has_is_taken(place: Place, tmp_path: Path) -> None:
    """What is refused in the test above is refused for what is wrong in it."""
    file = tmp_path / "file"
    deal = msgspec.msgpack.encode(known_deal(DAY))
    file.write_bytes(
        packed(
            ("due", "", ((keys.DUE, "set", 0, [f"name {PID}".encode()]),)),
            ("actions", "", ((keys.ACTIONS, "list", 0, [b'[1,"end","x","r"]']),)),
            of_day(
                (keys.day(DAY), "string", deal),
                (keys.starts(DAY), "hash", {PID.encode(): SID.encode()}),
                *board(),
            ),
            (
                "player",
                PID,
                (
                    (
                        keys.player(PID),
                        "hash",
                        0,
                        {b"name": "Åse".encode(), b"hidden name": b"1", b"hidden 2026-11-30": b"1"},
                    ),
                    (keys.playing(PID), "zset", 0, [[PLAYED, 1.0]]),
                    (keys.results(PID), "hash", 0, {DAY.encode(): RESULT}),
                    (keys.finished(PID), "zset", 0, [[PLAYED, 1.0]]),
                    (keys.statistics(PID), "hash", 0, {b"heart-to-heart/best_ms": b"1"}),
                    (keys.leaving(PID), "set", 0, [SID.encode()]),
                    (keys.groups(PID), "set", 0, [SID.encode()]),
                ),
            ),
            (
                "group",
                SID,
                (
                    (keys.group(SID), "hash", 0, {b"name": b"We"}),
                    (keys.members(SID), "zset", 0, [[PID.encode(), 1.0]]),
                ),
            ),
            ("recovery", "0" * 40, ((keys.recovery("0" * 40), "string", 0, PID.encode()),)),
            ("waiting", "hearts", ((keys.waiting("hearts"), "zset", 0, [[SID.encode(), 1.0]]),)),
            of_session(SESSION),
        )
    )
    counts = await told(place, "restore", str(file))
    assert (counts["bundles"], counts["sessions"], counts["players"], counts["days"]) == (8, 1, 1, 1)
    await run(place, "backup", str(tmp_path / "again"))
    assert await told(place, "restore", "--force", str(tmp_path / "again")) == counts


async def test_a_backup_says_what_a_restore_will_refuse(place: Place, tmp_path: Path) -> None:
    """There is nothing else that could be done: somebody has put it there."""
    store = Store(place.url)
    try:
        await store.redis.hset(keys.player(PID), "name", b"\xff")
        done = await asyncio.to_thread(typed, place, "backup", str(tmp_path / "file"))
        assert done.exit_code == 3
        assert "a restore will refuse this backup" in done.stderr
        assert PID in done.stderr
        assert PID in await refused(place, "restore", "--force", str(tmp_path / "file"))
        await store.redis.hset(keys.player(PID), "name", "Ada")
        done = await asyncio.to_thread(typed, place, "backup", str(tmp_path / "file"))
        assert done.stderr == ""
    finally:
        await store.aclose()


async def test_what_is_broken_is_left_out_of_a_restore_that_may_and_nothing_else(
    place: Place, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    async with open_house(place) as house:
        node = Node(house, Calendar.on(some_day()))
        redis: Any = house.store.redis
        guest, table = await busy(node)
        ada = next(iter(await redis.hkeys(keys.rows(node.day)))).decode()
        attempt = await node.begun(cat := pid())
        await redis.rpush(keys.log(attempt.sid), "garbage")
        await redis.rpush(keys.log(guest.room.sid), "garbage")
        won = (await redis.hget(keys.starts(node.day), ada)).decode()
        await redis.hset(keys.session(won), "deal", b"\xc1")
        await house.store.list_playing(ada, table, "hearts", 5)
        for sid in (guest.room.sid, table):
            await house.store.list_waiting(sid, "hearts", 5)
        await redis.sadd(keys.leaving(cat), guest.room.sid)
        await node.boards.people.count(ada, guest.room.sid, GAME.name, 1, 1, [])
        odd = await begin(house.store, ada)
        await redis.delete(keys.session(odd))
        await redis.set(keys.session(odd), "x")
        await redis.hset(keys.player(cat), mapping={"name": b"\xff", "hidden name": "1"})
        await redis.hset(keys.player(PID), "name", b"\xff")
        await redis.zadd(keys.board(node.day, "time"), {f"ghost\nGhost\n{PID}": 1})
        before = await node.boards.of_day(node.day).page("moves", ada)
        counts, said = await partly(place, "backup", str(file))
        assert len(said) == 7, said
        assert sum("not in the backup" in line for line in said) == 1
    untouched = await redis_keys(place)
    assert "--leave-out-broken" in await refused(place, "restore", "--force", str(file))
    assert await redis_keys(place) == untouched
    restored, said = await partly(place, "restore", "--force", "--leave-out-broken", str(file))
    assert restored["left_out"] == len(said) == 6
    assert restored["sessions"] == counts["sessions"] - 3
    async with open_house(place) as house:
        node = Node(house, node.calendar)
        redis, gone = house.store.redis, (guest.room.sid, attempt.sid, won)
        for sid in gone:
            assert not await redis.exists(keys.session(sid), keys.log(sid))
        assert await house.store.peek(table) is not None
        assert [sid for sid, _ in (await house.store.player(ada))[1]] == [odd, table]
        assert await house.store.waiting("hearts") == [table]
        assert not await redis.exists(keys.leaving(cat))
        assert [sid for sid, *_ in await node.boards.people.finished(ada)] == ["s" * 12]
        assert await redis.hgetall(keys.player(cat)) == {b"hidden name": b"1"}
        # a row stays as that of a session that has expired does, and whoever had an attempt has had it
        assert await node.boards.of_day(node.day).page("moves", ada) == before
        assert (await node.boards.of_day(node.day).page("time", "")).total == 1
        standing = await node.daily.days.standing(node.day, cat)
        assert (standing.session, standing.running) == (attempt.sid, False)
        with pytest.raises(Refused, match="game_over"):
            await node.daily.begin(cat)
        assert (await told(place, "rebuild", node.day))["unproved"] == 1
        await run(place, "backup", str(tmp_path / "again"))


async def redis_keys(place: Place) -> list[bytes]:
    """All keys that there are but those of nodes."""
    store = Store(place.url)
    try:
        return [key for key in await store.find_keys("hr:*") if not key.decode().startswith(backup.LEFT_OUT)]
    finally:
        await store.aclose()


@pytest.mark.parametrize("wrong", NONE_OF_OURS)
async def test_all_else_of_a_broken_backup_is_restored(place: Place, tmp_path: Path, wrong: str) -> None:
    bad, named = NONE_OF_OURS[wrong]
    if wrong == "a key twice":
        named = keys.DUE
    file = tmp_path / "file"
    good = ("session", "B" * 12, ((keys.session("B" * 12), "hash", 0, SESSION),))
    file.write_bytes(packed(*sorted((bad, good), key=lambda one: (one[0] == "session", one[1]))))
    counts, said = await partly(place, "restore", "--leave-out-broken", str(file))
    assert any(named in line for line in said)
    assert counts["sessions"] == 1
    await run(place, "backup", str(tmp_path / "again"))
    assert [one["session"] for one in await told(place, "sessions")] == [pseudonym("B" * 12)]


async def test_what_is_no_whole_backup_is_refused_also_where_much_may_be_left_out(
    place: Place, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    session = of_session(SESSION, ENTRY)
    whole = packed(session)
    for raw in (whole[:-9], b"no backup", packed(session, session)):
        file.write_bytes(raw)
        assert "leave-out" not in await refused(place, "restore", "--leave-out-broken", str(file))


async def test_no_backup_is_made_of_a_store_whose_restore_has_begun_meanwhile(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(place.url)
    try:
        await begin(store)
        read = backup._read

        async def reading(asked: Store, *what: Any) -> backup.Bundle:
            await asked.redis.set(keys.RESTORING, "x")
            return await read(asked, *what)

        monkeypatch.setattr(backup, "_read", reading)
        assert "restore" in await refused(place, "backup", str(tmp_path / "file"))
        assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240
    finally:
        await store.aclose()


async def test_a_log_expires_with_its_session(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "file"
    _, _, (session, log) = of_session(SESSION, ENTRY)
    later = 4_000_000_000_000
    for expires_ms, log_expires_ms in ((later, 1), (later, later - 1), (later, 0)):
        file.write_bytes(
            packed(
                ("session", SID, ((*session[:2], expires_ms, session[3]), (*log[:2], log_expires_ms, log[3])))
            )
        )
        await run(place, "restore", "--force", str(file))
        store = Store(place.url)
        try:
            times = [await store.redis.pexpiretime(name) for name in (keys.session(SID), keys.log(SID))]
            assert times == [later, later]
        finally:
            await store.aclose()
    file.write_bytes(packed(("session", SID, ((*session[:2], 1, session[3]), log))))
    assert (await told(place, "restore", "--force", str(file)))["expired"] == 1


async def test_a_backup_that_has_something_twice_changes_nothing(place: Place, tmp_path: Path) -> None:
    """A log that was put together of two would be none that there was."""
    file = tmp_path / "file"
    session, days = of_session(SESSION, ENTRY), [("day", day, ()) for day in ("2026-11-30", "2026-12-01")]
    for bundles in ((session, session), (session, days[0], session), (days[1], days[0])):
        file.write_bytes(packed(*bundles))
        assert "not where it should be" in await refused(place, "restore", "--force", str(file))
    file.write_bytes(packed(*days, session))
    await run(place, "restore", str(file))


async def test_a_restore_that_is_broken_off_leaves_a_store_that_nobody_serves(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    store = Store(place.url)
    try:
        sid = await begin(store)
        await run(place, "backup", str(file))
        seen: list[bool] = []

        async def die(store: Store, *_: Any) -> None:
            seen.append(await store.restoring())
            raise OSError("killed")

        with monkeypatch.context() as dying:
            dying.setattr(backup, "_put", die)
            assert "killed" in await refused(place, "restore", "--force", str(file))
        assert set(seen) == {True}
        assert await store.peek(sid) is None
        assert await store.restoring()
        assert "restore --force" in await asyncio.to_thread(not_served, place.url)
        assert "--force" in await refused(place, "restore", str(file))
        assert "restore" in await refused(place, "backup", str(tmp_path / "half"))
        assert await told(place, "restore", "--force", str(file))
        assert not await store.restoring()
        assert await store.peek(sid) is not None
        assert await store.redis.exists(keys.RESTORING) == 0
    finally:
        await store.aclose()


async def test_of_two_restores_at_once_the_later_one_is_refused(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    store = Store(place.url)
    try:
        sid = await begin(store)
        await run(place, "backup", str(file))
        clear = backup._clear
        monkeypatch.setattr(backup, "HELD_MS", 4_000)

        async def other(store: Store) -> None:
            await clear(store)
            monkeypatch.setattr(backup, "_clear", clear)
            begun_ms = await store.time_ms()
            while (
                await store.time_ms() < begun_ms + backup.HELD_MS + 1_000
            ):  # it is held for as long as it takes
                for force in ([], ["--force"]):
                    assert "another restore is under way" in await refused(
                        place, "restore", *force, str(file)
                    )

        monkeypatch.setattr(backup, "_clear", other)
        await run(place, "restore", "--force", str(file))
        assert await store.peek(sid) is not None
        assert not await store.redis.exists(keys.RESTORER)
        await run(place, "restore", "--force", str(file))
    finally:
        await store.aclose()


async def test_a_restore_that_says_nothing_for_long_gives_way_to_the_next_one(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    store = Store(place.url)
    try:
        sid = await begin(store)
        await run(place, "backup", str(file))
        clear = backup._clear

        async def other(store: Store) -> None:
            await clear(store)
            monkeypatch.setattr(backup, "_clear", clear)
            await store.redis.delete(keys.RESTORER)  # as if its time had passed
            assert "was broken off" in await refused(place, "restore", str(file))
            await run(place, "restore", "--force", str(file))

        monkeypatch.setattr(backup, "_clear", other)
        assert "another restore" in await refused(place, "restore", "--force", str(file))
        assert await store.peek(sid) is not None
        assert not await store.restoring()
    finally:
        await store.aclose()


async def test_a_restore_is_refused_to_a_store_on_which_a_node_has_just_started(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(place.url)
    try:
        sid = await begin(store)
        await run(place, "backup", str(tmp_path / "file"))
        look = looking.nodes

        async def then_one_starts(asking: Store) -> list[looking.Node]:
            found = await look(asking)
            await asking.beat()
            return found

        monkeypatch.setattr(looking, "nodes", then_one_starts)
        assert "running" in await refused(place, "restore", "--force", str(tmp_path / "file"))
        assert await store.peek(sid) is not None
        assert not await store.restoring()
    finally:
        await store.aclose()


async def of_another_format(store: Store, left_ms: int) -> str:
    """A node of another format, whose lease holds for so long yet, and which no other node knows of."""
    node, said_ms = secrets.token_hex(4), await store.time_ms() + left_ms - Store.LEASE_MS
    async with store.redis.pipeline(transaction=True) as pipe:
        pipe.delete(keys.NODES)
        pipe.hset(keys.NODES, node, said_ms)
        pipe.hset(keys.ABOUT, node, f"{FORMAT + 1} 9.9.9")
        await pipe.execute()
    return node


async def test_serve_does_not_start_beside_a_node_of_another_format(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heartroom.cli._OTHERS_S", 0.5)
    monkeypatch.setenv("HEARTROOM_LOG_LEVEL", "warning")
    store = Store(place.url)
    try:
        node = await of_another_format(store, 1_000 * int(PATIENCE_S))
        said = await asyncio.to_thread(not_served, place.url)
        assert said.startswith("Error: a node of heartroom 9.9.9")
        assert node in said
        assert f"format {FORMAT + 1};" in said
        assert f"format {FORMAT}:" in said
        refusal = await refused(place, "end", pseudonym(await begin(store)), "--reason", "r")
        assert refusal.startswith("Error: a node of heartroom 9.9.9")
    finally:
        await store.aclose()


async def test_serve_waits_for_the_lease_of_a_node_of_another_format_that_was_killed(place: Place) -> None:
    store = Store(place.url)
    try:
        node = await of_another_format(store, 3_000)
        server = await asyncio.to_thread(Server, redis_url=place.url, secret=SECRET)
        try:
            assert node not in [one["node"] for one in await told(place, "nodes")]
            assert server.get("/readyz").status == 200
            assert server.complaints() == ""
        finally:
            server.stop()
    finally:
        await store.aclose()


@pytest.mark.parametrize("plain", ["0", "1"])
async def test_a_node_that_finds_another_format_when_its_store_comes_back_is_not_ready(
    place: Place, plain: str
) -> None:
    store = Store(place.url)
    server = await asyncio.to_thread(Server, redis_url=place.url, secret=SECRET, plain_sends=plain)

    async def ready() -> tuple[int, bytes]:
        answer = await asyncio.to_thread(server.get, "/readyz")
        return answer.status, answer.body

    async def kept_out() -> bool:
        return await ready() == (503, b"nodes of another format have the store\n")

    try:
        assert (await ready())[0] == 200
        client = await server.connect()
        # as if the store had been away until now
        node = await of_another_format(store, 1_000 * int(PATIENCE_S))
        await until(kept_out)
        async with client, asyncio.timeout(PATIENCE_S):
            with pytest.raises(Lost):
                await client.until(lambda: False)
            assert client.connection.close_code == 1012, "who is there is to go elsewhere"
        await store.redis.hdel(keys.NODES, node)

        async def let_in() -> bool:
            return (await ready())[0] == 200

        await until(let_in)
        assert server.said().count("kept out") == 1
    finally:
        server.stop()
        await store.aclose()


async def test_a_node_that_runs_while_its_store_is_restored_is_not_ready(place: Place) -> None:
    store = Store(place.url)
    server = await asyncio.to_thread(Server, redis_url=place.url, secret=SECRET)

    async def ready() -> tuple[int, bytes]:
        answer = await asyncio.to_thread(server.get, "/readyz")
        return answer.status, answer.body

    try:
        assert (await ready())[0] == 200
        await store.redis.set(keys.RESTORING, "x")
        assert await ready() == (503, b"the store is being restored\n")
        await store.redis.delete(keys.RESTORING)
        assert (await ready())[0] == 200
    finally:
        server.stop()
        await store.aclose()


def test_no_key_is_forgotten_by_the_backup() -> None:
    """Every kind of key is in a backup, or named as one that is not."""
    known = {name for family in backup.FAMILIES for name in family.prefixes}
    channels = (keys.node, keys.channel, keys.probe_channel, keys.of_each_kind)
    for name, make in inspect.getmembers(keys, inspect.isfunction):
        if make in channels or name == "of_channel":
            continue
        key = make(*("x" for _ in inspect.signature(make).parameters))
        assert any(key.startswith(one) for one in (*known, *backup.LEFT_OUT)), key
    for name in ("NODES", "DUE", "LIVE", "ACTIONS", "RESTORING", "RESTORER"):
        assert getattr(keys, name).startswith((*known, *backup.LEFT_OUT))
    for family in backup.FAMILIES:
        assert all(key.startswith(family.prefixes) for key, _ in family.keys("x")), family.name


# -- where the store is


def test_the_embedded_store_is_found_running_or_not(tmp_path: Path) -> None:
    folder = str(tmp_path / "games")
    assert "holds no store" in typed(None, "--data-dir", folder, "nodes").stderr
    assert not (tmp_path / "games").exists()
    server = Server(data_dir=folder)
    try:
        eventually(
            lambda: len(json.loads(typed(None, "--data-dir", folder, "nodes", "--json").stdout)) == 1,
            "the node has taken its lease",
        )
        done = typed(None, "--data-dir", folder, "backup", str(tmp_path / "file"))
        assert done.exit_code == 0, done.output
        server.terminate()
    finally:
        server.stop()
    assert json.loads(typed(None, "--data-dir", folder, "nodes", "--json").stdout) == []
    anew = typed(None, "--data-dir", str(tmp_path / "new"), "restore", str(tmp_path / "file"))
    assert anew.exit_code == 0, anew.output
    assert "days" in anew.stdout


async def test_two_stores_at_once_are_refused_and_neither_is_touched(place: Place, tmp_path: Path) -> None:
    store = Store(place.url)
    try:
        sid = await begin(store)
        await run(place, "backup", str(tmp_path / "file"))
        folder = str(tmp_path / "games")
        for arguments in (
            ["restore", "--force", str(tmp_path / "file")],
            ["backup", str(tmp_path / "other")],
            ["end", pseudonym(sid), "--reason", "r"],
            ["nodes"],
        ):
            done = await asyncio.to_thread(typed, place, "--data-dir", folder, *arguments)
            assert done.exit_code == 2
            assert done.stdout == ""
            assert folder in done.stderr
            assert "HEARTROOM_REDIS_URL" in done.stderr
        assert await reasons(place) == []
        assert await store.peek(sid) is not None
        assert [one.name for one in tmp_path.iterdir()] == ["file"]  # noqa: ASYNC240
        # where the image has its volume says nothing about which store is meant
        image = {"HEARTROOM_REDIS_URL": place.url, "HEARTROOM_DATA_DIR": folder}
        done = await asyncio.to_thread(
            lambda: CliRunner().invoke(main, ["admin", "sessions", "--json"], env=image)
        )
        assert [one["session"] for one in json.loads(done.stdout)] == [pseudonym(sid)]
    finally:
        await store.aclose()


@pytest.mark.parametrize("server", ["cluster"], indirect=True)
def test_a_node_of_a_cluster_named_as_a_server_by_itself_is_refused(place: Place) -> None:
    assert isinstance(place, Cluster)
    for node in place.primaries:  # whether or not what is asked for would be at this one
        url = f"redis://127.0.0.1:{node.port}"
        assert "redis+cluster://" in not_served(url)
        done = CliRunner().invoke(main, ["admin", "nodes"], env={"HEARTROOM_REDIS_URL": url})
        assert (done.exit_code, done.stdout) == (1, "")
        assert "redis+cluster://" in done.stderr


def test_a_store_that_is_not_there_is_an_error_of_one_line() -> None:
    done = CliRunner().invoke(main, ["admin", "nodes"], env={"HEARTROOM_REDIS_URL": "redis://127.0.0.1:1"})
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: the store does not answer")
    done = CliRunner().invoke(main, ["admin", "nodes"], env={"HEARTROOM_REDIS_URL": "http://x"})
    assert done.exit_code == 1
    assert "HEARTROOM_REDIS_URL" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["session"],
        ["end", "AAAAAAAAAAAA"],
        ["hide-name", "AAAAAAAAAAAA"],
        ["end", "AAAAAAAAAAAA", "--reason", ""],
        ["hide-name", "AAAAAAAAAAAA", "--reason", " \t"],
        ["hide-row", "2026-11-30", "AAAAAAAAAAAA", "--reason", "\n"],
        ["end", "AAAAAAAAAAAA", "--reason", "\udcff"],
        ["hide-row", "yesterday", "AAAAAAAAAAAA", "--reason", "r"],
        ["rebuild", "2026-11-31"],
        ["restore", "/no/such/file"],
        ["backup", "--json", "-"],
        ["explode"],
    ],
)
def test_what_cannot_be_meant_is_refused_as_such(arguments: list[str]) -> None:
    assert typed(None, *arguments).exit_code == 2
