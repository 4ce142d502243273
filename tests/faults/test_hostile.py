"""The short form of the test with hostile clients, against a real server over real connections.

The long one is `make hostile`. A seed that has failed is given again with `HOSTILE_SEED=… make unit`.
"""

from __future__ import annotations

import contextlib
import os
import random
import secrets

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heartroom.protocol.inbound import LARGEST, Unreadable, decode
from tests.faults.hostile import Plan, run
from tests.faults.hostile_frames import BOMBS, READ, Mutator, seeds

LIMIT_S = 300.0
"""For a machine that does much else. A quiet one needs a tenth of it."""


@pytest.mark.timeout(LIMIT_S)
def test_hostile_clients_harm_nobody_and_leave_nothing_behind() -> None:
    chosen = os.environ.get("HOSTILE_SEED")
    plan = Plan(frames=20_000, connections=1_500, seed=int(chosen) if chosen else secrets.randbelow(2**32))
    report = run(plan, print)
    print("\n".join(report.lines()))
    assert not report.wrong, "\n".join(report.lines())
    assert report.rows["fuzz"].frames >= plan.frames
    assert report.rows["idle"].held > 0


@given(st.integers(0, 2**64 - 1))
def test_what_is_nearly_a_message_is_one_or_is_refused(seed: int) -> None:
    mutator = Mutator(random.Random(seed), seeds("own", "table", "other"))
    for _ in range(20):
        payload = mutator.payload()
        assert len(payload) <= READ
        with contextlib.suppress(Unreadable):  # and raises nothing else
            decode(payload)
            assert len(payload) <= LARGEST


def test_the_same_seed_makes_the_same_frames() -> None:
    one, other = (Mutator(random.Random(7), seeds("own", "table", "other")) for _ in range(2))
    assert [one.payload() for _ in range(500)] == [other.payload() for _ in range(500)]
    assert [one.broken_frame() for _ in range(50)] == [other.broken_frame() for _ in range(50)]


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_within_what_is_read(bomb: bytes) -> None:
    """Or it would be refused for its length, and not for what it is."""
    assert len(bomb) <= LARGEST
