"""Makes the positions of Learn Hearts from the real rules.

The client knows no rules: what may be played in a lesson, why not, and what comes of it are views as the
server would send them to seat 0, written down here. From the repository's root:

    PYTHONPATH=server python client/scripts/hearts-lessons.py > client/games/hearts/learn/positions.js

A scene is a position of a game that beginners play, searched for by what it is to show; the same at every run.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from heartroom.cards import CLUBS, DIAMONDS, HEARTS, SPADES, card, rank, suit
from heartroom.games.hearts import deck, rules
from heartroom.games.hearts.game import HEARTS as GAME
from heartroom.games.hearts.rules import OVER, PASSING, PLAYING, SCORED, State, Table

READER = 0
QUEEN = card(12, SPADES)
JACK = card(11, DIAMONDS)
TARGET = 100

Scene = dict[str, Any]


def table(number: int, *, omnibus: bool = False) -> Table:
    return Table(TARGET, omnibus, number.to_bytes(32, "big"))


def view(state: State) -> tuple[Any, ...]:
    return GAME.view(state, READER)


def act(state: State, seat: int) -> State:
    """`state` after what `seat` does, who plays like a beginner: gives away high cards, stays low when following
    suit, and discards what costs."""
    if state.phase == PASSING:
        worst = sorted(deck.cards(state.hands[seat]), key=lambda c: (cost(c), deck.HEIGHT[c]))[-3:]
        return rules.pass_cards(state, seat, tuple(sorted(worst)))
    legal = deck.cards(state.legal)
    void = bool(state.trick) and suit(legal[0]) != led(state)
    best = max if void else min
    return rules.play(state, seat, best(legal, key=lambda c: (cost(c), deck.HEIGHT[c])))


def cost(c: int) -> int:
    return deck.PENALTY[c]


def hand(state: State) -> tuple[int, ...]:
    return deck.cards(state.hands[READER])


def led(state: State) -> int:
    return suit(state.trick[2])


def diff(before: State, after: State) -> list[Any]:
    a, b = view(before), view(after)
    return [x for i in range(len(a)) if a[i] != b[i] for x in (i, b[i])]


def games(*, omnibus: bool = False) -> Iterator[State]:
    """Positions in which it is the reader's turn, of one game after another."""
    for number in range(1, 20_000):
        state = rules.begin(table(number, omnibus=omnibus))
        while state.phase in (PASSING, PLAYING):
            for seat in rules.to_act(state):
                if state.phase == PLAYING and seat == READER:
                    yield state
                state = act(state, seat)
    raise SystemExit("no such position")


def find(fits: Callable[[State], bool], *, omnibus: bool = False) -> State:
    return next(state for state in games(omnibus=omnibus) if fits(state))


def to_the_end_of_the_trick(state: State, card_played: int) -> list[State]:
    """The positions from the reader's play until the trick is taken."""
    n = len(state.tricks)
    states = [GAME.apply(state, READER, ("play", card_played))]
    while len(states[-1].tricks) == n and states[-1].phase == PLAYING:
        states.append(act(states[-1], states[-1].turn))
    return states


def diffs(first: State, states: list[State]) -> list[list[Any]]:
    return [diff(a, b) for a, b in zip([first, *states], states, strict=False)]


def choice(state: State) -> Scene:
    """The reader is to play: what comes of each card that may be played."""
    legal = deck.cards(state.legal)
    return {
        "start": view(state),
        "then": {str(c): diffs(state, to_the_end_of_the_trick(state, c)) for c in legal},
    }


def watched(state: State, states: list[State]) -> Scene:
    """Something to be looked at."""
    return {"start": view(state), "watch": diffs(state, states)}


def passing() -> Scene:
    """Before the first hand: the cards that the others pass do not depend on the reader's."""
    for number in range(1, 20_000):
        state = rules.begin(table(number))
        mine = hand(state)
        suits = [sum(suit(c) == s for c in mine) for s in range(4)]
        if QUEEN not in mine or card(13, HEARTS) not in mine or min(suits) > 2 or suits[SPADES] > 4:
            continue
        others = state
        for seat in (1, 2, 3):
            others = act(others, seat)
        given = deck.cards(others.passes[3])
        after = act(others, READER)
        leader = after.turn
        if leader != READER and card(2, CLUBS) not in (*mine, *given):
            return {"start": view(state), "received": given, "leader": leader}
    raise SystemExit("no such hand")


