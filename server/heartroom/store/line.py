"""A connection to the store that is kept, and a line: one that is kept for a script, called very often.

redis-py's commands go through a pool, retries, observers and a packer written in Python, which cost more
than all else there is to a commit. Here its connection is used bare (see `wire`), and hiredis packs what is
sent.
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

from heartroom.store.wire import Done, Wire


class Behind(RedisError):
    """The script was executed, and not enough replicas are known to have what it did."""


class Replicas(NamedTuple):
    """Which replicas must have what a script did before it counts as done."""

    number: int = 0
    """So many; 0: none."""
    patience_ms: int = 1_000
    """How long they get for it."""


NamesAndArgs = tuple[Sequence[str], Sequence[Any]]
"""Keys and arguments of one call of a script."""

_ASKING: Final = hiredis.pack_command(("ASKING",))


class Kept:
    """A connection of its own to one server, on which one asks at a time. After any failure the next one who
    asks connects anew."""

    def __init__(self, redis: Redis, timeout_s: float) -> None:
        """`timeout_s`: how long answers may take."""
        self._pool: Final = redis.connection_pool
        self._timeout_s: Final = timeout_s
        self._connection: AbstractConnection | None = None
        self._wire: Wire | None = None
        """On that connection."""
        self._plain = False
        """Whether there is no way to a wire, and what is asked goes through redis-py."""
        self._turn: Final = asyncio.Lock()

    @property
    def connected(self) -> bool:
        """Whether who asks need not connect first."""
        if self._plain:
            return self._connection is not None and bool(self._connection.is_connected)
        return self._wire is not None and self._wire.open

    async def connect(self) -> None:
        """Connects, if need be, however long that takes. Raises what redis-py raises."""
        async with self._turn:
            await self._connected()

    async def ask(self, *commands: Sequence[Any]) -> list[Any]:
        """What each of some commands is answered with, a `ResponseError` too; they are written at once.

        Raises what redis-py raises, but no `ResponseError`.
        """
        answers: list[Any] = []
        packed = b"".join(hiredis.pack_command(tuple(command)) for command in commands)
        async with self._turn, asyncio.timeout(self._timeout_s):
            await self._exchange(packed, len(commands), answers)
        return answers

    async def _exchange(self, packed: bytes, count: int, answers: list[Any]) -> None:
        """Writes commands and appends what they are answered with, errors too. On any error but such, and
        when cancelled, the connection is closed."""
        connection = await self._connected()
        if self._wire is not None:
            await self._wire.ask(packed, count, answers)
            return
        await connection.send_packed_command(packed, check_health=False)
        for _ in range(count):
            try:
                answers.append(await connection.read_response())
            except ResponseError as error:
                answers.append(error)

    async def _connected(self) -> AbstractConnection:
        connection = self._connection
        if connection is None:
            # never given back; closed with the pool
            connection = self._connection = await self._pool.get_connection()  # type: ignore[no-untyped-call]
            # Its own timeouts cost a task each; ours covers all.
            connection.socket_timeout = None
        elif self._plain:
            # What can be read before anything was asked is an end, or nothing that we want.
            if connection.is_connected and not await connection.can_read():
                return connection
            await self._pool.ensure_connection(connection)
        else:
            if self._wire is not None and self._wire.open:
                return connection
            self._wire = None
            await connection.disconnect(nowait=True)
            await self._pool.ensure_connection(connection)
        self._wire = Wire.on(connection)
        self._plain = self._wire is None
        return connection


class Line(Kept):
    """Calls of one script, which returns something."""

    def __init__(self, redis: Redis, source: str, timeout_s: float, replicas: Replicas) -> None:
        """`source`: the script. `timeout_s`: how long an answer may take."""
        super().__init__(redis, timeout_s)
        self._source: Final = source.encode()
        self._sha: Final = hashlib.sha1(self._source, usedforsecurity=False).hexdigest().encode()
        self._replicas: Final = replicas
        self._have = 0
        """Replicas that had what was last called."""

    def begin(self, calls: Sequence[NamesAndArgs], answers: list[Any], done: Done) -> bool:
        """Several calls, without a task, a lock and a timer for each: says whether that can be done just now.
        If so, each one's answer is appended to `answers`, errors too, and then `done` is called; see
        `Wire.begin`. If not, nothing has happened."""
        wire = self._wire
        if wire is None or not wire.idle or self._turn.locked() or self._replicas.number:
            return False
        packed = b"".join(_packed(b"EVALSHA", self._sha, calls))
        wire.begin(packed, len(calls), answers, done, self._timeout_s)
        return True

    async def call(self, names: Sequence[str], args: Sequence[Any]) -> Any:
        """What the script returns for these keys and arguments (bytes, strings, integers).

        Raises what redis-py raises: `RedisError`, `TimeoutError`, `OSError`; and `Behind`.
        """
        answers: list[Any] = []
        await self.call_all(((names, args),), answers)
        (answer,) = answers
        if answer is None:
            raise Behind(f"{self._have} of {self._replicas.number} replicas have it")
        if isinstance(answer, ResponseError):
            raise answer
        return answer

    async def call_all(
        self,
        calls: Sequence[NamesAndArgs],
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
            await self._ask(b"EVALSHA", self._sha, calls, answers, asking)
            # The store has just been started, or its scripts were flushed.
            unknown = [
                place for place in range(first, len(answers)) if isinstance(answers[place], NoScriptError)
            ]
            if unknown:
                again: list[Any] = []
                await self._ask(b"EVAL", self._source, [calls[at - first] for at in unknown], again, asking)
                for place, answer in zip(unknown, again, strict=True):
                    answers[place] = answer

    async def _ask(
        self,
        command: bytes,
        script: bytes,
        calls: Sequence[NamesAndArgs],
        answers: list[Any],
        asking: bool,
    ) -> None:
        packed = _packed(command, script, calls)
        if not asking and not self._replicas.number:
            await self._exchange(b"".join(packed), len(packed), answers)
            return
        if asking:
            packed = [part for one in packed for part in (_ASKING, one)]
        found: list[Any] = []
        try:
            if self._replicas.number:
                wait: tuple[Any, ...] = ("WAIT", *self._replicas)
                packed.append(hiredis.pack_command(wait))
            await self._exchange(b"".join(packed), len(packed), found)
        finally:
            executed = found[1 : 2 * len(calls) : 2] if asking else found[: len(calls)]
            if not self._replicas.number:
                answers += executed
            elif len(found) == len(packed):  # nothing is known before the replicas have it
                self._have = found[-1] if isinstance(found[-1], int) else 0
                enough = self._have >= self._replicas.number
                answers += [one if enough or isinstance(one, ResponseError) else None for one in executed]


def _packed(command: bytes, script: bytes, calls: Sequence[NamesAndArgs]) -> list[bytes]:
    return [hiredis.pack_command((command, script, len(names), *names, *args)) for names, args in calls]
