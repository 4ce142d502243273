"""One server among hostile clients: `heartroom serve` with its embedded store, a handful of honest tables,
and one attack after the other from a process of their own. `make hostile` is the long form.

Whatever an attack does, the process lives, answers, and keeps its memory; nobody at an honest table loses or
doubles anything; the attackers are told what docs/protocol.md says; what was refused is counted; and when an
attack is over nothing of it is left. How much slower honest tables were is reported, not judged: that depends
on what else the machine does, the attackers among it, who therefore have a lower priority (nice 10). So each
attack is first made on another server: what honest tables suffer then is the machine's share.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import resource
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final

import psutil
import uvloop
from prometheus_client.parser import text_string_to_metric_families

from heartroom.client import Client
from heartroom.daily import dates
from heartroom.sessions.log import unpack
from heartroom.store.days import Days
from heartroom.store.embedded import Embedded
from heartroom.store.store import Store
from tests.faults.hostile_attacks import Amount
from tests.support.days import known_deal
from tests.support.games import CODE, GAME
from tests.support.serving import Server
from tests.support.stores import MEMORY, PATIENCE_S

MIB: Final = 2**20
PER_CONNECTION: Final = 40 * 1024
"""Bytes that an open connection may cost; docs/operations.md says 30 KiB for an idle one."""
FOR_ALL: Final = 32 * MIB
"""Bytes by which the server may have grown besides: 64 KiB for each of those that do not read, what was read
and is not parsed yet, games, and what Python's allocator holds in parts of pages. What many connections took
is not given back to the system but taken by the next ones. So the bound is one on the worst moment so far,
however often attacks are repeated."""
STORE_LINES: Final = 512
"""Connections to the store, besides one for each client that came at the same time as others. There are as
many as things were ever asked at the same time, and many sessions are begun and closed together."""
DESCRIPTORS: Final = 64
"""Files that the server may open in `descriptors` besides those that it has."""
SPARE_FILES: Final = 1000
"""Files that each process may open besides those of idle connections."""
TABLES: Final = 4
"""Honest tables at which is played as fast as it is answered, but for a pause."""
PAUSE_S: Final = 0.03
BUSY_PAUSE_S: Final = 0.2
"""Between two actions at the table at which the attackers look on."""
FORGET_S: Final = 75.0
"""Until who answers nothing is forgotten: 20 s to a ping, 20 s for its answer, 12 s to read the end."""
ATTACKER_NICE: Final = 10

_ROOT: Final = Path(__file__).parents[2]
_ROOMY: Final = {
    "connections_per_address": "100000",
    "viewers_per_session": "100000",
    "sessions_per_hour": "100",
    "log_length": "1000000",
    "linger_seconds": "2",
    "log_format": "json",
}
UNLIMITED: Final = ("fuzz", "storm", "silent", "never_read")
"""Attacks on a server that takes as many frames as it can. How much others suffer says nothing of one that
has its limits, but of how fair it is without."""
_FAST: Final = {**_ROOMY, "frames_per_second": "1000000", "frames_burst": "1000000"}


@dataclass(frozen=True)
class Plan:
    """How much there is to be of everything."""

    frames: int
    """Fuzzed frames, of those that are sent without a limit."""
    connections: int
    """Idle at the same time."""
    seed: int = 0
    rounds: int = 1
    """How often each attack is made."""
    quiet_s: float = 0.0
    """Before each attack; without, nothing is measured, and both servers are attacked at the same time."""
    seconds: float = 0.0
    """How long attacks that can be repeated last at least."""
    patient: bool = False
    """Whether to wait, in the last round, for what takes most of a minute: that who answers no ping is
    forgotten."""

    def acts(self) -> Iterator[tuple[dict[str, str], list[tuple[str, dict[str, Any]]]]]:
        """Settings of a server, and the attacks on it with their amounts."""
        many = max(20, self.connections // 20)
        again = {"seconds": self.seconds}
        yield (
            {**_ROOMY, "connections_per_address": str(self.connections)},
            [
                ("handshakes", again),
                ("frames", again),
                ("bombs", again),
                ("floods", again),
                ("fuzz_within_limits", {"frames": max(1000, self.frames // 20)}),
                *([("descriptors", {"count": 3 * DESCRIPTORS})] if hasattr(psutil.Process, "rlimit") else []),
                ("slow", {"count": many}),
                ("idle", {"count": self.connections + 50}),
            ],
        )
        yield (
            _FAST,
            [
                ("fuzz", {"frames": self.frames, "count": 8}),
                ("storm", {"count": 4 * many, "frames": 3}),
                *([("silent", {"count": many})] if self.patient else []),
                ("never_read", {"count": 8 if self.patient else 2, "frames": 200_000}),
            ],
        )


@dataclass
class Row:
    """What one attack did, and what it did to others."""

    name: str
    connections: int = 0
    held: int = 0
    frames: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    closed: Counter[str] = field(default_factory=Counter)
    before: int = 0
    """Bytes of the server's memory."""
    height: int = 0
    after: int = 0
    quiet_s: list[float] = field(default_factory=list)
    """How long honest actions took before the attacks."""
    elsewhere_s: list[float] = field(default_factory=list)
    """While another server was attacked in the same way."""
    during_s: list[float] = field(default_factory=list)


