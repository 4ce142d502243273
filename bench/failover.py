"""What is lost when a primary dies and a replica takes over: `make bench-failover`. See bench/README.md.

A primary, its replicas and three Sentinels, or a cluster of three shards with replicas (see `harm`); two
nodes over them, one that waits for no replica and one that waits for some (`HEARTROOM_REDIS_WAIT`). People
play on both while a primary is harmed, so that every fault befalls both ways alike. When all is well again
the logs are held against what was acknowledged.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
import msgspec
import uvloop

from bench import runs
from bench.harm import PLACES, Place, Slow
from bench.load import STOCK, Fault, Job, Watched, all_of
from bench.measure import median
from bench.paced import Book, Pace, Paced, moments
from bench.paced import Job as PacedJob
from bench.places import deal_days
from bench.served import Failed, Served, serving_node
from bench.wire import Closed, Peer
from heartroom.client import ACK, ACT, CREATED, DIFF, JOIN, NEW, REJECT, SNAPSHOT, STORE, TABLE, WELCOME
from heartroom.sessions.log import unpack
from heartroom.store.store import Store
from tests.support.clusters import Server
from tests.support.stores import BINARIES, eventually

KINDS: Final = ("kill", "lag", "pause", "move")

_PATIENCE_S: Final = 60.0
_ROUND_S: Final = 120.0
"""How long one round may take at most."""
_APART_S: Final = 6.5
"""From one fault to the next: Sentinel lets as much time pass between two failovers (`watched`), a cluster
four seconds."""
_AGAIN_S: Final = 1.0
"""How long is played when all is well again."""


# -- who plays


class Acked(NamedTuple):
    """An action that was acknowledged."""

    ref: int
    sent_s: float
    acked_s: float
    """By the clock of this process."""


class Player(Peer):
    """Draws and recycles when it is told to, one action at a time, whatever happens to its session."""

    def __init__(self, uri: str) -> None:
        super().__init__(uri)
        self.welcome = self.next(WELCOME)
        self.sid = ""
        self.acked: list[Acked] = []
        self.refusals: dict[int, str] = {}
        """By the action's id: why."""
        self.put_back = 0
        """Snapshots that it did not ask for."""
        self.away = 0
        """How often it was told that the store is away."""
        self.under_way = 0
        """The id of the action that is, or 0."""
        self._ref = 0
        self._version = 0
        self._stock = 0
        self._sent_s = 0.0

    async def begin(self) -> None:
        """A new session with us in it."""
        await self.welcome
        created = self.next(CREATED)
        self.send([NEW, 1, "heart-to-heart", {}])
        self.sid = (await created)[2]
        table = self.next(TABLE)
        self.send([JOIN, self.sid, 0, 0])
        await table
        self.put_back = 0

    def take(self, due: float) -> None:
        """An action is due; nobody makes up for those that could not be taken."""
        if self.under_way or self.closed:
            return
        self._ref += 1
        self.under_way = self._ref
        self._sent_s = time.monotonic()
        self.send([ACT, self._ref, self._version, ["draw" if self._stock else "recycle"]])

    def message(self, message: list[Any], size: int) -> None:
        """Keeps what there is to know."""
        kind = message[0]
        if kind == DIFF:
            self._version = message[1]
            for place in range(2, len(message), 2):
                if message[place] == STOCK:
                    self._stock = message[place + 1]
        elif kind == SNAPSHOT:
            self._version, self._stock = message[4], message[6][STOCK]
            self.put_back += 1
        elif kind == ACK:
            self.acked.append(Acked(message[1], self._sent_s, time.monotonic()))
            self.under_way = 0
        elif kind == REJECT:
            self.refusals[message[1]] = message[2]
            self.under_way = 0
        elif kind == STORE:
            self.away += not message[1]


# -- one round


class Outcome(msgspec.Struct, frozen=True):
    """What one round did to those who played with one way of waiting."""

    kind: str
    wait: int
    acknowledged: int
    """By the server that was harmed, and so on. In a cluster others played on other shards."""
    lost: int
    oldest_lost_ms: float
    """How long before the fault the first one that is lost was acknowledged; less than 0: after it."""
    youngest_lost_ms: float
    youngest_kept_ms: float
    """The same of the last one before the fault that is kept."""
    still_ms: float
    """The longest time in which nobody's action was acknowledged."""
    one_still_ms: float
    """The longest that one player had to wait between two."""
    others_acknowledged: int
    others_lost: int
    others_still_ms: float
    others_one_still_ms: float
    """The same of those who played on other shards."""
    put_back: int
    told: int
    """Players, of all, who were put back by a snapshot, and who were told that the store is away."""
    refused: int


