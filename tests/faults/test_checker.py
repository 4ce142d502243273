"""The checker of the fault test finds every kind of fault in made histories, and none where there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest

from heartroom.games.game import Setup, games
from heartroom.sessions import table as tables
from heartroom.sessions.log import Deed
from heartroom.sessions.table import HOUSE
from tests.faults.checker import wrong_in_session, wrong_in_statistics, wrong_on_board
from tests.faults.history import Acts, Log, Sight
from tests.support.games import CODE, GAME

FIRST: Final = 1000
EPOCH: Final = 7
DRAWS: Final = tuple(Deed(0, FIRST + number, ("draw",)) for number in range(4))


def log_of(deeds: Sequence[Deed]) -> Log:
    setup = GAME.deal({"code": CODE}, bytes(32))
    return Log("session", GAME, setup, EPOCH, tables.alone("player"), deeds)


def views(deeds: Sequence[Deed]) -> list[Sequence[Any]]:
    """What is seen at each version."""
    state = GAME.initial(GAME.deal({"code": CODE}, bytes(32)))
    seen: list[Sequence[Any]] = [GAME.view(state, None)]
    for deed in deeds:
        state = GAME.apply(state, deed.seat, deed.action)
        seen.append(GAME.view(state, None))
    return seen


def asked(deeds: Sequence[Deed] = DRAWS) -> Acts:
    """All of them sent and acknowledged, in order."""
    acts = Acts(0, FIRST)
    for version, deed in enumerate(deeds, start=1):
        acts.ack(acts.send(deed.action), version)
    return acts


def saw(*shown: tuple[int, int], deeds: Sequence[Deed] = DRAWS) -> Sight:
    """Snapshots (by their epoch) and diffs (epoch 0) of these versions, as the log leads to them."""
    sight = Sight("spectator")
    for epoch, version in shown:
        sight.show(epoch, version, None, views(deeds)[version])
    return sight


ALL: Final = ((EPOCH, 0), (0, 1), (0, 2), (0, 3), (0, 4))


def wrong(deeds: Sequence[Deed] = DRAWS, acts: Acts | None = None, *sights: Sight) -> list[str]:
    found = wrong_in_session(log_of(deeds), [acts or asked()], sights or [saw(*ALL)])
    return [text.removeprefix("heart-to-heart session: ") for text in found]


def test_nothing_is_wrong_where_all_is_as_promised() -> None:
    acts = asked()
    acts.refuse(acts.send(("recycle",)))
    # acknowledged again after a resume; from a snapshot in between; resumed with nothing missed
    acts.ack(FIRST, 1)
    sights = [saw(*ALL), saw((EPOCH, 2), (0, 3), (EPOCH, 4)), saw((EPOCH, 4), (EPOCH, 4))]
    assert wrong(DRAWS, acts, *sights) == []


def test_a_lost_action_is_found() -> None:
    assert wrong(DRAWS[:3], None, saw(*ALL[:4])) == [
        f"action {FIRST + 3} was acknowledged as version 4, and is lost"
    ]


def test_an_action_lost_from_the_middle_is_found() -> None:
    deeds = (DRAWS[0], *DRAWS[2:])
    assert wrong(deeds, None, saw(*ALL[:4], deeds=deeds)) == [
        f"action {FIRST + 1} was acknowledged as version 2, and is lost",
        f"action {FIRST + 2} was acknowledged as version 3, and is 2",
        f"action {FIRST + 3} was acknowledged as version 4, and is 3",
    ]


def test_a_doubled_action_is_found() -> None:
    deeds = (*DRAWS, DRAWS[3])
    assert wrong(deeds, None, saw(*ALL, (0, 5), deeds=deeds)) == [
        f"action {FIRST + 3} is there twice, as version 4 and 5"
    ]


def test_actions_in_another_order_are_found() -> None:
    deeds = (DRAWS[0], DRAWS[2], DRAWS[1], DRAWS[3])
    acts = Acts(0, FIRST)
    for deed in DRAWS:
        acts.send(deed.action)
    for version, deed in enumerate(deeds, start=1):
        acts.ack(deed.ref, version)
    assert wrong(deeds, acts) == [
        f"action {FIRST + 1} is not in the order in which it was sent, as version 3"
    ]


def test_an_action_acknowledged_as_two_versions_is_found() -> None:
    acts = asked()
    acts.ack(FIRST, 2)
    assert wrong(DRAWS, acts) == [f"action {FIRST} was acknowledged as version 2, and is 1"]


def test_another_action_than_was_sent_is_found() -> None:
    deeds = (*DRAWS[:3], Deed(0, DRAWS[3].ref, ("undo",)))
    assert wrong(deeds, None, saw(*ALL, deeds=deeds)) == ["version 4 is ('undo',), and ('draw',) was sent"]


@pytest.mark.parametrize("ref", [FIRST - 1, FIRST + 4])
def test_an_action_that_nobody_sent_is_found(ref: int) -> None:
    deeds = (*DRAWS, Deed(0, ref, ("draw",)))
    found = wrong(deeds, None, saw(*ALL, (0, 5), deeds=deeds))
    assert f"version 5 was sent by nobody: {deeds[-1]}" in found


def test_an_action_that_was_done_for_a_player_is_found() -> None:
    deeds = (*DRAWS, Deed(0, 0, ("draw",)))
    assert wrong(deeds, None, saw(*ALL, (0, 5), deeds=deeds)) == [
        f"version 5 was asked for by nobody: {deeds[-1]}"
    ]


def test_an_action_that_was_refused_and_done_is_found() -> None:
    acts = asked(DRAWS[:3])
    acts.refuse(acts.send(("draw",)))
    assert wrong(DRAWS, acts) == [f"action {FIRST + 3} was refused, and is version 4"]


def test_an_action_that_was_never_answered_is_found() -> None:
    acts = asked()
    acts.send(("draw",))
    assert wrong(DRAWS, acts) == [f"action {FIRST + 4} was never answered"]


def test_an_entry_against_the_rules_is_found() -> None:
    deeds = (*DRAWS, Deed(0, FIRST + 4, ("recycle",)))
    assert wrong(deeds, asked(deeds)) == [f"version 5 is against the rules (stock_not_empty): {deeds[-1]}"]


def test_a_gap_is_found() -> None:
    assert wrong(DRAWS, None, saw(*ALL[:2], *ALL[3:])) == ["spectator was at version 1 and got the diff to 3"]


def test_a_diff_that_comes_twice_is_found() -> None:
    assert wrong(DRAWS, None, saw(*ALL[:3], *ALL[2:])) == ["spectator was at version 2 and got the diff to 2"]


def test_a_diff_before_any_snapshot_is_found() -> None:
    assert wrong(DRAWS, None, saw(*ALL[1:])) == ["spectator was at version None and got the diff to 1"]


def test_a_viewer_who_is_put_back_is_found() -> None:
    assert wrong(DRAWS, None, saw(*ALL, (EPOCH, 2), (0, 3), (0, 4))) == [
        "spectator was at version 4 and was put back to 2"
    ]


def test_a_version_that_was_seen_and_is_not_in_the_log_is_found() -> None:
    sight = saw(*ALL, (0, 5), deeds=(*DRAWS, Deed(0, FIRST + 4, ("draw",))))
    assert wrong(DRAWS, None, sight) == ["spectator saw version 5, and the log ends with 4"]


def test_a_view_that_does_not_follow_from_the_log_is_found() -> None:
    sight = saw(*ALL[:4])
    sight.show(0, 4, None, views(DRAWS)[3])
    assert wrong(DRAWS, None, sight) == ["spectator saw something else at version 4 than the log leads to"]


def test_another_epoch_is_found() -> None:
    assert wrong(DRAWS, None, saw(*ALL, (8, 4))) == ["spectator saw epoch 8, and the log is of 7"]


def test_a_viewer_who_did_not_see_the_end_is_found() -> None:
    assert wrong(DRAWS, None, saw(*ALL[:3])) == ["spectator stopped at version 2, and the log goes on to 4"]
    assert wrong(DRAWS, None, saw()) == ["spectator never saw anything"]


# -- tables


def hearts() -> tuple[Log, Callable[[int, int | None], Sequence[Any]]]:
    """A table that has begun, and what is seen at each version by whom."""
    game = games()["hearts"]
    setup = Setup({"target": 1, "omnibus": False}, (bytes(32).hex(),))
    deeds = [Deed(HOUSE, 0, ("sit", 0, "host")), Deed(HOUSE, 0, ("start",))]
    state = game.initial(setup)
    log = Log("session", game, setup, EPOCH, tables.empty(4), deeds)
    return log, lambda version, seat: game.view(state, seat if version > 1 else None)


def test_a_player_sees_the_own_cards_once_the_game_has_begun() -> None:
    log, view = hearts()
    sight = Sight("host")
    sight.show(EPOCH, 1, 0, view(1, 0))
    sight.show(0, 2, 0, view(1, 0))
    sight.show(EPOCH, 2, 0, view(2, 0))
    assert wrong_in_session(log, [Acts(0, FIRST)], [sight]) == []


@pytest.mark.parametrize(("version", "seat", "shown"), [(1, 0, 0), (2, None, 0), (2, 1, 0)])
def test_cards_that_are_shown_to_somebody_else_are_found(version: int, seat: int | None, shown: int) -> None:
    log, view = hearts()
    sight = Sight("somebody")
    sight.show(EPOCH, version, seat, view(2, shown))
    sight.show(EPOCH, 2, seat, view(2, seat))
    assert wrong_in_session(log, [], [sight]) == [
        f"hearts session: somebody saw something else at version {version} than the log leads to"
    ]


def test_a_bot_that_plays_for_a_player_who_is_there_is_found() -> None:
    log, _ = hearts()
    game = log.game
    passed = game.choose("easy", game.view(game.initial(log.setup), 0), 0, "seed")
    log = log._replace(deeds=[*log.deeds, Deed(0, 0, passed)])
    assert wrong_in_session(log, [Acts(0, FIRST)], []) == [
        f"hearts session: version 3 was asked for by nobody: {log.deeds[-1]}"
    ]
    away = [*log.deeds[:2], Deed(HOUSE, 0, ("away", 0)), log.deeds[2]]
    assert wrong_in_session(log._replace(deeds=away), [Acts(0, FIRST)], []) == []


# -- what follows from finished games


def test_a_finished_game_that_is_not_counted_once_is_found() -> None:
    finished = {"hearts": (2, 1)}
    assert wrong_in_statistics("player", finished, {"hearts": {"games": 2, "wins": 1}}) == []
    for games_counted, wins in ((1, 1), (3, 1), (2, 0), (2, 2)):
        assert wrong_in_statistics(
            "player", finished, {"hearts": {"games": games_counted, "wins": wins}}
        ) == [f"player finished 2 games of hearts and won 1: {games_counted} and {wins} counted"]
    assert wrong_in_statistics("player", finished, {}) == [
        "player finished 2 games of hearts and won 1: 0 and 0 counted"
    ]
    assert wrong_in_statistics("player", {}, {"hearts": {"games": 1}}) == [
        "player finished 0 games of hearts and won 0: 1 and 0 counted"
    ]


def test_a_board_with_a_row_too_many_or_too_few_is_found() -> None:
    assert wrong_on_board("board", ["ada", "bob"], ["bob", "ada"]) == []
    assert wrong_on_board("board", ["ada", "bob"], ["bob"]) == ["ada is on board 0 times, and won once"]
    assert wrong_on_board("board", ["ada"], ["ada", "ada"]) == ["ada is on board 2 times, and won once"]
    assert wrong_on_board("board", [], ["eve"]) == ["eve is on board 1 times, and won never"]
