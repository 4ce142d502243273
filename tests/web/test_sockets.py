"""Frames as the standard has them, and the outlet that goes through ASGI."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from uvicorn.server import ServerState
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN
from websockets.uri import parse_uri

from heartroom.web import sockets
from heartroom.web.sockets import (
    LEAVING_S,
    DirectOutlet,
    DirectProtocol,
    PlainOutlet,
    Unsent,
    direct,
    frame,
    whole,
)


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
    """Where a `DirectProtocol` writes, and that protocol."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.transport = self
        self.close_sent = self.disconnected = self.broken = False

    def write(self, data: bytes) -> None:
        if self.broken:
            raise RuntimeError
        self.written.append(data)


async def test_payloads_sent_together_are_written_together_and_each_is_whole() -> None:
    wires, unsent = [Wire(), Wire()], Unsent()
    outlets = [DirectOutlet(wire, unsent) for wire in wires]  # type: ignore[arg-type]
    diff, ack = b"diff", b"ack"
    outlets[0].send(diff, ack)
    outlets[1].send(diff)
    outlets[0].send(ack)
    await asyncio.sleep(0)
    assert wires[0].written == [frame(diff) + frame(ack), frame(ack)]
    assert wires[1].written == [frame(diff)]


async def test_a_payload_is_not_taken_for_an_earlier_one() -> None:
    wire = Wire()
    outlet = DirectOutlet(wire, Unsent())  # type: ignore[arg-type]
    for number in range(100):
        outlet.send(b"%d" % number)
        if number % 7 == 0:
            await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert wire.written == [frame(b"%d" % number) for number in range(100)]


async def test_who_cannot_be_written_to_costs_nobody_else_anything() -> None:
    wires, unsent = [Wire() for _ in range(3)], Unsent()
    outlets = [DirectOutlet(wire, unsent) for wire in wires]  # type: ignore[arg-type]
    wires[1].broken = True
    for outlet in outlets:
        outlet.send(b"diff")
    await asyncio.sleep(0)
    assert [wire.written for wire in wires] == [[frame(b"diff")], [], [frame(b"diff")]]


async def test_what_goes_to_very_many_keeps_nobody_else_waiting_and_comes_in_order_to_all() -> None:
    wires, unsent = [Wire() for _ in range(1_001)], Unsent()
    *watching, other = [DirectOutlet(wire, unsent) for wire in wires]  # type: ignore[arg-type]
    for outlet in watching:
        outlet.send(b"to many")
    other.send(b"to one")
    await asyncio.sleep(0)
    assert wires[-1].written == [frame(b"to one")]
    assert sum(bool(wire.written) for wire in wires) < 200
    watching[-1].send(b"next")
    watching[0].send(b"next")
    await asyncio.sleep(0)
    assert wires[0].written == [frame(b"to many"), frame(b"next")]
    assert wires[-2].written == []
    unsent.write_to(watching[-1])
    assert wires[-2].written == [frame(b"to many"), frame(b"next")]
    other.send(b"last")
    await asyncio.sleep(0)
    for payload in (b"again", b"and again"):
        for outlet in watching:
            outlet.send(payload)
    await asyncio.sleep(0)
    while any(outlet.late for outlet in watching):  # noqa: ASYNC110 (the loop must come round)
        await asyncio.sleep(0)
    assert wires[-1].written == [frame(b"to one"), frame(b"last")]
    twice = [frame(b"again"), frame(b"and again")]
    assert [wire.written[-2:] for wire in wires[:-1]] == [twice] * 1_000
    assert [len(wire.written) for wire in wires[1:-2]] == [3] * 998


async def test_who_is_hushed_before_its_turn_gets_nothing() -> None:
    wires, unsent = [Wire() for _ in range(1_000)], Unsent()
    outlets = [DirectOutlet(wire, unsent) for wire in wires]  # type: ignore[arg-type]
    for outlet in outlets:
        outlet.send(b"diff")
    await asyncio.sleep(0)
    outlets[-1].hush()
    while any(outlet.late for outlet in outlets):  # noqa: ASYNC110 (the loop must come round)
        await asyncio.sleep(0)
    assert [len(wire.written) for wire in wires] == [1] * 999 + [0]


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


