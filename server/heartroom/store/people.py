"""What is kept of each player besides the name: results, statistics, finished games, groups, recovery code.

Each player's things share a hash slot; what concerns others (boards, groups, codes) is elsewhere.
"""

from __future__ import annotations

from typing import Any, Final

from heartroom.store import keys
from heartroom.store.store import Store, or_away


class People:
    """See the module. All methods raise `Away`."""

    def __init__(self, store: Store) -> None:
        self._store: Final = store

    # -- results of days

    async def add_result(self, pid: str, day: str, result: bytes) -> None:
        """Keeps the result of a day, unless there is one."""
        async with or_away():
            await self._store.redis.hsetnx(keys.results(pid), day, result)

    async def results(self, pid: str) -> list[bytes]:
        """All results, in no order."""
        async with or_away():
            found: Any = await self._store.redis.hvals(keys.results(pid))
        return list(found)

    async def days(self, pid: str) -> list[str]:
        """The days of which there are results."""
        async with or_away():
            found: Any = await self._store.redis.hkeys(keys.results(pid))
        return [day.decode() for day in found]

    # -- what is due

    async def due(self) -> list[tuple[str, str]]:
        """What is to be done elsewhere, as (what, player)."""
        async with or_away():
            found: Any = await self._store.redis.smembers(keys.DUE)
        return [(what, pid) for what, _, pid in (item.decode().partition(" ") for item in found)]

    async def note_due(self, what: str, pid: str) -> None:
        """`what` is to be done for a player, whoever lives to do it."""
        async with or_away():
            await self._store.redis.sadd(keys.DUE, f"{what} {pid}")

    async def done(self, what: str, pid: str) -> None:
        """It has been done."""
        async with or_away():
            await self._store.redis.srem(keys.DUE, f"{what} {pid}")
