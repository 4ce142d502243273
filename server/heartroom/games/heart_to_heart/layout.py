"""The shape of the heart: its rows, and which card covers which.

Owns the geometry. Must not know ranks, the stock or whose move it is.

Places are counted from 1 row by row, from the top left to the tip, as players and the protocol count
them; the tables here are indexed by *place − 1*, as tuples of the heart are.

         1   2       3   4
       5   6   7   8   9  10
        11  12  13  14  15
          16  17  18  19
            20  21  22
              23  24
                25
"""

from __future__ import annotations

from typing import Final

ROWS: Final = (4, 6, 5, 4, 3, 2, 1)
"""How many cards each row has, from the lobes down to the tip."""

HEART_SIZE: Final = sum(ROWS)
"""25 cards."""

TIP: Final = HEART_SIZE
"""The place that nothing covers, 25."""


def _covers() -> tuple[tuple[int, ...], ...]:
    starts = [sum(ROWS[:row]) for row in range(len(ROWS))]
    covers: list[tuple[int, ...]] = []
    # The lobes leave a gap between their cards 2 and 3, so the right one stands one further on.
    for left in (0, 1, 3, 4):
        covers.append((starts[1] + left, starts[1] + left + 1))
    for row in range(1, len(ROWS) - 1):
        for i in range(ROWS[row]):
            covers.append(tuple(starts[row + 1] + j for j in (i - 1, i) if 0 <= j < ROWS[row + 1]))
    covers.append(())
    return tuple(covers)


COVERED_BY: Final = _covers()
"""For each place − 1, the places − 1 of the one or two cards that cover it (none for the tip)."""

COVERS: Final = tuple(
    tuple(above for above, covers in enumerate(COVERED_BY) if below in covers) for below in range(HEART_SIZE)
)
"""The same read the other way: for each place − 1, the places − 1 of the cards that it covers."""
