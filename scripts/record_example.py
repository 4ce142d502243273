"""Record the example game: HH1-N-AAAAAAM won in the fewest moves, at the pace of a person.

The tip goes with the first four of the stock on move 10, as players are told; the solver plays the rest.

    python scripts/record_example.py > server/heartroom/games/heart_to_heart/examples/HH1-N-AAAAAAM.jsonl
"""

from __future__ import annotations

import json
import random

from heartroom.games.game import fold
from heartroom.games.heart_to_heart import GAME
from heartroom.games.heart_to_heart.layout import TIP
from heartroom.games.heart_to_heart.rules import DISCARD
from heartroom.games.heart_to_heart.solver import fewest_moves, fewest_moves_from

PAUSE_MS = {"draw": (450, 900), "recycle": (700, 1200), "pair": (1300, 2900)}
LOOK_MS = (250, 500)
"""Longer before the next move when a pair has changed what is free."""


def main() -> None:
    setup = GAME.deal({"code": "HH1-N-AAAAAAM"}, b"")
    actions = [("draw",)] * 9 + [("pair", TIP, DISCARD)]
    actions += fewest_moves_from(fold(GAME, setup, [(0, action) for action in actions]).position).moves
    assert len(actions) == fewest_moves(setup.deal).lower_bound, "another beginning would be shorter"

    header = {"heartroom": 1, "game": GAME.name, "rules": GAME.rules_version}
    print(json.dumps(header | {"options": setup.options, "deal": setup.deal, "names": [""]}))
    pace = random.Random(12)
    at = 0
    for version, action in enumerate(actions, 1):
        if version > 1:
            at += pace.randrange(*PAUSE_MS[action[0]])
            at += pace.randrange(*LOOK_MS) if actions[version - 2][0] == "pair" else 0
        print(json.dumps({"v": version, "at": at, "seat": 0, "action": action}))


if __name__ == "__main__":
    main()
