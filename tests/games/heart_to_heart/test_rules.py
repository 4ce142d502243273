"""Games written down move by move. Unless said otherwise they are of HH1-N-AAAAAAM:

   10   Q      10   Q            1  2     3  4
  4   Q   7   K   7   3        5  6  7  8  9  10
    3   5   2   2   K           11 12 13 14 15
      J   8   6   A               16 17 18 19
        2   K  10                   20 21 22
         10   A                      23 24
           [4]                         25

stock 12 9 3 1 5 5 3 9 4 …, discard A
"""

from __future__ import annotations

import copy

import pytest

from heartroom.games.game import Refused, Setup
from heartroom.games.heart_to_heart import GAME, rules
from heartroom.games.heart_to_heart.deal import deal_number
from tests.games.heart_to_heart.actions import (
    CODE,
    DECK,
    draw,
    draws,
    go,
    pair,
    play,
    recycle,
    refusal,
    start,
    start_deal,
    undo,
)

ACES_DEAL = (
    *(13, 13, 13, 13),
    *(12, 12, 12, 12, 11, 11),
    *(11, 11, 10, 10, 10),
    *(10, 9, 9, 9),
    *(9, 8, 8),
    *(1, 1),
    1,
    *(8, 8, 7, 7, 7, 7, 6, 6, 6, 6, 5, 5, 5, 5, 4, 4, 4, 4, 3, 3, 3, 3, 2, 2, 2, 2),
    1,
)
"""The tip, both cards over it and the discard are aces; the eights of the heart's row 5 have their equals
at the top of the stock."""


def deal_with(heart: dict[int, int], discard: int) -> tuple[int, ...]:
    """A deal with these ranks at these places of the heart and on the discard; low cards fill the rest."""
    rest = sorted(DECK)
    for rank in (*heart.values(), discard):
        rest.remove(rank)
    places = [heart[place] if place in heart else rest.pop(0) for place in range(1, 26)]
    return (*places, *rest, discard)


def field(state: rules.State, name: str) -> object:
    return GAME.view(state, None)[GAME.fields.index(name)]


def test_a_move_does_not_change_the_state_it_is_made_on() -> None:
    before = play(draws(9))
    copied, view = copy.deepcopy(before), GAME.view(before, None)
    for action in (draw(), pair(25, "discard"), undo()):
        assert GAME.apply(before, 0, action) != before
        assert before == copied
        assert GAME.view(before, None) == view


def test_a_draw_turns_the_next_card_and_is_a_move() -> None:
    state = start()
    assert [field(state, name) for name in ("stock", "discard", "top", "moves")] == [26, 1, 1, 0]
    state = go(state, draw())
    assert [field(state, name) for name in ("stock", "discard", "top", "moves")] == [25, 2, 12, 1]
    state = go(state, draw())
    assert [field(state, name) for name in ("stock", "discard", "top", "moves")] == [24, 3, 9, 2]


def test_the_whole_stock_comes_in_the_order_of_the_deal() -> None:
    state, tops = start(), []
    for _ in range(26):
        state = go(state, draw())
        tops.append(field(state, "top"))
    assert tuple(tops) == deal_number(12)[25:51]
    assert refusal(state, draw()) == "stock_empty"


def test_a_recycle_keeps_the_order_and_is_a_move() -> None:
    state = play([*draws(26), recycle()])
    assert [field(state, name) for name in ("stock", "discard", "top", "moves")] == [27, 0, 0, 27]
    tops = []
    for _ in range(27):
        state = go(state, draw())
        tops.append(field(state, "top"))
    assert tuple(tops) == (1, *deal_number(12)[25:51])


def test_a_recycle_needs_an_empty_stock() -> None:
    assert refusal(start(), recycle()) == "stock_not_empty"
    assert refusal(play([*draws(26), recycle()]), recycle()) == "stock_not_empty"


def test_recycles_are_without_limit() -> None:
    state = play(draws(26))
    for _ in range(30):
        state = go(state, recycle(), *draws(27))
    assert field(state, "moves") == 26 + 30 * 28


def test_the_tip_goes_with_the_discard_and_frees_both_cards_over_it() -> None:
    state = play([*draws(9), pair(25, "discard")])
    assert [field(state, f"heart{place}") for place in (22, 23, 24, 25)] == [10, 16 + 10, 16 + 1, 0]
    assert [field(state, name) for name in ("stock", "discard", "top")] == [17, 9, 9]
    assert [field(state, name) for name in ("moves", "score")] == [10, 10]


def test_a_pair_may_be_named_in_either_order() -> None:
    state = play(draws(9))
    assert go(state, ("pair", 0, 25)) == go(state, ("pair", 25, 0))
    state = go(start_deal(ACES_DEAL), pair(25, "discard"))
    assert go(state, pair(23, 24)) == go(state, pair(24, 23))


