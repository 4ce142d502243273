"""A hand of Hearts played to its end by simple players, as fast as plain Python can.

Owns the quick policy and the playout, both about *known* hands: they are guesses that `bots.py` draws, and
nothing here is a rule of the game or sees a game's state. Cards are numbered by strength here, suit * 13
and 0 for the two … 12 for the ace, so that the greater bit is the better card.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from heartroom.cards import DECK, DIAMONDS, HEARTS, SPADES, SUITS

from .deck import ALL_POINTS, HEIGHT, JACK_BONUS, JACK_OF_DIAMONDS, PENALTY, QUEEN_OF_SPADES, SUIT_OF, Mask

STRONG: Final = tuple(13 * SUIT_OF[card] + HEIGHT[card] - 1 for card in DECK)
"""The number by strength of each card."""
PLAIN: Final = tuple(sorted(DECK, key=lambda card: STRONG[card]))
"""And back."""

SUIT: Final = tuple(number // 13 for number in range(52))
IN_SUIT: Final = tuple(0x1FFF << 13 * suit for suit in SUITS)
COST: Final = tuple(PENALTY[card] for card in PLAIN)
QUEEN: Final = STRONG[QUEEN_OF_SPADES]
JACK: Final = STRONG[JACK_OF_DIAMONDS]
QUEEN_BIT: Final = 1 << QUEEN
JACK_BIT: Final = 1 << JACK
BIG_SPADES: Final = 0b11 << QUEEN + 1
"""King and ace."""
HEART_BITS: Final = IN_SUIT[HEARTS]
COSTLY: Final = HEART_BITS | QUEEN_BIT
NOBODY: Final = -1
MOONSTRUCK: Final = 14
"""Points from which on a player that has taken all of them so far goes for the rest."""


def by_strength(mask: Mask) -> Mask:
    """A set of cards numbered as `heartroom.cards` does, numbered by strength instead."""
    aces = mask & 0x8004002001
    return (mask & ~aces) >> 1 | aces << 12


class Position(NamedTuple):
    """A hand under way, when somebody has to play."""

    hands: tuple[Mask, ...]
    turn: int
    trick: tuple[int, ...]
    """The cards on the table, in playing order."""
    first: bool
    """Whether it is the first trick."""
    broken: bool
    penalty: tuple[int, ...]
    """Points each seat has taken in hearts and the queen."""
    jack: int
    """Who has taken the jack of diamonds, or `NOBODY`."""
    omnibus: bool


def playout(position: Position, card: int) -> list[int]:
    """The score of each seat if the player on turn plays `card` and all go on by the quick policy."""
    hands = list(position.hands)
    out = hands[0] | hands[1] | hands[2] | hands[3]
    penalty = list(position.penalty)
    omnibus = position.omnibus
    jack = position.jack
    left = ALL_POINTS - sum(penalty)
    broken = position.broken
    first = position.first
    turn = position.turn
    keen = _keen(penalty, ALL_POINTS - left)
    n = cost = 0
    best = led = winner = 0
    has_jack = False
    if position.trick:
        n = len(position.trick)
        best = position.trick[0]
        led = SUIT[best]
        winner = at = turn - n & 3
        for other in position.trick:
            cost += COST[other]
            has_jack = has_jack or (omnibus and other == JACK)
            if SUIT[other] == led and other > best:
                best, winner = other, at
            at = at + 1 & 3
    while True:
        bit = 1 << card
        out ^= bit
        hands[turn] ^= bit
        suit = SUIT[card]
        if n == 0:
            led = suit
            best = card
            winner = turn
            cost = 0
            has_jack = False
        elif suit == led:
            if card > best:
                best = card
                winner = turn
        elif suit == HEARTS:
            broken = True
        cost += COST[card]
        if card == JACK and omnibus:
            has_jack = True
        if n < 3:
            n += 1
            turn = turn + 1 & 3
            hand = hands[turn]
            mine = hand & IN_SUIT[led]
            if mine:
                if mine & mine - 1:
                    card = _follow(mine, out, turn, n, led, best, winner, cost, has_jack, keen, omnibus)
                else:
                    card = mine.bit_length() - 1
            else:
                if first:
                    hand = hand & ~COSTLY or hand
                card = _discard(hand, out, turn, winner, keen, omnibus)
        else:
            turn = winner
            if has_jack:
                jack = winner
            if cost:
                penalty[winner] += cost
                left -= cost
                keen = _keen(penalty, ALL_POINTS - left)
            hand = hands[turn]
            if not hand or (not left and (jack != NOBODY or not omnibus)):
                break
            n = 0
            first = False
            if not broken:
                hand = hand & ~HEART_BITS or hand
            card = _lead(hand, out & ~hands[turn], turn, keen)
    if ALL_POINTS in penalty:
        moon = penalty.index(ALL_POINTS)
        if not omnibus or jack == moon:
            penalty = [ALL_POINTS] * 4
            penalty[moon] = 0
            return penalty
    if omnibus and jack != NOBODY:
        penalty[jack] += JACK_BONUS
    return penalty


def _keen(penalty: Sequence[int], taken: int) -> int:
    """Who goes for the moon, if anyone: who has all points that were taken, and they are many."""
    return penalty.index(taken) if taken >= MOONSTRUCK and taken in penalty else NOBODY


def _follow(
    mine: Mask,
    out: Mask,
    turn: int,
    n: int,
    led: int,
    best: int,
    winner: int,
    cost: int,
    has_jack: bool,
    keen: int,
    omnibus: bool,
) -> int:
    """A card out of `mine`, two or more of the suit led, as the player after `n` others."""
    below = mine & (1 << best) - 1
    above = mine & -1 << best
    if keen != NOBODY:
        if keen == turn:
            if not above:
                return _lowest(mine)
            return _lowest(above) if n == 3 else mine.bit_length() - 1
        if keen == winner and cost and cost < 13 and above and not mine & QUEEN_BIT:
            return above.bit_length() - 1
    if led == SPADES:
        if mine & QUEEN_BIT:
            if best > QUEEN:
                return QUEEN
            mine ^= QUEEN_BIT
            below &= ~QUEEN_BIT
        elif cost < 13 and n < 3 and out & QUEEN_BIT:
            safe = mine & QUEEN_BIT - 1
            return safe.bit_length() - 1 if safe else _lowest(mine)
    elif omnibus and led == DIAMONDS:
        if has_jack:
            if above and cost < 10 and (n == 3 or above > 2 * JACK_BIT):
                return above.bit_length() - 1
        elif mine & JACK_BIT:
            if n == 3 and best < JACK and cost < 10:
                return JACK
            mine ^= JACK_BIT
            below &= ~JACK_BIT
    if n == 3 and not cost:
        return mine.bit_length() - 1
    if below:
        return below.bit_length() - 1
    if n == 3:
        return mine.bit_length() - 1
    if not cost and (out & IN_SUIT[led] & ~mine).bit_count() >= 3 * (3 - n):
        return mine.bit_length() - 1
    return _lowest(mine)


def _discard(hand: Mask, out: Mask, turn: int, winner: int, keen: int, omnibus: bool) -> int:
    """A card out of `hand`, for a player void in the suit led."""
    if keen != NOBODY:
        if keen == turn:
            return _weakest(hand & ~COSTLY or hand)
        if keen == winner:
            hand = hand & ~COSTLY or hand
    if hand & QUEEN_BIT:
        return QUEEN
    if hand & BIG_SPADES and out & QUEEN_BIT:
        return (hand & BIG_SPADES).bit_length() - 1
    if omnibus:
        hand = hand & ~JACK_BIT or hand
    worst = -99
    card = 0
    for suit in SUITS:
        mine = hand & IN_SUIT[suit]
        if mine:
            high = mine.bit_length() - 1
            danger = high - 13 * suit - mine.bit_count()
            if suit == HEARTS:
                danger += 4
            if danger > worst:
                worst = danger
                card = high
    return card


def _lead(hand: Mask, others: Mask, turn: int, keen: int) -> int:
    """A card out of `hand` to lead."""
    if keen == turn:
        card = 0
        best = -99
        for suit in SUITS:
            mine = hand & IN_SUIT[suit]
            if mine:
                high = mine.bit_length() - 1
                value = (
                    (mine & -1 << (others & IN_SUIT[suit]).bit_length()).bit_count() * 20 + high - 13 * suit
                )
                if value > best:
                    best = value
                    card = high
        return card
    card = 0
    least = 99.0
    for suit in SUITS:
        mine = hand & IN_SUIT[suit]
        if mine:
            low = mine & -mine
            out = others & IN_SUIT[suit]
            if not out:
                danger = 20.0
            else:
                under = (out & low - 1).bit_count()
                danger = under / out.bit_count() * 10
                if suit == SPADES and others & QUEEN_BIT and not mine & BIG_SPADES:
                    danger -= 5
                elif suit == SPADES and mine & QUEEN_BIT:
                    danger += 5
            if danger < least:
                least = danger
                card = low.bit_length() - 1
    return card


def _lowest(mask: Mask) -> int:
    return (mask & -mask).bit_length() - 1


def _weakest(hand: Mask) -> int:
    """The card of the lowest rank, of any suit."""
    lowest = [_lowest(hand & cards) for cards in IN_SUIT if hand & cards]
    return min(lowest, key=lambda card: card % 13)
