from __future__ import annotations

import itertools
import json
from importlib import resources
from typing import Any

from heartroom.games.game import Setup, fold
from heartroom.games.heart_to_heart import GAME
from heartroom.games.heart_to_heart.deal import deal_number, parse_code
from heartroom.games.heart_to_heart.solver import fewest_moves
from tests.games.heart_to_heart.actions import CODE, draws, go, pair, start


def example() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    folder = resources.files("heartroom.games.heart_to_heart") / "examples"
    header, *steps = [json.loads(line) for line in (folder / f"{CODE}.jsonl").read_text().splitlines()]
    return header, steps


def test_the_example_is_of_the_documented_deal() -> None:
    header, _ = example()
    assert header == {
        "heartroom": 1,
        "game": GAME.name,
        "rules": GAME.rules_version,
        "options": {"code": CODE},
        "deal": list(deal_number(parse_code(CODE))),
        "names": [""],
    }


def test_the_example_is_numbered_and_goes_forward_in_time() -> None:
    _, steps = example()
    assert [step["v"] for step in steps] == list(range(1, len(steps) + 1))
    times = [step["at"] for step in steps]
    assert times[0] == 0
    assert all(300 < later - sooner < 5000 for sooner, later in itertools.pairwise(times))


def test_the_example_wins_in_the_fewest_moves() -> None:
    header, steps = example()
    setup = Setup(header["options"], tuple(header["deal"]))
    log = [(step["seat"], GAME.parse_action(step["action"])) for step in steps]
    outcome = GAME.outcome(fold(GAME, setup, log))
    assert outcome is not None
    assert outcome.scores == (250,)
    solution = fewest_moves(setup.deal)
    assert solution.proven
    assert len(steps) == solution.lower_bound


def test_its_tip_goes_with_a_four_of_the_discard_on_move_10() -> None:
    _, steps = example()
    actions = [GAME.parse_action(step["action"]) for step in steps]
    assert actions[:10] == [*draws(9), pair(25, "discard")]
    view = GAME.view(go(start(), *actions[:9]), None)
    assert view[24] == 16 + 4
    assert view[GAME.fields.index("top")] == 4
