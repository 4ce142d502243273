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

from heartroom.cards import HEARTS, SPADES, SUITS, Card
from heartroom.games.game import Action

from . import deck
from .chance import Dice
from .deck import (
    ALL_POINTS,
    HEIGHT,
    JACK_OF_DIAMONDS,
    PENALTY,
    QUEEN_OF_SPADES,
    SUIT_MASK,
    SUIT_OF,
    Mask,
    cards,
)
from .knowledge import Knowledge, infer
from .rollout import NOBODY, QUEEN_BIT, STRONG, Position, by_strength, playout
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
        return cls(known, view[FIELD["hand_number"]], bool(view[FIELD["omnibus"]]), tuple(penalty), jack)


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
    if view[FIELD["may_claim"]] and wants_the_rest(seen):
        return ("claim",)
    legal = tuple(view[FIELD["legal"]])
    return ("play", legal[0] if len(legal) == 1 else player.play(seen, legal, dice))


def wants_the_rest(seen: Seen) -> bool:
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

_PLAYS: Final = 30_000
"""About how many cards *good* plays out in its head before it plays one."""
_FEWEST_WORLDS: Final = 12
_MOST_WORLDS: Final = 120
"""In how many guessed deals it does so."""


def _good_pass(seen: Seen, dice: Dice) -> Sequence[Card]:
    """The three cards without which the hand looks least dangerous."""
    hand = seen.known.hand
    return min(combinations(cards(hand), 3), key=lambda three: _threat(hand & ~deck.mask(three)))


def _threat(hand: Mask) -> float:
    """What a hand may come to cost, by feel: high cards with too few low ones under them."""
    total = 0.0
    for suit in SUITS:
        heights = [HEIGHT[card] for card in cards(hand & SUIT_MASK[suit])]
        if suit == SPADES:
            unguarded = max(0, 4 - sum(height < _QUEEN for height in heights))
            total += sum(a + b * unguarded for height, (a, b) in _BIG_SPADES.items() if height in heights)
        elif heights:
            # the n-th lowest card is fairly safe if it is low for its place
            over = [height - 1 - 2.5 * place for place, height in enumerate(heights)]
            total += sum(max(0, more) * (1 if place < 4 else 0.5) for place, more in enumerate(over)) * (
                0.5 if suit == HEARTS else 0.4
            )
        elif suit != HEARTS:
            total += _VOID
    return total


_VOID: Final = -3
_QUEEN: Final = HEIGHT[QUEEN_OF_SPADES]
_BIG_SPADES: Final = {_QUEEN: (3, 3), _QUEEN + 1: (0.5, 1.5), _QUEEN + 2: (0.5, 2)}
"""What the queen, king and ace threaten, and how much more for each low spade under four."""


def _good_play(seen: Seen, legal: Sequence[Card], dice: Dice) -> Card:
    """The card that costs least over guessed deals that agree with all that was seen."""
    known = seen.known
    seat = known.seat
    choice = _distinct(known, legal)
    if len(choice) == 1:
        return choice[0]
    numbers = [STRONG[card] for card in choice]
    own = by_strength(known.hand)
    trick = tuple(STRONG[card] for card in known.trick[2:])
    count = _PLAYS // (len(choice) * sum(known.sizes))
    worlds = _guesses(known)
    costs = [0] * len(choice)
    for _ in range(min(max(count, _FEWEST_WORLDS), _MOST_WORLDS)):
        hands = worlds.draw(dice)
        hands[seat] = own
        position = Position(
            tuple(hands), seat, trick, not known.tricks, known.broken, seen.penalty, seen.jack, seen.omnibus
        )
        for at, number in enumerate(numbers):
            costs[at] += playout(position, number)[seat]
    return choice[min(range(len(choice)), key=lambda at: costs[at])]


def _guesses(known: Knowledge) -> Worlds:
    """Deals by strength. Whoever could have thrown the queen of spades on others, and did not, is taken
    not to have it, unless somebody must."""
    possible = [by_strength(mask) for mask in known.possible]
    unseen = by_strength(known.unseen)
    if unseen & QUEEN_BIT:
        without = [mask & ~QUEEN_BIT if s in _spared(known) else mask for s, mask in enumerate(possible)]
        try:
            return Worlds(known.seat, known.sizes, without, unseen)
        except ValueError:
            pass
    return Worlds(known.seat, known.sizes, possible, unseen)


def _spared(known: Knowledge) -> set[int]:
    """The seats that had a chance to throw the queen of spades to another and did something else."""
    found: set[int] = set()
    for nth, trick in enumerate((*known.tricks, known.trick)):
        best = 0
        for place, card in enumerate(trick[2:]):
            led = SUIT_OF[trick[2]]
            if SUIT_OF[card] != led:
                if nth:
                    found.add(trick[0] + place & 3)
                continue
            if led == SPADES and best > HEIGHT[QUEEN_OF_SPADES]:
                found.add(trick[0] + place & 3)
            best = max(best, HEIGHT[card])
    return found


def _distinct(known: Knowledge, legal: Sequence[Card]) -> list[Card]:
    """`legal` without the cards that do the same as the next higher one."""
    apart = by_strength(known.unseen | deck.mask(known.trick[2:]))
    found: list[Card] = []
    for card in sorted(legal, key=lambda card: STRONG[card]):
        if found and _do_the_same(found[-1], card, apart):
            found.pop()
        found.append(card)
    return found


def _do_the_same(lower: Card, higher: Card, apart: Mask) -> bool:
    """Whether two cards of one hand win and cost the same, as none of `apart` (by strength: what the others
    hold and what is on the table) stands between them."""
    between = (1 << STRONG[higher]) - (1 << STRONG[lower])
    return (
        SUIT_OF[lower] == SUIT_OF[higher]
        and PENALTY[lower] == PENALTY[higher]
        and JACK_OF_DIAMONDS not in (lower, higher)
        and not apart & between
    )


class Level(NamedTuple):
    """How a level passes and plays; both get cards it may choose from and dice."""

    pass_cards: Callable[[Seen, Dice], Sequence[Card]]
    play: Callable[[Seen, Sequence[Card], Dice], Card]


LEVELS: Final[Mapping[str, Level]] = {
    "easy": Level(_easy_pass, _easy_play),
    "good": Level(_good_pass, _good_play),
}
"""The levels by name."""
