"""The store's methods against each kind of server; what nodes hear of each other; a store that is away."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from heartroom.store import keys
from heartroom.store.store import (
    CONFLICT,
    GONE,
    STORED,
    Away,
    Changed,
    Commit,
    Missed,
    News,
    Presence,
    Renamed,
    Said,
    Store,
)
from tests.conftest import Connect
from tests.support.games import CODE, GAME, begin, pid
from tests.support.stores import StoreProcess

T = TypeVar("T")

SHORT_S = 1.5
"""How long a node waits for a store that is known not to answer."""


async def epoch_of(store: Store, sid: str) -> int:
    opened = await store.open(sid)
    assert opened is not None
    return opened.record.epoch


async def append(store: Store, sid: str, version: int, body: bytes = b"x") -> int | None:
    ((result, _),) = await store.commit([Commit(sid, await epoch_of(store, sid), version, body, 0)])
    return result


class Listener:
    """A node's ear: begun when made, read one by one."""

    def __init__(self, store: Store) -> None:
        self._news = store.news()

    async def __aenter__(self) -> Listener:
        assert await anext(self._news) == Missed(None, True)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._news.aclose()  # type: ignore[attr-defined]

    async def next(self) -> Said:
        return await asyncio.wait_for(anext(self._news), 30)


# -- sessions


async def test_a_session_is_read_as_it_was_made(store: Store) -> None:
    player = pid()
    sid = await begin(store, player)
    opened = await store.open(sid)
    assert opened is not None
    setup = GAME.deal({"code": CODE}, bytes(32))
    made = opened.record
    assert (made.game, made.rules, made.owner) == (GAME.name, GAME.rules_version, player)
    assert made.settings == {}
    assert made.luck
    assert made.options == {"code": CODE}
    assert made.deal == setup.deal
    assert 1 <= made.epoch < 2**31
    assert 0 <= opened.now_ms - made.created_ms < 60_000
    assert (opened.version, opened.entries) == (0, [])


async def test_what_is_hidden_in_a_deal_may_be_nested(store: Store) -> None:
    options, deal = {"a": [1, {"b": None}]}, ((1, 2), "three", None)
    await store.create("nested-deal0", "g", 1, options, deal, "p", {"pace_s": 30})
    opened = await store.open("nested-deal0")
    assert opened is not None
    assert opened.record.deal[1:] == ("three", None)
    assert list(opened.record.deal[0]) == [1, 2]
    assert opened.record.options == {"a": [1, {"b": None}]}
    assert opened.record.settings == {"pace_s": 30}


async def test_there_is_no_session_that_was_not_made(store: Store) -> None:
    assert await store.open("nobody-made-") is None


async def test_two_sessions_have_two_epochs(store: Store) -> None:
    epochs = {await epoch_of(store, await begin(store)) for _ in range(5)}
    assert len(epochs) == 5


async def test_entries_come_back_with_their_times(store: Store) -> None:
    sid = await begin(store)
    epoch = await epoch_of(store, sid)
    times = []
    for version, body in enumerate((b"", b"one", b"0123456789012345")):
        ((result, now_ms),) = await store.commit([Commit(sid, epoch, version, body, 0)])
        assert result == STORED
        times.append(now_ms)
    opened = await store.open(sid, 1)
    assert opened is not None
    assert opened.version == 3
    assert opened.entries == [(times[1], b"one"), (times[2], b"0123456789012345")]
    assert times == sorted(times)


async def test_a_batch_tells_what_became_of_each(store: Store) -> None:
    first, second = await begin(store), await begin(store)
    epochs = await epoch_of(store, first), await epoch_of(store, second)
    results = await store.commit(
        [
            Commit(first, epochs[0], 0, b"x", 0),
            Commit(second, epochs[1], 1, b"x", 0),
            Commit("nobody-made-", 1, 0, b"x", 0),
        ]
    )
    assert [result for result, _ in results] == [STORED, CONFLICT, GONE]


async def test_an_empty_batch_stores_nothing(store: Store) -> None:
    assert await store.commit([]) == []


