from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heartroom.daily import dates
from heartroom.leaderboards import results
from heartroom.leaderboards.results import Result, Summary, summary

TIMES = st.integers(0, 2 * 86_400_000)
MOVES = st.integers(1, 10_000)


def result(day: str = "2026-11-30", elapsed_ms: int = 0, moves: int = 80, par: int = 73) -> Result:
    return Result(day, "session", elapsed_ms, moves, par, 0)


def on(*days: str) -> Summary:
    return summary(result(day) for day in days)


RESULTS = st.builds(result, elapsed_ms=TIMES, moves=MOVES)


@given(RESULTS, RESULTS)
def test_scores_compare_what_is_shown_and_nothing_else(one: Result, other: Result) -> None:
    shown, others = (one.elapsed_ms // 100, one.moves), (other.elapsed_ms // 100, other.moves)
    assert (one.by_time < other.by_time) == (shown < others)
    assert (one.by_time == other.by_time) == (shown == others)
    assert (one.by_moves < other.by_moves) == (shown[::-1] < others[::-1])
    assert (one.by_moves == other.by_moves) == (shown == others)


@given(RESULTS)
def test_scores_are_numbers_that_the_store_keeps_exactly(one: Result) -> None:
    assert 0 <= one.by_time < 2**53
    assert 0 <= one.by_moves < 2**53


def test_times_are_compared_to_a_tenth_of_a_second() -> None:
    assert result(elapsed_ms=12_300).by_time == result(elapsed_ms=12_399).by_time
    assert result(elapsed_ms=12_399).by_time < result(elapsed_ms=12_400).by_time
    assert result(elapsed_ms=12_399).time_ms == 12_300


def test_nothing_won_yet() -> None:
    assert summary([]) == Summary()
    assert Summary().streak_on("2026-11-30") == 0


def test_streaks() -> None:
    assert (on("2026-11-30").streak, on("2026-11-30").longest) == (1, 1)
    three_then_two = on("2026-11-01", "2026-11-02", "2026-11-03", "2026-11-05", "2026-11-06")
    assert (three_then_two.streak, three_then_two.longest) == (2, 3)
    assert on("2026-12-31", "2027-01-01").streak == 2
    assert on("2028-02-28", "2028-02-29", "2028-03-01").streak == 3
    assert on("2026-03-28", "2026-03-29", "2026-03-30").streak == 3, "clocks are put forward"


def test_a_streak_lasts_until_a_day_has_passed_without_a_win() -> None:
    won = on("2026-11-29", "2026-11-30")
    assert won.streak_on("2026-11-30") == 2
    assert won.streak_on("2026-12-01") == 2
    assert won.streak_on("2026-12-02") == 0


@given(st.sets(st.integers(0, 40), max_size=30))
def test_streaks_are_those_of_days_in_a_row(numbers: set[int]) -> None:
    found = summary(result(dates.after("2026-11-01", number)) for number in numbers)
    runs = [
        next(length for length in range(1, 50) if number + length not in numbers)
        for number in numbers
        if number - 1 not in numbers
    ]
    assert found.longest == max(runs, default=0)
    latest = max(numbers, default=0)
    assert found.streak == (next(n for n in range(1, 50) if latest - n not in numbers) if numbers else 0)


def test_bests_and_averages() -> None:
    found = summary(
        [
            result("2026-11-28", 60_050, 80, 70),
            result("2026-11-29", 30_000, 90, 70),
            result("2026-11-30", 91_990, 71, 71),
        ]
    )
    assert (found.wins, found.best_ms, found.best_over_par) == (3, 30_000, 0)
    assert found.average_ms == (60_000 + 30_000 + 91_900) // 3
    assert found.average_over_par == 10.0


@pytest.mark.parametrize("wins", [1, 4, 5, 6])
def test_an_average_is_compared_from_five_wins_on(wins: int) -> None:
    found = on(*(dates.after("2026-11-01", 2 * number) for number in range(wins)))
    assert found.scores[:2] == (-wins, -1)
    assert (found.scores[3] is None) == (wins < 5)


@given(RESULTS)
def test_results_and_summaries_are_read_as_they_were_written(one: Result) -> None:
    assert results.unpack_result(results.pack(one)) == one
    found = summary([one])
    assert results.unpack_summary(results.pack(found)) == found
