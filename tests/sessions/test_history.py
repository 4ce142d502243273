"""The three outcomes of coming back: nothing missed, these diffs, it cannot be proven."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heartroom.sessions.history import History


def history(start: int, count: int) -> History:
    made = History(start)
    for version in range(start + 1, start + count + 1):
        made.add(version, b"%d" % version)
    return made


def test_who_is_up_to_date_has_missed_nothing() -> None:
    assert History(0).since(0) == []
    assert history(5, 3).since(8) == []


def test_who_comes_back_gets_the_diffs_since() -> None:
    assert history(5, 3).since(6) == [b"7", b"8"]
    assert history(5, 3).since(5) == [b"6", b"7", b"8"]


@pytest.mark.parametrize("version", [0, 4, 9, 1000])
def test_before_the_first_diff_and_beyond_the_last_nothing_can_be_proven(version: int) -> None:
    assert history(5, 3).since(version) is None


@given(st.integers(0, 5), st.integers(0, 200), st.integers(0, 220))
def test_what_is_given_is_all_that_was_missed_or_nothing(start: int, count: int, version: int) -> None:
    newest = start + count
    given_back = history(start, count).since(version)
    provable = max(start, newest - History.KEPT) <= version <= newest
    assert given_back == ([b"%d" % n for n in range(version + 1, newest + 1)] if provable else None)


def test_a_gap_is_refused() -> None:
    for wrong in (5, 7):
        with pytest.raises(AssertionError):
            History(5).add(wrong, b"")
