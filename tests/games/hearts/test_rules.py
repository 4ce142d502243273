"""The rules, case by case. The first part: what other programs were seen to get wrong."""

import random
from collections.abc import Callable

import pytest

from heartroom.cards import text
from heartroom.games.game import Outcome, Refused, Setup, fold
from heartroom.games.hearts import deck, rules
from heartroom.games.hearts.deck import SEATS
from heartroom.games.hearts.game import HEARTS, MAX_TARGET
from heartroom.games.hearts.rules import OVER, PASSING, PLAYING, SCORED, State

from .table import (
    ALL,
    HOLD,
    ONE_SUIT_EACH,
    any_move,
    cards,
    dealt,
    hand,
    hand_over,
    midway,
    play,
    play_on,
    suits,
)


def refused(code: str, act: Callable[..., object], *args: object) -> None:
    with pytest.raises(Refused) as refusal:
        act(*args)
    assert refusal.value.code == code
    assert code in HEARTS.codes | {"malformed"}


def one(card: str) -> int:
    (found,) = cards(card)
    return found


def legal(state: State) -> str:
    return " ".join(map(text, deck.cards(state.legal)))


# --- what others got wrong ----------------------------------------------------------------------------


def test_hearts_split_9_and_3_with_the_queen_is_no_moon() -> None:
    state = midway("A♥", "K♥", "2♦", "3♦", penalty=(7, 16, 1, 0), broken=True)
    state = play(state, "A♥ K♥ 2♦ 3♦")
    assert state.sheet == (rules.Score(9, 16, 1, 0, None),)
    assert state.totals == (9, 16, 1, 0)


def test_all_hearts_without_the_queen_are_no_moon() -> None:
    state = play(midway("A♥", "2♦", "3♦", "4♦", penalty=(12, 13, 0, 0), broken=True), "A♥ 2♦ 3♦ 4♦")
    assert state.sheet == (rules.Score(13, 13, 0, 0, None),)


def test_the_two_of_clubs_is_enforced_in_the_hand_without_a_pass() -> None:
    state = dealt(*ONE_SUIT_EACH, number=HOLD)
    assert state.phase == PLAYING
    assert rules.to_act(state) == (0,)
    assert legal(state) == "2♣"
    refused("must_lead_two_of_clubs", rules.play, state, 0, one("A♣"))


def test_the_two_of_clubs_is_not_enforced_on_later_tricks() -> None:
    """By a seat that leads again, and by one that (in a made-up position) still holds it."""
    state = play(dealt(*ONE_SUIT_EACH), "2♣ 2♦ 2♠ 2♥")
    assert legal(state) == "3♣ 4♣ 5♣ 6♣ 7♣ 8♣ 9♣ 10♣ J♣ Q♣ K♣ A♣"
    state = play(midway("2♣ 5♦", "3♣ 6♦", "4♣ 7♦", "5♣ 8♦"), "5♦")
    assert rules.to_act(state) == (1,)


@pytest.mark.parametrize("chosen", ["", "2♣ 3♣", "2♣ 3♣ 4♣ 5♣", "2♣ 3♣ 3♣", "2♣ 2♣ 2♣", "2♣ 3♣ 3♣ 4♣"])
def test_passing_none_or_two_or_four_or_one_card_twice(chosen: str) -> None:
    refused("pass_three", rules.pass_cards, dealt(*ONE_SUIT_EACH, number=1), 0, cards(chosen))


def test_passing_a_card_not_held() -> None:
    refused("not_in_hand", rules.pass_cards, dealt(*ONE_SUIT_EACH, number=1), 0, cards("2♣ 3♣ 2♦"))


ONLY_POINTS = (
    suits(c="2 3 4 5 6 7 8 9 10 J Q K A"),
    suits(h="2 3 4 5 6 7 8 9 10 J Q K", s="Q"),
    suits(d="2 3 4 5 6 7 8 9 10 J Q K", h="A"),
    suits(s="2 3 4 5 6 7 8 9 10 J K A", d="A"),
)


def test_a_hand_with_only_points_may_play_any_of_them_to_the_first_trick() -> None:
    state = play(dealt(*ONLY_POINTS), "2♣")
    assert legal(state) == "Q♠ 2♥ 3♥ 4♥ 5♥ 6♥ 7♥ 8♥ 9♥ 10♥ J♥ Q♥ K♥"
    assert not play(state, "Q♠").broken
    assert play(state, "2♥").broken


