"""The claim: never granted where anything could still go wrong, granted where people would expect it."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from heartroom.cards import DECK
from heartroom.games.game import Refused
from heartroom.games.hearts import deck, rules
from heartroom.games.hearts.chance import Dice
from heartroom.games.hearts.claim import provable
from heartroom.games.hearts.deck import HEIGHT, SEATS, SUIT_OF
from heartroom.games.hearts.knowledge import FULL_DECK, infer
from heartroom.games.hearts.rules import PLAYING, State
from heartroom.games.hearts.worlds import Worlds

from .table import ONE_SUIT_EACH, cards, dealt, ending, hand, made_up_tricks, midway, play


def can_claim(state: State) -> bool:
    (seat,) = rules.to_act(state)
    assert rules.can_claim(state, seat) == provable(rules.known(state, seat)), (
        "the quick look is only quicker"
    )
    if rules.can_claim(state, seat):
        assert rules.claim_rest(state, seat).claimed == (seat, state.hands[seat])
        return True
    with pytest.raises(Refused, match="cannot_claim"):
        rules.claim_rest(state, seat)
    return False


@pytest.mark.parametrize(
    ("mine", "others", "expected"),
    [
        ("A♣ K♣ Q♣", ("J♣ 2♦ 3♦", "10♣ 4♦ 5♦", "9♣ 6♦ 7♦"), True),
        ("A♣ K♣ J♣", ("Q♣ 2♦ 3♦", "10♣ 4♦ 5♦", "9♣ 6♦ 7♦"), False),  # two might sit over one Q
        ("A♣ K♣ 2♣", ("Q♣ 2♦ 3♦", "9♦ 4♦ 5♦", "8♦ 6♦ 7♦"), True),  # only one club is out
        ("A♣ 2♣ A♦", ("K♣ K♦ 3♠", "4♠ 5♠ 6♠", "8♠ 9♠ 7♠"), True),
        ("A♣ 2♣ A♦", ("K♣ Q♣ 3♠", "4♠ 5♠ 6♠", "8♠ 9♠ 7♠"), False),
        ("2♣ 3♦ 4♠", ("2♥ 3♥ 4♥", "5♥ 6♥ 7♥", "8♥ 9♥ 10♥"), True),  # nothing but hearts out there
        ("2♣ 3♦ 4♥", ("2♥ 3♥ 5♥", "5♠ 6♠ 7♠", "8♠ 9♠ 10♠"), False),
        ("A♥ A♣ A♦", ("2♥ 3♥ K♥", "K♣ 6♠ 7♠", "K♦ 9♠ 10♠"), True),  # hearts last
    ],
)
def test_on_lead(mine: str, others: tuple[str, ...], expected: bool) -> None:
    assert can_claim(midway(mine, *others)) == expected


def test_what_the_others_really_hold_does_not_matter() -> None:
    """Nobody can take the jack, but the claimer cannot know that the queen will fall."""
    assert not can_claim(midway("A♣ K♣ J♣", "Q♣ 2♦ 3♦", "10♣ 4♦ 5♦", "9♣ 6♦ 7♦"))
    assert not can_claim(midway("A♣ K♣ J♣", "Q♣ 10♣ 9♣", "2♦ 4♦ 5♦", "3♦ 6♦ 7♦"))


def test_in_the_middle_of_a_trick() -> None:
    state = midway("2♣ 2♦", "A♣ A♦", "3♣ 3♦", "4♣ 4♦")
    assert can_claim(play(state, "2♣"))
    assert not can_claim(play(midway("2♣ 2♦", "A♣ Q♦", "3♣ 3♦", "4♣ K♦"), "2♣"))
    assert not can_claim(play(midway("2♣ 2♦", "Q♣ A♦", "3♣ 3♦", "K♣ 4♦"), "2♣")), "the king may follow"
    assert can_claim(play(midway("2♣ 2♦", "3♣ 3♦", "K♣ 4♦", "Q♣ A♦", turn=1), "3♣ K♣ Q♣")) is False
    assert can_claim(play(midway("Q♣ A♦", "2♣ 2♦", "3♣ 3♦", "J♣ 4♦", turn=1), "2♣ 3♣ J♣")), "last to play"


@pytest.mark.parametrize(("first", "expected"), [("2♦", True), ("2♣", False)])
def test_a_void_that_was_shown_counts(first: str, expected: bool) -> None:
    """Seat 0 takes this trick with the queen and the next with the ace, unless seat 1, who plays last, has
    the king: which it has not if it discarded on the clubs before."""
    state = midway("10♣ Q♣ A♣", f"{first} 3♦ 4♦", "J♣ 8♣ 5♦", "K♣ 9♣ 7♣")
    state = play(state, f"10♣ {first} J♣ 9♣ 8♣ 7♣")
    assert can_claim(state) == expected


def test_two_cards_that_cannot_be_in_one_hand() -> None:
    """A seat of which the four of diamonds is known has room for one club: not for the queen and one to
    throw under the ace."""
    known = infer(0, hand("A♣ J♣"), [(0, 0, *cards("2♣ 3♣ 4♣ 5♣"))] * 11, (), 0, ())
    possible = tuple(hand("Q♣ 10♣ 4♦ 5♦") if seat == 3 else hand("4♦ 5♦ 6♦ 7♦") for seat in SEATS)
    assert not provable(known._replace(possible=possible))
    assert provable(known._replace(possible=possible, held=(0, 0, 0, hand("4♦"))))


def test_cards_given_away_are_known_to_be_there() -> None:
    mine = hand("A♣ K♣ Q♣ J♣")
    given = cards("2♣ 3♣ 4♣")
    unseen = hand("2♣ 3♣ 4♣ 2♦ 3♦ 4♦ 5♦ 6♦ 7♦ 8♦ 9♦ 10♦")
    known = infer(0, mine, made_up_tricks(FULL_DECK & ~mine & ~unseen, 9), (), 1, given)
    assert known.unseen == unseen
    assert known.held == (0, hand("2♣ 3♣ 4♣"), 0, 0)
    assert known.possible[1] == unseen
    assert known.possible[2] == known.possible[3] == hand("2♦ 3♦ 4♦ 5♦ 6♦ 7♦ 8♦ 9♦ 10♦")


def test_thirteen_clubs_can_be_claimed_at_once_and_make_a_moon() -> None:
    state = dealt(*ONE_SUIT_EACH)
    assert can_claim(state)
    state = rules.claim_rest(state, 0)
    assert state.sheet == (rules.Score(0, 26, 26, 26, 0),)
    assert state.took == (13, 0, 0, 0)


def test_the_first_lead_is_no_claim_while_a_club_is_out() -> None:
    clubs, diamonds, *rest = ONE_SUIT_EACH
    swap = hand("3♣ A♦")
    assert not can_claim(dealt(clubs ^ swap, diamonds ^ swap, *rest))


def test_a_claim_takes_all_that_is_left() -> None:
    state = midway("A♣ K♣", "J♦ 2♥", "Q♠ 3♥", "4♥ 5♥", penalty=(0, 9, 0, 0), omnibus=True)
    state = rules.claim_rest(state, 0)
    assert state.sheet[0].points == (17 - 10, 9, 0, 0)
    assert state.took[0] == 13


def test_only_on_turn() -> None:
    with pytest.raises(Refused, match="not_your_turn"):
        rules.claim_rest(midway("A♣ K♣", "2♦ 2♥", "Q♠ 3♥", "4♥ 5♥"), 1)


# --- against everything the others could do -----------------------------------------------------------


def can_be_denied(state: State, claimer: int) -> bool:
    """Whether the others, who see all cards, can take a trick from a claimer who sees them too."""
    if state.phase != PLAYING:
        return False
    before = len(state.tricks) - state.took[claimer]

    def outcome(card: int) -> bool:
        after = rules.play(state, state.turn, card)
        return len(after.tricks) - after.took[claimer] > before or can_be_denied(after, claimer)

    moves = deck.cards(state.legal)
    return all(map(outcome, moves)) if state.turn == claimer else any(map(outcome, moves))


def strong_ending(rng: Random, size: int) -> State:
    """An ending with seat 0 on turn, its cards better than most."""
    suits = rng.sample(range(4), rng.choice((2, 3, 4)))
    pool = [card for card in DECK if SUIT_OF[card] in suits]
    pool = rng.sample(pool, 4 * size)
    pool.sort(key=lambda card: HEIGHT[card] + rng.random() * 4, reverse=True)
    hands = (pool[:size], *(pool[size + seat :: 3] for seat in range(3)))
    turn = rng.choice((0, 0, 0, 1, 2, 3))
    state = ending(tuple(map(deck.mask, hands)), turn)
    while state.turn != 0:
        state = rules.play(state, state.turn, rng.choice(deck.cards(state.legal)))
    return state


@pytest.mark.parametrize("size", [2, 3])
def test_no_claim_is_granted_that_could_be_denied(size: int) -> None:
    """Against every deal of the unseen cards that agrees with what was seen (of three cards: many)."""
    rng = Random(size)
    dice = Dice("claims")
    granted = 0
    for _ in range(150):
        state = strong_ending(rng, size)
        known = rules.known(state, 0)
        assert rules.can_claim(state, 0) == provable(known)
        if not provable(known):
            continue
        granted += 1
        worlds = Worlds(0, known.sizes, known.possible, known.unseen)
        for _ in range(8):
            hands = worlds.draw(dice)
            hands[0] = known.hand
            assert not can_be_denied(state._replace(hands=tuple(hands)), 0)
    assert granted > 15


def test_with_two_cards_left_on_lead_nothing_sure_is_refused() -> None:
    """Exact: if the claim is refused, some deal lets the others take a trick."""
    rng = Random(2)
    refused = 0
    for _ in range(300):
        state = strong_ending(rng, 2)
        if state.trick:
            continue
        known = rules.known(state, 0)
        if provable(known):
            continue
        refused += 1
        assert any(can_be_denied(world, 0) for world in all_worlds(state))
    assert refused > 10


def all_worlds(state: State) -> list[State]:
    unseen = deck.cards(sum(state.hands[1:]))
    found = []
    for first in combinations(unseen, 2):
        rest = [card for card in unseen if card not in first]
        for second in combinations(rest, 2):
            third = [card for card in rest if card not in second]
            hands = (state.hands[0], deck.mask(first), deck.mask(second), deck.mask(third))
            possible = rules.known(state, 0).possible
            if all(not hands[seat] & ~possible[seat] for seat in SEATS[1:]):
                found.append(state._replace(hands=hands))
    return found