class Round:
    """Load on two nodes, one fault, and all well again."""

    def __init__(self, place: Place, nodes: dict[int, Served], players: int, rate: float, lag_s: float):
        self._place = place
        self.nodes = nodes
        self._players = players
        self._rate = rate
        self._slow = Slow(lag_s)
        self._last = 0.0

    async def run(self, kind: str, seed: int) -> list[Outcome]:
        """Raises `Fault` if something is doubled or out of order, or if play does not go on."""
        self._place.choose(seed)
        await _wait_for(self._place.ready, "the replicas are in step")
        everybody = {wait: await self._enter(node) for wait, node in self.nodes.items()}
        players = [player for pair in zip(*everybody.values(), strict=True) for player in pair]
        if kind == "lag":
            await self._lag()
        began = time.monotonic()
        dues = [began + at for at in moments(self._rate, _ROUND_S, seed)]
        pace = Pace([player.take for player in players], dues, Book())
        try:
            await asyncio.sleep(1.0 + random.Random(seed).random())
            await asyncio.sleep(self._last + _APART_S - time.monotonic())
            self._last = time.monotonic()
            at = await self._fault(kind)
            again = time.monotonic()
            await asyncio.sleep(_AGAIN_S)
            await _until(
                lambda: all(player.acked and player.acked[-1].sent_s > again for player in players),
                "everybody plays on",
                players,
            )
        finally:
            pace.stop()
            self._slow.cut()
        await _until(lambda: not any(player.under_way for player in players), "all is answered", players)
        try:
            return [await self._outcome(kind, wait, at, began, found) for wait, found in everybody.items()]
        finally:
            for player in players:
                player.abort()

    async def _enter(self, node: Served) -> list[Player]:
        async def enter() -> Player:
            player = await Player.connect("127.0.0.1", node.port)
            await player.begin()
            return player

        async with asyncio.timeout(_PATIENCE_S):
            return await all_of([enter] * self._players)

    async def _lag(self) -> None:
        """From now on the replicas get what the primary does later."""
        primary, replicas = await asyncio.to_thread(lambda: (self._place.primary, self._place.replicas))
        port = await self._slow.open(primary.port)
        await asyncio.to_thread(self._place.lead_through, port)

        def led() -> bool:
            return all(replica.ask("ROLE")[2] == port for replica in replicas) and self._place.ready()

        await _wait_for(led, "the replicas are in step")

    async def _fault(self, kind: str) -> float:
        """Returns when it was, once another one is the primary and the old one follows it."""
        place = self._place
        old = await asyncio.to_thread(lambda: place.primary)
        at = time.monotonic()
        if kind == "pause":
            await asyncio.to_thread(old.freeze)
        elif kind == "move":
            await asyncio.to_thread(place.hand_over)
        else:
            self._slow.cut()
            await asyncio.to_thread(old.kill)
        await _wait_for(lambda: place.taken_over(old), "a replica takes over")
        if kind == "pause":
            old.thaw()
        elif kind != "move":
            await asyncio.to_thread(old.start)
            await asyncio.to_thread(place.comes_back, old)
        await _wait_for(place.ready, "the old primary follows")
        return at

    async def _outcome(self, kind: str, wait: int, at: float, began: float, players: list[Player]) -> Outcome:
        store = Store(self._place.url)
        try:
            found = [await _checked(store, wait, player) for player in players]
        finally:
            await store.aclose()
        harmed = [one for one in found if self._place.harms(one.player.sid)]
        others = [one for one in found if one not in harmed]
        kept_ms = [(at - acked.acked_s) * 1000 for one in harmed for acked in one.kept if acked.acked_s < at]
        lost_ms = [(at - acked.acked_s) * 1000 for one in harmed for acked in one.lost]
        still_ms, one_still_ms = _still(harmed, began)
        others_still_ms, others_one_still_ms = _still(others, began)
        return Outcome(
            kind=kind,
            wait=wait,
            acknowledged=_acknowledged(harmed),
            lost=len(lost_ms),
            oldest_lost_ms=max(lost_ms, default=0.0),
            youngest_lost_ms=min(lost_ms, default=0.0),
            youngest_kept_ms=min(kept_ms, default=0.0),
            still_ms=still_ms,
            one_still_ms=one_still_ms,
            others_acknowledged=_acknowledged(others),
            others_lost=sum(len(one.lost) for one in others),
            others_still_ms=others_still_ms,
            others_one_still_ms=others_one_still_ms,
            put_back=sum(player.put_back > 0 for player in players),
            told=sum(player.away > 0 for player in players),
            refused=sum(len(player.refusals) for player in players),
        )


