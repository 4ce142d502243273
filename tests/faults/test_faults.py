"""The short form of the fault test: nodes and shards are killed, paused and cut while people play.

The long one is `make faults`. A seed that has failed is given again with `FAULTS_SEED=… make unit`.
"""

from __future__ import annotations

import os

import pytest

from tests.faults.run import Plan, run, seed_of

LIMIT_S = 300.0
"""For a machine that does much else. A quiet one needs a tenth of it."""


@pytest.mark.timeout(LIMIT_S + 180)
def test_under_faults_nothing_is_lost_doubled_put_back_or_made_up() -> None:
    given = os.environ.get("FAULTS_SEED")
    plan = Plan(actions=20_000, kills=20, limit_s=LIMIT_S, seed=seed_of(int(given) if given else None))
    print(f"seed {plan.seed}")
    report = run(plan, print)
    print("\n".join(report.lines()))
    assert not report.wrong, "\n".join(report.lines())
    assert report.acknowledged >= plan.actions
    assert report.faults["kills"] >= plan.kills
