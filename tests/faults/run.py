"""One run: a place, people who play there, faults until enough was done and survived, and then the checker.

How far a run goes is counted, not timed: so many acknowledged actions and so many kills of nodes. Its time
has a limit all the same, which fails it.
"""

from __future__ import annotations

import asyncio
import json
import random
import secrets
import time
import urllib.request
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import uvloop

from heartroom.client import Client, Lost, NotAdmitted, Rejected
from heartroom.daily import dates
from heartroom.games.game import Setup, games
from heartroom.leaderboards import results
from heartroom.sessions import table as tables
from heartroom.sessions.driver import Settings
from heartroom.sessions.log import unpack
from heartroom.sessions.table import HOUSE
from heartroom.store import keys
from heartroom.store.boards import Boards
from heartroom.store.cluster import slot_of
from heartroom.store.people import People
from heartroom.store.store import Store
from tests.faults.checker import wrong_in_session, wrong_in_statistics, wrong_on_board
from tests.faults.history import Log
from tests.faults.place import Place, place
from tests.faults.players import Ground, Hearts, Player, Session, Solitaire, Spectator
from tests.support.stores import PATIENCE_S

T = TypeVar("T")
Harm = Callable[[random.Random], Awaitable[None]]

PAUSE_S: Final = Store.LEASE_MS / 1000 + 1.5
"""How long a node is paused: past its lease."""
KINDS: Final = ("shard restarts", "slots moved", "nodes cut from their clients", "nodes cut from the store")
"""Faults besides kills and pauses, of each of which there must be some."""


@dataclass(frozen=True)
class Plan:
    """How much there is to be of everything."""

    actions: int
    kills: int
    limit_s: float
    """The longest that it may take before the checker begins."""
    seed: int = 0
    solitaires: int = 16
    spectators: int = 2
    """Of each."""
    tables: int = 2
    ranked: int = 6
    """How many begin with the deal of the day."""
    kill_s: tuple[float, float] = (0.8, 1.6)
    """Between two kills."""
    store_s: tuple[float, float] = (1.5, 3.5)
    """Between two faults of the store, or of connections."""
    pause_s: tuple[float, float] = (2.0, 20.0)
    """Between two pauses of a node."""
    pauses: int = 1
    """At least so many."""


@dataclass
class Report:
    """What came of it."""

    seed: int
    seconds: float = 0.0
    acknowledged: int = 0
    refused: int = 0
    sessions: int = 0
    finished: int = 0
    ranked: int = 0
    connected: int = 0
    glimpses: int = 0
    longest_s: float = 0.0
    again_s: float = 0.0
    """How long after the last fault everybody had acted again."""
    reopened: int = 0
    """Finished games that were counted only when they were looked at again."""
    faults: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """It, for people."""
        rate = self.acknowledged / max(self.seconds, 0.001)
        yield f"seed {self.seed}"
        yield (
            f"{self.acknowledged:,} actions acknowledged in {self.seconds:.0f} s ({rate:,.0f} a second), "
            f"{self.refused:,} refused, as they should be"
        )
        yield (
            f"{self.sessions:,} sessions, {self.finished:,} of them finished, {self.ranked} ranked; "
            f"{self.glimpses:,} views compared; {self.connected:,} connections"
        )
        yield (
            f"the longest wait for an answer {self.longest_s:.1f} s; "
            f"{self.again_s:.1f} s after the last fault all had acted again"
        )
        yield f"{self.reopened} finished games were counted only when looked at again"
        yield "faults: " + (
            ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.faults.items())) or "0"
        )
        yield f"wrong: {len(self.wrong)}"
        yield from (f"  {text}" for text in self.wrong[:20])


