"""The house: all rooms of this node, how they open and close, and how they hear of each other's nodes.

Owns the tasks that wait for the store. A room that must wait asks the house; everything else it does alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import structlog

from heartroom import metrics, turns
from heartroom.games.game import Action, Game, Refused, Setup, View, games, rules
from heartroom.protocol import names
from heartroom.protocol.codes import Code
from heartroom.sessions.driver import Settings
from heartroom.sessions.room import Limits, Room
from heartroom.sessions.thinker import Thinkers
from heartroom.sessions.topics import Topics
from heartroom.sessions.unreadable import refusing
from heartroom.sessions.viewer import Viewer
from heartroom.store import keys
from heartroom.store.committer import Committer, Committers
from heartroom.store.people import People
from heartroom.store.probe import reason
from heartroom.store.store import (
    Away,
    Changed,
    Missed,
    News,
    Opened,
    OtherFormat,
    Presence,
    Renamed,
    Store,
    Unreadable,
)
from heartroom.store.urls import locked_out
from heartroom.tasks import at_most, end

_log = structlog.get_logger(__name__)

_SID = re.compile(r"[A-Za-z0-9_-]{12}")


def _shard(lane: Hashable) -> dict[str, str]:
    """Which shard of a cluster it is, for the log."""
    return {"shard": "{}:{}".format(*lane)} if isinstance(lane, tuple) else {}


class House:
    """One a node. `start` it, and `aclose` it when done."""

    RETRY_S: Final = (0.05, 2.0)
    """First and longest pause between two attempts to reach a store that is away."""
    SWEEP_S: Final = 5.0
    """How often empty rooms are looked for."""
    BEAT_S: Final = 2.0
    """How often this node says that it lives. It is believed for `Store.LEASE_MS`."""
    WATCH_S: Final = 1.0
    """How often it is asked whether the store can store."""
    AWAY_S: Final = 0.25
    """The same, while it cannot."""
    PAUSE_S: Final = 0.1
    """Not more often than this, whoever wants to know."""
    BELIEVED_S: Final = 3.0
    """How long a good answer is believed while the next one is late."""
    DOUBT_S: Final = 1.0
    """So long it is not read again what messages may have said that could not be read."""
    READ_PER_S: Final = 1_000
    """Rooms that read on because of such messages; where there are more, less often."""
    FOLLOW_S: Final = 0.5
    """How often Sentinels are asked where the primary is."""

    TOGETHER: Final = 128
    """Actions of one log that are looked at before others have their turn."""
    CLOSING_S: Final = 1.5
    """How long, when a node ends, the store may take for each of the two things that are still asked of it: a
    node is to be gone ten seconds after it was told to end, and those who are connected get up to five."""
    QUICK_MS: Final = 8_000
    """How long a table that *quick* has made waits for others."""

    def __init__(self, store: Store, limits: Limits | None = None, thinkers: int = 1) -> None:
        """`thinkers`: processes in which bots think."""
        self.store: Final = store
        self.limits: Final = limits or Limits()
        self.rooms: Final[dict[str, Room]] = {}
        self.live_ttl_s: Final = store.live_ttl_s
        self.grace_ms: Final = self.limits.grace_ms
        self.bot_delay_ms: Final = self.limits.bot_delay_ms
        self.guards: Final[list[Callable[[Room, str], Awaitable[None]]]] = []
        """Each is asked whether a player may see a room; raises `Refused` if not."""
        self.when_over: Final[list[Callable[[Room], Awaitable[None]]]] = []
        """Each is called for a room whose game is over, again after a crash: what it does must bear that."""
        self.dealers: Final[list[Callable[[str, Game, Mapping[str, Any]], Awaitable[Setup | None]]]] = []
        """Each is asked, before the game is, for the setup that a player's options mean; `None` from one that
        does not know them, `Refused` from one that does."""
        self.when_renamed: Final[list[Callable[[str], Awaitable[None]]]] = []
        """Each is called for a player who has another name, maybe more than once."""
        self.topics: Final = Topics()
        self.lobby: Final[set[Viewer]] = set()
        """Those who are connected and look at no session."""
        self._failing: dict[Hashable, float] = {}
        """By lane of the store, where it cannot store: since when (monotonic seconds)."""
        self._shut_out: set[Hashable] = set()
        """Those of them where it does not let us."""
        self._checking: asyncio.Task[None] | None = None
        self._asked_s = self._stored_s = -math.inf
        """When it was last asked whether the store stores, and when all of it did (monotonic seconds)."""
        self._thinkers: Final = Thinkers(thinkers)
        self._committer: Final = Committer(store) if store.table is None else Committers(store)
        self.submit: Final = self._committer.submit
        """See `Committer.submit`."""
        self._opening: dict[str, asyncio.Task[Room]] = {}
        self._early: dict[str, list[News]] = {}
        self._closing: dict[str, asyncio.Task[None]] = {}
        self._alive: frozenset[str] = frozenset()
        """The nodes that lived at the last beat; none before the first."""
        self._first_beat = asyncio.Lock()
        self.kept_out = False
        """Whether nodes of another format have the store: no session is opened here, and no move stored."""
        self.when_kept_out: Final[list[Callable[[], None]]] = []
        """Each is called when that has come to be so."""
        self._told: set[str] = set()
        """Nodes that told us of players who are connected there."""
        self._doubtful: set[str] = set()
        """Sessions (`""`: all) of which something was said that could not be read: they are to read on."""
        self._doubting: asyncio.Task[None] | None = None
        self._hearings = 0
        """How often listening to the other nodes has begun."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._leaving = False
        """Whether nothing more is begun."""
        # So many rooms read on at a time after the store was away, not all at once.
        self._reading = asyncio.Semaphore(64)

    def start(self) -> None:
        """Begins to listen to the other nodes, to say that this one lives, and to close empty rooms."""
        for does in (self._listen, self._live, self._follow, self._watch, self._sweep):
            self._spawn(self._for_ever(does))

    async def aclose(self) -> None:
        """Finishes what is under way with the store and ends all tasks. A store that hangs is not waited for:
        nothing of what is under way was acknowledged, and the others notice that our lease ends."""
        await self._committer.aclose(self.CLOSING_S)
        self._leaving = True
        await end(self._tasks)
        for room in self.rooms.values():
            room.closed()
        self.topics.aclose()
        await self._thinkers.aclose()
        with contextlib.suppress(Away):  # if it is away for one it is for all
            async with at_most(self.CLOSING_S):
                await self.store.leave()
                # There may be more than there is time for: who opens one later strikes us off, as if dead.
                for sid in list(self.rooms):
                    await self.store.close(sid)

    # -- sessions

    async def create(
        self,
        pid: str,
        game_name: str,
        raw_options: Mapping[str, Any],
        *,
        pace_s: int = 30,
        public: bool = False,
        level: str = "",
        starts_in_ms: int | None = None,
    ) -> str:
        """Begins a session for the player `pid`, who has its first seat, and returns its id. What comes after
        the options is for games with several seats, see `driver.Settings`.

        Raises `Refused` (`unknown_game`, `bad_options`, `too_many_sessions`, a code of the game) and `Away`.
        """
        game = self._game(game_name)
        setup = await self._deal(pid, game, raw_options)
        await self._allow_session(pid)
        settings: dict[str, Any] = {}
        if game.seats > 1:
            if level and level not in game.levels:
                raise Refused(Code.BAD_OPTIONS.value)
            starts_ms = None if starts_in_ms is None else await self.store.time_ms() + starts_in_ms
            settings = Settings(pace_s, public, level, starts_ms)._asdict()
        sid = await self.found(pid, game, setup, settings)
        if game.seats > 1:
            await (await self.open(sid)).take_seat(pid)
        return sid

    async def _allow_session(self, pid: str) -> None:
        most = self.limits.sessions_per_hour
        if not await self.store.run("bucket", [keys.beginnings(pid)], [most, 3_600_000 // most]):
            raise Refused(Code.TOO_MANY_SESSIONS.value)

    async def _deal(self, pid: str, game: Game, raw_options: Mapping[str, Any]) -> Setup:
        for dealer in self.dealers:
            setup = await dealer(pid, game, raw_options)
            if setup is not None:
                return setup
        return game.deal(game.parse_options(raw_options), secrets.token_bytes(32))

    async def found(
        self, pid: str, game: Game, setup: Setup, settings: Mapping[str, Any], sid: str | None = None
    ) -> str:
        """Stores a new session of `setup` that belongs to the player `pid`; returns its id. That may be given
        (from `fresh_sid`): a session that has it is left as it is. `settings` are fields of
        `driver.Settings`. Raises `Away`."""
        await self._come()
        sid = sid or self.fresh_sid()
        await self.store.create(sid, game.name, game.rules_version, setup.options, setup.deal, pid, settings)
        metrics.SESSIONS.labels(game.name).inc()
        _log.info("session begun", sid=sid, pid=pid, game=game.name)
        return sid

    def fresh_sid(self) -> str:
        """An id for a session, 72 random bits."""
        return secrets.token_urlsafe(9)

    async def enter(self, sid: str, pid: str, epoch: int = 0, version: int = 0) -> Room:
        """The room of a session, for a player who wants to look and has seen `version` of `epoch`, which it
        then knows. Unseals the player's own ranked deal.

        Raises `Refused` (`no_session`, `private`, `crowded`, or what a guard says) and `Away`.
        """
        room = await self.open(sid)
        await room.reach(epoch, version)
        if len(room.present) >= self.limits.viewers and room.table.seat_of(pid) is None:
            raise Refused(Code.CROWDED.value)
        if room.table.closed and not room.is_over and room.table.seat_of(pid) is None:
            raise Refused(Code.PRIVATE.value)
        for guard in self.guards:
            await guard(room, pid)
        if not room.table.started and room.settings.ranked:
            if room.table.seat_of(pid) is None:
                raise Refused(Code.SEALED.value)
            await room.begin()
        if self.rooms.get(sid) is not room:  # given up meanwhile: whoever came in would hear nothing more
            return await self.enter(sid, pid, epoch, version)
        return room

    async def quick(self, pid: str, game_name: str) -> str:
        """Seats a player at a public table that waits, or at a new one that soon starts; returns its id.

        Raises `Refused` (`unknown_game`, `bad_options` for a game without tables) and `Away`.
        """
        game = self._game(game_name)
        if game.seats == 1:
            raise Refused(Code.BAD_OPTIONS.value)
        for sid in await self.store.waiting(game_name):
            try:
                await (await self.open(sid)).take_seat(pid)
            except Refused:  # full by now, or begun, or no more there
                await self.store.list_waiting(sid, game_name, None)
            else:
                return sid
        return await self.create(pid, game_name, {}, public=True, starts_in_ms=self.QUICK_MS)

    def _game(self, name: str) -> Game:
        game = games().get(name)
        if game is None:
            raise Refused(Code.UNKNOWN_GAME.value)
        return game

    async def open(self, sid: str) -> Room:
        """The room of a session, read from the store if it is not open here.

        Raises `Refused` (`no_session`, `unknown_game` without its rules, `unreadable`) and `Away`.
        """
        while (closing := self._closing.get(sid)) is not None:
            await asyncio.wait([closing])
        if (room := self.rooms.get(sid)) is not None:
            room.touch()
            return room
        if not _SID.fullmatch(sid):
            raise Refused(Code.NO_SESSION.value)
        task = self._opening.get(sid)
        if task is None:
            task = self._opening[sid] = asyncio.create_task(self._open(sid))
            task.add_done_callback(partial(self._opened, sid))
        return await asyncio.shield(task)

    async def rename(self, pid: str, raw: str) -> str:
        """Names a player, everywhere, and returns the name as it is kept.

        Raises `Refused` (`bad_name`, `name_hidden`) and `Away`.
        """
        try:
            name = names.clean(raw)
        except ValueError:
            raise Refused(Code.BAD_NAME.value) from None
        if await People(self.store).is_hidden(pid, "name"):
            raise Refused(Code.NAME_HIDDEN.value)
        await self.store.rename(pid, name)
        for follow in self.when_renamed:
            await follow(pid)
        return name

    # -- what rooms ask for (see `room.Caretaker`)

    @property
    def now_ms(self) -> int:
        """The store's time, as near as this node knows it."""
        return self.store.now_ms

    def later(self, delay_s: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        """Calls `call` after `delay_s`."""
        return asyncio.get_running_loop().call_later(delay_s, call)

    def catch_up(self, room: Room) -> None:
        """Reads on in the room's log as soon as the store answers, then lets the room go on."""
        self._spawn(self._catch_up(room))

    async def think(self, game: Game, level: str, view: View, seat: int, seed: str) -> Action:
        """What a bot does; see `Thinkers.choose`."""
        with metrics.BOT_SECONDS.labels(game.name).time():
            return await self._thinkers.choose(game, level, view, seat, seed)

    def tell_nodes(self, room: Room, seat: int, here: bool) -> None:
        """Lets the other nodes know that a player has come or gone."""
        self._spawn(self._unless_away(partial(self.store.tell_presence, room.sid, seat, here)))

    def name_players(self, room: Room) -> None:
        """Finds out the names of players of the room that it does not know."""
        self._spawn(self._unless_away(partial(self._name_players, room)))

    def tidy(self, room: Room) -> None:
        """Brings the lists that the room's session is in (or should be) in line with it. A node that dies
        before leaves that to the next one that opens the session."""
        self._spawn(self._tidy_in_the_end(room))

    async def tidied(self, room: Room) -> None:
        """The same, done when this returns. Raises `Away`."""
        await self._tidy(room)

    def is_away(self, sid: str = "") -> bool:
        """Whether that part of the store does not store which has this session, or (`""`) the leases."""
        return bool(self._failing) and (self.store.lane(sid) if sid else self.store.home) in self._failing

    def gone(self, room: Room, code: Code = Code.NO_SESSION) -> None:
        """The session expired while it was open; or cannot be read on, as `code` says."""
        room.close(code)
        self.lobby.update(room.present)
        if self.rooms.get(room.sid) is room:
            self._shut(room.sid)

    # -- whether the store stores

    async def ready(self, patience_s: float) -> bool:
        """Whether this node can store, everywhere, as far as is known in time: an answer of the last
        `BELIEVED_S` will do."""
        await asyncio.wait([self._check()], timeout=patience_s)
        return not self._failing and time.monotonic() - self._stored_s < self.BELIEVED_S

    @property
    def shut_out(self) -> bool:
        """Whether the store is known not to let this node in, or do what it must."""
        return bool(self._shut_out)

    async def _watch(self) -> None:
        """Finds out that the store is away, or back, also when nobody wants anything of it."""
        while True:
            await asyncio.wait([self._check()])
            await asyncio.sleep(self.AWAY_S if self._failing else self.WATCH_S)

    def _check(self) -> asyncio.Task[None]:
        """The question that is under way, or a new one."""
        if self._checking is None:
            self._checking = self._spawn(self._ask_store())
            self._checking.add_done_callback(self._has_checked)
        return self._checking

    def _has_checked(self, _task: asyncio.Task[None]) -> None:
        self._checking = None

    async def _ask_store(self) -> None:
        # Anybody may ask whether we are ready, as often as they like.
        await asyncio.sleep(self._asked_s + self.PAUSE_S - time.monotonic())
        self._asked_s = time.monotonic()
        failures = await self.store.failures()
        if failures:  # one answer may be late, above all if it is this node that was
            failures = await self.store.failures()
        before, now = self._failing, time.monotonic()
        if not failures:
            self._stored_s = now
        self._failing = {lane: before.get(lane, now) for lane in failures}
        shut_out = {lane for lane, failure in failures.items() if locked_out(failure)}
        newly = shut_out - self._shut_out
        self._shut_out = {lane for lane in failures if lane in self._shut_out | newly}
        for lane, failure in failures.items():
            # also if it was away before: now somebody must do something about it
            if lane not in before or lane in newly:
                say = _log.error if lane in shut_out else _log.warning
                say("store away", reason=reason(failure), **_shard(lane))
        if before.keys() == failures.keys():
            return
        for healed in before.keys() - failures.keys():
            _log.info("store back", after_s=round(now - before[healed], 1), **_shard(healed))
        for room in list(self.rooms.values()):
            room.tell_away()
        away = self.is_away()
        for viewer in self.lobby:
            viewer.tell_away(away)

    # -- tasks

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        if self._leaving:
            task.cancel()
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("task failed", exc_info=error)

    async def _for_ever(self, does: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """What a node cannot do without: should it fail, whyever, it begins again."""
        while True:
            try:
                await does()
            except Exception as error:
                _log.error("task failed", exc_info=error)
            await asyncio.sleep(self.RETRY_S[1])

    async def _open(self, sid: str) -> Room:
        await self._come()  # who has no lease could be struck off
        hearings = self._hearings
        try:
            with refusing(sid):
                room = await self._read(sid)
        except Refused as refused:
            if refused.code != Code.NO_SESSION.value:  # what is said of it is told to this node from now on
                self._spawn(self._unless_away(partial(self.store.close, sid)))
            raise
        self.rooms[sid] = room
        for news in self._early.pop(sid, ()):
            self._hear(room, news)
        if self._hearings != hearings:  # what was stored before we listened was told to nobody here
            room.look_again()
        await self._unless_away(partial(self._name_players, room))
        if room.game.seats > 1:
            room.nobody_yet()
            self._spawn(self._unless_away(partial(self.store.tell_presence, sid, -1, True)))
        if room.is_over or room.game.seats > 1:
            self.tidy(room)
        return room

    async def _come(self) -> None:
        """Takes a lease, if this node has none yet. Raises `Away`, `OtherFormat`."""
        async with self._first_beat:
            if not self._alive:
                await self._beat()

    async def _read(self, sid: str) -> Room:
        opened = await self.store.open(sid)
        if opened is None:
            raise Refused(Code.NO_SESSION.value)
        game = rules(opened.record.game, opened.record.rules)
        if game is None:
            _log.error("no rules for session", sid=sid, game=opened.record.game, rules=opened.record.rules)
            raise Refused(Code.UNKNOWN_GAME.value)
        entries = opened.entries
        room = Room(sid, game, opened._replace(entries=entries[: self.TOGETHER]), {}, self, self.limits)
        for start in range(self.TOGETHER, len(entries), self.TOGETHER):  # others need not wait for a long one
            await turns.turn()
            room.load(entries[start : start + self.TOGETHER])
        room.others = opened.nodes - {self.store.node}
        return room

    def _opened(self, sid: str, task: asyncio.Task[Room]) -> None:
        if not task.cancelled():
            task.exception()  # whoever asked may have gone
        self._opening.pop(sid, None)
        self._early.pop(sid, None)

    async def _listen(self) -> None:
        """Hears the other nodes. After a gap in the hearing every open room reads what it missed."""
        pause = self.RETRY_S[0]
        while True:
            try:
                async for news in self.store.news():
                    if isinstance(news, Missed):
                        pause = self.RETRY_S[0]
                        self._missed(news)
                    elif isinstance(news, Changed):
                        self.topics.changed(news.topic)
                    elif isinstance(news, News):
                        if (room_here := self.rooms.get(news.sid)) is not None:
                            self._hear(room_here, news)
                        elif news.sid in self._opening:  # stored after its log was read
                            self._early.setdefault(news.sid, []).append(news)
                    elif isinstance(news, Renamed):
                        for room in self.rooms.values():
                            if news.pid in room.players:
                                room.rename(news.pid, news.name)
                    elif isinstance(news, Presence):
                        self._hear_presence(news)
                    elif isinstance(news, Unreadable):
                        self._doubtful.add(news.sid)
                        if self._doubting is None:
                            self._doubting = self._spawn(self._read_doubtful())
            except Away:
                pass
            await asyncio.sleep(pause * (0.5 + secrets.randbelow(1000) / 1000))
            pause = min(pause * 2, self.RETRY_S[1])

    def _hear(self, room: Room, news: News) -> None:
        if self.store.replicas.number:  # it is told before the replicas have it, and read only when they do
            if news.epoch != room.epoch or news.version > room.version:
                room.look_again()
        else:
            room.hear(news)

    def _missed(self, missed: Missed) -> None:
        """Reads what was not heard."""
        self._hearings += 1
        if missed.sids is None:
            rooms = list(self.rooms.values())
        else:
            rooms = [self.rooms[sid] for sid in missed.sids if sid in self.rooms]
        for room in rooms:
            room.look_again()
        self._spawn(self._unless_away(partial(self._ask_who_is_here, rooms)))
        if missed.everybody:
            self._spawn(self._unless_away(self._name_all))
            self.topics.all_changed()

    async def _read_doubtful(self) -> None:
        """Reads what may have been said; what comes meanwhile together, however much it is."""
        try:
            while self._doubtful:
                sids, self._doubtful = self._doubtful, set()
                everything = "" in sids
                self._missed(Missed(None if everything else frozenset(sids), everything))
                await asyncio.sleep(max(self.DOUBT_S, len(self.rooms) / self.READ_PER_S))
        finally:
            self._doubting = None

    def _hear_presence(self, news: Presence) -> None:
        room = self.rooms.get(news.sid)
        if room is None or news.node == self.store.node:
            return
        if news.seat < 0:
            for seat in room.seats_here:
                self.tell_nodes(room, seat, here=True)
        else:
            self._told.add(news.node)
            room.elsewhere(news.node, news.seat, news.here)

    async def _ask_who_is_here(self, rooms: Sequence[Room]) -> None:
        """Finds out who is connected elsewhere, and says who is here: both may have been missed."""
        for room in rooms:
            if room.game.seats > 1:
                await self.store.tell_presence(room.sid, -1, True)
                for seat in room.seats_here:
                    await self.store.tell_presence(room.sid, seat, True)

    async def _live(self) -> None:
        """Keeps this node's lease, and learns whose have ended."""
        said = False
        while True:
            try:
                await self._beat()
            except OtherFormat as other:
                if not said:
                    _log.error("kept out", reason=str(other))
                said = True
            except Away:
                pass
            else:
                said = False
            await asyncio.sleep(self.BEAT_S)

    async def _follow(self) -> None:
        """Stays with the primary. One that was replaced does not know it yet, and what it takes is lost."""
        while True:
            await asyncio.sleep(self.FOLLOW_S)
            with contextlib.suppress(Away):
                await self.store.follow()

    async def _beat(self) -> None:
        # Whoever tells us anything, or has a session open, has taken its lease before. So a node that we know
        # of before we ask, and that is not in the answer, is dead, and does not come back: see `Store.beat`.
        told, opened = set(self._told), [(room, room.others) for room in self.rooms.values() if room.others]
        try:
            alive = await self.store.beat()
        except OtherFormat:
            newly, self.kept_out, self._alive = not self.kept_out, True, frozenset()
            if newly:
                for tell in self.when_kept_out:
                    tell()
            raise
        self.kept_out = False
        self.store.bury(self._alive - alive)
        self._alive = alive
        if dead := told - alive:
            self._told -= dead
            for room in list(self.rooms.values()):
                room.died(dead)
        for room, others in opened:
            for node in others - alive:
                await self.store.strike(room.sid, node)
            room.others -= others

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(self.SWEEP_S)
            now = time.monotonic()
            metrics.ROOMS.set(len(self.rooms))
            metrics.VIEWERS.set(sum(len(room.present) for room in self.rooms.values()))
            for room in list(self.rooms.values()):
                if (
                    room.idle
                    and room.empty_since is not None
                    and now - room.empty_since >= self.limits.linger_s
                ):
                    room.closed()
                    self._shut(room.sid)

    def _shut(self, sid: str) -> None:
        """Gives a room up, and hears no more of its session."""
        del self.rooms[sid]
        task = asyncio.create_task(self._close(sid))
        self._closing[sid] = task
        task.add_done_callback(partial(self._closed, sid))

    async def _close(self, sid: str) -> None:
        # If the store is away we go on being told of a session that we no longer have: that costs a message.
        with contextlib.suppress(Away):
            await self.store.close(sid)

    def _closed(self, sid: str, _task: asyncio.Task[None]) -> None:
        self._closing.pop(sid, None)

    async def _unless_away(self, do: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Does something that can be left undone while the store is away."""
        with contextlib.suppress(Away):
            await do()

    async def _name_players(self, room: Room) -> None:
        pids = room.nameless
        for pid, name in zip(pids, await self.store.names(pids), strict=True):
            if pid in room.nameless:  # else it has been told meanwhile, and newer
                room.rename(pid, name)

    async def _name_all(self) -> None:
        """Learns the names that have changed while nobody told us."""
        pids = list({pid for room in self.rooms.values() for pid in room.players})
        names_now = dict(zip(pids, await self.store.names(pids), strict=True))
        for room in self.rooms.values():
            for pid in room.players:
                if pid in names_now:
                    room.rename(pid, names_now[pid])

    async def _tidy_in_the_end(self, room: Room) -> None:
        pause = self.RETRY_S[0]
        while self.rooms.get(room.sid) is room:
            try:
                await self._tidy(room)
                return
            except Away:
                await asyncio.sleep(pause)
                pause = min(pause * 2, self.RETRY_S[1])

    async def _tidy(self, room: Room) -> None:
        game = room.game.name
        if room.is_over:
            # First: as long as it is in a player's list, somebody opens it again if we die here.
            for follow in self.when_over:
                await follow(room)
        for chair in room.table.chairs:
            if chair.pid and (room.is_over or chair.left):
                await self.store.unlist(room.sid, game, [chair.pid])
            elif chair.pid:
                await self.store.list_playing(chair.pid, room.sid, game, room.created_ms)
        for pid in room.stood_up():
            await self.store.unlist(room.sid, game, [pid])
        if room.settings.public:
            waits = not room.table.started and not room.is_over and bool(room.players)
            await self.store.list_waiting(room.sid, game, room.created_ms if waits else None)

    async def _catch_up(self, room: Room) -> None:
        pause = self.RETRY_S[0]
        while True:
            try:
                with refusing(room.sid):
                    async with self._reading:
                        here = await self._read_on(room)
                break
            except Refused:
                self.gone(room, Code.UNREADABLE)
                return
            except Away as away:
                room.unsettled(away)
            await asyncio.sleep(pause * (0.5 + secrets.randbelow(1000) / 1000))
            pause = min(pause * 2, self.RETRY_S[1])
        if here:
            room.settled()
        else:
            self.gone(room)

    async def _read_on(self, room: Room) -> bool:
        """Makes the room know all that is stored; says whether the session still exists."""
        while True:
            after = room.version
            stored_ms = room.stored_ms
            opened: Opened | None = await self.store.open(room.sid, after, stored_ms)
            if opened is None:
                return False
            room.others |= opened.nodes - {self.store.node}
            if opened.record.epoch == room.epoch and opened.follows:
                room.missed(after, opened.entries)
                return True
            if opened.record.epoch == room.epoch:
                _log.error("log lost entries", sid=room.sid, had=after, has=opened.version)
                await self.store.renew(room.sid, room.epoch, after, stored_ms)
                continue
            whole = await self.store.open(room.sid)
            if whole is None:
                return False
            room.reload(whole)
            return True
