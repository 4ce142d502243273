"""Acting: ends a game, hides a name or a result, builds boards anew. What is done is written down first."""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import socket
from collections.abc import AsyncIterator, Iterable
from typing import Any, Final, NamedTuple, Self

import msgspec

from heartroom.admin import looking
from heartroom.admin.broken import UNREAD, Broken, Unreadable, peek, room_of, why
from heartroom.admin.looking import NotFound
from heartroom.daily.dates import Day
from heartroom.daily.service import Daily, board_of, counts_until_ms
from heartroom.games.game import Refused
from heartroom.leaderboards import results
from heartroom.leaderboards.results import Result, Unproved
from heartroom.leaderboards.service import ALL_TIME_TOPIC, Leaderboards, topic
from heartroom.players.service import Players
from heartroom.sessions.house import House
from heartroom.sessions.room import Limits
from heartroom.sessions.unreadable import is_other_type
from heartroom.store import keys
from heartroom.store.boards import Boards
from heartroom.store.days import Deal
from heartroom.store.store import Away, Store, or_away
from heartroom.web.identity import pseudonym

_KEPT: Final = 10_000
"""Actions that are remembered."""
_NOBODY: Final = "~"
"""How the ids of forgotten players begin."""


class Over(Exception):
    """What was to be ended has been ended already; says what."""


class Done(NamedTuple):
    """Something that was done, as it was written down."""

    at_ms: int
    action: str
    on: str
    """A pseudonym, a day, or both."""
    reason: str
    by: str = ""
    """Who did it, as far as the operating system knows: user and host. `""` where it was not written down."""


class Rebuilt(NamedTuple):
    """What became of the players of a day."""

    right: int = 0
    """Rows that were as the logs say."""
    entered: int = 0
    """Rows that were missing or wrong."""
    removed: int = 0
    """Rows whose logs do not bear them out, and what was on a board and nobody's row."""
    hidden: int = 0
    """Wins that are hidden."""
    unfinished: int = 0
    """Attempts that are not over, were not won, or were won too late."""
    unproved: int = 0
    """Rows that stay though nothing proves them: their logs have expired, are of other rules, or cannot be
    read."""


def whoever() -> str:
    """Who runs this process, as the operating system has it: `"ada@card-room-1"`."""
    number = os.getuid()
    try:
        user = pwd.getpwuid(number).pw_name
    except KeyError:  # containers run as numbers, too
        user = str(number)
    return f"{user}@{socket.gethostname()}"


async def note(store: Store, action: str, on: str, reason: str) -> None:
    """Writes down that something is about to be done. Raises `Away`."""
    done = Done(await store.time_ms(), action, on, reason, whoever())
    async with or_away(), store.redis.pipeline(transaction=True) as pipe:
        pipe.rpush(keys.ACTIONS, msgspec.json.encode(done))
        pipe.ltrim(keys.ACTIONS, -_KEPT, -1)
        await pipe.execute()


async def actions(store: Store, broken: Broken) -> list[Done]:
    """What was done, the latest last. What cannot be read is named in `broken`. Raises `Away`."""
    async with or_away():
        raw: Any = await store.redis.lrange(keys.ACTIONS, 0, -1)
    found = []
    for number, one in enumerate(raw, 1):
        try:
            found.append(msgspec.json.decode(one, type=Done))
        except UNREAD as error:
            broken.add(f"action {number} of {len(raw)} cannot be read: {why(error)}")
    return found


