from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heartroom.daily import dates
from heartroom.daily.dates import DAY_MS

TIMES = st.integers(0, 2**42)


@given(TIMES)
def test_a_time_lies_within_its_day(at_ms: int) -> None:
    day = dates.of(at_ms)
    assert dates.start_ms(day) <= at_ms < dates.end_ms(day)
    assert dates.of(dates.start_ms(day)) == day
    assert dates.of(dates.end_ms(day)) == dates.after(day)
    assert dates.of(dates.end_ms(day) - 1) == day


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25", "2026-03-08", "2028-02-29", "2026-12-31"])
def test_a_day_has_24_hours_also_where_clocks_are_put_forward_or_back(
    day: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for zone in ("Europe/Oslo", "America/New_York", "Pacific/Kiritimati", "Asia/Kathmandu"):
        monkeypatch.setenv("TZ", zone)
        import time

        time.tzset()
        try:
            assert dates.end_ms(day) - dates.start_ms(day) == DAY_MS
            assert dates.of(dates.start_ms(day)) == day
            assert dates.of(dates.start_ms(day) - 1) == dates.after(day, -1)
        finally:
            monkeypatch.undo()
            time.tzset()


@given(TIMES, st.integers(-400, 400))
def test_days_are_in_order_as_strings(at_ms: int, days: int) -> None:
    day = dates.of(at_ms + 400 * DAY_MS)
    other = dates.after(day, days)
    assert (other > day) == (days > 0)
    assert dates.after(other, -days) == day


def test_what_is_a_day() -> None:
    assert dates.parse("2026-11-30") == "2026-11-30"
    assert dates.parse("20261130") == "2026-11-30"
    for text in ("2026-11-31", "2026-W48-1", "2026W481", "26-11-30", "", "2026-1130", "2026-11-3"):
        assert dates.parse(text) is None
    for text in ("２０２６１１３０", "2026-11-30\n", " 20261130"):
        assert dates.parse(text) is None


def test_the_days_of_a_month() -> None:
    february = dates.month("2028-02")
    assert february is not None
    assert (len(february), february[0], february[-1]) == (29, "2028-02-01", "2028-02-29")
    last = dates.month("9999-12")
    assert last is not None
    assert (len(last), last[-1]) == (31, "9999-12-31")
    for text in ("2028-13", "2028", "202802", "2028-2", "2028-02-01"):
        assert dates.month(text) is None
