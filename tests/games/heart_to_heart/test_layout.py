from __future__ import annotations

from heartroom.games.heart_to_heart.layout import COVERED_BY, COVERS, HEART_SIZE, ROWS, TIP
from tests.games.heart_to_heart import reference


def covering(place: int) -> list[int]:
    return [below + 1 for below in COVERED_BY[place - 1]]


def test_the_rows_are_those_of_the_heart() -> None:
    assert ROWS == (4, 6, 5, 4, 3, 2, 1)
    assert HEART_SIZE == TIP == 25


def test_the_lobes_lie_over_three_cards_each() -> None:
    assert [covering(place) for place in (1, 2, 3, 4)] == [[5, 6], [6, 7], [8, 9], [9, 10]]


def test_cards_at_the_edge_have_one_card_below() -> None:
    assert [covering(place) for place in (5, 10, 11, 15)] == [[11], [15], [16], [19]]


def test_nothing_covers_the_tip() -> None:
    assert covering(TIP) == []
    assert covering(23) == covering(24) == [TIP]


def test_covers_are_those_of_the_picture() -> None:
    places = [(row, column) for row, columns in enumerate(reference.ROWS) for column in columns]
    for i, (row, column) in enumerate(places):
        below = [
            places.index(spot) for spot in ((row + 1, column - 1), (row + 1, column + 1)) if spot in places
        ]
        assert list(COVERED_BY[i]) == below


def test_covers_is_covered_by_read_the_other_way() -> None:
    for above in range(HEART_SIZE):
        for below in range(HEART_SIZE):
            assert (below in COVERED_BY[above]) == (above in COVERS[below])