class Desk:
    """A house that serves nobody: the rules, the boards and the players' data, to act on. All methods raise
    `Away`, and `NotFound` if there is no such thing."""

    def __init__(self, store: Store, limits: Limits) -> None:
        self.store: Final = store
        # A log that is full must be no reason why a game cannot be ended.
        self.house: Final = House(store, limits._replace(log_length=2**31))
        self.daily: Final = Daily(self.house)
        self.boards: Final = Leaderboards(self.house, self.daily)
        self.players: Final = Players(self.house, self.boards)
        self.people: Final = self.boards.people

    @classmethod
    @contextlib.asynccontextmanager
    async def at(cls, store: Store, limits: Limits) -> AsyncIterator[Self]:
        """A desk, cleared in the end."""
        desk = cls(store, limits)
        try:
            yield desk
        finally:
            await desk.house.aclose()

    async def end(self, given: str, reason: str) -> str:
        """Ends a game for good: its players are told, nobody wins, and its log is kept like that of any
        finished game. Returns its pseudonym. Raises `Over` where that was done already, `Refused` where the
        game is over, `Unreadable` where nobody can play it."""
        sid = await looking.find_session(self.store, given)
        opened = await peek(self.store, sid)
        if opened is not None and looking.readable(opened):
            room_of(self.store, sid, opened)
        room = await self.house.open(sid)
        if room.table.ended:
            await self.house.tidied(room)  # should whoever ended it have been cut off before that
            raise Over(f"the session {pseudonym(sid)} has been ended already")
        if room.is_over:
            raise Refused("game_over")
        await note(self.store, "end", pseudonym(sid), reason)
        await room.end()
        await self.house.tidied(room)
        return pseudonym(sid)

    async def hide_name(self, given: str, reason: str) -> str:
        """A player is shown without a name from now on, also on boards, and can take no other."""
        pid = await looking.find_player(self.store, given)
        await note(self.store, "hide-name", pseudonym(pid), reason)
        await self.people.hide(pid, "name")
        await self.store.rename(pid, "")
        await self.boards.renamed(pid)
        return pseudonym(pid)

    async def show_name(self, given: str, reason: str) -> str:
        """The player may take a name again."""
        pid = await looking.find_player(self.store, given)
        if not await self.people.is_hidden(pid, "name"):
            raise NotFound(f"the name of {given} is not hidden")
        await note(self.store, "show-name", pseudonym(pid), reason)
        await self.people.show(pid, "name")
        return pseudonym(pid)

    async def hide_row(self, day: Day, given: str, reason: str) -> str:
        """A player's result of a day is on no board from now on, and counts for nothing."""
        async with or_away():
            on_board: Any = await self.store.redis.hkeys(keys.rows(day))
        pid = next((pid for pid in map(bytes.decode, on_board) if given in (pid, pseudonym(pid))), None)
        if pid is None:
            raise NotFound(f"{given} is not on the boards of {day}")
        await note(self.store, "hide-row", f"{day} {pseudonym(pid)}", reason)
        await self.people.hide(pid, day)
        await self.boards.withdraw(day, pid)
        return pseudonym(pid)

    async def show_row(self, day: Day, given: str, reason: str) -> str:
        """The result counts again; it is proved anew from its log."""
        pid = await looking.find_player(self.store, given)
        if not await self.people.is_hidden(pid, day):
            raise NotFound(f"no result of {given} is hidden on {day}")
        await note(self.store, "show-row", f"{day} {pseudonym(pid)}", reason)
        await self.people.show(pid, day)
        await self.rebuild(day, pid)
        return pseudonym(pid)

    async def deal(self, day: Day) -> Deal:
        """The deal of a day. Raises `NotFound` if there is none."""
        deal = await self.daily.find(day)
        if deal is None:
            raise NotFound(f"there is no deal of {day}")
        return deal

    async def rebuild(self, day: Day, only: str = "", broken: Broken | None = None) -> Rebuilt:
        """Proves the results of a day (`only`: one player's) again from their logs, and makes of the boards
        what follows from that. What cannot be read is named in `broken`."""
        broken = broken if broken is not None else Broken()
        deal = await self.deal(day)
        attempts = await self._attempts(day, broken)
        boards = self.boards.of_day(day)
        counts = dict.fromkeys(Rebuilt._fields, 0)
        players = set(attempts)
        if not only:
            counts["removed"] += await boards.prune()
            counts["removed"] += await self._prune_all_time(broken)
            entered = await boards.players()
            counts["removed"] += await self._remove_nobodies(boards, entered)
            players |= {pid.decode() for pid in entered if _is_player(pid)}
        for pid in sorted(players):
            if only in ("", pid):
                counts[await self._rebuild(day, deal, pid, attempts.get(pid), broken)] += 1
        await self.store.tell_changed(topic(day))
        await self.store.tell_changed(ALL_TIME_TOPIC)
        return Rebuilt(**counts)

    # -- inside

    async def _attempts(self, day: Day, broken: Broken) -> dict[str, str]:
        """By player: the session of the ranked attempt."""
        async with or_away():
            raw: Any = await self.store.redis.hgetall(keys.starts(day))
        started = {pid.decode(errors="replace"): sid.decode(errors="replace") for pid, sid in raw.items()}
        found: dict[str, str] = {}
        for head in sorted(await looking.heads(self.store, broken), key=lambda head: head.created_ms):
            ranked = head.ranked == board_of(day) and not head.owner.startswith(_NOBODY)
            if ranked and started.get(head.owner, head.sid) == head.sid:
                found.setdefault(head.owner, head.sid)
        return found

    async def _prune_all_time(self, broken: Broken) -> int:
        """Takes off the boards of all time what is nobody's row; says how much that was. A row that is not
        whole is made anew."""
        removed = await self.boards.all_time.prune()
        torn = await self.boards.all_time.torn()
        removed += await self._remove_nobodies(self.boards.all_time, torn)
        for pid in filter(_is_player, torn):
            await self._sum_up(pid.decode(), broken)
        return removed

    async def _remove_nobodies(self, boards: Boards, entered: Iterable[bytes]) -> int:
        """Takes off what is entered there under no player's id."""
        return sum([await boards.remove(pid) for pid in entered if not _is_player(pid)])

    async def _sum_up(self, pid: str, broken: Broken) -> None:
        """Computes a player's rows on the boards of all time anew, if that can be done."""
        try:
            await self.boards.sum_up(pid)
        except UNREAD as error:
            broken.add(f"what is kept of the player {pseudonym(pid)} cannot be read: {why(error)}")
        except Away as away:
            if not is_other_type(away):
                raise
            broken.add(f"what is kept of the player {pseudonym(pid)} cannot be read: {why(away)}")

    async def _rebuild(self, day: Day, deal: Deal, pid: str, sid: str | None, broken: Broken) -> str:
        """Puts right what boards and lists say of a player; returns what is counted, see `Rebuilt`."""
        try:
            return await self._put_right(day, deal, pid, sid, broken)
        except UNREAD as error:
            reason = why(error)
        except Away as away:
            if not is_other_type(away):
                raise
            reason = why(away)
        broken.add(f"what is kept of the player {pseudonym(pid)} cannot be read: {reason}")
        return "unproved"

    async def _put_right(self, day: Day, deal: Deal, pid: str, sid: str | None, broken: Broken) -> str:
        if await self.people.is_hidden(pid, day):
            await self.boards.withdraw(day, pid)
            return "hidden"
        room = None
        if sid is not None:
            try:
                opened = await peek(self.store, sid)
                if opened is not None and looking.readable(opened):
                    room = room_of(self.store, sid, opened)
            except Unreadable as unreadable:
                broken.add(str(unreadable))
        if room is None:
            return await self._unproved(day, pid)
        try:
            result = results.prove(room, deal)
        except Unproved:
            result = None
        if result is None or result.at_ms >= counts_until_ms(day):
            return "removed" if await self.boards.withdraw(day, pid) else "unfinished"
        right = await self._stands(pid, result)
        if not right:
            await self._enter(pid, result)
        await self.people.remove_result(pid, day)
        await self.people.add_result(pid, day, results.pack(result))
        await self.boards.sum_up(pid)
        return "right" if right else "entered"

    async def _unproved(self, day: Day, pid: str) -> str:
        """Sees to it that a row of which no log tells says on each board what its own facts do."""
        await self.boards.sum_up(pid)
        boards = self.boards.of_day(day)
        facts = await boards.facts(pid)
        try:
            result = None if facts is None else results.unpack_result(facts)
        except UNREAD:
            result = None
        if result is None or result.day != day:
            return "removed" if await boards.remove(pid) else "unproved"
        if not await self._stands(pid, result):
            await self._enter(pid, result)
        return "unproved"

    async def _enter(self, pid: str, result: Result) -> None:
        boards = self.boards.of_day(result.day)
        (name,) = await self.store.names([pid])
        await boards.remove(pid)
        await boards.enter(pid, name, 1, results.pack(result), (result.by_time, result.by_moves))

    async def _stands(self, pid: str, result: Result) -> bool:
        """Whether the boards of the day say what they should."""
        (name,) = await self.store.names([pid])
        boards = self.boards.of_day(result.day)
        return await boards.stands(pid, name, 1, results.pack(result), (result.by_time, result.by_moves))


def _is_player(pid: bytes) -> bool:
    return re.fullmatch(rb"[A-Za-z0-9_~-]{16}", pid) is not None
