"""The load, in a process of its own: opens the connections of one workload, drives them, counts.

    python -m bench.load JOB

`JOB` is a `Job` as JSON; prints an `Echoed`, a `Watched` or an `Idle` as JSON, or fails and says why. `runs`
starts it.

`echo` is R connections to the server of `bench.echo`, each with one message under way. `watch4` is R sessions
of one player and three spectators: the player draws, or recycles when the stock is empty, the next action as
soon as the diff of the last one has come; every viewer must get every diff, in order, which is checked.
`table4` is R tables of Hearts with four players and no bots: whoever is on turn passes, plays or goes on as
soon as the diff of the action before has come to them; a game that is over is followed by another.
`connected` and `joined` open connections, joined to sessions of four or to none, leave them alone, and ask
each in the end whether it still answers.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, NamedTuple, Self, TypeVar

import msgspec
import uvloop

from bench.measure import cpu_s, machine_s, quantile, rss
from bench.wire import Closed, Peer
from heartroom.client import (
    ACK,
    ACT,
    CREATED,
    DIFF,
    ERROR,
    JOIN,
    NEW,
    PING,
    PONG,
    REJECT,
    SIT,
    SNAPSHOT,
    START,
    TABLE,
    WELCOME,
)
from heartroom.games.hearts.rules import OVER, PASSING, PLAYING
from heartroom.games.hearts.view import FIELD

GAME = "heart-to-heart"
STOCK = 25
"""The field of its view that says how many cards the stock has."""
SPECTATORS = 3

HEARTS = "hearts"
LONG_GAME = 200
"""Its highest target: a new game costs more than an action and is to come seldom."""
PHASE, TO_ACT, LEGAL = FIELD["phase"], FIELD["to_act"], FIELD["legal"]

_AT_ONCE = 32
"""Connections, or sessions, that are opened at a time."""
_PATIENCE_S = 30.0
"""How long anything but the load itself may take."""
_WARMERS = 64
"""Connections opened and closed before memory is looked at, for what only the first ones cost."""


class Job(msgspec.Struct, frozen=True):
    """What to do, and to whom."""

    workload: str
    """`echo`, `watch4`, `table4`, `connected` or `joined`."""
    host: str
    port: int
    server: int
    """Process ids of the server, its Valkey and the keeper of that; 0 for those that it has not."""
    store: int
    keeper: int
    sessions: int = 0
    """Of `watch4`, tables of `table4`; connections of `echo`."""
    warm_s: float = 1.0
    window_s: float = 3.0
    connections: int = 0
    """Of the idle workloads."""
    settle_s: float = 3.0


class Watched(msgspec.Struct, frozen=True):
    """What was counted in one window of `watch4` or `table4`."""

    actions: int
    wall_s: float
    server_s: float
    """CPU time of the server, its Valkey, the keeper and this process."""
    store_s: float
    keeper_s: float
    load_s: float
    others_s: float
    """CPU time of everything else on the machine: where this is much, the figures are worth less."""
    p50_ms: float
    """From sending an action to its diff at the player."""
    p99_ms: float
    diff_bytes: float
    """Of the diffs on the wire, framing included, per diff and viewer: mean, and the longest."""
    diff_bytes_max: int
    snapshot_bytes: int
    """The first snapshot on the wire, framing included."""
    join_bytes: int
    """All that answers a join: snapshot and table."""


class Echoed(msgspec.Struct, frozen=True):
    """What was counted in one window of `echo`."""

    messages: int
    wall_s: float
    server_s: float


class Idle(msgspec.Struct, frozen=True):
    """What idle connections cost."""

    connections: int
    rss_before: int
    rss_after: int
    alive: int = 0
    """Those that answered a ping in the end."""
    cpu: float = 0.0
    """CPU time of the server in a second in which nobody does anything, keeping alive included."""
    opening_s: float = 0.0


_T = TypeVar("_T")


class Fault(Exception):
    """The server did something that it must not."""


# -- one connection


class Tally:
    """What all connections of a workload count together."""

    def __init__(self) -> None:
        self.actions = 0
        self.diffs = 0
        self.diff_bytes = 0
        self.diff_bytes_max = 0
        self.latencies_s: list[float] = []
        self.faults: list[str] = []


class Viewer(Peer):
    """Sees to it that no diff is missing."""

    def __init__(self, uri: str, tally: Tally) -> None:
        super().__init__(uri)
        self.tally = tally
        self.version = 0
        self.welcome = self.next(WELCOME)

    def message(self, message: list[Any], size: int) -> None:
        """Counts a diff; nobody should be told that anything is wrong."""
        kind = message[0]
        if kind == DIFF:
            if message[1] != self.version + 1:
                self.tally.faults.append(f"diff to version {message[1]} on {self.version}")
            self.version = message[1]
            self.tally.diffs += 1
            self.tally.diff_bytes += size
            if size > self.tally.diff_bytes_max:
                self.tally.diff_bytes_max = size
        elif kind == SNAPSHOT:
            self.version = message[4]
        elif kind in (REJECT, ERROR):
            self.tally.faults.append(f"refused: {message[1:]}")

    async def join(self, sid: str) -> list[Any]:
        """Looks at a session; returns the snapshot."""
        snapshot, table = self.next(SNAPSHOT), self.next(TABLE)
        self.send([JOIN, sid, 0, 0])
        await table
        return await snapshot


class Player(Viewer):
    """Draws and recycles, one action at a time."""

    def __init__(self, uri: str, tally: Tally) -> None:
        super().__init__(uri, tally)
        self.stock = 0
        self.playing = False
        self.under_way = False
        self._ref = 0
        self._sent_at = 0.0

    async def begin(self) -> str:
        """A new session with us in it."""
        created = self.next(CREATED)
        self.send([NEW, 1, GAME, {}])
        sid: str = (await created)[2]
        self.stock = (await self.join(sid))[6][STOCK]
        return sid

    def act(self) -> None:
        """Sends the next action."""
        self._ref += 1
        self.under_way = True
        self._sent_at = time.perf_counter()
        self.send([ACT, self._ref, self.version, ["draw" if self.stock else "recycle"]])

    def message(self, message: list[Any], size: int) -> None:
        """A diff is our own: nobody else acts here."""
        super().message(message, size)
        if message[0] == DIFF:
            self.tally.latencies_s.append(time.perf_counter() - self._sent_at)
            self.tally.actions += 1
            self.under_way = False
            # draws and recycles change no field before this one
            assert message[2] == STOCK
            self.stock = message[3]
            if self.playing:
                self.act()


# -- the workloads


async def all_of(calls: list[Callable[[], Coroutine[Any, Any, _T]]]) -> list[_T]:
    """What all `calls` return; some are under way at a time."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(call: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        async with gate:
            return await call()

    return list(await asyncio.gather(*map(one, calls)))


