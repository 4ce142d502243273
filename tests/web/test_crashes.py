"""Servers that are killed, and that end: what was acknowledged is there, once, and play goes on."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
import socket
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from heartroom import client as wire
from heartroom.client import Client, Lost, NotAdmitted, Rejected
from heartroom.sessions.log import unpack
from heartroom.store.embedded import Embedded
from heartroom.store.store import Store
from tests.support.games import CODE, GAME
from tests.support.serving import SECRET, Server
from tests.support.stores import PATIENCE_S, StoreProcess, answers, ended, eventually

FAST = {"frames_per_second": "100000", "frames_burst": "100000"}


@pytest.fixture
def data_dir() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="hr-"))
    yield folder / "data"
    eventually(lambda: not answers(str(Embedded(folder / "data").socket)), "the store has ended")
    shutil.rmtree(folder)


@pytest.fixture
def port() -> int:
    """A port that is free, for servers that follow each other on it."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        found: int = sock.getsockname()[1]
        return found


ROUNDS = 2
"""How often the server is killed."""


class Player:
    """Plays on and on, some actions under way at a time; resumes and sends again whatever happens."""

    UNDER_WAY = 8

    def __init__(self, url: str, cookie: str, session: str) -> None:
        self._url, self._cookie, self._session = url, cookie, session
        self.acknowledged: dict[int, int] = {}
        """The version of each ref."""
        self._table = wire.Table()
        self._unanswered: list[list[Any]] = []
        self._next = 1
        self._enough = False

    async def play(self) -> None:
        """Returns when it is told that it is enough and everything is answered."""
        while not (self._enough and not self._unanswered):
            with contextlib.suppress(Lost, NotAdmitted):
                async with await Client.connect(self._url, self._cookie) as client:
                    client.table = self._table
                    try:
                        await client.join(self._session, self._table.epoch, self._table.version)
                        await self._on(client)
                    finally:
                        self._table = client.table
            await asyncio.sleep(0.01)

    def enough(self) -> None:
        self._enough = True

    async def _on(self, client: Client) -> None:
        while self._unanswered or not self._enough:
            while len(self._unanswered) < self.UNDER_WAY and not self._enough:
                action = "undo" if self._next % 2 == 0 else "draw"
                self._unanswered.append([wire.ACT, self._next, self._next - 1, [action]])
                self._next += 1
            asked = [asyncio.ensure_future(client.ask(message[1], message)) for message in self._unanswered]
            results = await asyncio.gather(*asked, return_exceptions=True)
            for message, result in zip(list(self._unanswered), results, strict=True):
                assert not isinstance(result, Rejected), (message, result)
                if isinstance(result, int):
                    assert self.acknowledged.setdefault(message[1], result) == result
                    self._unanswered.remove(message)
            if any(isinstance(result, Lost) for result in results):
                raise Lost("again")


async def a_game_under_load_survives(
    port: int, start: Callable[[], Server], store_url: Callable[[], str]
) -> None:
    """A player plays while the server is killed and started, several times."""
    server = start()
    async with await server.connect() as client:
        session = await client.new(GAME.name, {"code": CODE})
        assert client.cookie is not None
        player = Player(server.url, client.cookie, session)
    playing = asyncio.ensure_future(player.play())
    try:
        for _ in range(ROUNDS):
            reached = len(player.acknowledged) + 40
            await progress(player, playing, reached)
            await asyncio.to_thread(server.kill)
            known = dict(player.acknowledged)
            server.stop()
            server = await asyncio.to_thread(start)
            store = Store(store_url())
            log = await store.open(session)
            await store.aclose()
            assert log is not None
            refs = [unpack(entry.body).ref for entry in log.entries]
            for ref, version in known.items():
                assert refs[version - 1] == ref, "an acknowledged action was lost"
            assert len(set(refs)) == len(refs), "an action was done twice"
        await progress(player, playing, len(player.acknowledged) + 40)
        player.enough()
        await playing
        async with await server.connect(client.cookie) as again:
            await again.join(session)
            # each was done exactly once, in the order in which it was sent
            assert sorted(player.acknowledged) == list(range(1, again.table.version + 1))
            assert all(ref == version for ref, version in player.acknowledged.items())
    finally:
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)
        if server.process.poll() is None:
            await asyncio.to_thread(server.terminate)
        server.stop()


