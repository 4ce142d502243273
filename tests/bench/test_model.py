"""The model of a million players: that it multiplies what it should."""

from __future__ import annotations

import pytest

from bench.model import FIGURES, changed, model, others


def found(**given: float) -> dict[str, float]:
    return {row.what: row.value for row in model(given)}


PLAIN = {
    "players": 1000.0,
    "mean_load": 1.0,
    "hearts": 0.0,
    "bots": 0.0,
    "spectators": 0.0,
    "idle": 0.0,
    "think_s": 2.0,
    "solitaire_actions": 100.0,
    "kept_days": 0.0,
}


def test_a_thousand_who_play_alone() -> None:
    result = found(**PLAIN, action_us=100, idle_us=0, store_us=20, node_busy=0.01, shard_busy=0.002)
    assert result["sessions at once"] == result["connections"] == 1000
    assert result["actions"] == result["diffs to viewers"] == 500
    assert result["cores of nodes' processes"] == pytest.approx(0.05)
    assert result["nodes by CPU"] == pytest.approx(5)
    assert result["nodes, with those to spare"] == 7  # a quarter more than five
    assert result["cores of the store"] == pytest.approx(0.01)
    assert result["shards, each with a replica besides"] == 5
    assert result["store to nodes, of what others did"] == 0


def test_four_at_a_table_act_as_often_as_one_alone() -> None:
    result = found(**PLAIN | {"hearts": 1.0})
    assert result["sessions at once"] == 250
    assert result["actions"] == 125
    assert result["diffs to viewers"] == 500
    half = found(**PLAIN | {"hearts": 1.0, "bots": 0.5}, bot_ms=8)
    assert half["sessions at once"] == 500
    assert half["cores for bots"] == pytest.approx(250 * 0.5 * 0.008)
    assert half["diffs to viewers"] == 500


def test_memory_may_want_more_nodes_than_work_does() -> None:
    result = found(**PLAIN, connection_kib=1024, node_gib=0.25)
    assert result["nodes by memory"] == pytest.approx(1000 / 256)
    assert result["nodes, with those to spare"] == 5


def test_finished_games_stay_as_many_days_as_they_are_kept() -> None:
    live = found(**PLAIN)["data in the store"] * 2**30
    assert live == pytest.approx(1000 * 650 + 1000 * 50 * FIGURES["entry_bytes"].value)
    kept = found(**PLAIN | {"kept_days": 2.0})["data in the store"] * 2**30
    ended = 500 * 86_400 / 100
    assert kept - live == pytest.approx(2 * ended * (650 + 100 * FIGURES["entry_bytes"].value))


def test_on_how_many_nodes_a_session_is_shown() -> None:
    assert others(1, 4) == 0
    assert others(4, 1) == 0
    assert others(2, 2) == 0.5
    assert others(1e9, 4) == pytest.approx(3)


def test_other_figures() -> None:
    assert changed(["players=5", "think_s=2.5"]) == {"players": 5, "think_s": 2.5}
    for word in ("nobody=1", "players", "players=x"):
        with pytest.raises(ValueError, match=r"."):
            changed([word])
