"""What holds in every state of every game, whatever is played."""

from __future__ import annotations

import json
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heartroom.games.game import Refused, Setup, fold
from heartroom.games.hearts import deck, rules
from heartroom.games.hearts.deck import SEATS
from heartroom.games.hearts.game import HEARTS
from heartroom.games.hearts.knowledge import FULL_DECK
from heartroom.games.hearts.rules import OVER, PASSING, PLAYING, State
from heartroom.games.hearts.view import FIELD

from .table import any_move, hand_over, play_on

setups = st.builds(
    lambda target, omnibus, seed: Setup({"target": target, "omnibus": omnibus}, (seed.hex(),)),
    st.integers(1, 60),
    st.booleans(),
    st.binary(min_size=32, max_size=32),
)
chance = st.integers(0, 1 << 32).map(Random)


def check(state: State) -> None:
    cards_are_conserved(state)
    one_legal_list_for_each_seat_to_act(state)
    totals_add_up(state)


def cards_are_conserved(state: State) -> None:
    where = [*state.hands, *(1 << card for trick in (*state.tricks, state.trick) for card in trick[2:])]
    if state.claimed:
        return
    assert sum(mask.bit_count() for mask in where) == 52
    assert sum(where) == FULL_DECK
    assert sum(state.took) == len(state.tricks)
    assert sum(state.penalty) == sum(deck.PENALTY[card] for trick in state.tricks for card in trick[2:])


def one_legal_list_for_each_seat_to_act(state: State) -> None:
    waiting = rules.to_act(state)
    assert bool(waiting) == (HEARTS.outcome(state) is None)
    for seat in SEATS:
        view = HEARTS.view(state, seat)
        assert view[FIELD["to_act"]] == waiting
        legal = view[FIELD["legal"]]
        assert bool(legal) == (state.phase == PLAYING and seat in waiting)
        for card in view[FIELD[f"hand{seat}"]] if state.phase == PLAYING else ():
            if card in legal:
                HEARTS.apply(state, seat, ("play", card))
            else:
                with pytest.raises(Refused) as refusal:
                    HEARTS.apply(state, seat, ("play", card))
                assert refusal.value.code == (view[FIELD["why"]] if seat in waiting else "not_your_turn")
        assert HEARTS.view(state, None)[FIELD["legal"]] == ()


def totals_add_up(state: State) -> None:
    assert state.totals == tuple(sum(line.points[seat] for line in state.sheet) for seat in SEATS)
    for line in state.sheet:
        assert sum(line.points) in ((78,) if line.moon is not None else (26, 16))
    over = max(state.totals) >= state.table.target
    assert (state.phase == OVER) == over
    assert all(
        max(sum(line.points[seat] for line in state.sheet[:n]) for seat in SEATS) < state.table.target
        for n in range(len(state.sheet))
    )


@settings(max_examples=10, deadline=None)
@given(setups, chance)
def test_every_state_of_a_game(setup: Setup, rng: Random) -> None:
    state, log = play_on(HEARTS.initial(setup), rng, lambda state: state.phase == OVER, check)
    check(state)
    assert rules.winners(state)
    stored = json.loads(json.dumps(log))
    assert fold(HEARTS, setup, ((seat, HEARTS.parse_action(action)) for seat, action in stored)) == state


@settings(max_examples=100, deadline=None)
@given(setups, chance, st.integers(0, 250))
def test_any_part_of_a_log_replays(setup: Setup, rng: Random, moves: int) -> None:
    left = iter(range(moves))
    state, log = play_on(
        HEARTS.initial(setup), rng, lambda state: state.phase == OVER or next(left, None) is None
    )
    assert fold(HEARTS, setup, log) == state


actions = st.one_of(
    st.tuples(st.just("play"), st.integers(0, 51)),
    st.lists(st.integers(0, 51), max_size=5).map(lambda chosen: ("pass", *sorted(chosen))),
    st.sampled_from([("claim",), ("next",)]),
)


@settings(max_examples=200, deadline=None)
@given(setups, chance, st.integers(0, 120), st.integers(0, 3), actions)
def test_whatever_is_tried_is_done_or_refused_with_a_code(
    setup: Setup, rng: Random, moves: int, seat: int, action: tuple[str | int, ...]
) -> None:
    left = iter(range(moves))
    state, _ = play_on(
        HEARTS.initial(setup), rng, lambda state: state.phase == OVER or next(left, None) is None
    )
    code = None
    after = state
    try:
        after = HEARTS.apply(state, seat, action)
    except Refused as refusal:
        code = refusal.code
    assert code in HEARTS.codes or (seat in rules.to_act(state) and after != state)
    check(after)


@settings(max_examples=50, deadline=None)
@given(setups, chance)
def test_a_play_changes_few_fields(setup: Setup, rng: Random) -> None:
    """To anyone but the seat that plays or is next: the hand, the trick and whose turn it is, and at the
    end of a trick what was taken."""
    states: list[State] = []
    play_on(HEARTS.initial(setup), rng, hand_over, states.append)
    for before, after in pairwise(states):
        changed = {
            name
            for name, old, new in zip(
                HEARTS.fields, HEARTS.view(before, None), HEARTS.view(after, None), strict=True
            )
            if old != new
        }
        if before.phase == PASSING:
            seat = next((s for s in SEATS if not before.passes[s] and after.passes[s]), 0)
            assert changed <= {f"pass{seat}", "to_act", "phase", "trick_number"}
            continue
        seat, trick = before.turn, len(before.tricks) + 1
        assert changed <= {
            f"hand{seat}", f"trick{trick}", "to_act", "broken", "took", "points", "trick_number"
        }  # fmt: skip
        if not after.trick:
            assert "took" in changed
        else:
            assert changed - {"broken"} == {f"hand{seat}", f"trick{trick}", "to_act"}


@settings(max_examples=50, deadline=None)
@given(setups, chance)
def test_any_move_is_what_it_says(setup: Setup, rng: Random) -> None:
    state = HEARTS.initial(setup)
    for _ in range(20):
        seat, action = any_move(rng, state)
        assert HEARTS.parse_action(list(action)) == action
        state = HEARTS.apply(state, seat, action)
