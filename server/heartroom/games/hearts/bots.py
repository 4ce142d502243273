"""The bots: what to do in a seat, given what the seat may see and a seed.

Owns the levels and their judgement. A bot is a pure function of its seat's *view* (`view.FIELDS`), so it
cannot know more than a person there; it gets no state. It is always legal and, for one view, seat and
seed, always the same.

    easy   a beginner: ducks, throws off what costs, forgets what was played, and slips now and then
    good   counts cards and suits; draws hands the others may hold that agree with all it saw, plays each
           of its cards to the end of the hand in each of them, and takes what costs least on average
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, Final, NamedTuple

from heartroom.cards import CLUBS, DIAMONDS, HEARTS, SPADES, SUITS, Card
from heartroom.games.game import Action

from . import deck
from .chance import Dice
from .deck import (
    ALL_POINTS,
    HEIGHT,
    JACK_OF_DIAMONDS,
    PENALTY,
    SUIT_MASK,
    SUIT_OF,
    Mask,
    cards,
)
from .knowledge import Knowledge, infer
from .rollout import NOBODY, PLAIN, STRONG, Position, by_strength, playout
from .rules import PASSING, SCORED
from .view import FIELD
from .worlds import Worlds

View = Sequence[Any]
"""A view of Hearts; tuples may have become lists on their way."""


class Seen(NamedTuple):
    """What a bot goes by: its seat's view, put in order."""

    known: Knowledge
    number: int
    """The hand's number."""
    pass_offset: int
    omnibus: bool
    penalty: tuple[int, ...]
    """What each seat has taken in hearts and the queen of spades."""
    jack: int
    """Who has taken the jack of diamonds, or `NOBODY`."""

    @classmethod
    def through(cls, view: View, seat: int) -> Seen:
        """What `view`, the view of `seat`, shows."""
        offset = view[FIELD["pass_offset"]]
        given = view[FIELD[f"pass{seat}"]] or ()
        tricks = [tuple(trick) for trick in view[FIELD["trick1"] : FIELD["trick13"] + 1] if trick]
        under_way = tricks.pop() if tricks and len(tricks[-1]) < 6 else ()
        hand = deck.mask(view[FIELD[f"hand{seat}"]])
        penalty = [0] * 4
        jack = NOBODY
        for _, winner, *played in tricks:
            penalty[winner] += sum(PENALTY[card] for card in played)
            if JACK_OF_DIAMONDS in played:
                jack = winner
        known = infer(seat, hand, tricks, under_way, seat + offset & 3, given)
        return cls(
            known, view[FIELD["hand_number"]], offset, bool(view[FIELD["omnibus"]]), tuple(penalty), jack
        )


def choose(level: str, view: View, seat: int, seed: str) -> Action:
    """What a bot of `level` (one of `LEVELS`) does in `seat`, for which the game is waiting.

    Raises `KeyError` for a level there is not, `ValueError` if the seat has nothing to do.
    """
    player = LEVELS[level]
    if seat not in view[FIELD["to_act"]]:
        raise ValueError(f"seat {seat} has nothing to do")
    phase = view[FIELD["phase"]]
    if phase == SCORED:
        return ("next",)
    seen = Seen.through(view, seat)
    dice = Dice(f"{seed} {level} {seat} {seen.number} {len(seen.known.tricks)} {len(seen.known.trick)}")
    if phase == PASSING:
        return ("pass", *sorted(player.pass_cards(seen, dice)))
    if view[FIELD["may_claim"]] and _wants_the_rest(seen):
        return ("claim",)
    legal = tuple(view[FIELD["legal"]])
    return ("play", legal[0] if len(legal) == 1 else player.play(seen, legal, dice))


def _wants_the_rest(seen: Seen) -> bool:
    """Whether taking all that is left costs nothing, or makes a moon."""
    seat = seen.known.seat
    left = ALL_POINTS - sum(seen.penalty)
    moon = seen.penalty[seat] + left == ALL_POINTS and (not seen.omnibus or seen.jack in (seat, NOBODY))
    return not left or moon


# --- easy ---------------------------------------------------------------------------------------------

_SLIP: Final = 20
"""Of a hundred cards that *easy* plays, how many it just picks."""


def _easy_pass(seen: Seen, dice: Dice) -> Sequence[Card]:
    hand = list(cards(seen.known.hand))
    dice.shuffle(hand)
    hand.sort(key=lambda card: HEIGHT[card], reverse=True)
    return hand[:3]


