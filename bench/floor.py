"""The floor: the least that a durable server on these libraries does in `watch4`.

    python -m bench.floor DIRECTORY

It has no rules, views, versions to compare, resuming, limits or metrics: a counter for a game, one script
call for a batch, and the same bytes for all viewers. What it takes is taken by the kernel and the libraries;
what heartroom takes beyond it is what heartroom is.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

import hiredis
import msgspec
import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from heartroom.client import SUBPROTOCOL
from heartroom.protocol import outbound
from heartroom.store.embedded import Embedded
from heartroom.web.sockets import DirectProtocol, direct, frame

_GATHER_S: Final = 0.001
_SCRIPT: Final = """
local clock = redis.call('TIME')
local now = clock[1] .. string.format('%03d', math.floor(clock[2] / 1000))
local results = {tonumber(now)}
for i = 1, #KEYS do
  local length = redis.call('RPUSH', KEYS[i], now .. ARGV[2 * i])
  results[i + 1] = length == tonumber(ARGV[2 * i - 1]) and 0 or 1
end
return results
"""
_NEW, _JOIN, _ACT = 1, 2, 3
_STOCK, _DISCARD, _TOP, _MOVES = range(25, 29)
"""Fields of a view of Heart to Heart, as the load knows them."""
_CARDS: Final = 26

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[Any]).decode
Write = Callable[[bytes], None]


class Store(asyncio.Protocol):
    """Stores the entries of many games with one call, and waits a moment for many."""

    def __init__(self) -> None:
        self._reader = hiredis.Reader()
        self._sha = hashlib.sha1(_SCRIPT.encode(), usedforsecurity=False).hexdigest()
        self._loaded = False
        self._busy = False
        self._waiting: list[Game] = []
        self._sent: list[Game] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Brings the script along."""
        self._write = cast(asyncio.WriteTransport, transport).write
        command: tuple[Any, ...] = ("SCRIPT", "LOAD", _SCRIPT)
        self._write(hiredis.pack_command(command))

    def data_received(self, data: bytes) -> None:
        """What was sent is stored."""
        self._reader.feed(data)
        while (answer := self._reader.gets()) is not False:
            if not self._loaded:
                self._loaded = True
                continue
            if not isinstance(answer, list) or any(answer[1:]):
                raise SystemExit(f"not stored: {answer}")
            for game in self._sent:
                game.stored()
            self._busy = False
            self._soon()

    def submit(self, game: Game) -> None:
        """Stores what `game` has done."""
        self._waiting.append(game)
        self._soon()

    def _soon(self) -> None:
        if self._waiting and not self._busy:
            self._busy = True
            asyncio.get_running_loop().call_later(_GATHER_S, self._send)

    def _send(self) -> None:
        self._sent, self._waiting = self._waiting, []
        args: list[Any] = []
        for game in self._sent:
            args += (game.version + 1, game.body)
        keys = [game.sid for game in self._sent]
        self._write(hiredis.pack_command(("EVALSHA", self._sha, len(keys), *keys, *args)))


class Game:
    """A stock that is drawn from and turned over."""

    __slots__ = ("actor", "body", "ref", "server", "sid", "stock", "version", "viewers")

    def __init__(self, server: Server, sid: str) -> None:
        self.server = server
        self.sid = sid
        self.version = 0
        self.stock = _CARDS
        self.viewers: list[Write] = []
        self.actor: Write | None = None
        self.ref = 0
        self.body = b""

    def act(self, ref: int, body: bytes, actor: Write) -> None:
        """The next action."""
        self.ref, self.body, self.actor = ref, body, actor
        self.server.store.submit(self)

    def stored(self) -> None:
        """It is stored: shows it."""
        self.version += 1
        self.stock = self.stock - 1 if self.stock else _CARDS
        changed = [
            _STOCK,
            self.stock,
            _DISCARD,
            _CARDS - self.stock,
            _TOP,
            self.stock % 13,
            _MOVES,
            self.version,
        ]
        diff = frame(outbound.diff(self.version, changed))
        both = diff + frame(outbound.ack(self.ref, self.version))
        for write in self.viewers:
            write(both if write is self.actor else diff)


class Server:
    """All games."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._games: dict[str, Game] = {}

    async def play(self, websocket: WebSocket) -> None:
        """One connection."""
        await websocket.accept(SUBPROTOCOL)
        protocol = direct(websocket.scope)
        assert protocol is not None
        write: Write = protocol.transport.write
        game: Game | None = None

        def received(data: bytes, binary: bool) -> None:
            nonlocal game
            message = _decode(data)
            if message[0] == _ACT:
                assert game is not None
                game.act(message[1], data, write)
            elif message[0] == _NEW:
                sid = f"floor:{len(self._games)}"
                self._games[sid] = Game(self, sid)
                write(frame(outbound.created(message[1], sid)))
            elif message[0] == _JOIN:
                game = self._games[message[1]]
                game.viewers.append(write)
                view = [0] * _STOCK + [game.stock, 0, 0, 0]
                write(frame(outbound.snapshot(game.sid, "floor", 1, game.version, None, view, 0, False, 0)))
                write(frame(outbound.table([""], 0)))

        protocol.take_over(received, lambda: None)
        write(frame(outbound.welcome("x", "", [])))
        try:
            while (await websocket.receive())["type"] != "websocket.disconnect":
                pass
        except WebSocketDisconnect:
            pass


async def serve(store_at: Path) -> None:
    """Serves until told to stop."""
    _, store = await asyncio.get_running_loop().create_unix_connection(Store, str(store_at))
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(f"floor at http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        Starlette(routes=[WebSocketRoute("/ws", Server(store).play)]),
        ws=DirectProtocol,
        ws_per_message_deflate=False,
        access_log=False,
        log_config=None,
    )
    await uvicorn.Server(config).serve(sockets=[listening])


def main() -> None:
    """Keeps its store in the directory that it is told."""
    embedded = Embedded(Path(sys.argv[1]))
    embedded.start()
    gc.freeze()
    try:
        uvloop.run(serve(embedded.socket))
    finally:
        embedded.stop()


if __name__ == "__main__":
    main()
