"""Two ways to a client, the same to everybody above: through ASGI, or straight to the transport.

`DirectProtocol` is uvicorn's own websocket protocol with two doors added. A frame that came in goes to a
plain function instead of through a queue, a task switch and two socket-poll changes, and one that came alone
and is short, as nearly all do and are, does not even pass through the protocol's parser; a frame that goes
out is written to the transport as bytes made once for all viewers. Where the server is another one, or the
host says so, `PlainOutlet` does the same through ASGI's `send`.
"""

from __future__ import annotations

import asyncio
import functools
import random
from collections import deque
from collections.abc import Callable
from typing import Any, Final

import structlog
from starlette.types import Send
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Request

from heartroom import metrics, turns
from heartroom.sessions.viewer import Viewer
from heartroom.web import door

try:
    from websockets.speedups import apply_mask
except ImportError:  # no compiled one for this platform
    from websockets.utils import apply_mask

_log = structlog.get_logger(__name__)

EXTENSION: Final = "heartroom.direct"
"""The ASGI extension under which a connection's `DirectProtocol` is found."""

HIGH_WATER: Final = Viewer.CLOGGED
"""Unsent bytes from which on no more is read from a client that does not read either."""
_LOW_WATER: Final = 4 * 1024
_AT_ONCE: Final = 512
"""Bytes of one client that are parsed in one turn, before it is looked whether it is still listened to: the
smallest frame has six, and a read brings up to 256 KiB."""
_SLOW_S: Final = 0.05
"""For so long nothing is read from a client that sends too fast."""
_UNREAD_S: Final = 12.0
"""How long the last that was said to a client may wait to be read. Longer than a goodbye is waited for."""

Received = Callable[[bytes, bool], None]
"""Takes the payload of one message and whether it was binary."""


def frame(payload: bytes) -> bytes:
    """`payload` as one unmasked binary websocket frame (RFC 6455, section 5.2)."""
    length = len(payload)
    if length < 126:
        return b"\x82" + length.to_bytes(1) + payload
    if length < 65536:
        return b"\x82\x7e" + length.to_bytes(2) + payload
    return b"\x82\x7f" + length.to_bytes(8) + payload


LEAVING_S: Final = 4.0
"""Over so many seconds at most a server that ends sends its clients away."""
_LEAVE_PER_S: Final = 250
"""Clients sent away in a second, if they are not too many for that."""

_ALONE: Final = 2 + 4
"""Bytes of a short masked frame besides its payload: the head and the mask."""


def whole(data: bytes) -> bool:
    """Whether `data`, which begins where a masked frame begins, ends where one ends, and every frame in it is
    a message of its own or a control frame."""
    at = 0
    while at + 2 <= len(data):
        first, length = data[at], data[at + 1] & 0x7F
        if not first & 0x80 or not first & 0x0F:  # a part of a message in several frames
            return False
        extra = {126: 2, 127: 8}.get(length, 0)
        if extra:
            length = int.from_bytes(data[at + 2 : at + 2 + extra])
        at += _ALONE + extra + length
    return at == len(data)


