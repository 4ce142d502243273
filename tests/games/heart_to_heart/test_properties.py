"""What holds for every deal and every game."""

from __future__ import annotations

import json
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from heartroom.games.game import Action, Setup, fold
from heartroom.games.heart_to_heart import GAME, rules
from tests.games.heart_to_heart.actions import (
    DECK,
    EVERY_ACTION,
    FEW,
    MANY,
    accepted,
    deals,
    draw,
    games,
    go,
    refusal,
    start_deal,
    undo,
)
from tests.games.heart_to_heart.reference import Table

Played = tuple[tuple[int, ...], list[Action]]
PAIRS = Counter(DECK)


def cards(position: rules.Position) -> Counter[int]:
    return Counter(value % rules.FREE for value in position.heart if value) + Counter(position.cycle)


@given(games())
@MANY
def test_cards_leave_in_pairs_and_never_come_from_nowhere(played: Played) -> None:
    deal, actions = played
    state = start_deal(deal)
    assert cards(state.position) == PAIRS
    for action in actions:
        before, state = state, GAME.apply(state, 0, action)
        gone = cards(before.position) - cards(state.position)
        assert not cards(state.position) - cards(before.position)
        assert list(gone.values()) == ([2] if action[0] == "pair" else [])


@given(games())
@MANY
def test_undo_takes_back_exactly_the_last_move(played: Played) -> None:
    deal, actions = played
    state = start_deal(deal)
    for action in actions:
        after = GAME.apply(state, 0, action)
        if not GAME.outcome(after):
            back = go(after, undo())
            assert back.position == state.position
            assert (back.past, back.undoable) == (state.past, state.undoable)
            assert back.undos == state.undos + 1
        state = after


@given(games(undos=True))
@MANY
def test_the_counts_add_up_to_the_actions(played: Played) -> None:
    deal, actions = played
    state = start_deal(deal)
    for count, action in enumerate(actions, 1):
        undos, state = state.undos, GAME.apply(state, 0, action)
        assert state.position.moves + 2 * state.undos == count
        assert state.undos >= undos


@given(games(undos=True))
@MANY
def test_a_log_folds_to_the_live_state(played: Played) -> None:
    deal, actions = played
    live = go(start_deal(deal), *actions)
    log = json.loads(json.dumps(actions))
    folded = fold(GAME, Setup({"code": "a label"}, deal), [(0, GAME.parse_action(raw)) for raw in log])
    assert folded == live
    assert GAME.view(folded, None) == GAME.view(live, None)


@given(games(undos=True), st.lists(st.sampled_from(EVERY_ACTION), max_size=10))
@MANY
def test_every_move_is_as_in_the_reference(played: Played, tries: list[Action]) -> None:
    deal, actions = played
    state, table = start_deal(deal), Table(deal)
    for action in [*actions, *tries]:
        took = refusal(state, action) is None
        assert table.take(action) == took
        if took:
            state = GAME.apply(state, 0, action)
        view = dict(zip(GAME.fields, GAME.view(state, None), strict=True))
        can_undo = view.pop("can_undo")
        assert can_undo == bool(table.before and not table.is_won())
        assert (view.pop("undos"), view.pop("code")) == (state.undos, "a label")
        assert list(view.values()) == table.view()


@given(games(undos=True))
@FEW
def test_every_action_is_taken_or_refused_as_in_the_reference(played: Played) -> None:
    deal, actions = played
    state, table = go(start_deal(deal), *actions), Table(deal)
    for action in actions:
        table.take(action)
    for action in EVERY_ACTION:
        code = refusal(state, action)
        assert code is None or code in GAME.codes
        if code is not None:
            assert not table.take(action)


@given(games())
@MANY
def test_every_view_is_of_documented_values(played: Played) -> None:
    deal, actions = played
    state = start_deal(deal)
    for action in [None, *actions]:
        state = state if action is None else GAME.apply(state, 0, action)
        view = GAME.view(state, None)
        assert len(view) == len(GAME.fields)
        assert all(type(value) is int for value in view[:-1])
        assert all(value in {0, *range(1, 14), *range(17, 30)} for value in view[:25])
        seen = dict(zip(GAME.fields[25:], view[25:], strict=True))
        assert 0 <= seen["stock"] <= 27  # all that lies outside the heart, once it has been turned over
        assert 0 <= seen["discard"] <= 27
        assert 0 <= seen["top"] <= 13
        assert (seen["top"] == 0) == (seen["discard"] == 0)
        assert seen["score"] == 10 * view[:25].count(0)
        assert seen["status"] in {0, 1, 2}
        assert seen["can_undo"] in {0, 1}


@given(games(undos=True), st.data())
@MANY
def test_nothing_seen_depends_on_cards_that_were_never_turned(played: Played, data: st.DataObject) -> None:
    """The same game on a deal whose unseen cards lie otherwise: the same views, and the same answers to
    whatever is tried, until one of these cards is turned."""
    deal, actions = played
    state, turned, recycled = start_deal(deal), 0, False
    for action in actions:
        state = GAME.apply(state, 0, action)
        recycled = recycled or action[0] == "recycle"
        if not recycled:
            # Until the first recycle the stock only loses cards from the top.
            turned = max(turned, 26 - GAME.view(state, None)[25])
    first_unseen = 51 if recycled else 25 + turned
    unseen = data.draw(st.permutations(deal[first_unseen:51]))
    other_deal = (*deal[:first_unseen], *unseen, deal[51])

    state, other = start_deal(deal), start_deal(other_deal)
    assert GAME.view(other, None) == GAME.view(state, None)
    for action in actions:
        state, other = GAME.apply(state, 0, action), GAME.apply(other, 0, action)
        assert GAME.view(other, None) == GAME.view(state, None)
        assert str(other.position) == str(state.position)
        assert GAME.outcome(other) == GAME.outcome(state)
    for attempt in data.draw(st.lists(st.sampled_from(EVERY_ACTION), max_size=30)):
        assert refusal(other, attempt) == refusal(state, attempt)


@given(deals())
@FEW
def test_the_first_draw_is_all_that_it_shows(deal: tuple[int, ...]) -> None:
    before = GAME.view(start_deal(deal), None)
    after = GAME.view(go(start_deal(deal), draw()), None)
    changed = {name for name, a, b in zip(GAME.fields, before, after, strict=True) if a != b}
    assert changed <= {"stock", "discard", "top", "moves", "can_undo"}
    assert after[GAME.fields.index("top")] == deal[25]


@given(deals())
@FEW
def test_what_is_accepted_at_first_is_a_draw_and_maybe_the_tip(deal: tuple[int, ...]) -> None:
    tip = [("pair", 25, 0)] if deal[24] == deal[51] else []
    assert accepted(start_deal(deal)) == [("draw",), *tip]
