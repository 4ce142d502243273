"""The paced load, in a process of its own: an open loop over one node or several.

    python -m bench.paced JOB

`JOB` is a `Job` as JSON; prints a `Paced` as JSON, or fails and says why. `bench.nodes`, `bench.open` and
`bench.failover` start it.

Sessions as `watch4` has them: a player who draws and recycles, and spectators. Actions are due at
moments of a Poisson process, whatever the server does meanwhile, and the sessions take turns. A latency is
counted from the moment that the action was due, so that a server (or a load) that stands still is not spared
those that it keeps waiting. A player whose last action is still under way sends the next one as soon as that
is done. Every viewer must get every diff, in order.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import random
import sys
import time
import urllib.request
from collections import deque
from collections.abc import Callable
from typing import Any, Final

import msgspec
import uvloop

from bench.load import SPECTATORS, STOCK, Fault, Tally, Viewer, all_of, settled
from bench.measure import cpu_s, machine_s, quantile
from bench.wire import Closed
from heartroom.client import ACT, CREATED, DIFF, NEW, SNAPSHOT

_PATIENCE_S: Final = 60.0
_GAME: Final = "heart-to-heart"


class Job(msgspec.Struct, frozen=True):
    """What to do, and to whom."""

    host: str
    ports: list[int]
    """Of the nodes."""
    nodes: list[int]
    stores: list[int]
    """Process ids, whose CPU time is counted."""
    sessions: int
    rate: float
    """Actions due a second, of all sessions together."""
    spectators: int = SPECTATORS
    """Of each session."""
    apart: bool = False
    """Whether each viewer of a session is on another node; else all are on one that chance chooses."""
    warm_s: float = 1.0
    window_s: float = 5.0
    seed: int = 1


class Paced(msgspec.Struct, frozen=True):
    """What was counted of the actions that were due in one window."""

    actions: int
    wall_s: float
    nodes_s: float
    """CPU time of all nodes, of all servers of the store, of this process, and of everything else."""
    stores_s: float
    load_s: float
    others_s: float
    p50_ms: float
    """From when an action was due to its diff at its player."""
    p99_ms: float
    p999_ms: float
    worst_ms: float
    seen_p50_ms: float
    """The same, to its diff at a spectator."""
    seen_p99_ms: float
    late_p99_ms: float
    """How late this process itself was in taking up what was due: part of the latencies."""
    queued: int
    """Of the actions, those that had to wait until their player's last one was done."""
    batch: float
    """Entries of a commit, in the mean over all nodes."""
    diff_bytes: float


