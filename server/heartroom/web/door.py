"""Coming and going at a pace: however many come or go at once, those who play are served in between.

A connection costs the most when it is made: the handshake, who it is, what it joins. Thousands at a time
would take the event loop for seconds. Those who wait are in the operating system's queue, which has room.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections import deque
from collections.abc import Callable
from typing import Final
from weakref import WeakKeyDictionary

import structlog

_log = structlog.get_logger(__name__)

_TOGETHER: Final = 4
"""Connections taken up in one turn of the event loop."""
_FULL_S: Final = 1.0
"""How long nobody is let in after there was no room."""
_NO_ROOM: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

_LEAVING_TOGETHER: Final = 10
_LEAVING_PAUSE_S: Final = 0.004
_LEAVING_SHARE: Final = 200
"""Of those who wait to be gone this part goes at a time, if that is more: however many, it takes seconds."""


class Door:
    """Takes up connections to `listening`, at most `per_second`; `make` makes the protocol of each."""

    def __init__(
        self, listening: socket.socket, make: Callable[[], asyncio.Protocol], per_second: int
    ) -> None:
        self._loop: Final = asyncio.get_running_loop()
        self._listening: Final = listening
        self._make: Final = make
        self._each_s: Final = 1.0 / per_second
        self._next_s = 0.0
        """When the next one may come in."""
        self._later: asyncio.TimerHandle | None = None
        self._coming: Final[set[asyncio.Task[object]]] = set()
        self._open = True
        listening.setblocking(False)
        self._loop.add_reader(listening, self._knocked)

    def close(self) -> None:
        """Lets nobody in any more."""
        if self._open:
            self._open = False
            self._shut()
            if self._later is not None:
                self._later.cancel()

    async def wait_closed(self) -> None:
        """Returns when nobody is between the door and the house."""
        while self._coming:
            await asyncio.wait(self._coming)

    def _shut(self) -> None:
        self._loop.remove_reader(self._listening)

    def _again(self) -> None:
        self._later = None
        self._loop.add_reader(self._listening, self._knocked)

    def _knocked(self) -> None:
        now = self._loop.time()
        self._next_s = max(self._next_s, now - _TOGETHER * self._each_s)
        for _ in range(_TOGETHER):
            if self._next_s > now:
                return self._wait(self._next_s - now)
            try:
                connection, _ = self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return None  # another worker was faster, or the client has gone again
            except OSError as error:
                if error.errno not in _NO_ROOM:
                    raise
                _log.warning("no room for connections", reason=error.strerror)
                return self._wait(_FULL_S)
            self._next_s += self._each_s
            connection.setblocking(False)
            task = self._loop.create_task(self._let_in(connection))
            self._coming.add(task)
            task.add_done_callback(self._coming.discard)
        return None

    def _wait(self, for_s: float) -> None:
        self._shut()
        self._later = self._loop.call_later(for_s, self._again)

    async def _let_in(self, connection: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(self._make, connection)
        except OSError:  # gone before it was in
            connection.close()


class _Exit:
    """Those who have gone and are to be forgotten. A few at once are so at once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop: Final = loop
        self._waiting: Final[deque[Callable[[], None]]] = deque()
        self._just_now = 0
        self._draining = False

    def leave(self, forget: Callable[[], None]) -> None:
        if self._draining or self._just_now >= _LEAVING_TOGETHER:
            self._waiting.append(forget)
            if not self._draining:
                self._draining = True
                self._loop.call_later(_LEAVING_PAUSE_S, self._drain)
            return
        if not self._just_now:
            self._loop.call_soon(self._turned)
        self._just_now += 1
        forget()

    def _turned(self) -> None:
        self._just_now = 0

    def _drain(self) -> None:
        for _ in range(min(len(self._waiting), max(_LEAVING_TOGETHER, len(self._waiting) // _LEAVING_SHARE))):
            try:
                self._waiting.popleft()()
            except Exception:  # a fault in one must not keep the others
                _log.exception("a connection could not be forgotten")
        self._draining = bool(self._waiting)
        if self._draining:
            self._loop.call_later(_LEAVING_PAUSE_S, self._drain)


_exits: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, _Exit]] = WeakKeyDictionary()


def leave(loop: asyncio.AbstractEventLoop, forget: Callable[[], None]) -> None:
    """Calls `forget` for a connection that has gone: now, or when its turn comes if very many have."""
    found = _exits.get(loop)
    if found is None:
        found = _exits[loop] = _Exit(loop)
    found.leave(forget)