async def test_a_session_lives_as_long_as_the_node_says(shared: StoreProcess) -> None:
    store = Store(shared.url, live_ttl_s=1000)
    sid = await begin(store)
    assert 900 < await store.redis.ttl(keys.session(sid)) <= 1000
    await append(store, sid, 0)
    await store.open(sid)
    assert await store.redis.ttl(keys.session(sid)) > 900
    await store.aclose()


async def test_scripts_that_the_store_forgot_are_sent_again(store: Store) -> None:
    sid = await begin(store)
    assert await append(store, sid, 0) == STORED
    await store.redis.script_flush()
    assert await append(store, sid, 1) == STORED
    await store.redis.script_flush()
    await store.close(sid)
    await store.renew(sid, await epoch_of(store, sid), 0)


async def test_renew_changes_the_epoch_of_a_log_that_lost_entries(store: Store) -> None:
    sid = await begin(store)
    epoch = await epoch_of(store, sid)
    await append(store, sid, 0)
    await store.renew(sid, epoch, 1)
    assert await epoch_of(store, sid) == epoch
    await store.renew(sid, epoch, 2)
    assert await epoch_of(store, sid) != epoch


# -- players


async def test_a_stranger_has_no_name_and_no_sessions(store: Store) -> None:
    assert await store.player(pid()) == ("", [])
    assert await store.names([pid(), pid()]) == ["", ""]
    assert await store.names([]) == []


async def test_a_player_s_sessions_are_listed_the_latest_first_until_they_are_over(store: Store) -> None:
    player = pid()
    made = []
    for _ in range(3):
        sid = await begin(store, player)
        made.append(sid)
        await store.redis.zadd(keys.playing(player), {f"{sid} {GAME.name}": len(made)})
    assert await store.player(player) == ("", [(sid, GAME.name) for sid in reversed(made)])
    for _ in range(2):  # it may be done again
        await store.unlist(made[1], GAME.name, [player, player])
    assert await store.player(player) == ("", [(made[2], GAME.name), (made[0], GAME.name)])


async def test_a_player_who_begins_game_after_game_has_a_bounded_list(store: Store) -> None:
    player = pid()
    for _ in range(60):
        sid = await begin(store, player)
    assert await store.redis.zcard(keys.playing(player)) == 50
    _, listed = await store.player(player)
    assert len(listed) == 20
    assert (sid, GAME.name) in listed  # some may have been begun in the same millisecond


async def test_a_session_is_listed_with_whoever_sits_down(store: Store) -> None:
    owner, guest = pid(), pid()
    sid = await begin(store, owner)
    for _ in range(2):
        await store.list_playing(guest, sid, GAME.name, 5)
    for player in (owner, guest):
        assert (await store.player(player))[1] == [(sid, GAME.name)]


async def test_tables_that_wait_are_listed_the_oldest_first(store: Store) -> None:
    game = pid()
    assert await store.waiting(game) == []
    for sid, created_ms in (("late", 30), ("early", 10), ("between", 20), ("late", 30)):
        await store.list_waiting(sid, game, created_ms)
    assert await store.waiting(game) == ["early", "between", "late"]
    for _ in range(2):
        await store.list_waiting("early", game, None)
    assert await store.waiting(game) == ["between", "late"]


async def test_a_name_is_kept(store: Store) -> None:
    player = pid()
    await store.rename(player, "Åse ❤ 李")
    assert (await store.player(player))[0] == "Åse ❤ 李"
    assert await store.names([pid(), player]) == ["", "Åse ❤ 李"]


# -- what nodes hear


async def test_the_other_node_s_commits_are_heard_in_order(shared: StoreProcess, connect: Connect) -> None:
    here, there = connect(shared), connect(shared)
    sid = await begin(here)
    epoch = await epoch_of(here, sid)
    async with Listener(here) as ear:
        for version in range(200):
            await there.commit([Commit(sid, epoch, version, b"%d" % version, 0)])
        for version in range(200):
            news = await ear.next()
            assert isinstance(news, News)
            assert (news.sid, news.epoch, news.version) == (sid, epoch, version + 1)
            assert news.entry.body == b"%d" % version


