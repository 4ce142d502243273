"""Backup and restore: all that a house must not lose, in one file, whatever kind of store it came from.

A file is gzip around frames, each four bytes of length and then msgpack: a head, one frame for each *bundle*
of keys that share a hash slot (a session with its log, a player, a day with its boards), and an end that says
how many there were. A bundle is read in one transaction, so every session is whole: its log is a log that
there was. Bundles are read one after the other, boards before results before logs: what a board of the backup
says is borne out by the backup's logs, and a win whose entry was under way is entered by the next sweep.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import math
import secrets
import zlib
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, Final, NamedTuple

import msgspec

from heartroom import __version__
from heartroom.admin import contents, looking
from heartroom.admin.broken import Broken, raise_failures
from heartroom.games.game import games, rules
from heartroom.leaderboards import results
from heartroom.store import keys
from heartroom.store.store import Away, Store, or_away
from heartroom.tasks import end

FORMAT: Final = 1
HELD_MS: Final = 30_000
"""How long a restore that says nothing is believed to work."""
_AT_ONCE: Final = 64
"""Bundles that are read, or written, at a time."""
_PIECE: Final = 1000
"""Entries that are written with one command."""

Key = tuple[str, str]
"""A key and what is at it: `string`, `hash`, `list`, `set`, `zset`."""
Item = tuple[str, str, int, Any]
"""The same, when it expires (ms since 1970, 0: never), and what is there."""


class BadBackup(Exception):
    """What is to be restored is no backup, or not all of one; says why."""


class NotEmpty(Exception):
    """There is something in the store that a restore would overwrite; says what."""


class Torn(Exception):
    """The store is not whole, because a restore is under way or was broken off; says which."""


class Bundle(NamedTuple):
    """Keys that share a slot, as they were at one moment."""

    family: str
    tag: str
    keys: tuple[Item, ...]


class Counts(NamedTuple):
    """What was written to a backup, or read from it."""

    bundles: int = 0
    sessions: int = 0
    players: int = 0
    days: int = 0
    expired: int = 0
    """Bundles of which nothing was left, because their time had come since the backup."""
    unplayable: int = 0
    """Sessions whose rules this version does not have."""
    left_out: int = 0
    """Things that no house has, of which nothing was restored."""


class Family(NamedTuple):
    """What belongs together by the tag in its keys."""

    name: str
    prefixes: tuple[str, ...]
    """How its keys begin."""
    keys: Callable[[str], list[Key]]
    """All that there may be for a tag."""


def _slot_keys(slot: str) -> list[Key]:
    boards = [*results.BOARDS, *results.ALL_TIME]
    return [
        (keys.day(slot), "string"),
        (keys.starts(slot), "hash"),
        (keys.runs(slot), "zset"),
        (keys.facts(slot), "hash"),
        (keys.rows(slot), "hash"),
        *((keys.board(slot, by), "zset") for by in boards),
    ]


def _player_keys(pid: str) -> list[Key]:
    return [
        (keys.player(pid), "hash"),
        (keys.playing(pid), "zset"),
        (keys.results(pid), "hash"),
        (keys.finished(pid), "zset"),
        (keys.statistics(pid), "hash"),
        (keys.leaving(pid), "set"),
        (keys.groups(pid), "set"),
    ]


# In the order in which they are read, see the module.
FAMILIES: Final = (
    Family("due", (keys.DUE,), lambda _: [(keys.DUE, "set")]),
    Family("actions", (keys.ACTIONS,), lambda _: [(keys.ACTIONS, "list")]),
    Family("day", ("hr:d:", "hr:ds:", "hr:dr:", "hr:bf:", "hr:br:", "hr:b:"), _slot_keys),
    Family("player", ("hr:p:", "hr:g:", "hr:r:", "hr:f:", "hr:st:", "hr:lv:", "hr:pg:"), _player_keys),
    Family(
        "group",
        ("hr:gr:", "hr:gm:"),
        lambda gid: [(keys.group(gid), "hash"), (keys.members(gid), "zset")],
    ),
    Family("recovery", ("hr:rc:",), lambda digest: [(keys.recovery(digest), "string")]),
    Family("waiting", ("hr:w:",), lambda game: [(keys.waiting(game), "zset")]),
    Family("session", ("hr:s:", "hr:l:"), lambda sid: [(keys.session(sid), "hash"), (keys.log(sid), "list")]),
)

LEFT_OUT: Final = (keys.NODES, keys.LIVE, keys.RESTORING, "hr:q:", "hr:dm:", "hr:go:", "hr:probe:")
"""How keys begin that no backup has: leases, what nodes say of themselves, that a restore is under way,
allowances, who makes a deal, who has just gone, probes."""


LeaveOut = Callable[[str], None]
"""Called for each thing that no backup has, with what it is: raises, or it is left out."""


def _refuse(reason: str) -> None:
    raise BadBackup(f"{reason}; --leave-out-broken restores all else")


async def backup(store: Store, file: IO[bytes], broken: Broken) -> Counts:
    """Writes all that is in the store to `file`, also what `restore` refuses; that is named in `broken`, and
    so is what cannot be written because it is of another type than a house has there. Raises `Torn`, `Away`,
    `OSError`; then the file is no whole backup."""
    await _is_whole(store)
    counts: dict[str, int] = dict.fromkeys(("session", "player", "day"), 0)
    number = 0
    numbers = {name: game.rules_version for name, game in games().items()}
    head = {
        "heartroom_backup": FORMAT,
        "version": __version__,
        "made_ms": await store.time_ms(),
        "rules": numbers,
    }

    def refused(reason: str) -> None:
        broken.add(f"a restore will refuse this backup: {reason}")

    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=4, mtime=0) as packed:
        _write(packed, head)
        async for bundle in _bundles(store, broken):
            _write(packed, bundle)
            _sift(bundle, refused)
            number += 1
            if bundle.family in counts and bundle.tag != keys.ALL_TIME:
                counts[bundle.family] += 1
        await _is_whole(store)  # nor has a restore begun meanwhile
        _write(packed, {"bundles": number})
    return Counts(number, counts["session"], counts["player"], counts["day"])


def check(file: IO[bytes], leave_out: LeaveOut = _refuse) -> set[str]:
    """Reads all of a backup: whether each of its keys is one that a house has, and holds what it should, see
    `contents`. Raises `BadBackup`, which names what does not; or that is told to `leave_out`. Returns the
    sessions that are left out."""
    families: set[str] = set()
    gone: set[str] = set()
    last = ("", "")
    for bundle in _read_bundles(file):
        here = (bundle.family, bundle.tag)
        # In order, so none comes twice: what is at a key twice would be put together.
        if (here[0] != last[0] and here[0] in families) or (here[0] == last[0] and here <= last):
            raise BadBackup(f"{_named(bundle)} is not where it should be")
        families.add(bundle.family)
        last = here
        if _sift(bundle, leave_out) is None and bundle.family == "session":
            gone.add(bundle.tag)
    return gone


async def restore(
    store: Store, file: IO[bytes], *, force: bool = False, broken: Broken | None = None
) -> Counts:
    """Makes the store what it was, from a file that can be read twice. Given `broken`, what a house does not
    have is named there and left out.

    Raises `BadBackup` and `NotEmpty` before anything is changed; with `force` what there is is removed, but
    not while nodes run. From the first change to the last the store says that it is torn, and no node starts
    on it: whoever breaks off leaves it so. One works at a time: others raise `NotEmpty` until this one has
    ended, or has said nothing for `HELD_MS`. Raises `Away`, and `Torn` if that has happened and another one
    has begun: then it is to be done again.
    """
    gone = check(file, _refuse if broken is None else broken.add)
    file.seek(0)
    ours = secrets.token_hex(8)
    async with _one_at_a_time(store, ours):
        bundles = _restorable(file, gone, whole=broken is None or not broken.count)
        counts = await _restore(store, bundles, ours, force=force)
    return counts._replace(left_out=0 if broken is None else broken.count)


# -- inside


@contextlib.asynccontextmanager
async def _one_at_a_time(store: Store, ours: str) -> AsyncIterator[None]:
    """Keeps other restores out. Raises `NotEmpty` if one is there."""

    async def hold(how: str) -> bool:
        return bool(await store.run("hold", [keys.RESTORER], [ours, HELD_MS, how]))

    async def keep() -> None:
        while True:
            await asyncio.sleep(HELD_MS / 5_000)
            with contextlib.suppress(Away):
                await hold("keep")

    if not await hold("take"):
        raise NotEmpty(
            "another restore is under way: wait for its end "
            f"(one that was killed counts for {HELD_MS // 1000} s)"
        )
    keeping = asyncio.create_task(keep())
    try:
        yield
    finally:
        await end([keeping])
        with contextlib.suppress(Away):  # then it ends by itself
            await hold("leave")


async def _restore(store: Store, bundles: Iterable[Bundle], ours: str, *, force: bool) -> Counts:
    await _nobody_serves(store)
    if not force:
        if await store.restoring():
            raise NotEmpty("another restore was broken off; --force does it anew")
        there = [key for key in await store.find_keys("hr:*") if not key.decode().startswith(LEFT_OUT)]
        if there:
            raise NotEmpty(f"the store is not empty (it has {len(there)} keys)")
    async with or_away():
        if not await store.redis.set(keys.RESTORING, ours, nx=not force):
            raise NotEmpty("another restore has just begun")
    # A node that has started since we looked has found no mark, and we now find the node.
    try:
        await _nobody_serves(store)
    except NotEmpty:
        await _whole_again(store, ours)
        raise
    counts = await _refill(store, bundles, ours)
    await _whole_again(store, ours)
    return counts


async def _is_whole(store: Store) -> None:
    """Raises `Torn` where a restore is under way, or was broken off."""
    if await store.restoring():
        raise Torn(
            "a restore of this store is under way, or was broken off: there is no whole of it to back up"
        )


def _named(bundle: Bundle) -> str:
    return f"what it has of the {bundle.family} {bundle.tag!r}"


def _sift(bundle: Bundle, leave_out: LeaveOut) -> Bundle | None:
    """What of a bundle a backup has; `None` if nothing of it can be. What is left out is told to `leave_out`,
    or raises what that raises."""
    named = _named(bundle)
    family = next((family for family in FAMILIES if family.name == bundle.family), None)
    if family is None:
        leave_out(f"{named} is nothing that a house has")
        return None
    left = dict(family.keys(bundle.tag))
    items: dict[str, Item] = {}
    for item in bundle.keys:
        name, kind, expires_ms, value = item
        # What belongs to a tag with a brace in it would be looked for under another.
        if left.pop(name, None) != kind or looking.tag(name.encode()) not in ("", bundle.tag):
            leave_out(f"{named} has a {kind} {name!r}, which is none of its keys")
        elif not _VALUES[kind](value) or not 0 <= expires_ms < _NEVER_MS:
            leave_out(f"{named} has at {name!r} what no {kind} has")
        else:
            items[name] = item
    if family.name == "session" and bundle.keys:
        if bundle.keys[0][0] != keys.session(bundle.tag):
            leave_out(f"{named} is a log without its session")
            return None
        if len(items) < len(bundle.keys):  # a session without its log would be another one
            return None
    if not items:
        return None if bundle.keys else bundle

    def of_it(reason: str) -> None:
        leave_out(f"{named} is nothing that a house has: {reason}")

    try:
        right = contents.sift(family.name, bundle.tag, {name: one[3] for name, one in items.items()}, of_it)
    except contents.Wrong as wrong:
        of_it(str(wrong))
        return None
    return _with(bundle._replace(keys=tuple(items.values())), right)


def _with(bundle: Bundle, values: Mapping[str, Any]) -> Bundle:
    """The bundle with other values at its keys, and without those that have none."""
    return bundle._replace(
        keys=tuple((name, kind, at, values[name]) for name, kind, at, _ in bundle.keys if name in values)
    )


def _without(bundle: Bundle, gone: Collection[str]) -> Bundle:
    """The bundle without what refers to sessions that are left out."""
    if not gone:
        return bundle
    found = {name: value for name, _, _, value in bundle.keys}
    return _with(bundle, contents.without(bundle.family, bundle.tag, found, gone))


def _are_bytes(values: Iterable[Any]) -> bool:
    return all(type(value) is bytes for value in values)


_NEVER_MS: Final = 1 << 53
_VALUES: Final[dict[str, Callable[[Any], bool]]] = {
    "string": lambda value: type(value) is bytes,
    "hash": lambda value: type(value) is dict and _are_bytes(value) and _are_bytes(value.values()),
    "list": lambda value: type(value) is list and _are_bytes(value),
    "set": lambda value: type(value) is list and _are_bytes(value),
    "zset": lambda value: (
        type(value) is list
        and all(type(row) is list and len(row) == 2 for row in value)
        and _are_bytes(member for member, _ in value)
        and all(type(score) in (int, float) and not math.isnan(score) for _, score in value)
    ),
}
"""Whether something is what `_commands` can write as a kind."""


async def _nobody_serves(store: Store) -> None:
    running = [node.node for node in await looking.nodes(store) if node.alive]
    if running:
        raise NotEmpty(f"nodes are running ({', '.join(running)}): end them first, they hold what there was")


async def _still_ours(store: Store, ours: str) -> None:
    """Raises `Torn` where another restore has taken the store from us."""
    async with or_away():
        marked: Any = await store.redis.get(keys.RESTORING)
    if marked != ours.encode():
        raise Torn("another restore has begun meanwhile, or ended: do this one again")


async def _whole_again(store: Store, ours: str) -> None:
    await _still_ours(store, ours)
    async with or_away():
        await store.redis.delete(keys.RESTORING)


def _restorable(file: IO[bytes], gone: Collection[str], *, whole: bool) -> Iterator[Bundle]:
    """The bundles of a backup that has been checked: all, if it is `whole`, else what of them is not left
    out, and without what refers to the sessions that are `gone`."""
    for bundle in _read_bundles(file):
        if whole:
            yield bundle
        elif (kept := _sift(bundle, lambda _: None)) is not None:
            yield _without(kept, gone)


async def _refill(store: Store, bundles: Iterable[Bundle], ours: str) -> Counts:
    await _clear(store)
    now_ms = await store.time_ms()
    counts = dict.fromkeys(Counts._fields, 0)
    waiting: list[tuple[str, list[Item]]] = []
    for bundle in bundles:
        counts["bundles"] += 1
        kept = [item for item in _together(bundle) if not 0 < item[2] <= now_ms]
        if not kept:
            counts["expired"] += 1
            continue
        waiting.append((bundle.family, kept))
        if len(waiting) == _AT_ONCE:
            await _still_ours(store, ours)
            await asyncio.gather(*(_put(store, *one) for one in waiting))
            waiting.clear()
        if f"{bundle.family}s" in counts and bundle.tag != keys.ALL_TIME:
            counts[f"{bundle.family}s"] += 1
        if bundle.family == "session":
            counts["unplayable"] += not _playable(kept)
    await _still_ours(store, ours)
    await asyncio.gather(*(_put(store, *one) for one in waiting))
    return Counts(**counts)


def _together(bundle: Bundle) -> Iterator[Item]:
    """What is in a bundle. A session and its log expire together, though one may have been read a millisecond
    later."""
    first = bundle.keys[0][2] if bundle.keys else 0
    for name, kind, expires_ms, value in bundle.keys:
        yield name, kind, first if bundle.family == "session" else expires_ms, value


def _family_of(key: str) -> Family | None:
    return next((family for family in FAMILIES if key.startswith(family.prefixes)), None)


async def _bundles(store: Store, broken: Broken) -> AsyncIterator[Bundle]:
    tags: dict[str, set[str]] = {family.name: set() for family in FAMILIES}
    for key in await store.find_keys("hr:*"):
        try:
            name = key.decode()
        except UnicodeDecodeError:
            broken.add(f"{key[:60]!r} is no key of a house, and not in the backup")
            continue
        family = None if name.startswith(LEFT_OUT) else _family_of(name)
        if family is not None:
            tags[family.name].add(looking.tag(key))
    for family in FAMILIES:
        ordered = sorted(tags[family.name])  # days before all time
        for first in range(0, len(ordered), _AT_ONCE):
            some = ordered[first : first + _AT_ONCE]
            for bundle in await asyncio.gather(*(_read(store, family, tag, broken) for tag in some)):
                if bundle.keys:
                    yield bundle


async def _read(store: Store, family: Family, tag: str, broken: Broken) -> Bundle:
    wanted = family.keys(tag)
    now_ms = store.now_ms
    async with or_away():
        async with store.redis.pipeline(transaction=True) as pipe:
            for name, kind in wanted:
                pipe.pttl(name)
                _ask(pipe, name, kind)
            answers = await pipe.execute(raise_on_error=False)
        raise_failures(answers)
    found = []
    odd = False
    for (name, kind), ttl_ms, value in zip(wanted, answers[::2], answers[1::2], strict=True):
        if isinstance(value, Exception):
            odd = True
            broken.add(f"what lies at {name!r} is no {kind}, and not in the backup")
            continue
        if ttl_ms == -2:
            continue
        expires_ms = now_ms + ttl_ms if ttl_ms >= 0 else 0
        if kind == "set":
            value = sorted(value)
        elif kind == "zset":
            value = [list(row) for row in value]
        found.append((name, kind, expires_ms, value))
    if family.name == "session" and (odd or [name for name, *_ in found[:1]] != [keys.session(tag)]):
        found.clear()  # it expired while it was read, or is no whole session
    return Bundle(family.name, tag, tuple(found))


def _ask(pipe: Any, name: str, kind: str) -> None:
    if kind == "string":
        pipe.get(name)
    elif kind == "hash":
        pipe.hgetall(name)
    elif kind == "list":
        pipe.lrange(name, 0, -1)
    elif kind == "set":
        pipe.smembers(name)
    else:
        pipe.zrange(name, 0, -1, withscores=True)


async def _put(store: Store, family: str, kept: Sequence[Item]) -> None:
    async with or_away(), store.redis.pipeline(transaction=True) as pipe:
        for name, kind, expires_ms, value in kept:
            if family == "session" and kind == "hash":
                # Nobody has it open, and whoever has seen more of it than there is now takes a snapshot.
                value = value | {b"nodes": b"", b"epoch": b"%d" % (secrets.randbelow(2**31 - 1) + 1)}
            for command in _commands(name, kind, value):
                pipe.execute_command(*command)
            if expires_ms:
                pipe.pexpireat(name, expires_ms)
        await pipe.execute()


def _commands(name: str, kind: str, value: Any) -> Iterator[tuple[Any, ...]]:
    if kind == "string":
        yield ("SET", name, value)
        return
    verb = {"hash": "HSET", "list": "RPUSH", "set": "SADD", "zset": "ZADD"}[kind]
    items: list[tuple[Any, ...]]
    if kind == "hash":
        items = list(value.items())
    elif kind == "zset":
        items = [(repr(score), member) for member, score in value]
    else:
        items = [(one,) for one in value]
    for first in range(0, len(items), _PIECE):
        yield (verb, name, *(part for item in items[first : first + _PIECE] for part in item))


def _playable(kept: Iterable[Item]) -> bool:
    for _, kind, _, value in kept:
        if kind == "hash":
            return rules(value[b"game"].decode(), int(value[b"rules"])) is not None
    return False


def _write(packed: gzip.GzipFile, frame: Any) -> None:
    raw = msgspec.msgpack.encode(frame)
    packed.write(len(raw).to_bytes(4) + raw)


def _read_bundles(file: IO[bytes]) -> Iterator[Bundle]:
    """The bundles of a backup, up to its end."""
    number = 0
    try:
        with gzip.GzipFile(fileobj=file, mode="rb") as packed:
            head = msgspec.msgpack.decode(_frame(packed))
            if not isinstance(head, dict) or head.get("heartroom_backup") != FORMAT:
                raise BadBackup("this is no backup of a heartroom, or one of another version's format")
            while True:
                raw = _frame(packed)
                if raw[:1] == _MAP_OF_ONE:
                    break
                yield msgspec.msgpack.decode(raw, type=Bundle)
                number += 1
            if msgspec.msgpack.decode(raw) != {"bundles": number} or packed.read(1):
                raise BadBackup("its end does not fit")
    except (
        OSError,
        EOFError,
        zlib.error,
        ValueError,
        TypeError,
        RecursionError,
        msgspec.MsgspecError,
    ) as error:
        raise BadBackup(f"this is no backup, or not all of one: {error}") from None


_MAP_OF_ONE: Final = b"\x81"
"""How the last frame begins."""


def _frame(packed: gzip.GzipFile) -> bytes:
    header = packed.read(4)
    raw = packed.read(int.from_bytes(header))
    if len(header) < 4 or len(raw) < int.from_bytes(header):
        raise EOFError("it is cut off")
    return raw


async def _clear(store: Store) -> None:
    names = [name for name in await store.find_keys("hr:*") if not name.startswith(keys.RESTORING.encode())]
    for first in range(0, len(names), _PIECE):
        async with or_away(), store.redis.pipeline(transaction=False) as pipe:
            for name in names[first : first + _PIECE]:
                pipe.unlink(name)
            await pipe.execute()
