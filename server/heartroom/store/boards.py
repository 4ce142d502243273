"""Boards: sorted sets of rows, several in one hash slot, on each of which a player has one row or none.

Scores are whole numbers, the smaller the better. Equal scores are listed by name, in the order of the row.
"""

from __future__ import annotations

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

    def row_of(self, pid: str) -> Row | None:
        """The asker's row."""
        return next((row for row in self.around if row.pid == pid), None)


def row_text(pid: str, name: str) -> str:
    """A row as it is stored. Rows sort by name: first in any case, then as it is written."""
    return f"{name.casefold()}\n{name}\n{pid}"


class Boards:
    """The boards of one slot. All methods raise `Away`."""

    def __init__(self, store: Store, slot: str, names: Sequence[str]) -> None:
        """`names`: of the boards, always in the same order."""
        self._store: Final = store
        self._slot: Final = slot
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

    async def remove(self, pid: str) -> bool:
        """Takes a player off. Says whether there was a row."""
        return bool(await self._store.run("relabel", self._keys, [pid, ""]))

    async def page(self, by: str, pid: str, *, best: int = 100, around: int = 5) -> Page:
        """The best rows of the board `by`, and those around the player `pid` (`""`: nobody), as they are at
        one moment."""
        names = [keys.facts(self._slot), keys.rows(self._slot), keys.board(self._slot, by)]
        total, top, place, near, better = await self._store.run("board", names, [pid, best, around])
        return Page(total, _ranked(_rows(top), 0, 0), _ranked(_rows(near), max(0, place), better))

    async def of(self, by: str, pids: Sequence[str]) -> list[Row]:
        """The rows of some players (not thousands) on the board `by`, ranked among themselves."""
        if not pids:
            return []
        async with or_away():
            async with self._store.redis.pipeline(transaction=False) as pipe:
                pipe.hmget(keys.rows(self._slot), pids)
                pipe.hmget(keys.facts(self._slot), pids)
                rows, facts = await pipe.execute()
            there = [(row, fact) for row, fact in zip(rows, facts, strict=True) if row is not None]
            if not there:
                return []
            scores: Any = await self._store.redis.zmscore(
                keys.board(self._slot, by), [row for row, _ in there]
            )
        found = [
            (int(score), row, fact or b"")
            for (row, fact), score in zip(there, scores, strict=True)
            if score is not None
        ]
        return _ranked([_row(row, score, fact) for score, row, fact in sorted(found)], 0, 0)

    async def facts(self, pid: str) -> bytes | None:
        """The facts of a player's entry, `None` if there is none."""
        async with or_away():
            raw: Any = await self._store.redis.hget(keys.facts(self._slot), pid)
        return None if raw is None else raw.split(b" ", 1)[1]

    async def total(self) -> int:
        """How many players have an entry."""
        async with or_away():
            count: int = await self._store.redis.hlen(keys.facts(self._slot))
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
    return [
        _row(flat[index], int(float(flat[index + 1])), flat[index + 2]) for index in range(0, len(flat), 3)
    ]


def _row(text: bytes, score: int, facts: bytes) -> Row:
    _, name, pid = text.decode().split("\n")
    return Row(0, pid, name, score, facts.split(b" ", 1)[-1])


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
