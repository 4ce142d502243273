"""Looking: nodes, sessions, one session. Changes nothing, and prolongs no session's life."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec

from heartroom.games.game import games, rules
from heartroom.sessions import table as tables
from heartroom.sessions.driver import Settings
from heartroom.sessions.house import House
from heartroom.sessions.live import Playing
from heartroom.sessions.log import unpack
from heartroom.sessions.room import Limits, Room
from heartroom.sessions.table import HOUSE, Table
from heartroom.store import keys
from heartroom.store.store import Opened, Store, or_away
from heartroom.web.identity import pseudonym

_ID: Final = re.compile(r"[A-Za-z0-9_-]{12}")
_PID: Final = re.compile(r"[A-Za-z0-9_~-]{16}")
_PSEUDONYM: Final = re.compile(r"[0-9a-f]{12}")

_AT_A_TIME: Final = 500
"""Sessions that are asked for in one round trip."""
_BEGINNING: Final = 200
"""Entries of a log among which its table's start is looked for."""


class NotFound(Exception):
    """What was asked for is not in the store; says what."""


class Seated(NamedTuple):
    """A player of a session."""

    player: str
    """Pseudonym."""
    name: str


class Listed(NamedTuple):
    """One line of the list of sessions."""

    session: str
    """Pseudonym."""
    game: str
    version: int
    created_ms: int
    age_ms: int
    idle_ms: int
    """Since the last action, or since it was made."""
    open: bool
    """Whether a living node has it open."""
    ranked: str
    players: tuple[Seated, ...]


class Node(NamedTuple):
    """A node, as the store knows it."""

    node: str
    alive: bool
    """Whether its lease holds."""
    said_ms_ago: int
    lease_ms: int
    """What is left of its lease."""
    games: int
    """Live games that it lists."""
    release: str | None
    """Its version of heartroom; `None` of one that does not say: then it is an early one."""
    format: int | None
    """The number of what it says and stores; see `store.FORMAT`."""


def tag(key: bytes) -> str:
    """What stands in the braces of a key: the session, the player, the day."""
    return key.decode().partition("{")[2].partition("}")[0]


async def find_session(store: Store, given: str) -> str:
    """The id of a session that is given by it or by its pseudonym. Raises `NotFound`, `Away`."""
    if _ID.fullmatch(given):
        async with or_away():
            if await store.redis.exists(keys.session(given)):
                return given
    if _PSEUDONYM.fullmatch(given):
        for key in await store.find_keys(keys.session("*")):
            if pseudonym(tag(key)) == given:
                return tag(key)
    raise NotFound(f"there is no session {given}")


async def find_player(store: Store, given: str) -> str:
    """The id of a player that is given by it or by a pseudonym. Raises `NotFound`, `Away`."""
    nobody = NotFound(f"there is no player {given}, or nothing is kept of them")
    if _PID.fullmatch(given):  # and so may a name be
        async with or_away():
            kept: int = await store.redis.exists(keys.player(given), keys.playing(given), keys.results(given))
        if not kept:
            raise nobody
        return given
    if _PSEUDONYM.fullmatch(given):
        for key in await store.find_keys("hr:[pgr]:{*}"):
            if pseudonym(tag(key)) == given:
                return tag(key)
        raise nobody
    raise NotFound(
        f"{given!r} is no pseudonym and no id of a player; `sessions --player NAME` shows who has a name"
    )


async def nodes(store: Store) -> list[Node]:
    """All nodes that have said lately that they live. Raises `Away`."""
    now_ms = await store.time_ms()
    async with or_away():
        said: Any = await store.redis.hgetall(keys.NODES)
        about: Any = await store.redis.hgetall(keys.ABOUT)
        live: Any = await store.redis.hgetall(keys.LIVE)
    found = []
    for name, at in said.items():
        ago_ms = max(0, now_ms - int(at))
        playing = live.get(name)
        count = len(msgspec.msgpack.decode(playing[13:], type=tuple[Playing, ...])) if playing else 0
        left_ms = max(0, store.LEASE_MS - ago_ms)
        number, _, release = about.get(name, b"").decode().partition(" ")
        found.append(
            Node(
                name.decode(), left_ms > 0, ago_ms, left_ms, count, release or None, int(number or 0) or None
            )
        )
    return sorted(found)


async def sessions(store: Store, *, game: str = "", player: str = "", live: bool = False) -> list[Listed]:
    """Sessions, the latest first: of one `game`; with one `player` (pseudonym, id, or name in any case);
    `live`: those that a living node has open. Raises `Away`."""
    alive = {node.node for node in await nodes(store) if node.alive}
    now_ms = await store.time_ms()
    sids = iter([tag(key) for key in await store.find_keys(keys.session("*"))])
    found: list[Listed] = []
    while batch := list(islice(sids, _AT_A_TIME)):
        heads = [
            head
            for head in await _heads(store, batch)
            if game in ("", head.game) and (not live or alive & head.nodes)
        ]
        players = await _players(store, heads)
        everybody = list({pid for pids in players for pid in pids})
        called = dict(zip(everybody, await store.names(everybody), strict=True))
        for head, pids in zip(heads, players, strict=True):
            seated = tuple(Seated(pseudonym(pid), called[pid]) for pid in pids)
            if player and player not in pids and not _among(player, seated):
                continue
            found.append(
                Listed(
                    pseudonym(head.sid),
                    head.game,
                    head.version,
                    head.created_ms,
                    max(0, now_ms - head.created_ms),
                    max(0, now_ms - head.last_ms),
                    bool(alive & head.nodes),
                    head.ranked,
                    seated,
                )
            )
    return sorted(found, key=lambda one: (-one.created_ms, one.session))


