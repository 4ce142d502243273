"""A client that does not read: it costs nobody anything, and is up to date when it reads again.

Between two processes of one machine the system holds megabytes. Here it holds little, as over a slow line.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any

import msgspec
import psutil
import pytest
from websockets.client import ClientProtocol
from websockets.frames import Frame
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from heartroom import client as wire
from heartroom.client import Table
from tests.support.games import CODE, GAME, WINNING
from tests.support.serving import HEARTROOM, SECRET, Server, environment
from tests.support.stores import BINARIES, PATIENCE_S, StoreProcess

SMALL = 4096
"""Bytes that the system holds on each side."""
JOINS = 6000
"""Requests that the slow one sends, most with 130 bytes of answer: more than the server reads of them."""
PAIRS = 1200
"""That the player makes meanwhile and takes back; their diffs are more than the server keeps for anybody."""
BOUND = 24 * 2**20
"""Bytes by which the server may grow: it holds some 100 KiB for the slow one, and the game's log."""


class Narrow(Server):
    """A server whose system sends little ahead."""

    def __init__(self, **settings: str) -> None:
        listening = socket.create_server(("127.0.0.1", 0))
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL)
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed by stop)
        self.process = subprocess.Popen(
            [HEARTROOM, "work", str(listening.fileno())],
            env=environment(**settings),
            pass_fds=[listening.fileno()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        self.port = listening.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self.url = f"ws://{self.address}"
        listening.close()


class Sloth:
    """A websocket whose other end we read only when we want to."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, protocol: ClientProtocol
    ) -> None:
        self._reader, self._writer, self._protocol = reader, writer, protocol
        self.table = Table()
        self.diffs = 0

    @classmethod
    async def connect(cls, server: Server) -> Sloth:
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", server.port))
        reader, writer = await asyncio.open_connection(sock=sock, limit=2**12)
        protocol = ClientProtocol(
            parse_uri(f"{server.url}/ws"), subprotocols=[Subprotocol("heartroom.v1")], max_size=2**20
        )
        protocol.send_request(protocol.connect())
        sloth = cls(reader, writer, protocol)
        sloth._write()
        await sloth.read(lambda: sloth._welcomed)
        return sloth

    _welcomed = False

    def send(self, message: list[Any]) -> None:
        self._protocol.send_binary(msgspec.msgpack.encode(message))
        self._write()

    def _write(self) -> None:
        for data in self._protocol.data_to_send():
            self._writer.write(data)

    async def read(self, until: Any) -> None:
        """Reads until something holds."""
        async with asyncio.timeout(PATIENCE_S):
            while not until():
                data = await self._reader.read(65536)
                assert data, "the server gave up"
                self._protocol.receive_data(data)
                for event in self._protocol.events_received():
                    if isinstance(event, Frame):
                        self._take(msgspec.msgpack.decode(event.data))
                self._write()

    def _take(self, message: list[Any]) -> None:
        if message[0] == wire.DIFF:
            self.diffs += 1
            self.table.apply(message)  # raises if there is a gap
        elif message[0] == wire.SNAPSHOT:
            _, _, _, self.table.epoch, self.table.version, _, self.table.view, _ = message
        elif message[0] == wire.WELCOME:
            self._welcomed = True

    def close(self) -> None:
        self._writer.transport.abort()


@pytest.fixture(scope="module")
def store() -> Iterator[StoreProcess]:
    process = StoreProcess(BINARIES["valkey"])
    process.start()
    yield process
    process.remove()


async def test_a_client_that_does_not_read_costs_nobody_anything(
    store: StoreProcess, plain_sends: str
) -> None:
    server = Narrow(
        redis_url=store.url,
        secret=SECRET,
        plain_sends=plain_sends,
        frames_per_second="100000",
        frames_burst="100000",
    )
    process = psutil.Process(server.process.pid)
    async with await server.connect() as player, await server.connect() as other:
        session = await player.new(GAME.name, {"code": CODE})
        await player.join(session)
        await other.join(session)
        before_pair = WINNING.index(("pair", 25, 0))
        for action in WINNING[:before_pair]:
            await player.act(*action)
        sloth = await Sloth.connect(server)
        sloth.send([wire.JOIN, session, 0, 0])
        await sloth.read(lambda: sloth.table.epoch)
        before = process.memory_info().rss
        for number in range(JOINS):
            sloth.send([wire.JOIN, session, 0, 0])
            if number % 50 == 0:
                await other.ping()
        last = before_pair + 2 * PAIRS
        for start in range(before_pair, last, 100):
            moves = [
                ("undo",) if (base - before_pair) % 2 else ("pair", 25, 0)
                for base in range(start, start + 100)
            ]
            await asyncio.gather(*(player.act(*move, base=base) for base, move in enumerate(moves, start)))
        await other.until(lambda: other.table.version == last)
        assert other.table.view == player.table.view
        assert process.memory_info().rss - before < BOUND
        await sloth.read(lambda: sloth.table.version == last)
        assert sloth.table.view == player.table.view
        assert sloth.diffs < 2 * PAIRS
        await player.act("draw")
        await sloth.read(lambda: sloth.table.version == last + 1)
        assert sloth.table.view == player.table.view
        sloth.close()
    assert server.terminate() == 0
    assert "Traceback" not in server.said()
    server.stop()