def test_a_hand_with_one_harmless_card_plays_it_to_the_first_trick() -> None:
    state = play(dealt(*ONLY_POINTS), "2♣ Q♠ 2♦")
    assert legal(state) == "A♦ 2♠ 3♠ 4♠ 5♠ 6♠ 7♠ 8♠ 9♠ 10♠ J♠ K♠ A♠"
    state = play(dealt(*ONLY_POINTS), "2♣ Q♠")
    refused("no_points_on_first_trick", rules.play, state, 2, one("A♥"))


def test_an_only_hearts_lead_is_allowed_unbroken() -> None:
    state = midway("2♥ 3♥", "4♥ 2♦", "5♥ 3♦", "6♥ 4♦", broken=False)
    assert legal(state) == "2♥ 3♥"
    assert play(state, "2♥ 4♥ 5♥ 6♥").took == (11, 0, 0, 2)  # and the last trick by itself


@pytest.mark.parametrize(
    ("totals", "winners"),
    [
        ((90, 0, 20, 30), ()),  # 90, 26, 46, 56: the shooter's moon adds nothing to his 90
        ((90, 73, 20, 30), ()),  # 90, 99, 46, 56
        ((90, 74, 20, 30), (2,)),  # 90, 100, 46, 56
        ((90, 74, 64, 65), (0, 2)),  # 90, 100, 90, 91
    ],
)
def test_90_and_a_moon_ends_a_game_only_by_what_the_others_get(
    totals: tuple[int, ...], winners: tuple[int, ...]
) -> None:
    state = midway("A♥", "2♥", "2♦", "3♦", penalty=(24, 0, 0, 0), totals=totals)
    state = play(state, "A♥ 2♥ 2♦ 3♦")
    assert state.sheet[-1] == rules.Score(0, 26, 26, 26, 0)
    assert state.totals == (90, *(total + 26 for total in totals[1:]))
    assert state.phase == (OVER if winners else SCORED)
    assert rules.winners(state) == winners


def test_a_tie_is_not_given_to_one() -> None:
    state = midway("A♥", "2♥", "2♦", "3♦", penalty=(0, 0, 12, 12), totals=(98, 20, 8, 8))
    state = play(state, "A♥ 2♥ 2♦ 3♦")
    assert state.totals == (100, 20, 20, 20)
    assert HEARTS.outcome(state) == Outcome((1, 2, 3), (100, 20, 20, 20))


def test_the_same_play_sent_twice() -> None:
    state = dealt(*ONE_SUIT_EACH)
    after = rules.play(state, 0, one("2♣"))
    refused("not_your_turn", rules.play, after, 0, one("2♣"))
    state = play(after, "2♦ 2♠ 2♥")
    refused("not_in_hand", rules.play, state, 0, one("2♣"))


def test_the_same_pass_sent_twice() -> None:
    state = rules.pass_cards(dealt(*ONE_SUIT_EACH, number=1), 2, cards("2♠ 3♠ 4♠"))
    refused("already_passed", rules.pass_cards, state, 2, cards("2♠ 3♠ 4♠"))
    refused("already_passed", rules.pass_cards, state, 2, cards("5♠ 6♠ 7♠"))


# --- passing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "offset"), [(1, 1), (2, 3), (3, 2), (4, 0), (5, 1), (6, 3), (7, 2), (8, 0)]
)
def test_cards_go_left_right_across_and_nowhere(number: int, offset: int) -> None:
    state = dealt(*ONE_SUIT_EACH, number=number)
    if not offset:
        assert state.phase == PLAYING
        refused("wrong_phase", rules.pass_cards, state, 0, cards("2♣ 3♣ 4♣"))
        return
    for seat, chosen in enumerate(("J♣ Q♣ K♣", "J♦ Q♦ K♦", "J♠ Q♠ K♠", "J♥ Q♥ K♥")):
        assert state.hands == tuple(ONE_SUIT_EACH), "nothing moves before all have passed"
        state = rules.pass_cards(state, seat, cards(chosen))
    assert state.phase == PLAYING
    for seat, suit in enumerate("cdsh"):
        assert state.hands[(seat + offset) % 4] & suits(**{suit: ALL}) == suits(**{suit: "J Q K"})
        assert state.hands[seat].bit_count() == 13


def test_passes_may_come_in_any_order() -> None:
    chosen = [cards(f"2{suit} 3{suit} 4{suit}") for suit in "CDSH"]
    ends = set()
    for order in ((0, 1, 2, 3), (3, 1, 0, 2), (2, 3, 1, 0)):
        state = dealt(*ONE_SUIT_EACH, number=1)
        for seat in order:
            assert seat in rules.to_act(state)
            state = rules.pass_cards(state, seat, chosen[seat])
        ends.add(state)
    assert len(ends) == 1


