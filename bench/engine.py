"""What the rules and the diff cost by themselves, in this process: no server, no socket."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib import resources
from itertools import pairwise
from typing import NamedTuple

from bench.measure import median
from heartroom.games.game import Action, Setup
from heartroom.games.heart_to_heart import GAME
from heartroom.protocol import outbound
from heartroom.sessions import record

_REPEATS = 25
_ROUNDS = 10
"""Draws of the whole stock, each with its recycle: past the point from which moves to undo are forgotten."""


class Costs(NamedTuple):
    """µs an action, the median of several runs."""

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
    """The costs of what `watch4` does, and of a game that is won."""
    folder = resources.files("heartroom.games.heart_to_heart") / "examples"
    example = next(file for file in folder.iterdir() if file.name.endswith(".jsonl"))
    won = record.read(example.read_bytes())
    setup = Setup(won.header.options, won.header.deal)
    turning: list[Action] = [*[("draw",)] * 26, ("recycle",)]
    turning += [*[("draw",)] * 27, ("recycle",)] * _ROUNDS
    yield _costs("draws and recycles", setup, turning)
    yield _costs("a won game", setup, [step.action for step in won.steps])


def _costs(name: str, setup: Setup, actions: list[Action]) -> Costs:
    states = [GAME.initial(setup)]
    for action in actions:
        states.append(GAME.apply(states[-1], 0, action))
    views = [GAME.view(state, None) for state in states]

    def apply() -> None:
        for state, action in zip(states, actions, strict=False):
            GAME.apply(state, 0, action)

    def view() -> None:
        for state in states[1:]:
            GAME.view(state, None)

    def diff() -> None:
        for version, (before, after) in enumerate(pairwise(views), start=1):
            outbound.diff(version, outbound.changes(before, after))

    return Costs(name, *(_timed(work) / len(actions) for work in (apply, view, diff)))


def _timed(work: Callable[[], None]) -> float:
    """µs that `work` takes, the median of several runs."""
    taken = []
    for _ in range(_REPEATS):
        began = time.perf_counter()
        work()
        taken.append((time.perf_counter() - began) * 1e6)
    return median(taken)
