"""What may be at each key that a backup has: whether a house can read what somebody has put into one.

Checks what would keep a node, or a page, from reading it: forms, names, numbers, and that what refers to one
another agrees. It replays no game and proves no result: that a log does not hold is found out by who opens
the session, and no reason to lose all others.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar

import msgspec

from heartroom.admin.acting import Done
from heartroom.daily import dates
from heartroom.leaderboards.results import Result, unpack_result, unpack_summary
from heartroom.protocol import names
from heartroom.sessions.driver import Settings
from heartroom.sessions.log import unpack
from heartroom.store import keys
from heartroom.store.days import Deal
from heartroom.store.store import entry_of, record_of

T = TypeVar("T")

_ID: Final = re.compile(r"[A-Za-z0-9_-]{12}")
"""Of a session, and of a group."""
_PID: Final = re.compile(r"[A-Za-z0-9_~-]{16}")
_GAME: Final = re.compile(r"[a-z0-9-]{1,40}")
_DIGEST: Final = re.compile(r"[0-9A-Za-z]{1,64}")
_NUMBER: Final = re.compile(r"-?[0-9]{1,18}")
_STATISTIC: Final = re.compile(r"[a-z0-9-]{1,40}/[a-z0-9_]{1,40}")
_VERSION: Final = re.compile(rb"[0-9]{1,15} ")

_LAST_MS: Final = 253_402_300_800_000
"""The year 10000, of which Python knows nothing."""
_LARGEST: Final = 1 << 53


class Wrong(ValueError):
    """What no house has there; says what."""


LeaveOut = Callable[[str], None]
"""Called for each thing that no house has, with what is wrong about it; raises `Wrong`, or it is left out."""


def sift(family: str, tag: str, found: Mapping[str, Any], leave_out: LeaveOut) -> dict[str, Any]:
    """What a house has of a bundle of a backup: `found` is what is at each key, in the form of its kind (see
    `backup`). A session is there as a whole or not at all; of all else what is right is kept.

    Raises `Wrong` where nothing of it can be, and what `leave_out` raises.
    """
    return _at_all(_SIEVES[family], tag, dict(found), leave_out)


def without(family: str, tag: str, found: Mapping[str, Any], sids: Collection[str]) -> dict[str, Any]:
    """The same bundle, in which nobody plays or is to go on with these sessions, which there are not. Who
    has begun one on a day has begun (it is their one attempt, and over); rows on boards stay, like those of
    sessions that have expired."""
    gone = {sid.encode() for sid in sids}
    kept = dict(found)
    if family == "player":
        for key in (keys.playing(tag), keys.finished(tag)):
            if key in kept:
                kept[key] = [row for row in kept[key] if row[0].split(b" ")[0] not in gone]
        if keys.leaving(tag) in kept:
            kept[keys.leaving(tag)] = [sid for sid in kept[keys.leaving(tag)] if sid not in gone]
    elif family == "waiting" and keys.waiting(tag) in kept:
        kept[keys.waiting(tag)] = [row for row in kept[keys.waiting(tag)] if row[0] not in gone]
    elif family == "day" and keys.runs(tag) in kept:
        starts = kept.get(keys.starts(tag), {})
        kept[keys.runs(tag)] = [row for row in kept[keys.runs(tag)] if starts.get(row[0]) not in gone]
    return kept


# -- inside


def _at_all(do: Callable[..., T], *args: Any) -> T:
    """What `do` returns. Raises `Wrong` for whatever it stumbles over."""
    try:
        return do(*args)
    except Wrong:
        raise
    except KeyError as missing:
        raise Wrong(f"there is no {missing}") from None
    except (ValueError, TypeError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise Wrong(str(error)) from None


def _those(items: Iterable[T], look: Callable[[T], object], leave_out: LeaveOut) -> list[T]:
    """Those that `look` finds nothing wrong with."""
    right = []
    for item in items:
        try:
            _at_all(look, item)
        except Wrong as wrong:
            leave_out(str(wrong))
        else:
            right.append(item)
    return right


def _is(form: re.Pattern[str], raw: bytes | str, what: str) -> str:
    text = raw if isinstance(raw, str) else raw.decode()
    if not form.fullmatch(text):
        raise Wrong(f"{text[:60]!r} is no {what}")
    return text


def _player(raw: bytes | str) -> str:
    return _is(_PID, raw, "id of a player")


def _session(raw: bytes | str) -> str:
    return _is(_ID, raw, "id of a session")


def _group(raw: bytes | str) -> str:
    return _is(_ID, raw, "id of a group")


def _day(raw: bytes | str) -> str:
    text = raw if isinstance(raw, str) else raw.decode()
    if dates.parse(text) != text:
        raise Wrong(f"{text[:60]!r} is no day")
    return text


def _name(raw: bytes | str) -> str:
    """A name, or none. What is a letter changes with the years: a name that was one is one."""
    text = raw if isinstance(raw, str) else raw.decode()
    if len(text) > names.MOST_CHARACTERS or any(unicodedata.category(char) == "Cc" for char in text):
        raise Wrong(f"{text[:60]!r} is no name")
    return text


def _game_of(raw: bytes) -> tuple[str, str]:
    """`"session game"`."""
    sid, _, game = raw.decode().partition(" ")
    return _session(sid), _is(_GAME, game, "name of a game")


def _time(ms: float) -> None:
    if not 0 <= ms < _LAST_MS or ms != int(ms):
        raise Wrong(f"{ms} is no time")


class _Sieve:
    """What is at the keys of a bundle, from which is taken what no house has."""

    def __init__(self, found: dict[str, Any], leave_out: LeaveOut) -> None:
        self.found = found
        self.leave_out: Final = leave_out

    def value(self, key: str, look: Callable[[Any], object]) -> None:
        """What is at a key, as a whole."""
        if key in self.found and not _those([self.found[key]], look, self.leave_out):
            del self.found[key]

    def each(self, key: str, look: Callable[[Any], object]) -> None:
        """Each member of a list or set."""
        if key in self.found:
            self.found[key] = _those(self.found[key], look, self.leave_out)

    def fields(self, key: str, look: Callable[[bytes, bytes], object]) -> None:
        """Each field of a hash, with what is in it."""
        if key in self.found:
            items = self.found[key].items()
            self.found[key] = dict(_those(items, lambda item: look(*item), self.leave_out))

    def by_time(self, key: str, member: Callable[[bytes], object]) -> None:
        """Each member of a sorted set whose scores are times."""

        def look(row: Sequence[Any]) -> None:
            member(row[0])
            _time(row[1])

        self.each(key, look)


def _due(_tag: str, found: dict[str, Any], leave_out: LeaveOut) -> dict[str, Any]:
    def look(item: bytes) -> None:
        what, _, pid = item.decode().partition(" ")
        if what not in ("name", "forget"):
            raise Wrong(f"nothing that is due is called {what[:60]!r}")
        _player(pid)

    sieve = _Sieve(found, leave_out)
    sieve.each(keys.DUE, look)
    return sieve.found


def _actions(_tag: str, found: dict[str, Any], leave_out: LeaveOut) -> dict[str, Any]:
    sieve = _Sieve(found, leave_out)
    sieve.each(keys.ACTIONS, lambda raw: _time(msgspec.json.decode(raw, type=Done).at_ms))
    return sieve.found


def _of_day(slot: str, found: dict[str, Any], leave_out: LeaveOut) -> dict[str, Any]:
    if slot != keys.ALL_TIME:
        _day(slot)
    else:
        for key in (keys.day(slot), keys.starts(slot), keys.runs(slot)):
            if found.pop(key, None) is not None:
                leave_out("it has what only a day has")

    def started(pid: bytes, sid: bytes) -> None:
        _player(pid)
        _session(sid)

    sieve = _Sieve(found, leave_out)
    sieve.value(keys.day(slot), lambda raw: _deal(slot, msgspec.msgpack.decode(raw, type=Deal)))
    sieve.fields(keys.starts(slot), started)
    sieve.by_time(keys.runs(slot), _player)
    _boards(slot, sieve)
    return sieve.found


def _deal(day: str, deal: Deal) -> None:
    if deal.day != day:
        raise Wrong(f"the deal there is of {deal.day[:60]!r}")
    _is(_GAME, deal.game, "name of a game")


def _boards(slot: str, sieve: _Sieve) -> None:
    """Whoever is on a board has a row and facts, or the page of the board could not be made."""

    def fact(pid: bytes, raw: bytes) -> None:
        _player(pid)
        if _VERSION.match(raw) is None:
            raise Wrong("facts have no version")
        packed = raw.split(b" ", 1)[1]
        if slot == keys.ALL_TIME:
            unpack_summary(packed)
        else:
            _result(slot, unpack_result(packed))

    def row(pid: bytes, raw: bytes) -> None:
        _, name, of = raw.decode().split("\n")
        _name(name)
        if of != pid.decode():
            raise Wrong(f"a row is of {of[:60]!r} and stands with {pid.decode()}")

    sieve.fields(keys.facts(slot), fact)
    sieve.fields(keys.rows(slot), row)
    facts, rows = (sieve.found.get(key, {}) for key in (keys.facts(slot), keys.rows(slot)))
    if facts.keys() != rows.keys():
        sieve.leave_out("players have rows without facts, or facts without rows")
        for key, other in ((keys.facts(slot), rows), (keys.rows(slot), facts)):
            if key in sieve.found:
                there = sieve.found[key]
                sieve.found[key] = {pid: value for pid, value in there.items() if pid in other}
    known = set(sieve.found.get(keys.rows(slot), {}).values())

    def place(key: str, one: Sequence[Any]) -> None:
        text, score = one
        if text not in known:
            raise Wrong(f"at {key!r} is a row of nobody")
        if abs(score) >= _LARGEST or score != int(score):
            raise Wrong(f"at {key!r} is a score {score}")

    for key in list(sieve.found):
        if key.startswith(keys.board(slot, "")):
            sieve.each(key, partial(place, key))


def _result(day: str, result: Result) -> None:
    if result.day != day:
        raise Wrong(f"a result there is of {result.day[:60]!r}")
    _session(result.session)
    _time(result.at_ms)


def _of_player(pid: str, found: dict[str, Any], leave_out: LeaveOut) -> dict[str, Any]:
    def field(name: bytes, value: bytes) -> None:
        if name == b"name":
            _name(value)
        elif name == b"recovery":
            _is(_DIGEST, value, "digest of a recovery code")
        elif name != b"hidden name":
            hidden, _, day = name.decode().partition(" ")
            if hidden != "hidden":
                raise Wrong(f"nothing of a player is called {name.decode()[:60]!r}")
            _day(day)

    def number(name: bytes, value: bytes) -> None:
        _is(_STATISTIC, name, "statistic")
        _is(_NUMBER, value, "number")

    _player(pid)
    sieve = _Sieve(found, leave_out)
    sieve.fields(keys.player(pid), field)
    sieve.by_time(keys.playing(pid), _game_of)
    sieve.by_time(keys.finished(pid), _game_of)
    sieve.fields(keys.results(pid), lambda day, raw: _result(_day(day), unpack_result(raw)))
    sieve.fields(keys.statistics(pid), number)
    sieve.each(keys.leaving(pid), _session)
    sieve.each(keys.groups(pid), _group)
    return sieve.found


def _of_group(gid: str, found: dict[str, Any], leave_out: LeaveOut) -> dict[str, Any]:
    _group(gid)
    sieve = _Sieve(found, leave_out)
    sieve.value(keys.group(gid), lambda fields: _name(fields[b"name"]))
    sieve.by_time(keys.members(gid), _player)
    return sieve.found


def _recovery(digest: str, found: dict[str, Any], leave_out: LeaveOut) -> dict[str, Any]:
    _is(_DIGEST, digest, "digest of a recovery code")
    sieve = _Sieve(found, leave_out)
    sieve.value(keys.recovery(digest), _player)
    return sieve.found


def _waiting(game: str, found: dict[str, Any], leave_out: LeaveOut) -> dict[str, Any]:
    _is(_GAME, game, "name of a game")
    sieve = _Sieve(found, leave_out)
    sieve.by_time(keys.waiting(game), _session)
    return sieve.found


def _of_session(sid: str, found: dict[str, Any], _leave_out: LeaveOut) -> dict[str, Any]:
    _session(sid)
    # It has no log before the first that is done in it.
    record = record_of(found[keys.session(sid)])
    _is(_GAME, record.game, "name of a game")
    _time(record.created_ms)
    for mapping in (record.options, record.settings):
        if not isinstance(mapping, dict):
            raise Wrong("options and settings have no names")
    msgspec.convert(list(Settings(**record.settings)), Settings)
    for raw in found.get(keys.log(sid), ()):
        entry = entry_of(raw)
        _time(entry.at_ms)
        unpack(entry.body)
    return found


_SIEVES: Final[Mapping[str, Callable[[str, dict[str, Any], LeaveOut], dict[str, Any]]]] = {
    "due": _due,
    "actions": _actions,
    "day": _of_day,
    "player": _of_player,
    "group": _of_group,
    "recovery": _recovery,
    "waiting": _waiting,
    "session": _of_session,
}
"""By family, see `backup.FAMILIES`."""