def test_two_cards_of_the_heart_are_a_pair_of_twenty() -> None:
    state = go(start_deal(ACES_DEAL), pair(25, "discard"))
    assert [field(state, name) for name in ("stock", "discard", "top", "score")] == [26, 0, 0, 10]
    state = go(state, pair(23, 24))
    assert [field(state, name) for name in ("stock", "discard", "top", "score")] == [26, 0, 0, 30]
    assert [field(state, f"heart{place}") for place in (20, 21, 22)] == [16 + 9, 16 + 8, 16 + 8]


def test_a_card_that_two_cover_is_free_when_both_are_gone() -> None:
    state = go(start_deal(ACES_DEAL), pair(25, "discard"), pair(23, 24), draw(), pair(22, "discard"))
    assert [field(state, f"heart{place}") for place in (18, 19)] == [9, 16 + 9]


def test_cards_under_the_top_come_up_again() -> None:
    state = go(start_deal(ACES_DEAL), pair(25, "discard"), pair(23, 24), draw(), draw())
    state = go(state, pair(22, "discard"), pair(21, "discard"))
    assert [field(state, name) for name in ("discard", "top", "score")] == [0, 0, 50]


def test_what_a_pair_may_not_be() -> None:
    state = start()
    assert refusal(state, pair(1, "discard")) == "covered"
    assert refusal(state, pair(1, 3)) == "covered"
    assert refusal(state, pair(25, 1)) == "covered"
    assert refusal(state, pair(25, 25)) == "same_card"
    assert refusal(state, ("pair", 0, 0)) == "same_card"
    assert refusal(state, pair(25, "discard")) == "not_equal"
    state = play([*draws(9), pair(25, "discard")])
    assert refusal(state, pair(24, 23)) == "not_equal"
    assert refusal(state, pair(24, 25)) == "empty_place"
    assert refusal(state, pair(25, "discard")) == "empty_place"
    state = play([*draws(26), recycle()])
    assert refusal(state, pair(25, "discard")) == "no_discard"


def test_there_is_nothing_to_turn_when_stock_and_discard_are_gone() -> None:
    position = rules.Position((0,) * 22 + (16 + 1, 16 + 1, 0), (), 0, 40, 230, rules.IN_PLAY)
    state = rules.State(position, None, 0, 0, "a label")
    assert refusal(state, draw()) == "stock_empty"
    assert refusal(state, recycle()) == "nothing_to_recycle"
    assert GAME.outcome(go(state, pair(24, 23))) is not None


def test_undo_takes_back_each_kind_of_move() -> None:
    states = [start()]
    for action in [*draws(9), pair(25, "discard"), *draws(17), recycle(), draw(), pair(24, "discard")]:
        states.append(go(states[-1], action))
    state = states.pop()
    for count, before in enumerate(reversed(states), 1):
        state = go(state, undo())
        assert state.position == before.position
        assert field(state, "undos") == count
    assert refusal(state, undo()) == "nothing_to_undo"


def test_undo_goes_back_a_hundred_moves() -> None:
    state = play([*draws(26), recycle(), *draws(27), recycle(), *draws(27), recycle(), *draws(27)])
    assert field(state, "moves") == 110
    state = go(state, *[undo()] * 100)
    assert [field(state, name) for name in ("moves", "undos", "can_undo")] == [10, 100, 0]
    assert refusal(state, undo()) == "nothing_to_undo"
    state = go(state, draw())
    assert field(state, "can_undo") == 1
    assert refusal(go(state, undo()), undo()) == "nothing_to_undo"


def test_undo_finds_every_position_of_a_long_game_and_the_rest_is_forgotten() -> None:
    state = play([])
    positions = [state.position]
    for turn in range(1, 1_000):
        for action in (draw(), undo(), draw()) if turn % 3 == 0 else (draw(),):
            state = go(state, action if field(state, "stock") or action == undo() else recycle())
        positions.append(state.position)
        length, past = 0, state.past
        while past is not None:
            length, past = length + 1, past[1]
        assert min(turn, rules.UNDO_LIMIT) <= length < 2 * rules.UNDO_LIMIT
        assert state.undoable == min(turn, rules.UNDO_LIMIT)
    for position in positions[-2 : -2 - rules.UNDO_LIMIT : -1]:
        state = go(state, undo())
        assert state.position == position
    assert refusal(state, undo()) == "nothing_to_undo"


def test_undos_are_counted_for_ever() -> None:
    state = play([draw(), undo(), draw(), undo(), draw()])
    assert [field(state, name) for name in ("moves", "undos")] == [1, 2]


def test_a_deal_can_be_stuck_from_the_beginning() -> None:
    state = start_deal(deal_with({1: 13, 2: 13, 3: 13, 25: 13}, discard=12))
    assert field(state, "status") == rules.STUCK, "all equals of the tip are covered"
    assert GAME.outcome(state) is None, "but it is not over"
    state = go(state, draw())
    assert [field(state, name) for name in ("status", "moves", "can_undo")] == [rules.STUCK, 1, 1]


