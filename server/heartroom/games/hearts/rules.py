"""The rules of Hearts: states and what each action makes of them.

Owns phases, legal plays, tricks, breaking, scores, the moon, and the end of hand and game. Knows no
viewer (that is `view.py`), no bot, no clock. A state is immutable; every function returns a new one.

The rules follow `docs/rules/hearts.md`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from heartroom.cards import HEARTS, Card
from heartroom.games.game import Refused

from . import claim, deck
from .deck import (
    ALL_POINTS,
    HEART_CARDS,
    HEIGHT,
    JACK_BONUS,
    JACK_OF_DIAMONDS,
    PENALTY,
    POINT_CARDS,
    SEATS,
    SUIT_MASK,
    SUIT_OF,
    TWO_OF_CLUBS,
    Mask,
)
from .knowledge import Knowledge, Trick, infer

Phase = int
PASSING: Final[Phase] = 0
"""Every seat chooses three cards to give away, in any order, unseen."""
PLAYING: Final[Phase] = 1
SCORED: Final[Phase] = 2
"""The hand is over and its score on the sheet; the next is dealt when every seat has said `next`."""
OVER: Final[Phase] = 3
"""The game is over."""

PASS_SIZE: Final = 3
NOBODY: Final = -1
_NONE: Final = (0, 0, 0, 0)
_NO_PASSES: Final[tuple[tuple[Card, ...], ...]] = ((), (), (), ())
_ONLY: Final = ((0,), (1,), (2,), (3,))
_new: Final = tuple.__new__
_FULL: Final = 6
"""The length of a trick with four cards."""

Four = tuple[int, ...]
"""One number a seat."""


class Table(NamedTuple):
    """What stays the same for a whole game."""

    target: int
    """The total that ends the game, at the end of the hand in which somebody reaches it."""
    omnibus: bool
    """Whether the jack of diamonds counts -10 (and belongs to the moon)."""
    seed: bytes
    """32 bytes from which all hands are dealt. Secret."""


class Score(NamedTuple):
    """One line of the score sheet, as everybody is shown it: flat, so that it is made once."""

    points0: int
    points1: int
    points2: int
    points3: int
    moon: int | None
    """Who shot the moon."""

    @property
    def points(self) -> Four:
        """By seat."""
        return self[:4]


class State(NamedTuple):
    """A game at one moment. Masks are sets of cards (`deck.Mask`)."""

    table: Table
    sheet: tuple[Score, ...]
    """The hands that are over, the first first."""
    totals: Four
    number: int
    """Which hand of the game this is, from 1."""
    phase: Phase
    hands: tuple[Mask, ...]
    passes: tuple[tuple[Card, ...], ...]
    """The three cards each seat has passed in this hand, as a hand is held; `()` before it has."""
    ready: Mask
    """`SCORED`: bit s is set once seat s has said `next`."""
    turn: int
    """`PLAYING`: the seat to play, else `NOBODY`."""
    legal: Mask
    """`PLAYING`: the cards that seat may play."""
    broken: bool
    """Whether somebody void in the led suit has discarded a heart in this hand."""
    trick: Trick
    """The trick under way, `()` before its lead."""
    tricks: tuple[Trick, ...]
    """The finished tricks of the hand."""
    took: Four
    """Tricks each seat has taken."""
    penalty: Four
    """Points each seat has taken in hearts and the queen of spades."""
    jack: int
    """Who has taken the jack of diamonds, or `NOBODY`."""
    claimed: tuple[int, Mask] | None
    """Who claimed the rest of the hand, and the cards it laid open."""


def pass_offset(number: int) -> int:
    """How many seats to the left cards go in hand `number` (1, 2, …): 1 left, 3 right, 2 across, 0 none."""
    return (0, 1, 3, 2)[number & 3]


def begin(table: Table) -> State:
    """The first hand of a game, dealt."""
    return begin_hand(table, 1, deck.deal(table.seed, 1), (), (0, 0, 0, 0))


def begin_hand(
    table: Table, number: int, hands: tuple[Mask, ...], sheet: tuple[Score, ...], totals: Four
) -> State:
    """Hand `number` of a game, with these four hands dealt, after the hands of `sheet`."""
    state = State(
        table=table,
        sheet=sheet,
        totals=totals,
        number=number,
        phase=PASSING,
        hands=hands,
        passes=_NO_PASSES,
        ready=0,
        turn=NOBODY,
        legal=0,
        broken=False,
        trick=(),
        tricks=(),
        took=_NONE,
        penalty=_NONE,
        jack=NOBODY,
        claimed=None,
    )
    return state if pass_offset(number) else _first_lead(state)


def to_act(state: State) -> tuple[int, ...]:
    """The seats the game is waiting for: one while playing, any number while passing or scored."""
    if state.phase == PLAYING:
        return _ONLY[state.turn]
    if state.phase == PASSING:
        return tuple(seat for seat in SEATS if not state.passes[seat])
    if state.phase == SCORED:
        return tuple(seat for seat in SEATS if not state.ready >> seat & 1)
    return ()


def pass_cards(state: State, seat: int, cards: tuple[Card, ...]) -> State:
    """`seat` chooses `cards` to give away; final. The fourth to do so uncovers all the passes at once.

    Raises `Refused`: `game_over`, `wrong_phase`, `already_passed`, `pass_three` (too few, too many or one
    twice) or `not_in_hand`.
    """
    _check(state, PASSING)
    if state.passes[seat]:
        raise Refused("already_passed")
    given = deck.mask(cards)
    if len(cards) != PASS_SIZE or given.bit_count() != PASS_SIZE:
        raise Refused("pass_three")
    if given & ~state.hands[seat]:
        raise Refused("not_in_hand")
    passes = (*state.passes[:seat], deck.cards(given), *state.passes[seat + 1 :])
    if () in passes:
        return state._replace(passes=passes)
    offset = pass_offset(state.number)
    masks = [deck.mask(passed) for passed in passes]
    hands = tuple(state.hands[s] & ~masks[s] | masks[s - offset & 3] for s in SEATS)
    return _first_lead(state._replace(passes=passes, hands=hands))


def _first_lead(state: State) -> State:
    """The hand's play begins: whoever holds the two of clubs leads it."""
    two = 1 << TWO_OF_CLUBS
    leader = next(seat for seat in SEATS if state.hands[seat] & two)
    return state._replace(phase=PLAYING, turn=leader, legal=two)