def test_the_two_of_clubs_can_be_passed_and_its_new_holder_leads() -> None:
    state = dealt(*ONE_SUIT_EACH, number=1)
    for seat, chosen in enumerate(("2♣ Q♣ K♣", "J♦ Q♦ K♦", "J♠ Q♠ K♠", "J♥ Q♥ K♥")):
        state = rules.pass_cards(state, seat, cards(chosen))
    assert rules.to_act(state) == (1,)
    assert legal(state) == "2♣"


def test_nobody_plays_or_claims_while_passing() -> None:
    state = dealt(*ONE_SUIT_EACH, number=1)
    refused("wrong_phase", rules.play, state, 0, one("2♣"))
    refused("wrong_phase", rules.claim_rest, state, 0)
    refused("wrong_phase", rules.say_next, state, 0)


# --- playing ------------------------------------------------------------------------------------------


def test_follow_suit_if_you_can() -> None:
    state = play(midway("2♦ 3♣", "4♦ 5♠", "6♦ 7♥", "8♣ 9♥", broken=True), "2♦")
    assert legal(state) == "4♦"
    refused("must_follow", rules.play, state, 1, one("5♠"))
    state = play(state, "4♦ 6♦")
    assert legal(state) == "8♣ 9♥"
    assert rules.why(state) == ""


def test_only_whose_turn_it_is_plays_and_only_its_own_cards() -> None:
    state = dealt(*ONE_SUIT_EACH)
    refused("not_your_turn", rules.play, state, 1, one("2♦"))
    refused("not_in_hand", rules.play, state, 0, one("2♦"))


@pytest.mark.parametrize(
    ("trick", "winner"),
    [("5♣ 6♣ 7♣ 8♣", 3), ("A♣ K♣ Q♣ J♣", 0), ("2♣ A♣ K♣ 3♣", 1), ("2♣ A♦ A♠ A♥", 0), ("2♣ A♦ 3♣ A♥", 2)],
)
def test_the_highest_card_of_the_led_suit_takes_the_trick_and_leads(trick: str, winner: int) -> None:
    rest = ("2♦ 3♦", "4♦ 5♦", "6♦ 7♦", "8♦ 9♦")
    state = midway(*(f"{card} {more}" for card, more in zip(trick.split(), rest, strict=True)))
    state = play(state, trick)
    assert state.took[winner] == 1 + (10 if winner == 0 else 0)
    assert rules.to_act(state) == (winner,)
    assert state.tricks[-1][:2] == (0, winner)


def test_a_heart_discarded_when_void_breaks_hearts() -> None:
    state = midway("2♦ 3♥ 4♦", "4♥ 5♥ 6♥", "7♦ 8♦ 9♦", "J♦ Q♦ K♦")
    assert legal(state) == "2♦ 4♦"
    refused("hearts_not_broken", rules.play, state, 0, one("3♥"))
    assert not play(state, "2♦").broken
    state = play(state, "2♦ 4♥")
    assert state.broken
    assert play(state, "7♦ J♦").broken


def test_the_queen_of_spades_does_not_break_hearts() -> None:
    state = play(midway("9♦ 3♥ 4♦", "Q♠ 5♥ 6♥", "7♦ 8♦ 10♦", "J♦ 5♦ 6♦"), "9♦ Q♠ 7♦ 5♦")
    assert state.penalty == (13, 0, 0, 0)
    assert not state.broken
    assert legal(state) == "4♦"


def test_a_leader_with_hearts_and_the_queen_leads_the_queen_unbroken() -> None:
    state = midway("Q♠ 2♥ 3♥", "4♠ 5♠ 6♠", "7♠ 8♠ 9♠", "10♠ J♠ K♠")
    assert legal(state) == "Q♠"
    refused("hearts_not_broken", rules.play, state, 0, one("2♥"))


def test_a_heart_led_from_an_all_hearts_hand_does_not_break_hearts() -> None:
    state = midway("2♥ 3♥ 4♥", "5♥ 6♥ 2♦", "7♥ 3♦ 4♦", "8♥ 5♦ 6♦")
    state = play(state, "2♥ 5♥ 7♥ 8♥")
    assert not state.broken
    assert legal(state) == "5♦ 6♦"
    state = play(midway("2♥ 3♥ 4♥", "5♥ 6♥ 2♦", "7♥ 3♦ 4♦", "8♥ 9♥ 10♥"), "2♥ 5♥ 7♥ 8♥")
    assert legal(state) == "9♥ 10♥"


