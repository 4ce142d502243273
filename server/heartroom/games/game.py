"""What a game is, as the rest of the house sees it, and the registry of the games there are.

Everything below this package is pure: no clock, no I/O, no asyncio, no global randomness. A game is
a *setup* (options and deal) and an append-only *log of actions*; all else is derived by folding:

    state = fold(game.apply, game.initial(setup), log)
    view  = game.view(state, seat)

Adding a game means adding one folder here whose `__init__` defines `GAME`; nothing else names it. When the
rules of a game change so that a log would mean something else, its `rules_version` goes up, and the rules as
they were stay, in a tuple `EARLIER` beside `GAME`: games that have begun go on, and are replayed, by those.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

Value = Any
"""A msgpack- and JSON-able value: None, bool, int, str, or a tuple of values."""

Action = tuple[Any, ...]
"""An action as it stands in the log and on the wire: the verb first, then its arguments, e.g.
`("draw",)` or `("pair", 25, 0)`. Always built by `Game.parse_action`, so it is well-formed."""

View = tuple[Any, ...]
"""What one viewer may know: a flat tuple, one value a field, in the order of `Game.fields`. Two views
of one game have the same length, so a diff is the list of the places in which they differ."""


class Refused(Exception):
    """An action, an option or a code that cannot be taken. Carries a code from a closed list and
    changes nothing."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code: Final = code
        """The code that goes to the player, e.g. `"not_equal"`; each game lists its own in `codes`."""


@dataclass(frozen=True, slots=True)
class Setup:
    """All that a game's beginning depends on. Kept in the store; secret until the game is over."""

    options: Mapping[str, Value]
    """What was asked for, completed (e.g. the code of the deal). Everybody may see it."""
    deal: tuple[Value, ...]
    """What is hidden: the shuffled cards, or the seed of all the hands."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game that is over has ended."""

    winners: tuple[int, ...]
    """The seats that won; more than one for a shared win."""
    scores: tuple[int, ...]
    """The final score of each seat, seat 0 first."""


class Puzzle(NamedTuple):
    """A deal for everybody to try, and what is known of it."""

    deal: tuple[Value, ...]
    par: int
    """No way to win it takes fewer actions: proven."""
    line: tuple[Action, ...]
    """`par` actions that win it."""


class Game(Protocol):
    """One game's rules. `State` is the game's own immutable type; the house only passes it on."""

    name: str
    """Lower case with hyphens, as in the wire and in addresses: `"heart-to-heart"`."""
    rules_version: int
    """Counts up when the meaning of a log changes; old logs are replayed by the rules they began with: see
    `rules`."""
    seats: int
    fields: tuple[str, ...]
    """The name of each field of a view, in order. Only ever appended to within a rules version."""
    codes: frozenset[str]
    """Every code with which `parse_options` or `apply` may refuse."""
    levels: tuple[str, ...]
    """How well its bots play, the weakest first; none for a game without bots."""

    def parse_options(self, raw: Mapping[str, Value]) -> Mapping[str, Value]:
        """The options asked for by a player, checked and completed with defaults.

        Raises `Refused("bad_options")` or a code of the game's.
        """
        ...

    def deal(self, options: Mapping[str, Value], entropy: bytes) -> Setup:
        """The deal for `options` (from `parse_options`). `entropy` is 32 fresh random bytes, the only
        source of chance; a deal that the options fix (a code) ignores it."""
        ...

    def initial(self, setup: Setup) -> Any:
        """The state before the first action. Raises `ValueError` for a setup that is no deal."""
        ...

    def parse_action(self, raw: object) -> Action:
        """`raw` (decoded msgpack or JSON: lists, tuples, ints, strs) as an action.

        Raises `Refused("malformed")` for anything that no state could accept.
        """
        ...

    def apply(self, state: Any, seat: int, action: Action) -> Any:
        """The state after `seat` has taken `action`; `state` itself is unchanged.

        Raises `Refused` with a code of `codes`.
        """
        ...

    def perspective(self, seat: int | None) -> int | None:
        """Who sees the same as `seat` (`None`: a spectator): viewers with one perspective get one and
        the same view, encoded once. A game without private cards returns `None` for everybody."""
        ...

    def view(self, state: Any, perspective: int | None) -> View:
        """What `perspective` may know of `state`, built up from nothing."""
        ...

    def views(self, state: Any, perspectives: Iterable[int | None]) -> Sequence[View]:
        """The view of each of `perspectives`, in their order: what `view` gives, whoever else is asked for.
        What they have in common need be worked out only once."""
        ...

    def open_view(self, state: Any) -> View:
        """A view with all cards face up, for looking at a game that is over."""
        ...

    def to_act(self, state: Any) -> tuple[int, ...]:
        """The seats that the game waits for, more than one where they choose at the same time; none once
        it is over. Everybody may know which."""
        ...

    def patience(self, state: Any) -> float:
        """How many turns' worth of time a seat has for what is now to be done: 1 for a turn."""
        ...

    def unattended(self, state: Any, seat: int) -> Action | None:
        """What is done for a player of `to_act` whose time is up, if that may be done for anybody (a
        score sheet is put away); `None` if a bot must take over."""
        ...

    def choose(self, level: str, view: View, seat: int, seed: str) -> Action:
        """What a bot of `level` does in `seat`, one of `to_act`, going by nothing but the seat's view and
        a seed: the same for the same. Takes up to some tenths of a second.

        Raises `KeyError` for a level there is not.
        """
        ...

    def scores(self, state: Any) -> tuple[int, ...]:
        """The score of each seat so far, seat 0 first; only what everybody may know."""
        ...

    def outcome(self, state: Any) -> Outcome | None:
        """How the game ended, or `None` while it goes on. Once it is over every action is refused
        with `"game_over"`."""
        ...