class Caller(Peer):
    """Sends a message, and the next one when it comes back."""

    def __init__(self, uri: str) -> None:
        super().__init__(uri)
        self.echoes = 0

    def call(self) -> None:
        """Sends 32 bytes."""
        self.send([0, "x" * 29])

    def message(self, message: list[Any], size: int) -> None:
        """The echo."""
        self.echoes += 1
        self.call()


async def echo(job: Job) -> Echoed:
    """See the module. Raises `Closed`, `TimeoutError`."""
    async with asyncio.timeout(_PATIENCE_S):
        callers = await all_of([lambda: Caller.connect(job.host, job.port)] * job.sessions)
    for caller in callers:
        caller.call()
    await asyncio.sleep(job.warm_s)
    messages = sum(caller.echoes for caller in callers)
    began, (used,) = time.perf_counter(), cpu_s([job.server])
    await asyncio.sleep(job.window_s)
    wall_s, (server_s,) = time.perf_counter() - began, cpu_s([job.server])
    messages = sum(caller.echoes for caller in callers) - messages
    return Echoed(messages, wall_s, server_s - used)


async def _session(job: Job, tally: Tally) -> tuple[Player, list[Viewer]]:
    player = await Player.connect(job.host, job.port, tally)
    await player.welcome
    sid = await player.begin()
    spectators = []
    for _ in range(SPECTATORS):
        spectator = await Viewer.connect(job.host, job.port, tally)
        await spectator.welcome
        await spectator.join(sid)
        spectators.append(spectator)
    return player, spectators


async def watch4(job: Job) -> Watched:
    """See the module. Raises `Fault` if a viewer missed anything, `Closed`, `TimeoutError`."""
    tally = Tally()
    async with asyncio.timeout(_PATIENCE_S):
        sessions = await all_of([lambda: _session(job, tally)] * job.sessions)
    for player, _ in sessions:
        player.playing = True
        player.act()
    counted = await window(job, tally)
    for player, _ in sessions:
        player.playing = False
    await _settled(sessions, tally)
    sizes = sessions[0][0].sizes
    return watched(counted, sizes[SNAPSHOT], sizes[SNAPSHOT] + sizes[TABLE], tally.diff_bytes_max)


class Counted(NamedTuple):
    """What `window` found."""

    actions: int
    wall_s: float
    cpu_s: list[float]
    others_s: float
    latencies_s: list[float]
    diffs: int
    diff_bytes: int


