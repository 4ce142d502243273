"""Players' data on this node; see the package."""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
from typing import Any, Final, NamedTuple

from heartroom.daily import dates
from heartroom.games.game import CountingGame, Refused
from heartroom.leaderboards import results
from heartroom.leaderboards.service import Leaderboards
from heartroom.players import codes
from heartroom.protocol import names
from heartroom.protocol.codes import Code
from heartroom.sessions.house import House
from heartroom.sessions.room import Room
from heartroom.store.people import People

_NOBODY: Final = "~"
"""How the ids begin that take the place of a forgotten player's. No cookie has such a one."""


class Group(NamedTuple):
    """Friends who compare themselves on boards of their own."""

    id: str
    name: str
    members: list[str]
    """Players, in the order in which they came."""


class Players:
    """One a node."""

    MOST_MEMBERS: Final = 50
    """Of a group."""
    MOST_GROUPS: Final = 20
    """Of a player."""
    ATTEMPTS: Final = (10, 60_000)
    """Recovery codes that may be tried from one address: at once; ms until there is one more."""
    ALL_ATTEMPTS: Final = (1_000, 1_000)
    """The same, from everywhere together."""
    _KEEP_SLACK_MS: Final = 2 * dates.DAY_MS

    def __init__(self, house: House, boards: Leaderboards) -> None:
        self.house: Final = house
        self.boards: Final = boards
        self.people: Final[People] = boards.people
        house.when_over.append(self.count)
        boards.chores["forget"] = self._forget

    # -- statistics

    async def count(self, room: Room) -> None:
        """Counts a finished game in the statistics of those who played it to the end, once. Raises `Away`."""
        outcome = room.game.outcome(room.state)
        if outcome is None or room.ended_ms is None:
            return
        own = room.game.statistics(room.state) if isinstance(room.game, CountingGame) else None
        keep_ms = self.house.limits.finished_ttl_s * 1000 + self._KEEP_SLACK_MS
        for seat, chair in enumerate(room.table.chairs):
            if not chair.pid or chair.left or chair.pid.startswith(_NOBODY):
                continue
            won = seat in outcome.winners
            numbers = [("sum", "games", 1), ("sum", "wins", int(won)), ("sum", "elapsed_ms", room.elapsed_ms)]
            if won:
                numbers.append(("min", "best_ms", room.elapsed_ms))
            if own is not None:
                numbers += [("sum", name, number) for name, number in own[seat].items()]
            await self.people.count(chair.pid, room.sid, room.game.name, room.ended_ms, keep_ms, numbers)

    async def statistics(self, pid: str) -> dict[str, dict[str, int]]:
        """By game: `games`, `wins`, `elapsed_ms` of all, `best_ms` of those won, and the game's own numbers.
        Raises `Away`."""
        return await self.people.statistics(pid)

    # -- groups

    async def found_group(self, pid: str, raw_name: str) -> str:
        """A new group of one; returns its id, which is what its friends need to join. Raises `Refused`
        (`bad_name`, `group_full`), `Away`."""
        try:
            name = names.clean(raw_name)
        except ValueError:
            raise Refused(Code.BAD_NAME.value) from None
        await self._has_room_for_a_group(pid)
        gid = secrets.token_urlsafe(9)
        await self.people.new_group(gid, name, pid)
        return gid

    async def join_group(self, pid: str, gid: str) -> None:
        """Lets a player in who knows the group's id. Raises `Refused` (`no_group`, `group_full`), `Away`."""
        found = await self.people.group(gid)
        if found is None:
            raise Refused(Code.NO_GROUP.value)
        if pid in found[1]:
            return
        await self._has_room_for_a_group(pid)
        joined = await self.people.join(gid, pid, self.MOST_MEMBERS)
        if joined < 1:
            raise Refused(Code.NO_GROUP.value if joined < 0 else Code.GROUP_FULL.value)

    async def leave_group(self, pid: str, gid: str) -> None:
        """Lets a player out. Raises `Away`."""
        await self.people.leave(gid, pid)

    async def group(self, pid: str, gid: str) -> Group:
        """A group that a player is in. Raises `Refused("no_group")` (to others it does not exist), `Away`."""
        found = await self.people.group(gid)
        if found is None or pid not in found[1]:
            raise Refused(Code.NO_GROUP.value)
        return Group(gid, *found)

    async def invitation(self, gid: str) -> tuple[str, int]:
        """What somebody with the link may know of a group: its name and how many it has. Raises `Refused`
        (`no_group`), `Away`."""
        found = await self.people.group(gid)
        if found is None:
            raise Refused(Code.NO_GROUP.value)
        return found[0], len(found[1])

    async def _has_room_for_a_group(self, pid: str) -> None:
        if len(await self.people.groups(pid)) >= self.MOST_GROUPS:
            raise Refused(Code.GROUP_FULL.value)

    # -- moving to another device

    async def recovery_code(self, pid: str) -> str:
        """A new recovery code for a player, to be shown once; the one before holds no longer.
        Raises `Away`."""
        code = codes.fresh()
        letters = codes.read(code)
        assert letters is not None
        await self.people.set_recovery(pid, codes.digest(letters))
        return code

    async def recover(self, raw_code: str, address: str) -> str:
        """The player that a recovery code stands for. Raises `Refused` (`bad_recovery`, `too_fast`) and
        `Away`."""
        buckets = [(neighbourhood(address), *self.ATTEMPTS), ("everywhere", *self.ALL_ATTEMPTS)]
        if not await self.people.take("recover", buckets):
            raise Refused(Code.TOO_FAST.value)
        letters = codes.read(raw_code)
        pid = letters and await self.people.recover(codes.digest(letters))
        if not pid:
            raise Refused(Code.BAD_RECOVERY.value)
        return pid

    # -- all of it, none of it

    async def export(self, pid: str) -> dict[str, Any]:
        """All that is kept of a player. Raises `Away`."""
        (name,) = await self.house.store.names([pid])
        return {
            "name": name,
            "daily": [results.as_json(result) for result in await self.boards.results(pid)],
            "statistics": await self.statistics(pid),
            "playing": [{"session": sid, "game": game} for sid, game in await self.people.playing(pid)],
            "finished": [
                {"session": sid, "game": game, "at_ms": at_ms}
                for sid, game, at_ms in await self.people.finished(pid)
            ],
            "groups": [
                {"id": gid, "name": group, "members": count}
                for gid, group, count in await self.people.groups(pid)
            ],
            "recovery": await self.people.has_recovery(pid),
            "hidden": await self.people.hidden(pid),
        }

    async def forget(self, pid: str) -> None:
        """Deletes all that is kept of a player; what a crash leaves, the next sweep of any node deletes.
        Raises `Away`.

        Results leave the boards. Sessions of one seat that are not over are removed; at tables the seat goes
        to a bot. Finished games stay, for those who played along or hold a link, and do not say who it was.
        """
        await self.people.note_due("forget", pid)
        await self._forget(pid)

    async def _forget(self, pid: str) -> None:
        await self.people.begin_to_forget(pid)
        # Somebody whom nobody can be, and not the same as others who have gone from a table.
        nobody = (_NOBODY + secrets.token_urlsafe(len(pid)))[: len(pid)]
        await self.people.set_recovery(pid, None)
        for gid, _, _ in await self.people.groups(pid):
            await self.people.leave(gid, pid)
        sessions = await self.people.to_be_scrubbed(pid)
        for sid, _ in await self.people.playing(pid):
            await self._abandon(sid, pid)
        await self.boards.forget(pid)
        for sid in sessions:
            await self.people.scrub(sid, pid, nobody)
        await self.people.forget(pid)
        await self.house.store.tell_renamed(pid, "")
        await self.people.done("forget", pid)

    async def _abandon(self, sid: str, pid: str) -> None:
        try:
            room = await self.house.open(sid)
        except Refused:
            return
        if room.is_over:
            return
        if room.game.seats == 1:
            day = self.boards.daily.day_of(room)
            if day is not None and room.settings.ranked:
                await self.boards.daily.days.finish(day, pid)
            await self.people.remove_session(sid)
            self.house.gone(room)
        else:
            await room.give_up_seat(pid)


def neighbourhood(address: str) -> str:
    """What counts as one address, hashed: an IPv4 address, or the /64 of an IPv6 one."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        text = address
    else:
        bits = 32 if parsed.version == 4 else 64
        text = str(ipaddress.ip_network(f"{parsed}/{bits}", strict=False)) if "%" not in address else address
    return hashlib.blake2s(text.encode(), digest_size=12, person=b"address").hexdigest()
