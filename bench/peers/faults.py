"""What each server loses when it is killed, and when the link is cut while actions are under way.

Players of Heart to Heart with each one's own client (the peers' in `faults.js`) reach the server through a
proxy that can lose what passes it. Killed: with SIGKILL, heartroom together with its store, while everybody
draws as fast as it goes; started again from what is on the disk. Cut: every player has one draw under way.
Of half of them the draw is lost on its way, of the other half only what the server says to it; then all
connections break and none can be made for two seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol, Self

import msgspec
from websockets.exceptions import WebSocketException

from bench.peers.servers import HERE, NODE, PRODUCTION, peer
from bench.served import Served, folder, serving_from
from heartroom.client import Client, Lost, Rejected
from heartroom.games.heart_to_heart import GAME

CUT_S = 2.0
_PLAY_S = 1.0
_UNDER_WAY_S = 0.5
_PATIENCE_S = 60.0
_WARM = 20
_RETRY_S = 0.2
_STOCK, _MOVES = GAME.fields.index("stock"), GAME.fields.index("moves")


class Outcome(msgspec.Struct, frozen=True):
    """How one player fared."""

    acknowledged: int
    intended: int
    failed: int
    """Actions that the client was told had failed."""
    moves: int | None
    """In the game as the server has it in the end; `None` if it has it no more."""


class Losses(NamedTuple):
    """How all of them fared."""

    acknowledged: int
    gone: int
    """Acknowledged actions that the server has no more."""
    lost: int
    """Actions that were meant and never done."""
    doubled: int
    """Actions that were done twice."""
    seen_as_lost: int
    """Actions that were done though the client was told that they had failed."""


def losses(outcomes: list[Outcome], *, repeated: bool) -> Losses:
    """Adds up. `repeated`: what failed was done again, so that a failure says nothing of the outcome."""
    return Losses(
        sum(outcome.acknowledged for outcome in outcomes),
        sum(max(0, outcome.acknowledged - (outcome.moves or 0)) for outcome in outcomes),
        sum(max(0, outcome.intended - (outcome.moves or 0)) for outcome in outcomes),
        sum(max(0, (outcome.moves or 0) - outcome.intended) for outcome in outcomes),
        0 if repeated else sum(_in_vain(outcome) for outcome in outcomes),
    )


def _in_vain(outcome: Outcome) -> int:
    undone = outcome.intended - (outcome.moves or 0)
    return max(0, outcome.failed - undone)


# -- the link


class Proxy:
    """A way to a server on the loopback, which can be cut."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.port = 0
        self.loses_requests = False
        self.loses_answers = False
        self.is_cut = False
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    @classmethod
    @contextlib.asynccontextmanager
    async def to(cls, target: int) -> AsyncIterator[Self]:
        """An open proxy to a port, until the end of the block."""
        proxy = cls(target)
        proxy._server = await asyncio.start_server(proxy._connected, "127.0.0.1", 0)
        proxy.port = proxy._server.sockets[0].getsockname()[1]
        try:
            yield proxy
        finally:
            proxy._server.close()
            proxy.cut()

    def cut(self) -> None:
        """Breaks all connections, and lets none be made."""
        self.is_cut = True
        for writer in self._writers:
            writer.transport.abort()

    def mend(self) -> None:
        """All is well again."""
        self.is_cut = self.loses_requests = self.loses_answers = False

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            if self.is_cut:
                return
            back, forth = await asyncio.open_connection("127.0.0.1", self.target)
            self._writers.add(forth)
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._pass(reader, forth, lambda: self.loses_requests))
                    group.create_task(self._pass(back, writer, lambda: self.loses_answers))
            finally:
                self._writers.discard(forth)
                forth.transport.abort()
        except OSError:
            pass
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, loses: Callable[[], bool]
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(2**16):
                if not loses():
                    writer.write(data)
                    await writer.drain()
        writer.transport.abort()


# -- the players


class Players(Protocol):
    """Some players, each at a port."""

    async def tell(self, command: str) -> None:
        """`play` or `act`: see `faults.js`."""

    async def settle(self) -> list[Outcome]:
        """How they fared, when all that will come back has come back."""


class TheirPlayers:
    """With a peer's own client."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    @contextlib.asynccontextmanager
    async def at(cls, name: str, ports: list[int], *, again: bool) -> AsyncIterator[Self]:
        """Players who have begun, until the end of the block."""
        process = await asyncio.create_subprocess_exec(
            *(NODE, HERE / "faults.js", name, "again" if again else "once", *map(str, ports)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, **PRODUCTION},
            limit=2**20,
        )
        players = cls(process)
        try:
            await players._line()
            yield players
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()

    async def tell(self, command: str) -> None:
        """See `Players`."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{command}\n".encode())
        await self._process.stdin.drain()

    async def settle(self) -> list[Outcome]:
        """See `Players`."""
        await self.tell("settle")
        return msgspec.json.decode(await self._line(), type=list[Outcome])

    async def _line(self) -> bytes:
        assert self._process.stdout is not None
        async with asyncio.timeout(_PATIENCE_S):
            return await self._process.stdout.readline()


