"""The search that chose `heartroom.games.heart_to_heart.deal.DOMAIN`.

The deal HH1-N-AAAAAAM is documented to players: place 1 is a ten, the tip a four, the first discard an
ace, and the ninth card drawn is the first four, so that the tip goes with it on move 10 of the example.
It has to be a deal that can be won. This takes the first of a plain series of domain strings under which
it is all that.

    python scripts/find_domain.py

The answer is frozen: another would change what every code means.
"""

from __future__ import annotations

import itertools

from heartroom.games.heart_to_heart.deal import DOMAIN, deal_number, parse_code
from heartroom.games.heart_to_heart.layout import HEART_SIZE, TIP
from heartroom.games.heart_to_heart.solver import winnable

NUMBER = parse_code("HH1-N-AAAAAAM")


def fits(deal: tuple[int, ...]) -> bool:
    drawn = deal[HEART_SIZE : HEART_SIZE + 9]
    places = deal[0] == 10 and deal[TIP - 1] == 4 and deal[-1] == 1
    return places and 4 not in drawn[:-1] and drawn[-1] == 4 and winnable(deal)


def main() -> None:
    for tries in itertools.count():
        domain = f"heartroom heart-to-heart deal {tries}"
        if fits(deal_number(NUMBER, domain)):
            print(f"{domain!r} after {tries} others; in use: {DOMAIN!r}")
            return


if __name__ == "__main__":
    main()
