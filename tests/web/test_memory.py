"""The garbage collector's orders, and that connections leave it nothing to do."""

from __future__ import annotations

import asyncio
import gc
import warnings
import weakref
from collections.abc import Iterator
from typing import Any, Final

import pytest
from uvicorn.server import ServerState
from websockets.client import ClientProtocol
from websockets.uri import parse_uri

from heartroom.web.memory import Memory, resident
from heartroom.web.requests import BoundedHttp
from tests.web.test_sockets import Taken, Transport

MIB: Final = 2**20


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = gc.get_threshold()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()  # what other tests have left is not found by these
    yield
    gc.unfreeze()
    gc.set_threshold(*before)
    gc.enable()


class Knot:
    """Something that refers to itself."""

    def __init__(self) -> None:
        self.self = self


def test_what_has_lived_for_a_moment_is_looked_through_only_when_memory_has_doubled() -> None:
    size = 100 * MIB
    memory = Memory(lambda: size)
    memory.begin()
    gone = weakref.ref(Knot())
    memory.tick()
    gc.collect()
    assert gone() is not None
    size = 450 * MIB
    memory.tick()
    assert gone() is not None
    size = 457 * MIB
    memory.tick()
    assert gone() is None


def test_where_memory_cannot_be_measured_everything_is_looked_through_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    memory = Memory(lambda: None)
    memory.begin()
    gone = weakref.ref(Knot())
    memory.tick()
    now += 500
    memory.tick()
    assert gone() is not None
    now += 101
    memory.tick()
    assert gone() is None


def test_the_memory_of_this_process_is_known() -> None:
    size = resident()
    assert size is None or 10 * MIB < size < 10_000 * MIB


class Asked(Taken):
    """As `Taken`, but that the request comes over HTTP, and the application lets go in the end."""

    def __init__(self) -> None:
        super().__init__()
        self.transport = Transport()
        self.state = ServerState()
        self.http = BoundedHttp(self.config, self.state, {})
        self.transport.set_protocol(self.http)
        self.http.connection_made(self.transport)
        self.client = ClientProtocol(parse_uri("ws://x/"))


async def test_a_connection_that_is_gone_is_free_without_the_garbage_collector() -> None:
    asked = Asked()
    asked.client.send_request(asked.client.connect())
    gc.collect()
    gc.disable()
    asked.http.data_received(b"".join(asked.client.data_to_send()))
    await asked.accepted.wait()
    protocol = asked.transport.get_protocol()
    asked.protocol = protocol  # type: ignore[assignment]
    gone: list[Any] = [weakref.ref(asked.http), weakref.ref(protocol)]
    protocol.connection_lost(None)
    await asyncio.gather(*asked.state.tasks)
    await asyncio.sleep(0)
    del asked.http, asked.protocol, asked.transport._protocol, protocol
    assert [one() for one in gone] == [None, None]
