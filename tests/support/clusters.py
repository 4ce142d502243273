"""Clusters of real servers on the loopback: three shards, with replicas if they are wanted, to be harmed."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import tempfile
from bisect import bisect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from heartroom.store import keys
from heartroom.store.cluster import slot_of
from tests.support.stores import MEMORY, eventually, freeze, thaw

SLOTS: Final = 16384


def free_ports(count: int) -> list[int]:
    """Ports of the loopback that nobody uses, nor the ones 10,000 above, on which clusters talk."""
    found: list[int] = []
    with contextlib.ExitStack() as stack:
        while len(found) < count:
            one = stack.enter_context(socket.socket())
            one.bind(("127.0.0.1", 0))
            port: int = one.getsockname()[1]
            bus = stack.enter_context(socket.socket())
            with contextlib.suppress(OSError, OverflowError):
                bus.bind(("127.0.0.1", port + 10_000))
                found.append(port)
    return found


class Server:
    """One server on a port of the loopback, with an append-only file."""

    def __init__(self, binary: str, port: int, folder: Path, *words: str, **settings: str) -> None:
        """`words` come before the settings, such as `--sentinel`."""
        self.port: Final = port
        self._binary = binary
        self._folder = folder
        self._words = words
        self._settings = {
            "bind": "127.0.0.1",
            "port": str(port),
            "dir": str(folder),
            "save": "",
            "logfile": str(folder / "log"),
            "pidfile": str(folder / "pid"),
        } | {name.replace("_", "-"): value for name, value in settings.items()}
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Returns when it answers, with all that it had."""
        self._launch()
        eventually(self._answers_at_last, "the server answers")

    def _launch(self) -> None:
        arguments = [word for name, value in self._settings.items() for word in (f"--{name}", value)]
        self._process = subprocess.Popen([self._binary, *self._words, *arguments], stdout=subprocess.DEVNULL)

    def _answers_at_last(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:  # somebody's connection had its port for a moment
            self._launch()
        return self.answers()

    def answers(self) -> bool:
        """Whether it answers a PING."""
        try:
            return bool(self.ask("PING"))
        except (RedisError, OSError):
            return False

    def ask(self, *command: Any) -> Any:
        """What it answers to a command."""
        with self._client() as redis:
            return redis.execute_command(*command)

    def ranges(self) -> list[Any]:
        """Which node serves which slots, as this one knows it: first, last, primary, replicas."""
        with self._client() as redis:
            redis.response_callbacks.clear()
            found: list[Any] = redis.execute_command("CLUSTER SLOTS")
            return found

    def _client(self) -> Redis:
        return Redis("127.0.0.1", self.port, protocol=2, socket_timeout=10, retry=Retry(NoBackoff(), 0))

    def kill(self) -> None:
        """Ends it with no chance to tidy up."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
            (self._folder / "pid").unlink(missing_ok=True)

    def freeze(self) -> None:
        """It answers nothing from now on."""
        freeze(self.pid)

    def thaw(self) -> None:
        """It goes on where it was."""
        thaw(self.pid)


_UNDERTAKER: Final = (
    'cat > /dev/null; for pid in "$1"/*/pid; do [ -e "$pid" ] && kill -9 "$(cat "$pid")"; done; rm -rf "$1"'
)
"""Waits for the end of whoever started it. A test that runs out of time takes its process along, and that has
no chance to tidy up."""


@contextlib.contextmanager
def servers(parent: str | Path | None = MEMORY) -> Iterator[tuple[Path, list[Server]]]:
    """A folder for servers, made in `parent`, and a list for those that are to be ended whatever happens."""
    folder = Path(tempfile.mkdtemp(prefix="hr-", dir=parent))
    started: list[Server] = []
    undertaker = subprocess.Popen(
        ["/bin/sh", "-c", _UNDERTAKER, "sh", str(folder)], stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        yield folder, started
    finally:
        for server in started:
            server.kill()
        shutil.rmtree(folder)
        assert undertaker.stdin is not None
        undertaker.stdin.close()
        undertaker.wait()


class Cluster:
    """Three shards, each with so many replicas. `url` is that of one node, which knows the others."""

    SHARDS: Final = 3
    _FIRSTS: Final = [SLOTS * shard // 3 for shard in range(4)]
    """Of each shard's slots, and one more."""

    def __init__(self, nodes: list[Server], replicas: int) -> None:
        self.nodes: Final = nodes
        self.primaries: Final = nodes[: self.SHARDS]
        self._replicas = replicas

    @property
    def url(self) -> str:
        return f"redis+cluster://127.0.0.1:{self.nodes[0].port}"

    def form(self) -> None:
        """Makes a cluster of the nodes; returns when all know all."""
        for shard, node in enumerate(self.primaries):
            node.ask("CLUSTER", "ADDSLOTSRANGE", self._FIRSTS[shard], self._FIRSTS[shard + 1] - 1)
            node.ask("CLUSTER", "SET-CONFIG-EPOCH", shard + 1)
        for node in self.nodes[1:]:
            self.nodes[0].ask("CLUSTER", "MEET", "127.0.0.1", node.port)
        eventually(self.whole, "the cluster is whole")
        for place, node in enumerate(self.nodes[self.SHARDS :]):
            primary = self.primaries[place % self.SHARDS]
            node.ask("CLUSTER", "REPLICATE", self.id_of(primary))
        for node in self.nodes[self.SHARDS :]:
            eventually(lambda node=node: self.follows(node), "the replica has all")  # type: ignore[misc]

    def whole(self) -> bool:
        """Whether every node sees all slots served, and knows every other."""
        return all(self._sees_all(node) for node in self.nodes)

    def _sees_all(self, node: Server) -> bool:
        info = node.ask("CLUSTER", "INFO")
        text = info if isinstance(info, dict) else dict(line.split(":") for line in info.decode().split())
        return text["cluster_state"] == "ok" and int(text["cluster_known_nodes"]) == len(self.nodes)

    def follows(self, node: Server) -> bool:
        """Whether a replica is in step with its primary."""
        role = node.ask("ROLE")
        return bool(role[0] == b"slave" and role[3] == b"connected")

    def id_of(self, node: Server) -> str:
        found: Any = node.ask("CLUSTER", "MYID")
        return str(found.decode() if isinstance(found, bytes) else found)

    def of(self, sid: str) -> Server:
        """The node that serves a session."""
        return self.node_of(slot_of(keys.session(sid)))

    def node_of(self, slot: int) -> Server:
        """The node that serves a slot."""
        asked = next(node for node in self.nodes if node.answers())
        for first, last, (_, port, *_), *_ in asked.ranges():
            if first <= slot <= last:
                return next(node for node in self.nodes if node.port == port)
        raise AssertionError("no node serves the slot")

    def shard_of(self, sid: str) -> int:
        """Which shard a session was dealt to: that of `nodes[shard :: SHARDS]`, as long as no slot moves."""
        return bisect(self._FIRSTS, slot_of(keys.session(sid))) - 1

    def begin_move(self, sid: str) -> Move:
        """Begins to move the slot of a session to the next shard."""
        source = self.of(sid)
        target = self.primaries[(self.primaries.index(source) + 1) % self.SHARDS]
        return Move(self, slot_of(keys.session(sid)), source, target)


class Move:
    """A slot on its way from one node to another."""

    def __init__(self, cluster: Cluster, slot: int, source: Server, target: Server) -> None:
        self._cluster = cluster
        self.slot: Final = slot
        self.source: Final = source
        self.target: Final = target
        target.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.id_of(source))
        source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.id_of(target))

    def left(self) -> list[bytes]:
        """What is still to be moved."""
        found: list[bytes] = self.source.ask("CLUSTER", "GETKEYSINSLOT", self.slot, 1000)
        return found

    def carry(self, *names: bytes) -> None:
        """Moves keys: these, or all."""
        moving = names or tuple(self.left())
        if moving:
            self.source.ask("MIGRATE", "127.0.0.1", self.target.port, "", 0, 5000, "KEYS", *moving)

    def end(self) -> None:
        """All keys are carried over, and everybody is told."""
        self.carry()
        for node in (self.target, self.source, *self._cluster.primaries):
            node.ask("CLUSTER", "SETSLOT", self.slot, "NODE", self._cluster.id_of(self.target))


