"""The daily deal on real stores: made once, sealed, one attempt each, seen by those who may."""

from __future__ import annotations

import asyncio
import contextlib

import psutil
import pytest

from heartroom.daily import dates
from heartroom.games.game import Refused
from heartroom.games.heart_to_heart.deal import deal_number, random_number
from heartroom.games.heart_to_heart.solver import fewest_moves, winnable
from heartroom.sessions.room import Room
from heartroom.store.days import Deal
from tests.daily.conftest import Nodes
from tests.support.days import PAR, Calendar, Node, code, known_deal, play, some_day, winning
from tests.support.games import GAME, pid


async def refused(asking: object) -> str:
    with pytest.raises(Refused) as refusal:
        await asking  # type: ignore[misc]
    return refusal.value.code


async def enters(node: Node, sid: str, player: str) -> str | Room:
    """The room of a session, or the code with which a player is kept out."""
    try:
        return await node.house.enter(sid, player)
    except Refused as refusal:
        return refusal.code


# -- making deals


async def test_the_deal_of_a_day_can_be_won_in_par_moves_and_no_fewer(node: Node) -> None:
    deal = await node.daily.deal(node.day)
    assert winnable(deal.deal)
    solution = fewest_moves(deal.deal)
    assert solution.proven
    assert len(solution.moves) == len(deal.line) == deal.par


async def test_two_nodes_make_one_deal(nodes: Nodes) -> None:
    one, other = nodes(), nodes()
    made = await asyncio.gather(*(node.daily.deal(node.day) for node in (one, other, one, other)))
    assert len({deal.deal for deal in made}) == 1


async def test_a_deal_is_never_replaced(node: Node) -> None:
    first = await node.daily.deal(node.day)
    assert not await node.daily.days.put(known_deal(node.day))
    assert await node.daily.days.get(node.day) == first


async def test_a_node_that_dies_while_making_is_not_waited_for_for_ever(node: Node) -> None:
    """Another has said that it is making the deal, and says nothing more: its word expires by itself."""
    assert await node.daily.days.may_make(node.day)
    waiting = asyncio.ensure_future(node.daily.deal(node.day))
    await node.house.store.redis.delete(f"hr:dm:{{{node.day}}}")  # as it expires
    assert (await waiting).day == node.day


async def test_today_s_and_tomorrow_s_deals_are_made_ahead(node: Node) -> None:
    await node.daily.look()
    today = await node.daily.find(node.day)
    tomorrow = await node.daily.find(dates.after(node.day))
    assert today is not None
    assert tomorrow is not None
    assert today.deal != tomorrow.deal
    assert await node.daily.find(dates.after(node.day, 2)) is None


async def test_the_event_loop_goes_on_while_a_deal_is_made(node: Node) -> None:
    making = asyncio.ensure_future(node.daily.deal(node.day))
    turns = 0
    while not making.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns > 100
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):  # among them those that have just ended
            assert "heartroom.daily.maker" not in child.cmdline()


async def test_no_code_leads_to_the_deal(node: Node) -> None:
    deal = await node.daily.deal(node.day)
    assert await refused(node.house.create(pid(), GAME.name, {"code": code(node.day)})) == "sealed"
    # What a random code would take from the same chance is another deal.
    assert deal.deal != deal_number(random_number(bytes(32)))


# -- one attempt each


async def test_the_same_attempt_is_found_from_every_tab_device_and_node(nodes: Nodes) -> None:
    one, other = nodes(), nodes()
    await one.deal()
    player = pid()
    found = await asyncio.gather(*(node.daily.begin(player) for node in (one, other) * 4))
    assert len(set(found)) == 1
    assert await one.daily.begin(pid()) not in found


async def test_nothing_is_dealt_before_the_start_and_time_runs_from_there(node: Node) -> None:
    await node.deal()
    player = pid()
    sid = await node.daily.begin(player)
    room = await node.house.open(sid)
    assert (room.version, room.started_ms) == (0, None)
    assert await node.house.enter(sid, player) is room
    assert room.table.started
    assert room.started_ms is not None
    started = room.started_ms
    assert (await node.house.enter(await node.daily.begin(player), player)).started_ms == started