def room_of(store: Store, sid: str, opened: Opened) -> Room:
    """The room of a session as it was read: to look at, nothing can be done in it."""
    game = rules(opened.record.game, opened.record.rules)
    assert game is not None
    return Room(sid, game, opened, {}, House(store), Limits())


def readable(opened: Opened) -> bool:
    """Whether this version has the rules that the session is played by."""
    return rules(opened.record.game, opened.record.rules) is not None


async def inspect(store: Store, given: str, *, reveal: bool = False) -> dict[str, Any]:
    """What there is to know of a session. Its deal, while it goes on, and ids only with `reveal`.
    Raises `NotFound`, `Away`."""
    sid = await find_session(store, given)
    opened = await store.peek(sid)
    if opened is None:
        raise NotFound(f"there is no session {given}")
    alive = {node.node for node in await nodes(store) if node.alive}
    async with or_away():
        left_ms = int(await store.redis.pttl(keys.session(sid)))
    record = opened.record
    facts: dict[str, Any] = {
        "session": pseudonym(sid),
        "game": record.game,
        "rules": record.rules,
        "rules_known": readable(opened),
        "epoch": record.epoch,
        "version": opened.version,
        "created_ms": record.created_ms,
        "last_ms": opened.entries[-1].at_ms if opened.entries else None,
        "expires_ms": opened.now_ms + left_ms if left_ms >= 0 else None,
        "settings": dict(record.settings),
        "nodes": [{"node": node, "alive": node in alive} for node in sorted(opened.nodes)],
    }
    over = False
    if readable(opened):
        room = room_of(store, sid, opened)
        over = room.is_over
        facts |= {
            "started": room.table.started,
            "over": over,
            "ended_by_house": room.table.ended,
            "private": room.table.private,
            "elapsed_ms": room.elapsed_ms,
            "scores": list(room.game.scores(room.state)),
            "seats": await _seats(store, room.table),
        }
    if over or reveal:
        facts |= {"options": dict(record.options), "deal": list(record.deal)}
    if reveal:
        facts["revealed"] = {
            "session": sid,
            "owner": record.owner,
            "log": [
                [entry.at_ms, deed.seat, deed.ref, deed.action]
                for entry in opened.entries
                for deed in (unpack(entry.body),)
            ],
        }
    return facts


# -- inside


class _Head(NamedTuple):
    sid: str
    game: str
    owner: str
    ranked: str
    nodes: frozenset[str]
    created_ms: int
    last_ms: int
    version: int


async def heads(store: Store) -> list[_Head]:
    """What is known of each session without reading its log. Raises `Away`."""
    sids = iter([tag(key) for key in await store.find_keys(keys.session("*"))])
    found: list[_Head] = []
    while batch := list(islice(sids, _AT_A_TIME)):
        found += await _heads(store, batch)
    return found


async def _heads(store: Store, sids: Sequence[str]) -> list[_Head]:
    async with or_away(), store.redis.pipeline(transaction=False) as pipe:
        for sid in sids:
            pipe.hmget(keys.session(sid), "game", "owner", "settings", "nodes", "created")
            pipe.llen(keys.log(sid))
            pipe.lrange(keys.log(sid), -1, -1)
        answers = await pipe.execute()
    found = []
    for sid, fields, version, last in zip(sids, answers[::3], answers[1::3], answers[2::3], strict=True):
        if None in fields:  # it has just expired
            continue
        game, owner, settings, where, created = fields
        found.append(
            _Head(
                sid,
                game.decode(),
                owner.decode(),
                Settings(**msgspec.msgpack.decode(settings)).ranked,
                frozenset(filter(None, where.decode().split(","))),
                int(created),
                int(last[0][:13]) if last else int(created),
                version,
            )
        )
    return found


async def _players(store: Store, listed: Sequence[_Head]) -> list[tuple[str, ...]]:
    """The players of each session: those who sat there when it began."""
    several = [head for head in listed if head.game in games() and games()[head.game].seats > 1]
    async with or_away(), store.redis.pipeline(transaction=False) as pipe:
        for head in several:
            pipe.lrange(keys.log(head.sid), 0, _BEGINNING - 1)
        logs = dict(zip((head.sid for head in several), await pipe.execute(), strict=True))
    return [
        _sat(games()[head.game].seats, logs[head.sid]) if head.sid in logs else (head.owner,)
        for head in listed
    ]


def _sat(seats: int, log: Iterable[bytes]) -> tuple[str, ...]:
    table = tables.empty(seats)
    for raw in log:
        deed = unpack(raw[13:])
        if table.started:
            break
        if deed.seat == HOUSE:
            table = table.apply(deed.action)
    return table.players


async def _seats(store: Store, table: Table) -> list[dict[str, Any]]:
    names = await store.names([chair.pid for chair in table.chairs])
    return [
        {
            "player": pseudonym(chair.pid) if chair.pid else None,
            "name": name,
            "away": chair.away,
            "left": chair.left,
        }
        for chair, name in zip(table.chairs, names, strict=True)
    ]


def _among(player: str, seated: Iterable[Seated]) -> bool:
    return any(
        player == one.player or (one.name and player.casefold() == one.name.casefold()) for one in seated
    )
