from __future__ import annotations

from heartroom.games.game import CountingGame, DailyGame, ProgressGame, Setup, fold
from heartroom.games.heart_to_heart import GAME
from heartroom.games.heart_to_heart.deal import shuffled
from heartroom.games.heart_to_heart.solver import winnable
from tests.support.games import CODE, WINNING

SETUP = GAME.deal({"code": CODE}, bytes(32))


def test_undos_count_twice_among_the_moves() -> None:
    detour = [(0, ("draw",)), (0, ("undo",))]
    state = fold(GAME, SETUP, [*detour * 3, *((0, action) for action in WINNING)])
    assert isinstance(GAME, CountingGame)
    assert GAME.statistics(state) == ({"moves": len(WINNING) + 6, "undos": 3},)


def test_how_far_a_game_has_come() -> None:
    assert isinstance(GAME, ProgressGame)
    assert GAME.progress(GAME.initial(SETUP)) == 0
    assert GAME.progress(fold(GAME, SETUP, [(0, action) for action in WINNING])) == 1


def test_what_the_deal_of_a_day_is_called() -> None:
    assert isinstance(GAME, DailyGame)
    assert GAME.daily_code("20261130") == "HH1-D-20261130"
    for code in ("HH1-D-20261130", "hh1 d 2O261130", "HH1–D–2026II30", "HHID20261130"):
        assert GAME.daily_day(code) == "20261130"
    for other in (
        "HH1-N-AAAAAAM",
        "HH1-D-2026113",
        "HH1-D-202611300",
        "20261130",
        "HH1-D-2026113²",
        "",
        None,
        7,
    ):
        assert GAME.daily_day(other) is None


def test_a_deal_that_cannot_be_won_is_no_deal_of_a_day() -> None:
    assert isinstance(GAME, DailyGame)
    for number in range(20):
        entropy = bytes(31) + bytes([number])
        assert winnable(shuffled(entropy)) or GAME.daily_deal(entropy) is None


def test_a_deal_of_a_day_follows_from_its_entropy_and_is_proved() -> None:
    assert isinstance(GAME, DailyGame)
    puzzle = GAME.daily_deal(bytes(32))
    assert puzzle is not None
    assert puzzle == GAME.daily_deal(bytes(32))
    setup = Setup({"code": GAME.daily_code("20261130")}, puzzle.deal)
    state = fold(GAME, setup, [(0, action) for action in puzzle.line])
    assert GAME.outcome(state) is not None
    assert len(puzzle.line) == puzzle.par
