"""What rules, views and diffs cost by themselves, in this process: no server, no socket."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from itertools import pairwise
from typing import NamedTuple

from bench.measure import median
from heartroom.games import heart_to_heart, hearts
from heartroom.games.game import Action, Game, Setup
from heartroom.games.hearts.view import FIELD
from heartroom.protocol import outbound
from heartroom.sessions import record

_REPEATS = 25
_LONG_GAME = 200
"""The target that the tables of `table4` play to."""
_ROUNDS = 10
"""Draws of the whole stock, each with its recycle: past the point from which moves to undo are forgotten."""


class Costs(NamedTuple):
    """µs of CPU an action, the median of several runs."""

    actions: str
    apply: float
    view: float
    diff: float
    """Finding what changed, and its bytes."""

    @property
    def total(self) -> float:
        """All three."""
        return self.apply + self.view + self.diff


def measure() -> Iterator[Costs]:
    """The costs of what `watch4` does, of a game that is won, and of what `table4` does."""
    folder = resources.files("heartroom.games.heart_to_heart") / "examples"
    example = next(file for file in folder.iterdir() if file.name.endswith(".jsonl"))
    won = record.read(example.read_bytes())
    setup = Setup(won.header.options, won.header.deal)
    turning: list[Action] = [*[("draw",)] * 26, ("recycle",)]
    turning += [*[("draw",)] * 27, ("recycle",)] * _ROUNDS
    alone = (None,)
    yield _costs("draws and recycles", heart_to_heart.GAME, setup, [(0, action) for action in turning], alone)
    steps = [(0, step.action) for step in won.steps]
    yield _costs("a won game", heart_to_heart.GAME, setup, steps, alone)
    dealt = hearts.GAME.deal(hearts.GAME.parse_options({"target": _LONG_GAME}), bytes(range(32)))
    # Those who sat down before the start have left behind the view of whoever has no seat.
    yield _costs("Hearts, five views", hearts.GAME, dealt, _played(dealt), (None, 0, 1, 2, 3))


def _played(setup: Setup) -> list[tuple[int, Action]]:
    """A whole game of Hearts, in which everybody plays the first card that may be played."""
    game = hearts.GAME
    state = game.initial(setup)
    log: list[tuple[int, Action]] = []
    while to_act := game.to_act(state):
        seat = to_act[0]
        view = game.view(state, seat)
        if legal := view[FIELD["legal"]]:
            action: Action = ("play", legal[0])
        else:
            action = ("next",) if game.unattended(state, seat) else ("pass", *sorted(view[seat][:3]))
        state = game.apply(state, seat, action)
        log.append((seat, action))
    return log


def _costs(
    name: str, game: Game, setup: Setup, log: list[tuple[int, Action]], perspectives: Sequence[int | None]
) -> Costs:
    states = [game.initial(setup)]
    for seat, action in log:
        states.append(game.apply(states[-1], seat, action))
    views = [game.views(state, perspectives) for state in states]

    def apply() -> None:
        for state, (seat, action) in zip(states, log, strict=False):
            game.apply(state, seat, action)

    def view() -> None:
        for state in states[1:]:
            game.views(state, perspectives)

    def diff() -> None:
        for version, pairs in enumerate(pairwise(views), start=1):
            for before, after in zip(*pairs, strict=True):
                outbound.diff(version, outbound.changes(before, after))

    return Costs(name, *(_timed(work) / len(log) for work in (apply, view, diff)))


def _timed(work: Callable[[], None]) -> float:
    """µs of CPU that `work` takes, the median of several runs."""
    taken = []
    for _ in range(_REPEATS):
        began = time.process_time()
        work()
        taken.append((time.process_time() - began) * 1e6)
    return median(taken)
