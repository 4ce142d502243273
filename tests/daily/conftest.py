from __future__ import annotations

from collections.abc import Callable

import pytest
import pytest_asyncio

from tests.conftest import Open
from tests.support.days import Calendar, Node, some_day
from tests.support.stores import StoreProcess

Nodes = Callable[..., Node]


@pytest.fixture
def calendar() -> Calendar:
    """Noon of a day that no other test plays."""
    return Calendar.on(some_day())


@pytest.fixture
def nodes(shared: StoreProcess, opens: Open, calendar: Calendar) -> Nodes:
    """Makes nodes on the shared store, all with the test's calendar."""
    return lambda: Node(opens(shared), calendar)


@pytest_asyncio.fixture
async def node(nodes: Nodes) -> Node:
    """A node on the shared store."""
    return nodes()
