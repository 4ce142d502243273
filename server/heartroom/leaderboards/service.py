"""The leaderboards on this node: enters the results of ranked games, finds what a dead node has left undone.

An entry is made in several hash slots, one after the other: the boards of the day, the player's results, the
boards of all time; at last the attempt is closed. Each step may be done again, and until the attempt is
closed somebody does: the next to open the session, or the next `sweep` of any node.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import structlog

from heartroom import metrics
from heartroom.daily import dates
from heartroom.daily.dates import DAY_MS, Day
from heartroom.daily.service import Daily, counts_until_ms, day_of_board
from heartroom.games.game import Refused
from heartroom.leaderboards import results
from heartroom.leaderboards.results import Result, Unproved
from heartroom.protocol.codes import Code
from heartroom.sessions.house import House
from heartroom.sessions.room import Room
from heartroom.sessions.unreadable import is_other_type, refusing
from heartroom.store import keys
from heartroom.store.boards import Boards, totals
from heartroom.store.days import STARTS_TTL_S, Days, Standing
from heartroom.store.people import People
from heartroom.store.store import Away, or_away
from heartroom.tasks import end

_log = structlog.get_logger(__name__)


class Leaderboards:
    """One a node. `start` it, and `aclose` it before the house."""

    SWEEP_S: Final = 60.0
    """How often it is looked for what others left undone."""

    def __init__(self, house: House, daily: Daily) -> None:
        self.house: Final = house
        self.daily: Final = daily
        self.people: Final = People(house.store)
        self.all_time: Final = Boards(house.store, keys.ALL_TIME, results.ALL_TIME)
        self._days: Final[Days] = daily.days
        self.chores: Final[dict[str, Callable[[str], Awaitable[None]]]] = {"name": self.renamed}
        """By what is due (see `store.keys.DUE`): how it is done for a player."""
        self._looked_at: dict[str, int] = {}
        """By session: the version at which it was last found not to be over."""
        self._alarmed: set[str] = set()
        self._sweeper: asyncio.Task[None] | None = None
        house.when_over.append(self.follow)
        house.when_renamed.append(self.renamed)

    def start(self) -> None:
        """Begins to look for what was left undone."""
        self._sweeper = asyncio.get_running_loop().create_task(self._sweep_on())

    async def aclose(self) -> None:
        """Ends what is under way; what it leaves, others find."""
        await end([self._sweeper])

    # -- for readers

    def of_day(self, day: Day) -> Boards:
        """The boards of a day."""
        return Boards(self.house.store, day, results.BOARDS)

    async def totals(self, days: Sequence[Day]) -> list[int]:
        """How many players each day's boards have. Raises `Away`."""
        return await totals(self.house.store, days)

    async def result(self, day: Day, pid: str) -> Result | None:
        """A player's result of a day. Raises `Away`."""
        raw = await self.of_day(day).facts(pid)
        return None if raw is None else results.unpack_result(raw)

    async def results(self, pid: str) -> list[Result]:
        """All results of a player, the earliest first. Raises `Away`."""
        return sorted(results.unpack_result(raw) for raw in await self.people.results(pid))

    async def is_entering(self, day: Day, standing: Standing) -> bool:
        """Whether a player's attempt is won in time, and its result not on the boards yet. Raises `Away`."""
        sid, deal = standing.session, await self.daily.find(day)
        if sid is None or deal is None or not standing.running or standing.entered:
            return False
        room = self.house.rooms.get(sid)
        if room is None:
            try:
                with refusing(sid):
                    if await self._length(sid) <= deal.par:  # too few to be won; we need not read them
                        return False
                room = await self.house.open(sid)
            except Refused:
                return False
        return room.ended_ms is not None and room.ended_ms < counts_until_ms(day)

    # -- for the house

    async def follow(self, room: Room) -> None:
        """Enters the result of a finished game, if it is a ranked one and has not been closed. May be done
        again, and by several nodes at once. Raises `Away`."""
        day = day_of_board(room.settings.ranked)
        if day is None or not room.is_over:
            return
        pid = room.table.chairs[0].pid
        standing = await self._days.standing(day, pid)
        if not standing.running:
            return  # done, or so long ago that nobody knows
        if standing.session != room.sid:
            self._alarm(day, room.sid, "not the attempt that was started")
            return
        result = await self._proved(day, room)
        # By the clock of days: an attempt that comes too late is none, whoever finds it when.
        if result is not None and result.at_ms < counts_until_ms(day):
            await self._enter(pid, result)
        await self._days.finish(day, pid)
        await self.house.store.tell_changed(topic(day))

    async def renamed(self, pid: str) -> None:
        """Puts a player's present name on all boards. Raises `Away`."""
        while True:
            (name,) = await self.house.store.names([pid])
            for day in await self.people.days(pid):
                if await self.of_day(day).rename(pid, name):
                    await self.house.store.tell_changed(topic(day))
            if await self.all_time.rename(pid, name):
                await self.house.store.tell_changed(ALL_TIME_TOPIC)
            # Another node may have renamed the player meanwhile and have written that before us.
            if await self.house.store.names([pid]) == [name]:
                break
        await self.people.done("name", pid)

    async def forget(self, pid: str) -> None:
        """Takes a player off all boards. Raises `Away`."""
        for day in await self.people.days(pid):
            if await self.of_day(day).remove(pid):
                await self.house.store.tell_changed(topic(day))
        if await self.all_time.remove(pid):
            await self.house.store.tell_changed(ALL_TIME_TOPIC)

    async def withdraw(self, day: Day, pid: str) -> bool:
        """Takes a result off all boards and from the player's. Says whether it was on the day's boards.
        Raises `Away`."""
        removed = await self.of_day(day).remove(pid)
        await self.people.remove_result(pid, day)
        await self.sum_up(pid)
        await self.house.store.tell_changed(topic(day))
        await self.house.store.tell_changed(ALL_TIME_TOPIC)
        return removed

    async def sum_up(self, pid: str) -> None:
        """Computes a player's row on the boards of all time anew, from all results. Raises `Away`."""
        summary = results.summary(await self.results(pid))
        (name,) = await self.house.store.names([pid])
        # A row is replaced only by one of more wins.
        await self.all_time.remove(pid)
        if summary.wins:
            await self.all_time.enter(pid, name, summary.wins, results.pack(summary), summary.scores)

    # -- inside

    async def _proved(self, day: Day, room: Room) -> Result | None:
        if room.table.ended:  # by those who run the house, who know why
            return None
        deal = await self.daily.find(day)
        try:
            if deal is None:
                raise Unproved("no deal of that day")
            return results.prove(room, deal)
        except Unproved as unproved:
            self._alarm(day, room.sid, str(unproved))
            return None

    async def _enter(self, pid: str, result: Result) -> None:
        day = result.day
        if await self.people.is_hidden(pid, day):
            return
        # The player's own list first: whoever renames or forgets a player goes by it.
        if not await self.people.add_result(pid, day, results.pack(result)):
            return
        (name,) = await self.house.store.names([pid])
        boards = self.of_day(day)
        entered = await boards.enter(pid, name, 1, results.pack(result), (result.by_time, result.by_moves))
        summary = results.summary(await self.results(pid))
        packed = results.pack(summary)
        summed = await self.all_time.enter(pid, name, summary.wins, packed, summary.scores)
        # Whoever entered it before may have died with an older name in hand.
        if not entered:
            await boards.rename(pid, name)
        if not summed:
            await self.all_time.rename(pid, name)
        await self.house.store.tell_changed(ALL_TIME_TOPIC)
        if await self.house.store.names([pid]) != [name]:
            await self.renamed(pid)
        # Who hides a row or forgets a player says so, then takes rows away: perhaps before they came.
        if await self.people.is_hidden(pid, day) or await self.people.is_gone(pid):
            await self.withdraw(day, pid)
            return
        if entered:
            metrics.BOARD_ENTRIES.inc()
            _log.debug("entered", day=result.day, sid=result.session, moves=result.moves)

    def _alarm(self, day: Day, sid: str, reason: str) -> None:
        """Says once what is wrong with a session."""
        if sid in self._alarmed:
            return
        self._alarmed.add(sid)
        metrics.BOARD_ALARMS.inc()
        _log.error("a ranked game does not prove its result", day=day, sid=sid, reason=reason)

    async def _length(self, sid: str) -> int:
        async with or_away():
            return int(await self.house.store.redis.llen(keys.log(sid)))

    # -- what others left undone

    async def sweep(self) -> None:
        """Does what a node that died has left undone. Raises `Away`."""
        today = await self.daily.today()
        # However long no node ran: as long as it is known who has started a day.
        for ago in range(STARTS_TTL_S * 1000 // DAY_MS, -1, -1):
            await self._sweep_day(dates.after(today, -ago))
        for what, pid in await self.people.due():
            if what in self.chores:
                await self.chores[what](pid)

    async def _sweep_day(self, day: Day) -> None:
        running = await self._days.running(day)
        deal = await self.daily.find(day) if running else None
        if deal is None:
            return
        async with or_away(), self.house.store.redis.pipeline(transaction=False) as pipe:
            for _, sid in running:
                pipe.llen(keys.log(sid))
            versions = await pipe.execute(raise_on_error=False)
            for answer in versions:
                if isinstance(answer, Exception) and not is_other_type(answer):
                    raise answer
        for (pid, sid), answer in zip(running, versions, strict=True):
            # Whatever lies in place of a log, it must not keep us from the others.
            version = answer if isinstance(answer, int) else sys.maxsize
            # One that has fewer actions than it takes, or has not gone on since, is not over.
            if version < deal.par or self._looked_at.get(sid) == version:
                continue
            try:
                room = await self.house.open(sid)
            except Refused as refused:
                if refused.code != Code.NO_SESSION.value:
                    self._alarm(day, sid, f"cannot be opened: {refused.code}")
                await self._days.finish(day, pid)
                continue
            if room.is_over:
                await self.follow(room)
                self._looked_at.pop(sid, None)
            elif room.version >= version:  # and not one that has yet to hear of what was stored
                self._looked_at[sid] = version

    async def _sweep_on(self) -> None:
        while True:
            try:
                await self.sweep()
            except Away:
                pass
            except Exception:
                _log.exception("sweep failed")
            await asyncio.sleep(self.SWEEP_S)


ALL_TIME_TOPIC: Final = "all-time"


def topic(day: Day) -> str:
    """What is watched to hear of changes of a day's boards."""
    return f"board/{day}"
