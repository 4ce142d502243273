"""Entries on real stores: proved from the log, written once whatever dies in between, rightly named."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any

import msgspec
import pytest
import structlog

from heartroom import metrics
from heartroom.daily import dates
from heartroom.leaderboards.results import Result
from heartroom.sessions import record
from heartroom.sessions.house import House
from heartroom.sessions.log import Deed, pack
from heartroom.store import keys
from heartroom.store.days import Deal
from tests.conftest import Connect, Open
from tests.leaderboards.conftest import Nodes
from tests.support.days import PAR, Calendar, Node, known_deal, play, winning, write
from tests.support.games import GAME, pid
from tests.support.mortal import Killed, Mortal
from tests.support.stores import StoreProcess


async def shown(node: Node, day: str, by: str = "time") -> list[tuple[int, str, int, int]]:
    """(rank, name, tenths of a second, moves) of a board's rows."""
    page = await node.boards.of_day(day).page(by, "")
    wide = 1 << 24
    return [
        (row.rank, row.name, *(divmod(row.score, wide) if by == "time" else divmod(row.score, wide)[::-1]))
        for row in page.best
    ]


async def claimed(node: Node, player: str) -> str:
    """The session of a player's attempt of today, not yet looked at."""
    await node.deal()
    return await node.daily.begin(player)


def alarms() -> float:
    return float(next(iter(metrics.BOARD_ALARMS.collect())).samples[0].value)


# -- what is entered


