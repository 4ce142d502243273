"""`sessions.table`: who sits where, folded from the deeds of the house."""

from __future__ import annotations

from typing import Any

import pytest

from heartroom.games.game import Refused
from heartroom.sessions import table
from heartroom.sessions.table import Chair, Table


def after(*deeds: tuple[Any, ...], seats: int = 4) -> Table:
    """The table after `deeds`, beginning with an empty one."""
    now = table.empty(seats)
    for deed in deeds:
        now = now.apply(deed)
    return now


SEATED = (("sit", 0, "ada"), ("sit", 2, "bob"))
STARTED = (*SEATED, ("start",))


def test_a_deed_does_not_change_the_table_it_is_done_to() -> None:
    before = after(*SEATED)
    copy = Table(tuple(before.chairs), before.started, before.private)
    before.apply(("start",))
    before.apply(("stand", 0))
    assert before == copy


def test_players_sit_where_they_say() -> None:
    now = after(*SEATED)
    assert [chair.pid for chair in now.chairs] == ["ada", "", "bob", ""]
    assert now.seat_of("bob") == 2
    assert now.seat_of("eve") is None
    assert now.players == ("ada", "bob")


def test_a_seat_holds_one() -> None:
    with pytest.raises(Refused) as refused:
        after(*SEATED, ("sit", 0, "eve"))
    assert refused.value.code == "seat_taken"


@pytest.mark.parametrize(
    "deeds",
    [
        ((("start",)),),
        (*SEATED, ("sit", 1, "ada")),
        (*STARTED, ("start",)),
        (*STARTED, ("sit", 1, "eve")),
        (*SEATED, ("stand", 1)),
        (*SEATED, ("away", 0)),
        (*STARTED, ("away", 1)),
        (*STARTED, ("away", 0), ("away", 0)),
        (*STARTED, ("back", 0)),
        (*STARTED, ("stand", 0), ("away", 0)),
        (*STARTED, ("stand", 0), ("stand", 0)),
    ],
)
def test_what_cannot_be_is_refused(deeds: tuple[tuple[Any, ...], ...]) -> None:
    with pytest.raises(Refused) as refused:
        after(*deeds)
    assert refused.value.code == "wrong_moment"


def test_before_the_start_a_seat_that_is_left_is_open_again() -> None:
    now = after(*SEATED, ("stand", 0), ("sit", 0, "eve"))
    assert now.seat_of("ada") is None
    assert now.seat_of("eve") == 0


def test_after_the_start_a_seat_that_is_left_is_a_bots_for_good() -> None:
    now = after(*STARTED, ("stand", 0))
    assert now.seat_of("ada") is None
    assert not now.is_human(0)
    assert now.players == ("ada", "bob"), "the game was theirs, and is in their records"


def test_bots_have_the_empty_seats() -> None:
    now = after(*STARTED)
    assert [now.is_human(seat) for seat in range(4)] == [True, False, True, False]


def test_who_is_away_keeps_the_seat_and_comes_back_to_it() -> None:
    now = after(*STARTED, ("away", 2))
    assert now.seat_of("bob") == 2
    assert not now.is_human(2)
    assert now.apply(("back", 2)) == after(*STARTED)


def test_a_game_that_all_have_left_for_good_is_abandoned() -> None:
    assert not after(*SEATED).abandoned
    assert not after(*STARTED, ("away", 0), ("away", 2)).abandoned
    assert not after(*STARTED, ("stand", 0), ("away", 2)).abandoned
    assert after(*STARTED, ("stand", 0), ("stand", 2)).abandoned
    assert not table.empty(4).abandoned, "a table that has not started waits for players"


def test_a_solitaire_has_one_chair_and_is_started_unless_it_is_sealed() -> None:
    assert table.alone("ada") == Table((Chair("ada"),), started=True)
    sealed = table.alone("ada", started=False)
    assert not sealed.started
    assert sealed.apply(("start",)) == table.alone("ada")


def test_a_table_can_be_ended_before_and_after_the_start() -> None:
    assert not after(*STARTED).ended
    assert after(*SEATED, ("end",)).ended
    assert after(*STARTED, ("end",)).players == ("ada", "bob")
