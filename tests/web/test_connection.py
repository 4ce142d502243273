"""How much a connection may send."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from heartroom.protocol.codes import Close
from heartroom.web import connection
from heartroom.web.connection import Allowance, Connection


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    fake = Clock()
    monkeypatch.setattr(connection, "_now_s", fake)
    return fake


def test_a_burst_is_allowed_and_not_one_frame_more(clock: Clock) -> None:
    allowance = Allowance(10, 5)
    assert [allowance.take() for _ in range(7)] == [4, 3, 2, 1, 0, -1, -2]


def test_an_allowance_is_refilled_steadily_and_never_beyond_a_burst(clock: Clock) -> None:
    allowance = Allowance(10, 5)
    for _ in range(5):
        allowance.take()
    clock.now += 0.25
    assert allowance.take() == 1.5
    clock.now += 1000
    assert allowance.take() == 4


def test_who_goes_on_too_fast_falls_ever_deeper_and_must_wait(clock: Clock) -> None:
    allowance = Allowance(10, 5)
    left = 0.0
    for _ in range(100):
        clock.now += 0.01
        left = allowance.take()
    assert left == pytest.approx(5 + 10 * 1.0 - 100, abs=0.2)
    clock.now += 9
    assert allowance.take() > 0


PING, NONSENSE = b"\x92\x06\x01", b"\xc1"


class Outlet:
    """The way to a client, and what went it."""

    backlog = 0

    def __init__(self) -> None:
        self.said: list[Any] = []

    def send(self, payload: bytes, *more: bytes) -> None:
        self.said += map(msgspec.msgpack.decode, (payload, *more))


@pytest.mark.parametrize("sent", ["messages", "nonsense", "no messages", "all of it"])
def test_a_flood_is_answered_a_little_and_cut_off_once(sent: str, clock: Clock) -> None:
    ends: list[Close] = []
    outlet = Outlet()
    no_house: Any = None
    cut = Connection(no_house, outlet, "pid", (10, 5), ends.append)
    kinds: dict[str, list[Callable[[], None]]] = {
        "messages": [lambda: cut.received(PING, True)],
        "nonsense": [lambda: cut.received(NONSENSE, True)],
        "no messages": [cut.counted],
    }
    kinds["all of it"] = [act for acts in kinds.values() for act in acts]
    allowed = 5 + 5 * Connection.FLOOD
    for number in range(allowed):
        kinds[sent][number % len(kinds[sent])]()
    assert ends == []
    assert ([9, "malformed"] if sent == "nonsense" else [9, "too_fast"]) in outlet.said
    said = len(outlet.said)
    assert said < allowed / 2
    for number in range(100):
        kinds[sent][number % len(kinds[sent])]()
    assert ends == [Close.FLOOD]
    assert len(outlet.said) == said
