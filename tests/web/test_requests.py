"""Clients that never finish a request, and requests that never end."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
import uvicorn

from heartroom.web.requests import LONGEST_HEAD, MOST_AT_ONCE, BoundedHttp
from tests.support.stores import PATIENCE_S

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
LONG = 8 * 2**20
"""Bytes of an answer: more than the system keeps for who does not read."""


seen: list[bytes] = []
"""The cookies of handshakes."""
begun, ended = asyncio.Event(), asyncio.Event()
"""Whether the answer to a request that waits for its client to go has been begun, and ended."""

no_more = asyncio.Event()
"""Whether it has been noticed that a client says no more."""


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        seen.extend(value for name, value in scope["headers"] if name == b"cookie")
        await send({"type": "websocket.close"})
        return
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    if scope["path"] == "/later":
        await no_more.wait()
    if scope["path"] == "/waiting":
        begun.set()
        assert (await receive())["type"] == "http.disconnect"
    answer = b"x" * LONG if scope["path"] == "/long" else b"ok"
    headers = [(b"content-length", str(len(answer)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})
    if scope["path"] == "/waiting":
        ended.set()


@pytest_asyncio.fixture
async def port() -> AsyncIterator[int]:
    config = uvicorn.Config(
        app,
        port=0,
        http=BoundedHttp,
        interface="asgi3",
        ws="websockets-sansio",
        lifespan="off",
        log_config=None,
        timeout_keep_alive=1,
    )
    server = uvicorn.Server(config)
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    yield server.servers[0].sockets[0].getsockname()[1]
    await server.shutdown()


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoundedHttp, "REQUEST_S", 0.5)


async def talk(port: int, *parts: bytes, after: bytes = b"") -> bytes:
    """Sends `parts`, and after each answer `after`; returns all that comes until the server ends it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for part in parts:
            writer.write(part)
            with contextlib.suppress(ConnectionError):
                await writer.drain()
        got = b""
        async with asyncio.timeout(PATIENCE_S):
            with contextlib.suppress(ConnectionError):
                while data := await reader.read(65536):
                    got += data
                    writer.write(after)
        return got
    finally:
        writer.close()


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET",
        REQUEST[:-2],
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc",
        b"GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
    ],
    ids=["nothing", "a word", "headers", "a body", "a handshake"],
)
async def test_a_request_that_does_not_come_is_not_waited_for(port: int, begun: bytes) -> None:
    assert await talk(port, begun) == b""


HANDSHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize(
    "more",
    [b"X-Long: " + b"x" * 9000 + b"\r\n", b"X-More: x\r\n" * 200],
    ids=["a long header", "many headers"],
)
async def test_a_handshake_with_too_much_in_it_is_refused(port: int, more: bytes) -> None:
    assert (await talk(port, HANDSHAKE + more + b"\r\n")).startswith(b"HTTP/1.1 431 ")


async def test_long_cookies_of_others_do_not_matter(port: int) -> None:
    cookies = b"Cookie: other=" + b"x" * 9000 + b"; heartroom=ours; heartroomy=" + b"x" * 9000 + b"\r\n"
    seen.clear()
    # the app of these tests knows no websockets: what is refused now is refused by it
    assert b" 431 " not in await talk(port, HANDSHAKE + cookies + b"\r\n")
    assert seen == [b"heartroom=ours"]


