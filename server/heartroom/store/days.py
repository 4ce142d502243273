"""The days: each one's deal, who has started it, whose attempt is still under way. One hash slot a day."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from heartroom.store import keys
from heartroom.store.store import Store, or_away


class Deal(NamedTuple):
    """The deal of one day. Secret until the day is over."""

    day: str
    """The UTC date, `"2026-11-30"`."""
    game: str
    rules: int
    deal: tuple[Any, ...]
    par: int
    """The fewest actions that win it."""
    line: tuple[tuple[Any, ...], ...]
    """Such actions."""


class Standing(NamedTuple):
    """What a player has to do with a day."""

    session: str | None
    """The ranked attempt, `None` before it is started."""
    running: bool
    """Whether it is still to be finished, with all that follows."""
    entered: bool = False
    """Whether its result is on the board."""


_decoder: Final = msgspec.msgpack.Decoder(Deal)

STARTS_TTL_S: Final = 8 * 86_400
"""How long it is known who has started a day, from the latest start on: longer than an attempt counts."""
_MAKING_TTL_S: Final = 30


class Days:
    """See the module. All methods raise `Away`."""

    def __init__(self, store: Store) -> None:
        self._store: Final = store

    async def get(self, day: str) -> Deal | None:
        """The deal of a day, if it has been made."""
        (deal,) = await self.get_all([day])
        return deal

    async def get_all(self, days: Iterable[str]) -> list[Deal | None]:
        """The deal of each day, or `None`."""
        async with or_away(), self._store.redis.pipeline(transaction=False) as pipe:
            for day in days:
                pipe.get(keys.day(day))
            return [raw and _decoder.decode(raw) for raw in await pipe.execute()]

    async def put(self, deal: Deal) -> bool:
        """Keeps the deal of a day for ever, unless there is one already. Says whether this is the one."""
        async with or_away():
            return bool(
                await self._store.redis.set(keys.day(deal.day), msgspec.msgpack.encode(deal), nx=True)
            )

    async def may_make(self, day: str) -> bool:
        """Whether no other node says that it is making the deal of a day. A courtesy that saves work: `put`
        sees to it that there is one."""
        async with or_away():
            return bool(
                await self._store.redis.set(keys.making(day), self._store.node, nx=True, ex=_MAKING_TTL_S)
            )

    async def start(self, day: str, pid: str, sid: str, now_ms: int) -> str:
        """The session in which a player makes the ranked attempt of a day: `sid`, unless it is another one
        already."""
        names = [keys.starts(day), keys.runs(day)]
        found: bytes = await self._store.run("start", names, [pid, sid, now_ms, STARTS_TTL_S])
        return found.decode()

    async def standing(self, day: str, pid: str) -> Standing:
        """What a player has to do with a day."""
        (standing,) = await self.standings([day], pid)
        return standing

    async def standings(self, days: Sequence[str], pid: str) -> list[Standing]:
        """The same for several days."""
        async with or_away(), self._store.redis.pipeline(transaction=False) as pipe:
            for day in days:
                pipe.hget(keys.starts(day), pid)
                pipe.zscore(keys.runs(day), pid)
                pipe.hexists(keys.facts(day), pid)
            answers = await pipe.execute()
        return [
            Standing(sid and sid.decode(), since is not None, bool(entered))
            for sid, since, entered in zip(answers[::3], answers[1::3], answers[2::3], strict=True)
        ]

    async def finish(self, day: str, pid: str) -> None:
        """The player's attempt is over, and all that follows from it is done. May be done again."""
        async with or_away():
            await self._store.redis.zrem(keys.runs(day), pid)

    async def running(self, day: str) -> list[tuple[str, str]]:
        """All attempts that are to be finished, as (player, session)."""
        async with or_away(), self._store.redis.pipeline(transaction=False) as pipe:
            pipe.zrange(keys.runs(day), 0, -1)
            pipe.hgetall(keys.starts(day))
            pids, starts = await pipe.execute()
        return [(pid.decode(), starts[pid].decode()) for pid in pids if pid in starts]