async def window(job: Job, tally: Tally) -> Counted:
    """Counts what a load that is under way does, for the time that `job` says."""
    pids = [pid for pid in (job.server, job.store, job.keeper, os.getpid()) if pid]
    await asyncio.sleep(job.warm_s)
    actions, diffs, diff_bytes, first = tally.actions, tally.diffs, tally.diff_bytes, len(tally.latencies_s)
    began, busy_s, used = time.perf_counter(), machine_s(), cpu_s(pids)
    await asyncio.sleep(job.window_s)
    wall_s, busy_s = time.perf_counter() - began, machine_s() - busy_s
    ours = [after - before for before, after in zip(used, cpu_s(pids), strict=True)]
    return Counted(
        tally.actions - actions,
        wall_s,
        ours if job.store else [ours[0], 0.0, 0.0, ours[-1]],
        max(0.0, busy_s - sum(ours)),
        tally.latencies_s[first:],
        tally.diffs - diffs,
        tally.diff_bytes - diff_bytes,
    )


def watched(counted: Counted, snapshot_bytes: int, join_bytes: int, diff_bytes_max: int) -> Watched:
    """The result of a load that was seen to miss nothing. Raises `Fault` if nothing happened."""
    if not counted.actions:
        raise Fault("nothing happened in the window")
    latencies_ms = [latency * 1000 for latency in counted.latencies_s]
    server_s, store_s, keeper_s, load_s = counted.cpu_s
    return Watched(
        actions=counted.actions,
        wall_s=counted.wall_s,
        server_s=server_s,
        store_s=store_s,
        keeper_s=keeper_s,
        load_s=load_s,
        others_s=counted.others_s,
        p50_ms=quantile(latencies_ms, 0.5),
        p99_ms=quantile(latencies_ms, 0.99),
        diff_bytes=counted.diff_bytes / counted.diffs,
        diff_bytes_max=diff_bytes_max,
        snapshot_bytes=snapshot_bytes,
        join_bytes=join_bytes,
    )


async def _settled(sessions: list[tuple[Player, list[Viewer]]], tally: Tally) -> None:
    """Returns when everybody has seen every action; raises `Fault` if somebody does not."""
    await settled(
        lambda: all(
            not player.under_way and spectator.version == player.version
            for player, spectators in sessions
            for spectator in spectators
        ),
        tally,
    )
    if any(peer.closed for player, spectators in sessions for peer in (player, *spectators)):
        raise Fault("a connection was lost")
    if tally.diffs != (1 + SPECTATORS) * tally.actions:
        raise Fault(f"{tally.diffs} diffs of {tally.actions} actions")


async def settled(quiet: Callable[[], bool], tally: Tally) -> None:
    """Returns when `quiet()`; raises `Fault` if that does not come, or if there was any."""
    deadline = time.monotonic() + _PATIENCE_S
    while not quiet():
        if tally.faults or time.monotonic() > deadline:
            raise Fault("; ".join(tally.faults[:5]) or "a viewer misses the last diffs")
        await asyncio.sleep(0.02)
    if tally.faults:
        raise Fault("; ".join(tally.faults[:5]))


# -- Hearts


class Seated(Viewer):
    """One of four players, who acts when the game waits for nobody before it."""

    def __init__(self, uri: str, tally: Tally) -> None:
        super().__init__(uri, tally)
        self.table: Foursome | None = None
        """Set while it plays."""
        self.view: list[Any] = []
        self.seat = 0
        self.under_way = False
        self._ref = 0
        self._sent_at = 0.0

    async def ask(self, kind: int, *rest: Any) -> None:
        """Sends a request and returns when it was done."""
        self._ref += 1
        done = self.next(ACK)
        self.send([kind, self._ref, *rest])
        await done

    async def create(self) -> str:
        """A new table with us in its first seat."""
        created = self.next(CREATED)
        self.send([NEW, 1, HEARTS, {"target": LONG_GAME}, {"pace": 0}])
        sid: str = (await created)[2]
        return sid

    def message(self, message: list[Any], size: int) -> None:
        """Keeps the view, and acts if it is time."""
        super().message(message, size)
        if message[0] == SNAPSHOT:
            self.seat, self.view = message[5], message[6]
        elif message[0] == DIFF:
            for place in range(2, len(message), 2):
                self.view[message[place]] = message[place + 1]
            if self.under_way:
                self.under_way = False
                self.tally.latencies_s.append(time.perf_counter() - self._sent_at)
                self.tally.actions += 1
            if self.table is not None:
                self.table.look(self)

    def act(self) -> None:
        """Takes the next action: passes what comes first, plays the first card that may be played."""
        view = self.view
        phase = view[PHASE]
        action = ["next"]
        if phase == PASSING:
            action = ["pass", *view[self.seat][:3]]
        elif phase == PLAYING:
            action = ["play", view[LEGAL][0]]
        self._ref += 1
        self.under_way = True
        self._sent_at = time.perf_counter()
        self.send([ACT, self._ref, self.version, action])


