"""Games recorded under rules number 1, played again: a log means what it meant when it was written.

Where this fails, the rules have changed for games that have begun: they need a new number, and the earlier
ones stay (see `heartroom.games.game.rules`). The records are made by `scripts/record_hearts.py`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

import msgspec
import pytest

from heartroom.games.hearts.deck import SEATS
from heartroom.games.hearts.game import HEARTS
from heartroom.sessions import record

RECORDED: Final = Path(__file__).parent / "recorded"
FIELDS: Final = 38
"""Of a view, when these were recorded. There may be more by now, after them."""


@pytest.mark.parametrize(
    ("name", "scores", "winners", "seen"),
    [
        (
            "standard",
            (66, 6, 21, 37),
            (1,),
            "931dcb15fc18c5e51896f747d43da41d",
        ),
        (
            "omnibus",
            (48, 70, 5, 37),
            (2,),
            "67af881615b66a6e00b307a064e9e99b",
        ),
    ],
)
def test_a_recorded_game_is_what_it_was(
    name: str, scores: tuple[int, ...], winners: tuple[int, ...], seen: str
) -> None:
    read = record.read((RECORDED / f"{name}.jsonl").read_bytes())
    assert read.header.rules == HEARTS.rules_version == 1
    assert read.outcome is not None
    assert (read.outcome.scores, read.outcome.winners) == (scores, winners)
    everything = hashlib.sha256()
    for state in read.states:
        views = [HEARTS.view(state, HEARTS.perspective(seat)) for seat in (None, *SEATS)]
        for view in (*views, HEARTS.open_view(state)):
            everything.update(msgspec.msgpack.encode(view[:FIELDS]))
    assert everything.hexdigest()[:32] == seen