async def test_a_node_does_not_hear_its_own_commits(shared: StoreProcess, connect: Connect) -> None:
    here, there = connect(shared), connect(shared)
    sid = await begin(here)
    await epoch_of(there, sid)
    async with Listener(here) as ear, Listener(there):
        await append(here, sid, 0)
        await append(there, sid, 1)
        news = await ear.next()
        assert isinstance(news, News)
        assert news.version == 2


async def test_a_node_that_closed_a_session_hears_no_more_of_it(
    shared: StoreProcess, connect: Connect
) -> None:
    here, there = connect(shared), connect(shared)
    closed, kept = await begin(here), await begin(here)
    for sid in (closed, kept):
        await epoch_of(here, sid)
    async with Listener(here) as ear:
        await here.close(closed)
        await append(there, closed, 0)
        await append(there, kept, 0)
        news = await ear.next()
        assert isinstance(news, News)
        assert news.sid == kept


async def test_all_nodes_hear_a_new_name(shared: StoreProcess, connect: Connect) -> None:
    here, there = connect(shared), connect(shared)
    player = pid()
    async with Listener(here) as ours, Listener(there) as theirs:
        await here.rename(player, "Kari Ø")
        for ear in (ours, theirs):
            # other tests rename players too
            while (news := await ear.next()) != Renamed(player, "Kari Ø"):
                assert not isinstance(news, News)


async def test_all_nodes_hear_who_comes_and_goes(shared: StoreProcess, connect: Connect) -> None:
    here, there = connect(shared), connect(shared)
    sid = await begin(here)
    async with Listener(there) as ear:
        for seat, comes in ((-1, True), (3, True), (3, False)):
            await here.tell_presence(sid, seat, comes)
            while (news := await ear.next()) != Presence(sid, here.node, seat, comes):
                # other tests have players too
                assert not isinstance(news, News)


async def test_silence_is_no_reason_to_think_that_the_store_is_away(
    shared: StoreProcess, connect: Connect
) -> None:
    here, there = connect(shared, 0.2), connect(shared)
    sid = await begin(there)
    await epoch_of(here, sid)
    async with Listener(here) as ear:
        waiting = asyncio.ensure_future(ear.next())
        done, _ = await asyncio.wait([waiting], timeout=0.7)
        assert not done
        await append(there, sid, 0)
        assert isinstance(await waiting, News)


# -- away


Ask = Callable[[Store, str], Awaitable[object]]

QUESTIONS: dict[str, Ask] = {
    "create": lambda store, _: begin(store),
    "open": lambda store, sid: store.open(sid),
    "close": lambda store, sid: store.close(sid),
    "renew": lambda store, sid: store.renew(sid, 1, 1),
    "commit": lambda store, sid: store.commit([Commit(sid, 1, 0, b"x", 0)]),
    "player": lambda store, _: store.player("somebody"),
    "names": lambda store, _: store.names(["somebody"]),
    "rename": lambda store, _: store.rename("somebody", "x"),
    "list_playing": lambda store, sid: store.list_playing("somebody", sid, "g", 1),
    "waiting": lambda store, _: store.waiting("g"),
    "list_waiting": lambda store, sid: store.list_waiting(sid, "g", 1),
    "tell_presence": lambda store, sid: store.tell_presence(sid, 0, True),
    "time_ms": lambda store, _: store.time_ms(),
    "unlist": lambda store, sid: store.unlist(sid, "g", ["somebody"]),
    "news": lambda store, _: anext(store.news()),
}


async def test_a_store_that_was_killed_is_away_whatever_is_asked(own: StoreProcess, connect: Connect) -> None:
    store = connect(own)
    sid = await begin(store)
    await store.open(sid)  # with a connection in the pool that is not known to be dead
    own.kill()
    assert await store.failures()
    for ask in QUESTIONS.values():
        with pytest.raises(Away):
            await ask(store, sid)


async def test_a_store_that_stands_still_is_away_whatever_is_asked(
    own: StoreProcess, connect: Connect
) -> None:
    store = connect(own, SHORT_S)
    sid = await begin(store)
    own.freeze()
    assert await store.failures()
    answers = await asyncio.gather(*(ask(store, sid) for ask in QUESTIONS.values()), return_exceptions=True)
    assert [type(answer) for answer in answers] == [Away] * len(QUESTIONS)


