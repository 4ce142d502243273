"""`sessions.driver` at a table of Hearts, in real houses on a real store: nobody waits for ever."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import pytest_asyncio

from heartroom import client as wire
from heartroom.games.game import games
from heartroom.sessions.house import House
from heartroom.sessions.live import Live
from heartroom.sessions.room import Room
from heartroom.sessions.table import HOUSE
from heartroom.store import keys
from tests.conftest import Open
from tests.support.games import pid
from tests.support.guests import Guest, until
from tests.support.stores import StoreProcess

GAME: Final = games()["hearts"]
FIELD: Final = {name: place for place, name in enumerate(GAME.fields)}
PASSING, PLAYING, SCORED, OVER = range(4)


async def sit_down(house: House, sid: str, player: str = "") -> Guest:
    guest = await Guest.join(house, sid, player)
    guest.room.sit(guest.viewer, 1, None)
    assert isinstance(await guest.answer(1), int)
    await guest.outlet.until(lambda: guest.table.seat is not None)
    return guest


async def table(house: House, players: int = 1, **settings: Any) -> list[Guest]:
    """A table with a target of one point (so that a game is one hand), and `players` who sit at it."""
    owner = pid()
    settings.setdefault("level", "easy")
    sid = await house.create(owner, GAME.name, {"target": 1}, **settings)
    first = await Guest.join(house, sid, owner)
    return [first, *[await sit_down(house, sid) for _ in range(players - 1)]]


async def start(guest: Guest) -> None:
    guest.room.start(guest.viewer, 2)
    assert isinstance(await guest.answer(2), int)
    await guest.outlet.until(lambda: guest.room.table.started)


def see(guest: Guest, field: str) -> Any:
    return guest.table.view[FIELD[field]]


async def play_on(guest: Guest) -> None:
    """Does what a bot would in the guest's seat, until the game is over."""
    seat = guest.table.seat
    assert seat is not None
    while True:
        # A player on another node may not have heard of the start yet, and then sees no hand.
        await guest.outlet.until(
            lambda: (
                see(guest, "phase") == OVER
                or (seat in see(guest, "to_act") and isinstance(see(guest, f"hand{seat}"), list))
            )
        )
        if see(guest, "phase") == OVER:
            return
        action = GAME.choose("easy", tuple(guest.table.view), seat, "a guest")
        assert isinstance(await guest.act(*action), int)


def deeds(room: Room, verb: str) -> list[tuple[Any, ...]]:
    return [deed.action for _, deed in room.log if deed.seat == HOUSE and deed.action[0] == verb]


@pytest_asyncio.fixture
async def quick(shared: StoreProcess, opens: Open) -> House:
    """A house whose bots act at once."""
    return opens(shared, bot_delay_ms=0)


async def test_one_player_and_three_bots_play_to_the_end(quick: House) -> None:
    (guest,) = await table(quick)
    await start(guest)
    await play_on(guest)
    assert guest.room.is_over
    assert sum(see(guest, "totals")) in (26, 78)
    assert see(guest, "winners")


async def test_four_players_play_to_the_end_without_bots(quick: House) -> None:
    guests = await table(quick, players=4)
    assert [guest.table.seat for guest in guests] == [0, 1, 2, 3]
    await start(guests[3])
    async with asyncio.timeout(60):
        await asyncio.gather(*(play_on(guest) for guest in guests))
    assert len({tuple(see(guest, "totals")) for guest in guests}) == 1
    assert all(guest.table.version == guests[0].room.version for guest in guests)


async def test_before_the_start_nobody_sees_a_card(quick: House) -> None:
    guests = await table(quick, players=2)
    assert all(see(guest, f"hand{seat}") == 13 for guest in guests for seat in range(4))
    await start(guests[0])
    await guests[1].outlet.until(lambda: isinstance(see(guests[1], "hand1"), list))
    assert len(see(guests[1], "hand1")) == 13
    assert see(guests[1], "hand0") == 13


async def test_before_the_start_nobody_plays(quick: House) -> None:
    (guest,) = await table(quick)
    assert await guest.act("next") == "not_started"


async def test_a_bot_takes_over_when_the_turn_clock_has_run_out_and_gives_back(quick: House) -> None:
    # a pace of one second is the shortest there is; passing takes three of them
    guest, other = await table(quick, players=2, pace_s=1)
    await start(guest)
    async with asyncio.timeout(60):
        await until_true(lambda: guest.room.table.chairs[0].away)
        assert await guest.act("next") == "away"
        guest.room.sit(guest.viewer, 3, None)
        assert isinstance(await guest.answer(3), int)
    assert deeds(guest.room, "back") == [("back", 0)]
    other.leave()