class Alarm:
    """Calls at a moment, to some microseconds: timers of event loops count milliseconds. Linux alone."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd: int = self._libc.timerfd_create(time.CLOCK_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC)
        if self._fd < 0:
            raise OSError(ctypes.get_errno(), "no timer")
        self._call = call
        asyncio.get_running_loop().add_reader(self._fd, self._rung)

    def at(self, moment_s: float) -> None:
        """Rings once at `moment_s` of `time.monotonic`, at once if that is past."""
        whole = int(moment_s)
        moment = (ctypes.c_long * 4)(0, 0, whole, max(1, int((moment_s - whole) * 1e9)))
        if self._libc.timerfd_settime(self._fd, 1, ctypes.byref(moment), None):  # 1: TFD_TIMER_ABSTIME
            raise OSError(ctypes.get_errno(), "the timer cannot be set")

    def close(self) -> None:
        """Rings no more."""
        asyncio.get_running_loop().remove_reader(self._fd)
        os.close(self._fd)

    def _rung(self) -> None:
        try:
            os.read(self._fd, 8)
        except BlockingIOError:  # set anew meanwhile
            return
        self._call()


class Book:
    """What all viewers write down: when an action was due, and how long it took, in seconds."""

    def __init__(self) -> None:
        self.own: list[tuple[float, float]] = []
        self.seen: list[tuple[float, float]] = []
        self.late: list[tuple[float, float]] = []
        self.queued: list[float] = []


class Spectator(Viewer):
    """Sees what the player of its session does."""

    def __init__(self, uri: str, tally: Tally, book: Book, dues: list[float]) -> None:
        super().__init__(uri, tally)
        self._book = book
        self._dues = dues

    def message(self, message: list[Any], size: int) -> None:
        """Writes down a diff."""
        super().message(message, size)
        if message[0] == DIFF:
            due = self._dues[message[1] - 1]
            self._book.seen.append((due, time.monotonic() - due))


class Player(Viewer):
    """Draws and recycles when it is told to, one action at a time."""

    def __init__(self, uri: str, tally: Tally, book: Book) -> None:
        super().__init__(uri, tally)
        self._book = book
        self.dues: list[float] = []
        """By version, less one: when the action that made it was due."""
        self._waiting: deque[float] = deque()
        self._stock = 0
        self._ref = 0
        self.under_way = False

    async def begin(self) -> str:
        """A new session with us in it."""
        created = self.next(CREATED)
        self.send([NEW, 1, _GAME, {}])
        sid: str = (await created)[2]
        self._stock = (await self.join(sid))[6][STOCK]
        return sid

    def take(self, due: float) -> None:
        """An action is due."""
        if self.under_way:
            self._book.queued.append(due)
            self._waiting.append(due)
        else:
            self._act(due)

    def _act(self, due: float) -> None:
        self.under_way = True
        self.dues.append(due)
        self._ref += 1
        self.send([ACT, self._ref, self.version, ["draw" if self._stock else "recycle"]])

    def message(self, message: list[Any], size: int) -> None:
        """A diff is our own: nobody else acts here."""
        super().message(message, size)
        if message[0] == DIFF:
            due = self.dues[message[1] - 1]
            self._book.own.append((due, time.monotonic() - due))
            self.tally.actions += 1
            assert message[2] == STOCK
            self._stock = message[3]
            self.under_way = False
            if self._waiting:
                self._act(self._waiting.popleft())
        elif message[0] == SNAPSHOT and message[4] != len(self.dues):
            self.tally.faults.append("a snapshot that nobody asked for")


Session = tuple[Player, list[Spectator]]


async def _session(host: str, ports: list[int], tally: Tally, book: Book) -> Session:
    """`ports`: where the player goes, and each spectator."""
    player = await Player.connect(host, ports[0], tally, book)
    await player.welcome
    sid = await player.begin()
    spectators = []
    for port in ports[1:]:
        spectator = await Spectator.connect(host, port, tally, book, player.dues)
        await spectator.welcome
        await spectator.join(sid)
        spectators.append(spectator)
    return player, spectators


def places(job: Job) -> list[list[int]]:
    """For each session the ports of its four viewers."""
    chance = random.Random(job.seed)
    found = []
    for number in range(job.sessions):
        if job.apart:
            found.append(
                [job.ports[(number + viewer) % len(job.ports)] for viewer in range(1 + job.spectators)]
            )
        else:
            found.append([chance.choice(job.ports)] * (1 + job.spectators))
    return found


def moments(rate: float, until_s: float, seed: int) -> list[float]:
    """When actions are due, in seconds from the beginning: a Poisson process."""
    chance = random.Random(seed)
    found: list[float] = []
    at = chance.expovariate(rate)
    while at < until_s:
        found.append(at)
        at += chance.expovariate(rate)
    return found


class Pace:
    """Tells the players, in turn, when an action is due."""

    def __init__(self, take: list[Callable[[float], None]], dues: list[float], book: Book) -> None:
        self._take = take
        self._dues = dues
        self._book = book
        self._next = 0
        self._alarm = Alarm(self._rung)
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._alarm.at(dues[0])

    def stop(self) -> None:
        """Nothing more is due."""
        if not self.over.done():
            self._alarm.close()
            self.over.set_result(None)

    def _rung(self) -> None:
        dues, take, late = self._dues, self._take, self._book.late
        now = time.monotonic()
        while self._next < len(dues) and (due := dues[self._next]) <= now:
            late.append((due, now - due))
            take[self._next % len(take)](due)
            self._next += 1
            now = time.monotonic()
        if self._next < len(dues):
            self._alarm.at(dues[self._next])
        else:
            self.stop()


def _batches(host: str, ports: list[int]) -> tuple[float, float]:
    """Entries and commits of all nodes so far."""
    sums = {"heartroom_commit_batch_entries_sum": 0.0, "heartroom_commit_batch_entries_count": 0.0}
    for port in ports:
        with urllib.request.urlopen(f"http://{host}:{port}/metrics", timeout=10.0) as answer:
            for line in answer.read().decode().splitlines():
                name, _, value = line.partition(" ")
                if name in sums:
                    sums[name] += float(value)
    entries, commits = sums.values()
    return entries, commits


async def paced(job: Job) -> Paced:
    """See the module. Raises `Fault` if a viewer missed anything, `Closed`, `TimeoutError`, `OSError`."""
    tally, book = Tally(), Book()
    async with asyncio.timeout(_PATIENCE_S):
        sessions = await all_of(
            [
                lambda ports=ports: _session(job.host, ports, tally, book)  # type: ignore[misc]
                for ports in places(job)
            ]
        )
    pids = [*job.nodes, *job.stores, os.getpid()]
    began = time.monotonic() + 0.05
    first, last = began + job.warm_s, began + job.warm_s + job.window_s
    dues = [began + at for at in moments(job.rate, job.warm_s + job.window_s, job.seed)]
    pace = Pace([player.take for player, _ in sessions], dues, book)
    await asyncio.sleep(first - time.monotonic())
    entries, commits = await asyncio.to_thread(_batches, job.host, job.ports)
    counted_from, busy_s, used = time.monotonic(), machine_s(), cpu_s(pids)
    done = tally.actions
    await asyncio.sleep(last - time.monotonic())
    actions, wall_s = tally.actions - done, time.monotonic() - counted_from
    ours = [after - before for before, after in zip(used, cpu_s(pids), strict=True)]
    busy_s = machine_s() - busy_s
    await pace.over
    await _settled(sessions, tally, len(dues), job.spectators)
    more_entries, more_commits = await asyncio.to_thread(_batches, job.host, job.ports)

    def within(times: list[tuple[float, float]]) -> list[float]:
        return [took * 1000 for due, took in times if due >= first]

    own, seen = within(book.own), within(book.seen)
    return Paced(
        actions=actions,
        wall_s=wall_s,
        nodes_s=sum(ours[: len(job.nodes)]),
        stores_s=sum(ours[len(job.nodes) : -1]),
        load_s=ours[-1],
        others_s=max(0.0, busy_s - sum(ours)),
        p50_ms=quantile(own, 0.5),
        p99_ms=quantile(own, 0.99),
        p999_ms=quantile(own, 0.999),
        worst_ms=max(own),
        seen_p50_ms=quantile(seen, 0.5),
        seen_p99_ms=quantile(seen, 0.99),
        late_p99_ms=quantile(within(book.late), 0.99),
        queued=sum(due >= first for due in book.queued),
        batch=(more_entries - entries) / max(1.0, more_commits - commits),
        diff_bytes=tally.diff_bytes / tally.diffs,
    )


async def _settled(sessions: list[Session], tally: Tally, actions: int, spectators_each: int) -> None:
    """Returns when everybody has seen all `actions`; raises `Fault` if somebody does not."""
    await settled(
        lambda: all(
            viewer.version == len(player.dues) and not player.under_way
            for player, spectators in sessions
            for viewer in (player, *spectators)
        ),
        tally,
    )
    if any(viewer.closed for player, spectators in sessions for viewer in (player, *spectators)):
        raise Fault("a connection was lost")
    if tally.actions != actions or tally.diffs != (1 + spectators_each) * actions:
        raise Fault(f"{tally.actions} actions and {tally.diffs} diffs of {actions} actions that were due")


def main() -> None:
    """See the module."""
    job = msgspec.json.decode(sys.argv[1], type=Job)
    try:
        result = uvloop.run(paced(job))
    except (Fault, Closed, TimeoutError, OSError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
    print(msgspec.json.encode(result).decode())


if __name__ == "__main__":
    main()
