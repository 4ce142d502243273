"""Whether the store can store now: asked of each server that takes writes, with a write of no consequence.

That an answer comes says little: a server that has no memory left, was made a replica, or has lost its own
replicas answers readily, and stores nothing. One that lets us write may not let us tell the other nodes, or
hear them, or lets us commit and not enter a result. So all is tried that nodes do, with each kind of key: as
a server answers when it is asked to do it, for not every user may ask what it may do.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import (
    AskError,
    ClusterDownError,
    NoScriptError,
    RedisError,
    ResponseError,
    TryAgainError,
)

from heartroom.store import keys
from heartroom.store.cluster import OF_A_CLUSTER, Table, WrongKind, of_a_cluster, slot_of
from heartroom.store.line import Behind, Kept, Replicas
from heartroom.store.urls import Address, lacks_rights

Failures = Mapping[Address | None, Exception]
"""What keeps a server from storing, by its address in a cluster; `None` there stands for slots that no server
has, and elsewhere for the one server that there is."""


class Probe:
    """Belongs to one event loop, and has a connection of its own to each server: a crowd of requests is no
    reason for an answer to be late."""

    PATIENCE_S: Final = 1.0
    """How long an answer may take; and how long who asks waits for a connection."""
    CONNECTING_S: Final = 3.0
    """How long it may take to connect, which is several times to and fro. It goes on when nobody waits."""
    LIFE_S: Final = 10
    """How long what is written lives."""
    WAIT_MS: Final = 800
    """How long replicas get, if any are waited for."""
    _TRIES: Final = 200_000

    def __init__(self, redis: Redis, table: Table | None, source: str, replicas: int) -> None:
        """`source`: the script. `replicas`: how many must have what is written."""
        self._redis: Final = redis
        self._table: Final = table
        self._source: Final = source
        self._replicas: Final = Replicas(replicas, self.WAIT_MS)
        self._whose: Final = secrets.token_hex(4)
        self._connections: dict[Address | None, Kept] = {}
        self._connecting: dict[Address | None, asyncio.Task[None]] = {}
        self._numbers: dict[Address, int] = {}

    async def failures(self) -> Failures:
        """Asks all servers at once; empty if each of them stores. Raises nothing."""
        table = self._table
        found: dict[Address | None, Exception] = {}
        asked: list[Address | None] = [None]
        if table is not None:
            try:
                async with asyncio.timeout(self.PATIENCE_S):
                    asked = [*await table.primaries()]
            except (RedisError, OSError, TimeoutError) as error:
                table.doubt()
                return dict.fromkeys([None, *table.known_primaries()], error)
            if not table.whole:
                table.doubt()
                found[None] = ClusterDownError("some slots have no node")
        asking = {asyncio.ensure_future(self._ask(address)): address for address in asked}
        # not only their own timeouts: redis-py may forget a cancellation
        done, late = await asyncio.wait(asking, timeout=2 * self.PATIENCE_S + 0.1)
        for task in late:
            task.cancel()
            found[asking[task]] = TimeoutError()
        for task in done:
            if (failure := task.result()) is not None:
                found[asking[task]] = failure
        return found

    async def aclose(self) -> None:
        """Connects no more."""
        while self._connecting:
            for task in self._connecting.values():
                task.cancel()
            await asyncio.wait(self._connecting.values(), timeout=0.1)

    # -- inside

    async def _ask(self, address: Address | None) -> Exception | None:
        number = self._number(address)
        if number is None:  # it has lost its last slot this moment
            return None
        try:
            answers = await (await self._connected(address)).ask(*self._commands(number))
            failure = self._failure(answers)
        except (RedisError, OSError, TimeoutError) as error:
            failure = error
            if self._table is None and of_a_cluster(error):  # it does not even let us connect
                failure = WrongKind(OF_A_CLUSTER)
        if failure is not None and self._table is not None:
            self._table.doubt()
        return failure

    def _commands(self, number: int) -> list[list[Any]]:
        if self._table is None:
            # Keys of two slots, as commits have that go together: a node of a cluster refuses that.
            names = [keys.probe(number), keys.probe_log(number + 1)]
            channel, shard = keys.node(f"probe-{self._whose}"), ""
            alone, channels = list(keys.ALONE), [channel, keys.EVERYBODY]
        else:
            names = [keys.probe(number), keys.probe_log(number)]
            channel, shard = keys.probe_channel(number, self._whose), "S"
            here = self._table.known(slot_of(names[0]))
            alone, everybody = (
                [name for name in those if self._table.known(slot_of(name)) == here]
                for those in (keys.ALONE, [keys.EVERYBODY])
            )
            channels = [channel, *everybody]
        names += keys.of_each_kind(str(number))
        commands: list[list[Any]] = [["EVAL", self._source, len(names), *names, self.LIFE_S, channel, shard]]
        if self._replicas.number:
            commands.append(["WAIT", *self._replicas])
        commands += [["EVAL", "return 1", 1, name] for name in alone]
        # Others are executed by their digests. None has this one.
        commands += [["EVALSHA", "0" * 40, 0], ["MULTI"], ["EXEC"], ["PING"]]
        # Last, for we may hear something there; but hardly, as they are executed at once.
        return [
            *commands,
            *([f"{shard}{verb}", one] for one in channels for verb in ("SUBSCRIBE", "UNSUBSCRIBE")),
        ]

    def _failure(self, answers: list[Any]) -> Exception | None:
        for answer in answers:
            if isinstance(answer, TryAgainError | NoScriptError):
                continue
            if self._table is None and of_a_cluster(answer):
                return WrongKind(OF_A_CLUSTER)
            if isinstance(answer, AskError):  # or MOVED: slots go from node to node, as they may
                assert self._table is not None
                self._table.doubt()
            elif isinstance(answer, ResponseError):
                return answer
        have, wanted = answers[1], self._replicas.number
        if wanted and not isinstance(have, Exception) and have < wanted:
            return Behind(f"{have} of {wanted} replicas have it")
        return None

    async def _connected(self, address: Address | None) -> Kept:
        """The connection to a server. Raises `TimeoutError` while it is being made, and what redis-py raises
        if it cannot be."""
        kept = self._connections.get(address)
        if kept is None:
            redis = self._redis
            if self._table is not None and address is not None:
                redis = self._table.client(address)
            kept = self._connections[address] = Kept(redis, self.PATIENCE_S)
        if not kept.connected:
            task = self._connecting.get(address)
            if task is None:
                task = self._connecting[address] = asyncio.create_task(self._connect(kept))
                task.add_done_callback(lambda done: self._has_connected(address, done))
            await asyncio.wait([task], timeout=self.PATIENCE_S)
            if not task.done() or task.cancelled():
                raise TimeoutError
            await task
        return kept

    async def _connect(self, kept: Kept) -> None:
        async with asyncio.timeout(self.CONNECTING_S):
            await kept.connect()

    def _has_connected(self, address: Address | None, task: asyncio.Task[None]) -> None:
        self._connecting.pop(address, None)
        if not task.cancelled():
            task.exception()  # whoever asked may have gone without it

    def _number(self, address: Address | None) -> int | None:
        """Of a key that the server at `address` has."""
        table = self._table
        if table is None or address is None:
            return 0
        known = self._numbers.get(address, 0)
        for number in (known, *range(self._TRIES)) if known else range(self._TRIES):
            if table.known(slot_of(keys.probe(number))) == address:
                self._numbers[address] = number
                return number
        return None


def reason(failure: Exception) -> str:
    """Why a server does not store, in its own words; and what to do if we lack rights there."""
    said = str(failure) or "no answer"
    return f"{said}; {RIGHTS}" if lacks_rights(failure) else said


RIGHTS: Final = (
    "the store's user needs ~hr:* &hr:* +@all -@admin -@dangerous, and +cluster|slots in a cluster"
)
"""What docs/security.md says, too."""