async def test_an_attempt_begun_by_a_node_that_died_half_way_is_begun_again(node: Node) -> None:
    """Killed between the claim and the session: the session of the claim is made by the next start."""
    await node.deal()
    player = pid()
    claimed = await node.daily.days.start(node.day, player, node.house.fresh_sid(), node.calendar.now_ms)
    assert await node.daily.begin(player) == claimed
    room = await node.house.enter(claimed, player)
    assert room.table.started


async def test_an_attempt_that_is_over_is_no_second_one(node: Node) -> None:
    player = pid()
    room = await node.won(player)
    assert await node.daily.begin(player) == room.sid
    assert room.is_over


async def test_an_attempt_belongs_to_the_day_it_was_started_on(node: Node) -> None:
    player, day = pid(), node.day
    node.calendar.now_ms = dates.end_ms(day) - 1
    room = await node.begun(player)
    node.calendar.now_ms += 1
    assert node.day == dates.after(day)
    await play(room, node.house, winning())
    await node.boards.follow(room)
    assert await node.boards.result(day, player) is not None
    assert await node.boards.result(node.day, player) is None
    await node.deal()
    assert await node.daily.begin(player) != room.sid


async def test_an_attempt_counts_until_the_end_of_the_day_after(node: Node) -> None:
    player, day = pid(), node.day
    room = await node.begun(player)
    node.calendar.now_ms = dates.end_ms(dates.after(day)) - 1
    assert (await node.daily.sight(day, player)).running
    assert not (await node.daily.sight(day, player)).open
    node.calendar.now_ms += 1
    sight = await node.daily.sight(day, player)
    assert not sight.running
    assert sight.open
    assert await enters(node, room.sid, player) is room, "it can still be played, for nothing"


async def test_an_attempt_never_looked_at_cannot_be_begun_when_it_would_not_count(
    node: Node,
) -> None:
    await node.deal()
    player = pid()
    sid = await node.daily.begin(player)
    node.calendar.next_day(2)
    assert await enters(node, sid, player) == "wrong_moment"


async def test_the_countdown_goes_to_midnight_utc(node: Node) -> None:
    node.calendar.now_ms = dates.start_ms(node.day)
    assert (await node.daily.sight(node.day, "")).ends_in_ms == dates.DAY_MS
    node.calendar.now_ms = dates.end_ms(node.day) - 1
    sight = await node.daily.sight(node.day, "")
    assert (sight.ends_in_ms, sight.over) == (1, False)
    day = node.day
    node.calendar.now_ms += 1
    sight = await node.daily.sight(day, "")
    assert (sight.ends_in_ms, sight.over) == (0, True)


@pytest.mark.parametrize("day", ["2126-03-31", "2126-10-27"])
async def test_days_on_which_clocks_are_put_forward_are_as_long_as_others(node: Node, day: str) -> None:
    node.calendar.now_ms = dates.start_ms(day)
    assert (await node.daily.sight(day, "")).ends_in_ms == 24 * 3_600_000


# -- who sees what


async def test_today_s_games_are_sealed_for_all_who_have_not_finished(node: Node) -> None:
    owner, finished, running, stranger = pid(), pid(), pid(), pid()
    room = await node.begun(owner)
    await node.won(finished)
    await node.begun(running)
    assert await enters(node, room.sid, owner) is room
    assert await enters(node, room.sid, finished) is room
    assert await enters(node, room.sid, running) == "sealed"
    assert await enters(node, room.sid, stranger) == "sealed"
    assert await enters(node, room.sid, "") == "sealed"


async def test_a_sealed_game_is_not_begun_by_somebody_else(node: Node) -> None:
    await node.deal()
    finished = pid()
    await node.won(finished)
    sid = await node.daily.begin(pid())
    assert await enters(node, sid, finished) == "sealed"
    assert not (await node.house.open(sid)).table.started


