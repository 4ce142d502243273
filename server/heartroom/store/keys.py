"""The names of all keys, and nothing else. Keys of one session share a hash slot: `{session}`."""

from __future__ import annotations


def session(sid: str) -> str:
    """Hash: game, rules, epoch, options, deal, owner, settings, luck, created, nodes."""
    return f"hr:s:{{{sid}}}"


def log(sid: str) -> str:
    """List: the log. Its length is the session's version; entry *n* − 1 made version *n*."""
    return f"hr:l:{{{sid}}}"


def player(pid: str) -> str:
    """Hash: name, recovery, what is hidden (`"hidden name"`, `"hidden <day>"`)."""
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


def channel(sid: str) -> str:
    """Shard channel, in a cluster: what the nodes are to hear that have the session open."""
    return f"hr:c:{{{sid}}}"


def of_channel(name: str) -> str:
    """The session whose shard channel this is."""
    return name[6:-1]


EVERYBODY = "hr:all"
"""Channel, in a cluster a shard channel: what every node is to hear (names that changed, players who come and
go; but the latter in a cluster on the session's)."""

NODES = "hr:nodes"
"""Hash: by node, when it last said that it lives, in ms since 1970."""

ABOUT = "hr:nodes:about:{hr:nodes}"
"""Hash: by node, its format and its release, `"1 0.1.0"`. In the slot of `NODES`; apart from it, because
nodes of earlier versions expect numbers there, and nothing else."""


def probe(number: int) -> str:
    """Hash: nothing. Written to see whether its server takes writes; in a cluster each has one."""
    return f"hr:probe:h:{{{number}}}"


def probe_log(number: int) -> str:
    """List: what is written for the same end, and is taken away at once."""
    return f"hr:probe:l:{{{number}}}"


def probe_channel(number: int, whose: str) -> str:
    """Shard channel, in a cluster: for trying whether one may speak and listen. Nobody shares it."""
    return f"hr:c:{{{number}}}:{whose}"


DUE = "hr:due"
"""Set: what was begun in one slot and is to be done in others: `"name <player>"`, `"forget <player>"`.
Whoever does it takes it off; what a node that died has left is done by another."""


# What belongs to one day (`"2026-11-30"`) shares a hash slot.


def day(date: str) -> str:
    """String: the day's deal."""
    return f"hr:d:{{{date}}}"


def making(date: str) -> str:
    """String: the node that is making the day's deal."""
    return f"hr:dm:{{{date}}}"


def starts(date: str) -> str:
    """Hash: by player, the session of the ranked attempt."""
    return f"hr:ds:{{{date}}}"


def runs(date: str) -> str:
    """Sorted set: the players whose ranked attempt is to be finished, by its start in ms."""
    return f"hr:dr:{{{date}}}"


# A board has the slot of a day, or that of `ALL_TIME`.

ALL_TIME = "all-time"


def facts(slot: str) -> str:
    """Hash: by player, what is known of the entry on these boards."""
    return f"hr:bf:{{{slot}}}"


def rows(slot: str) -> str:
    """Hash: by player, the row on each of these boards."""
    return f"hr:br:{{{slot}}}"


def board(slot: str, by: str) -> str:
    """Sorted set: the rows, by what the board compares."""
    return f"hr:b:{{{slot}}}:{by}"


def results(pid: str) -> str:
    """Hash: a player's results, by day."""
    return f"hr:r:{{{pid}}}"


def finished(pid: str) -> str:
    """Sorted set: a player's finished games that were counted, `"<session> <game>"`, by their end in ms."""
    return f"hr:f:{{{pid}}}"


def statistics(pid: str) -> str:
    """Hash: `"<game>/<number>"` of all finished games of a player."""
    return f"hr:st:{{{pid}}}"


def beginnings(pid: str) -> str:
    """String: how many sessions a player may yet begin; see `bucket`."""
    return f"hr:q:{{{pid}}}"


def leaving(pid: str) -> str:
    """Set: the sessions that are to forget a player who is being deleted."""
    return f"hr:lv:{{{pid}}}"


def gone(pid: str) -> str:
    """String: that the player is being forgotten, or just was."""
    return f"hr:go:{{{pid}}}"


def groups(pid: str) -> str:
    """Set: the groups that a player is in."""
    return f"hr:pg:{{{pid}}}"


def group(gid: str) -> str:
    """Hash: name."""
    return f"hr:gr:{{{gid}}}"


def members(gid: str) -> str:
    """Sorted set: the players of a group, by when they came in ms."""
    return f"hr:gm:{{{gid}}}"


def recovery(digest: str) -> str:
    """String: the player whose recovery code has this digest. The player's hash has the digest, too: only
    then it holds."""
    return f"hr:rc:{{{digest}}}"


def bucket(what: str, whose: str) -> str:
    """String: how often `whose` may yet do `what`. All buckets of one kind share a slot."""
    return f"hr:q:{{{what}}}:{whose}"


ACTIONS = "hr:actions"
"""List: what those who run the house have done (`heartroom admin`), the latest last."""

LIVE = "hr:live"
"""Hash: by node, the live games that it has open."""

RESTORING = "hr:restoring"
"""String: which restore is under way, or was broken off. Nobody is to serve a store that has it."""

RESTORER = "hr:restoring:by"
"""String, for a while: the restore that works now. No node uses it."""

ALONE = (NODES, DUE, LIVE, RESTORING)
"""The keys of which there is one, that nodes use."""


def of_each_kind(tag: str) -> list[str]:
    """One of each other kind that nodes use, all of one slot; of nobody's where nobody has this tag."""
    kinds = (
        *(session, log, player, playing, waiting, day, starts, runs, making, facts, rows, results, finished),
        *(statistics, beginnings, leaving, gone, groups, group, members, recovery),
    )
    return [*(kind(tag) for kind in kinds), board(tag, "by"), bucket(tag, "whose")]
