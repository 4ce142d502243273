"""Turns: of all that takes long, one piece is done each time an event loop comes round.

However many send more than is looked at at once, whoever else waits for the loop waits for one piece.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from typing import Final, TypeVar
from weakref import WeakKeyDictionary

_T = TypeVar("_T")


class _Turns:
    """Those of one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop: Final = loop
        self._waiting: Final[deque[Callable[[], None]]] = deque()

    def take(self, piece: Callable[[], None]) -> None:
        if not self._waiting:
            self._loop.call_soon(self._next)
        self._waiting.append(piece)

    def _next(self) -> None:
        piece = self._waiting.popleft()
        if self._waiting:
            self._loop.call_soon(self._next)
        piece()


_turns: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, _Turns]] = WeakKeyDictionary()


def take(loop: asyncio.AbstractEventLoop, piece: Callable[[], None]) -> None:
    """Calls `piece` when all who came before have had their turns."""
    found = _turns.get(loop)
    if found is None:
        found = _turns[loop] = _Turns(loop)
    found.take(piece)


async def turn() -> None:
    """Returns when all who came before have had their turns."""
    loop = asyncio.get_running_loop()
    come: asyncio.Future[None] = loop.create_future()
    take(loop, partial(_came, come))
    await come


def _came(come: asyncio.Future[None]) -> None:
    if not come.done():  # cancelled meanwhile
        come.set_result(None)


async def collect(items: Iterable[_T], together: int) -> list[_T]:
    """All of `items`, of which making each takes a moment: so many are made in one turn."""
    made, found = iter(items), []
    while piece := list(islice(made, together)):
        found += piece
        if len(piece) < together:
            break
        await turn()
    return found
