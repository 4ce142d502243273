"""Deals and their codes: `HH1-N-AAAAAAM` ⇄ a 35-bit number → 52 shuffled ranks.

Owns how a code is read and written and which deal it means. Must not know the rules.

A code is `HH1-N-` and seven characters of RFC 4648 base32, the number's highest bits first; the number
12 is `AAAAAAM`. What a number means is frozen for ever by the vectors in the tests: games that are
stored, exported or linked to by code depend on it.

35 bits can be searched by brute force from the 26 cards that lie open, so a code is for playing a deal
again, not for keeping it secret.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import shake_256
from typing import Final, TypeGuard

from heartroom.cards import RANKS, Rank
from heartroom.games.game import Refused

DEAL_SIZE: Final = 52

CODE_BITS: Final = 35
CODE_PREFIX: Final = "HH1-N-"
_CODE_LENGTH: Final = 7

DAY_PREFIX: Final = "HH1-D-"
"""Before the eight digits of a day: what its deal is called. A name, from which nothing follows."""

DOMAIN: Final = "heartroom heart-to-heart deal 67555"
"""What is hashed before the number. Found by `scripts/find_domain.py`."""

_ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_DIGITS: Final = {letter: digit for digit, letter in enumerate(_ALPHABET)}

# Digits that base32 does not have stand for the letters they look like. The prefix is read by the same
# table, so its own 1 becomes an I, and a typed I is as good as the 1.
_LOOKALIKES: Final = str.maketrans("018", "OIB", "-\u2010\u2011\u2012\u2013\u2014\u2212")
_READ_PREFIX: Final = CODE_PREFIX.translate(_LOOKALIKES)
_READ_DAY_PREFIX: Final = DAY_PREFIX.translate(_LOOKALIKES)
_DIGITS_AGAIN: Final = str.maketrans("OIB", "018")


def format_code(number: int) -> str:
    """The code of `number`, e.g. `"HH1-N-AAAAAAM"` of 12. Raises `ValueError` beyond 35 bits."""
    if not 0 <= number < 1 << CODE_BITS:
        raise ValueError(f"{number} is not a number of {CODE_BITS} bits")
    shifts = range(CODE_BITS - 5, -1, -5)
    return CODE_PREFIX + "".join(_ALPHABET[number >> shift & 31] for shift in shifts)


def parse_code(text: object) -> int:
    """The number of a code as people type it: in either case, with blanks, without hyphens or with other
    dashes, with 0 for O, 1 for I and 8 for B.

    Raises `Refused("bad_code")` for anything else.
    """
    if not isinstance(text, str):
        raise Refused("bad_code")
    letters = "".join(text.split()).translate(_LOOKALIKES)
    # `upper` would turn some letters of other alphabets into ours.
    if not letters.isascii():
        raise Refused("bad_code")
    letters = letters.upper()
    body = letters.removeprefix(_READ_PREFIX)
    if len(body) != _CODE_LENGTH or len(letters) == len(body):
        raise Refused("bad_code")
    number = 0
    for letter in body:
        digit = _DIGITS.get(letter)
        if digit is None:
            raise Refused("bad_code")
        number = number << 5 | digit
    return number


def parse_day_code(text: object) -> str | None:
    """The eight digits in the name of a day's deal, read as leniently as a code; `None` if it is none."""
    if not isinstance(text, str):
        return None
    letters = "".join(text.split()).translate(_LOOKALIKES)
    body = letters.upper().removeprefix(_READ_DAY_PREFIX)
    day = body.translate(_DIGITS_AGAIN)
    if not letters.isascii() or len(body) != 8 or len(letters) == len(body) or not day.isdigit():
        return None
    return day


def deal_number(number: int, domain: str = DOMAIN) -> tuple[Rank, ...]:
    """The 52 ranks of deal `number` in dealing order: the heart row by row (25), the stock in drawing
    order (26), the first discard. `domain` is for the search that chose it; every game uses the default.

    The ordered deck (ace to king, four times) is shuffled by Fisher–Yates from the top down, each choice
    unbiased. Raises `ValueError` beyond 35 bits.
    """
    if not 0 <= number < 1 << CODE_BITS:
        raise ValueError(f"{number} is not a number of {CODE_BITS} bits")
    return _shuffled(domain.encode() + number.to_bytes(5, "big"))


def random_number(entropy: bytes) -> int:
    """A number of 35 bits, from the first of `entropy`'s bytes. Raises `ValueError` if there are too few."""
    if len(entropy) * 8 < CODE_BITS:
        raise ValueError("too little entropy for a deal")
    return int.from_bytes(entropy[:5], "big") >> 5 * 8 - CODE_BITS


def random_numbers(entropy: bytes) -> Iterator[int]:
    """Endlessly many numbers of 35 bits that follow from `entropy`; the first is that of `random_number`."""
    number = random_number(entropy)
    chance = _random_bytes(b"heartroom further deals " + entropy)
    while True:
        yield number
        number = random_number(bytes(next(chance) for _ in range(5)))


def shuffled(entropy: bytes) -> tuple[Rank, ...]:
    """52 ranks in an order that follows from `entropy` and from no code. As secret as the entropy."""
    return _shuffled(b"heartroom secret deal " + entropy)


def is_deal(ranks: Sequence[object]) -> TypeGuard[Sequence[Rank]]:
    """Whether `ranks` are 52 ints, four of each rank."""
    return (
        len(ranks) == DEAL_SIZE
        and all(type(rank) is int for rank in ranks)
        and all(ranks.count(rank) == 4 for rank in RANKS)
    )


def _shuffled(seed: bytes) -> tuple[Rank, ...]:
    chance = _random_bytes(seed)
    deck = [rank for _ in range(4) for rank in RANKS]
    for last in range(DEAL_SIZE - 1, 0, -1):
        choices = last + 1
        # A byte beyond the last whole multiple of `choices` would favour the low ones: take another.
        limit = 256 - 256 % choices
        byte = next(chance)
        while byte >= limit:
            byte = next(chance)
        chosen = byte % choices
        deck[last], deck[chosen] = deck[chosen], deck[last]
    return tuple(deck)


def _random_bytes(seed: bytes) -> Iterator[int]:
    """The endless bytes of SHAKE-256 of `seed`."""
    hashed = shake_256(seed)
    start, end = 0, 128
    while True:
        # A longer digest begins with the shorter one.
        yield from hashed.digest(end)[start:]
        start, end = end, end * 2