class DirectProtocol(WebSocketsSansIOProtocol):
    """uvicorn's protocol, which an application may take over once the handshake is done."""

    outlet: DirectOutlet | None = None
    """Is told how much is waiting to be sent."""
    _received: Received | None = None
    _drained: Callable[[], None] | None = None
    _held = False
    """Whether the client does not read what waits for it."""
    _slow: asyncio.TimerHandle | None = None
    """Until when nothing is read from the client because it sends too fast."""
    _rest = b""
    """What was read and not parsed yet, from `_rest_at` on."""
    _rest_at = 0
    _in_turn = False
    """Whether it waits for its turn to have more of the rest parsed."""
    _seen_off = False
    """Whether it waited for its turn to be closed."""
    _paused = False
    """Whether for any of these nothing is read."""
    _requested = False
    _counted: Callable[[], None] | None = None
    _deaf = False
    _ending: asyncio.TimerHandle | None = None
    _at_frame = False
    """Whether what comes next is known to begin a frame that begins a message. Once it is not, it never is
    again: such a connection is read by the parser."""

    def handle_close(self, event: Frame) -> None:
        """The client says goodbye: nothing follows our answer to that."""
        self.flush()
        self._hush()
        super().handle_close(event)

    async def send(self, message: ASGISendEvent) -> None:
        """What the application sends through ASGI: here the answer to the handshake and the goodbye."""
        self.flush()
        await super().send(message)

    def shutdown(self) -> None:
        """The server ends: says so, sooner or later, so that not all clients go elsewhere at once. Until then
        everything goes on."""
        spread_s = min(LEAVING_S, len(self.connections) / _LEAVE_PER_S)
        self.loop.call_later(random.uniform(0.0, spread_s), self._leave)  # noqa: S311 (no secret)

    def _leave(self) -> None:
        self.flush()
        self._hush()
        if not self.disconnected and not self.transport.is_closing():
            super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone: nothing is written any more."""
        if self.outlet is not None:
            self.outlet.hush()
        for timer in (self._ending, self._slow):
            if timer is not None:
                timer.cancel()
        self._rest, self._rest_at = b"", 0
        if self._seen_off:
            super().connection_lost(exc)
        else:
            door.leave(self.loop, functools.partial(super().connection_lost, exc))

    def eof_received(self) -> bool:  # type: ignore[override]
        """The client has gone: its connection is closed, sooner or later if very many have."""
        if self._received is None:  # who is not in yet is not many
            return False
        door.leave(self.loop, self._see_off)
        return True

    def _see_off(self) -> None:
        self._seen_off = True
        self.transport.close()

    def flush(self) -> None:
        """Writes what was sent to this client, now: before a goodbye, which nothing may follow."""
        if self.outlet is not None:
            self.outlet.unsent.write_to(self.outlet)

    def _hush(self) -> None:
        if self.outlet is not None:
            self.outlet.hush()
        if self._ending is None:
            # A transport that is closed first sends what waits, and would for ever to who does not read.
            self._ending = self.loop.call_later(_UNREAD_S, self.transport.abort)

    def data_received(self, data: bytes) -> None:
        """Something has come: past the parser if it is one short frame and nothing else."""
        if self._at_frame and self._received is not None:
            length = len(data) - _ALONE
            if 0 <= length < 126 and data[0] == 0x82 and data[1] == 0x80 | length:
                if not self._close_sent:
                    self._received(apply_mask(data[6:], data[2:6]), True)
                return
            self._at_frame = len(data) <= _AT_ONCE and whole(data)
            self._read(data)
            return
        asked_before = self._requested
        self._read(data)
        # Frames begin where the request ends. Who sends some before the answer is read by the parser.
        self._at_frame = self._requested and not asked_before and data.find(b"\r\n\r\n") == len(data) - 4

    def _read(self, data: bytes) -> None:
        """Has `data` parsed, little by little: who sends thousands of frames at once keeps nobody else
        waiting, and is cut off before all of them have been looked at."""
        if self._received is None:  # the application reads in its own time
            for start in range(0, len(data), _AT_ONCE):
                self._parse(data[start : start + _AT_ONCE])
            return
        self._rest = self._rest[self._rest_at :] + data
        self._rest_at = 0
        if len(self._rest) <= _AT_ONCE and not self._in_turn and self._slow is None:
            self._read_on()
        else:
            self._next_turn()

    def _read_on(self) -> None:
        self._in_turn = False
        if not self._rest:  # the connection was lost meanwhile
            return
        start, self._rest_at = self._rest_at, self._rest_at + _AT_ONCE
        if self._rest_at >= len(self._rest):
            part, self._rest, self._rest_at = self._rest[start:], b"", 0
        else:
            part = self._rest[start : self._rest_at]
        self._parse(part)
        self._next_turn()

    def _next_turn(self) -> None:
        if self._rest and not self._in_turn and self._slow is None and not self._held:
            self._in_turn = True
            turns.take(self.loop, self._read_on)
        self._mind_reading()

    def _mind_reading(self) -> None:
        pause = self._held or self._slow is not None or bool(self._rest)
        if pause != self._paused and not self.transport.is_closing():
            self._paused = pause
            if pause:
                self.transport.pause_reading()
            else:
                self.transport.resume_reading()

    def _parse(self, data: bytes) -> None:
        """Of who is cut off only a goodbye is heard."""
        if self.close_sent or self._deaf:
            if self.close_sent and (data[-8:-6] == b"\x88\x82" or data[-6:-4] == b"\x88\x80"):
                self.transport.close()
        elif not self.transport.is_closing():
            super().data_received(data)

    def slow_down(self) -> None:
        """The client sends too fast: nothing more is taken from it for a moment."""
        if self._slow is None and self._received is not None:
            self._slow = self.loop.call_later(_SLOW_S, self._slowed_down)
            self._mind_reading()

    def _slowed_down(self) -> None:
        self._slow = None
        self._next_turn()

    def handle_parser_exception(self) -> None:
        """What came is no websocket's."""
        metrics.REFUSALS.labels("bad_frame").inc()
        self.flush()
        super().handle_parser_exception()

    def deafen(self) -> None:
        """From now on nothing that comes is taken: the connection is about to be closed."""
        self._deaf = True
        self._at_frame = False
        # the end of what has been read may be a goodbye
        self._rest, self._rest_at = self._rest[-8:] if self._rest else b"", 0

    def count(self, counted: Callable[[], None]) -> None:
        """From now on `counted` is called for each frame that is no whole message and ends none: parts of
        messages, and the websocket's own pings and pongs."""
        self._counted = counted

    def _count(self) -> None:
        if self._counted is not None:
            self._counted()

    def handle_ping(self) -> None:
        """The client asks whether we are there."""
        self._count()
        super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        """The client is there."""
        self._count()
        super().handle_pong(event)

    def handle_text(self, event: Frame) -> None:
        """Text, or the first part of some."""
        if not event.fin:
            self._count()
        super().handle_text(event)

    def handle_cont(self, event: Frame) -> None:
        """A further part of a message. All parts are kept as one, or many small ones, of which each is an
        object, would be much more than the message may have."""
        if not event.fin:
            self._count()
        self.frames = [b"".join((*self.frames, event.data))]
        if event.fin:
            self.send_receive_event_to_app()

    def handle_connect(self, event: Request) -> None:
        """Begins the handshake, and lets the application find us."""
        self._requested = True
        super().handle_connect(event)
        if self.response.status_code == 101:
            self.scope["extensions"][EXTENSION] = {"protocol": self}

    def take_over(self, received: Received, drained: Callable[[], None]) -> None:
        """From now on messages go to `received`; `drained` is called whenever a clogged way is free again."""
        self._received = received
        self._drained = drained
        self.transport.set_write_buffer_limits(high=HIGH_WATER, low=_LOW_WATER)

    def let_go(self) -> None:
        """The application has done with this connection. What refers to each other is taken apart, or only
        the garbage collector would find that nobody needs it."""
        self._received = self._drained = self._counted = None
        self.scope["extensions"].pop(EXTENSION, None)
        if self.disconnected:
            self.conn.parser = None  # type: ignore[assignment]

    def handle_bytes(self, event: Frame) -> None:
        """A binary frame has arrived, nearly always a whole message."""
        if self._received is None or not event.fin:
            if not event.fin:
                self._count()
            super().handle_bytes(event)
        elif not self.close_sent:
            self._received(bytes(event.data), True)

    @property
    def close_sent(self) -> bool:
        """Whether our last frame has been sent."""
        return self._close_sent

    @close_sent.setter
    def close_sent(self, sent: bool) -> None:
        self._close_sent = sent
        if sent:
            self._hush()
            if self.initial_response is not None:
                # uvicorn forgets it, and would log each handshake that is refused with a status as an error
                self.handshake_complete = True

    def send_receive_event_to_app(self) -> None:
        """A whole message has arrived, of text or in several frames."""
        if self._received is None:
            if self.curr_msg_data_type == "text":
                self.frames = [b""]  # whatever it says, it will be refused; it need not be text at all
            super().send_receive_event_to_app()
            return
        data = self.frames[0] if len(self.frames) == 1 else b"".join(self.frames)
        self.frames = []
        if not self.close_sent:
            self._received(bytes(data), self.curr_msg_data_type == "bytes")

    def pause_writing(self) -> None:
        """The client does not read: neither do we."""
        super().pause_writing()
        if self.outlet is not None:
            self.outlet.backlog = self.transport.get_write_buffer_size()
        if self._received is not None:
            self._held = True
            self._mind_reading()

    def resume_writing(self) -> None:
        """The client has read what there was."""
        super().resume_writing()
        if self.outlet is not None:
            self.outlet.backlog = 0
        self._held = False
        self._next_turn()
        if self._drained is not None:
            self._drained()


