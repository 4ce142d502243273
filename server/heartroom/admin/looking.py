"""Looking: nodes, sessions, one session. Changes nothing, and prolongs no session's life."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec
from redis.exceptions import ResponseError

from heartroom.admin.broken import UNREAD, Broken, peek, raise_failures, room_of, why
from heartroom.games.game import Refused, games, rules
from heartroom.sessions import table as tables
from heartroom.sessions.driver import Settings
from heartroom.sessions.live import read as live_games
from heartroom.sessions.log import unpack
from heartroom.sessions.table import HOUSE, Table
from heartroom.store import keys
from heartroom.store.store import Opened, Store, entry_of, or_away
from heartroom.web.identity import pseudonym

_ID: Final = re.compile(r"[A-Za-z0-9_-]{12}")
_PID: Final = re.compile(r"[A-Za-z0-9_~-]{16}")
_PSEUDONYM: Final = re.compile(r"[0-9a-f]{12}")

# As in `beat.lua`, which takes anything else away.
_NODE: Final = re.compile(rb"[A-Za-z0-9_-]+")
_TIME: Final = re.compile(rb"[0-9]{1,15}")
_ABOUT: Final = re.compile(r"([0-9]{1,15}) ([A-Za-z0-9.+-]+)")

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
    """What stands in the braces of a key: the session, the player, the day. What is no text is replaced."""
    return key.decode(errors="replace").partition("{")[2].partition("}")[0]


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


async def nodes(store: Store, broken: Broken | None = None) -> list[Node]:
    """All nodes that have said lately that they live. What cannot be read of what they say is named in
    `broken`. Raises `Away`."""
    broken = broken if broken is not None else Broken()
    now_ms = await store.time_ms()
    async with or_away():
        async with store.redis.pipeline(transaction=False) as pipe:
            for key in (keys.NODES, keys.ABOUT, keys.LIVE):
                pipe.hgetall(key)
            answers = await pipe.execute(raise_on_error=False)
        raise_failures(answers)
    what = ("the leases of nodes", "the formats of nodes", "the lists of live games")
    for answer, called in zip(answers, what, strict=True):
        if isinstance(answer, Exception):
            broken.add(f"{called} cannot be read: {why(answer)}")
    said, about, live = ({} if isinstance(answer, Exception) else answer for answer in answers)
    found = []
    for raw, at in said.items():
        if not (_NODE.fullmatch(raw) and _TIME.fullmatch(at)):
            broken.add(f"the lease of {raw[:60]!r} cannot be read: {at[:60]!r} is no time")
            continue
        name = raw.decode()
        ago_ms = max(0, now_ms - int(at))
        left_ms = max(0, store.LEASE_MS - ago_ms)
        number, release = _about(name, about.get(raw), broken)
        count = _games(name, live.get(raw), broken)
        found.append(Node(name, left_ms > 0, ago_ms, left_ms, count, release, number))
    for raw in sorted({*live} - {*said}):  # of nodes that have died; or of nobody
        _games(repr(raw[:60]), live[raw], broken)
    return sorted(found)


async def sessions(
    store: Store, *, game: str = "", player: str = "", live: bool = False, broken: Broken | None = None
) -> list[Listed]:
    """Sessions, the latest first: of one `game`; with one `player` (pseudonym, id, or name in any case);
    `live`: those that a living node has open. Those that cannot be read are named in `broken`.
    Raises `Away`."""
    broken = broken if broken is not None else Broken()
    alive = {node.node for node in await nodes(store, broken) if node.alive}
    now_ms = await store.time_ms()
    sids = iter(await _sids(store, broken))
    found: list[Listed] = []
    while batch := list(islice(sids, _AT_A_TIME)):
        heads = [
            head
            for head in await _heads(store, batch, broken)
            if game in ("", head.game) and (not live or alive & head.nodes)
        ]
        players = await _players(store, heads, broken)
        called = await _names(store, {pid for pids in players.values() for pid in pids}, broken)
        for head in heads:
            if head.sid not in players:
                continue
            pids = players[head.sid]
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


def readable(opened: Opened) -> bool:
    """Whether this version has the rules that the session is played by."""
    return rules(opened.record.game, opened.record.rules) is not None


async def inspect(
    store: Store, given: str, *, reveal: bool = False, broken: Broken | None = None
) -> dict[str, Any]:
    """What there is to know of a session. Its deal, while it goes on, and ids only with `reveal`. What cannot
    be read of what nodes say is named in `broken`.
    Raises `NotFound`, `Unreadable`, `Away`."""
    sid = await find_session(store, given)
    opened = await peek(store, sid)
    if opened is None:
        raise NotFound(f"there is no session {given}")
    alive = {node.node for node in await nodes(store, broken) if node.alive}
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


def _about(node: str, raw: bytes | None, broken: Broken) -> tuple[int | None, str | None]:
    """The format and the release of a node, if it says them."""
    if raw is None:
        return None, None
    told = _ABOUT.fullmatch(raw.decode(errors="replace"))
    if told is None:
        broken.add(f"the format of the node {node} cannot be read: {raw[:60]!r} is none")
        return None, None
    return int(told[1]) or None, told[2]


def _games(node: str, raw: bytes | None, broken: Broken) -> int:
    """How many live games a node lists."""
    if raw is None:
        return 0
    try:
        int(raw[:13])
        return len(live_games(raw[13:]))
    except UNREAD as error:
        broken.add(f"the live games of the node {node} cannot be read: {why(error)}")
        return 0


class _Head(NamedTuple):
    sid: str
    game: str
    owner: str
    ranked: str
    nodes: frozenset[str]
    created_ms: int
    last_ms: int
    version: int


async def heads(store: Store, broken: Broken) -> list[_Head]:
    """What is known of each session without looking at its log. What cannot be read is named in `broken`.
    Raises `Away`."""
    sids = iter(await _sids(store, broken))
    found: list[_Head] = []
    while batch := list(islice(sids, _AT_A_TIME)):
        found += await _heads(store, batch, broken, logs=False)
    return found


async def _sids(store: Store, broken: Broken) -> list[str]:
    found = []
    for key in await store.find_keys(keys.session("*")):
        if _ID.fullmatch(tag(key)):
            found.append(tag(key))
        else:
            broken.add(f"{key[:60]!r} is no key of a session")
    return found


async def _heads(store: Store, sids: Sequence[str], broken: Broken, *, logs: bool = True) -> list[_Head]:
    """`logs`: also what their logs say, their version and when they were last played."""
    async with or_away():
        async with store.redis.pipeline(transaction=False) as pipe:
            for sid in sids:
                pipe.hmget(keys.session(sid), "game", "owner", "settings", "nodes", "created")
                if logs:
                    pipe.llen(keys.log(sid))
                    pipe.lrange(keys.log(sid), -1, -1)
            answers = await pipe.execute(raise_on_error=False)
        raise_failures(answers)
    each = 3 if logs else 1
    found = []
    for place, sid in enumerate(sids):
        fields, *log = answers[place * each : (place + 1) * each]
        try:
            head = _head(sid, fields, log)
        except UNREAD as error:
            broken.add(f"the session {pseudonym(sid)} cannot be read: {error}")
            continue
        if head is not None:
            found.append(head)
    return found


def _head(sid: str, fields: Any, log: Sequence[Any]) -> _Head | None:
    """`None` for one that has just expired. Raises what is in `UNREAD`."""
    if isinstance(fields, Exception):
        raise ValueError(f"it is none: {why(fields)}")
    if None in fields:
        if fields == [None] * len(fields):
            return None
        raise ValueError("its record: something is missing")
    game, owner, settings, where, created = fields
    try:
        head = _Head(
            sid,
            game.decode(),
            owner.decode(),
            Settings(**msgspec.msgpack.decode(settings)).ranked,
            frozenset(filter(None, where.decode().split(","))),
            int(created),
            int(created),
            0,
        )
    except UNREAD as error:
        raise ValueError(f"its record: {why(error)}") from None
    if not log:
        return head
    version, last = log
    try:
        if isinstance(version, Exception):
            raise version
        return head._replace(version=version, last_ms=_last_ms(last) if last else head.created_ms)
    except (ResponseError, *UNREAD) as error:
        raise ValueError(f"its log: {why(error)}") from None


def _last_ms(last: Sequence[bytes]) -> int:
    entry = entry_of(last[0])
    unpack(entry.body)
    return entry.at_ms


async def _players(store: Store, listed: Sequence[_Head], broken: Broken) -> dict[str, tuple[str, ...]]:
    """By session the players: those who sat there when it began."""
    several = [head for head in listed if head.game in games() and games()[head.game].seats > 1]
    async with or_away():
        async with store.redis.pipeline(transaction=False) as pipe:
            for head in several:
                pipe.lrange(keys.log(head.sid), 0, _BEGINNING - 1)
            answers = await pipe.execute(raise_on_error=False)
        raise_failures(answers)
    logs = dict(zip((head.sid for head in several), answers, strict=True))
    found: dict[str, tuple[str, ...]] = {}
    for head in listed:
        if head.sid not in logs:
            found[head.sid] = (head.owner,)
            continue
        log = logs[head.sid]
        try:
            if isinstance(log, Exception):
                raise log
            found[head.sid] = _sat(games()[head.game].seats, log)
        except (ResponseError, Refused, *UNREAD) as error:
            broken.add(f"the session {pseudonym(head.sid)} cannot be read: its log: {why(error)}")
    return found


async def _names(store: Store, pids: Collection[str], broken: Broken) -> dict[str, str]:
    """What players are called; `""` where that cannot be read."""
    pids = list(pids)
    async with or_away():
        async with store.redis.pipeline(transaction=False) as pipe:
            for pid in pids:
                pipe.hget(keys.player(pid), "name")
            answers = await pipe.execute(raise_on_error=False)
        raise_failures(answers)
    found = dict.fromkeys(pids, "")
    for pid, name in zip(pids, answers, strict=True):
        try:
            if isinstance(name, Exception):
                raise name
            found[pid] = (name or b"").decode()
        except (ResponseError, UnicodeDecodeError) as error:
            broken.add(f"the name of the player {pseudonym(pid)} cannot be read: {why(error)}")
    return found


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
