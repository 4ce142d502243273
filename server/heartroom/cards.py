"""Ranks, suits and cards: plain small ints, with their text forms.

Owns how a card is numbered and written. Knows no game: no deck order, no points, no trumps.

    Rank  1 … 13   ace 1, two 2, … ten 10, jack 11, queen 12, king 13
    Suit  0 … 3    clubs, diamonds, hearts, spades
    Card  0 … 51   suit * 13 + rank - 1

They are ints because they stand in logs, views and frames as they are.
"""

from __future__ import annotations

from typing import Final

Rank = int
"""1 (ace) … 13 (king). How high an ace counts is the game's affair."""

Suit = int
"""`CLUBS`, `DIAMONDS`, `HEARTS` or `SPADES`."""

Card = int
"""0 … 51: `suit * 13 + rank - 1`."""

ACE: Final[Rank] = 1
JACK: Final[Rank] = 11
QUEEN: Final[Rank] = 12
KING: Final[Rank] = 13
RANKS: Final[range] = range(ACE, KING + 1)

CLUBS: Final[Suit] = 0
DIAMONDS: Final[Suit] = 1
HEARTS: Final[Suit] = 2
SPADES: Final[Suit] = 3
SUITS: Final[range] = range(CLUBS, SPADES + 1)

DECK: Final[range] = range(len(SUITS) * len(RANKS))
"""All 52 cards, in order."""

_RANK_TEXT: Final = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
_SUIT_TEXT: Final = "♣♦♥♠"
_RANKS_BY_TEXT: Final = {name: rank for rank, name in enumerate(_RANK_TEXT, ACE)} | {"T": 10}
_SUITS_BY_TEXT: Final = {name: suit for names in (_SUIT_TEXT, "CDHS") for suit, name in enumerate(names)}


def card(rank: Rank, suit: Suit) -> Card:
    """The card of `rank` and `suit`. Raises `ValueError` if there is none."""
    if rank not in RANKS or suit not in SUITS:
        raise ValueError(f"no card has rank {rank!r} and suit {suit!r}")
    return suit * len(RANKS) + rank - ACE


def rank(card: Card) -> Rank:
    """The rank of `card`, 1 … 13."""
    return card % len(RANKS) + ACE


def suit(card: Card) -> Suit:
    """The suit of `card`, 0 … 3."""
    return card // len(RANKS)


def rank_text(rank: Rank) -> str:
    """`"A"`, `"2"`, … `"10"`, `"J"`, `"Q"`, `"K"`. Raises `ValueError` if there is no such rank."""
    if rank not in RANKS:
        raise ValueError(f"no rank {rank!r}")
    return _RANK_TEXT[rank - ACE]


def text(card: Card) -> str:
    """A card as people write it: `"10♥"`. Raises `ValueError` if there is no such card."""
    if card not in DECK:
        raise ValueError(f"no card {card!r}")
    return _RANK_TEXT[rank(card) - ACE] + _SUIT_TEXT[suit(card)]


def parse(text: str) -> Card:
    """The card written as `text`: a rank (`T` for 10 too) and a suit (♣♦♥♠ or a letter, C D H S), in
    either case. Raises `ValueError` for anything else."""
    name = text.strip().upper()
    try:
        return card(_RANKS_BY_TEXT[name[:-1]], _SUITS_BY_TEXT[name[-1:]])
    except KeyError:
        raise ValueError(f"no card is written {text!r}") from None
