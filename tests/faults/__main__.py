"""The long form of the fault test: `make faults ARGS='--actions 1000000 --kills 1000'`."""

from __future__ import annotations

import argparse
import sys

from tests.faults.run import Plan, run, seed_of


def main() -> int:
    """Returns 0 if nothing was wrong."""
    parser = argparse.ArgumentParser(prog="make faults", description=__doc__)
    parser.add_argument("--actions", type=int, default=1_000_000, help="acknowledged actions to reach")
    parser.add_argument("--kills", type=int, default=1_000, help="kills of nodes to reach")
    parser.add_argument("--pauses", type=int, default=20, help="pauses of nodes to reach")
    parser.add_argument("--seed", type=int, help="of an earlier run")
    parser.add_argument("--players", type=int, default=24, help="of Heart to Heart")
    parser.add_argument("--spectators", type=int, default=2, help="of each of them")
    parser.add_argument("--tables", type=int, default=4, help="of Hearts")
    parser.add_argument("--limit", type=float, default=4 * 3600, help="seconds that it may take")
    parser.add_argument("--verbose", action="store_true", help="print every fault")
    given = parser.parse_args()
    plan = Plan(
        actions=given.actions,
        kills=given.kills,
        pauses=given.pauses,
        limit_s=given.limit,
        seed=seed_of(given.seed),
        solitaires=given.players,
        spectators=given.spectators,
        tables=given.tables,
    )
    print(f"seed {plan.seed}", flush=True)

    def say(text: str) -> None:
        if given.verbose or "actions" in text:
            print(text, flush=True)

    report = run(plan, say)
    print("\n".join(report.lines()))
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