def test_the_jack_of_diamonds_is_no_point_card_on_the_first_trick() -> None:
    for omnibus in (False, True):
        state = play(dealt(*ONE_SUIT_EACH, omnibus=omnibus), "2♣")
        assert "J♦" in legal(state)


def test_the_last_trick_plays_itself() -> None:
    state = midway("5♦ A♣", "2♣ 3♦", "3♣ 2♥", "4♣ Q♠", penalty=(12, 0, 0, 0), broken=True)
    state = play(state, "A♣ 2♣ 3♣ 4♣")
    assert state.hands == (0, 0, 0, 0)
    assert len(state.tricks) == 13
    assert state.tricks[-1] == (0, 0, *cards("5♦ 3♦ 2♥ Q♠"))
    assert state.phase == SCORED
    assert state.sheet == (rules.Score(0, 26, 26, 26, 0),)


# --- scores -------------------------------------------------------------------------------------------


def scored(omnibus: bool, penalty: tuple[int, ...], jack: int) -> rules.Score:
    state = dealt(*ONE_SUIT_EACH, omnibus=omnibus)
    return rules.score(state._replace(penalty=penalty, jack=jack))


def test_hearts_cost_one_and_the_queen_13() -> None:
    state = midway("A♥ A♣ A♦", "K♥ 2♣ 2♠", "Q♥ 3♣ 2♦", "J♥ 4♣ Q♠", broken=True)
    state = play(state, "A♥ K♥ Q♥ J♥")
    assert rules.points(state) == (4, 0, 0, 0)
    state = play(state, "A♣ 2♣ 3♣ 4♣")
    assert state.penalty == (17, 0, 0, 0)


def test_a_moon_is_26_for_each_other() -> None:
    assert scored(False, (0, 0, 26, 0), 1) == rules.Score(26, 26, 0, 26, 2)


def test_omnibus_counts_minus_ten_for_the_jack() -> None:
    assert scored(True, (3, 10, 13, 0), 3) == rules.Score(3, 10, 13, -10, None)
    assert scored(True, (3, 10, 13, 0), 1) == rules.Score(3, 0, 13, 0, None)
    assert scored(False, (3, 10, 13, 0), 1) == rules.Score(3, 10, 13, 0, None)


def test_an_omnibus_moon_needs_the_jack_and_absorbs_its_ten() -> None:
    assert scored(True, (0, 26, 0, 0), 1) == rules.Score(26, 0, 26, 26, 1)
    assert scored(True, (0, 26, 0, 0), 2) == rules.Score(0, 26, -10, 0, None)


def test_the_points_taken_so_far_show_the_jack_in_omnibus_only() -> None:
    for omnibus, shown in ((True, -10), (False, 0)):
        state = midway("A♦ 2♦ 3♦", "J♦ 2♣ 3♣", "4♦ 4♣ 5♣", "5♦ 6♣ 7♣", omnibus=omnibus)
        assert rules.points(play(state, "A♦ J♦ 4♦ 5♦"))[0] == shown


def test_totals_may_go_below_zero() -> None:
    state = midway("A♦", "J♦", "4♦", "5♦", omnibus=True, penalty=(0, 20, 6, 0))
    assert play(state, "A♦ J♦ 4♦ 5♦").totals == (-10, 20, 6, 0)


def test_the_next_hand_is_dealt_when_all_have_said_next() -> None:
    state, _ = play_on(dealt(*ONE_SUIT_EACH), random.Random(1), hand_over)
    assert state.phase == SCORED
    for waiting in range(4, 0, -1):
        assert len(rules.to_act(state)) == waiting
        seat = rules.to_act(state)[-1]
        state = rules.say_next(state, seat)
        if waiting > 1:
            refused("already_ready", rules.say_next, state, seat)
    assert state.number == HOLD + 1
    assert state.phase == PASSING
    assert state.hands == deck.deal(state.table.seed, HOLD + 1)
    assert (state.tricks, state.took, state.penalty, state.jack, state.broken) == (
        (),
        (0,) * 4,
        (0,) * 4,
        -1,
        False,
    )


def test_a_game_is_over_at_the_end_of_the_hand_only() -> None:
    state = midway("A♥ A♣ A♦", "K♥ 2♣ 2♠", "Q♥ 3♣ 2♦", "J♥ 4♣ Q♠", broken=True, totals=(99, 0, 0, 0))
    state = play(state, "A♥ K♥ Q♥ J♥")
    assert state.phase == PLAYING
    assert HEARTS.outcome(state) is None


