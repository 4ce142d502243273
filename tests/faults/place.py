"""What is harmed: nodes of heartroom on ports of their own, over a cluster of three shards; and how."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psutil

from heartroom.daily import dates
from heartroom.store.days import Days
from heartroom.store.store import Store
from tests.support.clusters import Cluster, cluster, servers
from tests.support.clusters import Server as Shard
from tests.support.days import known_deal
from tests.support.serving import SECRET, Server
from tests.support.stores import BINARIES, PATIENCE_S, freeze, thaw

NODES: Final = 3
_SETTINGS: Final[dict[str, str]] = {
    "frames_per_second": "1000000",
    "frames_burst": "1000000",
    "sessions_per_hour": "1000000",
    "connections_per_address": "100000",
    "linger_seconds": "2",
    "log_level": "warning",
}


def binary() -> str:
    """The system's Redis where it is installed, else the embedded Valkey."""
    return BINARIES.get("redis", BINARIES["valkey"])


class Node:
    """One node; each time that it is started anew it has another port."""

    def __init__(self, redis_url: str, folder: Path) -> None:
        """`folder`: where its process id is kept, for who tidies up after a process that was killed."""
        self._redis_url = redis_url
        self._pid_file = folder / "pid"
        folder.mkdir()
        self.server = self._serving()
        self.port = self.server.port
        self.up = True
        """Whether it serves; set to false by who is about to kill it, so that nobody else chooses it."""
        self.frozen = False
        """Whether it stands still, or is about to."""
        self.said: list[str] = []
        """What those that are no more had to say."""

    def _serving(self) -> Server:
        server = Server(0, redis_url=self._redis_url, secret=SECRET, **_SETTINGS)
        self._pid_file.write_text(str(server.process.pid))
        return server

    @property
    def pid(self) -> int:
        return self.server.process.pid

    def kill(self) -> None:
        """Ends it with no chance to tidy up."""
        self.server.kill()
        self._pid_file.unlink()
        self.said.append(self.server.said())
        self.server.stop()

    def start(self) -> None:
        """Returns when it serves."""
        self.server = self._serving()
        self.port = self.server.port
        self.up = True

    def freeze(self) -> None:
        """It stands still."""
        freeze(self.pid)

    def thaw(self) -> None:
        """It goes on where it was."""
        thaw(self.pid)
        self.frozen = False

    def remove(self) -> None:
        """Ends it, in whatever state it is."""
        if self.server.process.poll() is None:
            self.kill()


class Place:
    """Nodes and shards."""

    def __init__(self, shards: Cluster) -> None:
        self.cluster: Final = shards
        self.nodes: Final[list[Node]] = []

    def living(self) -> list[Node]:
        """The nodes that are up and do not stand still."""
        return [node for node in self.nodes if node.up and not node.frozen]

    def ports(self) -> list[int]:
        """Where to go, as something that sends players to healthy nodes would say; never nowhere."""
        return [node.port for node in self.living() or self.nodes]

    def store(self) -> Store:
        """The store, for who looks at it from outside."""
        return Store(self.cluster.url, timeout_s=PATIENCE_S)

    async def deal_days(self) -> None:
        """The deals of the days are known, so that nodes need not seek any whenever they start."""
        store = self.store()
        today = dates.of(await store.time_ms())
        for after in range(3):
            await Days(store).put(known_deal(dates.after(today, after)))
        await store.aclose()

    def cut_store(self, node: Node) -> int:
        """Cuts all connections of a node to all shards; returns how many there were."""
        try:
            connections = psutil.Process(node.pid).net_connections("tcp")
        except psutil.NoSuchProcess:  # killed meanwhile
            return 0
        ports = {connection.laddr.port for connection in connections}
        cut = 0
        for shard in self.cluster.primaries:
            listed: bytes = shard.ask("CLIENT", "LIST")
            for line in listed.decode().splitlines():
                address = dict(field.split("=", 1) for field in line.split())["addr"]
                if int(address.rsplit(":", 1)[1]) in ports:
                    cut += int(shard.ask("CLIENT", "KILL", "ADDR", address))
        return cut

    def restart(self, shard: Shard) -> None:
        """Kills a shard and starts it anew with what it has written; returns when the cluster is whole."""
        shard.kill()
        shard.start()
        self.wait_whole()

    def wait_whole(self) -> None:
        """Returns when every shard sees all slots served."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            with contextlib.suppress(Exception):
                if self.cluster.whole():
                    return
            assert time.monotonic() < deadline, "the cluster never was whole again"
            time.sleep(0.02)


@contextlib.contextmanager
def place() -> Iterator[Place]:
    """A running place, ended and removed whatever happens."""
    with cluster(binary(), appendfsync="always") as shards, servers() as (folder, _):
        made = Place(shards)
        try:
            asyncio.run(made.deal_days())
            for number in range(NODES):
                made.nodes.append(Node(shards.url, folder / str(number)))
            yield made
        finally:
            for node in made.nodes:
                node.remove()
