"""The daily deal on this node: sees to it that there is one, begins ranked attempts, and lets nobody see a
deal whose day is not over who has not finished with it.

Only days are told by `clock`; whatever is measured has the store's time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple

import structlog

from heartroom.daily import dates, maker
from heartroom.daily.dates import Day
from heartroom.games.game import DailyGame, Game, Refused, Setup, games
from heartroom.protocol.codes import Code
from heartroom.sessions.driver import Settings
from heartroom.sessions.house import House
from heartroom.sessions.room import Room
from heartroom.store.days import Days, Deal, Standing
from heartroom.store.store import Away
from heartroom.tasks import end

_log = structlog.get_logger(__name__)

_RANKED: Final = "daily/"

Clock = Callable[[], Awaitable[int]]
"""The time, ms since 1970. Raises `Away`."""


class Sight(NamedTuple):
    """What a player has to do with a day, and may know of it."""

    day: Day
    today: Day
    ends_in_ms: int
    """Until the day is over; 0 once it is."""
    session: str | None
    """The player's ranked attempt, if it was started."""
    running: bool
    """Whether that is still to be finished and can be."""
    open: bool
    """Whether the player may see the deal elsewhere than in that attempt, and its par."""

    @property
    def over(self) -> bool:
        """Whether the day is over."""
        return self.day < self.today


def board_of(day: Day) -> str:
    """What the ranked sessions of a day are marked with (`driver.Settings.ranked`)."""
    return _RANKED + day


def day_of_board(ranked: str) -> Day | None:
    """The day in such a mark, or `None`."""
    return dates.parse(ranked.removeprefix(_RANKED)) if ranked.startswith(_RANKED) else None


def counts_until_ms(day: Day) -> int:
    """Until when an attempt of that day must be finished to count: the end of the day after."""
    return dates.end_ms(dates.after(day))


