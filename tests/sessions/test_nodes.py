"""Nodes that stop without a word, and nodes that are paused and go on: what the others make of it."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from heartroom.games.game import games
from heartroom.sessions.house import House
from heartroom.sessions.room import Limits
from heartroom.store import keys
from heartroom.store import store as stores
from heartroom.store.store import Away, OtherFormat, Store
from tests.conftest import Connect, Open
from tests.support.games import GAME, begin, pid
from tests.support.guests import Guest, until
from tests.support.stores import StoreProcess

HEARTS = games()["hearts"]


@pytest.fixture
def leases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leases that a test can wait for. One that ends because the machine is slow must do no harm, either."""
    monkeypatch.setattr(Store, "LEASE_MS", 1_000)
    monkeypatch.setattr(House, "BEAT_S", 0.05)


short = pytest.mark.usefixtures("leases")


async def true(holds: Callable[[], bool]) -> None:
    async def ask() -> bool:
        return holds()

    await until(ask)


async def table(here: House, there: House) -> tuple[Guest, Guest]:
    """A table of Hearts that has begun, with a player on each of two nodes who know of each other."""
    owner, other = pid(), pid()
    sid = await here.create(owner, HEARTS.name, {}, level="easy", pace_s=0)
    guests = await Guest.join(here, sid, owner), await Guest.join(there, sid, other)
    guests[1].room.sit(guests[1].viewer, 1, None)
    assert isinstance(await guests[1].answer(1), int)
    guests[0].room.start(guests[0].viewer, 1)
    assert isinstance(await guests[0].answer(1), int)
    for guest in guests:
        await true(lambda room=guest.room: room.table.started and room.here(0) and room.here(1))  # type: ignore[misc]
    return guests


Stick = Callable[[StoreProcess], House]


class Stuck(Store):
    """The store of a node that says nothing for as long as `held`, as if it were paused."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.held = asyncio.Event()

    async def beat(self) -> frozenset[str]:
        if self.held.is_set():
            raise Away("paused")
        return await super().beat()

    async def tell_presence(self, sid: str, seat: int, here: bool) -> None:
        if self.held.is_set():
            raise Away("paused")
        await super().tell_presence(sid, seat, here)


@pytest_asyncio.fixture
async def stuck() -> AsyncIterator[Callable[[StoreProcess], House]]:
    """Opens houses whose nodes can be silenced."""
    async with contextlib.AsyncExitStack() as stack:

        def make(process: StoreProcess) -> House:
            store = Stuck(process.url, timeout_s=20.0)
            stack.push_async_callback(store.aclose)
            house = House(store, Limits(grace_ms=600_000, bot_delay_ms=0))
            house.start()
            stack.push_async_callback(house.aclose)
            return house

        yield make


def silence(house: House, *, ends: bool = False) -> None:
    """The house's node says nothing more; or (`ends`) it goes on as it was."""
    assert isinstance(house.store, Stuck)
    (house.store.held.clear if ends else house.store.held.set)()


async def lease_ended(store: Store, node: str) -> None:
    async def ask() -> bool:
        return node not in await store.beat()

    await until(ask)


@short
async def test_players_on_a_node_that_died_are_gone_and_after_the_grace_bots_play_for_them(
    shared: StoreProcess, opens: Open, stuck: Stick
) -> None:
    here = opens(shared, grace_ms=0, bot_delay_ms=0)
    there = stuck(shared)
    guest, other = await table(here, there)
    silence(there)
    await true(lambda: not guest.room.here(1))
    await true(lambda: guest.room.table.chairs[1].away)
    back = await Guest.join(here, guest.room.sid, other.player)
    await true(lambda: not guest.room.table.chairs[1].away)
    assert back.table.seat == 1


