"""A websocket client as cheap as it gets in Python, so that the load generator is not what is measured.

The handshake and what is sent are made by the websockets library; what comes in, most of the traffic, is
cut into frames by hand: whole, unfragmented, unmasked frames are all that the servers measured here send.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import Any, Final, Self, cast

import msgspec
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from heartroom.client import SUBPROTOCOL

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode

_BINARY: Final = 0x82
_TEXT: Final = 0x81
_PING: Final = 0x89
_CLOSE: Final = 0x88

_PER_ADDRESS: Final = 10_000
"""Connections from one address of the loopback: it has 28,000 ports, and gets slow to find a free one."""
_connections = itertools.count()


class Closed(Exception):
    """The connection is gone, or never came to be."""


class Link(asyncio.Protocol):
    """One connection. A subclass says in `received` what comes of a frame."""

    def __init__(self, uri: str, *subprotocols: Subprotocol) -> None:
        self._handshake: ClientProtocol | None = ClientProtocol(
            parse_uri(uri), subprotocols=list(subprotocols) or None
        )
        self._rest = b""
        self._transport: asyncio.Transport | None = None
        self.open: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done after the handshake; `Closed` if there comes none."""
        self.closed = False

    # -- what it does

    def write(self, opcode: Opcode, payload: bytes) -> None:
        """Sends one frame, masked with fresh bytes as the standard wants."""
        assert self._transport is not None
        self._transport.write(Frame(opcode, payload).serialize(mask=True))

    def received(self, payload: bytes, size: int) -> None:
        """A frame with data has come, of `size` bytes with its head."""

    def lost(self, error: Closed) -> None:
        """The connection is gone."""

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
        error = Closed(str(exc or "closed by the server"))
        if not self.open.done():
            self.open.set_exception(error)
        self.lost(error)

    def data_received(self, data: bytes) -> None:
        """Cuts what has come into frames."""
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
            self.open.set_result(None)
        else:
            self.open.set_exception(Closed(f"no upgrade: {handshake.handshake_exc}"))
            self.abort()

    def _frame(self, first: int, payload: bytes, size: int) -> None:
        if first in (_BINARY, _TEXT):
            self.received(payload, size)
        elif first == _PING:
            self.write(Opcode.PONG, payload)
        elif first != _CLOSE:
            raise AssertionError(f"a frame that no server here sends: {first:#x}")


class Peer(Link):
    """A connection to heartroom. A subclass may override `message`; `next` waits for a kind of message."""

    def __init__(self, uri: str) -> None:
        super().__init__(uri, SUBPROTOCOL)
        self._awaited: dict[int, asyncio.Future[list[Any]]] = {}
        self.sizes: dict[int, int] = {}
        """Bytes of the latest message of each kind, framing included."""

    @classmethod
    async def connect(cls, host: str, port: int, *args: Any) -> Self:
        """A connection after the handshake. Raises `Closed` or `OSError`."""
        loop = asyncio.get_running_loop()
        number = next(_connections) // _PER_ADDRESS
        _, peer = await loop.create_connection(
            lambda: cls(f"ws://{host}:{port}/ws", *args),
            host,
            port,
            local_addr=(f"127.0.0.{1 + number}", 0) if number and host == "127.0.0.1" else None,
        )
        await peer.open
        return peer

    def send(self, message: list[Any]) -> None:
        """Sends one message."""
        self.write(Opcode.BINARY, _encode(message))

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

    def received(self, payload: bytes, size: int) -> None:
        """Whoever waits for this kind of message has it first."""
        message: list[Any] = _decode(payload)
        self.sizes[message[0]] = size
        if (waiting := self._awaited.pop(message[0], None)) is not None and not waiting.done():
            waiting.set_result(message)
        self.message(message, size)

    def lost(self, error: Closed) -> None:
        """No message comes any more."""
        for future in self._awaited.values():
            if not future.done():
                future.set_exception(error)