@runtime_checkable
class DailyGame(Game, Protocol):
    """A solitaire of which there can be a deal of the day."""

    def daily_deal(self, entropy: bytes) -> Puzzle | None:
        """A secret deal that follows from `entropy` (32 bytes) and from no code; `None` if it cannot be
        won or its par cannot be proved: try another. Takes seconds."""
        ...

    def daily_code(self, day: str) -> str:
        """The code of the deal of a day, which is eight digits, `"20261130"`."""
        ...

    def daily_day(self, code: object) -> str | None:
        """The eight digits in a code of a day's deal, as people type it; `None` if it is none."""
        ...


@runtime_checkable
class CountingGame(Game, Protocol):
    """A game that adds numbers of its own to its players' statistics."""

    def statistics(self, state: Any) -> tuple[Mapping[str, int], ...]:
        """What a game that is over adds to the statistics of each seat's player, always the same numbers, by
        name. Games, wins and time are counted anyway."""
        ...


@runtime_checkable
class ProgressGame(Game, Protocol):
    """A game that knows how far it has come."""

    def progress(self, state: Any) -> float:
        """0 at the beginning, 1 at the end, as everybody may know it."""
        ...


def fold(game: Game, setup: Setup, log: Iterable[tuple[int, Action]]) -> Any:
    """The state after all of `log`, an iterable of (seat, action). Raises what `apply` raises."""
    state = game.initial(setup)
    for seat, action in log:
        state = game.apply(state, seat, action)
    return state


@cache
def games() -> Mapping[str, Game]:
    """Every game there is, by name: each subpackage of `heartroom.games` that defines `GAME`."""
    return {package.GAME.name: package.GAME for package in _packages()}


@cache
def rules(name: str, version: int) -> Game | None:
    """The game by which a log is replayed that began under its rules of this number: that of the name or, if
    its number is another, one of those that its package calls `EARLIER`; `None` if there is none."""
    for package in _packages():
        for game in (package.GAME, *getattr(package, "EARLIER", ())):
            if (game.name, game.rules_version) == (name, version):
                found: Game = game
                return found
    return None


def _packages() -> list[Any]:
    path = importlib.import_module(__package__).__path__
    names = [f"{__package__}.{module.name}" for module in pkgutil.iter_modules(path) if module.ispkg]
    return [package for package in map(importlib.import_module, names) if hasattr(package, "GAME")]
