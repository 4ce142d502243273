"""A line to the store that is kept for one script, called very often.

redis-py's commands go through a pool, retries, observers and a packer written in Python, which cost more
than all else there is to a commit. Here its connection is used bare, and hiredis packs what is sent.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from typing import Any, Final

import hiredis
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import NoScriptError


class Line:
    """Calls of one script, one at a time. After any failure the next call connects anew."""

    def __init__(self, redis: Redis, source: str, timeout_s: float) -> None:
        """`source`: the script. `timeout_s`: how long an answer may take."""
        self._pool: Final = redis.connection_pool
        self._source: Final = source
        self._sha: Final = hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()
        self._timeout_s: Final = timeout_s
        self._connection: AbstractConnection | None = None
        self._turn: Final = asyncio.Lock()

    async def call(self, names: Sequence[str], args: Sequence[Any]) -> Any:
        """What the script returns for these keys and arguments (bytes, strings, integers).

        Raises what redis-py raises: `RedisError`, `TimeoutError`, `OSError`.
        """
        async with self._turn, asyncio.timeout(self._timeout_s):
            connection = await self._connected()
            try:
                return await self._ask(connection, ("EVALSHA", self._sha, len(names), *names, *args))
            except NoScriptError:  # the store has just been started, or its scripts were flushed
                return await self._ask(connection, ("EVAL", self._source, len(names), *names, *args))

    async def _ask(self, connection: AbstractConnection, command: tuple[Any, ...]) -> Any:
        # On any error but an error as the answer, and when cancelled, these two close the connection.
        await connection.send_packed_command(hiredis.pack_command(command), check_health=False)
        return await connection.read_response()

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