class Run:
    """See the module."""

    def __init__(self, where: Place, plan: Plan, say: Callable[[str], None]) -> None:
        self.place: Final = where
        self.plan: Final = plan
        self.report: Final = Report(plan.seed)
        self.ground: Final = Ground(plan.seed, where.ports)
        self.players: list[Player] = []
        self._say = say
        self._began_s = time.monotonic()
        self._doing: set[asyncio.Future[Any]] = set()
        """What is being done in threads, which nothing can cancel."""
        self._deck: list[Harm] = []

    async def go(self) -> Report:
        """Plays, harms, ends, checks. Fails only if it cannot be brought to an end."""
        store = self.place.store()
        try:
            await self._play(store)
            await self._check(store)
        finally:
            await store.aclose()
        return self.report

    # -- playing

    async def _play(self, store: Store) -> None:
        await self._seat()
        self._began_s = time.monotonic()
        people = [asyncio.ensure_future(looker.run()) for looker in self.ground.lookers]
        watching = asyncio.ensure_future(self.ground.watch_over())
        lanes = [
            asyncio.ensure_future(self._lane("kills", self.plan.kill_s, self._kill)),
            asyncio.ensure_future(self._lane("harms", self.plan.store_s, self._harm)),
            asyncio.ensure_future(self._lane("pauses", self.plan.pause_s, self._pause)),
        ]
        try:
            await asyncio.gather(self._enough(people), *lanes)
            await self._all_done()
            await self._threaded(self.place.wait_whole)
            self.report.seconds = time.monotonic() - self._began_s
            self._note("all faults are over")
            if not self.ground.wrong:
                await self._all_act_again()
            self.ground.ending = True
            for player in self.players:
                player.nudge()
            await self._brought_to_an_end(people)
        finally:
            tasks = [*lanes, *people, watching]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._all_done()

    async def _threaded(self, call: Callable[..., T], *args: Any) -> T:
        """What `call` returns, which takes its time in a thread."""
        return await asyncio.shield(self._begin(call, *args))

    def _begin(self, call: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        doing = asyncio.ensure_future(asyncio.to_thread(call, *args))
        self._doing.add(doing)
        doing.add_done_callback(self._doing.discard)
        return doing

    async def _all_done(self) -> None:
        """Returns when no thread does anything any more."""
        while self._doing:
            await asyncio.wait(self._doing)

    async def _seat(self) -> None:
        plan, chance = self.plan, random.Random(f"{self.plan.seed} seats")
        for number in range(plan.solitaires):
            pid = secrets.token_urlsafe(12)
            ranked = await self._begin_ranked(pid) if number < plan.ranked else None
            solitaire = Solitaire(self.ground, pid, f"player {number}", ranked)
            self.players.append(solitaire)
            for other in range(0 if ranked else plan.spectators):
                who = f"spectator {other} of player {number}"
                Spectator(self.ground, secrets.token_urlsafe(12), who, solitaire)
        for number in range(plan.tables):
            host = Hearts(self.ground, secrets.token_urlsafe(12), f"host {number}", None)
            guest = Hearts(self.ground, secrets.token_urlsafe(12), f"guest {number}", host)
            self.players += (host, guest)
            Spectator(self.ground, secrets.token_urlsafe(12), f"spectator of table {number}", host)
        chance.shuffle(self.ground.lookers)

    async def _begin_ranked(self, pid: str) -> str:
        address = f"127.0.0.1:{self.place.ports()[0]}"
        headers = {
            "Cookie": self.ground.cookie(pid),
            "Origin": f"http://{address}",
            "Content-Type": "application/json",
        }
        request = urllib.request.Request(f"http://{address}/api/daily/start", b"{}", headers)

        def ask() -> Any:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return json.load(answer)

        return str((await asyncio.to_thread(ask))["session"])

    async def _enough(self, people: Sequence[asyncio.Future[None]]) -> None:
        """Returns when enough was done and survived, or something went wrong."""
        told_s = time.monotonic()
        while not self._is_enough:
            await asyncio.sleep(0.1)
            now = time.monotonic()
            for task in people:
                if task.done() and task.exception() is not None:
                    raise task.exception() or AssertionError
            if now - self._began_s > self.plan.limit_s:
                self._accuse(
                    f"after {self.plan.limit_s:.0f} s there were {self.ground.acknowledged:,} actions and "
                    f"{self.report.faults['kills']} kills, of {self.plan.actions:,} and {self.plan.kills}"
                )
            if now - told_s > 10:
                told_s = now
                self._note(f"{self.ground.acknowledged:,} actions, {dict(self.report.faults)}")

    @property
    def _is_enough(self) -> bool:
        faults = self.report.faults
        return bool(self.ground.wrong) or (
            self.ground.acknowledged >= self.plan.actions
            and faults["kills"] >= self.plan.kills
            and faults["pauses"] >= self.plan.pauses
            and all(faults[kind] for kind in KINDS)
        )

    async def _all_act_again(self) -> None:
        """Everybody can act, now that nothing is harmed any more."""
        healed_s = time.monotonic()
        before = {player: player.acknowledged for player in self.players}
        await self._within(
            lambda: [player.who for player in self.players if player.acknowledged < before[player] + 3],
            "could not act again after all faults were over",
        )
        self.report.again_s = time.monotonic() - healed_s

    async def _brought_to_an_end(self, people: Sequence[asyncio.Future[None]]) -> None:
        await self._within(
            lambda: [looker.describe() for looker in self.ground.lookers if not looker.done.is_set()],
            "did not come to an end",
        )
        if not self.ground.wrong:
            await asyncio.gather(*people)

    async def _within(self, left: Callable[[], list[str]], what: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while names := left():
            if time.monotonic() > deadline:
                self._accuse(*(f"{name} {what} (in {PATIENCE_S:.0f} s)" for name in names))
                return
            await asyncio.sleep(0.02)

    def _accuse(self, *texts: str) -> None:
        self.ground.wrong.extend(texts)

    def _note(self, text: str) -> None:
        self._say(f"{time.monotonic() - self._began_s:7.2f}  {text}")

    # -- harming

    async def _lane(self, name: str, between_s: tuple[float, float], harm: Harm) -> None:
        """One fault after another of some kinds, until it is enough. Each lane has chances of its own, so
        that what it does depends on the others as little as can be."""
        chance = random.Random(f"{self.plan.seed} {name}")
        while not self._is_enough:
            await asyncio.sleep(chance.uniform(*between_s))
            if not self._is_enough:
                await harm(chance)

    async def _kill(self, chance: random.Random) -> None:
        living = self.place.living()
        if len(living) < 2:  # somebody must be left to go to
            return
        node = chance.choice(living)
        self._note(f"kill node {self.place.nodes.index(node)}")
        node.up = False
        await self._threaded(node.kill)
        self.report.faults["kills"] += 1
        self._begin(node.start).add_done_callback(self._started)

    def _started(self, task: asyncio.Future[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._accuse(f"a node could not be started: {error}")

    async def _pause(self, chance: random.Random) -> None:
        living = self.place.living()
        if len(living) < 2:
            return
        node = chance.choice(living)
        self._note(f"pause node {self.place.nodes.index(node)}")
        node.frozen = True
        await self._threaded(node.freeze)
        try:
            await asyncio.sleep(PAUSE_S)
        finally:
            node.thaw()
        self._note(f"node {self.place.nodes.index(node)} goes on")
        self.report.faults["pauses"] += 1

    async def _harm(self, chance: random.Random) -> None:
        """Something that befalls the store or connections. One at a time: the cluster must be whole."""
        if not self._deck:  # each once, before any comes again
            self._deck = [self._restart_shard, self._move_slot, self._cut_clients, self._cut_store]
            chance.shuffle(self._deck)
        await self._deck.pop()(chance)

    async def _restart_shard(self, chance: random.Random) -> None:
        shard = chance.choice(self.place.cluster.primaries)
        self._note(f"restart shard {self.place.cluster.primaries.index(shard)}")
        await self._threaded(self.place.restart, shard)
        self.report.faults["shard restarts"] += 1

    async def _move_slot(self, chance: random.Random) -> None:
        playing = sorted(player.session.sid for player in self.players if player.session is not None)
        if not playing:
            return
        sid = chance.choice(playing)
        self._note(f"move slot {slot_of(keys.session(sid))}")
        move = await self._threaded(self.place.cluster.begin_move, sid)
        for _ in range(2):
            await asyncio.sleep(chance.uniform(0.05, 0.3))
            left = await self._threaded(move.left)
            if left:
                await self._threaded(move.carry, chance.choice(sorted(left)))
        await asyncio.sleep(chance.uniform(0.05, 0.3))
        await self._threaded(move.end)
        self.report.faults["slots moved"] += 1

    async def _cut_clients(self, chance: random.Random) -> None:
        node = chance.choice(self.place.nodes)
        wires = [looker.wire for looker in self.ground.lookers if looker.wire is not None]
        cut = [wire for wire in wires if wire.port == node.port]
        self._note(f"cut {len(cut)} clients of node {self.place.nodes.index(node)}")
        for wire in cut:
            wire.drop()
        self.report.faults["nodes cut from their clients"] += 1

    async def _cut_store(self, chance: random.Random) -> None:
        living = self.place.living()
        if not living:
            return
        node = chance.choice(living)
        cut = await self._threaded(self.place.cut_store, node)
        self._note(f"cut {cut} connections of node {self.place.nodes.index(node)} to the store")
        self.report.faults["nodes cut from the store"] += 1

    # -- checking

    async def _check(self, store: Store) -> None:
        report, ground = self.report, self.ground
        wrong = report.wrong = ground.wrong
        report.acknowledged, report.refused = ground.acknowledged, ground.refused
        report.connected, report.longest_s = ground.connected, ground.longest_s
        report.sessions = len(ground.sessions)
        finished: dict[str, Counter[str]] = {player.pid: Counter() for player in self.players}
        over: dict[str, list[str]] = {player.pid: [] for player in self.players}
        champions: list[str] = []
        for session in ground.sessions.values():
            log, ranked = await self._log(store, session)
            wrong += wrong_in_session(log, session.acts, session.sights)
            report.glimpses += sum(len(sight) for sight in session.sights)
            report.ranked += bool(ranked)
            table, state = log.table, log.game.initial(log.setup)
            for deed in log.deeds:
                if deed.seat == HOUSE:
                    table = table.apply(deed.action)
                else:
                    state = log.game.apply(state, deed.seat, deed.action)
            outcome = log.game.outcome(state)
            if outcome is None:
                continue
            report.finished += 1
            for seat, chair in enumerate(table.chairs):
                if chair.pid in finished:
                    finished[chair.pid][f"{log.game.name}/games"] += 1
                    finished[chair.pid][f"{log.game.name}/wins"] += seat in outcome.winners
                    over[chair.pid].append(session.sid)
                    champions += [chair.pid] if ranked else []
        await self._numbers(store, finished, over, champions)
        for node in self.place.nodes:
            for said in (*node.said, node.server.said()):
                wrong += [f"a node said: {line}" for line in said.splitlines() if not _expected(line)]

    async def _log(self, store: Store, session: Session) -> tuple[Log, str]:
        opened = await store.open(session.sid)
        assert opened is not None, f"session {session.sid} is no more"
        await store.close(session.sid)
        record = opened.record
        game = games()[record.game]
        ranked = Settings(**record.settings).ranked
        table = tables.empty(game.seats) if game.seats > 1 else tables.alone(record.owner, started=not ranked)
        deeds = [unpack(entry.body) for entry in opened.entries]
        log = Log(session.sid, game, Setup(record.options, record.deal), record.epoch, table, deeds)
        return log, ranked

    async def _numbers(
        self,
        store: Store,
        finished: dict[str, Counter[str]],
        over: dict[str, list[str]],
        champions: list[str],
    ) -> None:
        """What follows from finished games, wherever a node died in between: whoever looks at the game again
        has it done."""
        people = People(store)
        for pid, sids in over.items():
            counted = {sid for sid, _, _ in await people.finished(pid)}
            for sid in sids:
                if sid not in counted:
                    self.report.reopened += 1
                    await self._look_at(pid, sid)
        today = dates.of(await store.time_ms())
        days = [dates.after(today, -1), today]
        wrong: list[str] = []

        async def all_counted() -> bool:
            wrong.clear()
            for player in self.players:
                numbers = finished[player.pid]
                expected = {
                    name: (numbers[f"{name}/games"], numbers[f"{name}/wins"])
                    for name in {key.partition("/")[0] for key in numbers}
                }
                wrong.extend(wrong_in_statistics(player.who, expected, await people.statistics(player.pid)))
            for by in results.BOARDS:
                rows = [
                    row.pid
                    for day in days
                    for row in (await Boards(store, day, results.BOARDS).page(by, "", best=10_000)).best
                ]
                wrong.extend(wrong_on_board(f"the board {by}", champions, rows))
            return not wrong

        deadline = time.monotonic() + PATIENCE_S
        while not await all_counted() and time.monotonic() < deadline:  # noqa: ASYNC110 (the store says nothing)
            await asyncio.sleep(0.1)
        self.report.wrong += wrong

    async def _look_at(self, pid: str, sid: str) -> None:
        cookie = self.ground.cookie(pid).partition("=")[2]
        for port in self.place.ports():
            try:
                async with await Client.connect(f"ws://127.0.0.1:{port}", cookie) as client:
                    await client.join(sid)
            except (Lost, NotAdmitted, Rejected) as error:
                self._accuse(f"{sid} could not be looked at again: {error!r}")


def _expected(line: str) -> bool:
    """Whether a line of a node's log is one that such times may bring."""
    try:
        said = json.loads(line)
    except ValueError:
        return False
    return bool(said.get("level") != "error" and "exception" not in said)


def run(plan: Plan, say: Callable[[str], None]) -> Report:
    """A whole run in a place of its own."""
    with place() as where:
        return uvloop.run(Run(where, plan, say).go())


def seed_of(given: int | None) -> int:
    """A seed: the given one, or a fresh one."""
    return secrets.randbelow(2**32) if given is None else given
