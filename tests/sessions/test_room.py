"""A room in a real house on a real store: every answer an action can get, and what viewers see of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from heartroom import client as wire
from heartroom.games.game import Action, Game, Refused, View
from heartroom.protocol.codes import Code
from heartroom.sessions.history import History
from heartroom.sessions.house import House
from heartroom.sessions.log import Deed, pack
from heartroom.sessions.room import Limits, Room
from heartroom.sessions.viewer import Viewer
from heartroom.store import keys
from heartroom.store.store import STORED, Commit, Entry, News, Opened, Store
from tests.conftest import Open
from tests.support.games import GAME, WINNING, begin, pid
from tests.support.guests import Guest, until
from tests.support.stores import StoreProcess


async def player_of_a_new_game(house: House) -> Guest:
    player = pid()
    return await Guest.join(house, await begin(house.store, player), player)


async def stored(house: House, sid: str) -> int:
    opened = await house.store.open(sid)
    assert opened is not None
    return opened.version


# -- what is taken


async def test_an_action_is_shown_and_then_acknowledged_once_it_is_stored(house: House) -> None:
    guest = await player_of_a_new_game(house)
    assert await guest.act("draw", base=0) == 1
    assert await stored(house, guest.room.sid) == 1
    kinds = guest.outlet.kinds()
    assert kinds[:2] == [wire.SNAPSHOT, wire.TABLE]
    assert kinds.index(wire.DIFF) < kinds.index(wire.ACK)
    assert guest.table.view == guest.fresh()


async def test_nothing_is_shown_before_it_is_stored(house: House) -> None:
    guest = await player_of_a_new_game(house)
    ref = guest.send("draw")
    # the turn in which it was sent is not over: nothing can have reached the store
    assert guest.outlet.kinds() == [wire.SNAPSHOT, wire.TABLE]
    assert await guest.answer(ref) == 1


async def test_a_whole_game_is_won_and_its_time_stops(house: House) -> None:
    guest = await player_of_a_new_game(house)
    assert not guest.table.running
    for number, action in enumerate(WINNING, start=1):
        assert await guest.act(*action, base=number - 1) == number
        assert guest.room.running == (number < len(WINNING))
    assert guest.room.is_over
    clocks = [message for message in guest.outlet.messages if message[0] == wire.CLOCK]
    assert [running for _, _, running, _ in clocks] == [1, 0]
    log = guest.room.log
    assert guest.room.elapsed_ms == log[-1][0] - log[0][0] == clocks[-1][1]
    for key in (keys.session(guest.room.sid), keys.log(guest.room.sid)):
        assert await house.store.redis.ttl(key) > house.limits.finished_ttl_s - 1000
    assert await guest.act("undo") == "game_over"
    assert await guest.act("draw", base=len(WINNING)) == "game_over"
    assert guest.table.version == len(WINNING)


async def test_a_game_that_goes_on_lives_as_long_as_the_house_says(house: House) -> None:
    guest = await player_of_a_new_game(house)
    await guest.act("draw")
    for key in (keys.session(guest.room.sid), keys.log(guest.room.sid)):
        assert house.live_ttl_s - 1000 < await house.store.redis.ttl(key) <= house.live_ttl_s


async def test_a_burst_with_bases_counted_on_is_taken_in_order(house: House) -> None:
    guest = await player_of_a_new_game(house)
    refs = [guest.send("draw", base=base) for base in range(20)]
    assert [await guest.answer(ref) for ref in refs] == list(range(1, 21))
    assert guest.outlet.answered == refs


async def test_after_one_of_a_burst_is_refused_the_rest_is_stale(house: House) -> None:
    guest = await player_of_a_new_game(house)
    refs = [
        guest.send(*action, base=base) for base, action in enumerate([("draw",), ("recycle",), ("draw",)])
    ]
    assert [await guest.answer(ref) for ref in refs] == [1, "stock_not_empty", "stale"]
    assert guest.table.version == 1


async def test_a_burst_built_on_an_action_that_is_refused_is_refused_though_the_version_would_fit(
    house: House,
) -> None:
    guest = await player_of_a_new_game(house)
    elsewhere = await Guest.join(house, guest.room.sid, guest.room.players[0])
    assert await elsewhere.act("draw", base=0) == 1
    late = guest.send("draw", base=0)
    built_on_it = guest.send("draw", base=-late)
    assert [await guest.answer(ref) for ref in (late, built_on_it)] == ["stale", "stale"]
    first = guest.send("draw", base=1)
    second = guest.send("draw", base=-first)
    assert [await guest.answer(ref) for ref in (first, second)] == [2, 3]


async def test_ten_taps_on_one_pair_make_one_pair(house: House) -> None:
    guest = await player_of_a_new_game(house)
    before = WINNING.index(("pair", 25, 0)) if ("pair", 25, 0) in WINNING else 9
    for action in WINNING[:before]:
        await guest.act(*action)
    refs = [guest.send(*WINNING[before], base=before) for _ in range(10)]
    answers = [await guest.answer(ref) for ref in refs]
    assert answers == [before + 1] + ["stale"] * 9


async def test_actions_without_a_base_are_judged_as_things_are(house: House) -> None:
    guest = await player_of_a_new_game(house)
    refs = [guest.send("draw") for _ in range(28)]
    assert [await guest.answer(ref) for ref in refs] == [*range(1, 27), "stock_empty", "stock_empty"]


@pytest.mark.parametrize("base", [0, 2, 2**53 - 1])
async def test_an_action_meant_for_another_version_is_stale(house: House, base: int) -> None:
    guest = await player_of_a_new_game(house)
    await guest.act("draw")
    assert await guest.act("draw", base=base) == "stale"
    assert guest.table.version == await stored(house, guest.room.sid) == 1


# -- the same action again


async def test_an_action_sent_again_gets_the_version_it_got(house: House) -> None:
    guest = await player_of_a_new_game(house)
    for ref in (7, 8):
        assert await guest.act("draw", ref=ref) == ref - 6
    guest.outlet.answers.clear()
    assert await guest.act("draw", ref=7) == 1
    assert await guest.act("draw", base=0, ref=8) == 2
    assert await guest.act("pair", 99, "nonsense", ref=7) == 1
    assert await stored(house, guest.room.sid) == 2


async def test_an_action_sent_twice_at_once_is_done_once_and_answered(house: House) -> None:
    guest = await player_of_a_new_game(house)
    guest.send("draw", ref=7)
    assert await guest.act("draw", ref=7) == 1
    assert await guest.act("draw", ref=8) == 2
    assert guest.outlet.answered == [7, 8]
    assert await stored(house, guest.room.sid) == 2


async def test_an_action_sent_again_over_a_new_connection_while_under_way_is_answered_there(
    house: House,
) -> None:
    first = await player_of_a_new_game(house)
    second = await Guest.join(house, first.room.sid, first.player)
    first.send("draw", ref=7)
    first.leave()
    assert await second.act("draw", ref=7) == 1
    assert first.outlet.answered == []
    assert await stored(house, first.room.sid) == 1


async def test_one_of_a_queue_sent_again_is_answered_once_and_in_order(house: House) -> None:
    first = await player_of_a_new_game(house)
    second = await Guest.join(house, first.room.sid, first.player)
    for ref in range(1, 6):
        first.send("draw", base=ref - 1, ref=ref)
    for ref in range(1, 6):
        second.send("draw", base=ref - 1, ref=ref)
    assert [await second.answer(ref) for ref in range(1, 6)] == [1, 2, 3, 4, 5]
    assert first.outlet.answered == []
    assert second.outlet.answered == [1, 2, 3, 4, 5]
    assert await stored(house, first.room.sid) == 5


async def test_a_refused_action_may_be_sent_again_with_its_id(house: House) -> None:
    guest = await player_of_a_new_game(house)
    assert await guest.act("recycle", ref=7) == "stock_not_empty"
    guest.outlet.answers.clear()
    assert await guest.act("draw", ref=7) == 1


async def test_an_action_whose_sender_has_gone_is_done(house: House) -> None:
    guest = await player_of_a_new_game(house)
    other = await Guest.join(house, guest.room.sid)
    guest.send("draw", ref=7)
    guest.leave()
    await other.at(1)
    assert other.table.view == other.fresh()


# -- what is refused

DRAWN = [("draw",)] * 26

REFUSALS: dict[str, tuple[list[tuple[Any, ...]], tuple[Any, ...], str]] = {
    "covered": ([], ("pair", 24, 25), "covered"),
    "another covered": ([], ("pair", 1, 0), "covered"),
    "same card": ([], ("pair", 25, 25), "same_card"),
    "the discard with itself": ([], ("pair", 0, 0), "same_card"),
    "not equal": ([], ("pair", 25, 0), "not_equal"),
    "empty place": (list(WINNING[:10]), ("pair", 25, 0), "empty_place"),
    "no discard": ([*DRAWN, ("recycle",)], ("pair", 25, 0), "no_discard"),
    "stock empty": (DRAWN, ("draw",), "stock_empty"),
    "stock not empty": ([], ("recycle",), "stock_not_empty"),
    "nothing to undo": ([], ("undo",), "nothing_to_undo"),
    "nothing": ([], (), "malformed"),
    "no verb": ([], ("castle",), "malformed"),
    "a verb too long": ([], ("draw", 1), "malformed"),
    "no place": ([], ("pair", 1), "malformed"),
    "a place that is none": ([], ("pair", 26, 0), "malformed"),
    "yes for a place": ([], ("pair", True, 0), "malformed"),
    "a time for a place": ([], ("pair", msgspec.msgpack.Ext(5, b""), 0), "malformed"),
    "a list for a verb": ([], (["draw"],), "malformed"),
}


@pytest.mark.parametrize(("before", "action", "code"), REFUSALS.values(), ids=REFUSALS)
async def test_what_the_rules_forbid_is_refused_and_changes_nothing(
    house: House, before: list[tuple[Any, ...]], action: tuple[Any, ...], code: str
) -> None:
    guest = await player_of_a_new_game(house)
    watching = await Guest.join(house, guest.room.sid)
    for each in before:
        guest.send(*each)
    await guest.at(len(before))
    await watching.at(len(before))
    view, log, seen = list(guest.table.view), list(guest.room.log), len(watching.outlet.messages)
    assert await guest.act(*action) == code
    assert await guest.act(*action, base=len(before)) == code
    assert guest.table.view == view == guest.fresh()
    assert guest.room.log == log
    assert await stored(house, guest.room.sid) == len(before)
    assert wire.DIFF not in [message[0] for message in watching.outlet.messages[seen:]]


async def test_who_does_not_play_may_not_act(house: House) -> None:
    guest = await player_of_a_new_game(house)
    stranger = await Guest.join(house, guest.room.sid)
    assert stranger.table.seat is None
    assert guest.table.seat == 0
    for action in (("draw",), ("castle",)):
        assert await stranger.act(*action) == "not_seated"
    assert await stored(house, guest.room.sid) == 0


async def test_a_stranger_cannot_learn_or_use_up_a_player_s_ids(house: House) -> None:
    guest = await player_of_a_new_game(house)
    stranger = await Guest.join(house, guest.room.sid)
    await guest.act("draw", ref=7)
    assert await stranger.act("draw", ref=7) == "not_seated"
    assert await stranger.act("draw", ref=8) == "not_seated"
    assert await guest.act("draw", ref=8) == 2


async def test_a_log_has_a_length_beyond_which_nothing_is_taken(shared: StoreProcess, opens: Open) -> None:
    guest = await player_of_a_new_game(opens(shared, log_length=3))
    refs = [guest.send("draw") for _ in range(5)]
    assert [await guest.answer(ref) for ref in refs] == [1, 2, 3, "log_full", "log_full"]
    assert await guest.act("undo") == "log_full"
    # what was stored is still acknowledged
    guest.outlet.answers.clear()
    assert await guest.act("draw", ref=refs[0]) == 1


async def test_more_actions_than_may_wait_are_too_fast(shared: StoreProcess, opens: Open) -> None:
    guest = await player_of_a_new_game(opens(shared, waiting=4))
    refs = [guest.send("draw") for _ in range(6)]
    assert [await guest.answer(ref) for ref in refs] == [1, 2, 3, 4, "too_fast", "too_fast"]
    assert await guest.act("draw", ref=refs[5]) == 5 or guest.outlet.answers.pop(refs[5]) == "too_fast"
    assert await guest.act("draw", ref=99) > 4  # type: ignore[operator]


# -- who looks on


async def test_all_viewers_see_the_same_live(house: House) -> None:
    guest = await player_of_a_new_game(house)
    others = [
        await Guest.join(house, guest.room.sid, guest.player),
        await Guest.join(house, guest.room.sid),
        await Guest.join(house, guest.room.sid),
    ]
    for action in WINNING[:12]:
        await guest.act(*action)
    for other in others:
        await other.at(12)
        assert other.table.view == guest.table.view
        assert other.outlet.answers == {}
    assert [other.table.seat for other in others] == [0, None, None]


async def test_a_table_says_who_sits_and_how_many_watch_and_says_so_again_when_it_changes(
    house: House,
) -> None:
    guest = await player_of_a_new_game(house)
    assert (guest.table.names, guest.table.viewers) == ([""], 0)
    strangers = [await Guest.join(house, guest.room.sid) for _ in range(3)]
    assert strangers[2].table.viewers == 3
    await guest.outlet.until(lambda: guest.table.viewers == 3)
    strangers[0].leave()
    await guest.outlet.until(lambda: guest.table.viewers == 2)
    # comings and goings within a moment are told together
    assert guest.outlet.kinds().count(wire.TABLE) <= 4


async def test_who_left_is_shown_nothing_more(house: House) -> None:
    guest = await player_of_a_new_game(house)
    stranger = await Guest.join(house, guest.room.sid)
    stranger.leave()
    stranger.leave()
    count = len(stranger.outlet.messages)
    await guest.act("draw")
    assert len(stranger.outlet.messages) == count


async def test_who_comes_back_gets_what_was_missed(house: House) -> None:
    guest = await player_of_a_new_game(house)
    stranger = await Guest.join(house, guest.room.sid)
    await guest.act("draw")
    await stranger.at(1)
    held = stranger.leave()
    for _ in range(5):
        await guest.act("draw")
    back = await Guest.join(house, guest.room.sid, stranger.player, holding=held)
    assert back.outlet.kinds() == [wire.RESUMED, *[wire.DIFF] * 5, wire.CLOCK, wire.TABLE]
    assert back.table.view == guest.table.view
    assert back.table.version == 6


async def test_who_missed_nothing_gets_nothing_but_the_clock_and_the_table(house: House) -> None:
    guest = await player_of_a_new_game(house)
    await guest.act("draw")
    back = await Guest.join(house, guest.room.sid, guest.player, holding=guest.leave())
    assert back.outlet.kinds() == [wire.RESUMED, wire.CLOCK, wire.TABLE]


@pytest.mark.parametrize("change", ["another epoch", "too old", "from the future"])
async def test_who_comes_back_with_what_cannot_be_proven_gets_a_snapshot(house: House, change: str) -> None:
    guest = await player_of_a_new_game(house)
    stranger = await Guest.join(house, guest.room.sid)
    held = stranger.leave()
    for number in range(History.KEPT + 1):
        assert (
            await guest.act(*(("draw",) if number % 2 else ("undo",) if number else ("draw",))) == number + 1
        )
    if change == "another epoch":
        held.epoch += 1
        held.version = guest.table.version
    elif change == "from the future":
        held.version = guest.table.version + 1
    back = await Guest.join(house, guest.room.sid, stranger.player, holding=held)
    assert back.outlet.kinds() == [wire.SNAPSHOT, wire.TABLE]
    assert back.table.view == guest.table.view


async def test_a_new_name_is_shown_at_the_table(house: House) -> None:
    guest = await player_of_a_new_game(house)
    stranger = await Guest.join(house, guest.room.sid)
    await house.rename(guest.player, "  Åse  ")
    await stranger.outlet.until(lambda: stranger.table.names == ["Åse"])
    await house.rename(stranger.player, "nobody here")
    late = await Guest.join(house, guest.room.sid)
    assert late.table.names == ["Åse"]


# -- slow viewers


async def test_a_slow_viewer_gets_one_snapshot_and_no_gap_and_costs_the_others_nothing(house: House) -> None:
    guest = await player_of_a_new_game(house)
    slow = await Guest.join(house, guest.room.sid)
    slow.clog()
    for action in WINNING[:12]:
        await guest.act(*action)
    assert slow.table.version == 0
    slow.drain()
    assert slow.table.version == 12
    assert slow.table.view == guest.table.view
    assert slow.outlet.kinds().count(wire.SNAPSHOT) == 2
    assert wire.DIFF not in slow.outlet.kinds()
    await guest.act("draw")
    await slow.at(13)
    assert slow.table.view == guest.table.view
    slow.drain()  # there is nothing more to say
    assert slow.outlet.kinds().count(wire.SNAPSHOT) == 2


async def test_a_slow_player_s_answers_follow_the_snapshot(house: House) -> None:
    guest = await player_of_a_new_game(house)
    watching = await Guest.join(house, guest.room.sid)
    guest.clog()
    refs = [guest.send("draw"), guest.send("recycle"), guest.send("draw")]
    await watching.at(2)
    await until(lambda: is_true(guest.room.idle or not guest.room._queue))
    assert guest.outlet.answers == {}
    guest.drain()
    assert [guest.outlet.answers[ref] for ref in refs] == [1, "stock_not_empty", 2]
    kinds = guest.outlet.kinds()
    assert kinds.index(wire.ACK) > len(kinds) - 1 - kinds[::-1].index(wire.SNAPSHOT)
    assert guest.table.view == watching.table.view


async def test_a_slow_viewer_who_leaves_and_comes_back_is_up_to_date(house: House) -> None:
    guest = await player_of_a_new_game(house)
    slow = await Guest.join(house, guest.room.sid)
    slow.clog()
    await guest.act("draw")
    await guest.act("draw")
    held = slow.leave()
    assert held.version == 0
    back = await Guest.join(house, guest.room.sid, slow.player, holding=held)
    assert back.table.view == guest.table.view


async def is_true(value: bool) -> bool:
    return value


# -- what the store and the other nodes say, in any order


class Desk:
    """A caretaker who does nothing until told to: the order of things is the test's."""

    now_ms = 1000
    live_ttl_s = 1000
    grace_ms = 1000
    bot_delay_ms = 0

    def __init__(self) -> None:
        self.commits: list[tuple[Commit, Callable[[int | None, int], None]]] = []
        self.catching_up = 0
        self.lost = 0

    def submit(self, commit: Commit, done: Callable[[int | None, int], None]) -> None:
        self.commits.append((commit, done))

    def catch_up(self, room: Room) -> None:
        self.catching_up += 1

    def later(self, delay_s: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(delay_s, call)

    async def think(self, game: Game, level: str, view: View, seat: int, seed: str) -> Action:
        raise AssertionError("nobody plays alone with a bot")

    def tell_nodes(self, room: Room, seat: int, here: bool) -> None:
        pass

    def name_players(self, room: Room) -> None:
        pass

    def tidy(self, room: Room) -> None:
        pass

    def is_away(self, sid: str) -> bool:
        return False

    def gone(self, room: Room) -> None:
        self.lost += 1
        room.close(Code.NO_SESSION)


def entry(ref: int, *action: Any) -> Entry:
    return Entry(1000, pack(Deed(0, ref, action)))


def news(epoch: int, version: int, ref: int) -> News:
    return News("s", epoch, version, 1000 if version > 1 else 0, entry(ref, "draw"))


@pytest.fixture
async def opened(store: Store) -> Opened:
    found = await store.open(await begin(store, "the player"))
    assert found is not None
    return found


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def room(desk: Desk, opened: Opened) -> Room:
    return Room("s", GAME, opened, {}, desk, Limits())


def look_on(room: Room) -> Guest:
    guest = Guest(room, "the player")
    room.attach(guest.viewer, 0, 0)
    return guest


async def test_news_that_arrives_while_the_log_is_read_is_not_forgotten(room: Room, desk: Desk) -> None:
    """The log was read up to version 2 when the third entry was published; its news was here before."""
    room.look_again()
    assert desk.catching_up == 1
    room.hear(news(room.epoch, 3, 3))
    room.missed(0, [entry(1, "draw"), entry(2, "draw")])
    room.settled()
    assert room.version == 2
    assert desk.catching_up == 2
    room.missed(2, [entry(3, "draw")])
    room.settled()
    assert room.version == 3
    assert desk.catching_up == 2


async def test_news_of_another_epoch_that_arrives_while_the_log_is_read_is_not_forgotten(
    room: Room, desk: Desk
) -> None:
    room.look_again()
    room.hear(news(room.epoch + 1, 1, 1))
    room.settled()
    assert desk.catching_up == 2


async def test_an_action_that_waits_is_taken_up_only_when_nothing_was_missed(room: Room, desk: Desk) -> None:
    guest = look_on(room)
    room.look_again()
    guest.send("draw", base=0, ref=7)
    room.hear(news(room.epoch, 2, 2))
    room.settled()
    assert desk.commits == []
    room.missed(0, [entry(1, "draw"), entry(2, "draw")])
    room.settled()
    assert guest.outlet.answers == {7: "stale"}


async def test_a_session_that_was_gone_when_the_log_was_read_still_answers(room: Room, desk: Desk) -> None:
    guest = look_on(room)
    room.look_again()
    guest.send("draw", ref=7)
    desk.gone(room)
    assert guest.outlet.answers == {7: "no_session"}
    assert guest.outlet.errors == ["no_session"]
    guest.send("draw", ref=8)
    ((_, done),) = desk.commits
    done(2, 0)
    assert guest.outlet.answers == {7: "no_session", 8: "no_session"}


async def test_an_action_in_doubt_that_was_stored_is_acknowledged(room: Room, desk: Desk) -> None:
    guest = look_on(room)
    guest.send("draw", ref=7)
    ((commit, done),) = desk.commits
    done(None, 0)
    assert guest.outlet.answers == {}
    room.missed(0, [Entry(1000, commit.body)])
    room.settled()
    assert guest.outlet.answers == {7: 1}
    assert len(desk.commits) == 1


async def test_an_action_in_doubt_that_was_not_stored_is_stored_now(room: Room, desk: Desk) -> None:
    guest = look_on(room)
    guest.send("draw", ref=7)
    desk.commits[0][1](None, 0)
    room.missed(0, [])
    room.settled()
    assert [commit.body for commit, _ in desk.commits] == [desk.commits[0][0].body] * 2
    desk.commits[1][1](0, 1000)
    assert guest.outlet.answers == {7: 1}


async def test_an_action_that_comes_after_another_node_s_is_judged_again(room: Room, desk: Desk) -> None:
    guest = look_on(room)
    guest.send("draw", ref=7)
    guest.send("undo", ref=8)
    room.hear(news(room.epoch, 1, 1))
    desk.commits[0][1](1, 0)
    room.missed(1, [])
    room.settled()
    assert desk.commits[1][0].version == 1
    desk.commits[1][1](0, 1000)
    assert guest.outlet.answers == {7: 2}


async def test_the_same_action_over_two_nodes_is_done_once(room: Room, desk: Desk) -> None:
    """The player's client lost its connection to the other node, and sent the action again to this one."""
    guest = look_on(room)
    guest.send("draw", ref=7)
    room.hear(news(room.epoch, 1, 7))
    assert guest.outlet.answers == {7: 1}
    desk.commits[0][1](1, 0)
    room.missed(1, [])
    room.settled()
    assert len(desk.commits) == 1
    assert guest.outlet.answered == [7]


async def test_news_that_is_heard_twice_or_late_changes_nothing(room: Room) -> None:
    guest = look_on(room)
    for version in (1, 1, 2, 1, 2):
        room.hear(news(room.epoch, version, version))
    assert guest.table.version == room.version == 2
    room.missed(0, [entry(1, "draw"), entry(2, "draw")])
    assert room.version == 2


async def test_a_gap_in_the_news_is_read_from_the_log(room: Room, desk: Desk) -> None:
    guest = look_on(room)
    room.hear(news(room.epoch, 1, 1))
    room.hear(news(room.epoch, 3, 3))
    assert (guest.table.version, desk.catching_up) == (1, 1)
    room.hear(news(room.epoch, 2, 2))
    room.missed(1, [entry(2, "draw"), entry(3, "draw")])
    room.settled()
    assert guest.table.version == 3


# -- ended by those who run the house


async def test_a_game_that_is_ended_is_over_for_everybody_on_every_node(
    shared: StoreProcess, opens: Open
) -> None:
    here, there = opens(shared), opens(shared)
    guest = await player_of_a_new_game(here)
    spectator = await Guest.join(there, guest.room.sid)
    assert await guest.act("draw") == 1
    await spectator.at(1)
    await there.rooms[guest.room.sid].end()
    for one in (guest, spectator):
        await one.outlet.until(lambda one=one: one.outlet.errors == ["ended"])  # type: ignore[misc]
        assert (one.table.version, one.table.running) == (2, False)
    assert await guest.act("draw") == "ended"
    await guest.room.end()  # once is enough
    assert await stored(here, guest.room.sid) == 2
    assert guest.room.is_over
    late = await Guest.join(opens(shared), guest.room.sid)
    assert late.outlet.errors == ["ended"]
    assert late.table.running is False


async def test_a_game_that_is_over_is_not_ended(house: House) -> None:
    guest = await player_of_a_new_game(house)
    for action in WINNING:
        await guest.act(*action)
    with pytest.raises(Refused) as refused:
        await guest.room.end()
    assert refused.value.code == "game_over"


async def test_an_ended_table_that_waited_waits_no_more(house: House) -> None:
    sid = await house.create(pid(), "hearts", {}, public=True)

    async def listed(wanted: bool) -> None:
        async def holds() -> bool:
            raw = await house.store.redis.zscore(keys.waiting("hearts"), sid)
            return (raw is not None) is wanted

        await until(holds)

    await listed(True)
    await (await house.open(sid)).end()
    await listed(False)


async def test_an_action_on_a_version_not_heard_of_waits_until_the_log_is_read(
    room: Room, desk: Desk
) -> None:
    """Somebody who was acknowledged by another node acts here before its news has come."""
    guest = look_on(room)
    ref = guest.send("draw", base=1)
    assert (desk.catching_up, desk.commits) == (1, [])
    room.missed(0, [entry(1, "draw")])
    room.settled()
    ((commit, done),) = desk.commits
    assert commit.version == 1
    done(STORED, 2000)
    assert await guest.answer(ref) == 2


async def test_an_action_on_a_version_that_there_is_not_is_stale(room: Room, desk: Desk) -> None:
    guest = look_on(room)
    ref = guest.send("draw", base=5)
    room.missed(0, [])
    room.settled()
    assert await guest.answer(ref) == "stale"
    assert (desk.catching_up, desk.commits) == (1, [])


# -- who asks here and goes elsewhere before it is answered


@pytest.mark.parametrize("ask", [Room.stand, Room.start])
async def test_nobody_can_stand_or_start_for_others_by_going_to_their_own_game_meanwhile(
    house: House, ask: Callable[[Room, Viewer, int], None]
) -> None:
    player, own = await player_of_a_new_game(house), await player_of_a_new_game(house)
    stranger = await Guest.join(house, player.room.sid, own.player)
    drawing = player.send("draw")  # what comes next has to wait
    ask(stranger.room, stranger.viewer, 7)
    stranger.leave()
    own.room.attach(stranger.viewer, 0, 0)
    assert await player.answer(drawing) == 1
    assert await stranger.answer(7) == "not_seated"
    assert await player.act("draw") == 2
    assert own.room.version == 0


async def test_who_stands_and_goes_elsewhere_has_stood(house: House) -> None:
    player, other = await player_of_a_new_game(house), await player_of_a_new_game(house)
    player.send("draw")
    player.room.stand(player.viewer, 7)
    player.leave()
    other.room.attach(player.viewer, 0, 0)
    assert await player.answer(7) == 2
    assert player.room.table.chairs[0].left
