"""Thousands of random hands, move by move beside OpenSpiel's `hearts`: what is legal, and what it scores.

There the same game is one hand: a pass direction, 52 cards dealt one by one, three single cards passed by
each seat in turn, and plays. These are all the differences there are, and nothing else is excused:

1.  There any heart played breaks hearts, so also one led from an all-hearts hand and one that follows it.
    Here only a heart that its player, void in the suit led, discards. So a leader there may lead hearts
    where here it may not.
2.  There the last trick is four moves without a choice; here it plays itself.
3.  There the jack of diamonds has no part in a moon: with it the shooter has −10, without it still a moon.
    Here an omnibus moon needs the jack and scores 0; 26 points without it are just 26.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pyspiel
import pytest

from heartroom.cards import HEARTS, Card
from heartroom.games.hearts import deck, rules
from heartroom.games.hearts.deck import HEART_CARDS, HEIGHT, SUIT_OF
from heartroom.games.hearts.rules import PASSING, PLAYING, State, Table

from .table import SEED


def theirs(card: Card) -> int:
    return (HEIGHT[card] - 1) * 4 + SUIT_OF[card]


OURS = {theirs(card): card for card in range(52)}


def lockstep(game: Any, omnibus: bool, number: int, rng: random.Random, shy: bool) -> Counter[str]:
    """One random hand in both, compared at every decision. `shy`: whoever can keeps its hearts, so that
    they stay unbroken for long."""
    seen: Counter[str] = Counter()
    order = list(range(52))
    rng.shuffle(order)
    them = game.new_initial_state()
    them.apply_action(rules.pass_offset(number))
    for card in order:
        them.apply_action(theirs(card))
    hands = tuple(deck.mask(order[seat::4]) for seat in range(4))
    us = rules.begin_hand(Table(100, omnibus, SEED), number, hands, (), (0, 0, 0, 0))

    for seat in range(4) if us.phase == PASSING else ():
        chosen = rng.sample(deck.cards(us.hands[seat]), 3)
        for nth, card in enumerate(chosen):
            assert them.current_player() == seat
            still = us.hands[seat] & ~deck.mask(chosen[:nth])
            assert [OURS[action] for action in them.legal_actions()] == sorted(
                deck.cards(still), key=lambda c: (HEIGHT[c], SUIT_OF[c])
            )
            them.apply_action(theirs(card))
        us = rules.pass_cards(us, seat, tuple(chosen))

    any_heart = False
    while us.phase == PLAYING:
        assert them.current_player() == us.turn
        legal = deck.mask(OURS[action] for action in them.legal_actions())
        if any_heart and not us.broken and not us.trick:
            legal = legal & ~HEART_CARDS or legal  # difference 1
            seen["unbroken here, broken there"] += 1
        assert legal == us.legal
        seen["decisions"] += 1
        choice = deck.cards(us.legal & ~HEART_CARDS or us.legal if shy else us.legal)
        card = rng.choice(choice)
        any_heart = any_heart or SUIT_OF[card] == HEARTS
        them.apply_action(theirs(card))
        us = rules.play(us, us.turn, card)
    for card in us.tricks[-1][2:]:  # difference 2
        assert them.legal_actions() == [theirs(card)]
        them.apply_action(theirs(card))

    assert them.is_terminal()
    assert expected_points(them, us, omnibus) == list(us.sheet[0].points)
    seen["moons"] += us.sheet[0].moon is not None
    return seen


def expected_points(them: Any, us: State, omnibus: bool) -> list[int]:
    points = [26 - int(value) for value in them.returns()]
    if omnibus and 26 in us.penalty:  # difference 3
        shooter = us.penalty.index(26)
        if us.jack == shooter:
            assert points == [-10 if seat == shooter else 26 for seat in range(4)]
            points[shooter] = 0
        else:
            assert points == [0 if seat == shooter else 16 if seat == us.jack else 26 for seat in range(4)]
            points = [26 if seat == shooter else -10 if seat == us.jack else 0 for seat in range(4)]
    return points


@pytest.mark.parametrize("omnibus", [False, True])
@pytest.mark.parametrize("shy", [False, True])
def test_the_rules_are_openspiels_but_for_three_differences(omnibus: bool, shy: bool) -> None:
    game = pyspiel.load_game("hearts", {"qs_breaks_hearts": False, "jd_bonus": omnibus})
    rng = random.Random(f"{omnibus} {shy}")
    seen: Counter[str] = Counter()
    for number in range(1, 1001):
        seen += lockstep(game, omnibus, number, rng, shy)
    assert seen["decisions"] == 1000 * 48
    if shy:
        assert seen["unbroken here, broken there"] > 20


MOONSHOT = (range(13), range(13, 26), range(26, 39), range(39, 52))
"""Seat 0 has all the clubs, seat 1 all the diamonds, …: seat 0 takes every trick."""


@pytest.mark.parametrize("omnibus", [False, True])
@pytest.mark.parametrize("jack_at", [0, 1])
def test_moons_too(omnibus: bool, jack_at: int) -> None:
    """Moons are rare at random, so here is one, with the jack of diamonds taken by the shooter or (swapped
    with the ace of clubs, which takes the first trick) by another."""
    game = pyspiel.load_game("hearts", {"qs_breaks_hearts": False, "jd_bonus": omnibus})
    rng = random.Random(jack_at)
    hands = [list(held) for held in MOONSHOT]
    if jack_at:
        hands[0].remove(0)
        hands[0].append(deck.JACK_OF_DIAMONDS)
        hands[1].remove(deck.JACK_OF_DIAMONDS)
        hands[1].append(0)
    seen = 0
    for _ in range(40):
        them = game.new_initial_state()
        them.apply_action(0)
        for card in (card for four in zip(*hands, strict=True) for card in four):
            them.apply_action(theirs(card))
        us = rules.begin_hand(Table(100, omnibus, SEED), 4, tuple(map(deck.mask, hands)), (), (0, 0, 0, 0))
        while us.phase == PLAYING:
            card = rng.choice(deck.cards(us.legal))
            them.apply_action(theirs(card))
            us = rules.play(us, us.turn, card)
        for card in us.tricks[-1][2:]:
            them.apply_action(theirs(card))
        assert expected_points(them, us, omnibus) == list(us.sheet[0].points)
        seen += 26 in us.penalty
    assert seen or jack_at
