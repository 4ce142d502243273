"""Houses on a Redis Cluster: what holds on one server holds there, and while shards die and slots move."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest
from redis.asyncio import Redis
from redis.exceptions import DataError
from structlog.testing import capture_logs

from heartroom.sessions.house import House
from heartroom.sessions.viewer import Viewer
from heartroom.store import keys
from heartroom.store.cluster import slot_of
from heartroom.store.store import STORED, Away, Commit, Store
from tests.conftest import Connect, Open
from tests.sessions.test_house import (
    SHORT_S,
    logged,
    test_a_finished_game_is_no_more_among_its_player_s,
    test_a_house_that_closes_leaves_all_sessions,
    test_a_log_that_lost_entries_and_was_refilled_to_its_old_length_is_not_taken_for_the_old_one,
    test_a_log_that_lost_entries_gets_a_new_epoch_and_everybody_a_snapshot,
    test_a_message_that_cannot_be_read_leaves_no_node_deaf,
    test_a_session_that_expired_is_no_session,
    test_actions_on_two_nodes_interleave_without_gaps,
    test_after_any_sequence_of_diffs_a_client_sees_what_a_fresh_snapshot_shows,
    test_an_action_sent_to_one_node_and_again_to_another_is_done_once,
    test_an_empty_room_is_closed_and_opens_again_as_it_was,
    test_news_of_a_refilled_log_does_not_follow_what_was_lost,
    test_of_two_actions_meant_for_one_version_on_two_nodes_one_is_stale,
    test_viewers_on_all_nodes_see_names_and_games,
    test_what_cannot_be_read_may_have_been_news_and_is_read_from_the_log,
    test_who_changes_nodes_resumes_with_what_was_missed,
)
from tests.sessions.test_nodes import (
    leases,
    stuck,
    test_a_node_that_died_is_struck_off_by_who_opens_its_sessions_later,
    test_a_node_that_was_paused_past_its_lease_is_there_again_under_another_name,
    test_players_on_a_node_that_died_are_gone_and_after_the_grace_bots_play_for_them,
)
from tests.support.clusters import Cluster, cluster
from tests.support.games import begin, pid
from tests.support.guests import Guest, Outlet, until
from tests.support.stores import BINARIES, PATIENCE_S

ENDLESS = 1_000_000
"""The longest log where a test does not know how much is played while it runs."""

# Run here, too, with the fixture `shared` of this module.
__all__ = [
    "leases",
    "stuck",
    "test_a_finished_game_is_no_more_among_its_player_s",
    "test_a_house_that_closes_leaves_all_sessions",
    "test_a_log_that_lost_entries_and_was_refilled_to_its_old_length_is_not_taken_for_the_old_one",
    "test_a_log_that_lost_entries_gets_a_new_epoch_and_everybody_a_snapshot",
    "test_a_message_that_cannot_be_read_leaves_no_node_deaf",
    "test_a_node_that_died_is_struck_off_by_who_opens_its_sessions_later",
    "test_a_node_that_was_paused_past_its_lease_is_there_again_under_another_name",
    "test_a_session_that_expired_is_no_session",
    "test_actions_on_two_nodes_interleave_without_gaps",
    "test_after_any_sequence_of_diffs_a_client_sees_what_a_fresh_snapshot_shows",
    "test_an_action_sent_to_one_node_and_again_to_another_is_done_once",
    "test_an_empty_room_is_closed_and_opens_again_as_it_was",
    "test_news_of_a_refilled_log_does_not_follow_what_was_lost",
    "test_of_two_actions_meant_for_one_version_on_two_nodes_one_is_stale",
    "test_players_on_a_node_that_died_are_gone_and_after_the_grace_bots_play_for_them",
    "test_viewers_on_all_nodes_see_names_and_games",
    "test_what_cannot_be_read_may_have_been_news_and_is_read_from_the_log",
    "test_who_changes_nodes_resumes_with_what_was_missed",
]


@pytest.fixture(scope="module", params=sorted(BINARIES))
def shared(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A cluster that is not to be harmed."""
    with cluster(BINARIES[request.param]) as made:
        yield made


