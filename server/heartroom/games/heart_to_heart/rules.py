"""The rules of Heart to Heart: what a position is, what each move does to it, what can be seen of it.

Owns the state of a game and every refusal. Must not know codes (a deal's code is a label here), clocks,
players or how an action got here.

Stock and discard are one thing, the *cycle*: the cards left in the order in which they come round. The
first `turned` of them are the discard, the last of these its top; the others are the stock. A draw
turns one more, a recycle turns all of them down again, and neither moves a card.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from heartroom.cards import Rank, rank_text
from heartroom.games.game import Action, Refused, View
from heartroom.games.heart_to_heart.deal import is_deal
from heartroom.games.heart_to_heart.layout import COVERED_BY, COVERS, HEART_SIZE, ROWS

UNDO_LIMIT: Final = 100
"""How many of the last moves can be taken back."""

CARD_SCORE: Final = 10
"""For each card of the heart that is removed."""

FREE: Final = 16
"""Added to the rank of a card of the heart that is free, in `Position.heart` and in views."""

_PLAIN_VERBS: Final = ("draw", "recycle", "undo")

DISCARD: Final = 0
"""The top of the discard, where a pair names a place."""

IN_PLAY: Final = 0
STUCK: Final = 1
WON: Final = 2

FIELDS: Final = (
    *(f"heart{place}" for place in range(1, HEART_SIZE + 1)),
    *("stock", "discard", "top", "moves", "score", "undos", "status", "can_undo", "code"),
)
"""The fields of a view, in order."""

CODES: Final = frozenset(
    {
        "covered",
        "empty_place",
        "game_over",
        "no_discard",
        "not_equal",
        "nothing_to_recycle",
        "nothing_to_undo",
        "same_card",
        "stock_empty",
        "stock_not_empty",
    }
)
"""Every code with which `apply` refuses."""


class Position(msgspec.Struct, frozen=True, gc=False):
    """How the cards lie, and how many moves led there."""

    heart: tuple[int, ...]
    """The 25 places as they are seen: 0 empty, 1 … 13 a covered card's rank, 17 … 29 a free card's rank
    + `FREE`."""
    cycle: tuple[Rank, ...]
    """The cards of stock and discard, in the order in which they come round."""
    turned: int
    """How many of the cycle lie on the discard."""
    moves: int
    """Draws, recycles and pairs that led here; a move taken back is not among them."""
    score: int
    """0 … 250."""
    status: int
    """`IN_PLAY`, `STUCK` or `WON`."""

    def __str__(self) -> str:
        """The table as a player sees it, free cards in brackets."""
        lines, place = [], 0
        for row, size in enumerate(ROWS):
            cells = [_cell_text(value) for value in self.heart[place : place + size]]
            place += size
            if row == 0:
                cells.insert(2, "    ")
            lines.append("".join(cells).center(24).rstrip())
        top = rank_text(self.cycle[self.turned - 1]) if self.turned else "none"
        lines.append(f"stock {len(self.cycle) - self.turned}, discard {self.turned}, top {top}")
        return "\n".join(lines)


Past = tuple[Position, "Past"] | None
"""Positions, the latest first, each with those before it. A move touches none of those before."""


class State(msgspec.Struct, frozen=True, gc=False):
    """A game: where it stands and what it can go back to."""

    position: Position
    past: Past
    """The positions that led here, with at least all that undo returns to."""
    undoable: int
    """How many of them undo returns to: at most `UNDO_LIMIT`."""
    undos: int
    """How often a move was taken back; never decreases."""
    code: str
    """What the deal is called."""


def initial(deal: Sequence[object], code: str) -> State:
    """The state before the first move. `deal`: the 52 ranks in dealing order: heart row by row, stock in
    drawing order, first discard. Raises `ValueError` if it is not four of each rank."""
    if not is_deal(deal):
        raise ValueError("a deal is 52 ranks, four of each")
    heart = tuple(
        rank if covers else rank + FREE for rank, covers in zip(deal[:HEART_SIZE], COVERED_BY, strict=True)
    )
    cycle = (deal[-1], *deal[HEART_SIZE:-1])
    return State(Position(heart, cycle, 1, 0, 0, _status(heart, cycle)), None, 0, 0, code)


def parse_action(raw: object) -> Action:
    """`raw` as `("draw",)`, `("recycle",)`, `("undo",)` or `("pair", a, b)`, where `a` and `b` are places
    1 … 25 or `DISCARD`, in either order. Raises `Refused("malformed")` for anything else."""
    if not isinstance(raw, list | tuple) or not raw or type(raw[0]) is not str:
        raise Refused("malformed")
    if raw[0] == "pair":
        if len(raw) != 3 or not all(type(place) is int and 0 <= place <= HEART_SIZE for place in raw[1:]):
            raise Refused("malformed")
    elif raw[0] not in _PLAIN_VERBS or len(raw) != 1:
        raise Refused("malformed")
    return tuple(raw)


def apply(state: State, action: Action) -> State:
    """The state after `action` (from `parse_action`). Raises `Refused` with one of `CODES`."""
    position = state.position
    if position.status == WON:
        raise Refused("game_over")
    if action[0] == "undo":
        return _undo(state)
    after = _MOVES[action[0]](position, action)
    past, undoable = state.past, state.undoable
    if after.moves % UNDO_LIMIT == 0:
        past = _latest(past)
    if undoable < UNDO_LIMIT:
        undoable += 1
    return State(after, (position, past), undoable, state.undos, state.code)


def view(state: State) -> View:
    """What everybody sees: one value for each of `FIELDS`."""
    position = state.position
    cycle, turned, status = position.cycle, position.turned, position.status
    top = cycle[turned - 1] if turned else 0
    can_undo = 1 if state.undoable and status != WON else 0
    return (
        *position.heart,
        *(len(cycle) - turned, turned, top, position.moves, position.score),
        *(state.undos, status, can_undo, state.code),
    )


def _draw(position: Position, _: Action) -> Position:
    cycle, turned = position.cycle, position.turned
    if turned == len(cycle):
        raise Refused("stock_empty")
    return Position(position.heart, cycle, turned + 1, position.moves + 1, position.score, position.status)


def _recycle(position: Position, _: Action) -> Position:
    cycle = position.cycle
    if position.turned < len(cycle):
        raise Refused("stock_not_empty")
    if not cycle:
        raise Refused("nothing_to_recycle")
    return Position(position.heart, cycle, 0, position.moves + 1, position.score, position.status)


def _pair(position: Position, action: Action) -> Position:
    heart, cycle, turned, score = position.heart, position.cycle, position.turned, position.score
    _, high, low = action
    if high < low:
        high, low = low, high
    if high == low:
        raise Refused("same_card")
    if low == DISCARD:
        if not turned:
            raise Refused("no_discard")
        if _free_rank(heart, high) != cycle[turned - 1]:
            raise Refused("not_equal")
        heart = _without(heart, high)
        turned -= 1
        cycle = cycle[:turned] + cycle[turned + 1 :]
        score += CARD_SCORE
    else:
        if _free_rank(heart, high) != _free_rank(heart, low):
            raise Refused("not_equal")
        heart = _without(_without(heart, high), low)
        score += 2 * CARD_SCORE
    return Position(heart, cycle, turned, position.moves + 1, score, _status(heart, cycle))


def _undo(state: State) -> State:
    if not state.undoable or state.past is None:
        raise Refused("nothing_to_undo")
    position, before = state.past
    return State(position, before, state.undoable - 1, state.undos + 1, state.code)


def _latest(past: Past) -> Past:
    """As much of `past` as undo may return to after one more move, so that it does not grow for ever."""
    kept: list[Position] = []
    while past is not None and len(kept) < UNDO_LIMIT - 1:
        position, past = past
        kept.append(position)
    latest: Past = None
    for position in reversed(kept):
        latest = position, latest
    return latest


_MOVES: Final[dict[str, Callable[[Position, Action], Position]]] = {
    "draw": _draw,
    "recycle": _recycle,
    "pair": _pair,
}


def _free_rank(heart: tuple[int, ...], place: int) -> Rank:
    value = heart[place - 1]
    if not value:
        raise Refused("empty_place")
    if value < FREE:
        raise Refused("covered")
    return value - FREE


def _without(heart: tuple[int, ...], place: int) -> tuple[int, ...]:
    """`heart` without the card at `place`, and with what that card alone still covered made free."""
    places = list(heart)
    places[place - 1] = 0
    for above in COVERS[place - 1]:
        if places[above] and not any(places[below] for below in COVERED_BY[above]):
            places[above] += FREE
    return tuple(places)


def _status(heart: tuple[int, ...], cycle: tuple[Rank, ...]) -> int:
    """`WON` with the heart gone. `STUCK` with no free card that has an equal among the free ones or in the
    whole cycle, all of which comes round again. Neither draws nor recycles change it."""
    free = [value - FREE for value in heart if value > FREE]
    if not free:
        return WON
    if len(set(free)) < len(free) or not set(free).isdisjoint(cycle):
        return IN_PLAY
    return STUCK


def _cell_text(value: int) -> str:
    if not value:
        return "  · "
    if value > FREE:
        return f"[{rank_text(value - FREE)}]".rjust(4)
    return f"{rank_text(value)} ".rjust(4)
