"""Servers that the tests of one worker share, one for each way to send."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.games import WINNING
from tests.support.serving import SECRET, Server
from tests.support.stores import BINARIES, StoreProcess

LOG_LENGTH = len(WINNING) + 1
"""Of a session on the shared servers: enough to win, and soon full."""
ELSEWHERE = "https://play.example"
"""An origin that the shared servers trust."""


@pytest.fixture(scope="session", params=["direct", "plain"])
def served(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server that is not to be harmed."""
    store = StoreProcess(BINARIES["valkey"])
    store.start()
    server = Server(
        redis_url=store.url,
        secret=SECRET,
        log_length=str(LOG_LENGTH),
        origins=ELSEWHERE,
        plain_sends="1" if request.param == "plain" else "0",
    )
    yield server
    assert server.process.poll() is None, server.said()
    assert "Traceback" not in server.said(), server.said()
    server.stop()
    store.remove()


@pytest.fixture(params=["0", "1"], ids=["direct", "plain"])
def plain_sends(request: pytest.FixtureRequest) -> str:
    """The setting of that name."""
    return str(request.param)


@pytest.fixture
def own() -> Iterator[StoreProcess]:
    """A store for one test. One kind will do here: that all of them do is for the tests of the store."""
    process = StoreProcess(BINARIES["valkey"], fsync="always")
    process.start()
    yield process
    process.remove()
