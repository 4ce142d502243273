"""What goes over one of redis-py's connections without its streams.

redis-py connects: addresses, TLS, passwords and the like are its own. But each answer then passes through a
stream, a parser and four coroutines, which is more than all else there is to a small batch of commits. Here a
protocol takes the place of the stream, and hands what was answered to whoever waits.

redis-py has no public way to its transport. Where it is not found as we know it, there is no wire, and who
wanted one goes through redis-py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, Self

import hiredis
from redis import exceptions
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import InvalidResponse, RedisError, ResponseError

_MORE: Final = object()
"""What the reader returns as long as an answer is not whole."""

Done = Callable[[RedisError | None], None]
"""Told that all is answered; or why nothing more will be."""


class Wire(asyncio.Protocol):
    """One connection, on which one asks at a time. It is never given back: after any failure it is closed."""

    def __init__(
        self,
        transport: asyncio.Transport,
        before: asyncio.BaseProtocol,
        parse_error: Callable[[str], Exception],
    ) -> None:
        """`before`: redis-py's protocol, which must hear that the connection is lost. `parse_error`: makes an
        exception of an error that was answered."""
        self._transport: Final = transport
        self._before: Final = before
        self._reader: Final = hiredis.Reader(
            protocolError=InvalidResponse, replyError=parse_error, notEnoughData=_MORE
        )
        self._done: Done | None = None
        """Who is told, if somebody has asked."""
        self._answers: list[Any] = []
        self._left = 0
        """Answers that are still to come."""
        self._next: asyncio.Future[None] | None = None
        """Who asks after that."""
        self._patience_s = 0.0
        self._begun_s = 0.0
        self._watch: asyncio.TimerHandle | None = None
        self._lost = False

    @classmethod
    def on(cls, connection: AbstractConnection) -> Self | None:
        """A wire in place of a connection's stream, which must be connected and have nothing to read; `None`
        if there is no way to it."""
        try:
            transport: Any = connection._writer.transport  # type: ignore[union-attr]
            wire = cls(transport, transport.get_protocol(), connection._parser.parse_error)
        except AttributeError:
            return None
        transport.set_protocol(wire)
        return wire

    @property
    def open(self) -> bool:
        """Whether it is good for anything: uvloop refuses to write to what has just been closed."""
        return not self._lost and not self._transport.is_closing()

    @property
    def idle(self) -> bool:
        """Whether one may ask."""
        return self._done is None and self.open

    def begin(self, packed: bytes, count: int, answers: list[Any], done: Done, patience_s: float = 0) -> None:
        """Writes commands; only when `idle`. Their `count` answers are appended to `answers`, as they come,
        errors too, as `ResponseError`. Then `done` is called. What else may happen it is told:
        `ConnectionError`; `TimeoutError` if it takes longer than `patience_s` (0: others mind that); and any
        `RedisError` that is no mere answer (the server is still loading)."""
        self._transport.write(packed)
        self._answers, self._left, self._done = answers, count, done
        if patience_s:
            # One timer for a long row of questions: when its time comes, it looks at the one under way.
            loop = asyncio.get_running_loop()
            self._patience_s, self._begun_s = patience_s, loop.time()
            if self._watch is None:
                self._watch = loop.call_later(patience_s, self._look)

    async def ask(self, packed: bytes, count: int, answers: list[Any]) -> None:
        """The same for one who waits: returns when `done` would be called, and raises what it would be told.
        Not for two at a time, but whatever was begun before is waited for."""
        loop = asyncio.get_running_loop()
        while self._done is not None:
            self._next = loop.create_future()
            await self._next
        if not self.open:
            raise exceptions.ConnectionError("the connection was closed")
        waiting: asyncio.Future[None] = loop.create_future()

        def done(error: RedisError | None) -> None:
            if waiting.done():  # cancelled, and who waited has not come round to hear of it
                return
            if error is None:
                waiting.set_result(None)
            else:
                waiting.set_exception(error)

        self.begin(packed, count, answers, done)
        try:
            await waiting
        except BaseException:  # cancelled, too: what is answered later must be nobody's
            if self._done in (done, None):  # nobody else has begun anything meanwhile
                self._give_up(exceptions.ConnectionError("nobody waits for it any more"))
            raise

    def data_received(self, data: bytes) -> None:
        """The server has answered."""
        reader = self._reader
        reader.feed(data)
        try:
            while (answer := reader.gets()) is not _MORE:
                if isinstance(answer, hiredis.PushNotification):
                    continue
                if self._done is None:
                    raise InvalidResponse("an answer to nothing")
                if isinstance(answer, RedisError) and not isinstance(answer, ResponseError):
                    raise answer
                self._answers.append(answer)
                self._left -= 1
                if not self._left:
                    self._finish(None)
        except RedisError as error:
            self._give_up(error)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed, by whomever."""
        self._give_up(exceptions.ConnectionError(f"the connection was lost: {exc or 'closed by the server'}"))
        self._before.connection_lost(exc)

    def _look(self) -> None:
        self._watch = None
        if self._done is None or not self._patience_s:
            return
        loop = asyncio.get_running_loop()
        left_s = self._begun_s + self._patience_s - loop.time()
        if left_s > 0:
            self._watch = loop.call_later(left_s, self._look)
        else:
            self._give_up(exceptions.TimeoutError("no answer in time"))

    def _give_up(self, error: RedisError) -> None:
        self._lost = True
        if self._watch is not None:
            self._watch.cancel()
        self._finish(error)
        self._transport.abort()

    def _finish(self, error: RedisError | None) -> None:
        done, self._done = self._done, None
        self._patience_s = 0.0
        if done is not None:
            done(error)
        following, self._next = self._next, None
        if following is not None and not following.done():
            following.set_result(None)