class OurPlayer:
    """As docs/protocol.md has it: what has had no answer is sent again with its id."""

    def __init__(self, port: int, client: Client) -> None:
        self._url = f"ws://127.0.0.1:{port}"
        self._client = client
        self._under_way: asyncio.Task[None] | None = None
        self._stopping = False
        self._gone = False
        """Whether the server does not know our game any more."""
        self.acknowledged = self.intended = self.failed = 0

    @classmethod
    async def at(cls, port: int) -> Self:
        """A player with a game."""
        player = cls(port, await Client.connect(f"ws://127.0.0.1:{port}"))
        await player._client.join(await player._client.new("heart-to-heart"))
        return player

    async def act(self) -> None:
        """Draws, or recycles."""
        table = self._client.table
        self.intended += 1
        ref, base = self._client.fresh_ref(), table.version
        verb = "draw" if table.view[_STOCK] else "recycle"
        while not self._gone:
            try:
                await self._client.act(verb, base=base, ref=ref)
            except Lost:
                await self._back()
            except Rejected:
                break
            else:
                self.acknowledged += 1
                return
        self.failed += 1

    async def _back(self) -> None:
        old = self._client
        while True:
            try:
                self._client = await Client.connect(self._url, old.cookie)
                self._client.table = old.table
                await self._client.join(old.table.session, old.table.epoch, old.table.version)
            except (Lost, OSError, WebSocketException):
                await asyncio.sleep(_RETRY_S)
            except Rejected:
                self._gone = True
                return
            else:
                return

    async def _play(self) -> None:
        while not (self._stopping or self._gone):
            await self.act()

    def begin(self, command: str) -> None:
        """Does what it is told, on its own."""
        self._under_way = asyncio.create_task(self._play() if command == "play" else self.act())

    async def settle(self) -> Outcome:
        """See `Players`."""
        self._stopping = True
        if self._under_way is not None:
            await self._under_way
        if not self._gone:
            await self._client.join(self._client.table.session)
        moves = None if self._gone else self._client.table.view[_MOVES]
        return Outcome(self.acknowledged, self.intended, self.failed, moves)

    async def close(self) -> None:
        """Goes."""
        if self._under_way is not None:
            self._under_way.cancel()
        await self._client.close()


class OurPlayers:
    """With heartroom's client."""

    def __init__(self, players: list[OurPlayer]) -> None:
        self._players = players

    @classmethod
    @contextlib.asynccontextmanager
    async def at(cls, ports: list[int]) -> AsyncIterator[Self]:
        """Players who have begun, until the end of the block."""
        async with asyncio.timeout(_PATIENCE_S):
            players = [await OurPlayer.at(port) for port in ports]
            for player in players:
                for _ in range(_WARM):
                    await player.act()
        try:
            yield cls(players)
        finally:
            for player in players:
                await player.close()

    async def tell(self, command: str) -> None:
        """See `Players`."""
        for player in self._players:
            player.begin(command)

    async def settle(self) -> list[Outcome]:
        """See `Players`."""
        async with asyncio.timeout(_PATIENCE_S):
            return [await player.settle() for player in self._players]


def _players(
    name: str, ports: list[int], *, again: bool
) -> contextlib.AbstractAsyncContextManager[TheirPlayers | OurPlayers]:
    return OurPlayers.at(ports) if name == "heartroom" else TheirPlayers.at(name, ports, again=again)


# -- what befalls them


@contextlib.contextmanager
def _started(name: str, home: Path) -> Iterator[Served]:
    with serving_from(home, {}) if name == "heartroom" else peer(name) as served:
        yield served


def _kill(served: Served) -> None:
    """All of it, the store first: nobody is to have the time to end it in good order."""
    for pid in (served.store, served.keeper, served.server):
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


async def killed(name: str, players: int, parent: Path | None) -> Losses:
    """A server is killed and started again. Raises `served.Failed`, `TimeoutError`."""
    with folder(parent) as home, contextlib.ExitStack() as stack:
        first = await asyncio.to_thread(stack.enter_context, _started(name, home))
        async with Proxy.to(first.port) as proxy, _players(name, [proxy.port] * players, again=False) as them:
            await them.tell("play")
            await asyncio.sleep(_PLAY_S)
            _kill(first)
            again = await asyncio.to_thread(stack.enter_context, _started(name, home))
            proxy.target = again.port
            return losses(await them.settle(), repeated=False)


async def cut(name: str, players: int, parent: Path | None, *, again: bool) -> Losses:
    """The link is cut. `again`: the peers' players repeat what failed. Raises as `killed`."""
    with folder(parent) as home, contextlib.ExitStack() as stack:
        served = await asyncio.to_thread(stack.enter_context, _started(name, home))
        async with Proxy.to(served.port) as mute, Proxy.to(served.port) as deaf:
            ports = [(mute, deaf)[number % 2].port for number in range(players)]
            async with _players(name, ports, again=again) as them:
                mute.loses_requests = mute.loses_answers = deaf.loses_answers = True
                await them.tell("act")
                await asyncio.sleep(_UNDER_WAY_S)
                for proxy in (mute, deaf):
                    proxy.cut()
                await asyncio.sleep(CUT_S)
                for proxy in (mute, deaf):
                    proxy.mend()
                return losses(await them.settle(), repeated=again)
