"""The bots: legal, the same for the same, blind to what their seat does not see; and what *good* is good
at."""

from __future__ import annotations

import json
from random import Random

import pytest

from heartroom.cards import HEARTS as HEART_SUIT
from heartroom.games.game import Action
from heartroom.games.hearts import bots, deck, rules
from heartroom.games.hearts.chance import Dice
from heartroom.games.hearts.deck import QUEEN_OF_SPADES, SEATS, SUIT_MASK, SUIT_OF
from heartroom.games.hearts.game import HEARTS
from heartroom.games.hearts.knowledge import Knowledge
from heartroom.games.hearts.rollout import NOBODY, PLAIN, STRONG, Position, by_strength, playout
from heartroom.games.hearts.rules import OVER, PASSING, PLAYING, State, Table

from .table import ONE_SUIT_EACH, SEED, any_move, cards, dealt, hand_over, midway, play
from .test_view import another_world

LEVELS = pytest.mark.parametrize("level", list(bots.LEVELS))


def bot(state: State, level: str = "good", seed: str = "seed") -> tuple[int, Action]:
    seat = rules.to_act(state)[0]
    return seat, HEARTS.choose(level, HEARTS.view(state, seat), seat, seed)


def bots_play(state: State, level: str, seed: str) -> State:
    """To the end of the hand; that each action is legal is seen by its being taken."""
    while not hand_over(state):
        seat, action = bot(state, level, seed)
        assert HEARTS.parse_action(action) == action
        state = HEARTS.apply(state, seat, action)
    return state


def new_hand(seed: int, number: int = 1, omnibus: bool = False) -> State:
    hands = deck.deal(seed.to_bytes(32, "big"), number)
    return rules.begin_hand(Table(100, omnibus, SEED), number, hands, (), (0, 0, 0, 0))


@pytest.mark.parametrize(("level", "hands"), [("easy", 40), ("good", 2)])
def test_they_play_whole_hands_by_the_rules(level: str, hands: int) -> None:
    for number in range(1, hands + 1):
        state = bots_play(new_hand(number, number, omnibus=number % 2 == 0), level, str(number))
        assert len(state.sheet) == 1


def test_they_play_a_whole_game() -> None:
    state = HEARTS.initial(HEARTS.deal(HEARTS.parse_options({"target": 40}), bytes(32)))
    while state.phase != OVER:
        seat, action = bot(state, "easy")
        state = HEARTS.apply(state, seat, action)
    assert rules.winners(state)


@LEVELS
def test_the_same_view_and_seed_give_the_same_choice_also_off_the_wire(level: str) -> None:
    state = new_hand(3)
    for step in range(12):
        seat = rules.to_act(state)[0]
        view = HEARTS.view(state, seat)
        action = HEARTS.choose(level, view, seat, "seed")
        if step % 4 == 1:
            assert HEARTS.choose(level, view, seat, "seed") == action
            assert HEARTS.choose(level, json.loads(json.dumps(view)), seat, "seed") == action
        state = HEARTS.apply(state, seat, action)


def test_another_seed_may_give_another_choice() -> None:
    state = new_hand(3)
    assert len({bot(state, "easy", str(seed)) for seed in range(30)}) == 1, "its three highest"
    state = midway("3♣ 3♦ 3♠ 3♥", "7♣ 7♦ 7♠ 7♥", "8♣ 8♦ 8♠ 8♥", "9♣ 9♦ 9♠ 9♥", broken=True)
    assert len({bot(state, "easy", str(seed)) for seed in range(30)}) > 1


@pytest.mark.parametrize(("level", "positions"), [("easy", 60), ("good", 12)])
def test_their_choices_do_not_depend_on_hidden_cards(level: str, positions: int) -> None:
    """In every other deal that agrees with what the seat has seen it does the same."""
    rng = Random(level)
    looked = 0
    while looked < positions:
        state = new_hand(rng.randrange(1 << 30), rng.randrange(1, 5))
        for _ in range(rng.randrange(4, 50)):
            if not hand_over(state):
                state = HEARTS.apply(state, *any_move(rng, state))
        if state.phase != PLAYING or not (state.trick or state.tricks):
            continue
        looked += 1
        seat, action = bot(state, level)
        for nth in range(3):
            hands, passes = another_world(state, seat, Dice(f"{looked} {nth}"))
            gone = [0] * 4
            for trick in (*state.tricks, state.trick) if state.trick else state.tricks:
                for place, card in enumerate(trick[2:]):
                    gone[trick[0] + place & 3] |= 1 << card
            received = [passes[s - rules.pass_offset(state.number) & 3] for s in SEATS]
            held = [hands[s] & ~passes[s] | received[s] for s in SEATS]
            left = tuple(held[s] & ~gone[s] for s in SEATS)
            other = state._replace(hands=left, passes=tuple(map(deck.cards, passes)))
            assert other.hands[seat] == state.hands[seat]
            assert bot(other, level) == (seat, action)


