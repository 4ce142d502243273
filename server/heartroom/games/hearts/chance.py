"""Chance that is the same everywhere: numbers drawn from a seed.

Owns the bots' dice. (The deal has its own, see `deck.deal`.) Knows no game.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from hashlib import shake_256

_BLOCK = 2048


class Dice:
    """Draws that depend on `seed` alone, on any machine and version of Python: SHAKE-256 of it, read as
    16-bit numbers. A draw below n is biased by less than n / 65,536, which no bot can notice."""

    def __init__(self, seed: str) -> None:
        self._words = _words(seed.encode())

    def below(self, n: int) -> int:
        """A number 0 … n − 1, for n up to a few hundred."""
        return next(self._words) * n >> 16

    def large(self, n: int) -> int:
        """A number 0 … n − 1 for any n below 2⁶⁴, biased by less than n / 2⁸⁰."""
        value = 0
        for _ in range(5):
            value = value << 16 | next(self._words)
        return value * n >> 80

    def shuffle(self, items: list[int]) -> None:
        """Puts `items` in random order."""
        words = self._words
        for last in range(len(items) - 1, 0, -1):
            other = next(words) * (last + 1) >> 16
            items[last], items[other] = items[other], items[last]


def _words(seed: bytes) -> Iterator[int]:
    block = 0
    while True:
        digest = shake_256(seed + block.to_bytes(4, "big")).digest(2 * _BLOCK)
        yield from struct.unpack(f"<{_BLOCK}H", digest)
        block += 1