async def test_without_a_turn_clock_nobody_is_hurried(quick: House) -> None:
    guest, other = await table(quick, players=2, pace_s=0)
    await start(guest)
    # bots pass; the two are waited for
    await until_true(lambda: set(GAME.to_act(guest.room.state)) == {0, 1})
    driver = guest.room._driver
    assert driver is not None
    driver.look()
    assert driver._timer is None
    other.leave()


async def test_a_score_sheet_is_put_away_for_who_does_not(quick: House) -> None:
    owner = pid()
    sid = await quick.create(owner, GAME.name, {"target": 200}, level="easy", pace_s=6)
    guest = await Guest.join(quick, sid, owner)
    await start(guest)
    async with asyncio.timeout(100):
        while see(guest, "phase") != SCORED:
            await guest.outlet.until(lambda: 0 in see(guest, "to_act"))
            if see(guest, "phase") == SCORED:
                break
            action = GAME.choose("easy", tuple(guest.table.view), 0, "a guest")
            assert isinstance(await guest.act(*action), int)
        await guest.outlet.until(lambda: see(guest, "hand_number") == 2)
    assert not deeds(guest.room, "away")


async def test_who_loses_the_connection_is_replaced_after_the_grace_and_comes_back_to_the_seat(
    shared: StoreProcess, opens: Open
) -> None:
    house = opens(shared, bot_delay_ms=0, grace_ms=50)
    guest, other = await table(house, players=2, pace_s=0)
    await start(guest)
    other.leave()
    await until_true(lambda: guest.room.table.chairs[1].away)
    back = await Guest.join(house, guest.room.sid, other.player)
    assert back.table.seat == 1
    await until_true(lambda: not guest.room.table.chairs[1].away)
    assert len(see(back, "hand1")) == 13


async def test_who_is_back_within_the_grace_has_missed_nothing(shared: StoreProcess, opens: Open) -> None:
    house = opens(shared, bot_delay_ms=0, grace_ms=600_000)
    guest, other = await table(house, players=2, pace_s=0)
    await start(guest)
    held = other.leave()
    back = await Guest.join(house, guest.room.sid, other.player, holding=held)
    assert back.table.seat == 1
    assert not deeds(guest.room, "away")
    assert not guest.room.gone_ms


async def test_a_player_who_leaves_for_good_is_a_bot_to_the_end(quick: House) -> None:
    guest, other = await table(quick, players=2)
    await start(guest)
    other.room.stand(other.viewer, 5)
    assert isinstance(await other.answer(5), int)
    await other.outlet.until(lambda: other.table.seat is None)
    assert see(other, "hand1") == 13, "who has left sees what spectators see"
    assert await other.act("next") == "not_seated"
    await play_on(guest)
    assert guest.room.is_over


async def test_a_table_that_all_have_left_stands_still_and_goes_on_when_one_is_back(quick: House) -> None:
    (guest,) = await table(quick)
    await start(guest)
    await guest.outlet.until(lambda: see(guest, "to_act") == [0])
    room, version = guest.room, guest.room.version
    guest.leave()
    room._look()
    assert room._driver is not None
    assert room._driver._timer is None
    assert room.version == version
    again = await Guest.join(quick, room.sid, guest.player)
    await play_on(again)
    assert again.room.is_over


async def stand(guest: Guest) -> None:
    guest.room.stand(guest.viewer, 5)
    assert isinstance(await guest.answer(5), int)


async def test_a_table_that_all_have_left_for_good_is_played_out_by_bots_while_anybody_looks_on(
    quick: House,
) -> None:
    guest, other = await table(quick, players=2)
    await start(guest)
    room = guest.room
    watcher = await Guest.join(quick, room.sid)
    for player in (guest, other):
        await stand(player)
        player.leave()
    await watcher.outlet.until(lambda: see(watcher, "phase") == OVER)
    assert room.is_over
    assert sum(see(watcher, "totals")) in (26, 78)


