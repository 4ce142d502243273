"""What the solver of Heart to Heart costs: `python -m bench.solver [DEALS]`.

DEALS random deals (300, always the same ones) that can be won; and, to find them, some three times as
many that are only asked whether they can.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence

from heartroom.cards import RANKS
from heartroom.games.heart_to_heart.solver import fewest_moves, winnable

QUANTILES = (0.5, 0.9, 0.99, 1.0)


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    deck = list(RANKS) * 4
    shuffle = random.Random(1).shuffle
    asked_us: list[float] = []
    solved_ms: list[float] = []
    positions: list[int] = []
    moves: list[int] = []
    unproven = 0
    while len(solved_ms) < wanted:
        shuffle(deck)
        began = time.perf_counter()
        can_be_won = winnable(deck)
        asked_us.append((time.perf_counter() - began) * 1e6)
        if not can_be_won:
            continue
        began = time.perf_counter()
        solution = fewest_moves(deck)
        solved_ms.append((time.perf_counter() - began) * 1e3)
        positions.append(solution.positions)
        moves.append(solution.lower_bound)
        unproven += not solution.proven

    print(f"{len(asked_us)} deals, {wanted} can be won ({wanted / len(asked_us):.0%}), {unproven} not proven")
    print(f"{'':28}" + "".join(f"{_name(quantile):>10}" for quantile in QUANTILES))
    print(_line("winnable, µs", asked_us))
    print(_line("fewest_moves, ms", solved_ms))
    print(_line("fewest_moves, positions", positions))
    print(_line("the fewest moves themselves", moves))


def _name(quantile: float) -> str:
    return "worst" if quantile == 1 else f"{quantile:.0%}"


def _line(name: str, values: Sequence[float]) -> str:
    ordered = sorted(values)
    picked = (ordered[min(int(quantile * len(ordered)), len(ordered) - 1)] for quantile in QUANTILES)
    return f"{name:28}" + "".join(f"{value:10,.0f}" for value in picked)


if __name__ == "__main__":
    main()
