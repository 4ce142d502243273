"""Places whose primary can be harmed while people play: one that Sentinels watch, and a shard of a cluster.

What is asked of a place asks other processes, and takes its time. All servers sync every write to the disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, Protocol

from tests.support.clusters import Cluster, Server, Watched, cluster, watched

_SILENCE_MS: Final = 2_000
"""After so much of it a primary counts as dead. With less, the next one may, too (see `watched`)."""


class Place(Protocol):
    """Where a primary is harmed, and a replica takes over."""

    @property
    def url(self) -> str:
        """Where nodes find it."""

    def choose(self, number: int) -> None:
        """From now on it is the round `number`, which says who is harmed, where there are several."""

    @property
    def primary(self) -> Server:
        """The one that is harmed, as long as it was not."""

    @property
    def replicas(self) -> list[Server]:
        """Those that may take over from it."""

    def harms(self, sid: str) -> bool:
        """Whether the primary has this session."""

    def ready(self) -> bool:
        """Whether all know each other, and all replicas are in step."""

    def lead_through(self, port: int) -> None:
        """From soon on the replicas reach their primary through this port."""

    def hand_over(self) -> None:
        """Begins a failover by hand."""

    def taken_over(self, old: Server) -> bool:
        """Whether another one is the primary now."""

    def comes_back(self, old: Server) -> None:
        """The old primary, which was started again, is to follow the new one."""


class Sentinels:
    """One primary, which all sessions are on."""

    def __init__(self, made: Watched) -> None:
        self._made: Final = made
        self.url: Final = made.url

    def choose(self, number: int) -> None:
        """There is but one."""

    @property
    def primary(self) -> Server:
        """What the first Sentinel takes for it."""
        return self._made.primary

    @property
    def replicas(self) -> list[Server]:
        """All others."""
        primary = self.primary
        return [one for one in self._made.data if one is not primary]

    def harms(self, sid: str) -> bool:
        """All of them."""
        return True

    def ready(self) -> bool:
        """See `Watched.ready`."""
        return self._made.ready()

    def lead_through(self, port: int) -> None:
        """Sentinels let that be for ten seconds."""
        for replica in self.replicas:
            replica.ask("REPLICAOF", "127.0.0.1", port)

    def hand_over(self) -> None:
        """The old primary hears of it last."""
        self._made.sentinels[0].ask("SENTINEL", "FAILOVER", self._made.NAME)

    def taken_over(self, old: Server) -> bool:
        """Both the first Sentinel and the new one must say so."""
        return self.primary is not old and self.primary.ask("ROLE")[0] == b"master"

    def comes_back(self, old: Server) -> None:
        """Sentinels see to it, too, but some ten seconds later."""
        old.ask("REPLICAOF", "127.0.0.1", self.primary.port)


class Shards:
    """The shards of a cluster, harmed in turn."""

    def __init__(self, made: Cluster) -> None:
        self._made: Final = made
        self.url: Final = made.url
        self._shard = 0

    def choose(self, number: int) -> None:
        """Each has something that no other has: the leases of the nodes, or what they tell everybody."""
        self._shard = number % self._made.SHARDS

    @property
    def _nodes(self) -> list[Server]:
        return self._made.nodes[self._shard :: self._made.SHARDS]

    @property
    def primary(self) -> Server:
        """Who says so."""
        return next(node for node in self._nodes if _leads(node))

    @property
    def replicas(self) -> list[Server]:
        """The other nodes of the shard."""
        return [node for node in self._nodes if not _leads(node)]

    def harms(self, sid: str) -> bool:
        """Those of the shard."""
        return self._made.shard_of(sid) == self._shard

    def ready(self) -> bool:
        """Each shard has one primary."""
        replicas = [node for node in self._made.nodes if not _leads(node)]
        return (
            len(replicas) == len(self._made.nodes) - self._made.SHARDS
            and all(map(self._made.follows, replicas))
            and self._made.whole()
        )

    def lead_through(self, port: int) -> None:
        """The primary says that it is there, to replicas and clients alike."""
        self.primary.ask("CONFIG", "SET", "cluster-announce-port", port)

    def hand_over(self) -> None:
        """The primary takes nothing until the replica has all."""
        self.replicas[0].ask("CLUSTER", "FAILOVER")

    def taken_over(self, old: Server) -> bool:
        """Who was harmed is not asked."""
        return any(_leads(node) for node in self._nodes if node is not old)

    def comes_back(self, old: Server) -> None:
        """By itself: it hears from the others that it was replaced."""


def _leads(node: Server) -> bool:
    return bool(node.ask("ROLE")[0] == b"master")


@contextlib.contextmanager
def sentinels(
    binary: str, replicas: int, settings: Mapping[str, str], parent: Path | None
) -> Iterator[Place]:
    """A primary with so many replicas, and three Sentinels. `settings`: of the primary and the replicas.
    `parent`: where their files are made."""
    with watched(
        binary,
        replicas=replicas,
        appendfsync="always",
        down_after_ms=_SILENCE_MS,
        parent=parent or tempfile.gettempdir(),
        **settings,
    ) as made:
        yield Sentinels(made)


@contextlib.contextmanager
def shards(binary: str, replicas: int, settings: Mapping[str, str], parent: Path | None) -> Iterator[Place]:
    """Three shards, each with so many replicas; the rest as for `sentinels`."""
    with cluster(
        binary,
        replicas=replicas,
        appendfsync="always",
        node_timeout_ms=_SILENCE_MS,
        parent=parent or tempfile.gettempdir(),
        **settings,
    ) as made:
        yield Shards(made)


PLACES: Final = {"sentinel": sentinels, "cluster": shards}


# -- a link that takes its time


class Slow:
    """What a primary sends to its replicas comes `delay_s` later, and to others at once. When its machine
    dies, what is on the way dies with it."""

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s
        self._server: asyncio.Server | None = None
        self._target = 0
        self._open: set[asyncio.Transport] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, target: int) -> int:
        """Leads to the port `target`; returns the port to go to."""
        self._target = target
        self._server = await asyncio.start_server(self._link, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def cut(self) -> None:
        """Nothing comes through any more."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for transport in self._open:
            transport.abort()
        for task in self._tasks:
            task.cancel()
        self._open.clear()
        self._tasks.clear()

    async def _link(self, below_in: asyncio.StreamReader, below_out: asyncio.StreamWriter) -> None:
        try:
            above_in, above_out = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            below_out.close()
            return
        self._open |= {below_out.transport, above_out.transport}  # type: ignore[arg-type]
        loop = asyncio.get_running_loop()
        delay_s = 0.0

        def asked(data: bytes) -> float:
            nonlocal delay_s
            if b"PSYNC" in data:  # it is a replica; in a cluster nodes of ours may come, too
                delay_s = self._delay_s
            return 0.0

        for work in (
            self._carry(below_in, above_out, asked),
            self._carry(above_in, below_out, lambda _: delay_s),
        ):
            task = loop.create_task(work)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _carry(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, delay_s: Callable[[bytes], float]
    ) -> None:
        held: deque[tuple[float, bytes]] = deque()
        came = asyncio.Event()

        async def deliver() -> None:
            while True:
                while not held:
                    came.clear()
                    await came.wait()
                await asyncio.sleep(held[0][0] - time.monotonic())
                target.write(held.popleft()[1])

        delivery = asyncio.create_task(deliver())
        try:
            while data := await source.read(65536):
                held.append((time.monotonic() + delay_s(data), data))
                came.set()
        except OSError:
            pass
        finally:
            delivery.cancel()
            target.close()
