"""Whether the store can store now: asked of each server that takes writes, with a write of no consequence.

That an answer comes says little: a server that has no memory left, was made a replica, or has lost its own
replicas answers readily, and stores nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from redis.asyncio import Redis
from redis.exceptions import AskError, ClusterDownError, RedisError, TryAgainError

from heartroom.store import keys
from heartroom.store.cluster import Table, slot_of
from heartroom.store.line import Line, Replicas
from heartroom.store.urls import Address

Failures = Mapping[Address | None, Exception]
"""What keeps a server from storing, by its address in a cluster; `None` there stands for slots that no server
has, and elsewhere for the one server that there is."""


class Probe:
    """Belongs to one event loop, and has a connection of its own to each server: a crowd of requests is no
    reason for an answer to be late."""

    PATIENCE_S: Final = 1.0
    """How long an answer may take."""
    LIFE_MS: Final = 10_000
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
        self._lines: dict[Address | None, Line] = {}
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
        # not only their own timeouts: redis-py forgets a cancellation that comes while it connects
        done, late = await asyncio.wait(asking, timeout=self.PATIENCE_S + 0.1)
        for task in late:
            task.cancel()
            found[asking[task]] = TimeoutError()
        for task in done:
            if (failure := task.result()) is not None:
                found[asking[task]] = failure
        return found

    async def _ask(self, address: Address | None) -> Exception | None:
        number = self._number(address)
        if number is None:  # it has lost its last slot this moment
            return None
        try:
            await self._line(address).call([keys.probe(number)], [self.LIFE_MS])
        except TryAgainError:
            return None
        except AskError:  # or MOVED: slots go from node to node, as they may
            if self._table is not None:
                self._table.doubt()
            return None
        except (RedisError, OSError, TimeoutError) as error:
            if self._table is not None:
                self._table.doubt()
            return error
        return None

    def _line(self, address: Address | None) -> Line:
        line = self._lines.get(address)
        if line is None:
            redis = self._redis
            if self._table is not None and address is not None:
                redis = self._table.client(address)
            line = self._lines[address] = Line(redis, self._source, self.PATIENCE_S, self._replicas)
        return line

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
    """Why a server does not store, in its own words."""
    return str(failure) or "no answer"