def test_what_a_bot_sees_is_what_its_seat_knows() -> None:
    rng = Random(4)
    for number in range(1, 13):
        state = new_hand(number, number, omnibus=True)
        while not hand_over(state):
            if state.phase == PLAYING:
                for seat in SEATS:
                    seen = bots.Seen.through(HEARTS.view(state, seat), seat)
                    assert seen.known == rules.known(state, seat)
                    assert seen.known.broken == state.broken
                    assert (seen.penalty, seen.jack) == (state.penalty, state.jack)
                    assert all(state.hands[s] & ~seen.known.possible[s] == 0 for s in SEATS)
                    assert all(seen.known.held[s] & ~state.hands[s] == 0 for s in SEATS)
            state = HEARTS.apply(state, *any_move(rng, state))


def test_before_the_pass_their_choices_do_not_depend_on_hidden_cards() -> None:
    state = new_hand(8)
    other = state._replace(hands=(state.hands[0], state.hands[2], state.hands[3], state.hands[1]))
    for level in bots.LEVELS:
        assert bot(state, level) == bot(other, level)


@LEVELS
@pytest.mark.parametrize("lead", ["2♦ 3♦ 4♦", "J♠ 3♦ 4♦", "K♠ 3♦ 4♦"])
def test_a_single_queen_of_spades_left_crashes_no_bot(level: str, lead: str) -> None:
    first, second, third = lead.split()
    state = midway("Q♠ 2♥", f"{first} 5♦", f"{second} 6♦", f"{third} 7♦", turn=1)
    assert choice(play(state, lead), level) <= plays("Q♠ 2♥")


@LEVELS
def test_a_single_queen_of_spades_and_nothing_else_crashes_no_bot(level: str) -> None:
    """The engine plays a last card itself; a bot asked for it all the same knows what to do."""
    state = midway("Q♠", "2♦", "3♦", "4♦")
    at = HEARTS.fields.index("may_claim")
    view = HEARTS.view(state, 0)
    view = (*view[:at], 0, *view[at + 1 :])
    assert HEARTS.choose(level, view, 0, "seed") == ("play", QUEEN_OF_SPADES)
    assert choice(state, level) == plays("Q♠")


@LEVELS
def test_a_score_sheet_is_put_away(level: str) -> None:
    state = bots_play(new_hand(1), "easy", "")
    assert bot(state, level)[1] == ("next",)
    assert HEARTS.unattended(state, 0) == ("next",)
    assert HEARTS.unattended(new_hand(1), 0) is None


def test_no_such_level_and_nothing_to_do() -> None:
    state = dealt(*ONE_SUIT_EACH)
    with pytest.raises(KeyError):
        bot(state, "perfect")
    with pytest.raises(ValueError, match="nothing to do"):
        HEARTS.choose("easy", HEARTS.view(state, 1), 1, "seed")


# --- what good is good at -----------------------------------------------------------------------------


def seen_in(state: State) -> bots.Seen:
    """What the seat on turn of a made-up ending sees, which had no tricks that show anything."""
    seat = state.turn
    trick = state.trick
    unseen = sum(state.hands) - state.hands[seat]
    possible = [unseen] * 4
    for place, card in enumerate(trick[2:]):
        if SUIT_OF[card] != SUIT_OF[trick[2]]:
            possible[trick[0] + place & 3] &= ~SUIT_MASK[SUIT_OF[trick[2]]]
    known = Knowledge(
        seat,
        state.hands[seat],
        tuple(hand.bit_count() for hand in state.hands),
        tuple(possible),
        (0, 0, 0, 0),
        unseen,
        ((0, 0, *cards("2♣ 3♣ 4♣ 5♣")),) * len(state.tricks),
        trick,
        state.broken,
    )
    return bots.Seen(known, state.number, state.table.omnibus, state.penalty, state.jack)


def choice(state: State, level: str = "good") -> set[Action]:
    """What a bot plays in a made-up ending, by a few seeds."""
    player = bots.LEVELS[level]
    legal = deck.cards(state.legal)
    return {("play", player.play(seen_in(state), legal, Dice(str(seed)))) for seed in range(5)}