class Daily:
    """One a node. `start` it, and `aclose` it before the house."""

    LOOK_S: Final = 600.0
    """How often it is seen to that the deals of today and tomorrow exist."""
    WAIT_S: Final = 0.5
    """Between two looks for a deal that another node is making."""

    def __init__(self, house: House, clock: Clock | None = None) -> None:
        """`clock` is for tests, which cannot wait for midnight."""
        self.house: Final = house
        self.days: Final = Days(house.store)
        self.clock: Clock = clock or house.store.time_ms
        self.game: Final = next(game for game in games().values() if isinstance(game, DailyGame))
        self._known: dict[Day, Deal] = {}
        """Deals that were read. They never change."""
        self._making: dict[Day, asyncio.Task[Deal]] = {}
        self._keeper: asyncio.Task[None] | None = None
        house.guards.append(self.guard)
        house.dealers.append(self.dealer)

    def start(self) -> None:
        """Begins to keep deals ready."""
        self._keeper = asyncio.get_running_loop().create_task(self._keep())

    async def aclose(self) -> None:
        """Ends what is under way."""
        await end([*self._making.values(), self._keeper])

    # -- for players

    async def today(self) -> Day:
        """The day it is. Raises `Away`."""
        return dates.of(await self.clock())

    async def sight(self, day: Day, pid: str) -> Sight:
        """What the player `pid` (`""`: nobody we know) may know of a day. Raises `Away`."""
        now_ms, standing = await asyncio.gather(self.clock(), self.days.standing(day, pid))
        return self.judge(day, now_ms, standing)

    def judge(self, day: Day, now_ms: int, standing: Standing) -> Sight:
        """`sight`, from what it depends on."""
        over = now_ms >= dates.end_ms(day)
        running = standing.running and not standing.entered and now_ms < counts_until_ms(day)
        finished = standing.session is not None and (standing.entered or not standing.running)
        return Sight(
            day=day,
            today=dates.of(now_ms),
            ends_in_ms=max(0, dates.end_ms(day) - now_ms),
            session=standing.session,
            running=running,
            # Whoever is still at it must not get help from the others, who may talk once the day is over.
            open=finished or (over and not running),
        )

    async def begin(self, pid: str) -> str:
        """The session of a player's ranked attempt of today, begun if it is the first time that anybody asks
        for it; it is unsealed by joining it.

        Raises `Refused` (`game_over` where it has been removed) and `Away`.
        """
        now_ms = await self.clock()
        day = dates.of(now_ms)
        deal = await self.deal(day)
        sid = await self.days.start(day, pid, self.house.fresh_sid(), now_ms)
        try:
            await self.house.open(sid)
        except Refused as refused:
            if refused.code == Code.UNREADABLE.value:
                return sid  # the one attempt there is; who joins it is told
            # It is new, or whoever began it died half way; or it is closed, and gone with its player's data.
            if not (await self.days.standing(day, pid)).running:
                raise Refused(Code.GAME_OVER.value) from None
            settings = Settings(ranked=board_of(day))._asdict()
            await self.house.found(pid, self.game, self._setup(deal), settings, sid)
        return sid

    async def deal(self, day: Day) -> Deal:
        """The deal of a day, made if need be. Raises `Away`, and what befalls the maker."""
        deal = await self.find(day)
        if deal is not None:
            return deal
        task = self._making.get(day)
        if task is None:
            task = self._making[day] = asyncio.get_running_loop().create_task(self._make(day))
            task.add_done_callback(lambda _: self._making.pop(day, None))
        return await asyncio.shield(task)

    async def find(self, day: Day) -> Deal | None:
        """The deal of a day, if there is one. Raises `Away`."""
        if day not in self._known:
            deal = await self.days.get(day)
            if deal is None:
                return None
            self._known[day] = deal
        return self._known[day]

    def code(self, day: Day) -> str:
        """What the deal of a day is called."""
        return self.game.daily_code(day.replace("-", ""))

    def day_of(self, room: Room) -> Day | None:
        """The day whose deal is played in a room; `None` for any other game."""
        return self.day_in(room.game, room.setup.options)

    def day_in(self, game: Game, options: Mapping[str, Any]) -> Day | None:
        """The day whose deal these options mean, or `None`."""
        digits = self.game.daily_day(options.get("code")) if game.name == self.game.name else None
        return digits and dates.parse(digits)

    # -- for the house

    async def guard(self, room: Room, pid: str) -> None:
        """Lets nobody see the deal of a day who may not. Raises `Refused`, `Away`."""
        day = self.day_of(room)
        if day is None:
            return
        if room.settings.ranked and room.table.seat_of(pid) is not None:
            if not room.table.started and await self.clock() >= counts_until_ms(day):
                raise Refused(Code.WRONG_MOMENT.value)  # begun and never looked at; too late for that
            return
        if not (await self.sight(day, pid)).open:
            raise Refused(Code.SEALED.value)

    async def dealer(self, pid: str, game: Game, raw: Mapping[str, Any]) -> Setup | None:
        """The setup to practise the deal of a day. Raises `Refused`, `Away`."""
        day = self.day_in(game, raw)
        if day is None or raw.keys() != {"code"}:
            return None
        if not (await self.sight(day, pid)).open:
            raise Refused(Code.SEALED.value)
        deal = await self.find(day)
        if deal is None or deal.rules != game.rules_version:
            raise Refused(Code.NO_DAY.value)
        return self._setup(deal)

    # -- making deals

    async def look(self) -> None:
        """Sees to it that the deals of today and tomorrow exist. Raises as `deal`."""
        today = await self.today()
        for day in (today, dates.after(today)):
            await self.deal(day)

    def _setup(self, deal: Deal) -> Setup:
        return Setup({"code": self.code(deal.day)}, deal.deal)

    async def _make(self, day: Day) -> Deal:
        while True:
            deal = await self.find(day)
            if deal is not None:
                return deal
            if await self.days.may_make(day):
                puzzle = await maker.make(self.game)
                game, rules = self.game.name, self.game.rules_version
                await self.days.put(Deal(day, game, rules, puzzle.deal, puzzle.par, puzzle.line))
            else:
                await asyncio.sleep(self.WAIT_S)

    async def _keep(self) -> None:
        pause = self.LOOK_S
        today = ""
        while True:
            try:
                now_ms = await self.clock()
                if dates.of(now_ms) != today:
                    today = dates.of(now_ms)
                    self.house.topics.changed("daily")
                await self.look()
                pause = min(self.LOOK_S, (dates.end_ms(today) - now_ms) / 1000 + 0.05)
            except Away:
                pause = 2.0
            except Exception:
                _log.exception("no deal of the day could be made")
                pause = 10.0
            await asyncio.sleep(pause)