# -- frames that come in


class Transport(asyncio.Transport):
    """Where a `DirectProtocol` is connected to, and what it has said."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = False
        self.reads = True
        self.read_again = asyncio.Event()
        self.ended = asyncio.Event()
        self.aborted = asyncio.Event()

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._protocol

    def write(self, data: Any) -> None:
        self.written += data

    def close(self) -> None:
        self.closed = True
        self.ended.set()

    def abort(self) -> None:
        self.aborted.set()

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        assert self.reads
        self.reads = False

    def resume_reading(self) -> None:
        assert not self.reads
        self.reads = True
        self.read_again.set()

    def is_read(self) -> bool:
        return self.reads

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass


class Taken:
    """A connection that was taken over as the application does it, and the messages that it gave."""

    def __init__(self) -> None:
        self.accepted = asyncio.Event()
        self.config = uvicorn.Config(
            self._app,
            interface="asgi3",
            ws=DirectProtocol,
            ws_per_message_deflate=False,
            ws_max_size=200,
            ws_ping_interval=None,
            log_config=None,
            lifespan="off",
        )
        self.config.load()
        self.transport = Transport()
        self.messages: list[tuple[bytes, bool]] = []
        self.protocol = DirectProtocol(self.config, ServerState(), {})
        self.protocol.connection_made(self.transport)
        self.client = ClientProtocol(parse_uri("ws://x/"), max_size=None)

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        protocol = direct(scope)
        assert protocol is not None
        DirectOutlet(protocol, Unsent())
        protocol.take_over(lambda data, binary: self.messages.append((data, binary)), lambda: None)
        self.accepted.set()
        while (await receive())["type"] != "websocket.disconnect":
            pass
        protocol.let_go()

    async def open(self, *, early: bytes = b"") -> None:
        """Shakes hands; `early` comes after the request and before the answer."""
        self.client.send_request(self.client.connect())
        self.protocol.data_received(b"".join(self.client.data_to_send()))
        if early:
            self.protocol.data_received(early)
        await self.accepted.wait()
        self.client.receive_data(self.transport.written)
        assert list(self.client.events_received())
        self.transport.written = b""

    def lose(self) -> None:
        self.protocol.connection_lost(None)


_HEAD_AND_MASK = 6
"""Bytes of a short frame besides its payload."""


def masked(opcode: Opcode, payload: bytes, fin: bool = True) -> bytes:
    return Frame(opcode, payload, fin).serialize(mask=True)


SENT = st.one_of(
    st.tuples(st.just(Opcode.BINARY), st.binary(max_size=40)),
    st.tuples(st.just(Opcode.BINARY), st.binary(min_size=120, max_size=130)),
    st.tuples(st.just(Opcode.TEXT), st.text(max_size=20).map(str.encode)),
    st.tuples(st.just(Opcode.PING), st.binary(max_size=20)),
    st.tuples(st.just(Opcode.CONT), st.lists(st.binary(max_size=20), min_size=2, max_size=3)),
)


@given(st.lists(SENT, max_size=12), st.data())
async def test_messages_come_whole_and_in_order_however_their_bytes_come(
    sent: list[tuple[Opcode, Any]], data: st.DataObject
) -> None:
    stream, ends, expected = b"", [0], []
    for opcode, payload in sent:
        if opcode is Opcode.CONT:  # one message in several frames
            for number, part in enumerate(payload):
                kind = Opcode.BINARY if number == 0 else Opcode.CONT
                stream += masked(kind, part, fin=number == len(payload) - 1)
            expected.append((b"".join(payload), True))
        else:
            stream += masked(opcode, payload)
            if opcode is not Opcode.PING:
                expected.append((payload, opcode is Opcode.BINARY))
        ends.append(len(stream))
    # most come alone, some together, some are torn
    odd = data.draw(st.sets(st.integers(0, len(stream)), max_size=4))
    cuts = sorted({*ends, *odd} - data.draw(st.sets(st.sampled_from(ends[1:]))) if sent else ends)
    taken = Taken()
    await taken.open()
    for start, end in itertools.pairwise([0, *cuts, len(stream)]):
        if start < end:
            taken.protocol.data_received(stream[start:end])
            await turns(taken)
    assert taken.messages == expected
    assert taken.transport.written.count(b"\x8a") >= sum(opcode is Opcode.PING for opcode, _ in sent)
    taken.lose()


async def test_many_frames_together_are_not_one_whatever_their_lengths() -> None:
    """Seven bits hold a short length: some others end in the same seven bits."""
    taken = Taken()
    await taken.open()
    expected = []
    for first in range(126):
        # what follows makes the whole as long as a first frame of these bits would be
        second = bytes(128 - _HEAD_AND_MASK)
        taken.protocol.data_received(masked(Opcode.BINARY, bytes(first)) + masked(Opcode.BINARY, second))
        expected += [(bytes(first), True), (second, True)]
    assert taken.messages == expected
    taken.lose()


@given(st.lists(st.tuples(SENT, st.integers(0, 300)), min_size=1, max_size=6))
def test_bytes_are_whole_that_end_where_a_frame_ends(sent: list[tuple[tuple[Opcode, Any], int]]) -> None:
    frames = [masked(opcode, payload) for (opcode, payload), _ in sent if opcode is not Opcode.CONT]
    stream = b"".join(frames)
    ends = set(itertools.accumulate(map(len, frames), initial=0))
    for end in range(len(stream) + 1):
        assert whole(stream[:end]) == (end in ends)
    assert not whole(stream + masked(Opcode.BINARY, b"a", fin=False))
    assert not whole(masked(Opcode.CONT, b"a") + stream)


async def test_a_frame_that_comes_before_the_answer_is_not_taken_for_the_middle_of_another() -> None:
    taken = Taken()
    torn = masked(Opcode.BINARY, b"one")
    await taken.open(early=torn[:4])
    taken.protocol.data_received(torn[4:])
    taken.protocol.data_received(masked(Opcode.BINARY, b"two"))
    assert taken.messages == [(b"one", True), (b"two", True)]
    taken.lose()


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (frame(b"not masked"), 1002),
        (b"\xc2" + masked(Opcode.BINARY, b"a bit that is reserved")[1:], 1002),
        (masked(Opcode.BINARY, b"x" * 201), 1009),
        (b"\x82\xfe\xff\xff", 1009),
    ],
    ids=["not masked", "reserved", "too long", "too long, by its head"],  # masks are chance
)
async def test_a_frame_that_is_none_ends_the_connection(bad: bytes, code: int) -> None:
    taken = Taken()
    await taken.open()
    taken.protocol.data_received(masked(Opcode.BINARY, b"good"))
    taken.protocol.data_received(bad)
    taken.protocol.data_received(masked(Opcode.BINARY, b"too late"))
    assert taken.messages == [(b"good", True)]
    assert code.to_bytes(2) in taken.transport.written
    taken.lose()


async def test_nothing_is_written_after_the_end() -> None:
    taken = Taken()
    await taken.open()
    outlet = taken.protocol.outlet
    assert outlet is not None
    outlet.send(b"before")
    assert taken.transport.written == b""
    taken.protocol.data_received(masked(Opcode.CLOSE, (1000).to_bytes(2)))
    said = taken.transport.written
    assert said.startswith(frame(b"before"))
    outlet.send(b"after the goodbye")
    await asyncio.sleep(0)
    taken.lose()
    outlet.send(b"after the end")
    await asyncio.sleep(0)
    assert taken.transport.written == said


@pytest.mark.parametrize("by", ["the application", "bad bytes", "the server's end"])
async def test_what_was_sent_is_written_before_a_goodbye(by: str) -> None:
    taken = Taken()
    await taken.open()
    outlet = taken.protocol.outlet
    assert outlet is not None
    outlet.send(b"why")
    if by == "the application":
        await taken.protocol.send({"type": "websocket.close", "code": 4001, "reason": ""})
    elif by == "bad bytes":
        taken.protocol.data_received(frame(b"not masked"))
    else:
        taken.protocol._leave()
    outlet.send(b"too late")
    await asyncio.sleep(0)
    said = taken.transport.written
    assert said.startswith(frame(b"why") + b"\x88")
    assert said.count(frame(b"too late")) == 0
    taken.lose()


@pytest.mark.parametrize(("clients", "longest_s"), [(1, 0.004), (500, 2.0), (100_000, LEAVING_S)])
async def test_a_server_that_ends_sends_its_clients_away_one_after_the_other(
    clients: int, longest_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[tuple[float, float]] = []

    def at_once(least: float, most: float) -> float:
        drawn.append((least, most))
        return least

    monkeypatch.setattr("random.uniform", at_once)
    taken = Taken()
    await taken.open()
    others: set[Any] = set(range(clients - 1))
    taken.protocol.connections = {taken.protocol, *others}
    taken.protocol.shutdown()
    assert drawn == [(0.0, longest_s)]
    outlet = taken.protocol.outlet
    assert outlet is not None
    outlet.send(b"goes on until then")
    await asyncio.sleep(0)
    assert taken.transport.written == frame(b"goes on until then")
    await taken.transport.ended.wait()
    assert taken.transport.written.endswith(b"\x88\x02" + (1012).to_bytes(2))
    taken.lose()


async def test_who_goes_before_its_turn_is_not_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    turn = asyncio.Event()
    leave = DirectProtocol._leave

    def in_turn(protocol: DirectProtocol) -> None:
        leave(protocol)
        turn.set()

    monkeypatch.setattr(DirectProtocol, "_leave", in_turn)
    taken = Taken()
    await taken.open()
    taken.protocol.shutdown()
    taken.lose()
    await turn.wait()
    assert taken.transport.written == b""


# -- frames that come too fast


async def turns(taken: Taken) -> int:
    """Lets the event loop turn until all that was read is parsed; returns how often."""
    count = 0
    while taken.protocol._in_turn:
        await asyncio.sleep(0)
        count += 1
    return count


async def test_what_is_long_is_parsed_in_turns_whole_and_in_order() -> None:
    taken = Taken()
    await taken.open()
    sent = [b"%d" % number for number in range(2_000)]
    taken.protocol.data_received(b"".join(masked(Opcode.BINARY, payload) for payload in sent))
    assert len(taken.messages) < 200
    assert not taken.transport.is_read()
    assert await turns(taken) > 10
    assert taken.messages == [(payload, True) for payload in sent]
    assert taken.transport.is_read()
    taken.protocol.data_received(masked(Opcode.BINARY, b"on it goes"))
    assert taken.messages[-1] == (b"on it goes", True)
    taken.lose()


async def test_of_many_who_send_much_one_piece_is_parsed_each_time_the_loop_comes_round() -> None:
    several = [Taken() for _ in range(5)]
    for taken in several:
        await taken.open()
    for taken in several:
        taken.protocol.data_received(masked(Opcode.BINARY, b"x") * 1_000)
    lost = several.pop()
    lost.lose()
    before = 0
    while any(taken.protocol._in_turn for taken in several):
        await asyncio.sleep(0)
        now = sum(len(taken.messages) for taken in several)
        assert now - before <= 512 // (_HEAD_AND_MASK + 1) + 1
        before = now
    assert [len(taken.messages) for taken in several] == [1_000] * 4
    assert lost.messages == []
    for taken in several:
        taken.lose()


async def test_many_who_go_at_once_are_closed_in_turn() -> None:
    several = [Taken() for _ in range(100)]
    for taken in several:
        await taken.open()
    for taken in several:
        assert taken.protocol.eof_received()
    closed = [taken.transport.closed for taken in several]
    assert 0 < sum(closed) < 100
    for taken in several:
        await taken.transport.ended.wait()
        taken.lose()
        assert taken.protocol.disconnected


async def test_who_sends_too_fast_is_not_read_from_for_a_moment_and_nothing_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sockets, "_SLOW_S", 0.001)
    taken = Taken()
    await taken.open()
    sent = [b"%d" % number for number in range(1_000)]
    pauses = 0

    def received(data: bytes, binary: bool) -> None:
        nonlocal pauses
        taken.messages.append((data, binary))
        if len(taken.messages) % 100 == 0:
            pauses += 1
            taken.protocol.slow_down()
            assert not taken.transport.is_read()

    taken.protocol.take_over(received, lambda: None)
    taken.protocol.data_received(b"".join(masked(Opcode.BINARY, payload) for payload in sent))
    await taken.transport.read_again.wait()
    assert taken.messages == [(payload, True) for payload in sent]
    assert pauses == 10
    taken.lose()


async def test_who_is_slowed_down_and_does_not_read_either_is_read_from_when_both_are_over() -> None:
    taken = Taken()
    await taken.open()
    taken.protocol.slow_down()
    taken.protocol.pause_writing()
    taken.protocol._slowed_down()
    assert not taken.transport.is_read()
    taken.protocol.resume_writing()
    assert taken.transport.is_read()
    taken.lose()


class Counting:
    """What is told of frames that are no messages."""

    def __init__(self, taken: Taken, most: int = 1_000_000) -> None:
        self.frames = 0
        self._taken = taken
        self._most = most
        taken.protocol.count(self._one)

    def _one(self) -> None:
        self.frames += 1
        if self.frames == self._most:
            self._taken.protocol.deafen()


@pytest.mark.parametrize(
    ("sent", "counted"),
    [
        (masked(Opcode.PING, b""), 1),
        (masked(Opcode.PONG, b""), 1),
        (masked(Opcode.BINARY, b"a", fin=False) + masked(Opcode.CONT, b"", fin=False), 2),
        (masked(Opcode.TEXT, b"a", fin=False) + masked(Opcode.CONT, b"", fin=True), 1),
        # these are messages, which the application counts
        (masked(Opcode.BINARY, b"a"), 0),
        (masked(Opcode.TEXT, b"a"), 0),
    ],
    ids=["ping", "pong", "parts", "the first part", "a message", "text"],  # masks are chance
)
async def test_frames_that_are_no_messages_are_counted(sent: bytes, counted: int) -> None:
    taken = Taken()
    await taken.open()
    counting = Counting(taken)
    taken.protocol.data_received(sent)
    assert counting.frames == counted
    taken.lose()


async def test_a_message_in_many_parts_is_kept_as_one() -> None:
    taken = Taken()
    await taken.open()
    taken.protocol.data_received(masked(Opcode.BINARY, b"a", fin=False))
    for _ in range(1000):
        taken.protocol.data_received(masked(Opcode.CONT, b"", fin=False))
    assert taken.protocol.frames == [b"a"]
    taken.protocol.data_received(masked(Opcode.CONT, b"b"))
    assert taken.messages == [(b"ab", True)]
    taken.lose()


async def test_of_thousands_of_frames_in_one_read_no_more_are_looked_at_than_it_takes() -> None:
    taken = Taken()
    await taken.open()
    counting = Counting(taken, most=100)
    taken.protocol.data_received(masked(Opcode.PING, b"") * 40_000)
    await turns(taken)
    assert 100 <= counting.frames < 400
    # and nothing from then on
    taken.protocol.data_received(masked(Opcode.BINARY, b"a"))
    assert taken.messages == []
    taken.lose()


@pytest.mark.parametrize("goodbye", [(4408).to_bytes(2), b""], ids=["with a code", "without"])
async def test_of_who_is_cut_off_a_goodbye_is_heard(goodbye: bytes) -> None:
    taken = Taken()
    await taken.open()
    taken.protocol.deafen()
    taken.protocol.close_sent = True
    ended = taken.transport.ended
    taken.protocol.data_received(masked(Opcode.PING, b"") * 10)
    assert not ended.is_set()
    taken.protocol.data_received(masked(Opcode.PING, b"") + masked(Opcode.CLOSE, goodbye))
    assert ended.is_set()
    taken.lose()


@pytest.mark.parametrize("first", ["we", "they"])
async def test_who_does_not_read_the_last_that_was_said_is_not_waited_for(
    first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "_UNREAD_S", 0.01)
    taken = Taken()
    await taken.open()
    if first == "we":
        taken.protocol.close_sent = True
    else:
        taken.protocol.data_received(masked(Opcode.CLOSE, (1000).to_bytes(2)))
    await taken.transport.aborted.wait()
    taken.lose()


async def test_who_has_gone_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = Taken()
    await taken.open()
    taken.protocol.close_sent = True
    taken.lose()
    assert taken.protocol._ending is not None
    assert taken.protocol._ending.cancelled()
