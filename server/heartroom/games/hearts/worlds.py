"""Hands the others may hold, drawn evenly from all that fit what a seat has seen.

Owns the sampling. Sees one seat's knowledge only; knows no rules and no plan, not even which bit of a set
of cards is which card.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import product
from math import comb

from .chance import Dice
from .deck import SEATS, Mask


class Worlds:
    """All deals of the unseen cards that agree with what each seat may hold and how many cards it has.

    Cards fall into groups by who may hold them. How many of each group go to whom is drawn by the number
    of deals that do so, and then which: so every deal is equally likely, and none has to be thrown away.
    """

    def __init__(self, seat: int, sizes: Sequence[int], possible: Sequence[Mask], unseen: Mask) -> None:
        """Deals of `unseen` to all but `seat`, `sizes[s]` cards out of `possible[s]` to seat s.
        Raises `ValueError` if there is none."""
        self._others = [other for other in SEATS if other != seat]
        pa, pb, pc = (possible[other] & unseen for other in self._others)
        self._fixed = (pa & ~pb & ~pc, pb & ~pa & ~pc, pc & ~pa & ~pb)
        self._groups = [
            _members(group) for group in (pa & pb & ~pc, pa & pc & ~pb, pb & pc & ~pa, pa & pb & pc)
        ]
        ab, ac, bc, abc = map(len, self._groups)
        free_a, free_b, free_c = (
            sizes[other] - mask.bit_count() for other, mask in zip(self._others, self._fixed, strict=True)
        )
        self._splits: list[tuple[int, int, int, int, int]] = []
        self._up_to: list[int] = []
        total = 0
        for i, j, k in product(range(ab + 1), range(ac + 1), range(bc + 1)):
            to_a = free_a - i - j
            to_b = free_b - (ab - i) - k
            to_c = free_c - (ac - j) - (bc - k)
            if to_a >= 0 and to_b >= 0 and to_c >= 0 and to_a + to_b + to_c == abc:
                total += comb(ab, i) * comb(ac, j) * comb(bc, k) * comb(abc, to_a) * comb(abc - to_a, to_b)
                self._splits.append((i, j, k, to_a, to_b))
                self._up_to.append(total)
        if not total or unseen & ~(pa | pb | pc):
            raise ValueError("no deal agrees with what was seen")
        self.count = total
        """How many deals there are."""

    def draw(self, dice: Dice) -> list[Mask]:
        """The hands of one deal, by seat; the seat's own is left empty."""
        split = 0 if len(self._splits) == 1 else bisect_right(self._up_to, dice.large(self.count))
        i, j, k, to_a, to_b = self._splits[split]
        ab, ac, bc, abc = self._groups
        for group in self._groups:
            dice.shuffle(group)
        hands = [0, 0, 0, 0]
        a, b, c = self._others
        fixed_a, fixed_b, fixed_c = self._fixed
        hands[a] = fixed_a + sum(ab[:i]) + sum(ac[:j]) + sum(abc[:to_a])
        hands[b] = fixed_b + sum(ab[i:]) + sum(bc[:k]) + sum(abc[to_a : to_a + to_b])
        hands[c] = fixed_c + sum(ac[j:]) + sum(bc[k:]) + sum(abc[to_a + to_b :])
        return hands


def _members(mask: Mask) -> list[Mask]:
    """The set's cards, each as a set of one."""
    found = []
    while mask:
        found.append(mask & -mask)
        mask &= mask - 1
    return found
