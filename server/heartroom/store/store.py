"""The store: sessions and players in Redis.

Owns every key and script. Knows entries of a log as bytes; what they mean is the sessions' business.
An operation either does what it says, or raises `Away` and may or may not have been done: whoever asked
reads the truth back from the log.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import math
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import structlog
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, RedisError

from heartroom import __version__, metrics
from heartroom.store import keys
from heartroom.store.cluster import OF_A_CLUSTER, Cluster, Table, WrongKind, misnamed, of_a_cluster, slot_of
from heartroom.store.ears import Began, Ears, Lost, NodeEars, ShardEars
from heartroom.store.line import Behind, Line, Replicas
from heartroom.store.lines import Call, Lines
from heartroom.store.probe import Failures, Probe
from heartroom.store.urls import client, follow, parse
from heartroom.tasks import end

_log = structlog.get_logger(__name__)

LUA: Final = Path(__file__).parent / "lua"

_STAMP: Final = 13
"""Digits of the time (ms since 1970) before each entry of a log; enough until the year 2286."""


class Away(Exception):
    """The store does not answer, or answers that it cannot: nothing is known to have been done."""


class Misnamed(Away):
    """The store is not of the kind that its URL says; says which it is."""


FORMAT: Final = 1
"""The number of what nodes say to each other and of what they store: keys, entries of logs, messages. It
is to go up with a change that a node with the number before would not understand, or would spoil. Nodes with
different numbers do not share a store. `tests/test_format.py` holds the shape of it all against the
number."""


class OtherFormat(Away):
    """A node of another format holds a lease: until that ends, this one opens nothing. Says which."""


class Entry(NamedTuple):
    """One entry of a session's log."""

    at_ms: int
    """When the store accepted it, ms since 1970."""
    body: bytes


class Commit(msgspec.Struct, frozen=True, gc=False):
    """One entry to be appended to one session's log, if nothing came between."""

    sid: str
    epoch: int
    version: int
    """The version it is meant to follow: the length of the log before it."""
    body: bytes
    ttl_s: int
    """The session's life from now on, in seconds; 0 leaves it as it is."""
    before_ms: int = 0
    """When `version` was stored, as the node knows it: another entry there is a conflict. 0: not compared."""


Outcome = tuple[int | None, int]
"""What became of a commit: `STORED`, `CONFLICT` or `GONE`, or `None` if nobody knows; and when the store
accepted it, ms since 1970."""

UNKNOWN: Final[Outcome] = (None, 0)

STORED, CONFLICT, GONE = 0, 1, 2
"""What became of a commit; see `lua/commit.lua`."""


@dataclass(frozen=True, slots=True)
class Record:
    """What is stored of a session besides its log."""

    game: str
    rules: int
    epoch: int
    options: Mapping[str, Any]
    deal: tuple[Any, ...]
    owner: str
    """The player who began it."""
    settings: Mapping[str, Any]
    """How the table is played (see `sessions.driver.Settings`); empty for a solitaire."""
    luck: str
    """A secret seed for what is no part of the deal."""
    created_ms: int


class Opened(NamedTuple):
    """A session as it stood at one moment."""

    now_ms: int
    record: Record
    version: int
    entries: list[Entry]
    """Those after the version that was asked from; all, if from 0."""
    follows: bool
    """Whether the log has the version that was asked from, and as the asker knows it."""
    nodes: frozenset[str]
    """The nodes that have it open, this one too; some may be dead."""


class News(NamedTuple):
    """One commit that another node made."""

    sid: str
    epoch: int
    version: int
    before_ms: int
    """When the version before it was stored, as that node knows it; 0 if there is none."""
    entry: Entry


class Renamed(NamedTuple):
    """A player has another name."""

    pid: str
    name: str


class Changed(NamedTuple):
    """Something that can be watched is no longer what it was."""

    topic: str


class Presence(NamedTuple):
    """A player has come to a table on another node, or left it; or (`seat` −1) that node asks who is here."""

    sid: str
    node: str
    seat: int
    here: bool


class Unreadable(NamedTuple):
    """Something was said that means nothing to this node; it may have been news."""

    sid: str
    """Of this session; `""`: of any."""


