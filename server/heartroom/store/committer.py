"""The committer: gathers what all sessions of a node have to store and stores it together.

While one batch is on its way the next one gathers, so that under load the round trips are few and full. What
one batch has stored moves many to act again, all at about the same time: the next one waits for as many as
came last time, for a moment. A lonely commit waits for nobody.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Final

import structlog

from heartroom import metrics
from heartroom.store.store import CONFLICT, STORED, UNKNOWN, Away, Commit, Outcome, Store
from heartroom.tasks import at_most, end

_log = structlog.get_logger(__name__)

Done = Callable[[int | None, int], None]
"""Told what became of a commit: `STORED`, `CONFLICT` or `GONE`, and the time in ms since 1970; or `None` and
0 if nobody knows (the store is away)."""


class Committer:
    """One a node. Not thread-safe: belongs to one event loop."""

    GATHER_S: Final = 0.001
    """How long a batch waits at most for as many commits as the last one had."""

    def __init__(self, store: Store, *, largest: int = 500) -> None:
        """`largest`: how many commits go in one script call; a longer one would hold up the store."""
        self._store: Final = store
        self._largest: Final = largest
        self._waiting: list[tuple[Commit, Done]] = []
        self._worker: asyncio.Task[None] | None = None
        self._last = 0
        """Commits in the last batch."""
        self._enough: asyncio.Future[None] | None = None

    def submit(self, commit: Commit, done: Done) -> None:
        """Stores `commit` soon and calls `done` once. At most one commit of a session may be under way."""
        self._waiting.append((commit, done))
        if self._worker is None:
            self._worker = asyncio.get_running_loop().create_task(self._work())
        elif self._enough is not None and len(self._waiting) >= self._last:
            self._gathered()

    async def drain(self) -> None:
        """Returns when nothing is under way."""
        while self._worker is not None:
            await asyncio.wait([self._worker])

    async def aclose(self, patience_s: float) -> None:
        """The same, but no later than after `patience_s`: of what is left then nobody hears."""
        async with at_most(patience_s):
            await self.drain()
        await end([self._worker])

    async def _work(self) -> None:
        try:
            while self._waiting:
                if len(self._waiting) < self._last:
                    await self._gather()
                batch, self._waiting = self._waiting[: self._largest], self._waiting[self._largest :]
                self._last = len(batch)
                began = time.perf_counter()
                try:
                    outcomes = await self._store.commit([commit for commit, _ in batch])
                except Exception as error:  # whatever it is, those who wait must be told
                    if not isinstance(error, Away):
                        _log.exception("commit failed")
                    outcomes = [UNKNOWN] * len(batch)
                _count(outcomes, time.perf_counter() - began)
                for (_, done), (result, at_ms) in zip(batch, outcomes, strict=True):
                    try:
                        done(result, at_ms)
                    except Exception:  # a fault in one session must not cost the others of its batch
                        _log.exception("commit callback failed")
        finally:
            self._worker = None

    async def _gather(self) -> None:
        loop = asyncio.get_running_loop()
        self._enough = loop.create_future()
        timer = loop.call_later(self.GATHER_S, self._gathered)
        try:
            await self._enough
        finally:
            timer.cancel()

    def _gathered(self) -> None:
        if self._enough is not None and not self._enough.done():
            self._enough.set_result(None)
        self._enough = None


class Committers:
    """One committer for each lane of the store: what one server stores does not wait for another."""

    def __init__(self, store: Store) -> None:
        self._store: Final = store
        self._lanes: Final[dict[Hashable, Committer]] = {}

    def submit(self, commit: Commit, done: Done) -> None:
        """See `Committer.submit`."""
        lane = self._store.lane(commit.sid)
        committer = self._lanes.get(lane)
        if committer is None:
            committer = self._lanes[lane] = Committer(self._store)
        committer.submit(commit, done)

    async def aclose(self, patience_s: float) -> None:
        """See `Committer.aclose`."""
        await asyncio.gather(*(committer.aclose(patience_s) for committer in self._lanes.values()))


def _count(outcomes: Sequence[Outcome], took_s: float) -> None:
    metrics.BATCH.observe(len(outcomes))
    metrics.COMMIT_SECONDS.observe(took_s)
    results = [result for result, _ in outcomes]
    if stored := results.count(STORED):
        metrics.ACTIONS.inc(stored)
    if conflicts := results.count(CONFLICT):
        metrics.CONFLICTS.inc(conflicts)
