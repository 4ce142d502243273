"""The committer: gathers what all sessions of a node have to store and stores it together.

While one batch is on its way the next one gathers, so that under load the round trips are few and full. What
one batch has stored moves many to act again, all at about the same time: the next one waits for as many as
came last time, for a moment. Where they have just done so, in two batches by turns, it waits for both, or two
half empty ones would follow each other for ever. A lonely commit waits for nobody.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Final

import structlog

from heartroom import metrics
from heartroom.store.store import CONFLICT, STORED, UNKNOWN, Commit, Outcome, Store
from heartroom.tasks import at_most

_log = structlog.get_logger(__name__)

Done = Callable[[int | None, int], None]
"""Told what became of a commit: `STORED`, `CONFLICT` or `GONE`, and the time in ms since 1970; or `None` and
0 if nobody knows (the store is away)."""


class Committer:
    """One a node. Not thread-safe: belongs to one event loop."""

    GATHER_S: Final = 0.001
    """How long a batch waits at most for others."""
    FORGET_S: Final = 0.01
    """When nothing was to be stored for so long, nobody is waited for."""

    def __init__(self, store: Store, *, largest: int = 500) -> None:
        """`largest`: how many commits go in one script call; a longer one would hold up the store."""
        self._store: Final = store
        self._largest: Final = largest
        self._waiting: list[tuple[Commit, Done]] = []
        self._batch: list[tuple[Commit, Done]] = []
        """What is under way."""
        self._began_s = 0.0
        self._ended_s = 0.0
        """When the last batch was stored."""
        self._expected = 0
        """So many commits the next batch waits for."""
        self._before: set[str] = set()
        """The sessions of the last batch."""
        self._recent: set[str] = set()
        """Those and the ones of the batch before it."""
        self._busy = False
        """Whether a batch is under way or is about to be."""
        self._gathering: asyncio.TimerHandle | None = None
        """Until when the next batch waits for more."""
        self._drained: asyncio.Future[None] | None = None
        self._closed = False

    def submit(self, commit: Commit, done: Done) -> None:
        """Stores `commit` soon and calls `done` once. At most one commit of a session may be under way."""
        self._waiting.append((commit, done))
        if not self._busy:
            self._busy = True
            if time.perf_counter() - self._ended_s > self.FORGET_S:
                self._expected = 0
            # What else comes in this turn of the event loop goes along.
            asyncio.get_running_loop().call_soon(self._next)
        elif self._gathering is not None and len(self._waiting) >= self._expected:
            self._gathered()
            asyncio.get_running_loop().call_soon(self._go)

    async def drain(self) -> None:
        """Returns when nothing is under way."""
        while self._busy:
            if self._drained is None:
                self._drained = asyncio.get_running_loop().create_future()
            await asyncio.wait([self._drained])

    async def aclose(self, patience_s: float) -> None:
        """The same, but no later than after `patience_s`: of what is left then nobody hears."""
        async with at_most(patience_s):
            await self.drain()
        self._closed = True
        self._gathered()

    def _next(self) -> None:
        if self._closed:
            return
        if not self._waiting:
            self._busy = False
            if self._drained is not None:
                self._drained.set_result(None)
                self._drained = None
        elif len(self._waiting) < self._expected:
            self._gathering = asyncio.get_running_loop().call_later(self.GATHER_S, self._go)
        else:
            self._go()

    def _gathered(self) -> None:
        if self._gathering is not None:
            self._gathering.cancel()
            self._gathering = None

    def _go(self) -> None:
        self._gathering = None
        if self._closed:
            return
        self._batch, self._waiting = self._waiting[: self._largest], self._waiting[self._largest :]
        self._expect({commit.sid for commit, _ in self._batch})
        self._began_s = time.perf_counter()
        commits = [commit for commit, _ in self._batch]
        try:
            self._store.begin(commits, self._stored)
        except Exception:  # whatever it is, those who wait must be told
            _log.exception("commit failed")
            self._stored([UNKNOWN] * len(commits))

    def _expect(self, sids: set[str]) -> None:
        """`sids` act now, and will again; whether at once is told by whether they just did."""
        at_once = 2 * len(sids & self._recent) >= len(sids)
        self._before, self._recent = sids, sids | self._before
        self._expected = min(len(self._recent if at_once else sids), self._largest)

    def _stored(self, outcomes: Sequence[Outcome]) -> None:
        if self._closed:
            return
        self._ended_s = time.perf_counter()
        _count(outcomes, self._ended_s - self._began_s)
        batch, self._batch = self._batch, []
        for (_, done), (result, at_ms) in zip(batch, outcomes, strict=True):
            try:
                done(result, at_ms)
            except Exception:  # a fault in one session must not cost the others of its batch
                _log.exception("commit callback failed")
        self._next()


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
