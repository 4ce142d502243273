"""A cluster: which node serves which slot, and commands that find their way to it.

redis-py has a client for clusters. Where a slot is being moved it sends ASKING over one connection and the
command over another, so that it gets through by luck; it repeats commands that may have been executed; and it
fails whoever comes when all connections are in use. Here each node has an ordinary client, and a command goes
again only where the answer says that it was not executed.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import structlog
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline
from redis.crc import key_slot
from redis.exceptions import (
    AskError,
    AuthenticationError,
    BusyLoadingError,
    ClusterCrossSlotError,
    ClusterDownError,
    DataError,
    MovedError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TryAgainError,
)

from heartroom.store.urls import Address, locked_out

_log = structlog.get_logger(__name__)

T = TypeVar("T")

NOT_NOW: Final = (TryAgainError, ClusterDownError, ReadOnlyError, BusyLoadingError)
"""Answers to a command that was not executed, and may be later: the slot is half moved, it has no primary, or
the one it had is a replica by now, or still reads its file."""
PAUSE_S: Final = 0.05
"""After such an answer."""
HOPS: Final = 4
"""So often a command goes from node to node without a pause."""


def address_of(error: AskError, asked: Address) -> Address:
    """Where MOVED or ASK from the node `asked` sends us: without a host, to another port of the same."""
    return error.host or asked[0], int(error.port)


def slot_of(key: str | bytes) -> int:
    """The slot of a key or of a shard channel."""
    slot: int = key_slot(key.encode() if isinstance(key, str) else key)
    return slot


class WrongKind(RedisError):
    """The store is not of the kind that its URL says; says which it is."""


OF_A_CLUSTER: Final = "this is a node of a Cluster, whose URL begins with redis+cluster://"
OF_NO_CLUSTER: Final = "this is no Cluster: its URL begins with redis://"
NO_SLOTS: Final = (
    "this Cluster is not set up: the nodes of it that answer know of none that has slots "
    "(redis-cli --cluster create gives them out)"
)


def misnamed(error: BaseException) -> bool:
    """Whether only a node of a cluster answers so to who takes it for a server by itself, and none to who
    does not."""
    return isinstance(error, AskError | ClusterCrossSlotError) or _NO_NUMBERS in str(error)


def of_a_cluster(error: BaseException) -> bool:
    """Whether a node of a cluster answers so, maybe one that has no slots, or whose cluster is not whole."""
    return misnamed(error) or isinstance(error, ClusterDownError)


_NO_NUMBERS: Final = "SELECT is not allowed in cluster mode"
"""What Redis says to who wants a numbered database of a cluster's node."""


