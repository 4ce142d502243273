"""A store's user who has the rights that docs/security.md gives, and no more: whether a house can be played
in, and whether a node that may not do any of it says so before a player finds out."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
import structlog
from click.testing import CliRunner
from redis import Redis

from heartroom.cli import main
from heartroom.client import Rejected
from heartroom.store.store import Store
from tests.support.clusters import cluster
from tests.support.games import CODE, GAME, WINNING, begin
from tests.support.serving import SECRET, Server
from tests.support.stores import BINARIES, StoreProcess, eventually
from tests.web.test_api import Person, keep_known_deals
from tests.web.test_logs import named

GUIDE = Path(__file__).parents[2] / "docs" / "security.md"


def the_guides_rights() -> list[str]:
    """What the guide sets a user with."""
    (line,) = re.findall(r"^ +ACL SETUSER heartroom (.*)$", GUIDE.read_text(), re.MULTILINE)
    return str(line).split()


@pytest.fixture(params=sorted(BINARIES))
def own(request: pytest.FixtureRequest) -> Iterator[StoreProcess]:
    """A store for one test, of each kind: what a right is called is its business."""
    process = StoreProcess(BINARIES[request.param])
    process.start()
    yield process
    process.remove()


def tell(own: StoreProcess, *command: str) -> None:
    with Redis(unix_socket_path=own.socket) as redis:
        redis.execute_command(*command)


def heartroom(own: StoreProcess) -> str:
    """The URL of the user that the guide makes."""
    tell(own, "ACL", "SETUSER", "heartroom", *the_guides_rights())
    return f"unix://heartroom:password@{quote(own.socket)}"


def commands(own: StoreProcess) -> set[str]:
    """What was executed since this was last asked, but for what the test itself does."""
    with Redis(unix_socket_path=own.socket) as redis:
        found = {name.removeprefix("cmdstat_") for name in redis.info("commandstats")}
        redis.config_resetstat()
    return {name for name in found if not name.startswith(("acl", "config", "info", "client"))}


async def play(one: Server, other: Server) -> None:
    """All that players do, over two nodes."""
    ada, bob = Person(one), Person(other)
    async with await ada.connect() as mine, await bob.connect() as theirs:
        await mine.rename("Ada")
        await mine.join(await mine.new(GAME.name, {"code": CODE}))
        await theirs.join(mine.table.session)
        for action in WINNING:
            await mine.act(*action)
        await theirs.until(lambda: theirs.table.version == len(WINNING))
        bob.get(f"/api/replays/{mine.table.session}")
        await mine.join(await mine.new("hearts", {}, {"pace": 0, "level": "easy", "public": True}))
        await theirs.quick("hearts")
        await theirs.join(mine.table.session)
        with contextlib.suppress(Rejected):  # it was on the list already, and they have a seat
            await theirs.sit()
        await mine.start()
        await theirs.until(lambda: theirs.table.started)
        await theirs.stand()
        ada.post(f"/api/sessions/{mine.table.session}/private", {"private": True})
    await ada.wins()
    await bob.wins(1)
    for path in ("/api/daily/calendar", "/api/all-time", "/api/live", "/api/me/stats", "/api/me/export"):
        ada.get(path)
    group = ada.post("/api/groups", {"name": "We"})["group"]
    bob.post(f"/api/groups/{group}/join")
    day = ada.get("/api/daily")["date"]
    assert len(bob.get(f"/api/daily/{day}/board?group={group}")["rows"]) == 2
    bob.post(f"/api/groups/{group}/leave")
    recovered = Person(other)
    assert recovered.post("/api/me/recover", ada.post("/api/me/recovery"))
    async with await ada.connect() as mine:
        await mine.rename("Ada L.")
    ada.post("/api/me/delete")
    assert bob.get(f"/api/daily/{day}/board")["players"] == 1


async def test_the_rights_that_the_guide_gives_are_enough_to_play_and_all_are_tried(
    own: StoreProcess,
) -> None:
    url = heartroom(own)
    store = Store(url)
    assert await store.failures() == {}
    await store.aclose()
    tried = commands(own)
    await keep_known_deals(own)
    servers = [Server(redis_url=url, secret=SECRET, linger_seconds="0") for _ in range(2)]
    await play(*servers)
    for server in servers:
        assert (await asyncio.to_thread(server.get, "/readyz")).status == 200
        assert server.terminate() == 0
        assert server.complaints() == ""
        server.stop()
    with Redis(unix_socket_path=own.socket) as redis:
        assert redis.acl_log() == []
    assert commands(own) - tried == set()


async def test_the_rights_that_the_guide_gives_are_enough_to_play_on_a_cluster() -> None:
    with cluster(BINARIES["valkey"]) as place:
        for shard in place.primaries:
            shard.ask("ACL", "SETUSER", "heartroom", *the_guides_rights(), "+cluster|slots")
        await keep_known_deals(place)
        url = place.url.replace("://", "://heartroom:password@")
        servers = [Server(redis_url=url, secret=SECRET, linger_seconds="0") for _ in range(2)]
        await play(*servers)
        for server in servers:
            assert (await asyncio.to_thread(server.get, "/readyz")).status == 200
            assert server.terminate() == 0
            assert server.complaints() == ""
            server.stop()
        for shard in place.primaries:
            assert shard.ask("ACL", "LOG") == []


def test_the_rights_that_the_guide_gives_are_enough_for_who_runs_the_house(
    own: StoreProcess, tmp_path: Path
) -> None:
    url = heartroom(own)
    sid = asyncio.run(begun(url))
    for arguments in (
        ["nodes"],
        ["sessions"],
        ["session", "--reveal", "--", sid],
        ["end", "--reason", "r", "--", sid],
        ["actions"],
        ["backup", str(tmp_path / "file")],
        ["restore", "--force", str(tmp_path / "file")],
    ):
        done = CliRunner().invoke(main, ["admin", *arguments], env={"HEARTROOM_REDIS_URL": url})
        assert done.exit_code == 0, (arguments, done.output)
    structlog.reset_defaults()
    logging.getLogger().handlers.clear()
    with Redis(unix_socket_path=own.socket) as redis:
        assert redis.acl_log() == []


async def begun(url: str) -> str:
    store = Store(url)
    try:
        return await begin(store)
    finally:
        await store.aclose()


NARROW = {
    "hincrby": ["~hr:*", "+@all", "-hincrby"],
    "evalsha": ["~hr:*", "+@all", "-evalsha"],
    "keys": ["~hr:s:*", "~hr:l:*", "~hr:probe:*", "~hr:nodes", "+@all"],
}
"""Rights that are enough to begin a game and make a move, or to look so, and for no more."""


@pytest.mark.parametrize("narrow", NARROW)
def test_a_node_that_may_not_do_all_that_it_must_says_so(own: StoreProcess, narrow: str) -> None:
    tell(own, "ACL", "SETUSER", "heartroom", "on", ">password", "&hr:*", *NARROW[narrow])
    server = Server(redis_url=f"unix://heartroom:password@{quote(own.socket)}", secret=SECRET)
    eventually(lambda: bool(named(server, "store away")), "it is said")
    (away,) = named(server, "store away")
    assert away["level"] == "error"
    assert "~hr:*" in away["reason"]
    assert narrow in ("keys", "evalsha") or narrow in away["reason"].lower()
    answer = server.get("/readyz")
    assert (answer.status, answer.body) == (
        503,
        b"the store does not let this node do all that it must: see its log\n",
    )
    tell(own, "ACL", "SETUSER", "heartroom", "~hr:*", "+@all")
    eventually(lambda: server.get("/readyz").status == 200, "it may")
    assert server.terminate() == 0
    server.stop()


def test_that_rights_are_lacking_is_said_also_of_a_store_that_was_away(own: StoreProcess) -> None:
    url = heartroom(own)
    own.kill()
    server = Server(redis_url=url, secret=SECRET)
    eventually(lambda: len(named(server, "store away")) == 1, "it is said that it is away")
    own.start()  # and has forgotten its users
    eventually(lambda: len(named(server, "store away")) == 2, "it is said that it does not let us in")
    assert [line["level"] for line in named(server, "store away")] == ["warning", "error"]
    heartroom(own)
    eventually(lambda: server.get("/readyz").status == 200, "it does")
    assert len(named(server, "store back")) == 1
    assert server.terminate() == 0
    server.stop()
