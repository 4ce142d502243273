"""What boards cost when many have won: `python -m bench.boards [ENTRIES]` (100,000).

One board of that many entries in a real store of its own; then the page that a player asks for (the best
hundred, the eleven around the player, rank and total), new entries and renames. *Trips* are the commands that
the client has sent, each a round trip.
"""

from __future__ import annotations

import asyncio
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench.measure import cpu_s, quantile
from heartroom.leaderboards import results
from heartroom.leaderboards.results import Result
from heartroom.store import keys
from heartroom.store.boards import Boards, row_text
from heartroom.store.embedded import Embedded
from heartroom.store.store import Store

PAGES = 2_000
DAY = "2026-11-30"


def main() -> None:
    """See the module."""
    entries = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    folder = Path(tempfile.mkdtemp(prefix="heartroom-bench-"))
    embedded = Embedded(folder, fsync="everysec")
    try:
        embedded.start()
        asyncio.run(_measure(embedded.url, entries))
    finally:
        embedded.stop()
        shutil.rmtree(folder)


async def _measure(url: str, entries: int) -> None:
    store = Store(url, timeout_s=60.0)
    boards = Boards(store, DAY, results.BOARDS)
    chance = random.Random(1)
    pids = [f"player{number:010}" for number in range(entries)]
    await _fill(store, pids, chance)
    meter = Meter(store, await store.redis.info())
    print(f"{entries} entries, {meter.info['used_memory_human']} in the store")
    print(f"{'':34}{'p50 ms':>9}{'p99 ms':>9}{'store µs':>10}{'trips':>8}")
    some = [chance.choice(pids) for _ in range(PAGES)]
    await meter.run("top 100", [partial(boards.page, "time", "") for _ in some])
    await meter.run("around me", [partial(boards.page, "time", pid, best=0) for pid in some])
    await meter.run("both, rank and total", [partial(boards.page, "moves", pid) for pid in some])
    await meter.run("rank alone", [partial(boards.page, "time", pid, best=0, around=0) for pid in some])
    await meter.run("a new entry", [partial(_enter, boards, number, chance) for number in range(PAGES)])
    await meter.run("a rename", [partial(boards.rename, pid, "Bo") for pid in some])
    await store.aclose()


class Meter:
    """Times calls one after the other, and counts what they send."""

    def __init__(self, store: Store, info: Any) -> None:
        self.info = info
        self._pid = int(info["process_id"])
        self._trips = 0
        redis: Any = store.redis
        send = redis.execute_command

        async def counted(*args: Any, **kwargs: Any) -> Any:
            self._trips += 1
            return await send(*args, **kwargs)

        redis.execute_command = counted

    async def run(self, what: str, calls: list[Callable[[], Awaitable[Any]]]) -> None:
        """Prints a line about `calls`; the first is made once before, so that the script is loaded."""
        await calls[0]()
        self._trips, used = 0, cpu_s([self._pid])[0]
        taken = []
        for call in calls:
            began = time.perf_counter()
            await call()
            taken.append((time.perf_counter() - began) * 1000)
        used_us = (cpu_s([self._pid])[0] - used) / len(calls) * 1e6
        trips = self._trips / len(calls)
        print(f"{what:34}{quantile(taken, 0.5):9.2f}{quantile(taken, 0.99):9.2f}{used_us:10.0f}{trips:8.2f}")


async def _enter(boards: Boards, number: int, chance: random.Random) -> None:
    result = _result(chance)
    facts, scores = results.pack(result), (result.by_time, result.by_moves)
    await boards.enter(f"newcomer{number:08}", "Åse", 1, facts, scores)


def _result(chance: random.Random) -> Result:
    return Result(DAY, "session12345", chance.randrange(60_000, 1_800_000), chance.randrange(73, 300), 73, 0)


async def _fill(store: Store, pids: list[str], chance: random.Random) -> None:
    """As `enter.lua` would, a thousand at a time."""
    for start in range(0, len(pids), 1000):
        async with store.redis.pipeline(transaction=False) as pipe:
            for pid in pids[start : start + 1000]:
                result = _result(chance)
                row = row_text(pid, f"Player {chance.randrange(10_000)}")
                pipe.hset(keys.facts(DAY), pid, b"1 " + results.pack(result))
                pipe.hset(keys.rows(DAY), pid, row)
                pipe.zadd(keys.board(DAY, "time"), {row: result.by_time})
                pipe.zadd(keys.board(DAY, "moves"), {row: result.by_moves})
            await pipe.execute()


if __name__ == "__main__":
    main()
