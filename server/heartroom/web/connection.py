"""One client's connection: reads its messages, in order, and hands them to the house.

Knows no socket (an `Outlet` sends) and no web framework.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final

import structlog

from heartroom import metrics
from heartroom.daily import dates
from heartroom.games.game import Refused
from heartroom.protocol import inbound, outbound
from heartroom.protocol.codes import Close, Code
from heartroom.protocol.inbound import (
    Act,
    Inbound,
    Join,
    Leave,
    Name,
    New,
    Ping,
    Quick,
    Sit,
    Stand,
    Start,
    TableOptions,
    Unreadable,
    Watch,
)
from heartroom.sessions.house import House
from heartroom.sessions.room import Room
from heartroom.sessions.viewer import Outlet, Viewer
from heartroom.store.store import Away
from heartroom.web.identity import pseudonym

TOPIC: Final = re.compile(r"live|daily|all-time|board/(?P<day>\d{4}-\d\d-\d\d)", re.ASCII)
"""What can be watched, where `day` is one."""

_log = structlog.get_logger(__name__)
_now_s = time.monotonic


class Allowance:
    """How much a connection may send: so many frames at once, refilled at a steady rate."""

    __slots__ = ("_at", "_burst", "_left", "_per_second")

    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second = per_second
        self._burst = burst
        self._left = burst
        self._at = _now_s()

    def take(self) -> float:
        """Takes one frame; returns what is left. Below 0 it was not there; it goes on falling with each
        further frame, down to how badly the sender overdoes it."""
        now = _now_s()
        left = self._left + (now - self._at) * self._per_second
        self._left = left = (left if left < self._burst else self._burst) - 1
        self._at = now
        return left


class Connection:
    """See the module. `hang_up(code)` closes the socket."""

    FLOOD: Final = 10
    """A client that is over its allowance by this many bursts is not listening to *too_fast*."""
    WAITING: Final = 256
    """Messages that may wait behind one that waits for the store."""
    RETRY_S: Final = (0.1, 2.0)

    __slots__ = (
        *("_allowance", "_closed", "_cut_off", "_floor", "_hang_up", "_house", "_outlet", "_room", "_task"),
        *("_slow_down", "_viewer", "_waiting"),
    )

    def __init__(
        self,
        house: House,
        outlet: Outlet,
        pid: str,
        allowance: tuple[int, int],
        hang_up: Callable[[Close], None],
        slow_down: Callable[[], None] = lambda: None,
    ) -> None:
        """`allowance`: frames per second and at once. `slow_down`: called for each frame beyond it."""
        self._house = house
        self._outlet = outlet
        self._viewer = Viewer(outlet, pid)
        self._room: Room | None = None
        self._allowance = Allowance(*allowance)
        self._floor = -float(allowance[1] * self.FLOOD)
        self._hang_up = hang_up
        self._slow_down = slow_down
        self._waiting: deque[Inbound] = deque()
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._cut_off = False

    # -- from the socket

    def opened(self) -> None:
        """The handshake is done."""
        metrics.CONNECTIONS.inc()
        self._house.lobby.add(self._viewer)
        self._tell_away()
        self._wait_for(self._welcome())

    def received(self, data: bytes, binary: bool) -> None:
        """One message has come."""
        if self._cut_off:
            return
        left = self._allowance.take()
        if left < 0:
            self._slow_down()
        try:
            if not binary:
                raise Unreadable(Code.MALFORMED)
            message = inbound.decode(data)
        except Unreadable as unreadable:
            if left < self._floor:
                self._cut()
            elif left >= 0 or -left % 50 < 1:  # a flood is not answered frame by frame
                self._refuse(unreadable.ref, unreadable.code)
            return
        if left < 0:
            self._too_fast(message, left)
        elif type(message) is Ping:
            self._viewer.tell(outbound.pong(message.number))
        elif self._task is not None:
            if len(self._waiting) < self.WAITING:
                self._waiting.append(message)
            else:
                self._too_fast(message, left)
        else:
            self._handle(message)

    def counted(self) -> None:
        """A frame has come that is no message: a part of one, or one of the websocket's own."""
        if self._cut_off:
            return
        left = self._allowance.take()
        if left < 0:
            self._slow_down()
        if left < self._floor:
            self._cut()
        elif left < 0 and -left % 50 < 1:
            self._refuse(None, Code.TOO_FAST.value)

    def drained(self) -> None:
        """The socket has room again."""
        if self._room is not None:
            self._room.drained(self._viewer)

    def closed(self) -> None:
        """The socket is gone. What was sent is still done."""
        metrics.CONNECTIONS.dec()
        self._closed = True
        self._waiting.clear()
        self._house.topics.watch(self._outlet, None)
        if self._task is not None:
            self._task.cancel()
        self._leave()
        self._house.lobby.discard(self._viewer)

    # -- inside

    def _refuse(self, ref: int | None, code: str) -> None:
        self._viewer.tell(outbound.error(Code(code)) if ref is None else outbound.reject(ref, str(code)))

    def _too_fast(self, message: Inbound, left: float) -> None:
        if left < self._floor:
            self._cut()
            return
        ref = getattr(message, "ref", None)
        # who asked something with a number waits for its answer; else a flood is not answered frame by frame
        if ref is not None or left >= 0 or -left % 50 < 1:
            self._refuse(ref, Code.TOO_FAST.value)

    def _cut(self) -> None:
        self._cut_off = True
        metrics.REFUSALS.labels("flood").inc()
        _log.info("cut off for flooding", pid=self._viewer.pid)
        self._hang_up(Close.FLOOD)

    def _handle(self, message: Inbound) -> None:
        if type(message) is Act:
            if self._room is None:
                self._refuse(message.ref, Code.NOT_JOINED.value)
            else:
                self._room.act(self._viewer, message.ref, message.base, message.action)
        elif type(message) is Join:
            self._wait_for(self._join(message))
        elif type(message) is New:
            self._wait_for(self._new(message))
        elif type(message) is Name:
            self._wait_for(self._name(message))
        elif type(message) is Quick:
            self._wait_for(self._quick(message))
        elif type(message) is Watch:
            self._watch(message)
        elif type(message) is Leave:
            self._leave()
        elif isinstance(message, Sit | Stand | Start):
            self._at_table(message)

    def _at_table(self, message: Sit | Stand | Start) -> None:
        if self._room is None:
            self._refuse(message.ref, Code.NOT_JOINED.value)
        elif isinstance(message, Sit):
            self._room.sit(self._viewer, message.ref, message.seat)
        elif isinstance(message, Stand):
            self._room.stand(self._viewer, message.ref)
        else:
            self._room.start(self._viewer, message.ref)

    def _wait_for(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Does `coroutine` before any further message is looked at."""
        self._task = asyncio.get_running_loop().create_task(coroutine)
        self._task.add_done_callback(self._waited)

    def _waited(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if self._closed or task.cancelled():
            return
        if (error := task.exception()) is not None:
            _log.error("request failed", exc_info=error)
            self._hang_up(Close.SERVER_ERROR)
            return
        while self._waiting and self._task is None:
            self._handle(self._waiting.popleft())

    async def _patiently(self, ask: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """What `ask` returns, as soon as the store answers; says so while it does not."""
        pause = self.RETRY_S[0]
        try:
            while True:
                try:
                    return await ask()
                except Away:
                    self._viewer.waits = True
                    self._tell_away()
                await asyncio.sleep(pause)
                pause = min(pause * 2, self.RETRY_S[1])
        finally:
            if self._viewer.waits:
                self._viewer.waits = False
                self._tell_away()

    def _tell_away(self) -> None:
        away = self._house.is_away() if self._room is None else self._room.is_away
        self._viewer.tell_away(away)

    async def _welcome(self) -> None:
        pid = self._viewer.pid
        name, sessions = await self._patiently(lambda: self._house.store.player(pid))
        self._outlet.send(outbound.welcome(pseudonym(pid), name, sessions))

    async def _join(self, message: Join) -> None:
        asked = message.session, self._viewer.pid, message.epoch, message.version
        try:
            room: Room = await self._patiently(lambda: self._house.enter(*asked))
        except Refused as refused:
            self._refuse(None, refused.code)
            return
        # No pause between finding the room and being in it, or it might close under us.
        self._leave()
        self._room = room
        self._house.lobby.discard(self._viewer)
        room.attach(self._viewer, message.epoch, message.version)

    async def _new(self, message: New) -> None:
        table = message.table or TableOptions()
        await self._create(
            message.ref,
            self._house.create(
                self._viewer.pid,
                message.game,
                message.options,
                pace_s=table.pace,
                public=table.public,
                level=table.level,
            ),
        )

    async def _quick(self, message: Quick) -> None:
        await self._create(message.ref, self._house.quick(self._viewer.pid, message.game))

    async def _create(self, ref: int, creating: Coroutine[Any, Any, str]) -> None:
        try:
            sid = await creating
        except Refused as refused:
            self._refuse(ref, refused.code)
        except Away:
            self._refuse(ref, Code.UNAVAILABLE.value)
        else:
            self._viewer.tell(outbound.created(ref, sid))

    async def _name(self, message: Name) -> None:
        try:
            await self._house.rename(self._viewer.pid, message.name)
        except Refused as refused:
            self._refuse(message.ref, refused.code)
        except Away:
            self._refuse(message.ref, Code.UNAVAILABLE.value)
        else:
            await self._welcome()

    def _watch(self, message: Watch) -> None:
        if message.topic is None or _is_topic(message.topic):
            self._house.topics.watch(self._outlet, message.topic)
        else:
            self._refuse(None, Code.MALFORMED.value)

    def _leave(self) -> None:
        if self._room is not None:
            self._room.detach(self._viewer)
            self._room = None
            self._house.lobby.add(self._viewer)
            self._tell_away()


def _is_topic(text: str) -> bool:
    topic = TOPIC.fullmatch(text)
    return topic is not None and (topic["day"] is None or dates.parse(topic["day"]) is not None)
