"""Games to play in tests: a deal that is known card by card, and a whole game of it that is won."""

from __future__ import annotations

import importlib.resources
import secrets
from typing import Any, Final

from heartroom.games.game import Game, games
from heartroom.sessions import record
from heartroom.store.store import Store

GAME: Final[Game] = games()["heart-to-heart"]
CODE: Final = "HH1-N-AAAAAAM"
RECORDED: Final = (
    importlib.resources.files("heartroom.games.heart_to_heart") / f"examples/{CODE}.jsonl"
).read_bytes()
WINNING: Final[tuple[tuple[Any, ...], ...]] = tuple(step.action for step in record.read(RECORDED).steps)
"""Actions that win the deal of `CODE`."""


def pid() -> str:
    """A player that no other test knows."""
    return secrets.token_urlsafe(12)


async def begin(store: Store, owner: str = "", *, sid: str = "", deal: tuple[int, ...] = ()) -> str:
    """Stores a session of the deal of `CODE` (or of `deal`, so called) and returns its id."""
    sid = sid or secrets.token_urlsafe(9)
    setup = GAME.deal({"code": CODE}, bytes(32))
    dealt = deal or setup.deal
    await store.create(sid, GAME.name, GAME.rules_version, setup.options, dealt, owner or pid(), {})
    return sid
