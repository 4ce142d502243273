"""What each viewer of a game of Hearts may know, built up from nothing.

Owns the fields of the view and who sees what: a seat its own cards, what it gave and (once all have
passed) what it was given; everybody the table. A card face up is a number in a tuple; cards face down
are counted. Knows no rules; asks `rules`.
"""

from __future__ import annotations

from typing import Final

from heartroom.games.game import View

from . import deck, rules
from .deck import SEATS
from .rules import NOBODY, PASSING, PLAYING, State

FIELDS: Final = (
    *(f"hand{seat}" for seat in SEATS),
    *(f"pass{seat}" for seat in SEATS),
    *(f"trick{n}" for n in range(1, deck.HAND_SIZE + 1)),
    "phase",
    "hand_number",
    "pass_offset",
    "to_act",
    "trick_number",
    "broken",
    "took",
    "points",
    "legal",
    "why",
    "may_claim",
    "claimed",
    "sheet",
    "totals",
    "winners",
    "target",
    "omnibus",
)  # fmt: skip
"""The fields of a view, in order. `docs/rules/hearts.md` says what each holds."""

FIELD: Final = {name: place for place, name in enumerate(FIELDS)}
"""The place of each field by its name."""

EVERYONE: Final = frozenset(SEATS)


def view(state: State, seat: int | None) -> View:
    """What `seat` may know (`None`: a spectator)."""
    return _view(state, frozenset() if seat is None else frozenset((seat,)), seat)


def open_view(state: State) -> View:
    """All cards face up: for looking at a game that is over. Never send it while the game goes on."""
    return _view(state, EVERYONE, None)


def _view(state: State, eyes: frozenset[int], seat: int | None) -> View:
    on_turn = state.phase == PLAYING and seat == state.turn
    tricks = (*state.tricks, state.trick) if state.trick else state.tricks
    begun = state.phase != PASSING
    return (
        *(_faces(state.hands[s], s in eyes) for s in SEATS),
        *(_faces(state.passes[s], _sees_pass(state, s, eyes)) for s in SEATS),
        *tricks,
        *((),) * (deck.HAND_SIZE - len(tricks)),
        state.phase,
        state.number,
        rules.pass_offset(state.number),
        rules.to_act(state),
        len(tricks) + (state.phase == PLAYING and not state.trick) if begun else 0,
        int(state.broken),
        state.took,
        rules.points(state),
        deck.cards(state.legal) if on_turn else (),
        rules.why(state) if on_turn else "",
        int(on_turn and rules.can_claim(state, state.turn)),
        (state.claimed[0], *deck.cards(state.claimed[1])) if state.claimed else (),
        tuple((*line.points, None if line.moon == NOBODY else line.moon) for line in state.sheet),
        state.totals,
        rules.winners(state),
        state.table.target,
        int(state.table.omnibus),
    )


def _faces(cards: deck.Mask, seen: bool) -> int | tuple[int, ...]:
    return deck.cards(cards) if seen else cards.bit_count()


def _sees_pass(state: State, giver: int, eyes: frozenset[int]) -> bool:
    receiver = giver + rules.pass_offset(state.number) & 3
    return giver in eyes or (state.phase != PASSING and receiver in eyes)