async def progress(player: Player, playing: asyncio.Future[None], count: int) -> None:
    async with asyncio.timeout(60):
        while len(player.acknowledged) < count:
            assert not playing.done(), playing.exception()
            await asyncio.sleep(0.005)


async def test_killing_the_server_under_load_loses_and_doubles_nothing(data_dir: Path, port: int) -> None:
    """With the embedded store, which the next server finds again or ends."""
    await a_game_under_load_survives(
        port, lambda: Server(port, data_dir=str(data_dir), **FAST), lambda: Embedded(data_dir).url
    )


async def test_killing_one_of_many_servers_under_load_loses_and_doubles_nothing(
    own: StoreProcess, port: int
) -> None:
    """With a store of its own, which does not even notice."""
    await a_game_under_load_survives(
        port, lambda: Server(port, redis_url=own.url, secret=SECRET, **FAST), lambda: own.url
    )


async def test_a_server_that_is_told_to_end_ends_in_good_order(data_dir: Path) -> None:
    server = Server(data_dir=str(data_dir))
    children = [child.pid for child in psutil.Process(server.process.pid).children(recursive=True)]
    assert children
    async with await server.connect() as client, await server.connect() as other:
        session = await client.new(GAME.name, {"code": CODE})
        await client.join(session)
        await client.act("draw")
        code = await asyncio.to_thread(server.terminate)
        assert code == 0
        for each in (client, other):
            with pytest.raises(Lost):
                await each.until(lambda: False)
            assert each.connection.close_code == 1012
    # at once, and not some time later
    assert not answers(str(Embedded(data_dir).socket))
    assert all(ended(pid) for pid in children)
    assert "Traceback" not in server.said()
    server.stop()
    # and all is there at the next start, and the players are who they were
    assert stat.S_IMODE((data_dir / "secret").stat().st_mode) == 0o600
    again = Server(data_dir=str(data_dir))
    async with await again.connect(client.cookie) as back:
        assert back.sessions == [(session, GAME.name)]
        await back.join(session)
        assert back.table.version == 1
    assert again.terminate() == 0
    again.stop()


def test_ctrl_c_ends_it_as_well(data_dir: Path) -> None:
    server = Server(data_dir=str(data_dir))
    assert server.get("/healthz").status == 200
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(30) == 0
    assert not answers(str(Embedded(data_dir).socket))
    server.terminate()
    assert server.complaints() == ""
    server.stop()


def test_a_server_that_is_killed_leaves_nothing_behind(data_dir: Path) -> None:
    server = Server(data_dir=str(data_dir))
    children = [child.pid for child in psutil.Process(server.process.pid).children(recursive=True)]
    server.kill()
    eventually(lambda: all(ended(pid) for pid in children), "all its processes end")
    server.stop()


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_an_embedded_store_whose_keeper_and_server_were_killed_is_there_again(
    data_dir: Path, workers: str
) -> None:
    server = Server(data_dir=str(data_dir), workers=workers)
    try:
        async with await server.connect() as client:
            session = await client.new(GAME.name, {"code": CODE})
            await client.join(session)
            assert await client.act("draw") == 1
            (keeper,) = [
                child
                for child in psutil.Process(server.process.pid).children()
                if "heartroom.store.keeper" in child.cmdline()
            ]
            (valkey,) = keeper.children()
            keeper.kill()
            valkey.kill()
            assert await client.act("draw") == 2
        assert "keeper died" in server.said()
        assert await asyncio.to_thread(server.terminate) == 0
        assert not answers(str(Embedded(data_dir).socket))
    finally:
        server.stop()


@pytest.mark.parametrize("sent", [b"{", b""])
async def test_a_request_that_is_half_there_does_not_hold_up_the_end_of_a_server(
    shared: StoreProcess, sent: bytes
) -> None:
    server = Server(redis_url=shared.url, secret=SECRET)
    try:
        head = (
            f"POST /api/me/recover HTTP/1.1\r\nHost: {server.address}\r\nOrigin: http://{server.address}\r\n"
        )
        head += "Content-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n"
        with socket.create_connection(("127.0.0.1", server.port)) as half:
            half.settimeout(PATIENCE_S)
            half.sendall(head.encode() + sent)
            # it is being read: the server has asked for the rest
            assert (await asyncio.to_thread(half.recv, 1000)).startswith(b"HTTP/1.1 100 ")
            assert await asyncio.to_thread(server.terminate) == 0
        assert server.complaints() == ""
    finally:
        server.stop()
