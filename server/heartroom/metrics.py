"""What this process counts, for whoever runs it: `/metrics` shows it in Prometheus' text format.

All names are here, so that docs/operations.md and the dashboard can be checked against them. Who does a
thing counts it; nothing reads these. With `serve --workers` every process writes to files in one directory
and any of them shows the sum (prometheus-client's multiprocess mode, which the environment switches on).
"""

from __future__ import annotations

import os
from typing import Final

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

DIRECTORY: Final = "PROMETHEUS_MULTIPROC_DIR"
"""The variable of the environment that names the directory which several processes share."""

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)

ACTIONS: Final = Counter(
    "heartroom_actions_total", "Entries stored in logs: what players and bots did, and what befell tables."
)
CONFLICTS: Final = Counter(
    "heartroom_commit_conflicts_total", "Entries that came too late, because another node's was first."
)
COMMIT_SECONDS: Final = Histogram(
    "heartroom_commit_seconds", "From sending a batch of entries to the store's answer.", buckets=_SECONDS
)
BATCH: Final = Histogram(
    "heartroom_commit_batch_entries",
    "Entries stored together.",
    buckets=(1, 2, 5, 10, 20, 50, 100, 200, 500),
)
STORE_FAILURES: Final = Counter(
    "heartroom_store_failures_total", "Requests that the store did not answer, or answered that it cannot."
)
UNREADABLE: Final = Counter(
    "heartroom_unreadable_messages_total",
    "What other nodes said and this one could not read: theirs is another version, or somebody else spoke.",
)
FAULTS: Final = Counter(
    "heartroom_faults_total", "Failures that nobody has foreseen; each is in the log, with its trace."
)
REFUSALS: Final = Counter(
    "heartroom_refusals_total", "Requests and actions refused, by code (see docs/protocol.md).", ["code"]
)
CONNECTIONS: Final = Gauge("heartroom_connections", "Websockets that are open.", multiprocess_mode="livesum")
ROOMS: Final = Gauge("heartroom_rooms", "Sessions in memory.", multiprocess_mode="livesum")
VIEWERS: Final = Gauge(
    "heartroom_viewers", "Connections that look at a session, players too.", multiprocess_mode="livesum"
)
CLOGGED: Final = Counter(
    "heartroom_viewers_clogged_total",
    "Viewers that read too slowly, and get a snapshot instead of what they missed.",
)
JOINS: Final = Counter(
    "heartroom_joins_total",
    "Looks at a session: `first`, or `diffs` or `snapshot` for somebody who held a part of it.",
    ["kind"],
)
SESSIONS: Final = Counter("heartroom_sessions_created_total", "Sessions begun here, by game.", ["game"])
BOT_SECONDS: Final = Histogram(
    "heartroom_bot_decision_seconds",
    "What a bot's decision took, waiting included.",
    ["game"],
    buckets=_SECONDS,
)
BOARD_ENTRIES: Final = Counter("heartroom_board_entries_total", "Results entered on boards by this node.")
BOARD_ALARMS: Final = Counter(
    "heartroom_board_alarms_total",
    "Finished ranked games that did not prove their result and got no entry.",
)


def shown() -> bytes:
    """All of it, as Prometheus reads it."""
    if DIRECTORY not in os.environ:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