async def test_when_the_day_is_over_all_see_its_games_but_those_still_at_theirs(node: Node) -> None:
    winner, running = pid(), pid()
    room = await node.won(winner)
    await node.begun(running)
    assert await enters(node, room.sid, pid()) == "sealed"
    node.calendar.next_day()
    assert await enters(node, room.sid, pid()) is room
    assert await enters(node, room.sid, "") is room
    assert await enters(node, room.sid, running) == "sealed", "who is still at it gets no help"
    node.calendar.next_day()
    assert await enters(node, room.sid, running) is room


async def test_today_s_deal_is_practised_by_those_alone_who_have_finished(node: Node) -> None:
    finished, running, stranger = pid(), pid(), pid()
    await node.won(finished)
    await node.begun(running)
    options = {"code": code(node.day).lower()}
    assert await refused(node.house.create(stranger, GAME.name, options)) == "sealed"
    assert await refused(node.house.create(running, GAME.name, options)) == "sealed"
    sid = await node.house.create(finished, GAME.name, options)
    practice = await node.house.enter(sid, finished)
    assert practice.setup.options == {"code": code(node.day)}
    assert practice.setup.deal == known_deal(node.day).deal
    assert practice.settings.ranked == ""
    assert practice.table.started
    assert await enters(node, sid, stranger) == "sealed", "nor may others watch it"
    assert await enters(node, sid, running) == "sealed"


async def test_practice_is_never_ranked(node: Node) -> None:
    player = pid()
    await node.won(player, detours=3)
    sid = await node.house.create(player, GAME.name, {"code": code(node.day)})
    practice = await node.house.enter(sid, player)
    await play(practice, node.house, winning())
    await node.boards.follow(practice)
    result = await node.boards.result(node.day, player)
    assert result is not None
    assert result.moves == PAR + 6


async def test_past_days_are_practised_by_all(node: Node) -> None:
    await node.deal()
    day = node.day
    node.calendar.next_day()
    sid = await node.house.create(pid(), GAME.name, {"code": code(day)})
    assert (await node.house.open(sid)).setup.deal == known_deal(day).deal


async def test_days_to_come_and_days_without_a_deal(node: Node) -> None:
    tomorrow = dates.after(node.day)
    await node.daily.days.put(known_deal(tomorrow))
    assert await refused(node.house.create(pid(), GAME.name, {"code": code(tomorrow)})) == "sealed"
    never = dates.after(node.day, -1)
    assert await refused(node.house.create(pid(), GAME.name, {"code": code(never)})) == "no_day"
    assert await refused(node.house.create(pid(), GAME.name, {"code": "HH1-D-20269999"})) == "bad_code"
    both = {"code": code(never), "winnable": True}
    assert await refused(node.house.create(pid(), GAME.name, both)) == "bad_options"


async def test_other_games_and_other_codes_are_nobody_s_secret(node: Node) -> None:
    sid = await node.house.create(pid(), GAME.name, {"code": "HH1-N-AAAAAAM"})
    assert isinstance(await enters(node, sid, pid()), Room)


async def test_what_is_sent_before_the_end_of_the_day_does_not_depend_on_the_deal(node: Node) -> None:
    """Two days with different deals: all that a stranger can ask for is answered the same."""
    answers = []
    for deal in (known_deal(node.day), Deal(*known_deal(some_day())._replace(deal=deal_number(1)))):
        day = some_day()
        node.calendar.now_ms = Calendar.on(day).now_ms
        await node.daily.days.put(deal._replace(day=day))
        sid = await node.daily.begin(pid())
        stranger = pid()
        sight = await node.daily.sight(day, stranger)
        answers.append(
            (
                await enters(node, sid, stranger),
                await refused(node.house.create(stranger, GAME.name, {"code": code(day)})),
                sight._replace(day="", today=""),
            )
        )
    assert answers[0] == answers[1]
