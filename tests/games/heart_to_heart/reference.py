"""The rules once more, as literally and slowly as they can be told, sharing no code with the real ones."""

from __future__ import annotations

import heapq
from typing import Any

# Where the cards of the heart lie, in half cards from the left edge, row by row.
ROWS = [
    [1, 3, 7, 9],
    [0, 2, 4, 6, 8, 10],
    [1, 3, 5, 7, 9],
    [2, 4, 6, 8],
    [3, 5, 7],
    [4, 6],
    [5],
]


class Table:
    def __init__(self, deal: tuple[int, ...]) -> None:
        cards = list(deal)
        self.heart: dict[tuple[int, int], int | None] = {}
        for row, columns in enumerate(ROWS):
            for column in columns:
                self.heart[row, column] = cards.pop(0)
        self.stock = [cards.pop(0) for _ in range(26)]
        self.discard = cards
        self.moves = 0
        self.score = 0
        self.before: list[Any] = []

    def places(self) -> list[tuple[int, int]]:
        return [(row, column) for row, columns in enumerate(ROWS) for column in columns]

    def is_free(self, place: tuple[int, int]) -> bool:
        if self.heart[place] is None:
            return False
        row, column = place
        left = self.heart.get((row + 1, column - 1))
        right = self.heart.get((row + 1, column + 1))
        return left is None and right is None

    def is_won(self) -> bool:
        return all(card is None for card in self.heart.values())

    def is_stuck(self) -> bool:
        if self.is_won():
            return False
        for place in self.places():
            if self.is_free(place):
                rank = self.heart[place]
                for other in self.places():
                    if other != place and self.is_free(other) and self.heart[other] == rank:
                        return False
                if rank in self.stock or rank in self.discard:
                    return False
        return True

    def take(self, action: tuple[Any, ...]) -> bool:
        """Do `action` if the rules allow it, and say whether they did."""
        if self.is_won():
            return False
        if action[0] == "undo":
            if not self.before:
                return False
            self.heart, self.stock, self.discard, self.moves, self.score = self.before.pop()
            return True
        now = dict(self.heart), list(self.stock), list(self.discard), self.moves, self.score
        if not self.move(action):
            return False
        self.moves += 1
        self.before.append(now)
        if len(self.before) > 100:
            del self.before[0]
        return True

    def move(self, action: tuple[Any, ...]) -> bool:
        if action[0] == "draw":
            if not self.stock:
                return False
            self.discard.append(self.stock.pop(0))
            return True
        if action[0] == "recycle":
            if self.stock or not self.discard:
                return False
            self.stock, self.discard = self.discard, []
            return True
        numbers = [number for number in action[1:] if number != 0]
        places = [self.places()[number - 1] for number in numbers]
        if len(set(places)) < len(places) or not all(self.is_free(place) for place in places):
            return False
        if len(places) == 2:
            if self.heart[places[0]] != self.heart[places[1]]:
                return False
        elif len(places) == 0 or not self.discard or self.discard[-1] != self.heart[places[0]]:
            return False
        else:
            self.discard.pop()
        for place in places:
            self.heart[place] = None
            self.score += 10
        return True

    def view(self) -> list[int]:
        """The fields up to `score`, and the status."""
        values = []
        for place in self.places():
            card = self.heart[place]
            values.append(0 if card is None else card + 16 if self.is_free(place) else card)
        top = self.discard[-1] if self.discard else 0
        values += [len(self.stock), len(self.discard), top, self.moves, self.score]
        return [*values, 2 if self.is_won() else 1 if self.is_stuck() else 0]


def can_be_won(deal: tuple[int, ...]) -> bool:
    """Whether `deal` can be won, by trying every order of pairs. Any card of stock and discard can be
    brought to the top by drawing and recycling, so only which ones are left matters."""
    heart, others = _heart(deal), sorted(deal[25:])
    seen = set()
    open_ends = [(frozenset(heart), tuple(others))]
    while open_ends:
        left, rest = open_ends.pop()
        if not left:
            return True
        if (left, rest) in seen:
            continue
        seen.add((left, rest))
        free = [place for place in left if not _covers(left, place)]
        for place in free:
            rank = heart[place]
            if rank in rest:
                i = rest.index(rank)
                open_ends.append((left - {place}, rest[:i] + rest[i + 1 :]))
            for other in free:
                if other > place and heart[other] == rank:
                    open_ends.append((left - {place, other}, rest))
    return False


def fewest_moves(table: Table) -> int:
    """The length of the shortest win from here, one move at a time. Of all positions that are still to be
    looked at takes the one with the fewest moves before it and pairs at least needed after it."""
    heart = {place: card for place, card in table.heart.items() if card is not None}

    def pairs_needed(left: frozenset[tuple[int, int]]) -> int:
        ranks = [heart[place] for place in left]
        return sum((ranks.count(rank) + 1) // 2 for rank in set(ranks))

    start = (frozenset(heart), tuple(table.stock), tuple(table.discard))
    queue = [(pairs_needed(start[0]), 0, 0, start)]
    best = {start: 0}
    while queue:
        _, negative, _, (left, stock, discard) = heapq.heappop(queue)
        moves = -negative
        if not left:
            return moves
        if moves > best[left, stock, discard]:
            continue
        after = []
        if stock:
            after.append((left, stock[1:], (*discard, stock[0])))
        elif discard:
            after.append((left, discard, ()))
        free = [place for place in left if not _covers(left, place)]
        for place in free:
            if discard and discard[-1] == heart[place]:
                after.append((left - {place}, stock, discard[:-1]))
            for other in free:
                if other > place and heart[other] == heart[place]:
                    after.append((left - {place, other}, stock, discard))
        for position in after:
            if moves + 1 < best.get(position, moves + 2):
                best[position] = moves + 1
                total = moves + 1 + pairs_needed(position[0])
                heapq.heappush(queue, (total, -moves - 1, len(best), position))
    raise AssertionError("it cannot be won")


def _heart(deal: tuple[int, ...]) -> dict[tuple[int, int], int]:
    places = [(row, column) for row, columns in enumerate(ROWS) for column in columns]
    return dict(zip(places, deal, strict=False))


def _covers(left: frozenset[tuple[int, int]], place: tuple[int, int]) -> bool:
    row, column = place
    return (row + 1, column - 1) in left or (row + 1, column + 1) in left