async def test_with_nobody_looking_on_it_rests_and_goes_on_when_somebody_does(quick: House) -> None:
    (guest,) = await table(quick)
    await start(guest)
    room = guest.room
    await guest.outlet.until(lambda: see(guest, "to_act") == [0])
    await stand(guest)
    guest.leave()
    room._look()
    assert room._driver is not None
    assert room._driver._timer is None
    # what the bots had put in the queue before is still done
    await until_true(lambda: room.idle)
    version = room.version
    room._look()
    assert room.idle
    assert room.version == version
    assert not room.is_over
    watcher = await Guest.join(quick, room.sid)
    await watcher.outlet.until(lambda: see(watcher, "phase") == OVER)


async def test_a_game_that_nobody_plays_any_more_is_not_listed_as_live(quick: House) -> None:
    live = Live(quick)
    (guest,) = await table(quick, public=True)
    await start(guest)
    watcher = await Guest.join(quick, guest.room.sid)
    await guest.outlet.until(lambda: see(guest, "to_act") == [0])

    async def listed() -> bool:
        await live.look()
        return guest.room.sid in [one.session for one in await live.games()]

    assert await listed()
    quick.bot_delay_ms = 600_000  # type: ignore[misc]
    await stand(guest)
    guest.leave()
    assert watcher.viewer in guest.room.viewers[None]
    assert not guest.room.is_over
    assert not await listed()


async def test_everybody_is_told_how_well_the_bots_play(quick: House) -> None:
    (easy,) = await table(quick, level="easy")
    (best,) = await table(quick, level="")
    assert (easy.room.level, best.room.level) == ("easy", GAME.levels[-1])
    told = [message for message in easy.outlet.messages if message[0] == wire.TABLE]
    assert told[-1][5][4] == "easy"


async def test_a_table_goes_on_after_its_node_is_gone(shared: StoreProcess, opens: Open) -> None:
    first = opens(shared, bot_delay_ms=0)
    (guest,) = await table(first)
    await start(guest)
    await guest.outlet.until(lambda: see(guest, "to_act") == [0])
    second = opens(shared, bot_delay_ms=0)
    again = await Guest.join(second, guest.room.sid, guest.player)
    guest.leave()
    await play_on(again)
    assert again.room.is_over


async def test_players_on_two_nodes_play_one_game(shared: StoreProcess, opens: Open) -> None:
    here, there = opens(shared, bot_delay_ms=0), opens(shared, bot_delay_ms=0)
    (guest,) = await table(here)
    other = await sit_down(there, guest.room.sid)
    await until_true(lambda: guest.room.here(1) and other.room.here(0))
    await start(guest)
    async with asyncio.timeout(100):
        await asyncio.gather(play_on(guest), play_on(other))
    await other.at(guest.room.version)
    assert see(guest, "totals") == see(other, "totals")
    moves = [deed for _, deed in guest.room.log]
    assert moves == [deed for _, deed in other.room.log]


async def test_play_now_seats_two_at_one_table_that_starts_by_itself(quick: House) -> None:
    await quick.store.redis.delete(keys.waiting(GAME.name))
    quick.QUICK_MS = 2_000  # type: ignore[misc]
    ada, bob = pid(), pid()
    sid = await quick.quick(ada, GAME.name)
    guest = await Guest.join(quick, sid, ada)

    async def listed() -> bool:
        return sid in await quick.store.waiting(GAME.name)

    await until(listed)
    assert await quick.quick(bob, GAME.name) == sid
    other = await Guest.join(quick, sid, bob)
    await until_true(lambda: guest.room.table.started)
    assert {guest.table.seat, other.table.seat} == {0, 1}
    assert await quick.quick(pid(), GAME.name) != sid


async def test_a_full_table_is_passed_over(quick: House) -> None:
    guests = await table(quick, players=4, public=True)
    assert await quick.quick(pid(), GAME.name) != guests[0].room.sid


async def test_a_seat_asked_for_again_is_the_same_seat(quick: House) -> None:
    guests = await table(quick, players=2)
    guests[1].room.sit(guests[1].viewer, 9, None)
    assert await guests[1].answer(9) == guests[1].room.version
    guests[1].room.sit(guests[1].viewer, 10, 0)
    assert await guests[1].answer(10) in ("wrong_moment", "seat_taken")


async def test_bots_that_are_too_many_answer_quickly(quick: House) -> None:
    quick._thinkers.LONGEST_QUEUE = 0  # type: ignore[misc]
    (guest,) = await table(quick, level="good")
    await start(guest)
    await play_on(guest)
    assert guest.room.is_over


async def until_true(holds: Any) -> None:
    async def asked() -> bool:
        return bool(holds())

    await until(asked)
