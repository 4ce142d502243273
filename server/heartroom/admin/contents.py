"""What may be at each key that a backup has: whether a house can read what somebody has put into one.

Checks what would keep a node, or a page, from reading it: forms, names, numbers, and that what refers to one
another agrees. It replays no game and proves no result: that a log does not hold is found out by who opens
the session, and no reason to lose all others.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

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


def check(family: str, tag: str, found: Mapping[str, Any]) -> None:
    """Raises `Wrong` for what a bundle of a backup has that no house has: `found` is what is at each key, in
    the form of its kind (see `backup`)."""
    try:
        _CHECKS[family](tag, found)
    except Wrong:
        raise
    except KeyError as missing:
        raise Wrong(f"there is no {missing}") from None
    except (ValueError, TypeError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise Wrong(str(error)) from None


# -- inside


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


def _by_time(rows: Iterable[Sequence[Any]], member: Callable[[bytes], object]) -> None:
    for one, at_ms in rows:
        member(one)
        _time(at_ms)


def _check_due(_tag: str, found: Mapping[str, Any]) -> None:
    for item in found.get(keys.DUE, ()):
        what, _, pid = item.decode().partition(" ")
        if what not in ("name", "forget"):
            raise Wrong(f"nothing that is due is called {what[:60]!r}")
        _player(pid)


def _check_actions(_tag: str, found: Mapping[str, Any]) -> None:
    for raw in found.get(keys.ACTIONS, ()):
        _time(msgspec.json.decode(raw, type=Done).at_ms)


def _check_day(slot: str, found: Mapping[str, Any]) -> None:
    days = {keys.day(slot), keys.starts(slot), keys.runs(slot)}
    if slot != keys.ALL_TIME:
        _day(slot)
    elif days & found.keys():
        raise Wrong("it has what only a day has")
    if (raw := found.get(keys.day(slot))) is not None:
        _check_deal(slot, msgspec.msgpack.decode(raw, type=Deal))
    for pid, sid in found.get(keys.starts(slot), {}).items():
        _player(pid)
        _session(sid)
    _by_time(found.get(keys.runs(slot), ()), _player)
    _check_boards(slot, found)


def _check_deal(day: str, deal: Deal) -> None:
    if deal.day != day:
        raise Wrong(f"the deal there is of {deal.day[:60]!r}")
    _is(_GAME, deal.game, "name of a game")


def _check_boards(slot: str, found: Mapping[str, Any]) -> None:
    """Whoever is on a board has a row and facts, or the page of the board could not be made."""
    facts, rows = found.get(keys.facts(slot), {}), found.get(keys.rows(slot), {})
    if facts.keys() != rows.keys():
        raise Wrong("players have rows without facts, or facts without rows")
    for pid, raw in facts.items():
        _player(pid)
        if _VERSION.match(raw) is None:
            raise Wrong("facts have no version")
        packed = raw.split(b" ", 1)[1]
        if slot == keys.ALL_TIME:
            unpack_summary(packed)
        else:
            _check_result(slot, unpack_result(packed))
    for pid, raw in rows.items():
        _, name, of = raw.decode().split("\n")
        _name(name)
        if of != pid.decode():
            raise Wrong(f"a row is of {of[:60]!r} and stands with {pid.decode()}")
    known = set(rows.values())
    for key, board in found.items():
        if key.startswith(keys.board(slot, "")):
            for row, score in board:
                if row not in known:
                    raise Wrong(f"at {key!r} is a row of nobody")
                if abs(score) >= _LARGEST or score != int(score):
                    raise Wrong(f"at {key!r} is a score {score}")


def _check_result(day: str, result: Result) -> None:
    if result.day != day:
        raise Wrong(f"a result there is of {result.day[:60]!r}")
    _session(result.session)
    _time(result.at_ms)


def _check_player(pid: str, found: Mapping[str, Any]) -> None:
    _player(pid)
    for field, value in found.get(keys.player(pid), {}).items():
        if field == b"name":
            _name(value)
        elif field == b"recovery":
            _is(_DIGEST, value, "digest of a recovery code")
        elif field != b"hidden name":
            hidden, _, day = field.decode().partition(" ")
            if hidden != "hidden":
                raise Wrong(f"nothing of a player is called {field.decode()[:60]!r}")
            _day(day)
    _by_time(found.get(keys.playing(pid), ()), _game_of)
    _by_time(found.get(keys.finished(pid), ()), _game_of)
    for day, raw in found.get(keys.results(pid), {}).items():
        _check_result(_day(day), unpack_result(raw))
    for name, number in found.get(keys.statistics(pid), {}).items():
        _is(_STATISTIC, name, "statistic")
        _is(_NUMBER, number, "number")
    for sid in found.get(keys.leaving(pid), ()):
        _session(sid)
    for gid in found.get(keys.groups(pid), ()):
        _group(gid)


def _check_group(gid: str, found: Mapping[str, Any]) -> None:
    _group(gid)
    if keys.group(gid) in found:
        _name(found[keys.group(gid)][b"name"])
    _by_time(found.get(keys.members(gid), ()), _player)


def _check_recovery(digest: str, found: Mapping[str, Any]) -> None:
    _is(_DIGEST, digest, "digest of a recovery code")
    for pid in found.values():
        _player(pid)


def _check_waiting(game: str, found: Mapping[str, Any]) -> None:
    _is(_GAME, game, "name of a game")
    for rows in found.values():
        _by_time(rows, _session)


def _check_session(sid: str, found: Mapping[str, Any]) -> None:
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


_CHECKS: Final[Mapping[str, Callable[[str, Mapping[str, Any]], None]]] = {
    "due": _check_due,
    "actions": _check_actions,
    "day": _check_day,
    "player": _check_player,
    "group": _check_group,
    "recovery": _check_recovery,
    "waiting": _check_waiting,
    "session": _check_session,
}
"""By family, see `backup.FAMILIES`."""