@contextlib.contextmanager
def cluster(
    binary: str,
    *,
    replicas: int = 0,
    appendfsync: str = "everysec",
    node_timeout_ms: int = 1000,
    parent: str | Path | None = MEMORY,
    **settings: str,
) -> Iterator[Cluster]:
    """A running cluster, ended and removed whatever happens; its files are in `parent`. `node_timeout_ms`:
    after so much silence a node counts as dead. `settings`: of all nodes."""
    with servers(parent) as (folder, started):
        count = Cluster.SHARDS * (1 + replicas)
        for number, port in enumerate(free_ports(count)):
            node = Server(
                binary,
                port,
                folder / str(number),
                appendonly="yes",
                appendfsync=appendfsync,
                cluster_enabled="yes",
                cluster_config_file="nodes.conf",
                cluster_node_timeout=str(node_timeout_ms),
                cluster_allow_replica_migration="no",
                repl_diskless_sync_delay="0",
                **settings,
            )
            started.append(node)
            node.start()
        made = Cluster(started, replicas)
        made.form()
        yield made


class Watched:
    """A primary with replicas, and three Sentinels that watch them."""

    NAME: Final = "heartroom"

    def __init__(self, data: list[Server], sentinels: list[Server]) -> None:
        self.data: Final = data
        self.sentinels: Final = sentinels

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{one.port}" for one in self.sentinels)
        return f"redis+sentinel://{hosts}/{self.NAME}"

    @property
    def primary(self) -> Server:
        """What the first Sentinel takes for the primary."""
        _, port = self.sentinels[0].ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.NAME)
        return next(one for one in self.data if one.port == int(port))

    def ready(self) -> bool:
        """Whether each Sentinel knows the others and the replicas, and those are in step."""
        roles = [one.ask("ROLE") for one in self.data]
        in_step = [role for role in roles if role[0] == b"slave" and role[3] == b"connected"]
        return len(in_step) == len(self.data) - 1 and all(self._knows(one) for one in self.sentinels)

    def _knows(self, sentinel: Server) -> bool:
        others = sentinel.ask("SENTINEL", "SENTINELS", self.NAME)
        replicas = sentinel.ask("SENTINEL", "REPLICAS", self.NAME)
        return len(others) == len(self.sentinels) - 1 and len(replicas) == len(self.data) - 1