def _easy_play(seen: Seen, legal: Sequence[Card], dice: Dice) -> Card:
    choice = list(legal)
    dice.shuffle(choice)
    if dice.below(100) < _SLIP:
        return choice[0]
    trick = seen.known.trick
    if not trick:
        return min(choice, key=lambda card: HEIGHT[card])
    led = SUIT_OF[trick[2]]
    if SUIT_OF[choice[0]] != led:
        return max(choice, key=lambda card: (PENALTY[card], HEIGHT[card]))
    to_beat = max(HEIGHT[card] for card in trick[2:] if SUIT_OF[card] == led)
    under = [card for card in choice if HEIGHT[card] < to_beat]
    if under:
        return max(under, key=lambda card: (PENALTY[card], HEIGHT[card]))
    return min(choice, key=lambda card: (PENALTY[card] > 1, HEIGHT[card]))


# --- good ---------------------------------------------------------------------------------------------

_PLAYS: Final = 16_000
"""About how many cards *good* plays out in its head before it plays one."""
_WORLDS: Final = range(12, 60)
"""In how many guessed deals it does so, at least and at most."""


def _good_pass(seen: Seen, dice: Dice) -> Sequence[Card]:
    return _worst_three(seen.known.hand)


def _worst_three(hand: Mask) -> Sequence[Card]:
    return max(combinations(cards(hand), 3), key=lambda three: _relief(hand, three))


def _relief(hand: Mask, three: Sequence[Card]) -> float:
    """How good it is for `hand` to be rid of these three cards."""
    left = hand & ~deck.mask(three)
    return _threat(hand) - _threat(left)


def _threat(hand: Mask) -> float:
    """What a hand may come to cost, by feel: high cards with too few low ones under them."""
    total = 0.0
    for suit in SUITS:
        mine = cards(hand & SUIT_MASK[suit])
        heights = [HEIGHT[card] for card in mine]
        if suit == SPADES:
            low = sum(height < 11 for height in heights)
            guard = max(0, 4 - low)
            total += (11 in heights) * (3 + 3.0 * guard)
            total += (12 in heights) * (0.5 + 1.5 * guard) + (13 in heights) * (0.5 + 2 * guard)
            continue
        for place, height in enumerate(heights):
            # the place-th lowest card is fairly safe if it is low for its place
            over = height - (1 + 2.5 * place)
            if over > 0:
                total += over * (0.5 if suit == HEARTS else 0.4) * (1 if place < 4 else 0.5)
        if suit in (CLUBS, DIAMONDS) and not mine:
            total -= 3
    return total


def _good_play(seen: Seen, legal: Sequence[Card], dice: Dice) -> Card:
    known = seen.known
    seat = known.seat
    choice = _distinct(known, legal)
    if len(choice) == 1:
        return choice[0]
    numbers = [STRONG[card] for card in choice]
    own = by_strength(known.hand)
    left = sum(known.sizes)
    count = min(max(_PLAYS // (len(choice) * left), _WORLDS.start), _WORLDS.stop)
    possible = [by_strength(mask) for mask in known.possible]
    worlds = Worlds(seat, known.sizes, possible, by_strength(known.unseen))
    trick = tuple(STRONG[card] for card in known.trick[2:])
    costs = [0.0] * len(choice)
    for _ in range(count):
        hands = worlds.draw(dice)
        hands[seat] = own
        position = Position(
            tuple(hands), seat, trick, not known.tricks, known.broken, seen.penalty, seen.jack, seen.omnibus
        )
        for at, number in enumerate(numbers):
            result = playout(position, number)
            costs[at] += result[seat]
    return choice[min(range(len(choice)), key=lambda at: costs[at])]


def _distinct(known: Knowledge, legal: Sequence[Card]) -> list[Card]:
    """`legal` without cards that do the same as another: the next lower of the suit, with nothing in
    between that is still to be played or on the table."""
    between = known.unseen | deck.mask(known.trick[2:])
    found: list[Card] = []
    for card in sorted(legal, key=lambda card: STRONG[card]):
        if found:
            last = found[-1]
            same = SUIT_OF[last] == SUIT_OF[card] and PENALTY[last] == PENALTY[card]
            gap = [PLAIN[number] for number in range(STRONG[last] + 1, STRONG[card])]
            if same and JACK_OF_DIAMONDS not in (last, card) and not any(between >> c & 1 for c in gap):
                found[-1] = card
                continue
        found.append(card)
    return found


class Level(NamedTuple):
    """How a level passes and plays; both get cards it may choose from and dice."""

    pass_cards: Callable[[Seen, Dice], Sequence[Card]]
    play: Callable[[Seen, Sequence[Card], Dice], Card]


LEVELS: Final[Mapping[str, Level]] = {
    "easy": Level(_easy_pass, _easy_play),
    "good": Level(_good_pass, _good_play),
}
"""The levels by name."""
