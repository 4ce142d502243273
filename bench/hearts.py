"""How fast the engine of Hearts is, and how well its bots play: `python -m bench.hearts [HANDS]`.

1. Random hands a second, beside OpenSpiel's `hearts` (C++, driven from Python like ours), in turns in the
   same run. A hand is the deal, the pass and 52 cards; each side picks among what it says is legal.
2. HANDS hands (1,000, always the same ones) of one *good* bot against three *easy* ones, the good one in each
   seat for a quarter of them and all four ways to pass: points a hand, and the time of its decisions.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from typing import Any

import pyspiel

from heartroom.games.hearts import bots, deck, rules, view
from heartroom.games.hearts.rules import PASSING, PLAYING, State, Table

ROUNDS = 20
HANDS_A_ROUND = 200
TABLE = Table(100, False, bytes(32))


def main() -> None:
    hands = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(speed())
    for omnibus in (False, True):
        print(match(hands, omnibus))


def speed() -> str:
    game = pyspiel.load_game("hearts", {"qs_breaks_hearts": False})
    rng = random.Random(1)
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for number in range(HANDS_A_ROUND):
            play_ours(number, rng)
        between = time.process_time()
        for _ in range(HANDS_A_ROUND):
            play_theirs(game, rng)
        ours.append(HANDS_A_ROUND / (between - began))
        theirs.append(HANDS_A_ROUND / (time.process_time() - between))
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    return (
        f"random hands a second of CPU: ours {statistics.median(ours):,.0f},"
        f" OpenSpiel {statistics.median(theirs):,.0f}; median ratio {ratio:.2f}"
    )


def play_ours(number: int, rng: random.Random) -> None:
    state = dealt(number, omnibus=False)
    if state.phase == PASSING:
        for seat, held in enumerate(state.hands):
            state = rules.pass_cards(state, seat, tuple(rng.sample(deck.cards(held), 3)))
    while state.phase == PLAYING:
        state = rules.play(state, state.turn, rng.choice(deck.cards(state.legal)))


def play_theirs(game: Any, rng: random.Random) -> None:
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(rng.choice(state.legal_actions()))


def dealt(number: int, omnibus: bool) -> State:
    seed = number.to_bytes(32, "big")
    return rules.begin_hand(TABLE._replace(omnibus=omnibus), 1 + number % 4, deck.deal(seed, 1), (), (0,) * 4)


def match(hands: int, omnibus: bool) -> str:
    points: list[int] = []
    others: list[float] = []
    moons = suffered = 0
    times_ms: list[float] = []
    for number in range(hands):
        seat = number // 4 % 4
        score = play_bots(number, seat, omnibus, times_ms)
        points.append(score.points[seat])
        others.append((sum(score.points) - points[-1]) / 3)
        moons += score.moon == seat
        suffered += score.moon not in (seat, None)
    error = statistics.stdev(points) / hands**0.5
    times_ms.sort()
    return (
        f"good against easy ×3, {'omnibus' if omnibus else 'standard'}, {hands} hands:"
        f" {statistics.mean(points):.2f} ± {error:.2f} points a hand,"
        f" the others {statistics.mean(others):.2f}; moons {moons}, suffered {suffered}\n"
        f"    CPU a decision of good, ms: mean {statistics.mean(times_ms):.0f},"
        f" 99 % {times_ms[int(0.99 * len(times_ms))]:.0f}, worst {times_ms[-1]:.0f}"
    )


def play_bots(number: int, good: int, omnibus: bool, times_ms: list[float]) -> rules.Score:
    """The score of a hand with a good bot in seat `good` and easy ones in the others."""
    state = dealt(number, omnibus)
    while not state.sheet:
        seat = rules.to_act(state)[0]
        seen = view.view(state, seat)
        began = time.process_time()
        verb, *cards = bots.choose("good" if seat == good else "easy", seen, seat, f"bench {number}")
        if seat == good:
            times_ms.append((time.process_time() - began) * 1e3)
        if verb == "pass":
            state = rules.pass_cards(state, seat, tuple(cards))
        elif verb == "play":
            state = rules.play(state, seat, cards[0])
        else:
            state = rules.claim_rest(state, seat)
    return state.sheet[0]


if __name__ == "__main__":
    main()