@dataclass
class Report:
    """What came of it."""

    seed: int
    seconds: float = 0.0
    actions: int = 0
    rows: dict[str, Row] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """It, for people."""
        yield f"seed {self.seed}"
        frames = sum(row.frames for row in self.rows.values())
        connections = sum(row.connections for row in self.rows.values())
        yield (
            f"{frames:,} frames over {connections:,} connections in {self.seconds:.0f} s, "
            f"while {self.actions:,} honest actions were acknowledged"
        )
        yield (
            f"{'attack':19} {'conns':>7} {'held':>6} {'frames':>10} {'MiB before/height/after':>24} "
            f"{'p99 ms quiet':>13} {'elsewhere':>9} {'attacked':>9} {'÷ quiet':>8} {'÷ elsewhere':>12}"
        )
        for row in self.rows.values():
            memory = " / ".join(f"{size / MIB:.0f}" for size in (row.before, row.height, row.after))
            quiet, elsewhere, during = p99(row.quiet_s), p99(row.elsewhere_s), p99(row.during_s)
            numbers = [
                *(f"{seconds * 1000:.1f}" if seconds else "" for seconds in (quiet, elsewhere, during)),
                *(f"{during / before:.1f}" if before else "" for before in (quiet, elsewhere)),
            ]
            times = "{:>13} {:>9} {:>9} {:>8} {:>12}".format(*numbers) if quiet else ""
            slower = "more than doubled" if (elsewhere or quiet) and during > 2 * (elsewhere or quiet) else ""
            unlimited = "no limit on frames" if row.name in UNLIMITED else ""
            remarks = ", ".join(filter(None, (slower, unlimited)))
            yield (
                f"{row.name:19} {row.connections:7,} {row.held:6,} {row.frames:10,} {memory:>24} {times}"
                f"  {remarks}".rstrip()
            )
        for row in self.rows.values():
            told = ", ".join(
                f"{code} {count:,}" for code, count in sorted((row.refused + row.closed).items())
            )
            yield f"{row.name}: {told or 'nothing was refused'}"
        yield f"wrong: {len(self.wrong)}"
        yield from (f"  {text}" for text in self.wrong[:20])