def test_undo_leads_out_of_stuck() -> None:
    queens, kings = {1: 12, 2: 12, 3: 12, 23: 12}, {4: 13, 5: 13, 6: 13, 24: 13}
    before = start_deal(deal_with(queens | kings | {25: 11}, discard=11))
    assert field(before, "status") == rules.IN_PLAY
    stuck = go(before, pair(25, "discard"))
    assert field(stuck, "status") == rules.STUCK, "a queen and a king are free, their equals covered"
    assert go(stuck, undo()).position == before.position


def test_a_partner_anywhere_in_the_discard_is_not_stuck() -> None:
    state = go(start_deal(deal_with({1: 13, 2: 13, 25: 13}, discard=13)), *draws(26))
    assert [field(state, name) for name in ("status", "stock", "discard")] == [rules.IN_PLAY, 0, 27]


def test_won_is_final() -> None:
    position = rules.Position((0,) * 24 + (16 + 1,), (1, 2, 3), 1, 40, 240, rules.IN_PLAY)
    state = go(rules.State(position, (position, None), 1, 3, "a label"), pair(25, "discard"))
    assert [field(state, name) for name in ("status", "score", "can_undo", "stock")] == [rules.WON, 250, 0, 2]
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert (outcome.winners, outcome.scores) == ((0,), (250,))
    for action in (draw(), recycle(), undo(), pair(25, "discard")):
        assert refusal(state, action) == "game_over"


def test_the_view_has_the_documented_fields() -> None:
    assert GAME.fields == (
        *(f"heart{place}" for place in range(1, 26)),
        *("stock", "discard", "top", "moves", "score", "undos", "status", "can_undo", "code"),
    )
    assert GAME.view(start(), GAME.perspective(0)) == (
        *(10, 12, 10, 12),
        *(4, 12, 7, 13, 7, 3),
        *(3, 5, 2, 2, 13),
        *(11, 8, 6, 1),
        *(2, 13, 10),
        *(10, 1),
        20,
        *(26, 1, 1, 0, 0, 0, 0, 0, CODE),
    )


def test_player_and_spectators_see_the_same() -> None:
    assert GAME.perspective(0) is None
    assert GAME.perspective(None) is None
    assert GAME.views(start(), ()) == []
    assert GAME.views(start(), (None, None)) == [GAME.view(start(), None)] * 2


def test_the_code_is_a_label_only() -> None:
    deal = deal_number(12)
    state = GAME.initial(Setup({"code": "HH1-D-20260105"}, deal))
    assert GAME.view(state, None)[:-1] == GAME.view(start(), None)[:-1]
    assert GAME.view(state, None)[-1] == "HH1-D-20260105"


@pytest.mark.parametrize(
    "setup",
    [
        Setup({}, tuple(DECK)),
        Setup({"code": 12}, tuple(DECK)),
        Setup({"code": CODE}, tuple(DECK[:-1])),
        Setup({"code": CODE}, (*DECK[:-1], 12)),
        Setup({"code": CODE}, (*DECK[:-1], "K")),
        Setup({"code": CODE}, ()),
    ],
)
def test_what_is_no_deal_does_not_begin(setup: Setup) -> None:
    with pytest.raises(ValueError, match="deal"):
        GAME.initial(setup)


@pytest.mark.parametrize("raw", [["draw"], ("recycle",), ["undo"], ["pair", 25, 0], ("pair", 0, 0)])
def test_actions_are_read_from_lists_and_tuples(raw: list[object] | tuple[object, ...]) -> None:
    assert GAME.parse_action(raw) == tuple(raw)


@pytest.mark.parametrize(
    "raw",
    [
        None,
        "draw",
        b"draw",
        12,
        {},
        {"draw": 1},
        [],
        [[]],
        [["draw"]],
        [None],
        [0],
        [b"draw"],
        ["Draw"],
        ["deal"],
        ["draw", 1],
        ["draw", None],
        ["undo", 2],
        ["recycle", "now"],
        ["pair"],
        ["pair", 25],
        ["pair", 25, 0, 0],
        ["pair", 25, 26],
        ["pair", -1, 25],
        ["pair", True, 25],
        ["pair", 25, False],
        ["pair", 25.0, 0],
        ["pair", "25", "0"],
        ["pair", [25], [0]],
        ["pair", 25, None],
        ["pair", 25, 2**64],
    ],
)
def test_anything_else_is_malformed(raw: object) -> None:
    with pytest.raises(Refused, match="malformed"):
        GAME.parse_action(raw)


def test_a_position_prints_itself() -> None:
    assert str(play([*draws(9), pair(25, "discard")]).position).splitlines() == [
        "   10   Q      10   Q",
        "  4   Q   7   K   7   3",
        "    3   5   2   2   K",
        "      J   8   6   A",
        "        2   K  10",
        "        [10] [A]",
        "            ·",
        "stock 17, discard 9, top 9",
    ]