class Table:
    """Which node serves which slot, and a client for each node."""

    REFRESH_S: Final = 0.2
    """Not more often than this is the cluster asked for the whole table."""

    ASKED: Final = 5
    """Nodes that are asked for it at a time."""

    def __init__(
        self, seeds: tuple[Address, ...], client: Callable[[Address], Redis], timeout_s: float
    ) -> None:
        """`seeds`: nodes that know the others. `client`: makes a client for a node. `timeout_s`: how long a
        command may be sent to and fro."""
        self.timeout_s: Final = timeout_s
        self._seeds: Final = seeds
        self._client: Final = client
        self._clients: dict[Address, Redis] = {}
        self._slots: list[Address | None] = [None] * 16384
        self._any: Address | None = None
        """Where commands without a key go."""
        self._stale = True
        self._asked_s = 0.0
        self._refreshing = asyncio.Lock()
        self._asking: set[asyncio.Future[tuple[list[Any], Address] | None]] = set()
        self._primaries: set[Address] = set()
        """Those that the cluster named last."""
        self._locked_out: Exception | None = None
        """Why nodes do not even say where slots are."""
        self._misnamed = False
        """Whether that is because there is no cluster."""
        self._bare = False
        """Whether nodes said that no node has slots, and none said that one has."""

    def client(self, address: Address) -> Redis:
        """The client of the node at `address`."""
        found = self._clients.get(address)
        if found is None:
            found = self._clients[address] = self._client(address)
        return found

    def known(self, slot: int) -> Address | None:
        """The node that serves `slot`, as far as is known."""
        return self._slots[slot]

    async def primary(self, slot: int | None) -> Address:
        """The node that serves `slot`; `None`: one that serves any. Raises `ClusterDownError` where there is
        none, `WrongKind` where there is no cluster, and what redis-py raises."""
        if self._stale:
            await self._refresh()
        if slot is None and self._any is None:
            self._any = secrets.choice([*{*self._slots} - {None}] or [None])
        address = self._any if slot is None else self._slots[slot]
        if address is None:
            self._stale = True
            if self._misnamed:
                raise WrongKind(OF_NO_CLUSTER)
            if self._locked_out is not None:
                raise AuthenticationError(str(self._locked_out)) from self._locked_out
            bare = self._bare and not any(self._slots)
            raise ClusterDownError(NO_SLOTS if bare else "no node serves this slot")
        return address

    async def primaries(self) -> list[Address]:
        """All nodes that serve slots. Raises as `primary`."""
        await self.primary(None)
        return sorted(self.known_primaries())

    @property
    def stale(self) -> bool:
        """Whether the cluster is to be asked again before anything is sent there."""
        return self._stale

    def known_primaries(self) -> set[Address]:
        """All nodes that serve slots, as far as is known."""
        return {address for address in self._slots if address is not None}

    @property
    def whole(self) -> bool:
        """Whether each slot has a node, as far as is known."""
        return None not in self._slots

    def moved(self, slot: int, address: Address) -> None:
        """`slot` is served by the node at `address`; others may have moved, too."""
        self._slots[slot] = address
        self._stale = True

    def doubt(self) -> None:
        """Something is wrong: before the next command the cluster is asked where things are."""
        self._stale = True
        self._any = None

    async def _refresh(self) -> None:
        async with self._refreshing:
            if not self._stale or (any(self._slots) and time.monotonic() - self._asked_s < self.REFRESH_S):
                return
            nodes = [*{*self._seeds, *filter(None, self._slots)}]
            # Several at once, and the first who knows is believed: one that stands still holds up nobody.
            asked = random.sample(nodes, min(self.ASKED, len(nodes)))
            self._bare = False
            asking = [asyncio.ensure_future(self._ask(address)) for address in asked]
            self._asking.update(asking)
            for task in asking:
                task.add_done_callback(self._asking.discard)
            for answer in asyncio.as_completed(asking):
                if found := await answer:
                    self._take(*found)
                    return
            self._asked_s = time.monotonic()

    async def _ask(self, address: Address) -> tuple[list[Any], Address] | None:
        try:
            redis: Any = self.client(address)
            ranges = await redis.execute_command("CLUSTER", "SLOTS")
        except (RedisError, OSError) as error:
            if locked_out(error):
                self._locked_out = error
            self._misnamed = "cluster support disabled" in str(error)
            return None
        self._bare = not ranges
        return (ranges, address) if ranges else None

    def _take(self, ranges: list[Any], asked: Address) -> None:
        slots: list[Address | None] = [None] * 16384
        for first, last, (host, port, *_), *_replicas in ranges:
            address = ((host or b"").decode() or asked[0], int(port))
            slots[first : last + 1] = [address] * (last + 1 - first)
        self._slots = slots
        self._stale = False
        self._locked_out = None
        self._misnamed = self._bare = False
        before, self._primaries = self._primaries, self.known_primaries()
        if before and before != self._primaries:
            _log.info(
                "cluster changed", primaries=[f"{host}:{port}" for host, port in sorted(self._primaries)]
            )
        self._asked_s = time.monotonic()

    async def aclose(self) -> None:
        """Closes all connections."""
        while self._asking:
            for task in self._asking:
                task.cancel()
            await asyncio.wait(self._asking, timeout=0.1)
        for client in self._clients.values():
            await client.aclose()