def p99(seconds: Sequence[float]) -> float:
    """0 if there are none."""
    return sorted(seconds)[min(len(seconds) - 1, len(seconds) * 99 // 100)] if seconds else 0.0


class HonestTable:
    """A player who acts, one action after the other, and somebody who looks on."""

    def __init__(self, player: Client, spectator: Client, session: str, pause_s: float) -> None:
        self.player, self.spectator, self.session = player, spectator, session
        self.refs: list[int] = []
        """Of all actions, in order; all were acknowledged."""
        self.took_s: list[float] = []
        self.wrong: list[str] = []
        self._pause_s = pause_s
        self._enough = False
        self._playing = asyncio.ensure_future(self._play())

    @classmethod
    async def begin(cls, server: Server, pause_s: float) -> HonestTable:
        player, spectator = await server.connect(), await server.connect()
        session = await player.new(GAME.name, {"code": CODE})
        await player.join(session)
        await spectator.join(session)
        return cls(player, spectator, session, pause_s)

    async def _play(self) -> None:
        while not self._enough:
            ref, version = self.player.fresh_ref(), len(self.refs)
            began = time.perf_counter()
            reached = await self.player.act("undo" if version % 2 else "draw", base=version, ref=ref)
            self.took_s.append(time.perf_counter() - began)
            self.refs.append(ref)
            if reached != version + 1:
                self.wrong.append(f"an honest action on {version} was acknowledged as {reached}")
            await asyncio.sleep(self._pause_s)

    async def end(self) -> None:
        """Stops, and looks whether both have seen everything: a client stops where diffs have a gap."""
        self._enough = True
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._playing
                for client in (self.player, self.spectator):
                    await client.until(lambda client=client: client.table.version == len(self.refs))  # type: ignore[misc]
        except Exception as error:
            self.wrong.append(f"an honest table came to a halt: {error!r}")
        if self.player.table.view != self.spectator.table.view:
            self.wrong.append("a player and a spectator do not see the same")
        if self.player.errors or self.spectator.errors:
            self.wrong.append("somebody honest was told of errors")

    async def close(self) -> None:
        """Both go."""
        self._playing.cancel()
        await asyncio.gather(self._playing, return_exceptions=True)
        await asyncio.gather(self.player.close(), self.spectator.close(), return_exceptions=True)


class Scene:
    """One server, its honest tables and its attackers."""

    def __init__(self, server: Server, store_url: str, report: Report, other: Server | None) -> None:
        """`other`: a server that is attacked first, to see what that costs on this machine."""
        self.server: Final = server
        self._other: Final = other
        self._bait: HonestTable | None = None
        """On the other server, for the attackers to look on."""
        self.process: Final = psutil.Process(server.process.pid)
        self.report: Final = report
        self.tables: list[HonestTable] = []
        self.unreachable = False
        """Whether the server is known to take no new connection."""
        self._store_url = store_url
        self._attackers: asyncio.subprocess.Process
        self._highest = 0
        self._base = 0
        """Bytes of the server's memory with nobody but honest players."""
        self._held = 0
        """The most connections that attackers had so far."""
        self._watching: list[asyncio.Task[None]] = []
        self._enough = asyncio.Event()
        """Whoever watches the server may stop. Nobody is cancelled, who could leave a connection open."""

    async def open(self) -> None:
        """Everybody comes."""
        self.tables = [await HonestTable.begin(self.server, PAUSE_S) for _ in range(TABLES)]
        self.tables.append(await HonestTable.begin(self.server, BUSY_PAUSE_S))
        if self._other is not None:
            self._bait = await HonestTable.begin(self._other, BUSY_PAUSE_S)
        self._attackers = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.faults.hostile_attacks", cwd=_ROOT, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, limit=MIB,
        )  # fmt: skip
        psutil.Process(self._attackers.pid).nice(ATTACKER_NICE)
        self._watching = [asyncio.ensure_future(self._weigh()), asyncio.ensure_future(self._ask())]

    async def close(self) -> None:
        """Everybody goes; then the store is asked what it has."""
        self._enough.set()
        for outcome in await asyncio.gather(*self._watching, return_exceptions=True):
            if isinstance(outcome, Exception):
                self._accuse(f"what watches the server failed: {outcome!r}")
        assert self._attackers.stdin is not None
        self._attackers.stdin.close()
        await self._attackers.wait()
        for table in self.tables:
            await table.end()
        store = Store(self._store_url, timeout_s=PATIENCE_S)
        try:
            for table in self.tables:
                await self._check(store, table)
        finally:
            await store.aclose()
            for table in (*self.tables, *([self._bait] if self._bait is not None else [])):
                await table.close()

    async def _check(self, store: Store, table: HonestTable) -> None:
        log = await store.open(table.session)
        refs = [] if log is None else [unpack(entry.body).ref for entry in log.entries]
        if refs != table.refs:
            self._accuse(f"a log of {len(refs)} is not what was acknowledged, {len(table.refs)}")
        self.report.actions += len(table.refs)
        self.report.wrong += table.wrong

    # -- while it goes on

    def _accuse(self, text: str) -> None:
        if text not in self.report.wrong:
            self.report.wrong.append(text)

    async def _weigh(self) -> None:
        while not self._enough.is_set():
            self._highest = max(self._highest, self.process.memory_info().rss)
            await asyncio.sleep(0.02)

    async def _ask(self) -> None:
        while not self._enough.is_set():
            for path in ("/healthz", "/readyz"):
                if not self.unreachable and (status := await self.status(path)) != 200:
                    self._accuse(f"{path} answered {status}")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._enough.wait(), 0.25)

    async def status(self, path: str) -> int | str:
        """What a fresh client is answered."""
        try:
            return (await asyncio.to_thread(self.server.get, path)).status
        except (OSError, HTTPException) as error:
            return "nothing" if self.unreachable else repr(error)

    async def refusals(self) -> Counter[str]:
        """What the server has counted, by code."""
        text = (await asyncio.to_thread(self.server.get, "/metrics")).body.decode()
        return Counter(
            {
                sample.labels["code"]: int(sample.value)
                for family in text_string_to_metric_families(text)
                for sample in family.samples
                if sample.name == "heartroom_refusals_total"
            }
        )

    def connections(self) -> int:
        """Open to the server's port."""
        return _connections(self.process, self.server.port)

    def _files(self) -> int:
        """What the server has open, but for its connections to the store."""
        return self.process.num_fds() - len(self.process.net_connections("unix"))

    async def _comes_to(self, holds: Callable[[], bool], what: str, within_s: float = PATIENCE_S) -> None:
        deadline = time.monotonic() + within_s
        while not holds():
            if time.monotonic() > deadline:
                self._accuse(f"never came to hold: {what}")
                return
            await asyncio.sleep(0.05)

    def _samples(self) -> list[int]:
        return [len(table.took_s) for table in self.tables]

    def _since(self, samples: list[int]) -> list[float]:
        return [
            took for table, start in zip(self.tables, samples, strict=True) for took in table.took_s[start:]
        ]

    # -- attacks

    async def attack(self, name: str, amount: dict[str, Any], plan: Plan, patient: bool) -> None:
        """One attack, and what is left of it."""
        row = self.report.rows.setdefault(name, Row(name))
        honest = 2 * len(self.tables)
        quiet = self._samples()
        await asyncio.sleep(plan.quiet_s)
        if plan.quiet_s:
            row.quiet_s += self._since(quiet)
        if self._other is not None and self._bait is not None and name != "descriptors":
            row.elsewhere_s += await self._elsewhere(name, amount, plan, self._other, self._bait)
        await self._comes_to(lambda: self.connections() == honest, f"before {name}: honest connections alone")
        files, before, counted = self._files(), self.process.memory_info().rss, await self.refusals()
        self._base = self._base or before
        row.before = row.before or before
        self._highest = 0
        begun = self._samples()
        async with self._limits(name):
            reached = await self._tell(
                Amount(name, self.server.port, self.tables[-1].session, seed=plan.seed, **amount)
            )
            if patient and name in ("never_read", "silent"):
                await self._comes_to(
                    lambda: self.connections() == honest,
                    f"{name}: who answers nothing is forgotten",
                    FORGET_S,
                )
            elif plan.seconds and name in ("idle", "descriptors"):
                await asyncio.sleep(plan.seconds)
            if self.process.pid != self.server.process.pid or self.server.process.poll() is not None:
                raise AssertionError(f"{name}: the server has died\n{self.server.said()}")
            if not self.unreachable:
                for path in ("/healthz", "/readyz"):
                    if (status := await self.status(path)) != 200:
                        self._accuse(f"{name}: {path} answered {status}")
            height = self._highest = max(self._highest, self.process.memory_info().rss)
            over = await self._tell(None)
        row.during_s += self._since(begun)
        await self._comes_to(lambda: self.connections() == honest, f"{name}: all its connections are gone")
        await self._comes_to(lambda: self._files() <= files, f"{name}: all its files are closed")
        after = self.process.memory_info().rss
        row.height, row.after = max(row.height, height), after
        row.connections += over["connections"]
        row.held = max(row.held, over["held"])
        row.frames += over["frames"]
        row.refused += Counter(over["refused"])
        row.closed += Counter(over["closed"])
        self.report.wrong += over["wrong"]
        self._held = max(self._held, reached["held"], over["held"])
        if (lines := self.process.num_fds() - self._files()) > STORE_LINES + self._held:
            self._accuse(f"{name}: {lines} connections to the store")
        allowed = self._base + FOR_ALL + PER_CONNECTION * self._held
        for when, size in (("during", height), ("after", after)):
            if size > allowed:
                self._accuse(f"{name}: {size // MIB} MiB {when} it, {allowed // MIB} allowed")
        now = await self.refusals()
        for code, count in over["refused"].items():
            if now[code] - counted[code] < count:
                self._accuse(f"{name}: {code} was said {count} times and counted {now[code] - counted[code]}")

    async def _elsewhere(
        self, name: str, amount: dict[str, Any], plan: Plan, other: Server, bait: HonestTable
    ) -> list[float]:
        """The same attack on another server. How long honest actions at this one took meanwhile."""
        begun = self._samples()
        await self._tell(Amount(name, other.port, bait.session, seed=plan.seed, **amount))
        if name == "idle":
            await asyncio.sleep(plan.seconds)
        over = await self._tell(None)
        took_s = self._since(begun)
        self.report.wrong += over["wrong"]
        process = psutil.Process(other.process.pid)
        await self._comes_to(
            lambda: _connections(process, other.port) == 2, f"{name}: nobody is left on the other server"
        )
        return took_s

    async def _tell(self, amount: Amount | None) -> dict[str, Any]:
        """Lets an attack begin, or (`None`) end; returns what the attackers say of it."""
        attackers = self._attackers
        assert attackers.stdin is not None
        assert attackers.stdout is not None
        attackers.stdin.write(json.dumps(asdict(amount)).encode() + b"\n" if amount else b"\n")
        line = await attackers.stdout.readline()
        said: dict[str, Any] = json.loads(line)
        if amount is not None and said["kind"] == "over":  # it failed on its way
            self.report.wrong += said["wrong"]
            raise AssertionError("\n".join(said["wrong"]))
        return said

    @contextlib.asynccontextmanager
    async def _limits(self, name: str) -> AsyncIterator[None]:
        """The server may open few files while its descriptors are attacked, else as many as there may be."""
        if name != "descriptors":
            yield
            return
        most = self.process.rlimit(psutil.RLIMIT_NOFILE)
        self.unreachable = True
        self.process.rlimit(psutil.RLIMIT_NOFILE, (self.process.num_fds() + DESCRIPTORS, most[1]))
        try:
            yield
        finally:
            self.process.rlimit(psutil.RLIMIT_NOFILE, most)
            await self._comes_to_answer()
            self.unreachable = False

    async def _comes_to_answer(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while await self.status("/readyz") != 200:
            if time.monotonic() > deadline:
                self._accuse("descriptors: the server never answered again")
                return
            await asyncio.sleep(0.05)


def _connections(process: psutil.Process, port: int) -> int:
    return sum(
        connection.laddr.port == port and bool(connection.raddr)
        for connection in process.net_connections("tcp")
    )


async def _deal_days(url: str) -> None:
    """The deals of the days are known, so that nobody seeks any meanwhile."""
    store = Store(url, timeout_s=PATIENCE_S)
    try:
        today = dates.of(await store.time_ms())
        for after in range(3):
            await Days(store).put(known_deal(dates.after(today, after)))
    finally:
        await store.aclose()


async def _act(
    settings: dict[str, str],
    attacks: list[tuple[str, dict[str, Any]]],
    plan: Plan,
    report: Report,
    say: Callable[[str], None],
) -> None:
    folder = Path(tempfile.mkdtemp(prefix="hr-", dir=MEMORY))
    embedded = Embedded(folder / "data")
    try:
        embedded.start()
        await _deal_days(embedded.url)
        embedded.stop()
        server = Server(0, data_dir=str(folder / "data"), **settings)
        other = Server(0, data_dir=str(folder / "other"), **settings) if plan.quiet_s else None
        try:
            scene = Scene(server, embedded.url, report, other)
            try:
                await scene.open()
                for number in range(1, plan.rounds + 1):
                    patient = plan.patient and number == plan.rounds
                    for name, amount in attacks:
                        if name == "silent" and not patient:
                            continue
                        began, wrong = time.monotonic(), len(report.wrong)
                        await scene.attack(name, amount, plan, patient)
                        say(f"{name}: {time.monotonic() - began:.1f} s")
                        for text in report.wrong[wrong : wrong + 10]:
                            say(f"wrong: {text}")
            finally:
                await scene.close()
            if (code := server.terminate()) != 0:
                report.wrong.append(f"the server ended with {code}")
            report.wrong += [
                f"the log says {line[:500]}" for line in server.said().splitlines() if _alarming(line)
            ]
        finally:
            server.stop()
            if other is not None:
                other.terminate()
                other.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _alarming(line: str) -> bool:
    try:
        said = json.loads(line)
    except ValueError:
        return True
    return bool(said.get("level") not in ("debug", "info", "warning") or "exception" in said)


async def _all(plan: Plan, say: Callable[[str], None]) -> Report:
    report, began = Report(plan.seed), time.monotonic()
    acts = [_act(settings, attacks, plan, report, say) for settings, attacks in plan.acts()]
    if plan.quiet_s:  # what is measured is measured alone
        for act in acts:
            await act
    else:
        await asyncio.gather(*acts)
    report.seconds = time.monotonic() - began
    return report


def run(plan: Plan, say: Callable[[str], None]) -> Report:
    """A whole run. If the system does not let us open as many files as the plan needs, there are fewer idle
    connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = plan.connections + SPARE_FILES
    files = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, files), hard))
    try:
        return uvloop.run(_all(replace(plan, connections=files - SPARE_FILES), say))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def main() -> int:
    """Returns 0 if nothing was wrong."""
    parser = argparse.ArgumentParser(prog="make hostile", description=__doc__)
    parser.add_argument("--frames", type=int, default=1_000_000, help="fuzzed frames")
    parser.add_argument("--connections", type=int, default=5_000, help="idle ones at the same time")
    parser.add_argument("--rounds", type=int, default=3, help="of all attacks, each after a quiet time")
    parser.add_argument(
        "--seconds", type=float, default=4, help="that each attack lasts, and the quiet before it"
    )
    parser.add_argument("--seed", type=int, help="of an earlier run")
    given = parser.parse_args()
    plan = Plan(
        frames=-(-given.frames // given.rounds),
        connections=given.connections,
        seed=secrets.randbelow(2**32) if given.seed is None else given.seed,
        rounds=given.rounds,
        quiet_s=given.seconds,
        seconds=given.seconds,
        patient=True,
    )
    print(f"seed {plan.seed}", flush=True)
    report = run(plan, lambda text: print(text, flush=True))
    print("\n".join(report.lines()))
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
