"""Short builders with which tests write games down like score sheets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hypothesis import settings
from hypothesis import strategies as st

from heartroom.cards import RANKS
from heartroom.games.game import Action, Refused, Setup, fold
from heartroom.games.heart_to_heart import GAME
from heartroom.games.heart_to_heart.rules import FREE, State

# No deadlines: how long an example takes says more about who else uses the machine.
MANY = settings(max_examples=100, deadline=None)
FEW = settings(max_examples=25, deadline=None)

CODE = "HH1-N-AAAAAAM"
DECK = [rank for _ in range(4) for rank in RANKS]


def draw() -> Action:
    return GAME.parse_action(["draw"])


def draws(count: int) -> list[Action]:
    return [draw()] * count


def recycle() -> Action:
    return GAME.parse_action(["recycle"])


def undo() -> Action:
    return GAME.parse_action(["undo"])


def pair(place: int, other: int | Literal["discard"]) -> Action:
    """`other` is a place too, or the discard by its name or its number, 0."""
    return GAME.parse_action(["pair", place, 0 if other == "discard" else other])


EVERY_ACTION = [draw(), recycle(), undo(), *(pair(a, b) for a in range(26) for b in range(26))]


def start(code: str = CODE) -> State:
    state = GAME.initial(GAME.deal({"code": code}, b""))
    assert isinstance(state, State)
    return state


def start_deal(deal: Sequence[int]) -> State:
    state = GAME.initial(Setup({"code": "a label"}, tuple(deal)))
    assert isinstance(state, State)
    return state


def play(actions: Sequence[Action], setup: Setup | None = None) -> State:
    """The state after `actions`, of HH1-N-AAAAAAM if no other deal is given."""
    state = fold(GAME, setup or GAME.deal({"code": CODE}, b""), [(0, action) for action in actions])
    assert isinstance(state, State)
    return state


def go(state: State, *actions: Action) -> State:
    for action in actions:
        state = GAME.apply(state, 0, action)
    return state


def refusal(state: State, action: Action) -> str | None:
    """The code with which `action` is refused, or `None`."""
    try:
        GAME.apply(state, 0, action)
    except Refused as refused:
        return refused.code
    return None


def accepted(state: State) -> list[Action]:
    """Every action but undo that `state` takes, each pair in one order."""
    free = [place for place, value in enumerate(state.position.heart, 1) if value > FREE]
    pairs = [pair(place, other) for place in free for other in [0, *free] if other < place]
    return [action for action in [draw(), recycle(), *pairs] if refusal(state, action) is None]


def deals() -> st.SearchStrategy[tuple[int, ...]]:
    return st.permutations(DECK).map(tuple)


@st.composite
def games(draw_value: st.DrawFn, undos: bool = False) -> tuple[tuple[int, ...], list[Action]]:
    """A deal and a game on it, in which pairs are found more often than by chance."""
    deal = draw_value(deals())
    state, actions = start_deal(deal), list[Action]()
    for choice in draw_value(st.lists(st.integers(0, 999), max_size=60)):
        takes = accepted(state)
        pairs = [action for action in takes if action[0] == "pair"]
        if undos and choice % 5 == 0:
            takes = [undo()] if state.undoable else []
        elif pairs and choice % 4:
            takes = pairs
        if not takes or GAME.outcome(state):
            continue
        action = takes[choice // 20 % len(takes)]
        actions.append(action)
        state = GAME.apply(state, 0, action)
    return deal, actions
