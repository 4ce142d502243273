"""What can be reached from a deal: whether it can be won, and in how few moves.

Owns the search, over cards that a player does not see: nothing here may reach a view. Must not know
codes, players or clocks. Pure and bounded: the same deal and budget always give the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from heartroom.cards import RANKS, Rank
from heartroom.games.heart_to_heart.deal import is_deal
from heartroom.games.heart_to_heart.layout import COVERED_BY, HEART_SIZE

_WHOLE: Final = (1 << HEART_SIZE) - 1
"""A heart is a set of places here: bit *place − 1* is set while its card lies there."""

_COVER_BITS: Final = tuple(sum(1 << below for below in covers) for covers in COVERED_BY)


def _before() -> tuple[int, ...]:
    """For each place − 1, the places from which a chain of covers leads to it: they go before it."""
    before = [0] * HEART_SIZE
    for place in reversed(range(HEART_SIZE)):
        for below in COVERED_BY[place]:
            before[place] |= 1 << below | before[below]
    return tuple(before)


_BEFORE: Final = _before()
_EACH: Final = tuple((1 << place, _COVER_BITS[place], place) for place in reversed(range(HEART_SIZE)))


def winnable(deal: Sequence[Rank]) -> bool:
    """Whether the deal (52 ranks in dealing order) can be won. Exact. Raises `ValueError` if it is no deal.

    Recycles are free without limit, so any card of stock or discard can be brought to the top at any
    time: only how many of each rank are left there matters, and draws need not be searched. A rank with
    one or two cards in the heart has a partner out there for each of them, so these go as soon as they
    are free. Of three, one goes with the only card out there and the other two must go together; of four,
    two and two. Which with which is all that there is to choose.
    """
    if not is_deal(deal):
        raise ValueError("a deal is 52 ranks, four of each")
    heart = tuple(deal[:HEART_SIZE])
    groups = set()
    for rank in RANKS:
        places = [place for place in range(HEART_SIZE) if heart[place] == rank]
        if len(places) > 2:
            if not _some_split(places):
                return False
            groups.add(rank)
    return _can_clear(_WHOLE, heart, groups, set())


def _some_split(places: list[int]) -> bool:
    """Whether three or four places can go in pairs (and one alone) at all: a card and one that has to go
    before it are never free together."""
    first, *others = places
    for partner in others:
        rest = [place for place in others if place != partner]
        if _together(first, partner) and (len(rest) == 1 or _together(*rest)):
            return True
    # Of three, the first may be the one that goes alone.
    return len(others) == 2 and _together(*others)


def _together(a: int, b: int) -> bool:
    return not (_BEFORE[a] >> b & 1 or _BEFORE[b] >> a & 1)


def _can_clear(mask: int, heart: tuple[Rank, ...], groups: set[Rank], failed: set[int]) -> bool:
    """Whether the cards of `mask` can all go. `groups` has the ranks that began with three or four cards
    in the heart; `failed` collects hearts from which it cannot be done."""
    open_groups: dict[Rank, list[int]] = {}
    progress = True
    while progress:
        progress = False
        open_groups = {}
        for bit, covers, place in _EACH:
            if mask & bit and not mask & covers:
                if heart[place] in groups:
                    open_groups.setdefault(heart[place], []).append(bit)
                else:
                    mask ^= bit
                    progress = True
        for rank, bits in open_groups.items():
            left = sum(1 for bit, _, place in _EACH if mask & bit and heart[place] == rank)
            # The last one or two of a rank have only one way to go.
            if left == len(bits) <= 2 or (left == 1):
                mask ^= sum(bits)
                progress = True
    if not mask:
        return True
    if mask in failed:
        return False
    failed.add(mask)
    for rank, bits in open_groups.items():
        left = sum(1 for bit, _, place in _EACH if mask & bit and heart[place] == rank)
        for i, bit in enumerate(bits):
            if left == 3 and _can_clear(mask ^ bit, heart, groups, failed):
                return True
            if left > 2:
                for other in bits[:i]:
                    if _can_clear(mask ^ bit ^ other, heart, groups, failed):
                        return True
    return False
