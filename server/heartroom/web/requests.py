"""uvicorn's HTTP protocol, for clients that take their time or have no end: a request that does not become
whole in time, or whose head is longer than any honest one, ends its connection."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from heartroom import metrics
from heartroom.web.identity import COOKIE

LONGEST_HEAD: Final = 32 * 1024
"""Bytes of a request up to the end of its headers."""


_COOKIE = f"{COOKIE}=".encode()
_MOST_HEADERS = 100
_LONGEST_HEADER = 8_000
"""Both within what `websockets` takes in a handshake."""

_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


def _ours(cookies: bytes) -> bytes:
    """Of a `Cookie` header what is ours."""
    found = [cookie for cookie in cookies.split(b";") if cookie.strip().startswith(_COOKIE)]
    return b";".join(found).strip()


class BoundedHttp(HttpToolsProtocol):
    """See the module."""

    REQUEST_S = 15.0
    """Seconds for a request, from the connection, or from its first byte, to the last one."""

    _deadline: asyncio.TimerHandle | None = None
    _head = 0
    """Bytes received of a request whose headers are not complete."""

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
        # The websocket's own parser takes no long lines, and gives no answer then. Cookies can be long: all
        # that is served under one host name shares them.
        headers = [(name, _ours(value) if name == b"cookie" else value) for name, value in self.headers]
        if len(headers) > _MOST_HEADERS or any(len(n) + len(v) > _LONGEST_HEADER for n, v in headers):
            metrics.REFUSALS.labels("bad_request").inc()
            self.transport.write(_TOO_LARGE)
            self.transport.close()
            return
        self.headers[:] = headers
        super().handle_websocket_upgrade()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._end()
        super().connection_lost(exc)

    def _begin(self) -> None:
        self._deadline = self.loop.call_later(self.REQUEST_S, self._refuse)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse(self, *_: Any) -> None:
        self._end()
        metrics.REFUSALS.labels("bad_request").inc()
        self.transport.close()
