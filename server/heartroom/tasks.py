"""Ending for certain, and in time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from typing import Any


@contextlib.asynccontextmanager
async def at_most(seconds: float) -> AsyncIterator[None]:
    """What is not done by then is left undone."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            yield


async def end(tasks: Iterable[asyncio.Task[Any] | None]) -> None:
    """Cancels `tasks` and returns when they have ended, however they do."""
    left = {task for task in tasks if task is not None}
    while left:
        for task in left:
            task.cancel()
        # Again and again: redis-py forgets a cancellation that comes while it connects.
        _, left = await asyncio.wait(left, timeout=0.1)
