"""A finished game on paper: exported as JSON lines, read back, checked against the rules, replayed.

The first line is the header: `{"heartroom": 1, "game", "rules", "options", "deal", "names"}`. Each further
line is one action: `{"v", "at", "seat", "action"}`, where `v` counts from 1 and `at` is ms since the game's
time began: with the first action, or when a sealed deal was opened. Blank lines may follow, and only there.

What a record proves by itself is that these actions, on this deal, lead to this end, and that a deal with a
code is that code's. When things were done, by whom, and what the deal of a day was, only the house knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from heartroom.games.game import DailyGame, Game, Outcome, Refused, Setup, games, rules
from heartroom.protocol import outbound
from heartroom.protocol.names import clean

FORMAT: Final = 1

LONGEST_MS: Final = 200 * 365 * 86_400_000
"""More than any game takes: no session is kept so long."""

_T = TypeVar("_T")


class BadRecord(Exception):
    """A record that does not hold. Says in which line (from 1) and why."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line: Final = line
        self.reason: Final = reason
        """A refusal's code (`not_equal`), or what is wrong with the line."""


class Header(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The first line of a record."""

    heartroom: int
    game: str
    rules: int
    options: dict[str, Any]
    deal: tuple[Any, ...]
    names: tuple[str, ...]


class Step(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One action of a record."""

    v: int
    at: int
    seat: int
    action: tuple[Any, ...]


class Record(NamedTuple):
    """A record whose every action the rules allow."""

    header: Header
    game: Game
    steps: tuple[Step, ...]
    states: tuple[Any, ...]
    """The state before each step and after the last: one more than there are steps."""

    @property
    def setup(self) -> Setup:
        """What it began with."""
        return Setup(self.header.options, self.header.deal)

    @property
    def deeds(self) -> Iterator[tuple[int, int, Any]]:
        """What was done, as in `lines`."""
        return ((step.at, step.seat, step.action) for step in self.steps)

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended, `None` if it had not."""
        return self.game.outcome(self.states[-1])

    @property
    def elapsed_ms(self) -> int:
        """From the beginning of the game's time to the last action."""
        return self.steps[-1].at if self.steps else 0


def lines(
    game: Game, setup: Setup, names: Sequence[str], deeds: Iterable[tuple[int, int, Any]]
) -> Iterator[bytes]:
    """The lines of a record. `deeds` are (ms since the game's time began, seat, action)."""
    encode = msgspec.json.encode
    header = Header(FORMAT, game.name, game.rules_version, dict(setup.options), setup.deal, tuple(names))
    yield encode(header) + b"\n"
    for version, (at_ms, seat, action) in enumerate(deeds, start=1):
        yield encode(Step(version, at_ms, seat, action)) + b"\n"


def read(raw: bytes) -> Record:
    """The record in `raw`, each of its actions checked against the rules. Raises `BadRecord`."""
    texts = raw.splitlines()
    while texts and not texts[-1].strip():
        texts.pop()
    if not texts:
        raise BadRecord(1, "empty")
    header = _parse(1, texts[0], Header)
    if header.heartroom != FORMAT:
        raise BadRecord(1, f"unknown format {header.heartroom}")
    if header.game not in games():
        raise BadRecord(1, f"unknown game {header.game}")
    game = rules(header.game, header.rules)
    if game is None:
        raise BadRecord(1, f"unknown rules version {header.rules}")
    try:
        states = [game.initial(Setup(header.options, header.deal))]
    except ValueError as error:
        raise BadRecord(1, f"no deal: {error}") from None
    _check_header(game, header)
    steps: list[Step] = []
    for number, text in enumerate(texts[1:], start=2):
        step = _parse(number, text, Step)
        if step.v != len(steps) + 1:
            raise BadRecord(number, f"version {step.v} where {len(steps) + 1} is due")
        if step.at < (steps[-1].at if steps else 0):
            raise BadRecord(number, "goes back in time")
        if step.at > LONGEST_MS:
            raise BadRecord(number, "took longer than a game is kept")
        if not 0 <= step.seat < game.seats:
            raise BadRecord(number, f"no seat {step.seat}")
        try:
            states.append(game.apply(states[-1], step.seat, game.parse_action(step.action)))
        except Refused as refused:
            raise BadRecord(number, refused.code) from None
        steps.append(step)
    return Record(header, game, tuple(steps), tuple(states))


def _check_header(game: Game, header: Header) -> None:
    """Raises `BadRecord` if the options are none or mean another deal, or the names are none."""
    if len(header.names) != game.seats:
        raise BadRecord(1, f"{len(header.names)} names for {game.seats} seats")
    for name in header.names:
        if name and not _is_name(name):
            raise BadRecord(1, f"no name: {name!r}")
    if isinstance(game, DailyGame) and game.daily_day(header.options.get("code")) is not None:
        return  # what was dealt that day only the house knows
    try:
        options = game.parse_options(header.options)
    except Refused as refused:
        raise BadRecord(1, refused.code) from None
    # Where chance has no part in the deal, it is the same whatever chance brings.
    dealt = {game.deal(options, entropy).deal for entropy in (bytes(32), bytes(range(32)))}
    if len(dealt) == 1 and dealt != {header.deal}:
        raise BadRecord(1, "another deal than that of its code")


def _is_name(name: str) -> bool:
    try:
        return clean(name) == name
    except ValueError:
        return False


def frames(game: Game, state: Any, deeds: Iterable[tuple[int, int, Any]]) -> Iterator[list[Any]]:
    """What the viewer of replays shows after each of `deeds` (as in `lines`), which the rules allow from
    `state` on: `[version, at_ms, index, value, …]`, as everybody may see it now that the game is over."""
    before = game.open_view(state)
    for version, (at_ms, seat, action) in enumerate(deeds, start=1):
        state = game.apply(state, seat, action)
        after = game.open_view(state)
        yield [version, at_ms, *outbound.changes(before, after)]
        before = after


def replay(game: Game, setup: Setup, names: Sequence[str], shown: Sequence[list[Any]], *people: Any) -> bytes:
    """All that the viewer of replays wants: msgpack `[game, names, view, frames]`, and then `people`: of a
    session with several seats, which of them were bots' all along, and the seat of who asks. `shown`: what
    `frames` found from the beginning."""
    first = game.open_view(game.initial(setup))
    return msgspec.msgpack.encode([game.name, names, first, shown, *people])


def _parse(number: int, text: bytes, kind: type[_T]) -> _T:
    if not text.strip():
        raise BadRecord(number, "a blank line")
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadRecord(number, str(error)) from None