def may_lead(hand: Mask, broken: bool) -> Mask:
    """What `hand` may lead to any trick but the first: hearts only once broken, or if it has nothing else
    (so with hearts and the queen of spades it is the queen)."""
    return hand if broken else hand & ~HEART_CARDS or hand


def may_follow(hand: Mask, led: int, first: bool) -> Mask:
    """What `hand` may play when suit `led` was led: that suit; without it anything, but to the first trick
    no point card, unless it has only such."""
    follow = hand & SUIT_MASK[led]
    if follow:
        return follow
    return hand & ~POINT_CARDS or hand if first else hand


def play(state: State, seat: int, card: Card) -> State:
    """`seat` plays `card`. The last trick of a hand then plays itself.

    Raises `Refused`: `game_over`, `wrong_phase`, `not_your_turn`, `not_in_hand`, or what `why` says.
    """
    if seat != state.turn:
        _check(state, PLAYING)
        raise Refused("not_your_turn")
    bit = 1 << card
    if not state.legal & bit:
        raise Refused(why(state) if state.hands[seat] & bit else "not_in_hand")
    # Taken apart and put together by position: by name costs a third of the time of a whole hand.
    table, sheet, totals, number, _, hands, passes, _, _, _, broken, trick, tricks, took, penalty, jack, _ = (
        state
    )
    hands = _with(hands, seat, hands[seat] ^ bit)
    if trick:
        leader, winning, first = trick[:3]
        led = SUIT_OF[first]
        if SUIT_OF[card] != led:
            broken = broken or SUIT_OF[card] == HEARTS
        elif HEIGHT[card] > HEIGHT[trick[2 + (winning - leader & 3)]]:
            winning = seat
        trick = (leader, winning, *trick[2:], card)
        if len(trick) == _FULL:
            return _finish_trick(state, hands, broken, trick)
    else:
        led = SUIT_OF[card]
        trick = (seat, seat, card)
    turn = seat + 1 & 3
    legal = may_follow(hands[turn], led, not tricks)
    return _new(
        State,
        (table, sheet, totals, number, PLAYING, hands, passes, 0, turn, legal, broken, trick, tricks, took,
         penalty, jack, None),
    )  # fmt: skip


def _finish_trick(state: State, hands: tuple[Mask, ...], broken: bool, trick: Trick) -> State:
    table, sheet, totals, number, _, _, passes, _, _, _, _, _, tricks, took, penalty, jack, _ = state
    winner = trick[1]
    cards = trick[2:]
    cost = sum([PENALTY[card] for card in cards])
    if cost:
        penalty = _plus(penalty, winner, cost)
    if JACK_OF_DIAMONDS in cards:
        jack = winner
    legal = may_lead(hands[winner], broken)
    led = _new(
        State,
        (table, sheet, totals, number, PLAYING, hands, passes, 0, winner, legal, broken, (), (*tricks, trick),
         _plus(took, winner, 1), penalty, jack, None),
    )  # fmt: skip
    if not legal:
        return _score(led)
    if len(tricks) == deck.HAND_SIZE - 2:
        for _ in SEATS:
            led = play(led, led.turn, deck.lone(led.legal))
    return led