def test_nothing_can_be_done_in_a_game_that_is_over() -> None:
    state = play(midway("A♥", "2♥", "2♦", "3♦", totals=(99, 0, 0, 0)), "A♥ 2♥ 2♦ 3♦")
    assert rules.to_act(state) == ()
    for seat in SEATS:
        refused("game_over", rules.pass_cards, state, seat, cards("2♣ 3♣ 4♣"))
        refused("game_over", rules.play, state, seat, one("2♣"))
        refused("game_over", rules.claim_rest, state, seat)
        refused("game_over", rules.say_next, state, seat)


# --- the game's interface -----------------------------------------------------------------------------


def test_options_are_completed() -> None:
    assert HEARTS.parse_options({}) == {"target": 100, "omnibus": False}
    assert HEARTS.parse_options({"omnibus": True, "target": 50}) == {"target": 50, "omnibus": True}


@pytest.mark.parametrize(
    "raw",
    [
        {"target": 0},
        {"target": MAX_TARGET + 1},
        {"target": True},
        {"target": "100"},
        {"omnibus": 1},
        {"pace": 1},
    ],
)
def test_bad_options(raw: dict[str, object]) -> None:
    refused("bad_options", HEARTS.parse_options, raw)


@pytest.mark.parametrize(
    ("raw", "action"),
    [
        (["play", 0], ("play", 0)),
        (("play", 51), ("play", 51)),
        (["pass", 40, 3, 12], ("pass", 3, 12, 40)),
        (["pass"], ("pass",)),
        (["claim"], ("claim",)),
        (["next"], ("next",)),
    ],
)
def test_actions(raw: object, action: tuple[object, ...]) -> None:
    assert HEARTS.parse_action(raw) == action
    assert HEARTS.parse_action(action) == action


@pytest.mark.parametrize(
    "raw",
    [
        None, 1, "play", [], ["undo"], {"play": 1}, b"play",
        ["play"], ["play", 52], ["play", -1], ["play", True], ["play", 1.0], ["play", 1, 2],
        ["pass", "2♣"], ["pass", [1, 2, 3]], ["pass", 1, 2, 99], ["pass", *[1] * 99],
        ["claim", 1], ["next", 0],
    ],
)  # fmt: skip
def test_malformed_actions(raw: object) -> None:
    refused("malformed", HEARTS.parse_action, raw)


def test_a_setup_that_is_none() -> None:
    good = HEARTS.deal(HEARTS.parse_options({}), bytes(range(32)))
    assert good.deal == (bytes(range(32)).hex(),)
    assert HEARTS.initial(good).hands == deck.deal(bytes(range(32)), 1)
    for bad in (
        Setup({"target": 0}, good.deal),
        Setup(good.options, ()),
        Setup(good.options, ("00",)),
        Setup(good.options, ("xx" * 32,)),
        Setup(good.options, (5,)),
    ):
        with pytest.raises(ValueError, match=r"setup|bytes"):
            HEARTS.initial(bad)


def test_a_whole_game_replays_from_its_log() -> None:
    setup = HEARTS.deal(HEARTS.parse_options({"target": 60}), b"a game of hearts, thirty-two by.")
    rng = random.Random(5)
    state, log = play_on(HEARTS.initial(setup), rng, lambda state: state.phase == OVER)
    assert fold(HEARTS, setup, log) == state
    assert HEARTS.outcome(state) == Outcome(rules.winners(state), state.totals)
    assert len(state.sheet) == state.number
    assert len(log) <= 60 * state.number


def test_a_state_is_not_changed_by_what_follows() -> None:
    state = dealt(*ONE_SUIT_EACH)
    before = (*state,)
    play_on(state, random.Random(1), hand_over)
    assert (*state,) == before


def test_there_is_no_fifth_seat() -> None:
    for seat in (-1, 4):
        with pytest.raises(ValueError, match="no seat"):
            HEARTS.apply(dealt(*ONE_SUIT_EACH), seat, ("next",))


def test_the_first_move_of_a_random_hand_is_always_open() -> None:
    rng = random.Random(3)
    for number in range(1, 9):
        seat, action = any_move(rng, dealt(*ONE_SUIT_EACH, number=number))
        HEARTS.apply(dealt(*ONE_SUIT_EACH, number=number), seat, action)


def test_hand_reads_what_text_writes() -> None:
    assert hand("2♣ A♠") == 1 << one("2♣") | 1 << one("A♠")
