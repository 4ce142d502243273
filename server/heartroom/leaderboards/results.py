"""Results of days, and what follows from all of a player's. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import msgspec

from heartroom.daily import dates
from heartroom.daily.dates import Day
from heartroom.sessions import record
from heartroom.sessions.room import Room
from heartroom.sessions.table import HOUSE
from heartroom.store.days import Deal

STEP_MS: Final = 100
"""The precision in which times are shown and compared."""

ENOUGH: Final = 5
"""Wins from which on a player has an average that is compared."""

_WIDE: Final = 1 << 24
"""More than any number of moves, or of tenths of a second, of an attempt that counts."""


class Result(NamedTuple):
    """A day's deal, won in the ranked attempt."""

    day: Day
    session: str
    elapsed_ms: int
    """From the start to the winning action, by the store's clock."""
    moves: int
    """Accepted actions, undos too."""
    par: int
    at_ms: int
    """When it was won, ms since 1970."""

    @property
    def time_ms(self) -> int:
        """`elapsed_ms` as it is shown and compared."""
        return self.elapsed_ms // STEP_MS * STEP_MS

    @property
    def by_time(self) -> int:
        """The score on the board *time*: time, then moves."""
        return self.time_ms // STEP_MS * _WIDE + self.moves

    @property
    def by_moves(self) -> int:
        """The score on the board *moves*: moves, then time."""
        return self.moves * _WIDE + self.time_ms // STEP_MS


class Summary(NamedTuple):
    """All that a player has won so far."""

    wins: int = 0
    streak: int = 0
    """Days in a row with a win, up to the latest."""
    longest: int = 0
    """The longest streak there ever was."""
    best_ms: int = 0
    best_over_par: int = 0
    """The fewest moves above par."""
    average_ms: int = 0
    average_over_par: float = 0.0
    last: Day = ""
    """The latest day with a win."""

    def streak_on(self, today: Day) -> int:
        """The streak that goes on if today's deal is won, or was: 0 if yesterday's was not either."""
        return self.streak if self.last and self.last >= dates.after(today, -1) else 0

    @property
    def scores(self) -> tuple[int | None, ...]:
        """The scores on the boards of all time, see `ALL_TIME`."""
        average = self.average_ms // STEP_MS if self.wins >= ENOUGH else None
        return (-self.wins, -self.longest, self.best_ms // STEP_MS, average)


BOARDS: Final = ("time", "moves")
"""The boards of a day."""
ALL_TIME: Final = ("wins", "streak", "best", "average")
"""The boards of all time."""


class Unproved(Exception):
    """A finished game whose log does not bear out its result; says why."""


def prove(room: Room, deal: Deal) -> Result:
    """The result of a finished ranked session, from nothing but its log and the deal of its day.

    Raises `Unproved`.
    """
    if room.setup.deal != deal.deal:
        raise Unproved("another deal")
    starts = [at_ms for at_ms, deed in room.log if deed.seat == HOUSE and deed.action == ("start",)]
    if len(starts) != 1:
        raise Unproved(f"started {len(starts)} times")
    start_ms = starts[0]
    deeds = [(at_ms - start_ms, deed.seat, deed.action) for at_ms, deed in room.log if deed.seat != HOUSE]
    try:
        read = record.read(b"".join(record.lines(room.game, room.setup, [""], deeds)))
    except record.BadRecord as bad:
        raise Unproved(str(bad)) from None
    outcome = read.outcome
    if outcome is None or 0 not in outcome.winners:
        raise Unproved("not won")
    if read.steps[0].at < 0:
        raise Unproved("begun before the start")
    moves = len(read.steps)
    if moves < deal.par:
        raise Unproved(f"{moves} moves, and no fewer than {deal.par} are possible")
    return Result(deal.day, room.sid, read.elapsed_ms, moves, deal.par, start_ms + read.elapsed_ms)


def summary(results: Iterable[Result]) -> Summary:
    """What follows from all results of one player, at most one a day."""
    ordered = sorted(results)
    if not ordered:
        return Summary()
    streak = longest = 0
    previous = ""
    for result in ordered:
        streak = streak + 1 if previous and dates.after(previous) == result.day else 1
        longest = max(longest, streak)
        previous = result.day
    wins = len(ordered)
    over_par = [result.moves - result.par for result in ordered]
    return Summary(
        wins=wins,
        streak=streak,
        longest=longest,
        best_ms=min(result.time_ms for result in ordered),
        best_over_par=min(over_par),
        average_ms=sum(result.time_ms for result in ordered) // wins,
        average_over_par=round(sum(over_par) / wins, 1),
        last=previous,
    )


def pack(value: Result | Summary) -> bytes:
    """A result or summary as it is stored."""
    return msgspec.msgpack.encode(value)


def unpack_result(raw: bytes) -> Result:
    """What `pack` has made of a result."""
    return msgspec.msgpack.decode(raw, type=Result)


def unpack_summary(raw: bytes) -> Summary:
    """What `pack` has made of a summary."""
    return msgspec.msgpack.decode(raw, type=Summary)


def as_json(result: Result) -> dict[str, Any]:
    """A result as clients get it."""
    return {
        "date": result.day,
        "session": result.session,
        "time_ms": result.time_ms,
        "moves": result.moves,
        "par": result.par,
        "at_ms": result.at_ms,
    }
