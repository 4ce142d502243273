"""The names of all keys, and nothing else. Keys of one session share a hash slot: `{session}`."""

from __future__ import annotations


def session(sid: str) -> str:
    """Hash: game, rules, epoch, options, deal, owner, settings, luck, created, nodes."""
    return f"hr:s:{{{sid}}}"


def log(sid: str) -> str:
    """List: the log. Its length is the session's version; entry *n* − 1 made version *n*."""
    return f"hr:l:{{{sid}}}"


def player(pid: str) -> str:
    """Hash: name."""
    return f"hr:p:{{{pid}}}"


def playing(pid: str) -> str:
    """Sorted set: a player's sessions that are not over, as `"<session> <game>"`, by creation in ms."""
    return f"hr:g:{{{pid}}}"


def waiting(game: str) -> str:
    """Sorted set: the public tables of a game that wait for players, by creation in ms."""
    return f"hr:w:{{{game}}}"


def node(node_id: str) -> str:
    """Channel: what a node is to hear of the sessions that it has open."""
    return f"hr:n:{node_id}"


EVERYBODY = "hr:all"
"""Channel: what every node is to hear (names that changed, players who come and go)."""

DUE = "hr:due"
"""Set: what was begun in one slot and is to be done in others: `"name <player>"`, `"forget <player>"`.
Whoever does it takes it off; what a node that died has left is done by another."""