_SAID: Final[Mapping[int, msgspec.msgpack.Decoder[Changed | Renamed | Presence]]] = {
    1: msgspec.msgpack.Decoder(Changed),
    2: msgspec.msgpack.Decoder(Renamed),
    4: msgspec.msgpack.Decoder(Presence),
}
"""What is said besides commits, by its length."""
_PACKED: Final = [bytes([0x90 + length]) for length in _SAID]
"""What such a message begins with. That of a commit begins with the session."""


class Missed(NamedTuple):
    """Something of what the other nodes said may not have been heard."""

    sids: frozenset[str] | None
    """Of these sessions; `None`: of all."""
    everybody: bool
    """And of what is said to everybody."""


Said = News | Renamed | Presence | Changed | Missed | Unreadable
"""What is heard."""


def entry_of(raw: bytes) -> Entry:
    """What an entry of a log says. Raises `ValueError` if it is none."""
    return Entry(int(raw[:_STAMP]), raw[_STAMP:])


def record_of(fields: Mapping[bytes, bytes]) -> Record:
    """What a session's hash says. Raises `KeyError`, `ValueError` or `MsgspecError` if it is no session's."""
    return Record(
        game=fields[b"game"].decode(),
        rules=int(fields[b"rules"]),
        epoch=int(fields[b"epoch"]),
        options=msgspec.msgpack.decode(fields[b"options"]),
        deal=msgspec.msgpack.decode(fields[b"deal"], type=tuple),
        owner=fields[b"owner"].decode(),
        settings=msgspec.msgpack.decode(fields[b"settings"]),
        luck=fields[b"luck"].decode(),
        created_ms=int(fields[b"created"]),
    )


_FAILURES: Final = (TimeoutError, RedisError, OSError)
"""How a store that is away shows."""


@contextlib.asynccontextmanager
async def or_away() -> AsyncIterator[None]:
    """Raises `Away` (`Misnamed`) for whatever failure of the store befalls what is done within."""
    try:
        yield
    except _FAILURES as error:
        metrics.STORE_FAILURES.inc()
        if misnamed(error):
            raise Misnamed(OF_A_CLUSTER) from error
        if isinstance(error, WrongKind):
            raise Misnamed(str(error)) from error
        raise Away(str(error)) from error