def plays(text: str) -> set[Action]:
    return {("play", card) for card in cards(text)}


def passing(hand: str) -> set[int]:
    """What *good* passes from `hand`; the others hold the rest in some way."""
    mine = deck.mask(cards(hand))
    rest = [card for card in range(52) if not mine >> card & 1]
    Random(1).shuffle(rest)
    state = dealt(mine, *(deck.mask(rest[at::3]) for at in range(3)), number=1)
    assert state.phase == PASSING
    _, (_, *chosen) = bot(state)
    return set(chosen)


def test_it_passes_the_big_spades_when_short_of_spades() -> None:
    assert passing("A♠ K♠ Q♠ 2♣ 3♣ 6♣ 9♣ 2♦ 4♦ 6♦ 8♦ 2♥ 3♥") == set(cards("A♠ K♠ Q♠"))
    assert QUEEN_OF_SPADES in passing("Q♠ 5♠ 2♣ 3♣ 6♣ 9♣ 2♦ 4♦ 6♦ 8♦ 2♥ 3♥ 10♥")


def test_it_keeps_a_guarded_queen_and_passes_high_hearts() -> None:
    chosen = passing("Q♠ 2♠ 3♠ 5♠ 7♠ 8♠ 2♣ 3♣ 4♣ 2♦ A♥ K♥ Q♥")
    assert chosen == set(cards("A♥ K♥ Q♥"))


def test_it_makes_a_void() -> None:
    chosen = passing("2♠ 3♠ 4♠ 6♠ 7♠ 2♥ 3♥ 4♥ 2♣ 5♣ K♦ J♦ 9♦")
    assert set(cards("K♦ J♦ 9♦")) == chosen


def test_it_dumps_the_queen_on_others() -> None:
    state = midway("A♦ 3♦ 2♥ 4♣", "Q♠ A♥ K♣ J♣", "4♦ 5♦ 9♣ 10♣", "7♦ 8♦ 9♥ 10♥")
    assert choice(play(state, "A♦")) == plays("Q♠")


def test_it_drops_the_queen_under_the_king() -> None:
    state = midway("K♠ 3♦ 2♥ 4♣", "Q♠ 2♠ 3♠ J♣", "4♠ 5♦ 9♣ 10♣", "7♠ 8♦ 9♥ 10♥")
    assert choice(play(state, "K♠")) == plays("Q♠")


def test_it_does_not_throw_the_queen_where_it_must_take_it_back() -> None:
    state = midway("9♠ 3♦ 2♥ 4♣", "Q♠ 8♠ 3♥ J♣", "4♠ 5♦ 9♣ 10♣", "7♠ 8♦ 9♥ 10♥", turn=2)
    assert choice(play(state, "4♠ 7♠ 9♠")) == plays("8♠")
    state = midway("Q♠ 2♦ 3♣ 3♥", "2♠ 5♦ 6♣ 4♥", "4♠ 8♦ 9♣ 5♥", "7♠ 9♦ 10♣ 6♥")
    assert plays("Q♠").isdisjoint(choice(state))


def test_it_ducks() -> None:
    state = play(midway("10♦ 2♣ 3♣", "J♦ 9♦ 4♣", "Q♥ 3♥ A♥", "7♦ 8♦ 5♣", broken=True), "10♦")
    assert choice(state) == plays("9♦"), "somebody will discard a heart"


def test_it_ducks_as_high_as_it_can() -> None:
    state = midway("10♥ 2♣ 3♣", "J♥ 9♥ 2♥", "Q♥ 3♥ A♥", "7♥ 8♥ 5♣", broken=True)
    assert choice(play(state, "10♥")) == plays("9♥")


def test_it_takes_the_jack_of_diamonds_in_omnibus() -> None:
    state = midway("A♦ 2♦ 3♣ 4♣", "J♦ 5♦ 6♣ 7♣", "8♦ 9♦ 8♣ 9♣", "Q♦ 10♦ 10♣ J♣", turn=1, omnibus=True)
    assert choice(play(state, "J♦ 8♦ Q♦")) == plays("A♦")


def test_it_keeps_the_jack_of_diamonds_from_others() -> None:
    state = midway("Q♦ 2♣ 3♣", "J♦ 3♦ 4♣", "8♦ 8♣ 9♣", "10♦ 10♣ J♣", omnibus=True)
    assert choice(play(state, "Q♦")) == plays("3♦")