def claim_rest(state: State, seat: int) -> State:
    """`seat`, whose turn it is, lays down its cards and takes all remaining tricks, with all cards that
    are still out. Only `seat`'s cards are shown.

    Raises `Refused`: `game_over`, `wrong_phase`, `not_your_turn`, or `cannot_claim` if what the seat itself
    knows does not prove it (see `claim.py`), whatever the others really hold.
    """
    _check(state, PLAYING)
    if seat != state.turn:
        raise Refused("not_your_turn")
    if not can_claim(state, seat):
        raise Refused("cannot_claim")
    return _score(
        state._replace(
            hands=_NONE,
            took=_plus(state.took, seat, deck.HAND_SIZE - len(state.tricks)),
            penalty=_plus(state.penalty, seat, ALL_POINTS - sum(state.penalty)),
            jack=seat if state.jack == NOBODY else state.jack,
            claimed=(seat, state.hands[seat]),
        )
    )


def can_claim(state: State, seat: int) -> bool:
    """Whether what `seat`, on turn, knows proves that all remaining tricks are its own."""
    hand = state.hands[seat]
    out = sum(state.hands) - hand  # all that it neither holds nor has seen played
    return claim.thinkable(hand, out, state.trick) and claim.provable(known(state, seat))


def say_next(state: State, seat: int) -> State:
    """`seat` has seen the score; when all four have, the next hand is dealt.

    Raises `Refused`: `game_over`, `wrong_phase` or `already_ready`.
    """
    _check(state, SCORED)
    if state.ready >> seat & 1:
        raise Refused("already_ready")
    ready = state.ready | 1 << seat
    if ready != 0b1111:
        return state._replace(ready=ready)
    number = state.number + 1
    return begin_hand(state.table, number, deck.deal(state.table.seed, number), state.sheet, state.totals)


def why(state: State) -> str:
    """Why the player on turn may not play the cards of its hand that are not legal (there is one reason
    for all of them): `must_follow`, `must_lead_two_of_clubs`, `no_points_on_first_trick`,
    `hearts_not_broken`; `""` if there are none."""
    if state.phase != PLAYING or state.hands[state.turn] == state.legal:
        return ""
    if not state.trick:
        return "hearts_not_broken" if state.tricks else "must_lead_two_of_clubs"
    if state.legal & SUIT_MASK[SUIT_OF[state.trick[2]]]:
        return "must_follow"
    return "no_points_on_first_trick"


def known(state: State, seat: int) -> Knowledge:
    """What `seat` knows about all the cards, from its own and the table."""
    offset = pass_offset(state.number)
    return infer(seat, state.hands[seat], state.tricks, state.trick, seat + offset & 3, state.passes[seat])


def points(state: State) -> Four:
    """What each seat's cards taken in this hand come to so far, a moon aside."""
    bonus = state.jack if state.table.omnibus else NOBODY
    return state.penalty if bonus == NOBODY else _plus(state.penalty, bonus, JACK_BONUS)


def score(state: State) -> Score:
    """The score of a hand whose tricks are all taken.

    A moon is all 26 points in one hand, and in omnibus the jack of diamonds too (its -10 is then
    absorbed): 0 for the shooter, 26 for each other. Thirteen hearts and the queen split between two
    players are no moon, nor is anything less.
    """
    omnibus = state.table.omnibus
    for seat in SEATS:
        if state.penalty[seat] == ALL_POINTS and (not omnibus or state.jack == seat):
            return Score._make((*_with((ALL_POINTS,) * 4, seat, 0), seat))
    return Score._make((*points(state), None))


def _score(state: State) -> State:
    """The hand is over: on the sheet with it, and the game too if a total has reached the target."""
    line = score(state)
    totals = tuple(a + b for a, b in zip(state.totals, line.points, strict=True))
    over = max(totals) >= state.table.target
    return state._replace(
        phase=OVER if over else SCORED,
        sheet=(*state.sheet, line),
        totals=totals,
        turn=NOBODY,
        legal=0,
        ready=0,
    )


def winners(state: State) -> tuple[int, ...]:
    """The seats with the lowest total once the game is over, all that share it; before that, nobody."""
    if state.phase != OVER:
        return ()
    lowest = min(state.totals)
    return tuple(seat for seat in SEATS if state.totals[seat] == lowest)


def _check(state: State, phase: Phase) -> None:
    if state.phase != phase:
        raise Refused("game_over" if state.phase == OVER else "wrong_phase")


def _with(four: Four, seat: int, value: int) -> Four:
    changed = list(four)
    changed[seat] = value
    return tuple(changed)


def _plus(four: Four, seat: int, more: int) -> Four:
    return _with(four, seat, four[seat] + more)