class Store:
    """All access to the store, from one node."""

    CONNECTIONS: Final = 64
    """At once, of one node."""
    LEASE_MS: Final = 10_000
    """How long a node that says nothing is believed to live."""
    PUZZLED_S: Final = 60.0
    """The log speaks of messages that cannot be read no more often than this."""

    def __init__(
        self, url: str, *, live_ttl_s: int = 30 * 86_400, timeout_s: float = 5.0, replicas: int = 0
    ) -> None:
        """`url`: see `urls`; raises `BadUrl`. `live_ttl_s`: how long a session lives after it was last opened
        or played. `timeout_s`: how long an answer may take before the store counts as away. `replicas`: how
        many must have an entry of a log before this node makes anything of it."""
        self.node = secrets.token_hex(4)
        """What this node is called."""
        self.live_ttl_s: Final = live_ttl_s
        where = parse(url)
        self._sources: Final = {file.stem: file.read_text() for file in LUA.glob("*.lua")}
        self._shas: Final = {
            name: hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()
            for name, source in self._sources.items()
        }
        self.replicas: Final = Replicas(replicas, min(1_000, int(timeout_s * 500)))
        # What is asked while all connections are in use waits: a crowd is no reason to be away.
        make = partial(client, where, self.CONNECTIONS, timeout_s)
        self.table: Final = Table(where.addresses, make, timeout_s) if where.kind == "cluster" else None
        """Of a cluster: which node serves which slot."""
        self.redis: Redis
        self._ears: Ears
        if self.table is not None:
            self.redis = Cluster(self.table, where.addresses[0])
            self._ears = ShardEars(self.table)
            self._lines = Lines(self.table, self._sources["commit"], self.replicas)
        else:
            self.redis = make()
            self._ears = NodeEars(self.redis, self.node)
            self._line = Line(self.redis, self._sources["commit"], timeout_s, self.replicas)
        self._probe: Final = Probe(self.redis, self.table, self._sources["probe"], replicas)
        self._tasks: Final[set[asyncio.Task[None]]] = set()
        self._leased = False
        self._kept_out: OtherFormat | None = None
        """Why nothing is stored here, nor opened: what `beat` said last, if it was that."""
        self._puzzled_s, self._unreadable = -math.inf, 0
        """When the log last spoke of messages that cannot be read (monotonic seconds); how many there were
        since."""
        self._dead: deque[str] = deque(maxlen=16)
        self._offset_ms: float = time.time() * 1000 - time.monotonic() * 1000

    @property
    def now_ms(self) -> int:
        """The store's time as well as this node knows it, without asking. For display only."""
        return int(time.monotonic() * 1000 + self._offset_ms)

    def _heard(self, now_ms: int) -> None:
        self._offset_ms = now_ms - time.monotonic() * 1000

    async def run(self, script: str, names: Sequence[str], args: Sequence[Any]) -> Any:
        """What a script of `lua/` returns for these keys and arguments. Raises `Away`, `OtherFormat`."""
        self._keep_out()
        async with or_away():
            return await self._call(script, names, args)

    def _keep_out(self) -> None:
        """Raises `OtherFormat` while nodes of another format have the store: they would not understand what
        this one writes, nor it what they have written."""
        if self._kept_out is not None:
            raise OtherFormat(str(self._kept_out))

    async def _call(self, script: str, names: Sequence[str], args: Sequence[Any]) -> Any:
        try:
            return await self.redis.evalsha(self._shas[script], len(names), *names, *args)
        except NoScriptError:  # the store has not seen it yet, or was restarted
            return await self.redis.eval(self._sources[script], len(names), *names, *args)

    async def _call_replicated(self, script: str, names: Sequence[str], args: Sequence[Any]) -> Any:
        """The same for a script that writes something, which the replicas that are waited for have then, and
        with it all that was written before. Raises `Behind`."""
        if not self.replicas.number:
            return await self._call(script, names, args)
        command: list[Any] = ["EVALSHA", self._shas[script], len(names), *names, *args]

        async def send(client: Any, asking: bool) -> Any:
            async with client.pipeline(transaction=False) as pipe:  # over one connection
                if asking:
                    pipe.execute_command("ASKING")
                pipe.execute_command(*command)
                pipe.execute_command("WAIT", *self.replicas)
                *_, answer, have = await pipe.execute()
            if have < self.replicas.number:
                raise Behind(f"{have} of {self.replicas.number} replicas have it")
            return answer

        async def anywhere() -> Any:
            if isinstance(self.redis, Cluster):
                return await self.redis.routed(slot_of(names[0]), send)
            return await send(self.redis, False)

        try:
            return await anywhere()
        except NoScriptError:
            command[:2] = ["EVAL", self._sources[script]]
            return await anywhere()

    # -- sessions

    async def create(
        self,
        sid: str,
        game: str,
        rules: int,
        options: Mapping[str, Any],
        deal: Sequence[Any],
        owner: str,
        settings: Mapping[str, Any],
    ) -> None:
        """Stores a new session (or leaves the one of that name as it is) and lists it with its owner.
        Raises `Away`, `OtherFormat`."""
        self._keep_out()
        async with or_away():
            created = await self.time_ms()
            fields: dict[str, Any] = {
                "game": game,
                "rules": rules,
                "epoch": secrets.randbelow(2**31 - 1) + 1,
                "options": msgspec.msgpack.encode(options),
                "deal": msgspec.msgpack.encode(deal),
                "owner": owner,
                "settings": msgspec.msgpack.encode(settings),
                "luck": secrets.token_hex(8),
                "created": created,
                "nodes": "",
            }
            flat = [part for field in fields.items() for part in field]
            await self._call("create", [keys.session(sid)], [self.live_ttl_s, *flat])
            # In another slot, and so apart: a list that misses a session loses no game, only its entry.
            await self.list_playing(owner, sid, game, created)

    async def time_ms(self) -> int:
        """The store's time, ms since 1970. Raises `Away`."""
        async with or_away():
            seconds, micros = await self.redis.time()
        now_ms = seconds * 1000 + micros // 1000
        self._heard(now_ms)
        return now_ms

    async def open(self, sid: str, version: int = 0, stored_ms: int = 0) -> Opened | None:
        """Opens a session on this node (it hears of all later commits as `News`) and reads its log after
        `version`, which the node believes was stored at `stored_ms` (0: any time). `None` if there is no such
        session. Raises `Away`, `OtherFormat`."""
        self._keep_out()
        async with or_away():
            await self._ears.join(sid)
            answer = await self._call_replicated(
                "open", [keys.session(sid), keys.log(sid)], [self.node, version, self.live_ttl_s, stored_ms]
            )
        if answer is None:
            await self._ears.leave(sid)
            return None
        now_ms, flat, length, raw, follows = answer
        self._heard(now_ms)
        fields = dict(zip(flat[::2], flat[1::2], strict=True))
        nodes = frozenset(fields[b"nodes"].decode().split(","))
        return Opened(
            now_ms, record_of(fields), length, [entry_of(item) for item in raw], bool(follows), nodes
        )

    async def peek(self, sid: str) -> Opened | None:
        """Reads a session and leaves it as it is: this node hears of nothing, and it lives no longer.
        `None` if there is none. Raises `Away`."""
        now_ms = await self.time_ms()
        async with or_away(), self.redis.pipeline(transaction=True) as pipe:
            pipe.hgetall(keys.session(sid))
            pipe.lrange(keys.log(sid), 0, -1)
            fields, raw = await pipe.execute()
        if not fields:
            return None
        nodes = frozenset(filter(None, fields[b"nodes"].decode().split(",")))
        return Opened(now_ms, record_of(fields), len(raw), [entry_of(item) for item in raw], True, nodes)

    async def find_keys(self, pattern: str) -> list[bytes]:
        """All keys like `pattern`, in order, wherever they are. Looks at every key that there is; while slots
        move it may miss some. Raises `Away`."""
        async with or_away():
            servers: list[Any] = [self.redis]
            if self.table is not None:
                servers = [self.table.client(address) for address in await self.table.primaries()]
            found: set[bytes] = set()
            for server in servers:
                async for key in server.scan_iter(match=pattern, count=1000):
                    found.add(key)
        return sorted(found)

    async def close(self, sid: str) -> None:
        """This node need not hear of `sid` any more. Raises `Away`."""
        await self._ears.leave(sid)
        await self.strike(sid, self.node)

    async def strike(self, sid: str, node: str) -> None:
        """`node`, which is dead, has `sid` open no more. Raises `Away`."""
        async with or_away():
            await self._call("close", [keys.session(sid)], [node])

    async def renew(self, sid: str, epoch: int, version: int, stored_ms: int = 0) -> None:
        """Ends `epoch` of a session that is known to have had `version` entries, the last of them stored at
        `stored_ms` (0: at any time), and has not. Raises `Away`, `OtherFormat`."""
        self._keep_out()
        async with or_away():
            fresh = secrets.randbelow(2**31 - 1) + 1
            await self._call("renew", [keys.session(sid), keys.log(sid)], [epoch, fresh, version, stored_ms])

    def begin(self, commits: Sequence[Commit], done: Callable[[list[Outcome]], None]) -> None:
        """Does what `commit` does, without making anybody wait: later, and once, `done` is called with what
        became of each. Where `commit` would raise, that is `UNKNOWN`."""
        if self._kept_out is not None:
            self._spawn(self._at_length(commits, range(len(commits)), [UNKNOWN] * len(commits), done))
            return
        places, calls = self._calls(commits)
        answers: list[Any] = []

        def told(error: RedisError | None) -> None:
            if error is not None:
                metrics.STORE_FAILURES.inc()
                if self.table is not None:
                    self.table.doubt()
            outcomes, refused = self._outcomes(places, answers, len(commits))
            if refused and error is None:  # the script is not known there, or the slot has moved
                self._spawn(self._at_length(commits, refused, outcomes, done))
            else:
                done(outcomes)

        if self.table is not None:
            begun = self._lines.begin(calls, answers, told)
        else:
            begun = self._line.begin([call[1:] for call in calls], answers, told)
        if not begun:
            self._spawn(self._at_length(commits, range(len(commits)), [UNKNOWN] * len(commits), done))

    async def _at_length(
        self,
        commits: Sequence[Commit],
        places: Sequence[int],
        outcomes: list[Outcome],
        done: Callable[[list[Outcome]], None],
    ) -> None:
        try:
            found = await self.commit([commits[place] for place in places])
        except Away:
            pass
        except Exception:  # whatever it is, those who wait must be told
            _log.exception("commit failed")
        else:
            for place, outcome in zip(places, found, strict=True):
                outcomes[place] = outcome
        done(outcomes)

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def commit(self, commits: Sequence[Commit]) -> list[Outcome]:
        """Appends each of `commits` (of different sessions) to its log, in one round trip.

        Raises `Away`: some may have been stored; `OtherFormat`: none was.
        """
        self._keep_out()
        places, calls = self._calls(commits)
        if self.table is not None:
            return await self._commit_by_slot(commits, places, calls)
        try:
            answer = await self._line.call(*calls[0][1:])
        except _FAILURES as error:
            metrics.STORE_FAILURES.inc()
            raise Away(str(error)) from error
        return self._outcomes(places, [answer], len(commits))[0]

    def _calls(self, commits: Sequence[Commit]) -> tuple[Sequence[Sequence[int]], list[Call]]:
        """The calls of the script that store `commits`, each with the places of those that it stores."""
        if self.table is None:
            return (range(len(commits)),), [Call(0, *self._packed(commits, ""))]
        dead = ",".join(["", *self._dead, ""])
        by_slot: dict[int, list[int]] = {}
        for place, commit in enumerate(commits):
            by_slot.setdefault(slot_of(keys.session(commit.sid)), []).append(place)
        return list(by_slot.values()), [
            Call(slot, *self._packed((commits[place] for place in places), dead))
            for slot, places in by_slot.items()
        ]

    def _packed(self, commits: Iterable[Commit], dead: str) -> tuple[list[str], list[Any]]:
        names: list[str] = []
        args: list[Any] = [self.node, dead]
        for commit in commits:
            names += (keys.session(commit.sid), keys.log(commit.sid))
            args += (commit.epoch, commit.version, commit.before_ms, commit.body, commit.ttl_s)
        return names, args

    def _outcomes(
        self, places: Sequence[Sequence[int]], answers: Sequence[Any], count: int
    ) -> tuple[list[Outcome], list[int]]:
        """What became of each of `count` commits, and the places of those whose calls were answered with
        errors. Those that were not answered, the last, are `UNKNOWN`."""
        if self.table is None and answers and isinstance(answers[0], list):  # nearly always, and often
            now_ms, *results = answers[0]
            self._heard(now_ms)
            return [(result, now_ms) for result in results], []
        outcomes = [UNKNOWN] * count
        refused: list[int] = []
        for where, answer in zip(places, answers, strict=False):
            if isinstance(answer, list):
                now_ms, *results = answer
                self._heard(now_ms)
                for place, result in zip(where, results, strict=True):
                    outcomes[place] = result, now_ms
            else:
                refused += where
        return outcomes, refused

    async def _commit_by_slot(
        self, commits: Sequence[Commit], places: Sequence[Sequence[int]], calls: Sequence[Call]
    ) -> list[Outcome]:
        answers = await self._lines.call_all(calls)
        outcomes, _ = self._outcomes(places, [answer.value for answer in answers], len(commits))
        for where, answer in zip(places, answers, strict=True):
            if answer.moving:
                for place in where:
                    result, now_ms = outcomes[place]
                    if result == STORED:
                        await self._tell_where_they_are(commits[place], now_ms)
        return outcomes

    async def _tell_where_they_are(self, commit: Commit, now_ms: int) -> None:
        """The script has told those who listen where the slot is being moved to, and nobody does. Should this
        fail, they hear when the slot has moved, and read on."""
        head = f"{commit.sid} {self.node} {commit.epoch} {commit.version + 1} {commit.before_ms} {now_ms}"
        with contextlib.suppress(*_FAILURES):
            await self.redis.spublish(keys.channel(commit.sid), head.encode() + commit.body)

    def lane(self, sid: str) -> Hashable:
        """Commits in different lanes need not wait for each other: other servers store them."""
        return None if self.table is None else self.table.known(slot_of(keys.session(sid)))

    @property
    def home(self) -> Hashable:
        """The lane in which nodes have their leases."""
        return None if self.table is None else self.table.known(slot_of(keys.NODES))

    # -- nodes

    async def beat(self) -> frozenset[str]:
        """Prolongs this node's lease, and returns the nodes whose leases hold. Raises `Away`.

        A node whose own lease has ended meanwhile was taken for dead, and the dead do not come back: it goes
        on under another name, and who listens here hears `Away`. Who has no lease gets none while one of
        another format holds: `OtherFormat`; until it has one, nothing is stored here and nothing is opened.
        """
        try:
            nodes = await self._prolong()
        except OtherFormat as other:
            self._kept_out = other
            raise
        self._kept_out = None
        return nodes

    async def _prolong(self) -> frozenset[str]:
        async with or_away():
            held, nodes = await self._beat(self.node, "stay" if self._leased else "come")
            if self._leased and not held:
                fresh = secrets.token_hex(4)
                _, nodes = await self._beat(fresh, "come")
                _log.warning("lease ended", node=self.node, now=fresh)
                self.node = fresh
                await self._ears.renamed(fresh)
            self._leased = True
        return nodes

    async def _beat(self, node: str, how: str) -> tuple[bool, frozenset[str]]:
        """See `lua/beat.lua`. Raises `OtherFormat`."""
        held, *said = await self._call(
            "beat", [keys.NODES, keys.ABOUT], [node, self.LEASE_MS, how, f"{FORMAT} {__version__}"]
        )
        told = [one.decode() for one in said]
        if held < 0:
            other, number, release = told[0].split(" ", 2)
            raise OtherFormat(
                f"a node of heartroom {release} ({other}) runs on this store, in format {number}; "
                f"this is heartroom {__version__}, of format {FORMAT}: stop all nodes before an upgrade"
            )
        return bool(held), frozenset(told)

    async def look_around(self) -> None:
        """Raises `OtherFormat` if `beat` would, `Away`."""
        async with or_away():
            await self._beat(self.node, "look")

    async def leave(self) -> None:
        """Ends this node's lease. Raises `Away`."""
        async with or_away():
            await self._beat(self.node, "go")
            self._leased = False

    async def follow(self) -> None:
        """Leaves a primary that was replaced, as the Sentinels say, if there are any. Raises `Away`."""
        async with or_away():
            await follow(self.redis)

    def bury(self, nodes: Iterable[str]) -> None:
        """These nodes are dead: whoever commits strikes them off."""
        self._dead.extend(nodes)

    async def news(self) -> AsyncIterator[Said]:
        """What the other nodes do, for ever; first a `Missed` of everything, when listening has begun. Raises
        `Away` when the connection is lost: what was missed must then be read from the logs."""
        async with or_away(), contextlib.aclosing(self._ears.listen()) as ears:
            async for heard in ears:
                if isinstance(heard, Lost):
                    sids = frozenset(map(keys.of_channel, heard.channels - {keys.EVERYBODY}))
                    yield Missed(sids, keys.EVERYBODY in heard.channels)
                elif isinstance(heard, Began):
                    yield Missed(None, True)
                else:
                    said = self._read(*heard)
                    if said is not None:
                        yield said

    def _read(self, channel: str, message: bytes) -> Said | None:
        """The same as `_said`, also of what cannot be read."""
        try:
            return self._said(message)
        except (ValueError, msgspec.MsgspecError) as error:
            metrics.UNREADABLE.inc()
            self._unreadable += 1
            if time.monotonic() - self._puzzled_s >= self.PUZZLED_S:
                _log.error("unreadable message", reason=str(error), messages=self._unreadable)
                self._puzzled_s, self._unreadable = time.monotonic(), 0
            of_a_session = self.table is not None and channel != keys.EVERYBODY
            return Unreadable(keys.of_channel(channel) if of_a_session else "")

    def _said(self, message: bytes) -> Said | None:
        """What a message says; `None` if it is a commit of this node's own. Raises `ValueError` or
        `MsgspecError`."""
        if message[:1] in _PACKED:
            return _SAID[message[0] & 0x0F].decode(message)
        sid, node, epoch, version, before, entry = message.split(b" ", 5)
        if node == self.node.encode():
            return None
        return News(sid.decode(), int(epoch), int(version), int(before), entry_of(entry))

    async def _tell(self, said: tuple[Any, ...], sid: str = "") -> None:
        """Tells all nodes, or in a cluster those that have `sid` open."""
        message = msgspec.msgpack.encode(said)
        async with or_away():
            if self.table is None:
                await self.redis.publish(keys.EVERYBODY, message)
            else:
                await self.redis.spublish(keys.channel(sid) if sid else keys.EVERYBODY, message)

    # -- players

    async def player(self, pid: str) -> tuple[str, list[tuple[str, str]]]:
        """The name of `pid` (`""` if none) and its sessions that are not over as (session, game), the
        latest first. Raises `Away`."""
        async with or_away(), self.redis.pipeline(transaction=False) as pipe:
            pipe.hget(keys.player(pid), "name")
            pipe.zrevrange(keys.playing(pid), 0, 19)
            name, listed = await pipe.execute()
        sessions = [tuple(item.decode().split(" ", 1)) for item in listed]
        return (name or b"").decode(), sessions

    async def names(self, pids: Sequence[str]) -> list[str]:
        """The name of each of `pids`. Raises `Away`."""
        async with or_away(), self.redis.pipeline(transaction=False) as pipe:
            for pid in pids:
                pipe.hget(keys.player(pid), "name")
            return [(name or b"").decode() for name in await pipe.execute()]

    async def rename(self, pid: str, name: str) -> None:
        """Names a player and tells all nodes. What else bears the name is *due*. Raises `Away`,
        `OtherFormat`."""
        self._keep_out()
        async with or_away():
            await self.redis.sadd(keys.DUE, f"name {pid}")
            await self.redis.hset(keys.player(pid), "name", name)
        await self.tell_renamed(pid, name)

    async def tell_renamed(self, pid: str, name: str) -> None:
        """Tells all nodes what a player is called. Raises `Away`."""
        await self._tell((pid, name))

    async def tell_changed(self, topic: str) -> None:
        """Tells all nodes, this one too, that `topic` has changed. Raises `Away`."""
        await self._tell((topic,))

    async def list_playing(self, pid: str, sid: str, game: str, created_ms: int) -> None:
        """Adds a session to those of a player that are not over. Raises `Away`."""
        async with or_away(), self.redis.pipeline(transaction=False) as pipe:
            pipe.zadd(keys.playing(pid), {f"{sid} {game}": created_ms})
            pipe.zremrangebyrank(keys.playing(pid), 0, -51)
            pipe.expire(keys.playing(pid), self.live_ttl_s)
            await pipe.execute()

    async def waiting(self, game: str) -> list[str]:
        """Public tables of `game` that wait for players, the oldest first. Raises `Away`."""
        async with or_away():
            listed: Any = await self.redis.zrange(keys.waiting(game), 0, 19)
        return [sid.decode() for sid in listed]

    async def list_waiting(self, sid: str, game: str, created_ms: int | None) -> None:
        """Adds a table to those that wait, or takes it off (`None`). Raises `Away`."""
        async with or_away():
            if created_ms is None:
                await self.redis.zrem(keys.waiting(game), sid)
            else:
                await self.redis.zadd(keys.waiting(game), {sid: created_ms})

    async def tell_presence(self, sid: str, seat: int, here: bool) -> None:
        """Tells the other nodes who has come or gone here (`seat` −1: asks who is there). Raises `Away`."""
        await self._tell((sid, self.node, seat, here), sid)

    async def unlist(self, sid: str, game: str, pids: Sequence[str]) -> None:
        """Takes a session that is over from its players' lists; may be done again. Raises `Away`."""
        async with or_away():
            for pid in dict.fromkeys(pids):
                await self.redis.zrem(keys.playing(pid), f"{sid} {game}")

    async def failures(self) -> Failures:
        """Which servers of the store cannot store now, by lane, and why: see `Probe.failures`."""
        failures = await self._probe.failures()
        if failures:
            metrics.STORE_FAILURES.inc()
        return failures

    async def ask_kind(self) -> None:
        """Raises `Misnamed` if the store is not of the kind that its URL says; `Away`."""
        async with or_away():
            if self.table is not None:
                await self.table.primaries()
                return
            try:
                await self.redis.exists(keys.RESTORING, keys.NODES)  # of two slots, if there are any
            except RedisError as error:
                if of_a_cluster(error):
                    raise WrongKind(OF_A_CLUSTER) from error
                raise

    async def restoring(self) -> bool:
        """Whether a restore is under way or was broken off: then the store is not whole, and nobody is to
        serve it. Raises `Away`."""
        async with or_away():
            return bool(await self.redis.exists(keys.RESTORING))

    async def aclose(self) -> None:
        """Closes all connections. Nobody hears of commits that are under way."""
        await end(self._tasks)
        await self._ears.aclose()
        await self._probe.aclose()
        with contextlib.suppress(RedisConnectionError):
            await self.redis.aclose()
