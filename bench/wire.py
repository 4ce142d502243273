"""A websocket client as cheap as it gets in Python, so that the load generator is not what is measured.

The handshake and what is sent are made by the websockets library; what comes in, most of the traffic, is
cut into frames by hand: whole, unfragmented, unmasked frames are all that a server of ours sends.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, Self, cast

import msgspec
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.uri import parse_uri

from heartroom.client import SUBPROTOCOL

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode

_BINARY: Final = 0x82
_PING: Final = 0x89
_CLOSE: Final = 0x88


class Closed(Exception):
    """The connection is gone, or never came to be."""


class Peer(asyncio.Protocol):
    """One connection. A subclass may override `message`; `next` waits for a kind of message."""

    def __init__(self, uri: str) -> None:
        self._handshake: ClientProtocol | None = ClientProtocol(parse_uri(uri), subprotocols=[SUBPROTOCOL])
        self._rest = b""
        self._awaited: dict[int, asyncio.Future[list[Any]]] = {}
        self._transport: asyncio.Transport | None = None
        self._open: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.closed = False
        self.sizes: dict[int, int] = {}
        """Bytes of the latest message of each kind, framing included."""

    @classmethod
    async def connect(cls, host: str, port: int, *args: Any) -> Self:
        """A connection after the handshake. Raises `Closed` or `OSError`."""
        loop = asyncio.get_running_loop()
        _, peer = await loop.create_connection(lambda: cls(f"ws://{host}:{port}/ws", *args), host, port)
        await peer._open
        return peer

    # -- what it does

    def send(self, message: list[Any]) -> None:
        """Sends one message, masked with fresh bytes as the standard wants."""
        assert self._transport is not None
        self._transport.write(Frame(Opcode.BINARY, _encode(message)).serialize(mask=True))

    def next(self, kind: int) -> asyncio.Future[list[Any]]:
        """The next message of this kind, or `Closed`."""
        future: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        if self.closed:
            future.set_exception(Closed("closed before"))
        else:
            self._awaited[kind] = future
        return future

    def message(self, message: list[Any], size: int) -> None:
        """A message has come, in a frame of `size` bytes."""

    def abort(self) -> None:
        """Drops the connection."""
        if self._transport is not None:
            self._transport.abort()

    # -- asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Asks for the upgrade."""
        self._transport = cast(asyncio.Transport, transport)
        assert self._handshake is not None
        self._handshake.send_request(self._handshake.connect())
        self._transport.write(b"".join(self._handshake.data_to_send()))

    def connection_lost(self, exc: Exception | None) -> None:
        """Whoever waits need not wait any longer."""
        self.closed = True
        waiting: list[asyncio.Future[Any]] = [self._open, *self._awaited.values()]
        for future in waiting:
            if not future.done():
                future.set_exception(Closed(str(exc or "closed by the server")))

    def data_received(self, data: bytes) -> None:
        """Cuts what has come into messages."""
        data = self._rest + data
        if self._handshake is not None:
            head, found, tail = data.partition(b"\r\n\r\n")
            if not found:
                self._rest = data
                return
            self._upgraded(self._handshake, head + found)
            data = tail
        at, end = 0, len(data)
        while end - at >= 2:
            start = at + 2
            length = data[at + 1]
            if length >= 126:
                start += 2 if length == 126 else 8
                if start > end:
                    break
                length = int.from_bytes(data[at + 2 : start])
            stop = start + length
            if stop > end:
                break
            self._frame(data[at], data[start:stop], stop - at)
            at = stop
        self._rest = data[at:]

    # -- inside

    def _upgraded(self, handshake: ClientProtocol, head: bytes) -> None:
        handshake.receive_data(head)
        events = handshake.events_received()
        self._handshake = None
        if events and isinstance(events[0], Response) and handshake.handshake_exc is None:
            self._open.set_result(None)
        else:
            self._open.set_exception(Closed(f"no upgrade: {handshake.handshake_exc}"))
            self.abort()

    def _frame(self, first: int, payload: bytes, size: int) -> None:
        if first == _BINARY:
            message: list[Any] = _decode(payload)
            self.sizes[message[0]] = size
            if (waiting := self._awaited.pop(message[0], None)) is not None and not waiting.done():
                waiting.set_result(message)
            self.message(message, size)
        elif first == _PING:
            assert self._transport is not None
            self._transport.write(Frame(Opcode.PONG, payload).serialize(mask=True))
        elif first != _CLOSE:
            raise AssertionError(f"a frame that no heartroom sends: {first:#x}")
