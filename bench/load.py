"""The load, in a process of its own: opens the connections of one workload, drives them, counts.

    python -m bench.load JOB

`JOB` is a `Job` as JSON; prints an `Echoed`, a `Watched` or an `Idle` as JSON, or fails and says why. `runs`
starts it.

`echo` is R connections to the server of `bench.echo`, each with one message under way. `watch4` is R sessions
of one player and three spectators: the player draws, or recycles when the stock is empty, the next action as
soon as the diff of the last one has come; every viewer must get every diff, in order, which is checked.
`idle` opens connections, joined to sessions of four or to none, and leaves them alone.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import msgspec
import uvloop

from bench.measure import cpu_s, machine_s, quantile, rss
from bench.wire import Closed, Peer
from heartroom.client import ACT, CREATED, DIFF, ERROR, JOIN, NEW, REJECT, SNAPSHOT, TABLE, WELCOME

GAME = "heart-to-heart"
STOCK = 25
"""The field of its view that says how many cards the stock has."""
SPECTATORS = 3

_AT_ONCE = 32
"""Connections, or sessions, that are opened at a time."""
_PATIENCE_S = 30.0
"""How long anything but the load itself may take."""
_WARMERS = 64
"""Connections opened and closed before memory is looked at, for what only the first ones cost."""


class Job(msgspec.Struct, frozen=True):
    """What to do, and to whom."""

    workload: str
    """`echo`, `watch4`, `connected` or `joined`."""
    host: str
    port: int
    server: int
    """Process ids of the server, its Valkey and the keeper of that."""
    store: int
    keeper: int
    sessions: int = 0
    """Of `watch4`; connections of `echo`."""
    warm_s: float = 1.0
    window_s: float = 3.0
    connections: int = 0
    """Of the idle workloads."""
    settle_s: float = 3.0


class Watched(msgspec.Struct, frozen=True):
    """What was counted in one window of `watch4`."""

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


async def _all(calls: list[Callable[[], Coroutine[Any, Any, _T]]]) -> list[_T]:
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
        callers = await _all([lambda: Caller.connect(job.host, job.port)] * job.sessions)
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
    pids = (job.server, job.store, job.keeper, os.getpid())
    async with asyncio.timeout(_PATIENCE_S):
        sessions = await _all([lambda: _session(job, tally)] * job.sessions)
    player = sessions[0][0]
    snapshot_bytes = player.sizes[SNAPSHOT]
    join_bytes = snapshot_bytes + player.sizes[TABLE]
    for player, _ in sessions:
        player.playing = True
        player.act()
    await asyncio.sleep(job.warm_s)

    actions, diffs, diff_bytes = tally.actions, tally.diffs, tally.diff_bytes
    began, busy_s, used = time.perf_counter(), machine_s(), cpu_s(pids)
    await asyncio.sleep(job.window_s)
    wall_s, busy_s = time.perf_counter() - began, machine_s() - busy_s
    ours = [after - before for before, after in zip(used, cpu_s(pids), strict=True)]
    server_s, store_s, keeper_s, load_s = ours
    latencies_ms = [latency * 1000 for latency in tally.latencies_s[actions:]]
    actions, diffs, diff_bytes = (
        tally.actions - actions,
        tally.diffs - diffs,
        tally.diff_bytes - diff_bytes,
    )

    for player, _ in sessions:
        player.playing = False
    await _settled(sessions, tally)
    return Watched(
        actions=actions,
        wall_s=wall_s,
        server_s=server_s,
        store_s=store_s,
        keeper_s=keeper_s,
        load_s=load_s,
        others_s=max(0.0, busy_s - sum(ours)),
        p50_ms=quantile(latencies_ms, 0.5),
        p99_ms=quantile(latencies_ms, 0.99),
        diff_bytes=diff_bytes / diffs,
        diff_bytes_max=tally.diff_bytes_max,
        snapshot_bytes=snapshot_bytes,
        join_bytes=join_bytes,
    )


async def _settled(sessions: list[tuple[Player, list[Viewer]]], tally: Tally) -> None:
    """Returns when everybody has seen every action; raises `Fault` if somebody does not."""
    deadline = time.monotonic() + _PATIENCE_S
    while any(
        player.under_way or spectator.version != player.version
        for player, spectators in sessions
        for spectator in spectators
    ):
        if tally.faults or time.monotonic() > deadline:
            raise Fault("; ".join(tally.faults[:5]) or "a viewer misses the last diffs")
        await asyncio.sleep(0.02)
    if tally.faults:
        raise Fault("; ".join(tally.faults[:5]))
    if any(peer.closed for player, spectators in sessions for peer in (player, *spectators)):
        raise Fault("a connection was lost")
    if tally.diffs != (1 + SPECTATORS) * tally.actions:
        raise Fault(f"{tally.diffs} diffs of {tally.actions} actions")


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
        warmers = await _all([call] * (_WARMERS // size))
    for group in warmers:
        for viewer in group:
            viewer.abort()
    await asyncio.sleep(1.0)
    before = rss(job.server)
    async with asyncio.timeout(_PATIENCE_S + job.connections / 50):
        groups = await _all([call] * (job.connections // size))
    await asyncio.sleep(job.settle_s)
    after = rss(job.server)
    if any(viewer.closed for group in groups for viewer in group):
        raise Fault("a connection was lost")
    return Idle(sum(map(len, groups)), before, after)


def main() -> None:
    """See the module."""
    job = msgspec.json.decode(sys.argv[1], type=Job)
    works: dict[str, Callable[[Job], Coroutine[Any, Any, Watched | Echoed | Idle]]]
    works = {"echo": echo, "watch4": watch4, "connected": idle, "joined": idle}
    try:
        result = uvloop.run(works[job.workload](job))
    except (Fault, Closed, TimeoutError, OSError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
    print(msgspec.json.encode(result).decode())


if __name__ == "__main__":
    main()
