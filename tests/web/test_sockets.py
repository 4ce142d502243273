"""Frames as the standard has them, and the outlet that goes through ASGI."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN
from websockets.uri import parse_uri

from heartroom.web.sockets import DirectOutlet, PlainOutlet, direct, frame


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65535, 65536, 100_000])
def test_a_frame_is_read_by_others(size: int) -> None:
    payload = bytes(n % 251 for n in range(size))
    other = ClientProtocol(parse_uri("ws://x/"), state=OPEN)
    other.receive_data(frame(payload) + frame(b"next"))
    first, second = other.events_received()
    assert isinstance(first, Frame)
    assert (first.opcode, bytes(first.data), first.fin) == (Opcode.BINARY, payload, True)
    assert isinstance(second, Frame)
    assert bytes(second.data) == b"next"
    # as short as can be
    assert len(frame(payload)) == size + (2 if size < 126 else 4 if size < 65536 else 10)


class Wire:
    """Where a `DirectProtocol` writes."""

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.written.append(data)


def test_payloads_sent_together_are_written_together_and_each_is_whole() -> None:
    wires = [Wire(), Wire()]
    outlets = [DirectOutlet(wire) for wire in wires]  # type: ignore[arg-type]
    diff, ack = b"diff", b"ack"
    outlets[0].send(diff, ack)
    outlets[1].send(diff)
    outlets[0].send(ack)
    assert wires[0].written == [frame(diff) + frame(ack), frame(ack)]
    assert wires[1].written == [frame(diff)]


def test_a_payload_is_not_taken_for_an_earlier_one() -> None:
    wire = Wire()
    outlet = DirectOutlet(wire)  # type: ignore[arg-type]
    for number in range(100):
        outlet.send(b"%d" % number)
    assert wire.written == [frame(b"%d" % number) for number in range(100)]


@pytest.mark.parametrize("scope", [{}, {"extensions": None}, {"extensions": {"websocket.http.response": {}}}])
def test_a_connection_of_another_server_cannot_be_taken_over(scope: dict[str, Any]) -> None:
    assert direct(scope) is None


class Client:
    """The other end of ASGI's `send`."""

    def __init__(self) -> None:
        self.got: list[bytes] = []
        self.reads = asyncio.Event()
        self.reads.set()
        self.gone = False

    async def send(self, message: Any) -> None:
        await self.reads.wait()
        if self.gone:
            raise BrokenPipeError
        self.got.append(message["bytes"])


async def test_what_is_sent_through_asgi_comes_in_order_and_then_the_way_is_clear() -> None:
    client, clear = Client(), asyncio.Event()
    outlet = PlainOutlet(client.send, clear.set)
    running = asyncio.ensure_future(outlet.run())
    outlet.send(b"a", b"b")
    outlet.send(b"c")
    await clear.wait()
    assert client.got == [b"a", b"b", b"c"]
    assert outlet.backlog == 0
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_the_backlog_is_what_a_client_has_not_taken() -> None:
    client, clear = Client(), asyncio.Event()
    outlet = PlainOutlet(client.send, clear.set)
    client.reads.clear()
    running = asyncio.ensure_future(outlet.run())
    outlet.send(b"12345", b"123")
    await asyncio.sleep(0)
    assert outlet.backlog == 8
    assert not clear.is_set()
    client.reads.set()
    await clear.wait()
    assert outlet.backlog == 0
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_sending_to_a_client_that_is_gone_does_nothing() -> None:
    client = Client()
    outlet = PlainOutlet(client.send, lambda: None)
    client.gone = True
    outlet.send(b"x")
    with pytest.raises(BrokenPipeError):
        await outlet.run()
    outlet.send(b"y", b"z")
    assert client.got == []
