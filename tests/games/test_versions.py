"""Rules have numbers: a log is replayed by those under which it began."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from heartroom.games import game, heart_to_heart
from heartroom.games.heart_to_heart import HeartToHeart


class Earlier(HeartToHeart):
    """The rules as they were."""

    rules_version = 0


@pytest.fixture
def earlier(monkeypatch: pytest.MonkeyPatch) -> Iterator[Earlier]:
    """As if there had been others before the present ones."""
    made = Earlier()
    monkeypatch.setattr(heart_to_heart, "EARLIER", (made,), raising=False)
    game.rules.cache_clear()
    yield made
    game.rules.cache_clear()


def test_every_game_is_found_by_its_name_and_its_number() -> None:
    for name, its in game.games().items():
        assert its.name == name
        assert game.rules(name, its.rules_version) is its
        assert game.rules(name, 99) is None
    assert game.rules("chess", 1) is None


def test_earlier_rules_are_found_by_their_number_and_begin_no_game(earlier: Earlier) -> None:
    assert game.rules("heart-to-heart", 0) is earlier
    assert game.rules("heart-to-heart", 1) is heart_to_heart.GAME
    assert game.games()["heart-to-heart"] is heart_to_heart.GAME
