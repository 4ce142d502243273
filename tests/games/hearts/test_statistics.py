from __future__ import annotations

from heartroom.games.game import CountingGame, ProgressGame
from heartroom.games.hearts import rules
from heartroom.games.hearts.game import HEARTS
from heartroom.games.hearts.rules import OVER, Score, Table


def test_hands_points_and_moons_of_each_seat() -> None:
    sheet = (
        Score(5, 0, 21, 0, None),
        Score(0, 26, 26, 26, 0),
        Score(26, 0, 26, 26, 1),
        Score(0, 26, 26, 26, 0),
    )
    totals = tuple(map(sum, zip(*(score.points for score in sheet), strict=True)))
    state = rules.begin(Table(100, False, bytes(32)))._replace(sheet=sheet, totals=totals, phase=OVER)
    assert isinstance(HEARTS, CountingGame)
    assert HEARTS.statistics(state) == (
        {"hands": 4, "points": 31, "moons": 2},
        {"hands": 4, "points": 52, "moons": 1},
        {"hands": 4, "points": 99, "moons": 0},
        {"hands": 4, "points": 78, "moons": 0},
    )


def test_how_far_a_game_has_come() -> None:
    first = rules.begin(Table(50, True, bytes(32)))
    assert isinstance(HEARTS, ProgressGame)
    assert HEARTS.progress(first) == 0
    assert HEARTS.progress(first._replace(totals=(-10, -3, -1, -2))) == 0
    assert HEARTS.progress(first._replace(totals=(25, -10, 0, 8))) == 0.5
    assert HEARTS.progress(first._replace(totals=(75, 20, 0, 8))) == 1
