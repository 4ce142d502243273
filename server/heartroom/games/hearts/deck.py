"""The pack as Hearts counts it: what takes what, what costs what, and every hand of a game from its seed.

Owns masks, orders, point cards and the deal. Knows no state, no turn and no rule of play.

A set of cards is an int, bit `c` set for card `c` (see `heartroom.cards`), so a hand is one 52-bit int.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import shake_256
from typing import Final

from heartroom.cards import ACE, CLUBS, DECK, DIAMONDS, HEARTS, JACK, QUEEN, SPADES, SUITS, Card
from heartroom.cards import card as card_of
from heartroom.cards import rank as rank_of
from heartroom.cards import suit as suit_of

Mask = int
"""A set of cards: bit `c` for card `c`."""

SEATS: Final = range(4)
"""Seat numbers, clockwise: seat + 1 sits on the left and plays next."""
HAND_SIZE: Final = 13

TWO_OF_CLUBS: Final = card_of(2, CLUBS)
QUEEN_OF_SPADES: Final = card_of(QUEEN, SPADES)
JACK_OF_DIAMONDS: Final = card_of(JACK, DIAMONDS)

SUIT_MASK: Final = tuple(0x1FFF << 13 * suit for suit in SUITS)
"""All cards of each suit."""
SUIT_OF: Final = tuple(map(suit_of, DECK))
HEIGHT: Final = tuple(13 if rank_of(card) == ACE else rank_of(card) - 1 for card in DECK)
"""How high each card stands in its suit: two 1, … king 12, ace 13."""

HEART_CARDS: Final = SUIT_MASK[HEARTS]
POINT_CARDS: Final = HEART_CARDS | 1 << QUEEN_OF_SPADES
"""The cards that cost points. The jack of diamonds is none, in omnibus either."""
PENALTY: Final[tuple[int, ...]] = tuple(
    1 if suit_of(card) == HEARTS else 13 if card == QUEEN_OF_SPADES else 0 for card in DECK
)
"""What each card costs whoever takes it."""
ALL_POINTS: Final = sum(PENALTY)
"""26: all there is in a hand, and what a moon costs each of the others."""
JACK_BONUS: Final = -10

_DOMAIN: Final = b"heartroom hearts hand 1"


def mask(cards: Iterable[Card]) -> Mask:
    """The set of `cards`."""
    found = 0
    for card in cards:
        found |= 1 << card
    return found


def _in_order(suit: int) -> tuple[tuple[Card, ...], ...]:
    """For each set of 13 bits the cards of `suit` it stands for, low to high."""
    found: list[tuple[Card, ...]] = [()]
    for bits in range(1, 1 << 13):
        highest = 0 if bits & 1 else bits.bit_length() - 1
        found.append((*found[bits & ~(1 << highest)], 13 * suit + highest))
    return tuple(found)


_IN_CLUBS, _IN_DIAMONDS, _IN_HEARTS, _IN_SPADES = map(_in_order, SUITS)


def cards(mask: Mask) -> tuple[Card, ...]:
    """The cards of a set as a hand is held: clubs, diamonds, spades, hearts, each from low to high, the
    ace highest."""
    return (
        _IN_CLUBS[mask & 0x1FFF]
        + _IN_DIAMONDS[mask >> 13 & 0x1FFF]
        + _IN_SPADES[mask >> 39]
        + _IN_HEARTS[mask >> 26 & 0x1FFF]
    )


def lone(mask: Mask) -> Card:
    """The card of a set of one."""
    return mask.bit_length() - 1


def top(mask: Mask, suit: int) -> int:
    """The height of the highest card of `suit` in the set, 0 if there is none."""
    bits = mask >> 13 * suit & 0x1FFF
    return 13 if bits & 1 else max(bits.bit_length() - 1, 0)


def deal(seed: bytes, hand: int) -> tuple[Mask, ...]:
    """The four hands of hand number `hand` (1, 2, …) of the game with this 32-byte `seed`.

    A Fisher–Yates shuffle of the ordered deck, from the end. Each draw below n takes the next byte of
    SHAKE-256(domain, seed, hand as 4 bytes) that is below the greatest multiple of n in 256, so every
    order of the deck is equally likely. Seat 0 gets the first thirteen cards, and so on.
    """
    source = shake_256(_DOMAIN + seed + hand.to_bytes(4, "big"))
    length = 128
    stream = source.digest(length)
    at = 0
    deck = list(DECK)
    for last in range(len(deck) - 1, 0, -1):
        n = last + 1
        limit = 256 - 256 % n
        while True:
            if at == length:
                length *= 2
                stream = source.digest(length)
            byte = stream[at]
            at += 1
            if byte < limit:
                break
        other = byte % n
        deck[last], deck[other] = deck[other], deck[last]
    return tuple(mask(deck[HAND_SIZE * seat : HAND_SIZE * seat + HAND_SIZE]) for seat in SEATS)
