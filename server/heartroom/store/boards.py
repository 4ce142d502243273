"""Boards: sorted sets of rows, several in one hash slot, on each of which a player has one row or none.

What somebody else has put on a board is nobody's row: it is not shown, and `prune` takes it off.

Scores are whole numbers, the smaller the better. Equal scores are listed by name, in the order of the row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from heartroom.store import keys
from heartroom.store.store import Store, or_away


class Row(NamedTuple):
    """One row as it is shown."""

    rank: int
    """From 1; rows with equal scores share one."""
    pid: str
    name: str
    score: int
    facts: bytes


class Page(NamedTuple):
    """What is shown of a board."""

    total: int
    """How many rows there are."""
    best: list[Row]
    around: list[Row]
    """The asker's row and those before and after it; none if the asker is not on the board."""
    strays: int = 0
    """How much was found there that is nobody's row, and is not shown. In ranks it counts."""

    def row_of(self, pid: str) -> Row | None:
        """The asker's row."""
        return next((row for row in self.around if row.pid == pid), None)


_BEYOND: Final = 1 << 62
"""More than any score."""
_AT_A_TIME: Final = 1000
"""Rows that are looked at in one round trip."""


def row_text(pid: str, name: str) -> str:
    """A row as it is stored. Rows sort by name: first in any case, then as it is written."""
    return f"{name.casefold()}\n{name}\n{pid}"


class Boards:
    """The boards of one slot. All methods raise `Away`."""

    def __init__(self, store: Store, slot: str, names: Sequence[str]) -> None:
        """`names`: of the boards, always in the same order."""
        self._store: Final = store
        self.slot: Final = slot
        self._names: Final = tuple(names)
        self._keys: Final = [
            keys.facts(slot),
            keys.rows(slot),
            *(keys.board(slot, name) for name in names),
        ]

    async def enter(
        self, pid: str, name: str, version: int, facts: bytes, scores: Sequence[int | None]
    ) -> bool:
        """Puts a player on the boards (where the score is not `None`), unless what stands there has this
        version or a newer one. Says whether it did."""
        texts = ["" if score is None else score for score in scores]
        return bool(
            await self._store.run("enter", self._keys, [pid, version, facts, row_text(pid, name), *texts])
        )

    async def rename(self, pid: str, name: str) -> bool:
        """The player's row, if there is one, has this name from now on. Says whether that is new."""
        return bool(await self._store.run("relabel", self._keys, [pid, row_text(pid, name)]))

    async def remove(self, pid: str | bytes) -> bool:
        """Takes a player off, or whatever stands there in place of one. Says whether there was anything."""
        return bool(await self._store.run("relabel", self._keys, [pid, ""]))

    async def page(self, by: str, pid: str, *, best: int = 100, around: int = 5) -> Page:
        """The best rows of the board `by`, and those around the player `pid` (`""`: nobody), as they are at
        one moment."""
        names = [keys.facts(self.slot), keys.rows(self.slot), keys.board(self.slot, by)]
        total, top, place, near, better = await self._store.run("board", names, [pid, best, around])
        listed = [_ranked(_rows(top), 0, 0), _ranked(_rows(near), max(0, place), better)]
        strays = sum(not row.pid for rows in listed for row in rows)
        top, near = ([row for row in rows if row.pid] for rows in listed)
        return Page(total, top, near, strays)

    async def of(self, by: str, pids: Sequence[str]) -> list[Row]:
        """The rows of some players (not thousands) on the board `by`, ranked among themselves."""
        if not pids:
            return []
        async with or_away():
            async with self._store.redis.pipeline(transaction=False) as pipe:
                pipe.hmget(keys.rows(self.slot), pids)
                pipe.hmget(keys.facts(self.slot), pids)
                rows, facts = await pipe.execute()
            there = [(row, fact) for row, fact in zip(rows, facts, strict=True) if row is not None]
            if not there:
                return []
            scores: Any = await self._store.redis.zmscore(
                keys.board(self.slot, by), [row for row, _ in there]
            )
        found = [
            (row, text)
            for (text, fact), score in zip(there, scores, strict=True)
            if score is not None and (row := _row(text, score, fact or b"")).pid
        ]
        found.sort(key=lambda one: (one[0].score, one[1]))
        return _ranked([row for row, _ in found], 0, 0)

    async def facts(self, pid: str) -> bytes | None:
        """The facts of a player's entry, `None` if there is none."""
        async with or_away():
            raw: Any = await self._store.redis.hget(keys.facts(self.slot), pid)
        return None if raw is None else raw.split(b" ", 1)[1]

    async def stands(
        self, pid: str, name: str, version: int, facts: bytes, scores: Sequence[int | None]
    ) -> bool:
        """Whether the boards say of a player what `enter` would have made them say, to the last digit."""
        row = row_text(pid, name).encode()
        async with or_away(), self._store.redis.pipeline(transaction=True) as pipe:
            pipe.hget(keys.facts(self.slot), pid)
            pipe.hget(keys.rows(self.slot), pid)
            for by in self._names:
                pipe.zscore(keys.board(self.slot, by), row)
            answers = await pipe.execute()
        return list(answers) == [b"%d %b" % (version, facts), row, *scores]

    async def players(self) -> list[bytes]:
        """All who have an entry, or what is left of one: as it is there, which need be no player's id."""
        async with or_away(), self._store.redis.pipeline(transaction=True) as pipe:
            pipe.hkeys(keys.facts(self.slot))
            pipe.hkeys(keys.rows(self.slot))
            facts, rows = await pipe.execute()
        return sorted({*facts, *rows})

    async def torn(self) -> list[bytes]:
        """Those of whom there is a row and no facts, facts and no row, or a row that is no row of theirs."""
        async with or_away(), self._store.redis.pipeline(transaction=True) as pipe:
            pipe.hkeys(keys.facts(self.slot))
            pipe.hgetall(keys.rows(self.slot))
            facts, rows = await pipe.execute()
        return sorted(
            {pid for pid, text in rows.items() if _row(text, 0.0, b"1 ").pid.encode() != pid}
            | (set(facts) ^ rows.keys())
        )

    async def prune(self) -> int:
        """Takes off the boards what is nobody's row, and removes what is no board. Says how much that was."""
        count = 0
        for key, kind in zip(self._keys, ("hash", "hash", *["zset"] * len(self._names)), strict=True):
            async with or_away():
                there: Any = await self._store.redis.type(key)
                if there.decode() not in (kind, "none"):
                    count += await self._store.redis.unlink(key)
        for key in self._keys[2:]:
            first = 0
            while True:
                async with or_away():
                    members: Any = await self._store.redis.zrange(key, first, first + _AT_A_TIME - 1)
                if not members:
                    break
                gone = int(await self._store.run("prune", self._keys, members))
                count += gone
                first += len(members) - gone
        return count

    async def total(self) -> int:
        """How many players have an entry."""
        async with or_away():
            count: int = await self._store.redis.hlen(keys.facts(self.slot))
        return count


