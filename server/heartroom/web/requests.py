"""uvicorn's HTTP protocol, for clients that take their time or have no end: a request that does not become
whole in time, or whose head is longer than any honest one, ends its connection, and so does an answer that is
not read, and who asks on and on without waiting for answers."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from heartroom import metrics
from heartroom.web.identity import COOKIE

LONGEST_HEAD: Final = 32 * 1024
"""Bytes of a request up to the end of its headers."""


MOST_AT_ONCE: Final = 16
"""Requests that one client may send before the first of them is answered."""


_COOKIE = f"{COOKIE}=".encode()
_MOST_HEADERS = 100
_LONGEST_HEADER = 8_000
"""Both within what `websockets` takes in a handshake."""

_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


def _ours(cookies: bytes) -> bytes:
    """Of a `Cookie` header what is ours."""
    found = [cookie for cookie in cookies.split(b";") if cookie.strip().startswith(_COOKIE)]
    return b";".join(found).strip()


class _TooMany(Exception):
    pass


class BoundedHttp(HttpToolsProtocol):
    """See the module."""

    REQUEST_S = 15.0
    """Seconds for a request, from the connection, or from its first byte, to the last one."""
    ENDING_S = 1.0
    """The same, from when the server is told to end."""
    UNREAD_S = 30.0
    """Seconds in which a client must have read what waits for it: at most 64 KiB."""

    _deadline: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _head = 0
    """Bytes received of a request whose headers are not complete."""
    _answered: RequestResponseCycle | None = None
    """The request that is being answered, or was last."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has come, and is expected to say what it wants."""
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        """A part of a request, or more than one."""
        if self._deadline is None:
            self._begin()
        self._head += len(data)
        super().data_received(data)
        if self._head > LONGEST_HEAD and not self.transport.is_closing():
            self._refuse()

    def eof_received(self) -> bool:  # type: ignore[override]
        """The client says no more, and may listen yet: what it has asked is answered, and then we are done.
        Who ends in the middle of a request, or when all is answered, is gone. Returns whether the connection
        stays open for now."""
        if self._deadline is not None or not self._is_answering():
            return False
        self.cycle.keep_alive = False  # that of the last request
        return True

    def on_message_begin(self) -> None:
        """A request begins, also one that comes together with the end of another."""
        if len(self.pipeline) >= MOST_AT_ONCE - 1:
            # uvicorn would take as many as come, and read on with every answer
            raise _TooMany
        if self._deadline is None:
            self._begin()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._head = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of the body: no part of any head."""
        self._head = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is whole."""
        self._head = 0
        self._end()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        """It is a websocket from here on, and none of our business."""
        self._end()
        if self._is_answering():  # the answer would come among the frames
            self._refuse()
            return
        # The websocket's own parser takes no long lines, and gives no answer then. Cookies can be long: all
        # that is served under one host name shares them.
        headers = [(name, _ours(value) if name == b"cookie" else value) for name, value in self.headers]
        if len(headers) > _MOST_HEADERS or any(len(n) + len(v) > _LONGEST_HEADER for n, v in headers):
            self._deny(_TOO_LARGE)
            return
        self.headers[:] = headers
        super().handle_websocket_upgrade()
        websocket: Any = self.transport.get_protocol()
        if not websocket.handshake_initiated:
            # Its parser has stopped (at a body, or a path without end), and would say nothing for ever.
            self._deny(_BAD_REQUEST)
        # We are done, and it refers to us as we to it: only the garbage collector would find out.
        self.parser = None  # type: ignore[assignment]

    def send_400_response(self, msg: str) -> None:
        """What came is no HTTP, or too much of it. Not said in the middle of another answer."""
        if self.pipeline or self._is_answering():
            self._refuse()
        else:
            metrics.REFUSALS.labels("bad_request").inc()
            super().send_400_response(msg)

    def _is_answering(self) -> bool:
        return self._answered is not None and not self._answered.response_complete

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    def _deny(self, answer: bytes) -> None:
        metrics.REFUSALS.labels("bad_request").inc()
        self.transport.write(answer)
        self.transport.close()

    def pause_writing(self) -> None:
        """The client does not read, or slowly."""
        super().pause_writing()
        self._await_reader()

    def resume_writing(self) -> None:
        """The client has read."""
        super().resume_writing()
        self._forget_reader()

    def on_response_complete(self) -> None:
        """The answer is whole, and some of it may have yet to leave."""
        super().on_response_complete()
        self._await_reader()

    def shutdown(self) -> None:
        """The server ends: an answer that is under way is finished, half a request soon given up."""
        super().shutdown()
        if self._deadline is not None and not self.transport.is_closing():
            self._deadline.cancel()
            self._deadline = self.loop.call_later(self.ENDING_S, self._refuse)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._end()
        self._forget_reader()
        if self._answered is not None:  # uvicorn tells the latest request only
            self._answered.disconnected = True
            self._answered.message_event.set()
        self.pipeline.clear()
        super().connection_lost(exc)

    def _await_reader(self) -> None:
        if self._unread is None:
            self._unread = self.loop.call_later(self.UNREAD_S, self._give_up)

    def _forget_reader(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _give_up(self) -> None:
        self._unread = None
        if self.transport.get_write_buffer_size():
            # To close it would be to wait for the reader.
            self.transport.abort()

    def _begin(self) -> None:
        self._forget_reader()
        self._deadline = self.loop.call_later(self.REQUEST_S, self._refuse)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse(self, *_: Any) -> None:
        self._end()
        metrics.REFUSALS.labels("bad_request").inc()
        self.transport.close()