class Checked(NamedTuple):
    """A player, and what became of what was acknowledged."""

    player: Player
    kept: list[Acked]
    lost: list[Acked]


async def _checked(store: Store, wait: int, player: Player) -> Checked:
    """Holds the log against what was acknowledged. Raises `Fault`."""
    opened = await store.peek(player.sid)
    refs = [unpack(entry.body).ref for entry in opened.entries] if opened is not None else []
    there = set(refs)
    if len(there) != len(refs):
        raise Fault(f"an action is twice in the log of {player.sid}")
    kept = [acked for acked in player.acked if acked.ref in there]
    if [acked.ref for acked in kept] != refs:
        raise Fault(_differs(wait, player, refs))
    return Checked(player, kept, [acked for acked in player.acked if acked.ref not in there])


def _acknowledged(found: list[Checked]) -> int:
    return sum(len(one.player.acked) for one in found)


def _still(found: list[Checked], began: float) -> tuple[float, float]:
    """The longest time in which nobody's action was acknowledged, and that of one player; in ms."""
    times = [[began, *(acked.acked_s for acked in one.player.acked)] for one in found]
    return _longest(sorted(time_s for own in times for time_s in own)), max(map(_longest, times), default=0.0)


def _differs(wait: int, player: Player, refs: list[int]) -> str:
    """What is wrong with a log that is not a part of what was acknowledged, in the same order."""
    known = {acked.ref for acked in player.acked}
    strange = [f"{ref} ({player.refusals.get(ref, 'never answered')})" for ref in refs if ref not in known]
    return (
        f"waiting for {wait} replicas, {player.sid} was put back {player.put_back} times; in its log, and not"
        f" acknowledged: {', '.join(strange) or 'nothing, but the order differs'}"
    )


def _longest(times_s: list[float]) -> float:
    """The longest time between two, in milliseconds."""
    return max((after - before for before, after in pairwise(times_s)), default=0.0) * 1000


async def _wait_for(holds: Callable[[], bool], what: str) -> None:
    """Returns as soon as `holds()`, which asks other processes. Raises `Fault`."""

    def safely() -> bool:
        with contextlib.suppress(Exception):  # who is asked may be dead
            return holds()
        return False

    try:
        await asyncio.to_thread(eventually, safely, what)
    except AssertionError as error:
        raise Fault(str(error)) from None