@contextlib.contextmanager
def watched(
    binary: str,
    *,
    replicas: int = 1,
    appendfsync: str = "everysec",
    down_after_ms: int = 500,
    parent: str | Path | None = MEMORY,
    **settings: str,
) -> Iterator[Watched]:
    """Running servers and Sentinels, ended and removed whatever happens; their files are in `parent`.
    `down_after_ms`: after so much silence a primary counts as dead; with less than 2,000 the next one may,
    too, when Sentinels have only just turned to it. `settings`: of the primary and the replicas."""
    with servers(parent) as (folder, started):
        first, *others = free_ports(4 + replicas)
        data = [
            Server(
                binary,
                port,
                folder / str(port),
                appendonly="yes",
                appendfsync=appendfsync,
                repl_diskless_sync_delay="0",
                **settings,
                **({} if port == first else {"replicaof": f"127.0.0.1 {first}"}),
            )
            for port in (first, *others[:replicas])
        ]
        sentinels = []
        for port in others[replicas:]:
            place = folder / str(port)
            sentinels.append(Server(binary, port, place, str(place / "sentinel.conf"), "--sentinel"))
            # Sentinels write down what they find out, and so want a file.
            (place / "sentinel.conf").write_text(
                f"sentinel monitor {Watched.NAME} 127.0.0.1 {first} 2\n"
                f"sentinel down-after-milliseconds {Watched.NAME} {down_after_ms}\n"
                f"sentinel failover-timeout {Watched.NAME} 3000\n"
            )
        for one in (*data, *sentinels):
            started.append(one)
            one.start()
        made = Watched(data, sentinels)
        eventually(made.ready, "the Sentinels know everybody")
        yield made