@pytest.fixture(params=sorted(BINARIES))
def own(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A cluster for one test, to be harmed."""
    with cluster(BINARIES[request.param]) as made:
        yield made


async def on_each_shard(place: Cluster, store: Store) -> list[str]:
    """A session on each shard, of one player each."""
    found: dict[int, str] = {}
    while len(found) < place.SHARDS:
        sid = secrets.token_urlsafe(9)
        found.setdefault(place.of(sid).port, sid)
    for sid in found.values():
        await begin(store, f"player-{sid}", sid=sid)
    return [found[node.port] for node in place.primaries]


async def seated(house: House, sid: str) -> Guest:
    return await Guest.join(house, sid, f"player-{sid}")


class Players:
    """They play, each waiting for its own answers, until told to stop."""

    def __init__(self, guests: list[Guest]) -> None:
        self.guests = guests
        self.acknowledged: dict[str, list[int]] = {guest.room.sid: [] for guest in guests}
        """By session: the refs, in the order of the versions they got."""
        self._tasks = [asyncio.ensure_future(self._play(guest)) for guest in guests]
        self._ends = False

    async def _play(self, guest: Guest) -> None:
        while not self._ends:
            ref = secrets.randbelow(2**53 - 1) + 1
            answer = await guest.act("draw" if guest.table.version % 2 == 0 else "undo", ref=ref)
            assert answer == len(self.acknowledged[guest.room.sid]) + 1, answer
            self.acknowledged[guest.room.sid].append(ref)

    async def some_more(self, guest: Guest, count: int = 5) -> None:
        """Returns when the guest has played on."""
        done = self.acknowledged[guest.room.sid]
        enough = len(done) + count

        async def ask() -> bool:
            return len(done) >= enough or any(task.done() for task in self._tasks)

        await until(ask)

    async def stop(self) -> None:
        self._ends = True
        await asyncio.gather(*self._tasks)

    async def nothing_is_lost_or_doubled(self, store: Store) -> None:
        for sid, refs in self.acknowledged.items():
            assert [deed.ref for deed in await logged(store, sid)] == refs


@pytest.fixture
async def playing() -> AsyncIterator[Callable[[list[Guest]], Players]]:
    """Players, who are stopped whatever happens."""
    made: list[Players] = []

    def start(guests: list[Guest]) -> Players:
        made.append(Players(guests))
        return made[-1]

    yield start
    for players in made:
        for task in players._tasks:
            task.cancel()
        await asyncio.gather(*players._tasks, return_exceptions=True)


Play = Callable[[list[Guest]], Players]


async def test_sessions_of_all_shards_are_stored_in_one_batch(shared: Cluster, connect: Connect) -> None:
    store = connect(shared)
    sids = [sid for _ in range(3) for sid in await on_each_shard(shared, store)]
    epochs = {}
    for sid in sids:
        opened = await store.open(sid)
        assert opened is not None
        epochs[sid] = opened.record.epoch
    for version, before in ((0, dict.fromkeys(sids, 0)), (1, {})):
        outcomes = await store.commit(
            [Commit(sid, epochs[sid], version, sid.encode(), 0, before.get(sid, 0)) for sid in sids]
        )
        assert [result for result, _ in outcomes] == [STORED] * len(sids)
        for sid, (_, at_ms) in zip(sids, outcomes, strict=True):
            opened = await store.open(sid)
            assert opened is not None
            assert opened.entries[-1] == (at_ms, sid.encode())
            assert opened.version == version + 1


async def test_a_shard_s_scripts_that_were_flushed_are_sent_again(shared: Cluster, opens: Open) -> None:
    house = opens(shared)
    guests = [await seated(house, sid) for sid in await on_each_shard(shared, house.store)]
    for version in range(1, 4):
        for node in shared.nodes:
            node.ask("SCRIPT", "FLUSH")
        assert await asyncio.gather(*(guest.act("draw") for guest in guests)) == [version] * 3


async def test_a_node_that_has_closed_a_session_hears_no_more_of_it(
    shared: Cluster, connect: Connect
) -> None:
    store = connect(shared)
    sid = await begin(store)

    def listening() -> int:
        _, count = shared.of(sid).ask("PUBSUB", "SHARDNUMSUB", keys.channel(sid))
        return int(count)

    await store.open(sid)
    assert listening() == 1
    await store.open(sid)
    assert listening() == 1
    await store.close(sid)
    await until(lambda: _true(listening() == 0))
    assert await store.open("nobody-made-") is None


async def _true(holds: bool) -> bool:
    return holds


@pytest.mark.usefixtures("leases")
async def test_a_node_that_died_while_a_session_is_open_is_struck_off_by_who_commits(
    shared: Cluster, opens: Open, stuck: Callable[[Cluster], House]
) -> None:
    here, dead = opens(shared), stuck(shared)
    guest = await Guest.join(here, await begin(here.store, player := pid()), player)
    await dead.open(guest.room.sid)
    name = dead.store.node
    await until(lambda: _true(name in here._alive))
    dead.store.held.set()  # type: ignore[attr-defined]
    await until(lambda: _true(name not in here._alive))
    await guest.act("draw")
    assert await here.store.redis.hget(keys.session(guest.room.sid), "nodes") == here.store.node.encode()


@pytest.mark.parametrize("ask", [Redis.dbsize, Redis.keys, Redis.scan, Redis.flushall, Redis.script_flush])
async def test_what_each_node_answers_for_itself_is_not_asked_of_one(
    shared: Cluster, connect: Connect, ask: Callable[[Redis], Awaitable[object]]
) -> None:
    with pytest.raises(DataError, match="ask each one"):
        await ask(connect(shared).redis)


# -- slots that move


async def test_slots_move_while_games_are_played(own: Cluster, opens: Open, playing: Play) -> None:
    here, there = opens(own, log_length=ENDLESS), opens(own, log_length=ENDLESS)
    guests = [await seated(here, sid) for sid in await on_each_shard(own, here.store)]
    watchers = [await Guest.join(there, guest.room.sid) for guest in guests]
    players = playing(guests)
    for guest in guests:
        await players.some_more(guest)
    for _ in range(2):  # and back the way it came
        for guest, watcher in zip(guests, watchers, strict=True):
            move = own.begin_move(guest.room.sid)
            await players.some_more(guest)
            hash_key = keys.session(guest.room.sid).encode()
            assert hash_key in move.left()
            move.carry(hash_key)  # its log is still where it was: nothing can be stored
            move.carry()
            await players.some_more(guest)
            # Not yet its new owner's, and yet the other node hears of what is stored there.
            seen = guest.table.version
            await watcher.outlet.until(lambda watcher=watcher, seen=seen: watcher.table.version >= seen)  # type: ignore[misc]
            move.end()
            await players.some_more(guest)
    await players.stop()
    await players.nothing_is_lost_or_doubled(here.store)
    for guest, watcher in zip(guests, watchers, strict=True):
        await watcher.at(guest.table.version)
        assert watcher.table.view == guest.table.view == guest.fresh()
        assert watcher.table.epoch == guest.table.epoch


async def test_a_session_that_is_half_moved_waits_and_goes_on(own: Cluster, opens: Open) -> None:
    """Without a log it has one key of two, and a cluster touches neither then until its slot has moved."""
    house = opens(own, SHORT_S)
    sid = (await on_each_shard(own, house.store))[0]
    guest = await seated(house, sid)
    move = own.begin_move(sid)
    move.carry()
    ref = guest.send("draw")
    await guest.outlet.until(lambda: guest.outlet.store == [False])
    assert guest.outlet.answers == {}
    move.end()
    assert await guest.answer(ref) == 1
    assert await guest.act("undo") == 2


async def test_what_else_is_stored_finds_its_slot_while_it_moves(own: Cluster, connect: Connect) -> None:
    store = connect(own)
    player = pid()
    await store.rename(player, "before")
    await store.list_playing(player, "a-session-000", "g", 1)
    assert slot_of(keys.session(player)) == slot_of(keys.player(player))
    move = own.begin_move(player)
    assert await store.player(player) == ("before", [("a-session-000", "g")])
    move.carry()
    names = await asyncio.gather(*(store.names([player, pid()]) for _ in range(200)))
    assert names == [["before", ""]] * 200
    await store.rename(player, "meanwhile")
    assert await store.player(player) == ("meanwhile", [("a-session-000", "g")])
    move.end()
    await store.rename(player, "after")
    assert await store.player(player) == ("after", [("a-session-000", "g")])


# -- shards that fail


async def test_a_shard_that_stands_still_holds_up_no_other(own: Cluster, opens: Open) -> None:
    house = opens(own)
    here, *others = [await seated(house, sid) for sid in await on_each_shard(own, house.store)]
    own.primaries[0].freeze()
    ref = here.send("draw")
    for version in range(1, 6):
        for guest in others:
            assert await guest.act("draw") == version
    assert here.outlet.answers == {}
    own.primaries[0].thaw()
    assert await here.answer(ref) == 1


async def test_of_a_shard_that_is_away_only_its_rooms_are_told_unless_the_leases_are_there(
    own: Cluster, opens: Open
) -> None:
    for node in own.nodes:
        node.ask("CONFIG", "SET", "cluster-require-full-coverage", "no")
    house = opens(own)
    guests = [await seated(house, sid) for sid in await on_each_shard(own, house.store)]
    lobby = Outlet()
    house.lobby.add(Viewer(lobby, pid()))
    assert await house.ready(PATIENCE_S)
    # no memory: the shard answers, and stores nothing
    for node, guest in zip(own.primaries, guests, strict=True):
        node.ask("CONFIG", "SET", "maxmemory", 1)
        await guest.outlet.until(lambda guest=guest: guest.outlet.store[-1:] == [False])  # type: ignore[misc]
        assert [other for other in guests if other.outlet.store[-1:] == [False]] == [guest]
        home = own.node_of(slot_of(keys.NODES)) is node
        assert (lobby.store[-1:] == [False]) == home
        assert not await house.ready(PATIENCE_S)
        node.ask("CONFIG", "SET", "maxmemory", 0)
        await guest.outlet.until(lambda guest=guest: guest.outlet.store[-1:] == [True])  # type: ignore[misc]
        await until(lambda: house.ready(PATIENCE_S))
    assert lobby.store == [False, True]
    for guest in guests:
        assert guest.outlet.store == [False, True]
        assert await guest.act("draw") == 1


async def test_a_shard_that_was_killed_comes_back_with_all_that_was_acknowledged(
    own: Cluster, opens: Open, playing: Play
) -> None:
    here, there = (opens(own, SHORT_S, log_length=ENDLESS) for _ in range(2))
    guests = [await seated(here, sid) for sid in await on_each_shard(own, here.store)]
    watchers = [await Guest.join(there, guest.room.sid) for guest in guests]
    players = playing(guests)
    for guest, node in zip(guests, own.primaries, strict=True):
        await players.some_more(guest)
        node.kill()
        await guest.outlet.until(lambda guest=guest: guest.outlet.store[-1:] == [False])  # type: ignore[misc]
        node.start()
        await players.some_more(guest)
        await until(lambda: here.ready(PATIENCE_S))
    await players.stop()
    await players.nothing_is_lost_or_doubled(here.store)
    for guest, watcher in zip(guests, watchers, strict=True):
        await watcher.at(guest.table.version)
        assert watcher.table.view == guest.table.view == guest.fresh()


async def test_without_one_shard_the_others_store_new_sessions(own: Cluster, connect: Connect) -> None:
    store = connect(own, SHORT_S)
    await begin(store)

    async def stored() -> bool:
        with contextlib.suppress(Away):  # where the shard that is away would store it, or was asked the time
            await begin(store)
            return True
        return False

    for node in own.primaries:
        for other in own.nodes:
            other.ask("CONFIG", "SET", "cluster-require-full-coverage", "no")
        node.kill()
        await until(stored)
        await until(stored)
        node.start()
        await until(lambda: _true(own.whole()))


async def test_nodes_that_were_cut_off_from_what_is_said_read_on(
    own: Cluster, opens: Open, playing: Play
) -> None:
    here, there = opens(own, log_length=ENDLESS), opens(own, log_length=ENDLESS)
    guests = [await seated(here, sid) for sid in await on_each_shard(own, here.store)]
    watchers = [await Guest.join(there, guest.room.sid) for guest in guests]
    players = playing(guests)
    for _ in range(10):
        for node, guest in zip(own.primaries, guests, strict=True):
            await until(lambda node=node: _true(node.ask("CLIENT", "KILL", "TYPE", "pubsub") > 0))  # type: ignore[misc]
            await players.some_more(guest, 2)
    await players.stop()
    for guest, watcher in zip(guests, watchers, strict=True):
        await watcher.at(guest.table.version)
        assert watcher.table.view == guest.table.view


async def test_a_replica_takes_over_and_play_goes_on(opens: Open) -> None:
    with cluster(BINARIES["valkey"], replicas=1) as own:
        here, there = opens(own, SHORT_S), opens(own, SHORT_S)
        sid = (await on_each_shard(own, here.store))[1]
        guest = await seated(here, sid)
        watcher = await Guest.join(there, sid)
        for version in range(1, 6):
            assert await guest.act("draw") == version
        lost = own.of(sid)
        lost.ask("WAIT", 1, 10_000)
        lost.kill()
        with capture_logs() as said:
            assert await guest.act("draw") == 6
        assert any(line["event"] == "cluster changed" for line in said)
        assert own.of(sid) is not lost
        await watcher.at(6)
        assert await guest.act("draw") == 7
        await watcher.at(7)
        assert watcher.table.view == guest.table.view == guest.fresh()
        assert watcher.table.epoch == guest.table.epoch
