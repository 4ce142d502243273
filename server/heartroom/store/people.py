"""What is kept of each player besides the name: results, statistics, finished games, groups, recovery code.

Each player's things share a hash slot; what concerns others (boards, groups, codes) is elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from heartroom.store import keys
from heartroom.store.store import Store, or_away

_GONE_S: Final = 3600
"""How long it is known that a player was forgotten: longer than nodes take to tidy up after a game whose end
they have seen, also if the store is away now and then."""


class People:
    """See the module. All methods raise `Away`."""

    def __init__(self, store: Store) -> None:
        self._store: Final = store

    # -- results of days

    async def add_result(self, pid: str, day: str, result: bytes) -> bool:
        """Keeps the result of a day, unless there is one. Says whether there is one now: not of somebody who
        has just been forgotten."""
        names = [keys.results(pid), keys.gone(pid)]
        return bool(await self._store.run("result", names, [day, result]))

    async def results(self, pid: str) -> list[bytes]:
        """All results, in no order."""
        async with or_away():
            found: Any = await self._store.redis.hvals(keys.results(pid))
        return list(found)

    async def days(self, pid: str) -> list[str]:
        """The days of which there are results."""
        async with or_away():
            found: Any = await self._store.redis.hkeys(keys.results(pid))
        return [day.decode() for day in found]

    async def remove_result(self, pid: str, day: str) -> None:
        """Forgets the result of a day."""
        async with or_away():
            await self._store.redis.hdel(keys.results(pid), day)

    # -- what is hidden, by those who run the house

    async def hide(self, pid: str, what: str) -> None:
        """Hides something of a player: `"name"`, or a day, whose result is on no board from now on."""
        async with or_away():
            await self._store.redis.hset(keys.player(pid), f"hidden {what}", "1")

    async def show(self, pid: str, what: str) -> None:
        """It is hidden no longer."""
        async with or_away():
            await self._store.redis.hdel(keys.player(pid), f"hidden {what}")

    async def hidden(self, pid: str) -> list[str]:
        """All that is hidden of a player."""
        async with or_away():
            found: Any = await self._store.redis.hkeys(keys.player(pid))
        names = [field.decode() for field in found]
        return sorted(name.removeprefix("hidden ") for name in names if name.startswith("hidden "))

    async def is_hidden(self, pid: str, what: str) -> bool:
        """Whether it is hidden."""
        async with or_away():
            return bool(await self._store.redis.hexists(keys.player(pid), f"hidden {what}"))

    # -- what is due

    async def due(self) -> list[tuple[str, str]]:
        """What is to be done elsewhere, as (what, player)."""
        async with or_away():
            found: Any = await self._store.redis.smembers(keys.DUE)
        return [(what, pid) for what, _, pid in (item.decode().partition(" ") for item in found)]

    async def note_due(self, what: str, pid: str) -> None:
        """`what` is to be done for a player, whoever lives to do it."""
        async with or_away():
            await self._store.redis.sadd(keys.DUE, f"{what} {pid}")

    async def done(self, what: str, pid: str) -> None:
        """It has been done."""
        async with or_away():
            await self._store.redis.srem(keys.DUE, f"{what} {pid}")

    # -- finished games

    async def count(
        self, pid: str, sid: str, game: str, at_ms: int, keep_ms: int, numbers: Sequence[tuple[str, str, int]]
    ) -> bool:
        """Counts a game that ended at `at_ms` in a player's statistics, if it was not counted yet, and the
        player has not just been forgotten. `numbers` are (`"sum"`, `"min"` or `"max"`, name, number). Games
        are listed for `keep_ms`."""
        names = [keys.finished(pid), keys.statistics(pid), keys.gone(pid)]
        flat = [part for number in numbers for part in (number[0], f"{game}/{number[1]}", number[2])]
        args = [f"{sid} {game}", at_ms, at_ms - keep_ms, *flat]
        return bool(await self._store.run("count", names, args))

    async def statistics(self, pid: str) -> dict[str, dict[str, int]]:
        """By game: the numbers that were counted."""
        async with or_away():
            found: Any = await self._store.redis.hgetall(keys.statistics(pid))
        by_game: dict[str, dict[str, int]] = {}
        for key, number in sorted(found.items()):
            game, name = key.decode().split("/")
            by_game.setdefault(game, {})[name] = int(number)
        return by_game

    async def finished(self, pid: str) -> list[tuple[str, str, int]]:
        """The games that were counted, the earliest first: (session, game, when it ended in ms)."""
        async with or_away():
            found: Any = await self._store.redis.zrange(keys.finished(pid), 0, -1, withscores=True)
        return [(*item.decode().split(" "), int(at_ms)) for item, at_ms in found]

    async def playing(self, pid: str) -> list[tuple[str, str]]:
        """The games that are not over: (session, game)."""
        async with or_away():
            found: Any = await self._store.redis.zrange(keys.playing(pid), 0, -1)
        return [tuple(item.decode().split(" ", 1)) for item in found]

    # -- groups

    async def new_group(self, gid: str, name: str, pid: str) -> None:
        """Founds a group, with its first member."""
        now_ms = await self._store.time_ms()
        async with or_away():
            # The player's list first: a group that is listed and is none is seen to be none.
            await self._store.redis.sadd(keys.groups(pid), gid)
            async with self._store.redis.pipeline(transaction=True) as pipe:
                pipe.hset(keys.group(gid), "name", name)
                pipe.zadd(keys.members(gid), {pid: now_ms})
                await pipe.execute()

    async def join(self, gid: str, pid: str, most: int) -> int:
        """Lets a player into a group: 1 in it, 0 it is full (it has `most`), −1 there is none."""
        now_ms = await self._store.time_ms()
        async with or_away():
            await self._store.redis.sadd(keys.groups(pid), gid)
            joined: int = await self._store.run(
                "join", [keys.group(gid), keys.members(gid)], [pid, now_ms, most]
            )
            if joined != 1:
                await self._store.redis.srem(keys.groups(pid), gid)
        return joined

    async def leave(self, gid: str, pid: str) -> None:
        """Lets a player out of a group."""
        await self._store.run("depart", [keys.group(gid), keys.members(gid)], [pid])
        async with or_away():
            await self._store.redis.srem(keys.groups(pid), gid)

    async def group(self, gid: str) -> tuple[str, list[str]] | None:
        """The name and the members of a group, in the order in which they came; `None` if there is none."""
        async with or_away(), self._store.redis.pipeline(transaction=False) as pipe:
            pipe.hget(keys.group(gid), "name")
            pipe.zrange(keys.members(gid), 0, -1)
            name, members = await pipe.execute()
        return None if name is None else (name.decode(), [pid.decode() for pid in members])

    async def groups(self, pid: str) -> list[tuple[str, str, int]]:
        """The groups of a player: (group, name, how many members), by name."""
        async with or_away():
            found: Any = await self._store.redis.smembers(keys.groups(pid))
            gids = [gid.decode() for gid in found]
            async with self._store.redis.pipeline(transaction=False) as pipe:
                for gid in gids:
                    pipe.hget(keys.group(gid), "name")
                    pipe.zcard(keys.members(gid))
                answers = await pipe.execute()
        named = zip(gids, answers[::2], answers[1::2], strict=True)
        return sorted(
            ((gid, name.decode(), count) for gid, name, count in named if name is not None),
            key=lambda group: (group[1].casefold(), group[0]),
        )

    # -- the recovery code

    async def set_recovery(self, pid: str, digest: str | None) -> None:
        """The recovery code of a player is the one with this digest, and no other; `None`: there is none."""
        redis = self._store.redis
        # In an order in which nothing that leads to the player is ever left of a code that does not hold.
        async with or_away():
            before: Any = await redis.hget(keys.player(pid), "recovery")
            if before is not None:
                await redis.delete(keys.recovery(before.decode()))
            if digest is None:
                await redis.hdel(keys.player(pid), "recovery")
                return
            await redis.hset(keys.player(pid), "recovery", digest)
            await redis.set(keys.recovery(digest), pid)
            holds: Any = await redis.hget(keys.player(pid), "recovery")
            if holds is None or holds.decode() != digest:
                await redis.delete(keys.recovery(digest))

    async def recover(self, digest: str) -> str | None:
        """The player whose recovery code has this digest, or `None`."""
        async with or_away():
            raw: Any = await self._store.redis.get(keys.recovery(digest))
            if raw is None:
                return None
            pid: str = raw.decode()
            holds: Any = await self._store.redis.hget(keys.player(pid), "recovery")
        return pid if holds is not None and holds.decode() == digest else None

    async def has_recovery(self, pid: str) -> bool:
        """Whether a player has a recovery code."""
        async with or_away():
            return bool(await self._store.redis.hexists(keys.player(pid), "recovery"))

    async def take(self, what: str, buckets: Sequence[tuple[str, int, int]]) -> bool:
        """Takes one from each bucket of `what`, if none is empty: (whose, how many it holds, ms until one is
        back)."""
        names = [keys.bucket(what, whose) for whose, _, _ in buckets]
        args = [part for _, size, each_ms in buckets for part in (size, each_ms)]
        return bool(await self._store.run("bucket", names, args))

    # -- forgetting

    async def to_be_scrubbed(self, pid: str) -> list[str]:
        """The sessions that a player is or was in, also those left since this was first asked."""
        known = [sid for sid, _ in await self.playing(pid)]
        known += [sid for sid, _, _ in await self.finished(pid)]
        async with or_away():
            if known:
                await self._store.redis.sadd(keys.leaving(pid), *known)
            found: Any = await self._store.redis.smembers(keys.leaving(pid))
        return sorted(sid.decode() for sid in found)

    async def scrub(self, sid: str, pid: str, other: str) -> None:
        """Puts `other` in a player's place wherever a session has it."""
        await self._store.run("scrub", [keys.session(sid), keys.log(sid)], [pid, other])

    async def remove_session(self, sid: str) -> None:
        """Removes a session. Who looks at it is told when it is next played."""
        async with or_away():
            await self._store.redis.delete(keys.session(sid), keys.log(sid))

    async def begin_to_forget(self, pid: str) -> None:
        """For a while from now on nothing is kept that others find out about games of the player's."""
        async with or_away():
            await self._store.redis.set(keys.gone(pid), "1", ex=_GONE_S)

    async def is_gone(self, pid: str) -> bool:
        """Whether the player is being forgotten, or just was."""
        async with or_away():
            return bool(await self._store.redis.exists(keys.gone(pid)))

    async def forget(self, pid: str) -> None:
        """Removes all that the player's own slot has, but that there has just been somebody."""
        kinds = (
            *(keys.player, keys.playing, keys.results, keys.finished, keys.statistics, keys.groups),
            *(keys.beginnings, keys.leaving),
        )
        async with or_away():
            await self._store.redis.delete(*(key(pid) for key in kinds))