async def totals(store: Store, slots: Sequence[str]) -> list[int]:
    """How many players have an entry on the boards of each slot. Raises `Away`."""
    async with or_away(), store.redis.pipeline(transaction=False) as pipe:
        for slot in slots:
            pipe.hlen(keys.facts(slot))
        counts: list[int] = await pipe.execute()
    return counts


def _rows(flat: Sequence[bytes]) -> list[Row]:
    """Rows whose ranks are yet to be counted."""
    return [_row(flat[index], float(flat[index + 1]), flat[index + 2]) for index in range(0, len(flat), 3)]


def _row(text: bytes, score: float, facts: bytes) -> Row:
    """What is on a board; of nobody (`pid` is `""`) if that is no player's row, or has no facts."""
    finite = int(score) if math.isfinite(score) else math.copysign(_BEYOND, score)
    try:
        _, name, pid = text.decode().split("\n")
    except ValueError:
        name = pid = ""
    if not facts or finite != score:
        name = pid = ""
    return Row(0, pid, name, int(finite), facts.split(b" ", 1)[-1])


def _ranked(rows: list[Row], before: int, better: int) -> list[Row]:
    """`rows` with their ranks, where `before` rows come before them, of which `better` have another score
    than the first."""
    ranked: list[Row] = []
    rank, previous = better + 1, rows[0].score if rows else 0
    for place, row in enumerate(rows, start=before + 1):
        if row.score != previous:
            rank, previous = place, row.score
        ranked.append(row._replace(rank=rank))
    return ranked
