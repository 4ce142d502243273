"""Days to play in tests: nodes whose calendar can be moved, deals that are known, attempts that are won.

Only what day it is can be moved. Each test has days of its own, so that one store serves them all.
"""

from __future__ import annotations

import itertools
import secrets
from dataclasses import dataclass, field
from typing import Any

from heartroom.daily import dates
from heartroom.daily.dates import DAY_MS, Day
from heartroom.daily.service import Daily
from heartroom.leaderboards.service import Leaderboards
from heartroom.sessions.house import House
from heartroom.sessions.log import Deed, pack
from heartroom.sessions.room import Room
from heartroom.sessions.table import HOUSE
from heartroom.store import keys
from heartroom.store.days import Deal
from heartroom.store.store import STORED, Commit, Store
from tests.support.games import CODE, GAME, WINNING

_days = itertools.count()

PAR = 73
"""Of the deal of `CODE`."""


def some_day() -> Day:
    """A day that no other test on this store plays, with as many free days after it as it needs, and far
    enough ahead for what is finished now to count for it."""
    return dates.after("2100-01-01", 40 * next(_days))


def known_deal(day: Day) -> Deal:
    """The deal of `CODE` as that of a day."""
    setup = GAME.deal({"code": CODE}, bytes(32))
    return Deal(day, GAME.name, GAME.rules_version, setup.deal, PAR, WINNING)


@dataclass
class Calendar:
    """A clock for days: it stands still until it is moved."""

    now_ms: int

    @classmethod
    def on(cls, day: Day, hour: float = 12) -> Calendar:
        return cls(dates.start_ms(day) + int(hour * 3_600_000))

    async def __call__(self) -> int:
        return self.now_ms

    @property
    def day(self) -> Day:
        return dates.of(self.now_ms)

    def next_day(self, days: int = 1) -> None:
        self.now_ms += days * DAY_MS


@dataclass
class Node:
    """One node with a calendar; several may share one."""

    house: House
    calendar: Calendar
    daily: Daily = field(init=False)
    boards: Leaderboards = field(init=False)

    def __post_init__(self) -> None:
        self.daily = Daily(self.house, self.calendar)
        self.boards = Leaderboards(self.house, self.daily)

    @property
    def day(self) -> Day:
        return self.calendar.day

    async def deal(self) -> Deal:
        """Sees to it that today's deal is the known one."""
        await self.daily.days.put(known_deal(self.day))
        deal = await self.daily.find(self.day)
        assert deal is not None
        return deal

    async def begun(self, player: str) -> Room:
        """The player's ranked attempt of today, looked at by the player."""
        await self.deal()
        return await self.house.enter(await self.daily.begin(player), player)

    async def won(self, player: str, detours: int = 0) -> Room:
        """The same, won with `detours` moves that are taken back again, and entered."""
        room = await self.begun(player)
        await play(room, self.house, winning(detours))
        await self.boards.follow(room)
        return room


def winning(detours: int = 0) -> list[tuple[Any, ...]]:
    """Actions that win the known deal, 2 × `detours` more than need be."""
    return [*([("draw",), ("undo",)] * detours), *WINNING]


async def play(room: Room, house: House, actions: list[tuple[Any, ...]]) -> None:
    """Stores actions as if the player had taken them, and lets the room read them."""
    for action in actions:
        body = pack(Deed(0, secrets.randbelow(2**50) + 1, action))
        ((result, _),) = await house.store.commit([Commit(room.sid, room.epoch, room.version, body, 0)])
        assert result == STORED
        opened = await house.store.open(room.sid, room.version)
        assert opened is not None
        room.missed(room.version, opened.entries)


async def write(
    store: Store,
    sid: str,
    elapsed_ms: int,
    detours: int = 0,
    start_ms: int = 10**12,
    *,
    ranked: bool = True,
) -> None:
    """Writes the whole log of a game that is won, as `commit.lua` would have, with times of our choice."""
    actions = winning(detours)
    deeds = [Deed(HOUSE, 0, ("start",))] if ranked else []
    deeds += [Deed(0, ref, action) for ref, action in enumerate(actions, 1)]
    times = [start_ms + elapsed_ms * done // len(actions) for done in range(len(deeds))]
    entries = [b"%013d" % at_ms + pack(deed) for at_ms, deed in zip(times, deeds, strict=True)]
    await store.redis.rpush(keys.log(sid), *entries)


def digits(day: Day) -> str:
    return day.replace("-", "")


def code(day: Day) -> str:
    """What the deal of a day is called."""
    return f"HH1-D-{digits(day)}"
