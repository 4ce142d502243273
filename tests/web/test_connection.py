"""How much a connection may send."""

from __future__ import annotations

import pytest

from heartroom.web import connection
from heartroom.web.connection import Allowance


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    fake = Clock()
    monkeypatch.setattr(connection, "time", fake)
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
