"""A line to the store that is kept for one script, called very often.

redis-py's commands go through a pool, retries, observers and a packer written in Python, which cost more
than all else there is to a commit. Here its connection is used bare, and hiredis packs what is sent.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import hiredis
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import NoScriptError, RedisError, ResponseError


class Behind(RedisError):
    """The script was executed, and not enough replicas are known to have what it did."""


class Replicas(NamedTuple):
    """Which replicas must have what a script did before it counts as done."""

    number: int = 0
    """So many; 0: none."""
    patience_ms: int = 1_000
    """How long they get for it."""


class Line:
    """Calls of one script on one server, one at a time. After any failure the next call connects anew."""

    def __init__(self, redis: Redis, source: str, timeout_s: float, replicas: Replicas) -> None:
        """`source`: the script. `timeout_s`: how long an answer may take."""
        self._pool: Final = redis.connection_pool
        self._source: Final = source
        self._sha: Final = hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()
        self._timeout_s: Final = timeout_s
        self._replicas: Final = replicas
        self._connection: AbstractConnection | None = None
        self._turn: Final = asyncio.Lock()

    async def call(self, names: Sequence[str], args: Sequence[Any]) -> Any:
        """What the script returns for these keys and arguments (bytes, strings, integers).

        Raises what redis-py raises: `RedisError`, `TimeoutError`, `OSError`; and `Behind`.
        """
        async with self._turn, asyncio.timeout(self._timeout_s):
            connection = await self._connected()
            try:
                return await self._ask(connection, ("EVALSHA", self._sha, len(names), *names, *args))
            except NoScriptError:  # the store has just been started, or its scripts were flushed
                return await self._ask(connection, ("EVAL", self._source, len(names), *names, *args))

    async def call_all(
        self,
        calls: Sequence[tuple[Sequence[str], Sequence[Any]]],
        answers: list[Any],
        *,
        asking: bool = False,
    ) -> None:
        """Several calls, written at once. Appends what each returns, or the `ResponseError` that it is
        answered with, as it comes: after a failure those that were not answered are missing. `asking`: each
        needs ASKING before it. Where `call` raises `Behind`, those that were executed are answered `None`.

        Raises as `call` does, but no `ResponseError`.
        """
        first = len(answers)
        async with self._turn, asyncio.timeout(self._timeout_s):
            connection = await self._connected()
            await self._ask_all(connection, "EVALSHA", self._sha, calls, answers, asking)
            unknown = [
                place for place in range(first, len(answers)) if isinstance(answers[place], NoScriptError)
            ]
            if unknown:
                again: list[Any] = []
                await self._ask_all(
                    connection, "EVAL", self._source, [calls[at - first] for at in unknown], again, asking
                )
                for place, answer in zip(unknown, again, strict=True):
                    answers[place] = answer

    async def _ask(self, connection: AbstractConnection, command: tuple[Any, ...]) -> Any:
        # On any error but an error as the answer, and when cancelled, these two close the connection.
        packed = hiredis.pack_command(command)
        if not self._replicas.number:
            await connection.send_packed_command(packed, check_health=False)
            return await connection.read_response()
        await connection.send_packed_command(packed + self._wait, check_health=False)
        try:
            answer = await connection.read_response()
        finally:
            if connection.is_connected:
                have = await connection.read_response()
        if have < self._replicas.number:
            raise Behind(f"{have} of {self._replicas.number} replicas have it")
        return answer

    async def _ask_all(
        self,
        connection: AbstractConnection,
        command: str,
        script: str,
        calls: Sequence[tuple[Sequence[str], Sequence[Any]]],
        answers: list[Any],
        asking: bool,
    ) -> None:
        packed = []
        for names, args in calls:
            if asking:
                packed.append(hiredis.pack_command(("ASKING",)))
            packed.append(hiredis.pack_command((command, script, len(names), *names, *args)))
        found = answers
        if self._replicas.number:
            packed.append(self._wait)
            found = []  # nothing is known before the replicas have it
        await connection.send_packed_command(b"".join(packed), check_health=False)
        for _ in calls:
            if asking:
                await connection.read_response()
            try:
                found.append(await connection.read_response())
            except ResponseError as error:
                found.append(error)
        if found is not answers:
            have = await connection.read_response()
            enough = have >= self._replicas.number
            answers += [one if enough or isinstance(one, ResponseError) else None for one in found]

    @property
    def _wait(self) -> bytes:
        command: tuple[Any, ...] = ("WAIT", *self._replicas)
        packed: bytes = hiredis.pack_command(command)
        return packed

    async def _connected(self) -> AbstractConnection:
        connection = self._connection
        if connection is None:
            # never given back; closed with the pool
            connection = self._connection = await self._pool.get_connection()  # type: ignore[no-untyped-call]
            # Its own timeouts cost a task each; ours covers all.
            connection.socket_timeout = None
        elif not connection.is_connected or await connection.can_read():
            # What can be read before anything was asked is an end, or nothing that we want.
            await self._pool.ensure_connection(connection)
        return connection
