"""What a seat can know for certain about the others' cards, from the cards it has seen.

Owns the inferences that hold whoever plays and however: cards that were played, voids that were shown,
cards that were given away, and what a forced play proves. Must not know anyone's hidden cards: nothing
here takes a state. The claim rests on it, and so do the bots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from heartroom.cards import HEARTS, Card

from .deck import HEART_CARDS, POINT_CARDS, SEATS, SUIT_MASK, SUIT_OF, Mask

FULL_DECK: Mask = (1 << 52) - 1

Trick = tuple[int, ...]
"""A trick on the table: leader, seat that is winning (or has won) it, then its cards in playing order.
`()` before the lead."""


class Knowledge(NamedTuple):
    """What one seat knows in the middle of a hand."""

    seat: int
    hand: Mask
    """Its own cards."""
    sizes: tuple[int, ...]
    """How many cards each seat holds."""
    possible: tuple[Mask, ...]
    """For each seat, the cards it may hold (its own: those it holds)."""
    held: tuple[Mask, ...]
    """For each seat, cards it certainly holds: what was given to it and not played since."""
    unseen: Mask
    """All cards in others' hands."""
    tricks: tuple[Trick, ...]
    """The finished tricks of the hand."""
    trick: Trick
    """The trick under way, or `()`."""
    broken: bool
    """Whether hearts are broken."""


def infer(
    seat: int,
    hand: Mask,
    tricks: Sequence[Trick],
    trick: Trick,
    given_to: int,
    given: Sequence[Card],
) -> Knowledge:
    """What `seat` knows that holds `hand`, has seen `tricks` and `trick`, and gave the cards `given` to
    the seat `given_to` before the hand (no cards: a hand without a pass)."""
    may = [FULL_DECK & ~hand] * 4
    played = 0
    broken = False
    first = True
    for shown in (*tricks, trick) if trick else tricks:
        leader = shown[0]
        led = SUIT_OF[shown[2]]
        if led == HEARTS and not broken:
            may[leader] &= HEART_CARDS  # else another suit had to be led
        at = leader
        for card in shown[2:]:
            played |= 1 << card
            if SUIT_OF[card] != led:
                may[at] &= ~SUIT_MASK[led]
                if SUIT_OF[card] == HEARTS:
                    broken = True
                if first and POINT_CARDS >> card & 1:
                    may[at] &= POINT_CARDS  # else another card had to be played
            at = (at + 1) & 3
        first = False
    unseen = FULL_DECK & ~hand & ~played
    gift = 0
    for card in given:
        gift |= 1 << card
    gift &= unseen
    held = tuple(gift if s == given_to and given else 0 for s in SEATS)
    possible = tuple(
        hand if s == seat else may[s] & unseen if s == given_to or not given else may[s] & unseen & ~gift
        for s in SEATS
    )
    left = 13 - len(tricks)
    out = {(trick[0] + i) & 3 for i in range(len(trick) - 2)} if trick else ()
    sizes = tuple(left - 1 if s in out else left for s in SEATS)
    return Knowledge(seat, hand, sizes, possible, held, unseen, tuple(tricks), trick, broken)
