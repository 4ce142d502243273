"""The list of games that are being played now and may be watched.

Each node writes down, all at once and every few seconds, which of them it has open; whoever asks puts
together what the nodes say. So games cost nothing for being listed, however many moves they take, and a node
that dies takes its games off by saying nothing more. From the same words each node learns how many look on at
its games elsewhere.

Of a game only what everybody may know is listed; games that are private are not, nor are tables that were not
made public.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import heapq
from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec
import structlog

from heartroom.games.game import ProgressGame, games
from heartroom.sessions.house import House
from heartroom.sessions.room import Room
from heartroom.store import keys
from heartroom.store.store import Away
from heartroom.tasks import at_most, end

_log = structlog.get_logger(__name__)

TOPIC: Final = "live"


class Playing(NamedTuple):
    """One game on one node, or (`merged`) on all."""

    session: str
    game: str
    code: str | None
    """What its deal is called, if it has a name."""
    ranked: str
    """See `driver.Settings`."""
    names: tuple[str, ...]
    """By seat; `""` for a bot and for a player without a name."""
    bots: tuple[bool, ...]
    """By seat: whether a bot plays there now."""
    scores: tuple[int, ...]
    version: int
    """How many actions there were; not for showing, as it counts hidden ones, too."""
    progress: float | None
    """0 … 1, of a game that knows."""
    since_ms: int
    """When it began, ms since 1970."""
    players: int
    """Players who are connected."""
    viewers: int
    """Others who look on."""


_decoder = msgspec.msgpack.Decoder(tuple[Playing, ...])


def read(said: bytes) -> tuple[Playing, ...]:
    """What a node says, of the games that are known here: a newer one may have more. Raises `MsgspecError` if
    no node has said it."""
    known = games()
    return tuple(playing for playing in _decoder.decode(said) if playing.game in known)


class Live:
    """One a node. `start` it, and `aclose` it before the house."""

    LOOK_S: Final = 2.0
    """How often a node writes down what has changed."""
    REPEAT: Final = 2
    """After how many looks it repeats what has not."""
    OLD_MS: Final = 30_000
    """How long what a node says holds."""
    MOST: Final = 200
    """Games that one node lists: those with the most viewers."""

    def __init__(self, house: House) -> None:
        self._house: Final = house
        self._said = b""
        self._node = house.store.node
        self._looks = 0
        self._watched_elsewhere: set[str] = set()
        """The games open here that others look on at from other nodes."""
        self._puzzled = False
        """Whether the log has spoken of what cannot be read."""
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins to list this node's games."""
        self._task = asyncio.get_running_loop().create_task(self._keep())

    async def aclose(self) -> None:
        """Takes this node's games off the list."""
        await end([self._task])
        if self._said:
            with contextlib.suppress(Away):  # in some seconds nobody believes us any more
                async with at_most(House.CLOSING_S):
                    await self._say(b"")

    async def games(self) -> list[Playing]:
        """All live games, those with the most viewers first, then the latest. Raises `Away`."""
        said: list[bytes] = await self._house.store.run("live", [keys.LIVE], [self.OLD_MS, "", ""])
        return merged(playing for raw in said for playing in self._read(raw))

    async def look(self) -> None:
        """Writes down what has changed since the last look. Raises `Away`."""
        here = heapq.nsmallest(self.MOST, filter(_is_listed, self._house.rooms.values()), key=_attraction)
        listed = sorted(map(_playing, here), key=_interest)
        raw = msgspec.msgpack.encode(listed) if listed else b""
        self._looks += 1
        if raw == self._said and not (self._house.rooms and self._looks % self.REPEAT == 0):
            return
        changed = raw != self._said
        said = await self._say(raw)
        if changed:
            await self._house.store.tell_changed(TOPIC)
        self._hear(said, listed)

    async def _say(self, raw: bytes) -> list[bytes]:
        """Writes down `raw`, and returns what all nodes say."""
        store = self._house.store
        if self._node != store.node:  # what it said under its old name is not to be counted twice
            await store.run("live", [keys.LIVE], [self.OLD_MS, self._node, ""])
            self._node = store.node
        self._said = raw  # whether it comes to that or not: who leaves takes it off
        said: list[bytes] = await store.run("live", [keys.LIVE], [self.OLD_MS, store.node, raw])
        return said

    def _hear(self, said: list[bytes], listed: list[Playing]) -> None:
        """Lets the rooms here know how many look on elsewhere, from what all nodes have said; this one has
        said what is `listed`."""
        elsewhere: Counter[str] = Counter()
        if len(said) > bool(listed):
            for raw in said:
                elsewhere.update({playing.session: playing.viewers for playing in self._read(raw)})
            elsewhere.subtract({playing.session: playing.viewers for playing in listed})
        watched = {sid for sid, viewers in elsewhere.items() if viewers and sid in self._house.rooms}
        for sid in watched | self._watched_elsewhere:
            if (room := self._house.rooms.get(sid)) is not None:
                room.watched_elsewhere(elsewhere[sid])
        self._watched_elsewhere = watched

    def _read(self, raw: bytes) -> tuple[Playing, ...]:
        """What one node says; nothing where it cannot be read."""
        try:
            return read(raw)
        except msgspec.MsgspecError as error:
            if not self._puzzled:
                self._puzzled = True
                _log.error("live games cannot be read", reason=str(error))
            return ()

    async def _keep(self) -> None:
        while True:
            try:
                await self.look()
            except Away:
                self._said = b""
            except Exception:
                _log.exception("live games could not be listed")
            await asyncio.sleep(self.LOOK_S)


def merged(said: Iterable[Playing]) -> list[Playing]:
    """What several nodes say, put together: who is connected and who looks on is added up, of the rest the
    latest counts. Without a player who is there it is no live game."""
    found: dict[str, Playing] = {}
    for playing in said:
        other = found.get(playing.session)
        if other is not None:
            playing = max(playing, other, key=lambda one: one.version)._replace(
                players=playing.players + other.players, viewers=playing.viewers + other.viewers
            )
        found[playing.session] = playing
    return sorted((playing for playing in found.values() if playing.players), key=_interest)


def _interest(playing: Playing) -> tuple[int, int, str]:
    return -playing.viewers, -playing.since_ms, playing.session


def _is_listed(room: Room) -> bool:
    if room.started_ms is None or room.is_over or room.table.closed or not room.table.started:
        return False
    if room.game.seats > 1 and not room.settings.public:  # it is for those who have the link
        return False
    return bool(room.viewers)


def _attraction(room: Room) -> tuple[int, int, str]:
    """`_interest`, for less."""
    return -room.spectators, -(room.started_ms or 0), room.sid


@functools.cache
def _knowing(name: str) -> ProgressGame | None:
    # Asking whether something has the methods of a protocol takes longer than all else here.
    game = games()[name]
    return game if isinstance(game, ProgressGame) else None


def _playing(room: Room) -> Playing:
    """What is said of a room that is listed."""
    game = room.game
    knowing = _knowing(game.name)
    code = room.setup.options.get("code")
    assert room.started_ms is not None
    return Playing(
        session=room.sid,
        game=game.name,
        code=code if isinstance(code, str) else None,
        ranked=room.settings.ranked,
        names=tuple(room.names),
        bots=tuple(not room.table.is_human(seat) for seat in range(game.seats)),
        scores=game.scores(room.state),
        version=room.version,
        progress=knowing.progress(room.state) if knowing else None,
        since_ms=room.started_ms,
        players=len(room.seats_here),
        viewers=room.spectators,
    )
