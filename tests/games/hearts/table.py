"""Short words for the tests: hands and tricks as people write them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from heartroom.cards import Card, parse
from heartroom.games.game import Action
from heartroom.games.hearts import deck, rules
from heartroom.games.hearts.deck import SEATS, Mask
from heartroom.games.hearts.game import HEARTS
from heartroom.games.hearts.knowledge import FULL_DECK, Trick
from heartroom.games.hearts.rules import NOBODY, PASSING, PLAYING, SCORED, Score, State, Table

SEED = bytes(32)
HOLD = 4
"""The number of a hand without a pass."""

Log = list[tuple[int, Action]]


def cards(text: str) -> tuple[Card, ...]:
    """`"2♣ K♠"`, or with letters."""
    return tuple(parse(word) for word in text.split())


def hand(text: str) -> Mask:
    return deck.mask(cards(text))


def suits(**ranks: str) -> Mask:
    """`suits(c="2 3 A", h="Q")`."""
    return hand(" ".join(rank + suit for suit, held in ranks.items() for rank in held.split()))


ALL = "2 3 4 5 6 7 8 9 10 J Q K A"
ONE_SUIT_EACH = tuple(suits(**{suit: ALL}) for suit in "cdsh")
"""Seat 0 holds all the clubs, 1 the diamonds, 2 the spades, 3 the hearts."""


def dealt(
    *hands: Mask,
    number: int = HOLD,
    target: int = 100,
    omnibus: bool = False,
    totals: Sequence[int] = (0,) * 4,
) -> State:
    """A hand of the game with these hands dealt."""
    assert sum(hands) == FULL_DECK, "not a deck"
    sheet = (Score._make((*totals, None)),) if any(totals) else ()
    return rules.begin_hand(Table(target, omnibus, SEED), number, hands, sheet, tuple(totals))


def midway(
    *hands: str,
    turn: int = 0,
    broken: bool = False,
    penalty: Sequence[int] = (0,) * 4,
    jack: int = NOBODY,
    totals: Sequence[int] = (0,) * 4,
    target: int = 100,
    omnibus: bool = False,
) -> State:
    """A hand with these cards left, `turn` to lead. How the tricks before it went is made up."""
    return ending(tuple(map(hand, hands)), turn, broken, penalty, jack, totals, target, omnibus)


def ending(
    held: tuple[Mask, ...],
    turn: int = 0,
    broken: bool = False,
    penalty: Sequence[int] = (0,) * 4,
    jack: int = NOBODY,
    totals: Sequence[int] = (0,) * 4,
    target: int = 100,
    omnibus: bool = False,
) -> State:
    """As `midway`, of masks."""
    assert sum(held).bit_count() == sum(mask.bit_count() for mask in held), "a card twice"
    tricks = made_up_tricks(FULL_DECK & ~sum(held), deck.HAND_SIZE - held[0].bit_count())
    state = rules.begin_hand(Table(target, omnibus, SEED), HOLD, (FULL_DECK, 0, 0, 0), (), tuple(totals))
    return state._replace(
        hands=held,
        turn=turn,
        legal=rules.may_lead(held[turn], broken),
        broken=broken,
        tricks=tricks,
        penalty=tuple(penalty),
        jack=jack,
        took=(len(tricks), 0, 0, 0),
    )


def made_up_tricks(gone: Mask, count: int) -> tuple[Trick, ...]:
    """`count` tricks, too long or too short, that show no more than that the cards `gone` are gone: nobody
    discards. (Seat 0 leads them all, so only the others may wonder about its hearts.)"""
    tricks = [deck.cards(gone & cards_of_suit) for cards_of_suit in deck.SUIT_MASK if gone & cards_of_suit]
    while len(tricks) < count:
        longest = max(tricks, key=len)
        tricks.remove(longest)
        tricks += [longest[: len(longest) // 2], longest[len(longest) // 2 :]]
    return tuple((0, 0, *trick) for trick in tricks)


def play(state: State, text: str) -> State:
    """Each card in turn by whoever holds it."""
    for card in cards(text):
        holder = next(seat for seat in SEATS if state.hands[seat] >> card & 1)
        state = rules.play(state, holder, card)
    return state


def any_move(rng: random.Random, state: State) -> tuple[int, Action]:
    """Something that somebody may do, at random (no claims)."""
    seat = rng.choice(rules.to_act(state))
    if state.phase == PASSING:
        return seat, ("pass", *sorted(rng.sample(deck.cards(state.hands[seat]), 3)))
    if state.phase == SCORED:
        return seat, ("next",)
    return seat, ("play", rng.choice(deck.cards(state.legal)))


def play_on(
    state: State,
    rng: random.Random,
    until: Callable[[State], bool],
    seen: Callable[[State], None] | None = None,
) -> tuple[State, Log]:
    """Random moves until `until`, each state shown to `seen`, and the log of them."""
    log: Log = []
    while not until(state):
        if seen:
            seen(state)
        seat, action = any_move(rng, state)
        state = HEARTS.apply(state, seat, action)
        log.append((seat, action))
    return state, log


def hand_over(state: State) -> bool:
    return state.phase not in (PASSING, PLAYING)