@pytest.mark.usefixtures("hurried")
async def test_the_next_request_must_come_in_time_too(port: int) -> None:
    assert (await talk(port, REQUEST, after=b"GET")).count(b"200 OK") == 1


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("half", [b"GET", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc"])
async def test_the_next_request_must_come_in_time_also_if_it_begins_with_the_last(
    port: int, half: bytes
) -> None:
    assert (await talk(port, REQUEST + half)).count(b"200 OK") == 1


async def test_a_head_without_end_is_not_kept(port: int) -> None:
    line = b"X-More: " + b"x" * 1000 + b"\r\n"
    head = REQUEST[:-2] + line * (LONGEST_HEAD // len(line) + 100)
    assert b"200 OK" not in await talk(port, head)


async def test_some_requests_may_come_before_the_first_is_answered(port: int) -> None:
    assert (await talk(port, REQUEST * MOST_AT_ONCE)).count(b"200 OK") == MOST_AT_ONCE


async def test_who_goes_on_asking_without_waiting_for_answers_is_cut_off(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = 0
    begin = BoundedHttp.on_headers_complete

    def counted(self: BoundedHttp) -> None:
        nonlocal waiting
        begin(self)
        waiting = max(waiting, len(self.pipeline))

    monkeypatch.setattr(BoundedHttp, "on_headers_complete", counted)
    assert (await talk(port, REQUEST * 100_000)).count(b"200 OK") <= MOST_AT_ONCE
    assert waiting == MOST_AT_ONCE - 1
    # not told in the middle of an answer
    assert b"400" not in await talk(port, REQUEST * (MOST_AT_ONCE + 1))


async def test_a_client_that_goes_while_several_requests_wait_is_nobody_s_error(
    port: int, caplog: pytest.LogCaptureFixture
) -> None:
    begun.clear()
    ended.clear()
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /waiting HTTP/1.1\r\nHost: x\r\n\r\n" * 3)
    await begun.wait()
    # a reset: who only says no more may yet listen
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
    async with asyncio.timeout(PATIENCE_S):
        await ended.wait()
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_a_handshake_behind_a_request_that_is_not_answered_yet_is_refused(port: int) -> None:
    seen.clear()
    assert await talk(port, REQUEST + HANDSHAKE + b"\r\n") == b""
    assert seen == []


@pytest.fixture
def noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    no_more.clear()
    notice = BoundedHttp.eof_received

    def eof_received(protocol: BoundedHttp) -> bool:
        try:
            return notice(protocol)
        finally:
            no_more.set()

    monkeypatch.setattr(BoundedHttp, "eof_received", eof_received)


async def half_close(port: int, *parts: bytes) -> bytes:
    """Sends `parts` and says that nothing more comes; returns all that does."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.writelines(parts)
        writer.write_eof()
        async with asyncio.timeout(PATIENCE_S):
            return await reader.read()
    finally:
        writer.close()


@pytest.mark.usefixtures("noticed")
@pytest.mark.parametrize("path", [b"/", b"/later", b"/long"])
async def test_who_says_no_more_than_a_request_is_answered(port: int, path: bytes) -> None:
    answer = await half_close(port, REQUEST.replace(b"/", path, 1))
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert answer.endswith(b"x" * LONG if path == b"/long" else b"ok")


async def test_who_says_no_more_than_some_requests_has_all_of_them_answered(port: int) -> None:
    assert (await half_close(port, REQUEST * MOST_AT_ONCE)).count(b"200 OK") == MOST_AT_ONCE


@pytest.mark.parametrize(
    "half", [b"", b"GET", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc"]
)
async def test_who_says_no_more_than_half_a_request_is_not_waited_for(port: int, half: bytes) -> None:
    """Nor is it waited until the request would have had to come."""
    assert await half_close(port, half) == b""


async def test_who_says_no_more_between_two_requests_is_gone(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(REQUEST)
    async with asyncio.timeout(PATIENCE_S):
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200 OK")
        writer.write_eof()
        assert await reader.read() == b""
    writer.close()


async def test_requests_that_come_in_time_are_answered(port: int) -> None:
    body = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n" + b"x" * 60000
    long = REQUEST[:-2] + b"X-Long: " + b"x" * (LONGEST_HEAD // 2) + b"\r\n\r\n"
    assert (await talk(port, REQUEST + REQUEST)).count(b"200 OK") == 2
    assert b"200 OK" in await talk(port, body[:100], body[100:])
    assert b"200 OK" in await talk(port, long, long)


@pytest.mark.parametrize(
    "handshake",
    [
        HANDSHAKE + b"Content-Length: 5\r\n\r\nabcde",
        HANDSHAKE + b"Transfer-Encoding: chunked\r\n\r\n",
        HANDSHAKE.replace(b"/ws", b"/ws?" + b"x" * 9000) + b"\r\n",
    ],
    ids=["a body", "chunks", "a long path"],
)
async def test_a_handshake_that_the_websocket_s_parser_gives_up_is_answered(
    port: int, handshake: bytes
) -> None:
    assert (await talk(port, handshake)).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("last", [b"", b"Connection: close\r\n"], ids=["stays", "closes"])
async def test_an_answer_that_is_not_read_is_not_waited_for(
    port: int, last: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = asyncio.Event()
    monkeypatch.setattr(BoundedHttp, "UNREAD_S", 0.2)
    lost = BoundedHttp.connection_lost

    def connection_lost(protocol: BoundedHttp, exc: Exception | None) -> None:
        lost(protocol, exc)
        gone.set()

    monkeypatch.setattr(BoundedHttp, "connection_lost", connection_lost)
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
        sock.send(b"GET /long HTTP/1.1\r\nHost: x\r\n" + last + b"\r\n")
        async with asyncio.timeout(PATIENCE_S):
            await gone.wait()


async def test_an_answer_that_is_read_in_the_end_is_whole(port: int) -> None:
    answer = await talk(port, REQUEST.replace(b"/ ", b"/long "))
    assert answer.endswith(b"\r\n\r\n" + b"x" * LONG)