def two_of_clubs(state: State) -> bool:
    return deck.cards(state.legal) == (card(2, CLUBS),) and not state.tricks


def first_trick(state: State) -> bool:
    mine = hand(state)
    hearts = sum(suit(c) == HEARTS for c in mine)
    why = rules.why(state)
    return why == "no_points_on_first_trick" and QUEEN in mine and hearts >= 3 and len(mine) == 13


def follow(state: State) -> bool:
    legal = deck.cards(state.legal)
    return rules.why(state) == "must_follow" and 2 <= len(legal) <= 3 and 8 <= len(hand(state)) <= 10


def void(state: State) -> bool:
    mine = hand(state)
    return (
        bool(state.trick)
        and len(state.tricks) > 2
        and all(suit(c) != led(state) for c in mine)
        and QUEEN in mine
        and any(suit(c) == HEARTS for c in mine)
        and 5 <= len(mine) <= 8
        and led(state) != HEARTS
    )


def who_takes(state: State) -> bool:
    """The reader is the last, may take or duck, and a high card of another suit lies there."""
    if len(state.trick) != 5 or not 6 <= len(hand(state)) <= 9:
        return False
    played = state.trick[2:]
    strays = [c for c in played if suit(c) != led(state)]
    legal = deck.cards(state.legal)
    if not strays or suit(legal[0]) != led(state) or any(suit(c) == HEARTS or c == QUEEN for c in played):
        return False
    highest = max(deck.HEIGHT[c] for c in played if suit(c) == led(state))
    higher = [c for c in legal if deck.HEIGHT[c] > highest]
    return bool(higher) and len(higher) < len(legal) and any(rank(c) in (1, 13) for c in strays)


def costly() -> Scene:
    """Somebody takes the queen and a heart or two."""
    for state in games():
        if state.trick or len(state.tricks) < 3:
            continue
        states = to_the_end_of_the_trick(state, deck.cards(state.legal)[0])
        if states[-1].claimed:
            continue
        trick = states[-1].tricks[len(state.tricks)]
        cards = trick[2:]
        if QUEEN in cards and sum(suit(c) == HEARTS for c in cards) == 2 and trick[1] != READER:
            if states[-1].phase == PLAYING and not any(rules.points(state)):
                return watched(state, states)
    raise SystemExit("no such trick")


def breaking() -> Scene:
    """The reader may not lead hearts; whatever is led instead, somebody breaks them and the reader goes on."""
    for state in games():
        if rules.why(state) != "hearts_not_broken" or not 4 <= len(hand(state)) <= 9:
            continue
        ends = [to_the_end_of_the_trick(state, c)[-1] for c in deck.cards(state.legal)]
        if all(end.broken and end.turn == READER for end in ends):
            return choice(state)
    raise SystemExit("no such lead")


def moon() -> Scene:
    """Seat 2 has what it takes, and takes all."""
    strong = [card(r, HEARTS) for r in (1, 13, 12, 11, 10, 9, 8, 7)]
    strong += [card(1, SPADES), card(13, SPADES), QUEEN, card(1, CLUBS), card(1, DIAMONDS)]
    rest = [c for c in range(52) if c not in strong]
    random.Random(7).shuffle(rest)
    hands = (deck.mask(rest[:13]), deck.mask(rest[13:26]), deck.mask(strong), deck.mask(rest[26:]))
    state = rules.begin_hand(table(1), 4, hands, (), (0, 0, 0, 0))
    states = [state]
    while states[-1].phase == PLAYING:
        state = states[-1]
        best = max(deck.cards(state.legal), key=lambda c: (deck.HEIGHT[c], suit(c)))
        low = min(deck.cards(state.legal), key=lambda c: (suit(c) == HEARTS, deck.HEIGHT[c]))
        states.append(GAME.apply(state, state.turn, ("play", best if state.turn == 2 else low)))
    assert states[-1].sheet[-1].moon == 2, states[-1].sheet
    begin = max(i for i, s in enumerate(states) if len(s.tricks) == 11 and not s.trick)
    return watched(states[begin], states[begin + 1 :])


