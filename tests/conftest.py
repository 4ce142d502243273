"""What all tests share: real stores, and nodes on them. A store lives as long as one of xdist's workers."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, settings

from heartroom.sessions.house import House
from heartroom.sessions.room import Limits
from heartroom.store.store import Store
from tests.support.stores import BINARIES, StoreProcess

# How long an example takes is the machine's business, and what else runs on it.
settings.register_profile("heartroom", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("heartroom")


@pytest.fixture(scope="session", params=sorted(BINARIES))
def shared(request: pytest.FixtureRequest) -> Iterator[StoreProcess]:
    """A store that is not to be harmed; tests use sessions and players of their own."""
    process = StoreProcess(BINARIES[request.param])
    process.start()
    yield process
    process.remove()


@pytest.fixture(params=sorted(BINARIES))
def own(request: pytest.FixtureRequest) -> Iterator[StoreProcess]:
    """A store for one test, to be frozen, killed, started again; it answers when a move is on the disk."""
    process = StoreProcess(BINARIES[request.param], fsync="always")
    process.start()
    yield process
    process.remove()


Connect = Callable[..., Store]
"""Makes a node's store: of a url, with the arguments of `Store`."""


@pytest_asyncio.fixture
async def connect() -> AsyncIterator[Connect]:
    """Makes stores, each a node of its own, and closes them after the test."""
    async with contextlib.AsyncExitStack() as stack:

        def make(process: StoreProcess, timeout_s: float = 20.0) -> Store:
            store = Store(process.url, timeout_s=timeout_s)
            stack.push_async_callback(store.aclose)
            return store

        yield make


@pytest.fixture
def store(shared: StoreProcess, connect: Connect) -> Store:
    """A node on the shared store."""
    return connect(shared)


Open = Callable[..., House]
"""Opens a node's house: on a store, with the arguments of `Limits`."""


@pytest_asyncio.fixture
async def opens(connect: Connect) -> AsyncIterator[Open]:
    """Opens houses, each on a node of its own, and closes them after the test."""
    async with contextlib.AsyncExitStack() as stack:

        def make(process: StoreProcess, timeout_s: float = 20.0, **limits: Any) -> House:
            house = House(connect(process, timeout_s), Limits(**limits))
            house.start()
            stack.push_async_callback(house.aclose)
            return house

        yield make


@pytest_asyncio.fixture
async def house(shared: StoreProcess, opens: Open) -> House:
    """An open house on the shared store."""
    return opens(shared)