async def test_a_win_is_entered_with_time_and_moves(node: Node) -> None:
    player = pid()
    await node.house.rename(player, "Ada")
    room = await node.won(player, detours=4)
    result = await node.boards.result(node.day, player)
    assert result is not None
    assert result == Result(node.day, room.sid, room.elapsed_ms, PAR + 8, PAR, room.ended_ms or 0)
    assert await shown(node, node.day) == [(1, "Ada", room.elapsed_ms // 100, PAR + 8)]
    assert await node.boards.results(player) == [result]
    assert not (await node.daily.sight(node.day, player)).running


async def test_draws_undone_count_twice(node: Node) -> None:
    await node.won(one := pid(), detours=0)
    await node.won(other := pid(), detours=27)
    results = [await node.boards.result(node.day, player) for player in (one, other)]
    assert [result and result.moves for result in results] == [PAR, PAR + 54]


async def test_rejected_actions_count_nothing(node: Node) -> None:
    """They never get into the log, and the log is all there is to an entry."""
    player = pid()
    room = await node.begun(player)
    assert all(deed.seat == -1 for _, deed in room.log)
    await play(room, node.house, winning())
    await node.boards.follow(room)
    result = await node.boards.result(node.day, player)
    assert result is not None
    assert result.moves == sum(deed.seat >= 0 for _, deed in room.log) == PAR


async def test_a_game_given_up_has_no_entry(node: Node) -> None:
    room = await node.begun(pid())
    await play(room, node.house, winning()[:-1])
    await node.boards.follow(room)
    assert await shown(node, node.day) == []


async def test_an_attempt_finished_too_late_has_no_entry(node: Node) -> None:
    player, day = pid(), node.day
    sid = await claimed(node, player)
    late = dates.end_ms(dates.after(day))
    await write(node.house.store, sid, 60_000, start_ms=late - 60_000)
    await node.boards.follow(await node.house.open(sid))
    assert await node.boards.result(day, player) is None
    assert not (await node.daily.sight(day, player)).running
    other = await node.daily.begin(pid())
    await write(node.house.store, other, 60_000, start_ms=late - 60_001)
    await node.boards.follow(await node.house.open(other))
    assert len(await shown(node, day)) == 1


async def test_what_is_won_in_time_is_being_entered_until_it_is_entered(nodes: Nodes) -> None:
    """On the node that has it open and on any other, also when the time to win it has passed meanwhile."""
    one, other = nodes(), nodes()
    one.house.when_over.clear()
    other.house.when_over.clear()
    player, day = pid(), one.day
    room = await one.begun(player)

    async def entering() -> set[bool]:
        standing = await one.daily.days.standing(day, player)
        return {await node.boards.is_entering(day, standing) for node in (one, other)}

    assert await entering() == {False}
    await play(room, one.house, winning()[:-1])
    assert await entering() == {False}
    await play(room, one.house, winning()[-1:])
    assert await entering() == {True}
    one.calendar.next_day(3)
    assert await entering() == {True}
    await other.boards.follow(await other.house.open(room.sid))
    assert await entering() == {False}
    assert await one.boards.result(day, player) is not None


async def test_what_is_won_too_late_is_not_being_entered(node: Node) -> None:
    player, day = pid(), node.day
    sid = await claimed(node, player)
    node.house.when_over.clear()
    await write(node.house.store, sid, 60_000, start_ms=dates.end_ms(dates.after(day)) - 60_000)
    assert not await node.boards.is_entering(day, await node.daily.days.standing(day, player))


async def test_unranked_games_have_no_entry(node: Node) -> None:
    await node.deal()
    sid = await node.house.create(player := pid(), GAME.name, {"code": "HH1-N-AAAAAAM"})
    room = await node.house.enter(sid, player)
    await play(room, node.house, winning())
    await node.boards.follow(room)
    assert await shown(node, node.day) == []


async def test_results_that_read_the_same_share_a_rank(node: Node) -> None:
    for name, elapsed_ms, detours in (
        ("Cy", 70_499, 0),
        ("Ada", 70_400, 0),
        ("Bo", 70_500, 0),
        ("Eve", 70_499, 1),
        ("Dan", 70_399, 9),
    ):
        player = pid()
        await node.house.rename(player, name)
        sid = await claimed(node, player)
        await write(node.house.store, sid, elapsed_ms, detours)
        await node.boards.follow(await node.house.open(sid))
    assert await shown(node, node.day) == [
        (1, "Dan", 703, PAR + 18),
        (2, "Ada", 704, PAR),
        (2, "Cy", 704, PAR),
        (4, "Eve", 704, PAR + 2),
        (5, "Bo", 705, PAR),
    ]
    assert await shown(node, node.day, "moves") == [
        (1, "Ada", 704, PAR),
        (1, "Cy", 704, PAR),
        (3, "Bo", 705, PAR),
        (4, "Eve", 704, PAR + 2),
        (5, "Dan", 703, PAR + 18),
    ]


# -- what is not


async def test_a_result_below_par_is_an_alarm_and_no_entry(node: Node) -> None:
    """A par that is too high stands for a log that is too short: one of them is wrong."""
    before = alarms()
    await node.daily.days.put(known_deal(node.day)._replace(par=PAR + 1))
    room = await node.begun(player := pid())
    await play(room, node.house, winning())
    await node.boards.follow(room)
    assert alarms() == before + 1
    assert await shown(node, node.day) == []
    assert not (await node.daily.sight(node.day, player)).running
    await node.boards.follow(room)
    assert alarms() == before + 1, "said once"


@pytest.mark.parametrize(
    "forged",
    [
        b"%013d" % 10**12 + pack(Deed(0, 1, ("pair", 1, 2))),
        b"%013d" % 10**12 + pack(Deed(0, 1, ("win",))),
        b"%013d" % 10**12 + b"\xc1",
        b"yesterday",
    ],
)
async def test_a_log_that_the_rules_do_not_allow_is_an_alarm_and_no_entry(node: Node, forged: bytes) -> None:
    before = alarms()
    sid = await claimed(node, pid())
    await write(node.house.store, sid, 60_000)
    redis: Any = node.house.store.redis
    await redis.lset(keys.log(sid), 3, forged)
    await node.boards.sweep()
    assert alarms() == before + 1
    assert await shown(node, node.day) == []
    await node.boards.sweep()
    assert alarms() == before + 1


async def test_an_attempt_that_cannot_be_read_is_over_and_keeps_nobody_else_from_the_boards(
    node: Node,
) -> None:
    """What lies at its keys is of another type."""
    before, redis = alarms(), node.house.store.redis
    players = [pid() for _ in range(3)]
    oddlog, odd, won = [await claimed(node, player) for player in players]
    for key in (keys.log(oddlog), keys.session(odd)):
        await redis.delete(key)
        await redis.set(key, "x")
    await write(node.house.store, odd, 60_000)
    await write(node.house.store, won, 60_000)
    assert await node.daily.begin(players[0]) == oddlog, "the one attempt there is"
    for player in players[:2]:
        assert not await node.boards.is_entering(node.day, await node.daily.days.standing(node.day, player))
    await node.boards.sweep()
    assert alarms() == before + 2
    assert len(await shown(node, node.day)) == 1
    for player in players:
        assert not (await node.daily.days.standing(node.day, player)).running
    await node.boards.sweep()
    assert alarms() == before + 2


async def test_a_store_whose_clock_was_put_back_is_no_alarm(nodes: Nodes) -> None:
    """No action is before the one it follows: not for the boards, nor in what is exported."""
    before, node = alarms(), nodes()
    player, start_ms = pid(), 10**12
    sid = await claimed(node, player)
    store: Any = node.house.store
    await write(store, sid, 60_000, start_ms=start_ms)
    entries = await store.redis.lrange(keys.log(sid), 0, -1)
    for version in (7, len(entries) - 1):
        await store.redis.lset(keys.log(sid), version, b"%013d" % (start_ms - 5000) + entries[version][13:])
    await node.boards.sweep()
    assert alarms() == before
    result = await node.boards.result(node.day, player)
    assert result is not None
    assert result.elapsed_ms == int(entries[-2][:13]) - start_ms
    for room in [await one.house.open(sid) for one in (node, nodes())]:
        times = [at_ms for at_ms, _ in room.log]
        assert times == sorted(times)
        assert (room.elapsed_ms, room.ended_ms) == (result.elapsed_ms, result.at_ms)
        deeds = [(at_ms - start_ms, 0, deed.action) for at_ms, deed in room.log if deed.seat == 0]
        assert (
            record.read(b"".join(record.lines(GAME, room.setup, [""], deeds))).elapsed_ms == result.elapsed_ms
        )


async def test_a_game_of_another_deal_is_an_alarm_and_no_entry(node: Node) -> None:
    before = alarms()
    player = pid()
    other = GAME.deal({}, bytes(32))
    await node.daily.days.put(Deal(*known_deal(node.day)._replace(deal=other.deal)))
    sid = await node.daily.begin(player)
    deal: Any = known_deal(node.day).deal
    await node.house.store.redis.hset(keys.session(sid), "deal", msgspec.msgpack.encode(deal))
    await write(node.house.store, sid, 60_000)
    await node.boards.follow(await node.house.open(sid))
    assert alarms() == before + 1
    assert await shown(node, node.day) == []


async def test_a_session_that_calls_itself_ranked_and_was_not_started_as_such_has_no_entry(
    node: Node,
) -> None:
    """As many sessions of the deal as one likes may be begun: the one that was started counts."""
    before = alarms()
    player = pid()
    sid = await claimed(node, player)
    room = await node.house.open(sid)
    second = await node.house.found(player, room.game, room.setup, room.settings._asdict())
    await write(node.house.store, second, 60_000)
    await node.boards.follow(await node.house.open(second))
    assert alarms() == before + 1
    assert await shown(node, node.day) == []


# -- once, whatever dies


async def test_the_first_entry_of_a_player_is_never_replaced(node: Node) -> None:
    player = pid()
    room = await node.won(player)
    result = await node.boards.result(node.day, player)
    for _ in range(3):
        await node.house.store.redis.zadd(keys.runs(node.day), {player: 0})  # as if it had never been closed
        await node.boards.follow(room)
    assert await node.boards.result(node.day, player) == result
    assert len(await shown(node, node.day)) == 1


async def test_a_node_killed_at_any_point_between_win_and_board_loses_nothing(
    shared: StoreProcess, opens: Open, connect: Connect, calendar: Calendar
) -> None:
    """Dead before each single command in turn; then another node sweeps."""
    died = 0
    other = Node(opens(shared), calendar)
    with structlog.testing.capture_logs():
        for point in range(100):
            calendar.next_day()
            player = pid()
            await other.house.rename(player, f"p{point}")
            sid = await claimed(other, player)
            await write(other.house.store, sid, 60_000 + point, detours=point % 3)

            dying = Node(House(connect(shared)), calendar)  # and never closed
            life = Mortal(dying.house.store, point)
            with contextlib.suppress(Killed):
                await dying.house.open(sid)
                await dying.boards.sweep()

            await other.boards.sweep()
            moves = PAR + 2 * (point % 3)
            assert await shown(other, calendar.day) == [(1, f"p{point}", (60_000 + point) // 100, moves)]
            assert await shown(other, calendar.day, "moves") == await shown(other, calendar.day)
            (result,) = await other.boards.results(player)
            assert (result.elapsed_ms, result.moves) == (60_000 + point, moves)
            row = (await other.boards.all_time.page("wins", player)).row_of(player)
            assert row is not None
            assert (row.name, row.score) == (f"p{point}", -1)
            assert not (await other.daily.sight(calendar.day, player)).running
            if not life.dead:
                break
            died += 1
    assert 8 < died < 99


async def test_who_opens_the_session_next_does_what_a_dead_node_has_left(nodes: Nodes) -> None:
    one, other = nodes(), nodes()
    player = pid()
    sid = await claimed(one, player)
    await write(one.house.store, sid, 60_000)
    done = asyncio.Event()

    async def noted(_room: object) -> None:
        done.set()

    other.house.when_over.append(noted)
    await other.house.open(sid)
    await asyncio.wait_for(done.wait(), 30)
    assert len(await shown(one, one.day)) == 1


async def test_many_nodes_at_once_make_one_entry(nodes: Nodes) -> None:
    several = [nodes() for _ in range(4)]
    player = pid()
    sid = await claimed(several[0], player)
    await write(several[0].house.store, sid, 60_000)
    rooms = await asyncio.gather(*(node.house.open(sid) for node in several))
    await asyncio.gather(
        *(node.boards.follow(room) for node, room in zip(several, rooms, strict=True)),
        *(node.boards.sweep() for node in several),
    )
    assert len(await shown(several[0], several[0].day)) == 1
    assert len(await several[0].boards.results(player)) == 1


async def test_many_players_finish_at_once_on_several_nodes(nodes: Nodes) -> None:
    several = [nodes() for _ in range(3)]
    first = several[0]
    sids = [await claimed(first, pid()) for _ in range(60)]
    for number, sid in enumerate(sids):
        await write(first.house.store, sid, 60_000 + number * 37 % 50 * 100, number % 4)

    async def finish(node: Node, sid: str) -> None:
        await node.boards.follow(await node.house.open(sid))

    await asyncio.gather(*(finish(node, sid) for sid in sids for node in several[sids.index(sid) % 2 :]))
    expected = sorted((600 + number * 37 % 50, PAR + 2 * (number % 4)) for number in range(60))
    found = await shown(first, first.day)
    assert [row[2:] for row in found] == expected
    assert [row[0] for row in found] == [1 + expected.index(row[2:]) for row in found]


# -- clocks


async def test_times_are_the_store_s_whatever_a_node_s_clock_says(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clocks that are hours fast or slow, on the nodes that take the first and the last action."""
    one, other = nodes(), nodes()
    player = pid()
    before = await one.house.store.time_ms()
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 7_200)
    room = await one.begun(player)
    await play(room, one.house, winning()[:40])
    monkeypatch.setattr(time, "time", lambda: real() - 86_400)
    there = await other.house.open(room.sid)
    await play(there, other.house, winning()[40:])
    await other.boards.follow(there)
    after = await one.house.store.time_ms()
    result = await one.boards.result(one.day, player)
    assert result is not None
    assert 0 <= result.elapsed_ms <= after - before
    assert before <= result.at_ms <= after


# -- names


async def test_an_entry_follows_its_player_s_name(node: Node) -> None:
    player, day = pid(), node.day
    await node.house.rename(player, "Ada")
    await node.won(player)
    node.calendar.next_day()
    await node.won(player)
    await node.house.rename(player, "Eve")
    for one in (day, node.day):
        assert [row[1] for row in await shown(node, one)] == ["Eve"]
    page = await node.boards.all_time.page("wins", player)
    row = page.row_of(player)
    assert row is not None
    assert row.name == "Eve"
    assert ("name", player) not in await node.boards.people.due()


async def test_nobody_takes_over_a_row_by_taking_its_name(node: Node) -> None:
    ada, thief = pid(), pid()
    await node.house.rename(ada, "Ada")
    await node.won(ada)
    await node.house.rename(thief, "Ada")
    await node.won(thief, detours=30)
    await node.house.rename(thief, "Ada")
    rows = (await node.boards.of_day(node.day).page("moves", "")).best
    assert [(row.rank, row.pid, row.name) for row in rows] == [(1, ada, "Ada"), (2, thief, "Ada")]


async def test_a_rename_that_died_half_way_is_done_by_the_next_sweep(
    shared: StoreProcess, opens: Open, connect: Connect, calendar: Calendar
) -> None:
    other = Node(opens(shared), calendar)
    player = pid()
    await other.house.rename(player, "before")
    await other.won(player)
    for point in range(10):  # before each command of a rename, and after all of them
        dying = Node(House(connect(shared)), calendar)  # and never closed
        Mortal(dying.house.store, point)
        with contextlib.suppress(Killed):
            await dying.house.rename(player, f"after {point}")
        await other.boards.sweep()
        (kept,) = await other.house.store.names([player])
        assert kept == (f"after {point}" if point >= 3 else "before")
        assert [row[1] for row in await shown(other, calendar.day)] == [kept]
        row = (await other.boards.all_time.page("wins", player)).row_of(player)
        assert row is not None
        assert row.name == kept


async def test_renames_at_the_same_time_end_with_one_name_everywhere(nodes: Nodes) -> None:
    several = [nodes() for _ in range(4)]
    player = pid()
    await several[0].won(player)
    await asyncio.gather(
        *(node.house.rename(player, f"n{number}") for number, node in enumerate(several * 3))
    )
    (kept,) = await several[0].house.store.names([player])
    assert [row[1] for row in await shown(several[0], several[0].day)] == [kept]


async def test_a_rename_while_the_result_is_entered_is_not_lost(nodes: Nodes) -> None:
    one, other = nodes(), nodes()
    for number in range(10):
        one.calendar.next_day()
        player = pid()
        sid = await claimed(one, player)
        await write(one.house.store, sid, 60_000)
        room = await one.house.open(sid)
        await asyncio.gather(one.boards.follow(room), other.house.rename(player, f"n{number}"))
        await one.boards.sweep()
        assert [row[1] for row in await shown(one, one.day)] == [f"n{number}"]


async def test_a_rename_after_a_node_died_at_any_point_before_the_entry_was_whole_is_not_lost(
    shared: StoreProcess, opens: Open, connect: Connect, calendar: Calendar
) -> None:
    died = 0
    other = Node(opens(shared), calendar)
    with structlog.testing.capture_logs():
        for point in range(100):
            calendar.next_day()
            player = pid()
            await other.house.rename(player, "before")
            sid = await claimed(other, player)
            await write(other.house.store, sid, 60_000)
            dying = Node(House(connect(shared)), calendar)  # and never closed
            life = Mortal(dying.house.store, point)
            with contextlib.suppress(Killed):
                await dying.boards.follow(await dying.house.open(sid))
            await other.house.rename(player, "after")
            await other.boards.sweep()
            row = (await other.boards.all_time.page("wins", player)).row_of(player)
            assert row is not None
            assert (row.name, [one[1] for one in await shown(other, calendar.day)]) == ("after", ["after"])
            if not life.dead:
                break
            died += 1
    assert 8 < died < 99


# -- all time


async def test_days_in_a_row_make_a_streak(node: Node) -> None:
    player = pid()
    for _ in range(3):
        await node.won(player, detours=1)
        node.calendar.next_day()
    node.calendar.next_day()
    await node.won(player)
    row = (await node.boards.all_time.page("streak", player)).row_of(player)
    assert row is not None
    assert row.score == -3
    assert [result.day for result in await node.boards.results(player)] == sorted(
        dates.after(node.day, -back) for back in (0, 2, 3, 4)
    )


async def test_a_result_of_an_earlier_day_that_comes_late_counts_all_the_same(node: Node) -> None:
    """Yesterday's attempt is finished after today's."""
    player = pid()
    yesterday = await node.begun(player)
    node.calendar.next_day()
    await node.won(player)
    await play(yesterday, node.house, winning())
    await node.boards.follow(yesterday)
    row = (await node.boards.all_time.page("streak", player)).row_of(player)
    assert row is not None
    assert row.score == -2


async def test_a_player_with_an_entry_has_finished_though_not_all_is_done(node: Node) -> None:
    """A node died after the entry: the day is open at once, and the rest is still done by the next sweep."""
    player = pid()
    room = await node.won(player)
    await node.house.store.redis.zadd(keys.runs(node.day), {player: 0})  # as it is before the last step
    sight = await node.daily.sight(node.day, player)
    assert (sight.running, sight.open) == (False, True)
    await node.boards.sweep()
    assert not (await node.daily.days.standing(node.day, player)).running
    assert room.is_over


async def test_a_room_that_is_behind_is_looked_at_again_by_the_next_sweep(nodes: Nodes) -> None:
    """It was open here while another node stored the win, and had not heard of it yet."""
    node = nodes()
    player = pid()
    sid = await claimed(node, player)
    behind = await node.house.open(sid)
    await write(node.house.store, sid, 60_000)
    await node.boards.sweep()
    assert await shown(node, node.day) == []
    opened = await node.house.store.open(sid, behind.version)
    assert opened is not None
    behind.missed(behind.version, opened.entries)
    await node.boards.sweep()
    assert len(await shown(node, node.day)) == 1
