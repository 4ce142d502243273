from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heartroom.games.heart_to_heart import GAME, rules
from heartroom.games.heart_to_heart.deal import deal_number, format_code
from heartroom.games.heart_to_heart.solver import Solution, fewest_moves, fewest_moves_from, winnable
from tests.games.heart_to_heart import reference
from tests.games.heart_to_heart.actions import DECK, FEW, MANY, accepted, deals, go, pair, start_deal, undo


def winnable_deals() -> st.SearchStrategy[tuple[int, ...]]:
    """The first deal that can be won, from any number on."""
    return st.integers(0, 2**35 - 1000).map(
        lambda number: next(filter(winnable, map(deal_number, itertools.count(number))))
    )


def wins(state: rules.State, solution: Solution) -> bool:
    end = go(state, *(GAME.parse_action(list(move)) for move in solution.moves))
    return end.position.status == rules.WON


@given(deals())
@MANY
def test_winnable_is_what_trying_everything_finds(deal: tuple[int, ...]) -> None:
    assert winnable(deal) == reference.can_be_won(deal)


def test_28_percent_of_all_deals_can_be_won() -> None:
    # 2,000 deals: a standard deviation is one in a hundred.
    assert 0.25 < sum(winnable(deal_number(number)) for number in range(2000)) / 2000 < 0.32


@given(deals())
@FEW
def test_what_is_stuck_at_once_cannot_be_won(deal: tuple[int, ...]) -> None:
    # Bring all equals of the tip into the heart.
    cards = list(deal)
    for place in range(3):
        equal = cards.index(cards[24], place)
        equal = cards.index(cards[24], 25) if equal == 24 else equal
        cards[place], cards[equal] = cards[equal], cards[place]
    assert start_deal(cards).position.status == rules.STUCK
    assert not winnable(cards)


@given(deals())
@FEW
def test_solutions_win(deal: tuple[int, ...]) -> None:
    solution = fewest_moves(deal)
    assert solution.winnable == winnable(deal)
    assert solution.proven
    assert solution.lower_bound == len(solution.moves)
    assert wins(start_deal(deal), solution) == solution.winnable


@pytest.mark.parametrize(
    ("number", "moves"), [(12, 73), (16, 98), (25, 61), (31, 89), (40, 66), (87, 74)], ids=str
)
def test_the_fewest_moves_are_those_of_a_search_of_every_move(number: int, moves: int) -> None:
    deal = deal_number(number)
    assert fewest_moves(deal).lower_bound == moves
    assert reference.fewest_moves(reference.Table(deal)) == moves


@given(winnable_deals(), st.integers(4, 16), st.lists(st.integers(0, 99), max_size=12))
@FEW
def test_the_fewest_moves_from_the_middle_of_a_game(
    deal: tuple[int, ...], pairs: int, choices: list[int]
) -> None:
    """The beginning of a good game, then some moves by chance: so that not all of it was the best."""
    state, table = start_deal(deal), reference.Table(deal)
    moves = list(fewest_moves(deal).moves)
    while sum(move[0] == "pair" for move in moves) > max(13 - pairs, 3):
        state = go(state, moves[0])
        table.take(moves.pop(0))
    for choice in choices:
        takes = accepted(state)
        if not takes or state.position.status == rules.WON:
            break
        action = takes[choice % len(takes)]
        state = go(state, action)
        table.take(action)
    solution = fewest_moves_from(state.position)
    assert solution.proven
    if solution.winnable:
        assert solution.lower_bound == len(solution.moves) == reference.fewest_moves(table)
        assert wins(state, solution)
    else:
        assert not solution.moves


@given(winnable_deals(), st.integers(0, 30))
@FEW
def test_a_search_that_is_cut_off_says_so_and_still_wins(deal: tuple[int, ...], max_positions: int) -> None:
    cut_off, whole = fewest_moves(deal, max_positions), fewest_moves(deal)
    assert cut_off.winnable
    assert cut_off.lower_bound <= whole.lower_bound <= len(cut_off.moves)
    if cut_off.proven:
        assert cut_off.lower_bound == len(cut_off.moves)
    assert wins(start_deal(deal), cut_off)


def test_a_search_keeps_little_more_than_it_may() -> None:
    solution = fewest_moves(deal_number(12), 20)
    assert not solution.proven
    assert 20 < solution.positions < 60


def test_the_same_question_has_the_same_answer() -> None:
    assert fewest_moves(deal_number(12)) == fewest_moves(deal_number(12))


def test_a_won_position_needs_no_moves() -> None:
    state = start_deal(deal_number(12))
    won = go(state, *fewest_moves(deal_number(12)).moves).position
    assert fewest_moves_from(won) == Solution(True, (), True, 0, 1)


def test_a_deal_that_cannot_be_won_has_no_moves() -> None:
    number = next(number for number in range(100) if not winnable(deal_number(number)))
    assert fewest_moves(deal_number(number)) == Solution(False, (), True, 0, 0), format_code(number)


@pytest.mark.parametrize("deal", [(), DECK[:-1], [*DECK[:-1], 1]], ids=["none", "51", "five aces"])
def test_what_is_no_deal_is_refused(deal: list[int]) -> None:
    with pytest.raises(ValueError, match="deal"):
        winnable(deal)
    with pytest.raises(ValueError, match="deal"):
        fewest_moves(deal)


def test_a_wrong_pair_can_lose_a_game_before_anybody_is_stuck() -> None:
    """In deal 22 three queens lie in the heart and one outside; which of the three it takes matters."""
    deal = deal_number(22)
    best = fewest_moves(deal).moves
    state = go(start_deal(deal), *best[:33])
    assert fewest_moves_from(state.position).lower_bound == len(best) - 33
    lost = go(state, pair(24, "discard"))
    assert not fewest_moves_from(lost.position).winnable
    assert lost.position.status == rules.IN_PLAY
    assert fewest_moves_from(go(lost, undo()).position).winnable
