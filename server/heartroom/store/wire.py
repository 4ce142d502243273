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
        self._waiting: asyncio.Future[None] | None = None
        self._answers: list[Any] = []
        self._left = 0
        """Answers that are still to come."""
        self.open = True

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

    async def ask(self, packed: bytes, count: int, answers: list[Any]) -> None:
        """Writes commands and appends their `count` answers to `answers`, as they come; errors that are
        answered are appended as `ResponseError`.

        Raises `ConnectionError`; and any `RedisError` that is no mere answer (the server is still loading).
        """
        if not self.open:
            raise exceptions.ConnectionError("the connection was closed")
        self._answers, self._left = answers, count
        self._waiting = asyncio.get_running_loop().create_future()
        self._transport.write(packed)
        try:
            await self._waiting
        except BaseException:  # cancelled, too: what is answered later must be nobody's
            self._give_up()
            raise

    def data_received(self, data: bytes) -> None:
        """The server has answered."""
        reader = self._reader
        reader.feed(data)
        try:
            while (answer := reader.gets()) is not _MORE:
                if isinstance(answer, hiredis.PushNotification):
                    continue
                if self._waiting is None:
                    raise InvalidResponse("an answer to nothing")
                if isinstance(answer, RedisError) and not isinstance(answer, ResponseError):
                    raise answer
                self._answers.append(answer)
                self._left -= 1
                if not self._left:
                    waiting, self._waiting = self._waiting, None
                    if not waiting.done():  # cancelled, and who waited has not come round to hear of it
                        waiting.set_result(None)
        except RedisError as error:
            self._give_up(error)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed, by whomever."""
        self._give_up(exceptions.ConnectionError(f"the connection was lost: {exc or 'closed by the server'}"))
        self._before.connection_lost(exc)

    def _give_up(self, error: RedisError | None = None) -> None:
        self.open = False
        waiting, self._waiting = self._waiting, None
        if waiting is not None and error is not None and not waiting.done():
            waiting.set_exception(error)
        self._transport.abort()
