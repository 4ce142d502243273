"""One connection to a peer, in its own protocol, as light as `bench.wire`.

Tells apart what is a diff, what is a first snapshot and what is neither; reads no state. That no diff is
missing is seen by counting.
"""

from __future__ import annotations

import asyncio
import time
import urllib.request
import zlib
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Final, Self

import msgspec
from websockets.frames import Opcode

from bench.load import Tally
from bench.wire import Closed, Link

_PATIENCE_S = 30.0

_encode = msgspec.msgpack.Encoder().encode


class Circle:
    """Those who look at one session of a peer, and what is to happen in it."""

    def __init__(self, tally: Tally, script: Callable[[int], tuple[int, str, Sequence[int]]]) -> None:
        self.tally: Final = tally
        self.script: Final = script
        """Action number n: who takes it (an index of `viewers`), its verb and arguments."""
        self.viewers: list[Viewer] = []
        self.playing = False

    def look(self, viewer: Viewer) -> None:
        """`viewer` has seen another diff, or the first action is to be taken: acts if it is its turn."""
        if not self.playing:
            return
        who, verb, arguments = self.script(viewer.diffs)
        if self.viewers[who] is viewer:
            viewer.under_way = True
            viewer.sent_at = time.perf_counter()
            viewer.act(verb, arguments)

    def quiet(self, alike: bool) -> bool:
        """Whether nothing is under way and everybody has seen as much (with `alike`: byte for byte)."""
        seen = {(viewer.diffs, viewer.trail if alike else 0) for viewer in self.viewers}
        return len(seen) == 1 and not any(viewer.under_way for viewer in self.viewers)


