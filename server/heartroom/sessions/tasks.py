"""Ending tasks for certain."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any


async def end(tasks: Iterable[asyncio.Task[Any] | None]) -> None:
    """Cancels `tasks` and returns when they have ended, however they do."""
    left = {task for task in tasks if task is not None}
    while left:
        for task in left:
            task.cancel()
        # Again and again: redis-py forgets a cancellation that comes while it connects.
        _, left = await asyncio.wait(left, timeout=0.1)