@short
async def test_players_who_were_on_a_node_that_died_are_missed_by_one_that_never_heard_of_them(
    shared: StoreProcess, opens: Open, stuck: Stick, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both were on the node that died; one comes back, over another node."""
    monkeypatch.setattr("heartroom.sessions.room.Room.ANSWER_MS", 0)
    dead = stuck(shared)
    guest, _ = await table(dead, dead)
    silence(dead)
    here = opens(shared, grace_ms=0, bot_delay_ms=0)
    back = await Guest.join(here, guest.room.sid, guest.player)
    await true(lambda: back.room.table.chairs[1].away)
    assert not back.room.table.chairs[0].away


@short
async def test_a_node_that_died_is_struck_off_by_who_opens_its_sessions_later(
    shared: StoreProcess, opens: Open, connect: Connect
) -> None:
    dead = connect(shared)
    await dead.beat()
    sid = await begin(dead)
    await dead.open(sid)
    here = opens(shared)
    await lease_ended(here.store, dead.node)
    await here.open(sid)

    async def struck() -> bool:
        return await here.store.redis.hget(keys.session(sid), "nodes") == here.store.node.encode()

    await until(struck)


@short
async def test_a_node_that_lives_stays_on_the_list(shared: StoreProcess, opens: Open) -> None:
    here, there = opens(shared), opens(shared)
    sid = await begin(here.store)
    await here.open(sid)
    room = await there.open(sid)
    # on a slow machine a node may have taken another name meanwhile
    assert here.store.node in room.others
    await true(lambda: not room.others)  # it was looked up
    raw: Any = await here.store.redis.hget(keys.session(sid), "nodes")
    assert set(raw.decode().split(",")) >= {here.store.node, there.store.node}


@short
async def test_a_node_that_was_paused_past_its_lease_is_there_again_under_another_name(
    shared: StoreProcess, opens: Open, stuck: Stick
) -> None:
    here = opens(shared, grace_ms=600_000)
    there = stuck(shared)
    store = there.store
    guest, other = await table(here, there)
    solitaire = await Guest.join(there, await begin(store))
    before = store.node
    silence(there)
    await lease_ended(here.store, before)
    await true(lambda: not guest.room.here(1))
    # what is played meanwhile is not lost on it, whether it hears of it or not
    assert isinstance(await guest.act(*HEARTS.choose("easy", tuple(guest.table.view), 0, "x")), int)
    silence(there, ends=True)
    await true(lambda: guest.room.here(1))
    assert store.node != before
    await other.at(guest.table.version)
    assert other.room.here(0)
    for sid in (guest.room.sid, solitaire.room.sid):

        async def listed(sid: str = sid) -> bool:
            raw: Any = await store.redis.hget(keys.session(sid), "nodes")
            return store.node in raw.decode().split(",")

        await until(listed)
    assert isinstance(await other.act(*HEARTS.choose("easy", tuple(other.table.view), 1, "x")), int)
    await guest.at(other.table.version)


@short
async def test_a_node_that_leaves_ends_its_lease(shared: StoreProcess, connect: Connect) -> None:
    store = connect(shared)
    house = House(store)
    house.start()
    await house.open(await begin(store))
    await house.aclose()
    assert store.node not in await connect(shared).beat()


async def comes(store: Store, number: int) -> None:
    """A node of the format `number` says that it lives."""
    names = [keys.NODES, keys.ABOUT]
    await store.run("beat", names, [secrets.token_hex(4), Store.LEASE_MS, "come", f"{number} 0.0.9"])


@short
async def test_a_node_that_comes_beside_one_of_another_format_opens_nothing_until_that_has_ended(
    own: StoreProcess, opens: Open, connect: Connect
) -> None:
    other = connect(own)
    sid = await begin(other)
    await comes(other, stores.FORMAT + 1)
    with capture_logs() as said:
        house = opens(own)
        with pytest.raises(OtherFormat) as caught:
            await house.open(sid)
        assert house.kept_out
        assert "0.0.9" in str(caught.value)
        assert f"format {stores.FORMAT + 1};" in str(caught.value)
        assert sid not in house.rooms

        async def in_again() -> bool:
            return not house.kept_out

        await until(in_again)
    await house.open(sid)
    assert [line["event"] for line in said if line["log_level"] == "error"] == ["kept out"]


@short
async def test_a_node_that_was_paused_while_others_of_another_format_came_is_kept_out(
    own: StoreProcess, connect: Connect, stuck: Stick
) -> None:
    house, other = stuck(own), connect(own)
    sid = await begin(other)
    player = pid()
    guest = await Guest.join(house, await begin(other, player), player)
    told: list[bool] = []
    house.when_kept_out.append(lambda: told.append(True))
    before = house.store.node
    silence(house)

    async def ended() -> bool:
        return not await other.redis.hlen(keys.NODES) or before not in await asked()

    async def asked() -> set[str]:
        _, *nodes = await other.run("beat", [keys.NODES, keys.ABOUT], ["x", Store.LEASE_MS, "look", "1 1"])
        return {node.decode() for node in nodes}

    await until(ended)

    async def stay() -> None:
        while True:
            await comes(other, stores.FORMAT + 1)
            await asyncio.sleep(0.1)

    await comes(other, stores.FORMAT + 1)
    staying = asyncio.ensure_future(stay())
    try:
        silence(house, ends=True)
        await true(lambda: house.kept_out)
        with pytest.raises(OtherFormat):
            await house.open(sid)
        for name in (HEARTS.name, GAME.name):
            with pytest.raises(OtherFormat):
                await house.create(player, name, {})
        with pytest.raises(OtherFormat):
            await house.rename(player, "Ada")
        # Nor is anything stored of what was open.
        ref = guest.send("draw")
        await true(lambda: guest.room.away)
        read = await other.peek(guest.room.sid)
        assert read is not None
        assert read.version == 0
        assert told == [True]
    finally:
        staying.cancel()
    await true(lambda: not house.kept_out)
    assert await guest.answer(ref) == 1
    assert house.store.node != before
    await house.open(sid)
