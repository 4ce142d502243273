"""What each viewer of a game of Hearts may know, built up from nothing.

Owns the fields of the view and who sees what: a seat its own cards, what it gave and (once all have
passed) what it was given; everybody the table. A card face up is a number in a tuple; cards face down
are counted. Knows no rules; asks `rules`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from heartroom.games.game import Value, View

from . import deck, rules
from .deck import SEATS
from .rules import PASSING, PLAYING, State

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

_PASS0: Final = FIELD["pass0"]
_LEGAL: Final = FIELD["legal"]
_WHY: Final = FIELD["why"]
_MAY_CLAIM: Final = FIELD["may_claim"]
_UNPLAYED: Final = tuple(((),) * n for n in range(deck.HAND_SIZE + 1))
"""So many tricks that have not begun."""


def views(state: State, seats: Iterable[int | None]) -> list[View]:
    """What each of `seats` may know (`None`: a spectator): what everybody may, and the seat's own besides."""
    table = _table(state)
    return [table if seat is None else _at_seat(state, table, seat) for seat in seats]


def view(state: State, seat: int | None) -> View:
    """What `seat` may know (`None`: a spectator)."""
    return views(state, (seat,))[0]


def open_view(state: State) -> View:
    """All cards face up: for looking at a game that is over. Never send it while the game goes on."""
    seen = list(_table(state))
    for seat in SEATS:
        _turn_up(seen, state, seat)
    return tuple(seen)


def _table(state: State) -> View:
    """What everybody may know: of hands and passes how many cards there are, of nobody's turn what only the
    seat may know of it."""
    tricks = (*state.tricks, state.trick) if state.trick else state.tricks
    begun = len(tricks)
    phase = state.phase
    return (
        *map(int.bit_count, state.hands),
        *map(len, state.passes),
        *tricks,
        *_UNPLAYED[deck.HAND_SIZE - begun],
        phase,
        state.number,
        rules.pass_offset(state.number),
        rules.to_act(state),
        0 if phase == PASSING else begun + (phase == PLAYING and not state.trick),
        int(state.broken),
        state.took,
        rules.points(state),
        (),
        "",
        0,
        (state.claimed[0], *deck.cards(state.claimed[1])) if state.claimed else (),
        state.sheet,
        state.totals,
        rules.winners(state),
        state.table.target,
        int(state.table.omnibus),
    )


def _at_seat(state: State, table: View, seat: int) -> View:
    """`table`, and what only `seat` knows."""
    seen = list(table)
    _turn_up(seen, state, seat)
    if seat == state.turn:
        seen[_LEGAL] = deck.cards(state.legal)
        seen[_WHY] = rules.why(state)
        seen[_MAY_CLAIM] = int(rules.can_claim(state, seat))
    return tuple(seen)


def _turn_up(seen: list[Value], state: State, seat: int) -> None:
    """Turns up the cards of `seat`: its hand, what it gave, and what it was given once all have passed."""
    seen[seat] = deck.cards(state.hands[seat])
    seen[_PASS0 + seat] = state.passes[seat]
    if state.phase != PASSING:
        giver = seat - rules.pass_offset(state.number) & 3
        seen[_PASS0 + giver] = state.passes[giver]
