"""When a seat may claim the rest of a hand: whatever the others hold and do, it takes every trick.

Owns that proof. It sees a `Knowledge` and nothing else, so granting or refusing a claim tells the
claimer nothing it could not have worked out from its own cards and the table.

The argument. On lead, the claimer can lead out suit by suit, each from the top, hearts last (when they
may be led even if unbroken). An opponent that holds at most x cards of a suit, the highest of them h,
can keep h until it has followed x times; so the claimer's x highest cards of the suit (or all, if it has
fewer) must be above h. What holds for each opponent and suit holds for all together. This is exact for
what is known of each opponent by itself; it looks for no squeeze, and leaves aside what only counting all
the hands together would rule out. So it may refuse a sure thing, and never grants less than one.
"""

from __future__ import annotations

from heartroom.cards import CLUBS, SUITS

from .deck import HEIGHT, SEATS, SUIT_MASK, SUIT_OF, Mask, cards, top
from .knowledge import Knowledge, Trick


def thinkable(hand: Mask, out: Mask, trick: Trick) -> bool:
    """Whether it is worth asking `provable`, for a seat on turn with `hand`, when the others hold the cards
    `out`: a quick look that says no to nearly all that cannot be proved, and to nothing that can."""
    led = -1
    if trick:
        led = SUIT_OF[trick[2]]
        if top(hand, led) < HEIGHT[trick[2 + ((trick[1] - trick[0]) & 3)]]:
            return False
    for suit in SUITS:  # asked on every turn, and mostly the first suit says it
        if suit != led and hand & SUIT_MASK[suit] and top(hand, suit) < top(out, suit):
            return False
    return True


def provable(known: Knowledge) -> bool:
    """Whether all remaining tricks, the one under way included, are the seat's. It must be its turn."""
    others = [seat for seat in SEATS if seat != known.seat]
    if known.trick:
        return _takes_this_and_the_rest(known, others)
    if not known.tricks and any(known.possible[seat] & SUIT_MASK[CLUBS] for seat in others):
        return False  # the two of clubs must be led, and somebody may have to take it
    return _takes_the_rest(known, others, known.hand)


def _takes_this_and_the_rest(known: Knowledge, others: list[int]) -> bool:
    leader, winning = known.trick[:2]
    led = SUIT_OF[known.trick[2]]
    to_beat = HEIGHT[known.trick[2 + ((winning - leader) & 3)]]
    for place in range(len(known.trick) - 1, 4):
        to_beat = max(to_beat, top(known.possible[(leader + place) & 3], led))
    return any(
        HEIGHT[card] > to_beat and _takes_the_rest(known, others, known.hand & ~(1 << card))
        for card in cards(known.hand & SUIT_MASK[led])
    )


def _takes_the_rest(known: Knowledge, others: list[int], hand: Mask) -> bool:
    """Whether a lead from `hand` takes all tricks, when each of the others has as many cards left."""
    size = hand.bit_count()
    for suit in SUITS:
        mine = cards(hand & SUIT_MASK[suit])
        for seat in others if mine else ():
            theirs = known.possible[seat] & SUIT_MASK[suit]
            most = min(theirs.bit_count(), size - (known.held[seat] & ~SUIT_MASK[suit]).bit_count())
            contested = mine[max(len(mine) - most, 0) :]
            if contested and HEIGHT[contested[0]] < top(theirs, suit):
                return False
    return True
