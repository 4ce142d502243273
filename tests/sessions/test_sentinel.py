"""Houses on a primary that Sentinels watch: it dies, a replica takes over, and play goes on by itself."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from heartroom.sessions.house import House
from heartroom.sessions.room import Limits
from heartroom.store import keys
from heartroom.store.store import Away, Commit, Store
from tests.conftest import Open
from tests.sessions.test_house import SHORT_S, logged
from tests.support.clusters import Cluster, Server, Watched, cluster, watched
from tests.support.games import begin, pid
from tests.support.guests import Guest, until
from tests.support.stores import BINARIES


@pytest.fixture(params=sorted(BINARIES))
def own(request: pytest.FixtureRequest) -> Iterator[Watched]:
    """Servers for one test, to be harmed."""
    with watched(BINARIES[request.param]) as made:
        yield made


@pytest_asyncio.fixture
async def careful() -> AsyncIterator[Callable[[Watched | Cluster], House]]:
    """Opens houses that make nothing of a move before a replica has it."""
    async with contextlib.AsyncExitStack() as stack:

        def make(place: Watched | Cluster) -> House:
            store = Store(place.url, timeout_s=SHORT_S, replicas=1)
            stack.push_async_callback(store.aclose)
            house = House(store, Limits())
            house.start()
            stack.push_async_callback(house.aclose)
            return house

        yield make


Careful = Callable[[Watched | Cluster], House]


def replica_of(own: Watched) -> Server:
    return next(one for one in own.data if one is not own.primary)


async def test_what_no_replica_has_is_neither_acknowledged_nor_shown(own: Watched, careful: Careful) -> None:
    here, there = careful(own), careful(own)
    player = pid()
    guest = await Guest.join(here, await begin(here.store, player), player)
    watcher = await Guest.join(there, guest.room.sid)
    assert await guest.act("draw") == 1
    await watcher.at(1)
    replica = replica_of(own)
    replica.freeze()
    ref = guest.send("draw")
    for each in (guest, watcher):
        await each.outlet.until(lambda each=each: each.outlet.store[-1:] == [False])  # type: ignore[misc]
    assert own.primary.ask("LLEN", keys.log(guest.room.sid)) == 2, "the primary has it"
    assert ref not in guest.outlet.answers
    assert (guest.table.version, watcher.table.version) == (1, 1)
    with pytest.raises(Away):
        await there.store.open(guest.room.sid)
    replica.thaw()
    assert await guest.answer(ref) == 2
    await watcher.at(2)
    assert [deed.ref for deed in await logged(here.store, guest.room.sid)] == guest.outlet.answered


async def test_a_commit_that_no_replica_has_is_one_that_nobody_knows_of(own: Watched) -> None:
    store = Store(own.url, timeout_s=SHORT_S, replicas=1)
    sid = await begin(store)
    opened = await store.open(sid)
    assert opened is not None
    replica = replica_of(own)
    replica.freeze()
    with pytest.raises(Away):
        await store.commit([Commit(sid, opened.record.epoch, 0, b"x", 0)])
    replica.thaw()
    await store.aclose()


async def test_what_was_acknowledged_is_not_lost_with_the_primary(own: Watched, careful: Careful) -> None:
    """Nobody waits here for the replica to be in step but the node itself."""
    house = careful(own)
    guests = []
    for _ in range(20):
        player = pid()
        guests.append(await Guest.join(house, await begin(house.store, player), player))
    await asyncio.gather(*(guest.act("draw") for guest in guests))
    for guest in guests:
        guest.send("undo")
    await guests[0].at(2)
    acknowledged = {guest.room.sid: list(guest.outlet.answered) for guest in guests}
    own.primary.kill()
    # it is alone now: whoever waits for a replica would wait for ever
    alone = Store(own.url, timeout_s=SHORT_S)

    async def there() -> bool:
        with contextlib.suppress(Away):
            return await alone.time_ms() > 0
        return False

    await until(there)
    for sid, refs in acknowledged.items():
        assert [deed.ref for deed in await logged(alone, sid)][: len(refs)] == refs
    await alone.aclose()


async def test_each_shard_s_replica_is_waited_for(careful: Careful) -> None:
    with cluster(BINARIES["valkey"], replicas=1) as place:
        house = careful(place)
        guests: dict[int, Guest] = {}
        while len(guests) < place.SHARDS:
            player = pid()
            sid = await begin(house.store, player)
            guests.setdefault(place.shard_of(sid), await Guest.join(house, sid, player))
        here, *others = [guests[shard] for shard in range(place.SHARDS)]
        assert await asyncio.gather(*(guest.act("draw") for guest in guests.values())) == [1, 1, 1]
        replica = place.nodes[place.SHARDS]
        replica.freeze()
        ref = here.send("draw")
        assert await asyncio.gather(*(guest.act("draw") for guest in others)) == [2, 2]
        await here.outlet.until(lambda: here.outlet.store[-1:] == [False])
        assert ref not in here.outlet.answers
        replica.thaw()
        assert await here.answer(ref) == 2


async def test_a_replica_takes_over_from_a_primary_that_was_killed(own: Watched, opens: Open) -> None:
    await taken_over(own, opens, Server.kill)


async def test_a_replica_takes_over_from_a_primary_that_stands_still(opens: Open) -> None:
    with watched(BINARIES["valkey"]) as own:
        lost = own.primary
        guests = await taken_over(own, opens, Server.freeze)
        lost.thaw()  # it takes itself for the primary still, for a moment
        for guest in guests:
            assert await guest.act("draw") == 6


async def test_a_primary_that_was_replaced_is_left_though_it_still_answers(own: Watched, opens: Open) -> None:
    house = opens(own, SHORT_S)
    player = pid()
    guest = await Guest.join(house, await begin(house.store, player), player)
    assert await guest.act("draw") == 1
    old = own.primary
    assert old.ask("WAIT", 1, 10_000) == 1
    old.ask("ACL", "SETUSER", "default", "-replicaof", "-slaveof")  # nobody can tell it that it was replaced
    own.sentinels[0].ask("SENTINEL", "FAILOVER", own.NAME)

    async def left() -> bool:
        _, listeners = old.ask("PUBSUB", "NUMSUB", keys.EVERYBODY)
        return bool(own.primary is not old and listeners == 0)

    await until(left)
    assert await guest.act("draw") == 2
    assert own.primary.ask("LLEN", keys.log(guest.room.sid)) == 2
    assert (old.ask("ROLE")[0], old.ask("LLEN", keys.log(guest.room.sid))) == (b"master", 1)


async def taken_over(own: Watched, opens: Open, harm: Callable[[Server], None]) -> list[Guest]:
    """Games are played on two nodes while the primary is harmed, until they have gone on."""
    here, there = opens(own, SHORT_S), opens(own, SHORT_S)
    guests = []
    for _ in range(5):
        player = pid()
        guests.append(await Guest.join(here, await begin(here.store, player), player))
    watchers = [await Guest.join(there, guest.room.sid) for guest in guests]
    for version in range(1, 4):
        for guest in guests:
            assert await guest.act("draw") == version
    lost = own.primary
    assert lost.ask("WAIT", 1, 10_000) == 1
    refs = [guest.send("draw", base=3) for guest in guests]
    with capture_logs() as said:
        harm(lost)
        late = [guest.send("undo") for guest in guests]
        for guest, ref, after in zip(guests, refs, late, strict=True):
            assert await guest.answer(ref) == 4
            assert await guest.answer(after) == 5

    async def replaced() -> bool:
        return own.primary is not lost

    await until(replaced)  # the Sentinel that we ask may be the last to hear of it
    found = [line["address"] for line in said if line["event"] == "new primary"]
    assert f"127.0.0.1:{own.primary.port}" in found
    for guest, watcher in zip(guests, watchers, strict=True):
        await watcher.at(guest.table.version)
        assert watcher.table.view == guest.table.view == guest.fresh()
        deeds = await logged(here.store, guest.room.sid)
        assert [deed.ref for deed in deeds] == guest.outlet.answered
    return guests
