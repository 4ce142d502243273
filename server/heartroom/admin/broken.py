"""What somebody has put into the store that no house can read: what of it is named, and why it cannot be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from heartroom.games.game import Refused, rules
from heartroom.sessions.driver import Settings
from heartroom.sessions.house import House
from heartroom.sessions.log import unpack
from heartroom.sessions.room import Limits, Room
from heartroom.sessions.unreadable import is_other_type
from heartroom.store import keys
from heartroom.store.store import Away, Opened, Store, entry_of, or_away, record_of
from heartroom.web.identity import pseudonym

UNREAD: Final = (
    *(ValueError, TypeError, LookupError, OverflowError, RecursionError, AssertionError),
    msgspec.MsgspecError,
)
"""What reading something raises that is not as a house writes it."""


class Unreadable(Exception):
    """Something cannot be read; says what, and why."""


class Broken:
    """What of a house could not be read, or was left out, while all else was done: the first of it, and how
    much."""

    SHOWN: Final = 10
    """So many are named."""

    def __init__(self) -> None:
        self.named: list[str] = []
        self.count = 0

    def add(self, what: str) -> None:
        """One more: what it is, and what is wrong with it."""
        self.count += 1
        if len(self.named) < self.SHOWN:
            self.named.append(what)

    @property
    def lines(self) -> list[str]:
        """What there is to say of it."""
        more = self.count - len(self.named)
        return [*self.named, *([f"and {more} more"] if more else [])]


def why(error: BaseException) -> str:
    """What is wrong with something that could not be read, in a few words."""
    if is_other_type(error):
        return "what lies at its key is of another type"
    if isinstance(error, KeyError):
        return f"there is no {error.args[0]!r}" if error.args else "something is missing"
    return str(error) or type(error).__name__


def raise_failures(answers: Sequence[Any]) -> None:
    """Raises the first answer of a pipeline that is an error, but not one of something else at a key."""
    for answer in answers:
        if isinstance(answer, Exception) and not is_other_type(answer):
            raise answer


def room_of(store: Store, sid: str, opened: Opened) -> Room:
    """The room of a session as it was read: to look at, nothing can be done in it. Raises `Unreadable` where
    its log does not follow from its deal."""
    game = rules(opened.record.game, opened.record.rules)
    assert game is not None
    try:
        return Room(sid, game, opened, {}, House(store), Limits())
    except Refused as refused:
        reason = f"the rules do not have what is in its log ({refused.code})"
    except Exception as error:  # the rules may stumble in any way over what they were never given
        reason = f"its log does not follow from its deal ({type(error).__name__}: {error})"
    raise Unreadable(f"the session {pseudonym(sid)} cannot be read: {reason}")


async def peek(store: Store, sid: str) -> Opened | None:
    """What `Store.peek` returns, `None` if there is no such session. Raises `Unreadable`, `Away`."""
    try:
        opened = await store.peek(sid)
        if opened is not None:
            Settings(**opened.record.settings)
            for entry in opened.entries:
                unpack(entry.body)
        return opened
    except Away as away:
        if not is_other_type(away):
            raise
        reason = why(away)
    except UNREAD as error:
        reason = why(error)
    raise Unreadable(f"the session {pseudonym(sid)} cannot be read: {await _where(store, sid) or reason}")


# -- inside


async def _where(store: Store, sid: str) -> str:
    """What of a session cannot be read, and why; `""` if it can be, after all. Raises `Away`."""
    async with or_away():
        async with store.redis.pipeline(transaction=True) as pipe:
            pipe.hgetall(keys.session(sid))
            pipe.lrange(keys.log(sid), 0, -1)
            answers = await pipe.execute(raise_on_error=False)
        raise_failures(answers)
    fields, log = answers
    if isinstance(fields, Exception):
        return f"it is none: {why(fields)}"
    try:
        settings = record_of(fields).settings
        fields[b"nodes"].decode()
        Settings(**settings)
    except UNREAD as error:
        return f"its record: {why(error)}"
    if isinstance(log, Exception):
        return f"its log: {why(log)}"
    for number, raw in enumerate(log, 1):
        try:
            unpack(entry_of(raw).body)
        except UNREAD as error:
            return f"entry {number} of {len(log)} of its log: {why(error)}"
    return ""