async def test_a_store_that_comes_back_has_everything_and_is_used_again(
    own: StoreProcess, connect: Connect
) -> None:
    store = connect(own)
    sid = await begin(store)
    for version in range(20):
        assert await append(store, sid, version) == STORED
    own.kill()
    with pytest.raises(Away):
        await store.open(sid)
    own.start()
    opened = await store.open(sid)
    assert opened is not None
    assert opened.version == 20
    assert await append(store, sid, 20) == STORED


async def test_a_store_that_goes_on_is_used_again(own: StoreProcess, connect: Connect) -> None:
    store = connect(own, SHORT_S)
    sid = await begin(store)
    own.freeze()
    with pytest.raises(Away):
        await store.open(sid)
    own.thaw()
    opened = await until_there(lambda: store.open(sid))
    assert opened is not None
    # answers to what was asked before must not be taken for answers to this
    assert await store.player("somebody") == ("", [])
    assert await append(store, sid, opened.version) == STORED


async def until_there(ask: Callable[[], Awaitable[T]]) -> T:
    async with asyncio.timeout(30):
        while True:
            with contextlib.suppress(Away):
                return await ask()


async def test_a_listener_learns_that_the_store_was_killed_and_listens_again(
    own: StoreProcess, connect: Connect
) -> None:
    here, there = connect(own), connect(own)
    sid = await begin(here)
    async with Listener(here) as ear:
        own.kill()
        with pytest.raises(Away):
            await ear.next()
    own.start()
    async with Listener(here) as ear:
        await epoch_of(here, sid)
        await append(there, sid, 0)
        assert isinstance(await ear.next(), News)


async def test_what_was_stored_while_a_listener_was_gone_is_in_the_log(
    shared: StoreProcess, connect: Connect
) -> None:
    here, there = connect(shared), connect(shared)
    sid = await begin(here)
    async with Listener(here):
        await epoch_of(here, sid)
    await append(there, sid, 0, b"missed")
    async with Listener(here) as ear:
        opened = await here.open(sid)
        assert opened is not None
        assert [entry.body for entry in opened.entries] == [b"missed"]
        # it was struck off meanwhile, and is on the list again
        await append(there, sid, 1, b"heard")
        news = await ear.next()
        assert isinstance(news, News)
        assert news.entry.body == b"heard"


async def test_a_full_store_is_away_and_what_it_has_can_be_read_later(
    own: StoreProcess, connect: Connect
) -> None:
    store = connect(own)
    sid = await begin(store)
    epoch = await epoch_of(store, sid)
    await store.redis.config_set("maxmemory", "1")
    with pytest.raises(Away):
        await store.commit([Commit(sid, epoch, 0, b"x", 0)])
    await store.redis.config_set("maxmemory", "0")
    assert await append(store, sid, 0) == STORED


async def test_the_time_is_the_store_s(store: Store) -> None:
    sid = await begin(store)
    opened = await store.open(sid)
    assert opened is not None
    assert 0 <= store.now_ms - opened.now_ms < 60_000


async def test_all_nodes_hear_what_has_changed(shared: StoreProcess, connect: Connect) -> None:
    one, other = connect(shared), connect(shared)
    async with Listener(one) as here, Listener(other) as there:
        await one.tell_changed("live")
        assert await here.next() == Changed("live")
        assert await there.next() == Changed("live")


async def test_a_session_that_is_there_is_not_begun_again(store: Store) -> None:
    player = pid()
    sid = await begin(store, player)
    await append(store, sid, 0)
    before = await store.open(sid)
    await begin(store, pid(), sid=sid)
    after = await store.open(sid)
    assert before is not None
    assert after is not None
    assert (after.record, after.entries) == (before.record, before.entries)


async def test_a_crowd_is_no_reason_to_be_away(store: Store) -> None:
    """More at once than there are connections: they wait for their turn."""
    players = [pid() for _ in range(20 * Store.CONNECTIONS)]
    await asyncio.gather(*(store.player(player) for player in players))
    assert not await store.failures()
