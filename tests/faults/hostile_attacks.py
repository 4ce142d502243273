"""Hostile clients, in a process of their own: what they do to a server, and what it answered.

`tests.faults.hostile` starts it and says, a JSON object a line, which attack comes next. An attack is
answered twice: when it is at its height, with all its connections there, and when it is over, which is after
a line that lets it end. Whatever the server should not have said is in `wrong`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import socket
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, cast

import msgspec
import uvloop

from heartroom import client as wire
from heartroom.client import OutOfStep, Table
from heartroom.games.game import games
from heartroom.protocol.codes import Code
from tests.faults.hostile_frames import (
    BOMBS,
    CLOSE,
    CONT,
    FRAMES,
    HANDSHAKES,
    PING,
    PONG,
    READ,
    Mutator,
    frame,
    handshake,
    message,
    seeds,
)
from tests.support.stores import PATIENCE_S

_decode: Final = msgspec.msgpack.Decoder().decode
CODES: Final = {code.value for code in Code} | {code for game in games().values() for code in game.codes}
"""All that may be the reason of an *error* or *reject*."""
KINDS: Final = {*range(12), 13}
"""Types of the server's messages."""
SMALL: Final = 4096
"""Bytes that the system holds for a client that does not read."""


class Raw(asyncio.Protocol):
    """One connection; believes nothing, and says only what it is told to."""

    def __init__(self) -> None:
        self.polite = True
        """Whether the server's pings and its goodbye are answered."""
        self._data = b""
        self._news = asyncio.Event()
        self.transport: asyncio.Transport
        self.status = 0
        """Of the answer to the handshake."""
        self.cookie = ""
        self.kinds: Counter[int] = Counter()
        """Messages that came, by type."""
        self.refused: Counter[str] = Counter()
        self.pong = -1
        """The last of the protocol's."""
        self.pongs = 0
        """The websocket's."""
        self.close_code = 0
        self.lost = False
        self.clogged = False
        """Whether what we send is not taken."""
        self.odd: list[str] = []
        self.table = Table()
        self.created: dict[int, str] = {}

    # -- asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        self._news.set()

    def pause_writing(self) -> None:
        self.clogged = True
        self._news.set()

    def resume_writing(self) -> None:
        self.clogged = False
        self._news.set()

    def data_received(self, data: bytes) -> None:
        data = self._data + data
        if not self.status:
            head, found, rest = data.partition(b"\r\n\r\n")
            if not found:
                self._data = data
                return
            self.status = int(head.split(b" ", 2)[1])
            cookie = head.partition(b"heartroom=")[2].partition(b";")[0]
            self.cookie = cookie.decode("latin-1")
            data = rest if self.status == 101 else b""
        at, end = 0, len(data)
        while end - at >= 2:
            start, length = at + 2, data[at + 1]
            if length >= 126:
                start += 2 if length == 126 else 8
                length = int.from_bytes(data[at + 2 : start])
            if start + length > end:
                break
            self._frame(data[at], data[start : start + length])
            at = start + length
        self._data = data[at:]
        self._news.set()

    def _frame(self, first: int, payload: bytes) -> None:
        if first == 0x82:
            self._message(_decode(payload))
        elif first == 0x80 | PING:
            if self.polite:
                self.transport.write(frame(payload, PONG))
        elif first == 0x80 | PONG:
            self.pongs += 1
        elif first == 0x80 | CLOSE:
            self.close_code = int.from_bytes(payload[:2])
            if self.polite:
                self.transport.write(frame(payload[:2], CLOSE))
        else:
            self.odd.append(f"a frame that begins with {first:#x}")

    def _message(self, said: list[Any]) -> None:
        kind = said[0]
        self.kinds[kind] += 1
        if kind in (wire.ERROR, wire.REJECT):
            self.refused[said[-1]] += 1
            if said[-1] not in CODES:
                self.odd.append(f"refused with {said[-1]!r}")
        elif kind == wire.PONG:
            self.pong = said[1]
        elif kind == wire.CREATED:
            self.created[said[1]] = said[2]
        elif kind == wire.SNAPSHOT:
            self.table = Table(session=said[1], epoch=said[3], version=said[4], view=said[6])
        elif kind == wire.DIFF:
            try:
                self.table.apply(said)
            except (OutOfStep, IndexError, ValueError) as error:
                self.odd.append(f"a diff that does not follow: {error}")
        elif kind not in KINDS:
            self.odd.append(f"a message of type {kind!r}")

    # -- for attacks

    @property
    def welcome(self) -> bool:
        return self.kinds[wire.WELCOME] > 0

    def send(self, data: bytes) -> None:
        """Sends bytes, if there is anybody left to send them to."""
        if not self.lost:
            self.transport.write(data)

    async def until(self, holds: Callable[[], bool]) -> bool:
        """Waits for something, or for the end of the connection; says whether it came."""
        async with asyncio.timeout(PATIENCE_S):
            while not holds() and not self.lost:
                self._news.clear()
                await self._news.wait()
        return holds()

    async def answers(self, number: int) -> bool:
        """Whether the server answers a *ping*."""
        self.send(message(wire.PING, number))
        return await self.until(lambda: self.pong == number)

    async def ended(self, within_s: float = PATIENCE_S) -> bool:
        """Whether the connection ends within that time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while not self.lost:
                    self._news.clear()
                    await self._news.wait()
        return self.lost


@dataclass
class Amount:
    """What the other side wants of an attack."""

    attack: str
    port: int
    busy: str
    """A session in which honest players play."""
    count: int = 1
    """Of whatever the attack has many of."""
    frames: int = 0
    seconds: float = 0.0
    """How long it is done again and again; it is done once at least."""
    seed: int = 0


@dataclass
class Result:
    """What came of an attack."""

    connections: int = 0
    held: int = 0
    """Connections at the same time."""
    frames: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    """*error* and *reject* by code, and what else is counted."""
    closed: Counter[int] = field(default_factory=Counter)
    """Connections by close code, or status below 1000 but 101."""
    wrong: list[str] = field(default_factory=list)


class Attack:
    """The attacks; a method each, named as in `Amount.attack`."""

    def __init__(self, amount: Amount, height: Callable[[Result], Awaitable[None]]) -> None:
        """`height` is told what there is at the height, and returns when it may end."""
        self.amount: Final = amount
        self.result: Final = Result()
        self._at_height = height
        self._open: list[Raw] = []

    async def run(self) -> Result:
        """Does it."""
        try:
            await getattr(self, self.amount.attack)()
        finally:
            for raw in self._open:
                self._note(raw)
                if not raw.lost:
                    raw.transport.abort()
        await self._all_gone(self._open)
        return self.result

    # -- helpers

    async def _height(self) -> None:
        await self._at_height(self.result)

    async def _all_gone(self, raws: Iterable[Raw]) -> None:
        for raw in raws:
            if not await raw.ended():
                self._accuse("a connection that we have dropped is still there")

    def _accuse(self, text: str) -> None:
        if len(self.result.wrong) < 20:
            self.result.wrong.append(f"{self.amount.attack}: {text}")

    def _note(self, raw: Raw) -> None:
        """Counts what was said over a connection, once."""
        for odd in raw.odd[:3]:
            self._accuse(odd)
        self.result.refused += raw.refused
        code = raw.close_code or (raw.status if raw.status != 101 else 0)
        if code:
            self.result.closed[code] += 1
        raw.refused, raw.odd, raw.close_code, raw.status = Counter(), [], 0, 101

    def _drop(self, raw: Raw) -> None:
        """We go, without a word."""
        self._note(raw)
        if not raw.lost:
            raw.transport.abort()

    async def _connect(self, *, reads: bool = True) -> Raw:
        """A connection on which nothing was said yet."""
        sock = socket.socket()
        if not reads:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
        sock.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(sock, ("127.0.0.1", self.amount.port))
        _, raw = await loop.create_connection(Raw, sock=sock)
        if not reads:
            raw.transport.pause_reading()
        self.result.connections += 1
        return raw

    async def _shaken(self, cookie: str = "") -> Raw:
        """A connection after *welcome*."""
        raw = await self._connect()
        raw.send(handshake(cookie=cookie))
        if not await raw.until(lambda: raw.welcome):
            self._accuse(f"no welcome: {raw.status}")
        raw.cookie = raw.cookie or cookie
        return raw

    async def _joined(self, cookie: str = "", epoch: int = 0, version: int = 0) -> Raw:
        """A connection that looks at the busy session."""
        raw = await self._shaken(cookie)
        raw.send(message(wire.JOIN, self.amount.busy, epoch, version))
        if not await raw.until(lambda: raw.kinds[wire.TABLE] > 0):
            self._accuse("no answer to a join")
        return raw

    async def _many(self, make: Callable[[int], Awaitable[Raw]], count: int) -> list[Raw]:
        """So many connections, some of them at a time; all are dropped in the end."""
        made: list[Raw] = []
        for start in range(0, count, 50):
            numbers = range(start, min(count, start + 50))
            made += await asyncio.gather(*(make(number) for number in numbers))
        self._open += made
        self.result.held = max(self.result.held, len(self._open))
        return made

    async def _again(self, once: Callable[[], Awaitable[None]]) -> None:
        """Does something until the time is over."""
        deadline = time.monotonic() + self.amount.seconds
        await once()
        while time.monotonic() < deadline:
            await once()

    # -- attacks

    async def idle(self) -> None:
        """As many as the server takes from an address, and some more; every second one looks on."""

        async def one(number: int) -> Raw:
            raw = await self._connect()
            raw.send(handshake())
            if (
                await raw.until(lambda: raw.welcome or raw.status not in (0, 101))
                and number % 2
                and raw.welcome
            ):
                raw.send(message(wire.JOIN, self.amount.busy, 0, 0))
                if not await raw.until(lambda: raw.kinds[wire.TABLE] > 0):
                    self._accuse("no answer to a join")
            return raw

        raws = await self._many(one, self.amount.count)
        refused = sum(raw.status == 429 for raw in raws)
        self.result.held = len(raws) - refused
        if any(not raw.welcome and raw.status != 429 for raw in raws):
            self._accuse("neither welcomed nor refused")
        if not 0 < refused <= self.amount.count:
            self._accuse(f"{self.amount.count} connections, and {refused} of them too many")
        self.result.refused["too_many_connections"] += refused
        await self._height()
        for raw in raws[::2]:
            raw.send(frame((1000).to_bytes(2), CLOSE))  # the others go without a word

    async def slow(self) -> None:
        """Nothing at all, half a request, half a body, a byte a second: none of it is waited for."""
        begins = [
            b"",
            handshake(end=""),
            b"GET / HTTP/1.1\r\nHost: x\r\n",
            b"POST /api/groups HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\n"
            b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\nabc",
        ]
        whole = handshake()

        async def half(number: int) -> Raw:
            raw = await self._connect()
            raw.send(begins[number % len(begins)])
            return raw

        async def dripping(_number: int) -> Raw:
            return await self._connect()

        halves = await self._many(half, self.amount.count)
        drips = await self._many(dripping, self.amount.count)
        began = time.monotonic()
        await self._height()
        for byte in whole:
            for raw in drips:
                raw.send(bytes((byte,)))
            if all(raw.lost for raw in drips):
                break
            await asyncio.sleep(1)
        for raw in (*halves, *drips):
            if not await raw.ended():
                self._accuse("a request that does not come is waited for")
            if raw.status:
                self._accuse(f"half of a request was answered with {raw.status}")
        if time.monotonic() - began > PATIENCE_S:
            self._accuse("slow requests were waited for too long")
        self.result.refused["bad_request"] += 2 * self.amount.count

    async def silent(self) -> None:
        """After the handshake not a word, and no answer to pings; and the same without reading."""

        async def mute(number: int) -> Raw:
            raw = await (self._joined() if number % 2 else self._shaken())
            raw.polite = False
            return raw

        raws = await self._many(mute, self.amount.count)
        await self._height()
        for raw in raws:
            if not await raw.ended(60.0):
                self._accuse("who answers no ping is kept")
            elif raw.close_code != 1011:
                self._accuse(f"who answers no ping is sent away with {raw.close_code}")

    async def never_read(self) -> None:
        """They ask and ask whether anybody is there, and read no answer: the server has to stop to listen."""

        async def deaf(_number: int) -> Raw:
            raw = await self._connect(reads=False)
            raw.send(handshake())
            return raw

        raws = await self._many(deaf, self.amount.count)
        request = frame(bytes(125), PING) * 100  # of all requests the one with the longest answer
        for raw in raws:
            raw.send(message(wire.JOIN, self.amount.busy, 0, 0))
            for _ in range(self.amount.frames // 100):
                raw.send(request)
                self.result.frames += 100
                if raw.clogged and await self._stays_clogged(raw):
                    break
            else:
                self._accuse("the server reads on from who does not read")
        await self._height()

    async def _stays_clogged(self, raw: Raw) -> bool:
        try:
            async with asyncio.timeout(1.0):
                while raw.clogged and not raw.lost:
                    raw._news.clear()
                    await raw._news.wait()
        except TimeoutError:
            return True
        return raw.lost

    async def handshakes(self) -> None:
        """Handshakes with something wrong in them."""

        async def once() -> None:
            for name, shake in HANDSHAKES.items():
                raw = await self._connect()
                raw.send(shake.request)
                if not await raw.ended():
                    self._accuse(f"{name}: not ended")
                got = raw.close_code or raw.status
                if got != shake.expected:
                    self._accuse(f"{name}: {got} in place of {shake.expected}")
                if shake.counted:
                    self.result.refused[shake.counted] += 1
                self._drop(raw)

        await self._again(once)
        await self._height()

    async def frames(self) -> None:
        """Frames with something wrong in them."""

        async def once() -> None:
            for name, bad in FRAMES.items():
                raw = await self._joined()
                raw.send(bad.sent)
                self.result.frames += 1
                if isinstance(bad.expected, str):
                    await self._is_refused(raw, name, bad.expected)
                else:
                    if not await raw.ended():
                        self._accuse(f"{name}: not ended")
                    if raw.close_code != bad.expected:
                        self._accuse(f"{name}: {raw.close_code} in place of {bad.expected}")
                    self.result.refused["flood" if bad.expected == 4408 else "bad_frame"] += 1
                self._drop(raw)

        await self._again(once)
        await self._height()

    async def _is_refused(self, raw: Raw, name: str, *codes: str) -> None:
        """Exactly one refusal, and the connection goes on."""
        if not await raw.answers(7_000_000 + self.result.frames):
            self._accuse(f"{name}: ended with {raw.close_code}")
        elif raw.refused.total() != 1 or (codes and not raw.refused.keys() <= set(codes)):
            self._accuse(f"{name}: refused with {dict(raw.refused)}")

    async def bombs(self) -> None:
        """Messages that are more than they seem."""

        async def once() -> None:
            for name, bomb in BOMBS.items():
                raw = await self._joined()
                raw.send(frame(bomb))
                self.result.frames += 1
                # something that waits for the store may be answered after the next *ping*
                await raw.until(lambda raw=raw: raw.refused.total() > 0)  # type: ignore[misc]
                await self._is_refused(raw, name)
                self._drop(raw)

        await self._again(once)
        await self._height()

    async def floods(self) -> None:
        """Far too many frames, each kind over connections of its own: they are told so, then cut off."""
        kinds = {
            "pings": message(wire.PING, 1),
            "refused actions": message(wire.ACT, 1, None, ["castle"]),
            "actions of a spectator": message(wire.ACT, 1, None, ["draw"]),
            "joins": message(wire.JOIN, self.amount.busy, 0, 0),
            "nonsense": frame(b"\xc1"),
            "the websocket's pings": frame(b"", PING),
            "the websocket's pongs": frame(b"", PONG),
            "parts": frame(b"", CONT, fin=False),
        }

        async def flood(name: str, one: bytes) -> None:
            raw = await self._joined()
            if name == "parts":
                raw.send(frame(b"", fin=False))
            while not raw.lost and not raw.close_code:
                raw.send(one * 200)
                self.result.frames += 200
                await asyncio.sleep(0.001)  # or most would only fill buffers
                if raw.clogged:
                    await raw.until(lambda: not raw.clogged)
            await raw.ended()
            if raw.close_code != 4408:
                self._accuse(f"{name}: {raw.close_code or 'nothing'} in place of 4408")
            elif not raw.refused["too_fast"] and not raw.refused["malformed"]:
                self._accuse(f"{name}: not told")
            self.result.refused["flood"] += 1
            self._drop(raw)

        async def once() -> None:
            for _ in range(self.amount.count):
                await asyncio.gather(*(flood(name, one) for name, one in kinds.items()))

        await self._again(once)
        await self._height()

    async def storm(self) -> None:
        """All drop at once and come back at once, and go on where they were."""
        raws = await self._many(lambda _: self._joined(), self.amount.count)
        for _ in range(self.amount.frames):
            held = [(raw.cookie, raw.table) for raw in raws]
            for raw in raws:
                self._drop(raw)
            await self._all_gone(raws)
            self._open.clear()
            raws = await asyncio.gather(*(self._back(*each) for each in held))
            self._open += raws
        await self._height()

    async def _back(self, cookie: str, table: Table) -> Raw:
        raw = await self._shaken(cookie)
        raw.table = table
        raw.send(message(wire.JOIN, self.amount.busy, table.epoch, table.version))
        if not await raw.until(lambda: raw.kinds[wire.TABLE] > 0):
            self._accuse("no answer after coming back")
        if not raw.kinds[wire.RESUMED] + raw.kinds[wire.SNAPSHOT]:
            self._accuse("neither resumed nor shown anew")
        return raw

    async def descriptors(self) -> None:
        """More connections than the server has files to open: who finds no room waits until there is some."""
        *others, last = await self._many(lambda _: self._connect(), self.amount.count)
        last.send(handshake())
        await self._height()
        if last.welcome:
            self._accuse("the server takes more than it can")
        for raw in others:
            self._drop(raw)
        if not await last.until(lambda: last.welcome):
            self._accuse("no room, though others have gone")

    async def fuzz(self) -> None:
        """Messages and frames that are nearly some, as fast as they are answered."""
        chance = random.Random(self.amount.seed)
        share = -(-self.amount.frames // self.amount.count)
        workers = [
            self._fuzzer(random.Random(chance.getrandbits(64)), share) for _ in range(self.amount.count)
        ]
        await asyncio.gather(*workers)
        await self._height()

    async def _fuzzer(self, chance: random.Random, frames: int) -> None:
        raw = await self._shaken()
        cookie = raw.cookie
        raw.send(message(wire.NEW, 1, "heart-to-heart", {}) + message(wire.NEW, 2, "hearts", {}))
        await raw.until(lambda: len(raw.created) == 2)
        own, table = raw.created[1], raw.created[2]
        raw.send(message(wire.JOIN, own, 0, 0))
        mutator = Mutator(chance, seeds(own, table, self.amount.busy))
        sent, mark = 0, 2**40
        while sent < frames:
            count = min(chance.choice((1, 1, 5, 50, 100)), frames - sent)
            self.result.frames += count
            sent += count
            if chance.randrange(10) == 0:
                # with as many zeros, which begin no frame, as one that it begins may still want
                raw.send(b"".join(mutator.broken_frame() for _ in range(count)) + bytes(READ + 16))
                if not await raw.ended():
                    self._accuse("frames that are none did not end the connection")
            else:
                mask = chance.randbytes(4) if count == 1 else bytes(4)
                raw.send(b"".join(frame(mutator.payload(), mask=mask) for _ in range(count)))
                mark += 1
                if await raw.answers(mark):
                    continue
                self._accuse(f"messages that are none ended the connection ({raw.close_code})")
            if raw.close_code == 1011:
                self._accuse("a server's error")
            self._drop(raw)
            raw = await self._shaken(cookie)
            raw.send(message(wire.JOIN, own, 0, 0))
        self._drop(raw)

    async def fuzz_within_limits(self) -> None:
        """The same within what one connection may send."""
        chance = random.Random(self.amount.seed)
        sent = 0
        while sent < self.amount.frames:
            raw = await self._joined()
            mutator = Mutator(chance, seeds(self.amount.busy, self.amount.busy, self.amount.busy))
            for _ in range(100):
                raw.send(frame(mutator.payload()))
            sent += 100
            if not await raw.answers(2**40):
                self._accuse(f"ended with {raw.close_code}")
            self._drop(raw)
        self.result.frames += sent
        await self._height()


async def _lines() -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    return reader


async def _serve() -> None:
    commands = await _lines()

    def say(kind: str, result: Result) -> None:
        print(msgspec.json.encode({"kind": kind, **msgspec.to_builtins(result)}).decode(), flush=True)

    async def height(result: Result) -> None:
        say("height", result)
        await commands.readline()

    while line := await commands.readline():
        attack = Attack(Amount(**json.loads(line)), height)
        try:
            await attack.run()
        except Exception as error:
            attack.result.wrong.append(f"{attack.amount.attack}: {error!r}")
        say("over", attack.result)


if __name__ == "__main__":
    uvloop.run(_serve())