class Viewer(Link):
    """One viewer of a session."""

    def __init__(self, uri: str, circle: Circle) -> None:
        super().__init__(uri)
        self.circle: Final = circle
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the first snapshot has come."""
        self.diffs = 0
        self.trail = 0
        """A checksum of all diffs."""
        self.under_way = False
        self.sent_at = 0.0
        self.snapshot_bytes = 0
        self.join_bytes = 0
        """Of all that came up to the snapshot and with it."""

    @classmethod
    async def at(cls, host: str, port: int, path: str, circle: Circle, *more: Any) -> Self:
        """A viewer that has its snapshot, the next of `circle`."""
        loop = asyncio.get_running_loop()
        uri = f"ws://{host}:{port}{path}"
        _, viewer = await loop.create_connection(lambda: cls(uri, circle, *more), host, port)
        await viewer.open
        async with asyncio.timeout(_PATIENCE_S):
            await viewer.ready
        circle.viewers.append(viewer)
        return viewer

    @abstractmethod
    def act(self, verb: str, arguments: Sequence[int]) -> None:
        """Sends an action."""

    def lost(self, error: Closed) -> None:
        """That must not be."""
        if not self.ready.done():
            self.ready.set_exception(error)

    def snapshot(self, size: int) -> None:
        """The first view is here."""
        self.snapshot_bytes = size
        if not self.ready.done():
            self.ready.set_result(None)

    def diff(self, payload: bytes, size: int) -> None:
        """Counts a diff, and lets the next action be taken."""
        tally = self.circle.tally
        self.diffs += 1
        self.trail = zlib.crc32(payload, self.trail)
        tally.diffs += 1
        tally.diff_bytes += size
        if size > tally.diff_bytes_max:
            tally.diff_bytes_max = size
        if self.under_way:
            self.under_way = False
            tally.actions += 1
            tally.latencies_s.append(time.perf_counter() - self.sent_at)
        self.circle.look(self)


async def post(host: str, port: int, path: str, body: Any) -> Any:
    """What a server answers to `body`, both as JSON. Raises `OSError`."""
    request = urllib.request.Request(
        f"http://{host}:{port}{path}", msgspec.json.encode(body), {"Content-Type": "application/json"}
    )

    def answer() -> bytes:
        with urllib.request.urlopen(request, timeout=_PATIENCE_S) as response:
            text: bytes = response.read()
            return text

    return msgspec.json.decode(await asyncio.to_thread(answer))


# -- Colyseus


class Colyseus(Viewer):
    """See `Protocol.ts` of @colyseus/shared-types."""

    _JOIN, _ERROR, _DATA, _STATE, _PATCH = 10, 11, 13, 14, 15

    @classmethod
    async def gather(cls, host: str, port: int, game: str, deal: list[int], circle: Circle) -> None:
        """Four viewers of a new room."""
        seat = await post(host, port, f"/matchmake/create/{game}", {"deal": deal})
        room = seat["roomId"]
        for _ in range(4):
            path = f"/{seat['processId']}/{room}?sessionId={seat['sessionId']}"
            await cls.at(host, port, path, circle)
            if len(circle.viewers) < 4:
                seat = await post(host, port, f"/matchmake/joinById/{room}", {})

    def act(self, verb: str, arguments: Sequence[int]) -> None:
        """A message of the type `verb`."""
        payload = b"".join(map(_encode, arguments))
        self.write(Opcode.BINARY, bytes((self._DATA,)) + _encode(verb) + payload)

    def received(self, payload: bytes, size: int) -> None:
        """Goes by the first byte."""
        code = payload[0]
        if code == self._PATCH:
            self.diff(payload, size)
        elif code == self._STATE:
            self.join_bytes += size
            self.snapshot(size)
        elif code == self._JOIN:
            self.join_bytes += size
            self.write(Opcode.BINARY, bytes((self._JOIN,)))
        else:
            self.circle.tally.faults.append(f"Colyseus says {payload[:80]!r}")


# -- boardgame.io


class Boardgame(Viewer):
    """socket.io over websockets alone; a match's messages are *sync*, *update* and *matchData*."""

    def __init__(self, uri: str, circle: Circle, game: str, match: str, player: str | None, key: str) -> None:
        super().__init__(uri, circle)
        self._head: Final = f"42/{game},".encode()
        self._space: Final = f"40/{game},".encode()
        self._match: Final = match
        self._player: Final = player
        self._key: Final = key
        self._latest = b""
        """The latest message with a state."""

    @classmethod
    async def gather(cls, host: str, port: int, game: str, deal: list[int], circle: Circle) -> None:
        """Four viewers of a new match, all players of Hearts, one of Heart to Heart."""
        seats = 4 if game == "hearts" else 1
        created = await post(
            host, port, f"/games/{game}/create", {"numPlayers": seats, "setupData": {"deal": deal}}
        )
        match: str = created["matchID"]
        for number in range(4):
            player, key = None, ""
            if number < seats:
                player = str(number)
                joined = await post(
                    host, port, f"/games/{game}/{match}/join", {"playerID": player, "playerName": player}
                )
                key = joined["playerCredentials"]
            await cls.at(
                host, port, "/socket.io/?EIO=4&transport=websocket", circle, game, match, player, key
            )

    def act(self, verb: str, arguments: Sequence[int]) -> None:
        """A move."""
        move = {"type": verb, "args": arguments, "playerID": self._player, "credentials": self._key}
        action = {"type": "MAKE_MOVE", "payload": move}
        self._emit("update", action, self._state_id(), self._match, self._player)

    def received(self, payload: bytes, size: int) -> None:
        """Goes by what the text begins with."""
        if not payload.startswith(self._head):
            if payload[:1] == b"0":
                self.write(Opcode.TEXT, self._space)
            elif payload.startswith(self._space):
                self._emit("sync", self._match, self._player, self._key or None, 4)
            elif payload == b"2":
                self.write(Opcode.TEXT, b"3")
            else:
                self.circle.tally.faults.append(f"boardgame.io says {payload[:80]!r}")
            self.join_bytes += size if not self.ready.done() else 0
            return
        kind = payload[len(self._head) + 2 :].partition(b'"')[0]
        if kind == b"update":
            self._latest = payload
            self.diff(payload, size)
        elif kind == b"sync":
            self._latest = payload
            self.join_bytes += size
            self.snapshot(size)

    def _state_id(self) -> int:
        kind, _, state, *_ = msgspec.json.decode(self._latest[len(self._head) :])
        number: int = (state["state"] if kind == "sync" else state)["_stateID"]
        return number

    def _emit(self, *event: Any) -> None:
        self.write(Opcode.TEXT, self._head + msgspec.json.encode(event))