class Cluster(Redis):
    """redis-py's commands, for a cluster. A command's keys must share a slot."""

    def __init__(self, table: Table, seed: Address) -> None:
        super().__init__(connection_pool=table.client(seed).connection_pool)
        self.table: Final = table

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        """Has a command executed by the node that serves its key's slot."""

        async def send(client: Any, asking: bool) -> Any:
            if not asking:
                return await client.execute_command(*args, **options)
            async with client.pipeline(transaction=False) as pipe:  # over one connection
                pipe.execute_command("ASKING")
                pipe.execute_command(*args, **options)
                return (await pipe.execute())[1]

        return await self.routed(_slot(args), send)

    async def routed(self, slot: int | None, send: Callable[[Redis, bool], Awaitable[T]]) -> T:
        """What `send` gets from the node that serves `slot` (`None`: from any), asked again for as long as
        the answer says that nothing was executed. The second argument is whether ASKING must come first.
        Raises what redis-py raises, but neither `MovedError` nor `AskError`."""
        table, asks = self.table, None
        deadline = time.monotonic() + table.timeout_s
        for hops in itertools.count():
            if hops > HOPS:  # the nodes do not agree yet
                await asyncio.sleep(PAUSE_S)
            address = asks or await table.primary(slot)
            asking, asks = asks is not None, None
            try:
                return await send(table.client(address), asking)
            except MovedError as error:  # before AskError, of which it is one
                table.moved(int(error.slot_id), address_of(error, address))
                if time.monotonic() > deadline:
                    raise TryAgainError(f"the nodes send us to and fro: {error}") from error
            except AskError as error:
                asks = address_of(error, address)
                if time.monotonic() > deadline:
                    raise TryAgainError(f"the nodes send us to and fro: {error}") from error
            except NOT_NOW:
                table.doubt()
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(PAUSE_S)
            except ResponseError:
                raise
            except (RedisError, OSError):
                table.doubt()
                raise
        raise AssertionError("unreachable")

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> Pipeline:
        """Commands to be sent together: each to its slot's node, or (`transaction`) all to that of the first
        one's."""
        return _Pipeline(self, transaction)

    async def aclose(self, close_connection_pool: bool | None = None) -> None:
        """Closes all connections."""
        await self.table.aclose()


class _Pipeline(Pipeline):
    """See `Cluster.pipeline`."""

    def __init__(self, cluster: Cluster, transaction: bool) -> None:
        super().__init__(cluster.connection_pool, cluster.response_callbacks, transaction, None)
        self._cluster: Final = cluster

    async def execute(self, raise_on_error: bool = True) -> list[Any]:
        """What each command returns."""
        commands = [(tuple(args), dict(options)) for args, options in self.command_stack]
        together = self.is_transaction
        self.command_stack = []
        if not commands:
            return []
        if together:
            return await self._cluster.routed(_slot(commands[0][0]), self._at_once(commands, raise_on_error))
        by_node: dict[Address, list[int]] = {}
        for place, (args, _) in enumerate(commands):
            by_node.setdefault(await self._cluster.table.primary(_slot(args)), []).append(place)
        answers: list[Any] = [None] * len(commands)

        async def at(address: Address, places: list[int]) -> None:
            async with self._cluster.table.client(address).pipeline(transaction=False) as pipe:
                for place in places:
                    pipe.execute_command(*commands[place][0], **commands[place][1])
                found = await pipe.execute(raise_on_error=False)
            for place, answer in zip(places, found, strict=True):
                if isinstance(answer, (AskError, *NOT_NOW)):  # nor was it executed
                    args, options = commands[place]
                    answer = await self._cluster.execute_command(*args, **options)
                answers[place] = answer

        try:
            await asyncio.gather(*(at(address, places) for address, places in by_node.items()))
        except ResponseError:
            raise
        except (RedisError, OSError):
            self._cluster.table.doubt()
            raise
        for answer in answers:
            if raise_on_error and isinstance(answer, Exception):
                raise answer
        return answers

    def _at_once(
        self, commands: list[tuple[tuple[Any, ...], dict[str, Any]]], raise_on_error: bool
    ) -> Callable[[Redis, bool], Awaitable[list[Any]]]:
        async def send(client: Redis, asking: bool) -> list[Any]:
            if asking:  # ASKING holds for one command: a transaction waits until the slot has moved
                raise TryAgainError("a transaction in a slot that is being moved")
            async with client.pipeline(transaction=True) as pipe:
                for args, options in commands:
                    pipe.execute_command(*args, **options)
                answers: list[Any] = await pipe.execute(raise_on_error)
                return answers

        return send


_KEYLESS: Final = frozenset({"PING", "TIME", "INFO", "PUBLISH"})
_OF_ONE_NODE: Final = frozenset(
    {"SCAN", "KEYS", "DBSIZE", "FLUSHALL", "FLUSHDB", "CLIENT", "CONFIG", "SCRIPT", "WAIT"}
)


def _slot(args: tuple[Any, ...]) -> int | None:
    """The slot of a command's first key; `None` if it has none. Raises `DataError` for one that each node
    answers for itself."""
    command = str(args[0]).upper().split(" ")[0]
    if command in _KEYLESS:
        return None
    if command in _OF_ONE_NODE:
        raise DataError(f"{command} is for a node and not for the cluster: ask each one")
    if command in ("EVAL", "EVALSHA"):
        return slot_of(args[3]) if int(args[2]) else None
    return slot_of(args[1])