def running() -> Scene:
    """Totals in the middle of a game. (No sheet: these four are an example, and no sum of whole hands.)"""
    totals = (23, 45, 8, 31)
    hands = deck.deal(bytes(32), 6)
    return {"start": view(rules.begin_hand(table(1), 6, hands, (), totals))}


def end() -> Scene:
    """Player 2 reaches 102, player 3 has the lowest total."""
    wanted = (58, 102, 34, 66)
    before = [(13, 9, 3, 1, None), (0, 26, 26, 26, 0), (1, 19, 2, 4, None), (26, 26, 0, 26, 2), (13, 4, 3, 6, None)]
    sheet = tuple(rules.Score(line[:4], rules.NOBODY if line[4] is None else line[4]) for line in before)
    totals = tuple(sum(line.points[s] for line in sheet) for s in range(4))
    last = tuple(w - t for w, t in zip(wanted, totals, strict=True))
    assert sum(last) == 26 and max(totals) < TARGET, (totals, last)
    for number in range(1, 200_000):
        state = rules.begin_hand(table(1), 6, deck.deal(number.to_bytes(32, "big"), 6), sheet, totals)
        rng = random.Random(number)
        states = [state]
        while states[-1].phase in (PASSING, PLAYING):
            now = states[-1]
            for seat in rules.to_act(now):
                now = (
                    GAME.apply(now, seat, ("pass", *deck.cards(now.hands[seat])[:3]))
                    if now.phase == PASSING
                    else GAME.apply(now, seat, ("play", rng.choice(deck.cards(now.legal))))
                )
            states.append(now)
        if states[-1].sheet[-1].points == last:
            assert states[-1].phase == OVER and rules.winners(states[-1]) == (2,)
            begin = max(i for i, s in enumerate(states) if len(s.tricks) == 11 and not s.trick)
            return watched(states[begin], states[begin + 1 :])
    raise SystemExit("no such hand")


def ducking(state: State) -> bool:
    """The king or ace of spades lies there, and the queen can go under it."""
    if not state.trick or led(state) != SPADES or QUEEN not in deck.cards(state.legal):
        return False
    over = {card(1, SPADES), card(13, SPADES)}
    return bool(over & set(state.trick[2:])) and 2 <= len(deck.cards(state.legal)) <= 4 and len(hand(state)) <= 10


def bonus(state: State) -> bool:
    """The jack of diamonds can be taken."""
    if len(state.trick) != 5 or led(state) != DIAMONDS or JACK not in state.trick[2:]:
        return False
    legal = deck.cards(state.legal)
    mine = {bool(deck.HEIGHT[c] > max(deck.HEIGHT[d] for d in state.trick[2:] if suit(d) == DIAMONDS)) for c in legal}
    return mine == {True, False} and suit(legal[0]) == DIAMONDS and len(hand(state)) <= 11


def main() -> None:
    scenes: dict[str, Scene] = {
        "passing": passing(),
        "twoOfClubs": choice(find(two_of_clubs)),
        "firstTrick": choice(find(first_trick)),
        "following": choice(find(follow)),
        "discarding": choice(find(void)),
        "taking": choice(find(who_takes)),
        "cost": costly(),
        "breaking": breaking(),
        "moon": moon(),
        "scores": running(),
        "end": end(),
        "tips": choice(find(ducking)),
        "omnibus": choice(find(bonus, omnibus=True)),
    }
    print("// Made by scripts/hearts-lessons.py from the rules of the server; not to be edited.")
    print("// By step: `start`, a view; and what comes then, as diffs: by the card played (`then`), or to be watched.")
    print()
    print("/** @type {Record<string, import('./lesson.js').Scene>} */")
    print("export const positions = {")
    for name, scene in scenes.items():
        print(f"  {name}: {json.dumps(scene, separators=(',', ':'))},")
    print("};")


if __name__ == "__main__":
    main()
