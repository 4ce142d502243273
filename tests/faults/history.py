"""What clients did and saw, written down as it happens, in as few bytes as it takes: there are millions."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from heartroom.games.game import Game, Setup
from heartroom.sessions.log import Deed
from heartroom.sessions.table import Table

_encode: Final = msgspec.msgpack.Encoder().encode


def print_of(view: Sequence[Any]) -> int:
    """A number that stands for a view: the same for the same, within one process."""
    return hash(_encode(view))


class Acts:
    """What one player asked for in one session, in the order in which it was first sent, and was answered.

    Refs count up from `first`.
    """

    def __init__(self, seat: int, first: int) -> None:
        self.seat: Final = seat
        self.first: Final = first
        self.sent: list[tuple[Any, ...]] = []
        """The action of each ref."""
        self.refused: set[int] = set()
        self._acks = array("q")

    def send(self, action: tuple[Any, ...]) -> int:
        """Notes an action that is sent for the first time; returns its ref."""
        self.sent.append(action)
        return self.first + len(self.sent) - 1

    def ack(self, ref: int, version: int) -> None:
        """Notes that an action was acknowledged."""
        self._acks.extend((ref, version))

    def refuse(self, ref: int) -> None:
        """Notes that an action was refused."""
        self.refused.add(ref)

    @property
    def acks(self) -> Iterator[tuple[int, int]]:
        """All acknowledgements, as (ref, version), in the order in which they came."""
        return zip(self._acks[::2], self._acks[1::2], strict=True)


class Glimpse(NamedTuple):
    """One thing that a viewer was shown."""

    epoch: int
    """Of a snapshot; 0 for a diff."""
    version: int
    seat: int | None
    """The viewer's own, as far as it knew."""
    seen: int
    """The `print_of` the view that the viewer then had."""


class Sight:
    """What one viewer was shown of one session, over all its connections."""

    def __init__(self, who: str) -> None:
        self.who: Final = who
        self._glimpses = array("q")

    def show(self, epoch: int, version: int, seat: int | None, view: Sequence[Any]) -> None:
        """Notes a snapshot, or (`epoch` 0) a diff, and what the whole view is after it."""
        self._glimpses.extend((epoch, version, -1 if seat is None else seat, print_of(view)))

    def __len__(self) -> int:
        return len(self._glimpses) // 4

    def __iter__(self) -> Iterator[Glimpse]:
        numbers = self._glimpses
        for epoch, version, seat, seen in zip(*(numbers[part::4] for part in range(4)), strict=True):
            yield Glimpse(epoch, version, None if seat < 0 else seat, seen)


class Log(NamedTuple):
    """One session as the store has it in the end."""

    sid: str
    game: Game
    setup: Setup
    epoch: int
    table: Table
    """Who sat there before the first deed."""
    deeds: Sequence[Deed]
