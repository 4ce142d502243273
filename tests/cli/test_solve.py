from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from heartroom.cli import main
from heartroom.games.game import fold
from heartroom.games.heart_to_heart import GAME

CODE = "HH1-N-AAAAAAM"


def solve(*arguments: str) -> str:
    done = CliRunner().invoke(main, ["solve", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_moves_it_prints_win_in_the_number_it_says() -> None:
    facts = json.loads(solve(CODE, "--json"))
    assert facts.keys() == {"winnable", "fewest_moves", "proven", "moves"}
    assert facts["winnable"] is True
    assert facts["proven"] is True
    assert facts["fewest_moves"] == len(facts["moves"])
    setup = GAME.deal(GAME.parse_options({"code": CODE}), bytes(32))
    state = fold(GAME, setup, [(0, GAME.parse_action(move)) for move in facts["moves"]])
    assert GAME.outcome(state) is not None


def test_a_deal_that_cannot_be_won() -> None:
    facts = json.loads(solve("HH1-N-AAAAAAA", "--json"))
    assert facts == {"winnable": False, "fewest_moves": None, "proven": True, "moves": []}
    assert solve("HH1-N-AAAAAAA") == "cannot be won\n"


def test_in_words() -> None:
    assert solve("hh1 n aaaaaam").startswith("fewest moves: 73\ndraw, draw, ")


@pytest.mark.parametrize("code", ["HH1-N-AAAAAA", "HH1-D-20261130", ""])
def test_what_is_no_code(code: str) -> None:
    done = CliRunner().invoke(main, ["solve", code])
    assert done.exit_code == 1
    assert "is no deal code" in done.output
