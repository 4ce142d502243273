"""The driver: sees to it that no table waits for ever.

For one room with several seats it makes the bots act, ends the turns of the absent-minded, lets a bot take
over from whoever lost the connection and does not come back, and starts a table whose time has come. It acts
only while a player is here: a table whose players are gone stands still, and goes on when one returns. If
none can return, because all have left for good, bots play it out for whoever looks on; with nobody looking it
rests.

Every node that has the room open has a driver for it. They need no lock: what they do goes through the log
like everything else, so of two that do the same thing one comes too late and is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heartroom.games.game import Action, Refused
from heartroom.sessions.log import Deed
from heartroom.sessions.table import HOUSE

if TYPE_CHECKING:
    from heartroom.sessions.room import Caretaker, Room


class Settings(NamedTuple):
    """How a table is played; chosen when it is made, open to all."""

    pace_s: int = 30
    """Seconds for a turn; 0 for no limit."""
    public: bool = False
    """Whether *Play now* may bring others to it."""
    level: str = ""
    """How well its bots play; `""` for the game's best."""
    starts_ms: int | None = None
    """When it starts with whoever sits there (ms since 1970); `None`: when a player says so."""
    ranked: str = ""
    """The board that the session counts for, such as `"daily/2026-11-30"`; `""` for none. A ranked deal is
    sealed until its player starts, and the time runs from there."""


class Driver:
    """See the module. `look` is called after anything has changed."""

    def __init__(self, room: Room, house: Caretaker) -> None:
        self._room: Final = room
        self._house: Final = house
        self._timer: asyncio.TimerHandle | None = None
        self._asked: set[tuple[Any, ...]] = set()
        """What was put in the room's queue at the present version."""
        self._version = -1
        self._thoughts: dict[int, tuple[int, asyncio.Future[Action]]] = {}
        """By seat: the version since which it is to act, and what its bot is going to do."""

    def stop(self) -> None:
        """Nothing more is done."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for _, thought in self._thoughts.values():
            thought.cancel()
        self._thoughts.clear()

    def look(self) -> None:
        """Does what is due and sets the clock for what will be."""
        room = self._room
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if room.version != self._version:
            self._version = room.version
            self._asked.clear()
        if room.is_over or not self._wanted:
            self.stop()
            return
        now_ms = self._house.now_ms
        next_ms: int | None = None
        for at_ms, act in self._plans():
            if at_ms <= now_ms:
                act()
            elif next_ms is None or at_ms < next_ms:
                next_ms = at_ms
        if next_ms is not None:
            self._timer = self._house.later((next_ms - now_ms) / 1000 + 0.001, self.look)

    @property
    def _wanted(self) -> bool:
        """Whether there is somebody for whom the game is to go on."""
        room = self._room
        for seat in range(room.game.seats):  # asked after every action, and nearly always seat 0 says it
            if room.here(seat):
                return True
        return room.table.abandoned and bool(room.viewers)

    def _plans(self) -> list[tuple[int, Callable[[], None]]]:
        """What is to be done, each with its time in ms since 1970."""
        room, table = self._room, self._room.table
        plans: list[tuple[int, Callable[[], None]]] = []
        if not table.started:
            if room.settings.starts_ms is not None:
                plans.append((room.settings.starts_ms, self._start))
            return plans
        for seat in room.game.to_act(room.state):
            if not table.is_human(seat):
                plans.append((room.since_ms[seat] + self._house.bot_delay_ms, self._bot(seat)))
            elif pace_s := self._pace_s(seat):
                allowed_ms = pace_s * 1000 * room.game.patience(room.state)
                plans.append((room.since_ms[seat] + int(allowed_ms), self._time_up(seat)))
        for seat, gone_ms in room.gone_ms.items():
            if table.is_human(seat):
                plans.append((gone_ms + self._house.grace_ms, self._take_over(seat)))
        return plans

    def _pace_s(self, seat: int) -> int:
        """Seconds a turn; 0 for no limit, but for what may be done for anybody there always is one."""
        room = self._room
        if room.settings.pace_s or room.game.unattended(room.state, seat) is None:
            return room.settings.pace_s
        return Settings().pace_s

    def _once(self, *what: Any) -> bool:
        """Whether `what` has not been done at this version yet."""
        if what in self._asked:
            return False
        self._asked.add(what)
        return True

    def _start(self) -> None:
        if self._once("start"):
            self._room.propose(lambda: Deed(HOUSE, 0, ("start",)))

    def _take_over(self, seat: int) -> Callable[[], None]:
        def act() -> None:
            if self._once("away", seat):
                self._room.propose(lambda: self._away(seat))

        return act

    def _away(self, seat: int) -> Deed:
        if self._room.here(seat):  # came back while this waited
            raise Refused("wrong_moment")
        return Deed(HOUSE, 0, ("away", seat))

    def _time_up(self, seat: int) -> Callable[[], None]:
        since = self._room.since[seat]

        def make() -> Deed:
            room = self._room
            waits = seat in room.game.to_act(room.state) and room.table.is_human(seat)
            if not waits or room.since[seat] != since:
                raise Refused("wrong_moment")
            instead = room.game.unattended(room.state, seat)
            return Deed(HOUSE, 0, ("away", seat)) if instead is None else Deed(seat, 0, instead)

        def act() -> None:
            if self._once("time", seat):
                self._room.propose(make)

        return act

    def _bot(self, seat: int) -> Callable[[], None]:
        room = self._room
        since = room.since[seat]
        thought = self._thoughts.get(seat)
        if thought is None or thought[0] != since:
            # Begun at once and shown when it is due: how long a bot thinks must not tell what it holds.
            view = room.game.view(room.state, room.game.perspective(seat))
            future: asyncio.Future[Action] = asyncio.ensure_future(
                self._house.think(room.game, room.level, view, seat, room.luck)
            )
            future.add_done_callback(lambda _: self.look())
            thought = self._thoughts[seat] = (since, future)
        decided = thought[1]

        def make() -> Deed:
            waits = seat in room.game.to_act(room.state) and not room.table.is_human(seat)
            if not waits or room.since[seat] != since:
                raise Refused("wrong_moment")
            return Deed(seat, 0, decided.result())

        def act() -> None:
            if decided.done() and not decided.cancelled() and self._once("bot", seat):
                room.propose(make)

        return act