async def _until(holds: Callable[[], bool], what: str, players: list[Player]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not holds():
        if any(player.closed for player in players):
            raise Fault("a node closed a connection")
        if time.monotonic() > deadline:
            raise Fault(f"never came to hold: {what}")
        await asyncio.sleep(0.01)


# -- the command


@contextlib.contextmanager
def _standing(
    standing: contextlib.AbstractContextManager[Place], waited_for: int
) -> Iterator[tuple[Place, dict[int, Served]]]:
    """The servers of the store, and a node for each way of waiting."""
    with standing as place, contextlib.ExitStack() as stack:
        deal_days(place.url)
        nodes = {
            wait: stack.enter_context(serving_node(place.url, {"HEARTROOM_REDIS_WAIT": str(wait)}))
            for wait in (0, waited_for)
        }
        yield place, nodes


_LOSS = "{:<7}{:>5}{:>8}{:>14}{:>6}{:>14}{:>11}{:>15}{:>15}{:>11}{:>14}{:>10}{:>14}{:>13}{:>11}{:>14}"
_COST = "{:<16}{:>5}{:>11}{:>11}{:>11}{:>12}{:>8}{:>8}{:>7}{:>8}"


@click.command(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.option(
    "--place",
    "place_name",
    default="sentinel",
    type=click.Choice(tuple(PLACES)),
    help="A primary that Sentinels watch, or the shards of a cluster, of which one is harmed.",
)
@click.option(
    "--only", type=click.Choice(("loss", "cost")), multiple=True, help="  [default: both; cluster: loss]"
)
@click.option("--rounds", default=20, type=click.IntRange(1, 1000), help="Failovers of each kind.")
@click.option("--kinds", default=",".join(KINDS), help="Of faults, comma-separated.")
@click.option("--players", default=50, type=click.IntRange(1, 1000), help="On each of the two nodes.")
@click.option("--rate", default=1000.0, type=click.FloatRange(10, 5000), help="Actions due a second, of all.")
@click.option("--lag", "lag_ms", default=50.0, type=click.FloatRange(0, 1000), help="Of the replicas, in ms.")
@click.option("--replicas", default=1, type=click.IntRange(1, 5), help="Of each primary.")
@click.option(
    "--wait",
    default=0,
    show_default="all",
    type=click.IntRange(0, 5),
    help="How many of them the second node waits for.",
)
@click.option("--server", default="valkey", type=click.Choice(sorted(BINARIES)), help="Of the store.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of the store's servers, such as min-replicas-to-write=1.",
)
@click.option("--repeats", default=5, type=click.IntRange(1, 100), help="Of what waiting costs.")
@click.option("--seconds", default=5.0, type=click.FloatRange(0.5, 60), help="Window of one run of that.")
@click.option("--seed", default=1, help="Of when actions and faults are.")
@click.option(
    "--dir",
    "parent",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where the stores' files are made, and removed.  [default: the system's temporary directory]",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where every single round is written to.",
)
def main(
    place_name: str,
    only: tuple[str, ...],
    rounds: int,
    kinds: str,
    players: int,
    rate: float,
    lag_ms: float,
    replicas: int,
    wait: int,
    server: str,
    settings: tuple[str, ...],
    repeats: int,
    seconds: float,
    seed: int,
    parent: Path | None,
    json_file: Path | None,
) -> None:
    """What a failover loses of what was acknowledged, with and without waiting for a replica, and what
    waiting costs.

    kill: the primary's process is killed. lag: the same, its replicas get everything late, and what is on
    the way is lost with it, as with a machine. pause: it stands still, and comes back as if nothing had been.
    move: a failover by hand. Of Sentinel's the old primary hears last; in a cluster it takes nothing
    meanwhile.

    What waiting costs is what it costs one primary, and is measured with Sentinel only.
    """
    parts = only or (("loss", "cost") if place_name == "sentinel" else ("loss",))
    if place_name != "sentinel" and "cost" in parts:
        raise click.UsageError("what waiting costs is measured with Sentinel only")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    runs.allow_files(8 * players + 1000)
    raw: list[dict[str, object]] = []
    try:
        own = dict(setting.split("=", 1) for setting in settings)
        standing = PLACES[place_name](BINARIES[server], replicas, own, parent)
        with _standing(standing, wait or replicas) as (place, nodes):
            if "loss" in parts:
                _losses(
                    Round(place, nodes, players, rate, lag_ms / 1000), kinds.split(","), rounds, seed, raw
                )
            if "cost" in parts:
                _costs(place, nodes, rate, players, repeats, seconds, raw)
    except (runs.Broken, Failed, Fault, Closed) as error:
        raise click.ClickException(f"{type(error).__name__}: {error}") from None
    finally:
        if json_file is not None:
            json_file.write_text(json.dumps(raw, indent=1))


def _losses(one: Round, kinds: list[str], rounds: int, seed: int, raw: list[dict[str, object]]) -> None:
    print(
        _LOSS.format(
            *(
                "fault",
                "WAIT",
                "rounds",
                "acknowledged",
                "lost",
                "lost at worst",
                "first, ms",
                "last lost, ms",
            ),
            *("last kept, ms", "still, ms", "one at worst", "put back"),
            *("others' acks", "others lost", "still, ms", "one at worst"),
        ),
        flush=True,
    )
    for kind in kinds:
        found: list[Outcome] = []
        for number in range(rounds):
            found += uvloop.run(one.run(kind, seed + number))
            raw += map(msgspec.to_builtins, found[-len(one.nodes) :])
        for wait in one.nodes:
            print(_LOSS.format(kind, wait, *_loss([o for o in found if o.wait == wait])), flush=True)


def _loss(outcomes: list[Outcome]) -> list[str]:
    hit = [outcome for outcome in outcomes if outcome.lost]
    return [
        f"{len(outcomes)}",
        f"{sum(outcome.acknowledged for outcome in outcomes)}",
        f"{sum(outcome.lost for outcome in outcomes)}",
        f"{max(outcome.lost for outcome in outcomes)}",
        f"{max(outcome.oldest_lost_ms for outcome in hit):.1f}" if hit else "",
        f"{min(outcome.youngest_lost_ms for outcome in hit):.1f}" if hit else "",
        f"{median(outcome.youngest_kept_ms for outcome in outcomes):.1f}",
        f"{median(outcome.still_ms for outcome in outcomes):.0f}",
        f"{max(outcome.one_still_ms for outcome in outcomes):.0f}",
        f"{sum(outcome.put_back for outcome in outcomes)}",
        f"{sum(outcome.others_acknowledged for outcome in outcomes)}",
        f"{sum(outcome.others_lost for outcome in outcomes)}",
        f"{median(outcome.others_still_ms for outcome in outcomes):.0f}",
        f"{max(outcome.others_one_still_ms for outcome in outcomes):.0f}",
    ]


def _costs(
    place: Place,
    nodes: dict[int, Served],
    rate: float,
    players: int,
    repeats: int,
    window_s: float,
    raw: list[dict[str, object]],
) -> None:
    eventually(place.ready, "the replicas are in step")
    primary = place.primary
    data = [primary, *place.replicas]
    open_loop: dict[int, list[Paced]] = {wait: [] for wait in nodes}
    closed: dict[int, list[Watched]] = {wait: [] for wait in nodes}
    for turn in range(repeats):
        for wait in sorted(nodes, reverse=turn % 2 == 1):
            open_loop[wait].append(_paced(nodes[wait], data, rate, players, window_s, turn))
            closed[wait].append(_closed(nodes[wait], data, window_s))
            raw.append({"wait": wait, "open": msgspec.to_builtins(open_loop[wait][-1])})
            raw.append({"wait": wait, "closed": msgspec.to_builtins(closed[wait][-1])})
    print(f"\nwhat waiting costs, medians of {repeats} × {window_s:g} s")
    print(
        _COST.format(
            *("", "WAIT", "actions/s", "server µs", "primary µs", "replica µs", "p50 ms", "p99 ms"),
            *("batch", "others"),
        )
    )
    for wait, found in open_loop.items():
        print(
            _COST.format(
                f"open loop {rate:.0f}/s",
                wait,
                f"{median(p.actions / p.wall_s for p in found):.0f}",
                f"{median(p.nodes_s / p.actions * 1e6 for p in found):.1f}",
                f"{median(p.stores_s / p.actions * 1e6 for p in found):.1f}",
                "in it",
                f"{median(p.p50_ms for p in found):.2f}",
                f"{median(p.p99_ms for p in found):.2f}",
                f"{median(p.batch for p in found):.1f}",
                f"{median(p.others_s / p.wall_s for p in found):.0%}",
            )
        )
    for wait, seen in closed.items():
        print(
            _COST.format(
                "watch4, R = 100",
                wait,
                f"{median(w.actions / w.wall_s for w in seen):.0f}",
                f"{median(w.server_s / w.actions * 1e6 for w in seen):.1f}",
                f"{median(w.store_s / w.actions * 1e6 for w in seen):.1f}",
                f"{median(w.keeper_s / w.actions * 1e6 for w in seen):.1f}",
                f"{median(w.p50_ms for w in seen):.2f}",
                f"{median(w.p99_ms for w in seen):.2f}",
                "",
                f"{median(w.others_s / w.wall_s for w in seen):.0%}",
            )
        )


def _paced(node: Served, data: list[Server], rate: float, sessions: int, window_s: float, seed: int) -> Paced:
    job = PacedJob(
        host="127.0.0.1",
        ports=[node.port],
        nodes=[node.server],
        stores=[server.pid for server in data],
        sessions=2 * sessions,
        rate=rate,
        window_s=window_s,
        seed=seed,
    )
    return msgspec.json.decode(runs.load_of("bench.paced", job, job.warm_s + window_s), type=Paced)


def _closed(node: Served, data: list[Server], window_s: float) -> Watched:
    """The first replica stands in for what else there is beside the store."""
    job = Job(
        workload="watch4",
        host="127.0.0.1",
        port=node.port,
        server=node.server,
        store=data[0].pid,
        keeper=data[1].pid,
        sessions=100,
        window_s=window_s,
    )
    return msgspec.json.decode(runs.load(job), type=Watched)


if __name__ == "__main__":
    main()