MOON = ("9♦ A♣ K♣ Q♣", "2♦ 4♣ 5♣ 6♣", "A♥ K♥ 7♣ 8♣", "10♦ 3♦ Q♥ J♥")
"""Seat 0 leads 9♦, seat 2 has to discard a heart, and only seat 3 can take it."""


def test_it_stops_a_moon() -> None:
    state = midway(*MOON, penalty=(22, 0, 0, 0), broken=True)
    assert choice(play(state, "9♦ 2♦ A♥")) == plays("10♦")


def test_it_takes_nothing_when_a_moon_is_already_stopped() -> None:
    state = midway(*MOON, penalty=(21, 1, 0, 0), broken=True)
    assert choice(play(state, "9♦ 2♦ A♥")) == plays("3♦")


def test_it_does_not_give_the_last_heart_to_a_moon() -> None:
    state = midway("9♦ Q♣ K♣", "2♦ A♣ 5♣", "A♥ 2♣ 4♠", "3♦ 8♣ 9♣", penalty=(25, 0, 0, 0), broken=True)
    assert plays("A♥").isdisjoint(choice(play(state, "9♦ 2♦")))


def test_it_finishes_a_moon_of_its_own() -> None:
    state = midway("A♣ K♣ 2♦", "2♥ 4♦ 5♦", "3♥ 7♦ 8♦", "4♥ Q♥ Q♦", penalty=(22, 0, 0, 0), broken=True)
    assert choice(state) <= plays("A♣ K♣")


@pytest.mark.parametrize(
    ("penalty", "omnibus", "jack", "wanted"),
    [
        ((13, 13, 0, 0), False, NOBODY, True),  # nothing left to take
        ((20, 0, 0, 0), False, NOBODY, True),  # a moon
        ((20, 1, 0, 0), False, NOBODY, False),  # five points
        ((20, 0, 0, 0), True, 0, True),
        ((20, 0, 0, 0), True, 1, False),  # without the jack it is no moon
    ],
)
def test_it_claims_only_what_it_wants(
    penalty: tuple[int, ...], omnibus: bool, jack: int, wanted: bool
) -> None:
    """All tricks may be its own for the asking, but it need not take the points in them."""
    state = midway(
        "A♣ 2♣ A♦", "K♣ 3♦ 4♥", "5♥ 6♥ 7♥", "8♥ 9♥ 10♥", penalty=penalty, omnibus=omnibus, jack=jack
    )
    assert bots.wants_the_rest(seen_in(state)) == wanted


# --- the playout --------------------------------------------------------------------------------------


def test_strength_is_a_renumbering() -> None:
    assert sorted(STRONG) == list(range(52))
    for card in range(52):
        assert PLAIN[STRONG[card]] == card
        assert by_strength(1 << card) == 1 << STRONG[card]


def test_a_playout_plays_by_the_rules_and_scores_like_them() -> None:
    """The quick policy, followed card by card in the real game, comes to the same score."""
    rng = Random(7)
    for number in range(60):
        omnibus = number % 2 == 0
        state = new_hand(number, 4, omnibus)
        for _ in range(rng.randrange(44)):
            state = HEARTS.apply(state, *any_move(rng, state))
        if state.phase != PLAYING:
            continue
        scores = playout(position(state), STRONG[rng.choice(deck.cards(state.legal))])
        assert len(scores) == 4
        assert sum(scores) in ((16, 78) if omnibus else (26, 78))


def position(state: State) -> Position:
    return Position(
        tuple(map(by_strength, state.hands)),
        state.turn,
        tuple(STRONG[card] for card in state.trick[2:]),
        not state.tricks,
        state.broken,
        state.penalty,
        state.jack,
        state.table.omnibus,
    )


def test_a_playout_of_forced_cards() -> None:
    state = midway("A♥ 2♣", "K♥ 3♣", "Q♥ 4♣", "J♥ 5♣", penalty=(0, 9, 13, 0), broken=True)
    assert playout(position(state), STRONG[cards("A♥")[0]]) == [4, 9, 13, 0]
    assert SUIT_OF[cards("A♥")[0]] == HEART_SUIT
    assert NOBODY == -1


def test_dice_are_the_same_everywhere() -> None:
    dice = Dice("heartroom")
    assert [dice.below(100) for _ in range(6)] == [51, 9, 26, 33, 80, 64]
    items = list(range(10))
    dice.shuffle(items)
    assert items == [5, 2, 1, 9, 4, 7, 8, 3, 0, 6]
    assert 0 <= dice.large(10**17) < 10**17