class Foursome:
    """A table of four players who play one game after the other."""

    def __init__(self, players: list[Seated]) -> None:
        self.players = players
        self.playing = False
        self._between: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, job: Job, tally: Tally) -> Self:
        """A table at which a game can begin."""
        players = []
        for _ in range(1 + SPECTATORS):
            player = await Seated.connect(job.host, job.port, tally)
            await player.welcome
            players.append(player)
        table = cls(players)
        await table._deal()
        return table

    def play(self) -> None:
        """Begins, or goes on."""
        self.playing = True
        for player in self.players:
            self.look(player)

    def look(self, player: Seated) -> None:
        """`player` has a new view."""
        view = player.view
        if not self.playing or player.under_way:
            return
        if view[PHASE] == OVER:
            if player is self.players[0]:
                self._between = asyncio.create_task(self._again())
        elif view[TO_ACT][0] == player.seat:
            player.act()

    def quiet(self) -> bool:
        """Whether nothing is under way, and everybody has seen everything."""
        if self._between is not None and not self._between.done():
            return False
        first = self.players[0].version
        return all(player.version == first and not player.under_way for player in self.players)

    async def _again(self) -> None:
        try:
            await self._deal()
        except (Closed, TimeoutError) as error:
            self.players[0].tally.faults.append(f"no new game: {error}")
        else:
            if self.playing:
                self.play()

    async def _deal(self) -> None:
        """A new game, with everybody in it and ready."""
        async with asyncio.timeout(_PATIENCE_S):
            host = self.players[0]
            for player in self.players:
                player.table = None
            sid = await host.create()
            await host.join(sid)
            for seat, player in enumerate(self.players[1:], start=1):
                await player.join(sid)
                await player.ask(SIT, seat)
            await host.ask(START)
            for player in self.players:
                # for the view with its cards
                await player.join(sid)
                player.table = self


async def table4(job: Job) -> Watched:
    """See the module. Raises as `watch4`."""
    tally = Tally()
    async with asyncio.timeout(_PATIENCE_S):
        tables = await all_of([lambda: Foursome.open(job, tally)] * job.sessions)
    sizes = dict(tables[0].players[0].sizes)
    for table in tables:
        table.play()
    counted = await window(job, tally)
    for table in tables:
        table.playing = False
    await settled(lambda: all(table.quiet() for table in tables), tally)
    if any(player.closed for table in tables for player in table.players):
        raise Fault("a connection was lost")
    return watched(counted, sizes[SNAPSHOT], sizes[SNAPSHOT] + sizes[TABLE], tally.diff_bytes_max)


# -- idle connections


async def idle(job: Job) -> Idle:
    """See the module. Raises `Closed`, `TimeoutError`."""
    tally = Tally()

    async def connected() -> list[Viewer]:
        viewer = await Viewer.connect(job.host, job.port, tally)
        await viewer.welcome
        return [viewer]

    async def joined() -> list[Viewer]:
        player, spectators = await _session(job, tally)
        return [player, *spectators]

    size, call = (1, connected) if job.workload == "connected" else (1 + SPECTATORS, joined)
    async with asyncio.timeout(_PATIENCE_S):
        warmers = await all_of([call] * (_WARMERS // size))
    for group in warmers:
        for viewer in group:
            viewer.abort()
    await asyncio.sleep(1.0)
    before, began = rss(job.server), time.perf_counter()
    async with asyncio.timeout(_PATIENCE_S + job.connections / 50):
        groups = await all_of([call] * (job.connections // size))
    opening_s = time.perf_counter() - began
    await asyncio.sleep(job.settle_s)
    after = rss(job.server)
    began, (used,) = time.perf_counter(), cpu_s([job.server])
    await asyncio.sleep(job.window_s)
    cpu = (cpu_s([job.server])[0] - used) / (time.perf_counter() - began)
    viewers = [viewer for group in groups for viewer in group]
    async with asyncio.timeout(_PATIENCE_S):
        await all_of([partial(_answers, viewer, number) for number, viewer in enumerate(viewers)])
    if any(viewer.closed for viewer in viewers):
        raise Fault("a connection was lost")
    return Idle(len(viewers), before, after, len(viewers), cpu, opening_s)


async def _answers(viewer: Viewer, number: int) -> None:
    """Returns when a ping was answered; raises `Closed`, `Fault`."""
    pong = viewer.next(PONG)
    viewer.send([PING, number])
    if (await pong)[1] != number:
        raise Fault("somebody else's pong")


def main() -> None:
    """See the module."""
    job = msgspec.json.decode(sys.argv[1], type=Job)
    works: dict[str, Callable[[Job], Coroutine[Any, Any, Watched | Echoed | Idle]]]
    works = {"echo": echo, "watch4": watch4, "table4": table4, "connected": idle, "joined": idle}
    try:
        result = uvloop.run(works[job.workload](job))
    except (Fault, Closed, TimeoutError, OSError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
    print(msgspec.json.encode(result).decode())


if __name__ == "__main__":
    main()
