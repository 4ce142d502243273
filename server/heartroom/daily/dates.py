"""Days as this house counts them: UTC dates, `"2026-11-30"`. Pure."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, date, datetime, timedelta
from typing import Final

DAY_MS: Final = 86_400_000

Day = str
"""`"2026-11-30"`. In the order of the calendar as strings, too."""

_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}")


def of(at_ms: int) -> Day:
    """The day of a time, ms since 1970."""
    return datetime.fromtimestamp(at_ms // 1000, UTC).date().isoformat()


def start_ms(day: Day) -> int:
    """When a day begins, ms since 1970. UTC has no summer time: each day has `DAY_MS`."""
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) * 1000


def end_ms(day: Day) -> int:
    """When a day is over."""
    return start_ms(day) + DAY_MS


def after(day: Day, days: int = 1) -> Day:
    """The day so many days later, or earlier."""
    return (date.fromisoformat(day) + timedelta(days)).isoformat()


def parse(text: str) -> Day | None:
    """`text` as a day, `"2026-11-30"` or `"20261130"`; `None` if it is none."""
    if not _DAY.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return None


def month(text: str) -> list[Day] | None:
    """All days of a month, `"2026-11"`; `None` if it is none."""
    first = parse(f"{text}-01")
    if first is None or len(text) != 7:
        return None
    _, length = monthrange(int(text[:4]), int(text[5:]))
    return [f"{text}-{day:02}" for day in range(1, length + 1)]
