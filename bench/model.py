"""How many nodes and shards so many players want: `make bench-model`. See "A million players" in
bench/README.md.

Multiplies and divides, and measures nothing: each figure that goes in is one that was measured, or an
assumption, and is printed as what it is. `--set NAME=VALUE` puts another one in its place.

    make bench-model ARGS='--set players=100000 --set think_s=3'
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import click

ASSUMED = "assumed"
KIB, GIB = 1024, 1024**3


class Figure(NamedTuple):
    """One that goes in."""

    value: float
    unit: str
    source: str
    """Which command measured it, or `ASSUMED`."""
    what: str


FIGURES: dict[str, Figure] = {
    # who plays
    "players": Figure(1_000_000, "", ASSUMED, "players at once, at the busiest hour"),
    "mean_load": Figure(0.5, "of it", ASSUMED, "players at once, in the mean over a day"),
    "hearts": Figure(0.3, "of them", ASSUMED, "at tables of Hearts, four to a table; the rest play alone"),
    "bots": Figure(0.25, "of seats", ASSUMED, "that bots have at those tables"),
    "spectators": Figure(0.03, "a player", ASSUMED, "connections that only look on"),
    "idle": Figure(0.2, "a player", ASSUMED, "connections that look at nothing: who reads, chooses, waits"),
    "think_s": Figure(4, "s", ASSUMED, "between two actions of a player alone, and of a table"),
    "solitaire_actions": Figure(
        74, "", ASSUMED, "actions of a game of Heart to Heart (its deals' usual par)"
    ),
    "hearts_actions": Figure(
        500, "", ASSUMED, "actions of a game of Hearts: nine hands of 52 plays and a pass"
    ),
    "kept_days": Figure(
        1, "days", ASSUMED, "for which finished games are kept (FINISHED_DAYS, by default 400)"
    ),
    # the machines
    "node_busy": Figure(0.5, "of a core", ASSUMED, "a node's process at the busiest hour"),
    "node_gib": Figure(2, "GiB", ASSUMED, "memory of a node's process"),
    "shard_busy": Figure(0.4, "of a core", ASSUMED, "a shard's process at the busiest hour"),
    "shard_gib": Figure(16, "GiB", ASSUMED, "data of a shard, of twice that in its machine"),
    "spare": Figure(0.25, "", ASSUMED, "more nodes than that, for those that are restarted or dead"),
    # what things cost
    "action_us": Figure(440, "µs", "bench-nodes, cluster", "of a node, an action stored alone, seen by one"),
    "viewer_us": Figure(8, "µs", "bench-open, 3 against 0", "of a node, the same action shown to one more"),
    "remote_us": Figure(94, "µs", "bench-nodes, apart", "of all nodes, for one more that shows the session"),
    "hearts_times": Figure(2.67, "", "bench-table4 / watch4", "a card of Hearts, beside a draw"),
    "bot_ms": Figure(21, "ms", "bench.hearts", "of a core, a decision of a good bot"),
    "store_us": Figure(250, "µs", "bench-nodes, cluster", "of a shard, an action stored and synced alone"),
    "connection_kib": Figure(30.6, "KiB", "bench-idle", "of a node, a connection with its part of a session"),
    "idle_us": Figure(9.5, "µs/s", "bench-idle", "of a node, to keep a connection alive"),
    "session_bytes": Figure(
        650, "B", "docs/operations.md", "of a shard, a session without actions, with its lists"
    ),
    "entry_bytes": Figure(24.8, "B", "bench-sizes", "of a shard, an entry of a log"),
    "file_bytes": Figure(74, "B", "bench-sizes", "written to the append-only file an action"),
    "to_store_bytes": Figure(221, "B", "bench-sizes", "from node to store an action"),
    "between_bytes": Figure(117, "B", "bench-sizes", "from store to each other node that shows the session"),
    "diff_bytes": Figure(16.9, "B", "bench-watch4", "a diff, to each viewer"),
    "action_bytes": Figure(18.2, "B", "bench-sizes", "an action, from its player"),
    "packet_bytes": Figure(66, "B", ASSUMED, "Ethernet, IP and TCP around each; TLS adds 22"),
}


class Row(NamedTuple):
    """One that comes out."""

    what: str
    value: float
    unit: str


def others(nodes: float, viewers: int) -> float:
    """On how many nodes, besides its own, a session with so many viewers is shown, if each viewer comes to
    any of `nodes` by chance: the mean."""
    return nodes * (1 - (1 - 1 / nodes) ** viewers) - 1


def model(given: Mapping[str, float]) -> list[Row]:
    """What follows from these figures, by the names in `FIGURES`."""
    g = {name: figure.value for name, figure in FIGURES.items()} | dict(given)
    seated = g["players"] * g["hearts"]
    alone = g["players"] - seated
    tables = seated / (4 * (1 - g["bots"]))
    sessions = alone + tables
    # a table acts as often as a player alone: one of its four is on turn
    solitaire_rate, hearts_rate = alone / g["think_s"], tables / g["think_s"]
    actions = solitaire_rate + hearts_rate
    spectators = g["players"] * g["spectators"]
    connections = g["players"] * (1 + g["spectators"] + g["idle"])
    shown_each = (actions * spectators / sessions) + solitaire_rate + hearts_rate * 4 * (1 - g["bots"])
    bot_cores = hearts_rate * g["bots"] * g["bot_ms"] / 1e3

    def cores(nodes: float) -> float:
        """Of nodes' processes, but for bots, if there are so many."""
        people = 4 * (1 - g["bots"])
        far = hearts_rate * others(nodes, max(1, round(people))) + actions * spectators / sessions
        us = (
            (solitaire_rate + hearts_rate * g["hearts_times"]) * g["action_us"]
            + (shown_each - actions) * g["viewer_us"]
            + far * g["remote_us"]
            + connections * g["idle_us"]
        )
        return us / 1e6

    nodes = 1.0
    for _ in range(8):  # more nodes, more of them that show one session: this settles at once
        by_cpu = cores(nodes) / g["node_busy"]
        by_memory = connections * g["connection_kib"] * KIB / (g["node_gib"] * GIB)
        nodes = max(1.0, math.ceil(max(by_cpu, by_memory)))
    ended_a_day = (
        g["mean_load"]
        * 86_400
        * (solitaire_rate / g["solitaire_actions"] + hearts_rate / g["hearts_actions"])
    )
    entries_a_day = g["mean_load"] * 86_400 * actions
    live_entries = alone * g["solitaire_actions"] / 2 + tables * g["hearts_actions"] / 2
    data = (sessions + g["kept_days"] * ended_a_day) * g["session_bytes"]
    data += (live_entries + g["kept_days"] * entries_a_day) * g["entry_bytes"]
    store_cores = actions * g["store_us"] / 1e6
    shards_by_cpu, shards_by_memory = store_cores / g["shard_busy"], data / (g["shard_gib"] * GIB)
    far = hearts_rate * others(nodes, max(1, round(4 * (1 - g["bots"])))) + actions * spectators / sessions
    return [
        Row("sessions at once", sessions, ""),
        Row("connections", connections, ""),
        Row("actions", actions, "a second"),
        Row("diffs to viewers", shown_each, "a second"),
        Row("cores of nodes' processes", cores(nodes), "cores"),
        Row("nodes by CPU", by_cpu, ""),
        Row("nodes by memory", by_memory, ""),
        Row("nodes, with those to spare", math.ceil(nodes * (1 + g["spare"])), ""),
        Row("connections of a node", connections / nodes, ""),
        Row("cores for bots", bot_cores, "cores"),
        Row("cores of the store", store_cores, "cores"),
        Row("data in the store", data / GIB, "GiB"),
        Row("  of which a day's finished games", _day(g, ended_a_day, entries_a_day) / GIB, "GiB"),
        Row("shards by CPU", shards_by_cpu, ""),
        Row("shards by memory", shards_by_memory, ""),
        Row("shards, each with a replica besides", math.ceil(max(shards_by_cpu, shards_by_memory, 1)), ""),
        Row("written to append-only files", actions * g["file_bytes"] / 1e6, "MB/s"),
        Row("nodes to store", actions * g["to_store_bytes"] / 1e6, "MB/s"),
        Row("store to nodes, of what others did", far * g["between_bytes"] / 1e6, "MB/s"),
        Row("to viewers", shown_each * (g["diff_bytes"] + g["packet_bytes"]) / 1e6, "MB/s"),
        Row("to a viewer", (g["diff_bytes"] + g["packet_bytes"]) / g["think_s"], "B/s"),
        Row("from players", actions * (g["action_bytes"] + g["packet_bytes"]) / 1e6, "MB/s"),
    ]


def _day(g: Mapping[str, float], ended: float, entries: float) -> float:
    return ended * g["session_bytes"] + entries * g["entry_bytes"]


def changed(words: Sequence[str]) -> dict[str, float]:
    """What `NAME=VALUE` says. Raises `ValueError` for what is no figure."""
    given = {}
    for word in words:
        name, _, value = word.partition("=")
        if name not in FIGURES:
            raise ValueError(f"{name!r} is none of {', '.join(FIGURES)}")
        given[name] = float(value)
    return given


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--set", "words", multiple=True, metavar="NAME=VALUE", help="Another figure. May be repeated.")
def main(words: tuple[str, ...]) -> None:
    """How many nodes and shards so many players want."""
    try:
        given = changed(words)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    for name, figure in FIGURES.items():
        value, source = given.get(name, figure.value), "given" if name in given else figure.source
        print(f"{name:<18}{value:>11,g} {figure.unit:<10}{source:<26}{figure.what}")
    print()
    for row in model(given):
        shown = f"{row.value:,.1f}" if row.value < 100 else f"{row.value:,.0f}"
        print(f"{row.what:<38}{shown:>13} {row.unit}")


if __name__ == "__main__":
    main()