def _ignore(data: bytes) -> None:
    pass


_FEW: Final = 512
"""So many writes are never too many at once."""
_COPIES: Final = 64
"""To so many clients the same is written each time the event loop comes round."""


class Unsent:
    """What a server is to write before its event loop waits again. Belongs to one event loop.

    Nothing is written at once: a write takes the processor through all of the network, up to the door of a
    receiver on this machine, and what was at hand before is not when it comes back. So everything is made
    first, for many games, and then everything is written.

    But what goes to very many, who look on at one table, is written to some of them each time the loop comes
    round, so that other tables need not wait for all of them.
    """

    __slots__ = ("_late", "data", "frame", "payload")

    def __init__(self) -> None:
        self.data: list[tuple[DirectOutlet, bytes]] = []
        self._late: deque[tuple[DirectOutlet, bytes]] = deque()
        """What is written after that. Whoever has something here gets everything through here, in order."""
        # What was framed last: the same payload goes to one client after the other.
        self.payload = b""
        self.frame = frame(b"")

    def write(self) -> None:
        """Writes what there is."""
        unsent, self.data = self.data, []
        if self._late or len(unsent) > _FEW:
            unsent = self._put_off(unsent)
        for outlet, data in unsent:
            try:
                outlet.write(data)
            except Exception:  # a fault in one connection must not cost the others
                _log.exception("write failed")

    def write_to(self, outlet: DirectOutlet) -> None:
        """Writes all that there is for `outlet`, and more."""
        self.write()
        while outlet.late:
            self._write_late()

    def _put_off(self, unsent: list[tuple[DirectOutlet, bytes]]) -> list[tuple[DirectOutlet, bytes]]:
        """What of it is written now."""
        at_once, late, waiting = [], self._late, bool(self._late)
        same, copies = None, 0
        for one in unsent:
            outlet, data = one
            if data is same:
                copies += 1
            else:
                same, copies = data, 1
            if outlet.late or copies > _COPIES:
                outlet.late += 1
                late.append(one)
            else:
                at_once.append(one)
        if late and not waiting:
            asyncio.get_running_loop().call_soon(self._next_late)
        return at_once

    def _next_late(self) -> None:
        self._write_late()
        if self._late:
            asyncio.get_running_loop().call_soon(self._next_late)

    def _write_late(self) -> None:
        # The more there is the more at a time: it must not come to more than can ever be written.
        for _ in range(min(len(self._late), max(_COPIES, len(self._late) // 16))):
            outlet, data = self._late.popleft()
            outlet.late -= 1
            try:
                outlet.write(data)
            except Exception:
                _log.exception("write failed")


class DirectOutlet:
    """Writes frames to a `DirectProtocol`'s transport, soon."""

    __slots__ = ("backlog", "late", "unsent", "write")

    def __init__(self, protocol: DirectProtocol, unsent: Unsent) -> None:
        self.write: Callable[[bytes], None] = protocol.transport.write
        """Writes bytes at once."""
        self.late = 0
        """How much of that is put off."""
        self.unsent: Final = unsent
        """Where all that this server sends waits to be written."""
        self.backlog = 0
        """Bytes not yet taken by the operating system; told by the protocol, and 0 up to `HIGH_WATER`."""
        protocol.outlet = self
        if protocol.close_sent or protocol.disconnected:
            self.hush()

    def hush(self) -> None:
        """From now on nothing is written, not even what was sent and has not been written."""
        self.write = _ignore

    def send(self, payload: bytes, *more: bytes) -> None:
        """Sends messages, all with one call of the operating system."""
        unsent = self.unsent
        if payload is not unsent.payload:
            unsent.payload, unsent.frame = payload, frame(payload)
        if not unsent.data:
            asyncio.get_running_loop().call_soon(unsent.write)
        unsent.data.append((self, unsent.frame + b"".join(map(frame, more)) if more else unsent.frame))


class PlainOutlet:
    """Sends messages through ASGI, one after the other, in a task of its own."""

    def __init__(self, send: Send, drained: Callable[[], None]) -> None:
        self._send = send
        self._drained = drained
        self._queue: deque[bytes] = deque()
        self._more = asyncio.Event()
        self._closed = False
        self.backlog = 0

    def send(self, *payloads: bytes) -> None:
        """Queues messages."""
        if not self._closed:
            self._queue += payloads
            self.backlog += sum(map(len, payloads))
            self._more.set()

    async def run(self) -> None:
        """Sends what is queued, until cancelled or the client is gone."""
        try:
            while True:
                await self._more.wait()
                self._more.clear()
                while self._queue:
                    payload = self._queue.popleft()
                    await self._send({"type": "websocket.send", "bytes": payload})
                    self.backlog -= len(payload)
                self._drained()
        finally:
            self._closed = True
            self._queue.clear()


def direct(scope: Any) -> DirectProtocol | None:
    """The protocol of a connection that can be taken over, if it can."""
    found = (scope.get("extensions") or {}).get(EXTENSION)
    return found["protocol"] if found else None
