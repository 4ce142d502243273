"""Record a game of Hearts that bots play, and what everybody saw of it, for `tests/games` to play again.

    python scripts/record_hearts.py --target 60 > tests/games/hearts/recorded/standard.jsonl
    python scripts/record_hearts.py --target 60 --omnibus > tests/games/hearts/recorded/omnibus.jsonl

Made once for each number of the rules, and never again: what is recorded must stay true.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from typing import Any

from heartroom.games.game import Action
from heartroom.games.hearts.game import HEARTS
from heartroom.sessions import record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", type=int, default=60)
    parser.add_argument("--omnibus", action="store_true")
    given = parser.parse_args()
    options: dict[str, Any] = {"target": given.target, "omnibus": given.omnibus}
    setup = HEARTS.deal(HEARTS.parse_options(options), hashlib.sha256(repr(options).encode()).digest())
    state, deeds = HEARTS.initial(setup), list[tuple[int, int, Action]]()
    while to_act := HEARTS.to_act(state):
        for seat in to_act:
            seen = HEARTS.view(state, HEARTS.perspective(seat))
            action = HEARTS.choose("easy", seen, seat, f"{len(deeds)}")
            state = HEARTS.apply(state, seat, action)
            deeds.append((1_000 * len(deeds), seat, action))
            if seat not in HEARTS.to_act(state):
                break
    sys.stdout.buffer.writelines(record.lines(HEARTS, setup, [""] * HEARTS.seats, deeds))


if __name__ == "__main__":
    main()
