from __future__ import annotations

from typing import Any

import pytest
import pytest_asyncio

from heartroom.games.game import games
from heartroom.games.hearts.game import HEARTS
from heartroom.players.service import Players
from tests.conftest import Open
from tests.support.days import Calendar, Node, some_day
from tests.support.stores import StoreProcess


@pytest.fixture(autouse=True)
def hearts(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a game with several seats."""
    known: Any = games()
    monkeypatch.setitem(known, HEARTS.name, HEARTS)


@pytest_asyncio.fixture
async def node(shared: StoreProcess, opens: Open) -> Node:
    """A node on the shared store, on a day of its own."""
    return Node(opens(shared), Calendar.on(some_day()))


@pytest_asyncio.fixture
async def players(node: Node) -> Players:
    """The players of that node."""
    return Players(node.house, node.boards)
