"""A room: one live session on this node.

Owns the state of the game and its table, who looks at it from here, and the order in which actions are taken:
one at a time, each shown and acknowledged only after it is stored. All methods are plain calls on the event
loop; what has to wait (the store) comes back through `Committer` callbacks or `House.catch_up`.
"""

from __future__ import annotations

import asyncio
import time
from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any, Final, NamedTuple, Protocol

import structlog

from heartroom import metrics
from heartroom.games.game import Action, Game, Refused, Setup, View
from heartroom.protocol import outbound
from heartroom.protocol.codes import Code
from heartroom.sessions import table as tables
from heartroom.sessions.driver import Driver, Settings
from heartroom.sessions.history import History
from heartroom.sessions.log import Deed, pack, unpack
from heartroom.sessions.table import HOUSE, Table
from heartroom.sessions.viewer import Viewer
from heartroom.store.store import CONFLICT, GONE, STORED, Away, Commit, Entry, News, Opened

_log = structlog.get_logger(__name__)


class Limits(NamedTuple):
    """Bounds that the host sets."""

    log_length: int = 10_000
    """Actions in one session."""
    viewers: int = 2_000
    """Connections on one process that may look at one session; those who have a seat always may."""
    sessions_per_hour: int = 300
    """Sessions that one player may begin at once, and in an hour."""
    waiting: int = 128
    """Actions of one session that may wait for the store at a time."""
    finished_ttl_s: int = 400 * 86_400
    """How long a finished game is kept."""
    linger_s: float = 60.0
    """How long a room stays on a node after its last viewer left."""
    grace_ms: int = 30_000
    """How long a player at a table may be without connection before a bot takes over."""
    bot_delay_ms: int = 900
    """How long after its turn has come a bot acts: always the same, whatever it holds."""


class Caretaker(Protocol):
    """What a room needs of the house it is in."""

    @property
    def now_ms(self) -> int:
        """The store's time, as near as is known."""
        ...

    @property
    def live_ttl_s(self) -> int:
        """How long a session lives after its last action, in seconds."""
        ...

    def submit(self, commit: Commit, done: Callable[[int | None, int], None]) -> None:
        """Stores `commit` and calls back; see `Committer`."""
        ...

    def catch_up(self, room: Room) -> None:
        """Reads what the room has missed, as soon as the store answers, then calls `room.settled()`."""
        ...

    @property
    def grace_ms(self) -> int:
        """See `Limits`."""
        ...

    @property
    def bot_delay_ms(self) -> int:
        """See `Limits`."""
        ...

    def later(self, delay_s: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        """Calls `call` after `delay_s`."""
        ...

    async def think(self, game: Game, level: str, view: View, seat: int, seed: str) -> Action:
        """What a bot does; see `Thinkers.choose`."""
        ...

    def tell_nodes(self, room: Room, seat: int, here: bool) -> None:
        """A player came to (or left) this table on this node; the other nodes should know."""
        ...

    def name_players(self, room: Room) -> None:
        """Finds out the names of players of the room that it does not know."""
        ...

    def tidy(self, room: Room) -> None:
        """Sessions are in lists elsewhere in the store (a player's games, tables that wait); brings those in
        line with the room. May be asked for at any time."""
        ...

    def gone(self, room: Room) -> None:
        """The session is no longer in the store."""
        ...

    def is_away(self, sid: str) -> bool:
        """Whether the store of this session was found not to store."""
        ...


class _Already(Exception):
    """What somebody asks for is so."""


class _Pending:
    """Something that is to be done and has not been answered yet."""

    __slots__ = ("action", "base", "done", "make", "ref", "seat", "viewer")

    def __init__(self, make: Callable[[], Deed] | None, viewer: Viewer | None, seat: int, ref: int) -> None:
        self.make = make
        """The deed, as things are when its turn comes; raises `Refused` or `_Already`. `None`: `action`."""
        self.action: Action = ()
        """What a player wants to do."""
        self.base: int | None = None
        """What `action` builds on; see `Act`."""
        self.viewer = viewer
        """Who is to be answered, if anybody."""
        self.done: asyncio.Future[None] | None = None
        """Who in the house waits for it, if anybody."""
        self.seat = seat
        self.ref = ref

    def accept(self, version: int) -> None:
        """Tells who asked that it is stored."""
        if self.viewer is not None:
            self.viewer.tell(outbound.ack(self.ref, version))
        if self.done is not None and not self.done.done():
            self.done.set_result(None)

    def refuse(self, code: str) -> None:
        """Tells who asked that it cannot be."""
        if self.viewer is not None:
            self.viewer.tell(outbound.reject(self.ref, code))
        if self.done is not None and not self.done.done():
            self.done.set_exception(Refused(code))


class Room:
    """See the module."""

    # A node has thousands; and what an action touches should fit in the processor's cache.
    __slots__ = (
        *("_arriving", "_behind", "_bodies", "_busy", "_driver", "_here", "_histories", "_house"),
        *("_latest_ms", "_limits", "_loading", "_names", "_pending", "_players", "_queue", "_seen"),
        *("_table_due", "_times_ms", "_to_act", "_under_way", "_viewers_elsewhere", "_views"),
        *("away", "created_ms", "empty_since", "ended_ms", "epoch", "game", "gone_ms", "luck", "others"),
        *("settings", "setup", "sid", "since", "since_ms", "started_ms", "state", "table", "version"),
        "viewers",
    )

    TABLE_PAUSE_S: Final = 0.3
    """Comings and goings within this time are told together."""
    TOLD_PER_S: Final = 2_500
    """So many are told of them in a second; where more look on, later."""
    ANSWER_MS: Final = 5_000
    """How long other nodes have to say who is connected there."""

    def __init__(
        self, sid: str, game: Game, opened: Opened, names: Mapping[str, str], house: Caretaker, limits: Limits
    ) -> None:
        """`names`: of the players, as far as they are known. `opened` may have the beginning of the log only,
        if `load` is given the rest before anybody else has the room."""
        self.sid: Final = sid
        self.game: Final = game
        self._names = dict(names)
        self._here: dict[int, set[str]] = {}
        """By seat: the nodes (`""`: this one) on which its player is connected."""
        self.gone_ms: dict[int, int] = {}
        """By seat: when its player's last connection was lost, or when it was first seen to be missing."""
        self.others: frozenset[str] = frozenset()
        """Nodes that have the session open, too, of which it is not yet known whether they live."""
        self.viewers: dict[int | None, set[Viewer]] = {}
        """Those who look on, by perspective."""
        self._viewers_elsewhere = 0
        """How many look on from other nodes, as far as is known."""
        self.empty_since: float | None = time.monotonic()
        """When the last viewer left (monotonic seconds); `None` while somebody is here."""
        self._house: Final = house
        self._limits: Final = limits
        self._queue: deque[_Pending] = deque()
        self._pending: dict[tuple[int, int], _Pending] = {}
        self._busy = False
        self._under_way: tuple[_Pending, Deed, bytes, Table, Any, bool] | None = None
        """What is being stored, its body, and what there will be once it is: table, state, whether over."""
        self._behind = False
        self._arriving: list[asyncio.Future[None]] = []
        """Those who have seen what may not be known here yet, and wait until the log has been read."""
        self._table_due = False
        self.away = False
        """Whether the log is to be read and the store does not answer."""
        self._driver = Driver(self, house) if game.seats > 1 else None
        self._load(opened)

    # -- what it is

    @property
    def players(self) -> tuple[str, ...]:
        """All who have a seat or had one when the game began."""
        return self.table.players

    @property
    def names(self) -> list[str]:
        """The name of each seat's player; `""` for a bot, an open seat, or a player without a name."""
        return [self._names.get(chair.pid, "") for chair in self.table.chairs]

    def stood_up(self) -> set[str]:
        """Players who had a seat and gave it back before the game began."""
        sat = {deed.action[2] for _, deed in self.log if deed.seat == HOUSE and deed.action[0] == "sit"}
        return sat - set(self.players)

    @property
    def log(self) -> list[tuple[int, Deed]]:
        """All that was done, each with its time in ms since 1970, which is never before that of the last."""
        return list(self.deeds())

    def deeds(self) -> Iterator[tuple[int, Deed]]:
        """The same, one after the other; nothing may be done meanwhile."""
        return zip(accumulate(self._times_ms, max), map(unpack, self._bodies), strict=True)

    @property
    def nameless(self) -> list[str]:
        """The players whose names are not known here."""
        return [pid for pid in self.players if pid not in self._names]

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.ended_ms is not None

    @property
    def idle(self) -> bool:
        """Nobody looks on and nothing is under way."""
        return not self._busy and not self._queue and self.empty_since is not None

    @property
    def level(self) -> str:
        """How well the bots of this table play; `""` in a game without any."""
        return self.settings.level or (self.game.levels[-1] if self.game.levels else "")

    @property
    def elapsed_ms(self) -> int:
        """From the acceptance of the first action to that of the last one, or until now."""
        if self.started_ms is None:
            return 0
        end = self._house.now_ms if self.ended_ms is None else self.ended_ms
        return max(0, end - self.started_ms)

    @property
    def running(self) -> bool:
        """Whether the game's time runs."""
        return self.started_ms is not None and self.ended_ms is None

    def touch(self) -> None:
        """Somebody has business here: if the room is empty, it is so from now on."""
        if self.empty_since is not None:
            self.empty_since = time.monotonic()

    def here(self, seat: int) -> bool:
        """Whether the player of `seat` is connected, on any node."""
        return bool(self._here.get(seat)) and not self.table.chairs[seat].left

    # -- who looks on

    @property
    def waiting_ms(self) -> int:
        """How long the game has been waiting for the seat that came to act last."""
        if not self._to_act or self.is_over:
            return 0
        return max(0, self._house.now_ms - max(self.since_ms[seat] for seat in self._to_act))

    def attach(self, viewer: Viewer, epoch: int, version: int) -> None:
        """Lets `viewer`, who holds `version` of `epoch`, look on: from where it is if that can be proven,
        else from a snapshot."""
        viewer.lagging = False
        self._place(viewer)
        self.empty_since = None
        if viewer.seat is not None:
            self._came(viewer.seat)
        else:
            self._look()
        missed = self._histories[viewer.kind].since(version) if epoch == self.epoch else None
        if missed is None:
            metrics.JOINS.labels("snapshot" if epoch else "first").inc()
            viewer.outlet.send(self._snapshot(viewer))
        else:
            metrics.JOINS.labels("diffs").inc()
            viewer.outlet.send(outbound.resumed(self.version))
            for diff in missed:
                viewer.outlet.send(diff)
            viewer.outlet.send(outbound.clock(self.elapsed_ms, self.running, self.waiting_ms))
        viewer.outlet.send(self._table())
        if self.table.ended:
            viewer.outlet.send(outbound.error(Code.ENDED))
        viewer.tell_away(self.is_away)
        self._announce()

    async def reach(self, epoch: int, version: int) -> None:
        """Returns when as much is known here as somebody has been shown who comes from another node: that may
        be more than we have heard of. Raises `Away`."""
        if not epoch or (epoch == self.epoch and version <= self.version):
            return
        arriving: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._arriving.append(arriving)
        self.look_again()
        await arriving

    def _let_in(self, error: Away | None = None) -> None:
        arriving, self._arriving = self._arriving, []
        for one in arriving:
            if one.done():  # gone meanwhile
                continue
            if error is None:
                one.set_result(None)
            else:
                one.set_exception(error)

    @property
    def present(self) -> list[Viewer]:
        """All who look on, players too."""
        return [viewer for watching in self.viewers.values() for viewer in watching]

    @property
    def spectators(self) -> int:
        """How many look on here without a seat."""
        return sum(viewer.seat is None for watching in self.viewers.values() for viewer in watching)

    def detach(self, viewer: Viewer) -> None:
        """`viewer` looks on no more. What it has sent is still done."""
        watching = self.viewers.get(viewer.kind)
        if watching is None or viewer not in watching:
            return
        watching.remove(viewer)
        viewer.caught_up()
        if not watching:
            del self.viewers[viewer.kind]
        if not self.viewers:
            self.empty_since = time.monotonic()
        if viewer.seat is not None:
            self._went(viewer.seat)
        self._announce()

    def drained(self, viewer: Viewer) -> None:
        """The outlet of `viewer` has room again."""
        if viewer.lagging:
            viewer.caught_up(self._snapshot(viewer), self._table())

    def rename(self, pid: str, name: str) -> None:
        """A player at this table has another name."""
        if self._names.get(pid) != name:
            self._names[pid] = name
            self._announce()

    def tell_all(self, payload: bytes) -> None:
        """Shows `payload` to everybody here."""
        for watching in self.viewers.values():
            for viewer in watching:
                viewer.show(payload)

    # -- what is done

    def act(self, viewer: Viewer, ref: int, base: int | None, raw: Any) -> None:
        """`viewer` wants to take an action. Answers it, now or when it is stored."""
        seat = viewer.seat
        if seat is None:
            viewer.tell(outbound.reject(ref, Code.NOT_SEATED.value))
            return
        if (version := self._seen[seat].get(ref)) is not None:
            viewer.tell(outbound.ack(ref, version))
            return
        if (sent_before := self._pending.get((seat, ref))) is not None:
            sent_before.viewer = viewer  # sent again over a new connection: answer there
            return
        try:
            action = self.game.parse_action(raw)
        except Refused as refused:
            viewer.tell(outbound.reject(ref, refused.code))
            return
        if base is not None and base > self.version and not self._busy:
            self.look_again()  # it builds on what was done on another node, of which we have not heard yet
        pending = _Pending(None, viewer, seat, ref)
        pending.action, pending.base = action, base
        self._ask(pending)

    def sit(self, viewer: Viewer, ref: int, seat: int | None) -> None:
        """`viewer` wants a seat (`None`: any), or its own back from a bot."""
        self._ask(_Pending(lambda: self._seating(viewer.pid, seat), viewer, HOUSE, ref))

    async def take_seat(self, pid: str) -> None:
        """Seats a player who is not connected here (yet). Raises `Refused`."""
        await self._await(lambda: self._seating(pid, None))

    async def begin(self) -> None:
        """Starts the game, if it has not started; returns when that is stored. Raises `Refused`."""

        def make() -> Deed:
            if self.table.started:
                raise _Already
            return Deed(HOUSE, 0, ("start",))

        await self._await(make)

    async def give_up_seat(self, pid: str) -> None:
        """A player who is not connected here leaves for good, if seated. Raises `Refused`."""

        def make() -> Deed:
            seat = self.table.seat_of(pid)
            if seat is None:
                raise _Already
            return Deed(HOUSE, 0, ("stand", seat))

        await self._await(make)

    async def set_private(self, pid: str, private: bool) -> None:
        """Keeps out (or lets in) those who only watch; returns when that is stored. Raises `Refused`
        (`not_seated` for anybody but the host)."""

        def make() -> Deed:
            if self.table.host != pid:
                raise Refused(Code.NOT_SEATED.value)
            if self.table.private == private:
                raise _Already
            return Deed(HOUSE, 0, ("private", int(private)))

        await self._await(make)

    async def end(self) -> None:
        """Ends the game, which nobody wins, if it is not over; returns when that is stored. Raises
        `Refused`."""

        def make() -> Deed:
            if self.table.ended:
                raise _Already
            return Deed(HOUSE, 0, ("end",))

        await self._await(make)

    async def _await(self, make: Callable[[], Deed]) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        pending = _Pending(make, None, HOUSE, 0)
        pending.done = done
        self._ask(pending)
        await done

    def stand(self, viewer: Viewer, ref: int) -> None:
        """`viewer` wants to leave its seat for good."""

        def make() -> Deed:
            seat = self._seat(viewer)
            if self.settings.ranked:  # it goes on whatever happens; who left would be shut out of it
                raise Refused(Code.WRONG_MOMENT.value)
            return Deed(HOUSE, 0, ("stand", seat))

        self._ask(_Pending(make, viewer, HOUSE, ref))

    def start(self, viewer: Viewer, ref: int) -> None:
        """`viewer` wants the game to begin, bots on the empty seats."""

        def make() -> Deed:
            self._seat(viewer)
            if self.table.started:
                raise _Already
            return Deed(HOUSE, 0, ("start",))

        self._ask(_Pending(make, viewer, HOUSE, ref))

    def propose(self, make: Callable[[], Deed]) -> None:
        """The house wants something done; if it is refused when its turn comes, nobody minds."""
        self._ask(_Pending(make, None, HOUSE, 0))

    def hear(self, news: News) -> None:
        """Another node has stored an entry."""
        same, version = news.epoch == self.epoch, news.version
        if same and version <= self.version and self._times_ms[version - 1] == news.entry.at_ms:
            return
        if same and version == self.version + 1 and news.before_ms == self.stored_ms:
            self._take(news.entry)
            self._look()
        elif self._busy:
            self._behind = True
        else:
            self.look_again()

    def look_again(self) -> None:
        """Something may have been missed: reads on before anything else is done."""
        if self._busy:
            self._behind = True
        else:
            self._busy = True
            self._house.catch_up(self)

    @property
    def stored_ms(self) -> int:
        """When the present version was stored; 0 if nothing was."""
        return self._times_ms[-1] if self.version else 0

    def missed(self, after: int, entries: Iterable[Entry]) -> None:
        """`entries` are those of the log after version `after`; takes those that are new."""
        for version, entry in enumerate(entries, start=after + 1):
            if version == self.version + 1:
                self._take(entry)

    def reload(self, opened: Opened) -> None:
        """Begins anew from the store: what was known here has been lost there."""
        here = self.present
        self.viewers = {}
        self._load(opened)
        for viewer in here:
            self._place(viewer)
            viewer.caught_up(self._snapshot(viewer), self._table())

    def unsettled(self, error: Away) -> None:
        """The log cannot be read now; it will be tried again."""
        self._let_in(error)
        self.away = True
        self.tell_away()

    def settled(self) -> None:
        """The log was read: goes on with what waits, unless more was heard of while it was read."""
        self._answers_again()
        if not self._behind:
            self._let_in()
        self._go_on()

    def _answers_again(self) -> None:
        if self.away:
            self.away = False
            self.tell_away()

    @property
    def is_away(self) -> bool:
        """Whether the store is away as far as this session is concerned."""
        return self.away or self._house.is_away(self.sid)

    def tell_away(self) -> None:
        """Tells everybody here whether the store is away, if that has changed."""
        away = self.is_away
        for viewer in self.present:
            viewer.tell_away(away)

    def close(self, code: Code) -> None:
        """There is no such session any more: answers all that waits with `code`."""
        self._answers_again()
        self._let_in()
        for pending in self._queue:
            pending.refuse(code.value)
        self._queue.clear()
        self._pending.clear()
        self._busy = False
        self.tell_all(outbound.error(code))
        self.closed()

    def closed(self) -> None:
        """The room is given up: nothing more happens in it by itself."""
        if self._driver is not None:
            self._driver.stop()

    # -- inside

    def _load(self, opened: Opened) -> None:
        record = opened.record
        self.epoch = record.epoch
        self.setup = Setup(record.options, record.deal)
        self.settings = Settings(**record.settings)
        self.created_ms = record.created_ms
        self.luck = record.luck
        """The seed of this session's bots: secret, and not that of the cards."""
        self.version = 0
        self.started_ms: int | None = None
        self.ended_ms: int | None = None
        # Numbers and bytes, and no tuples of them: the garbage collector would look through all of those
        # again and again, for as long as games last.
        self._times_ms = array("q")
        self._latest_ms = 0
        """The latest of them."""
        self._bodies: list[bytes] = []
        self._seen: list[dict[int, int]] = [{} for _ in range(self.game.seats)]
        """By seat: the version of each ref."""
        self.state = self.game.initial(self.setup)
        if self.game.seats == 1:
            self.table = tables.alone(record.owner, started=not self.settings.ranked)
        else:
            self.table = tables.empty(self.game.seats)
        self._players = self._who_may_act()
        """By seat: whether a player may act there as far as the table goes."""
        self._to_act: tuple[int, ...] = ()
        self.since_ms = [record.created_ms] * self.game.seats
        """By seat: since when it is to act, or when it last was."""
        self.since = [0] * self.game.seats
        """By seat: the version since which that is so. Two turns may begin in one millisecond."""
        self._views: dict[int | None, View] = {}
        self._histories: dict[int | None, History] = {}
        self.load(opened.entries)

    def load(self, entries: Iterable[Entry]) -> None:
        """Takes the next entries of a log that was there before the room."""
        # What happened long ago needs no telling: whoever opens the room tidies up once.
        self._loading = True
        for entry in entries:
            self._take(entry)
        self._loading = False

    def _place(self, viewer: Viewer) -> None:
        """Puts `viewer` where it belongs: on its seat's side of the table, or among those who watch."""
        viewer.seat = self.table.seat_of(viewer.pid)
        viewer.kind = self._perspective(viewer.seat)
        self.viewers.setdefault(viewer.kind, set()).add(viewer)
        self._see(viewer.kind)

    def _perspective(self, seat: int | None) -> int | None:
        # Before the start there is nothing to see for a player either, above all not the cards.
        return self.game.perspective(seat if self.table.started else None)

    def _rearrange(self) -> None:
        """The table has changed: everybody whose place has changed sees it from there."""
        for kind, watching in list(self.viewers.items()):
            for viewer in list(watching):
                seat = self.table.seat_of(viewer.pid)
                if viewer.seat == seat and kind == self._perspective(seat):
                    continue
                watching.remove(viewer)
                if viewer.seat is not None and seat is None:
                    self._went(viewer.seat)
                self._place(viewer)
                viewer.caught_up(self._snapshot(viewer))
                if viewer.seat is not None:
                    self._came(viewer.seat)
        self.viewers = {kind: watching for kind, watching in self.viewers.items() if watching}

    def _show_out(self) -> None:
        """Those who only watch may do so no longer."""
        for viewer in self.present:
            if viewer.seat is None:
                viewer.tell(outbound.error(Code.PRIVATE))
                self.detach(viewer)

    # -- who is here (multi-seat games)

    def _came(self, seat: int) -> None:
        nodes = self._here.setdefault(seat, set())
        self.gone_ms.pop(seat, None)
        if "" not in nodes:
            nodes.add("")
            if self._driver is not None:
                self._house.tell_nodes(self, seat, here=True)
        if self.table.chairs[seat].away:
            self.propose(lambda: Deed(HOUSE, 0, ("back", seat)))
        self._look()

    def _went(self, seat: int) -> None:
        still = any(viewer.seat == seat for watching in self.viewers.values() for viewer in watching)
        nodes = self._here.get(seat, set())
        if still or "" not in nodes:
            return
        nodes.discard("")
        if self._driver is not None:
            self._house.tell_nodes(self, seat, here=False)
            if not nodes:
                self.gone_ms[seat] = self._house.now_ms
        self._look()

    def elsewhere(self, node: str, seat: int, here: bool) -> None:
        """On another node the player of `seat` has come, or gone."""
        if not 0 <= seat < self.game.seats:
            return
        nodes = self._here.setdefault(seat, set())
        if here:
            nodes.add(node)
            self.gone_ms.pop(seat, None)
        else:
            nodes.discard(node)
            if not nodes:  # that node takes care of it, unless it dies
                self.gone_ms.setdefault(seat, self._house.now_ms)
        self._announce()
        self._look()

    def watched_elsewhere(self, viewers: int) -> None:
        """So many look on from other nodes."""
        if viewers != self._viewers_elsewhere:
            self._viewers_elsewhere = viewers
            self._announce()

    def died(self, nodes: Collection[str]) -> None:
        """These nodes are no more: who was connected there is so no longer."""
        for seat, where in self._here.items():
            if where.isdisjoint(nodes):
                continue
            where.difference_update(nodes)
            if not where:
                self.gone_ms[seat] = self._house.now_ms
                self._announce()
                self._look()

    def nobody_yet(self) -> None:
        """It is not known yet who is connected elsewhere. Whoever is not has as long to come as if the last
        connection were lost now: the node that saw it lost may be dead."""
        for seat in range(self.game.seats):
            if self.table.is_human(seat) and not self._here.get(seat):
                self.gone_ms[seat] = self._house.now_ms + self.ANSWER_MS

    @property
    def seats_here(self) -> list[int]:
        """The seats whose players are connected to this node."""
        return [seat for seat, nodes in self._here.items() if "" in nodes]

    def _look(self) -> None:
        if self._driver is not None:
            self._driver.look()

    def _see(self, kind: int | None) -> None:
        """Sees to it that there is a view of this kind."""
        if kind not in self._views:
            self._views[kind] = self.game.view(self.state, kind)
            self._histories[kind] = History(self.version)

    # -- doing things, one at a time

    def _ask(self, pending: _Pending) -> None:
        if len(self._queue) >= self._limits.waiting:
            pending.refuse(Code.TOO_FAST.value)
            return
        if pending.seat != HOUSE:
            self._pending[pending.seat, pending.ref] = pending
        self._queue.append(pending)
        if not self._busy:
            self._advance()

    def _seat(self, viewer: Viewer) -> int:
        # not the viewer's, which is that of the session it looks at by now
        seat = self.table.seat_of(viewer.pid)
        if seat is None:
            raise Refused(Code.NOT_SEATED.value)
        return seat

    def _deed(self, pending: _Pending) -> Deed:
        """A player's action, if it can be taken now as far as the table goes."""
        seat, base = pending.seat, pending.base
        if base is not None and self.version != (base if base >= 0 else self._seen[seat].get(-base)):
            raise Refused(Code.STALE.value)
        if not self._players[seat]:
            if not self.table.started:
                raise Refused(Code.NOT_STARTED.value)
            raise Refused(Code.ENDED.value if self.table.is_human(seat) else Code.AWAY.value)
        return Deed(seat, pending.ref, pending.action)

    def _seating(self, pid: str, wanted: int | None) -> Deed:
        own = self.table.seat_of(pid)
        if own is not None and self.table.chairs[own].away:
            return Deed(HOUSE, 0, ("back", own))
        if own is not None and wanted in (own, None):
            raise _Already
        if wanted is None:
            free = [seat for seat, chair in enumerate(self.table.chairs) if not chair.pid]
            if not free:
                raise Refused(Code.SEAT_TAKEN.value)
            wanted = free[0]
        if not 0 <= wanted < self.game.seats:
            raise Refused(Code.WRONG_MOMENT.value)
        return Deed(HOUSE, 0, ("sit", wanted, pid))

    def _advance(self) -> None:
        """Takes up the next thing that can be done; refuses those before it that cannot."""
        while self._queue and not self._busy:
            pending = self._queue[0]
            seat, ref = pending.seat, pending.ref
            version = self._seen[seat].get(ref) if seat != HOUSE else None
            code: str | None = None
            if version is None:
                try:
                    code = self._refusal(pending)
                except _Already:
                    version = self.version
                else:
                    if code is None:
                        return
            self._queue.popleft()
            self._pending.pop((seat, ref), None)
            if version is not None:
                pending.accept(version)
            elif code is not None:
                pending.refuse(code)

    def _refusal(self, pending: _Pending) -> str | None:
        """Why `pending` cannot be done; `None` if it can, and then it is on its way to the store."""
        if self.version >= self._limits.log_length:
            return Code.LOG_FULL.value
        try:
            deed = self._deed(pending) if pending.make is None else pending.make()
            table, state = self._after(deed)
        except Refused as refused:
            return refused.code
        over = self._is_end(table, state)
        ttl_s = 0
        if over:
            ttl_s = self._limits.finished_ttl_s
        elif self.version % 64 == 0:  # above all the first: the list that it makes would live for ever
            ttl_s = self._house.live_ttl_s
        body = pack(deed)
        self._busy = True
        self._under_way = pending, deed, body, table, state, over
        self._house.submit(
            Commit(self.sid, self.epoch, self.version, body, ttl_s, self.stored_ms), self._committed
        )
        return None

    def _after(self, deed: Deed) -> tuple[Table, Any]:
        """Table and state after `deed`. Raises `Refused`."""
        if self.table.ended:
            raise Refused(Code.ENDED.value)
        if deed.seat != HOUSE:
            return self.table, self.game.apply(self.state, deed.seat, deed.action)
        if self.is_over:
            raise Refused(Code.GAME_OVER.value)
        return self.table.apply(deed.action), self.state

    def _is_end(self, table: Table, state: Any) -> bool:
        return table.ended or self.game.outcome(state) is not None

    def _committed(self, result: int | None, at_ms: int) -> None:
        assert self._under_way is not None
        (pending, deed, body, table, state, over), self._under_way = self._under_way, None
        if result == STORED:
            self._done(at_ms, deed, body, table, state, over)
            if over:
                self._log_end()
            if pending.seat == HOUSE:  # a player's action was recognised by its ref
                self._queue.popleft()
                pending.accept(self.version)
            self._go_on()
        elif result == GONE:
            self._busy = False
            self._house.gone(self)
        else:
            assert result in (CONFLICT, None)
            self._behind = False
            self._house.catch_up(self)

    def _go_on(self) -> None:
        self._busy = False
        if self._behind:
            self._behind = False
            self.look_again()
        else:
            self._advance()
        self._look()

    def _take(self, entry: Entry) -> None:
        """Takes an entry that is in the log: the rules were asked before it got there."""
        deed = unpack(entry.body)
        table, state = self._after(deed)
        over, own = self._is_end(table, state), (deed.seat, deed.ref) in self._pending
        self._done(entry.at_ms, deed, entry.body, table, state, over)
        # Who ends a game with `heartroom admin` is no node, and has no log.
        if over and (own or (table.ended and not self._loading)):
            self._log_end()

    def _log_end(self) -> None:
        """Of all nodes that have the session open, the one that stored its end says so; of an end that the
        house has made, each of them."""
        outcome = self.game.outcome(self.state)
        if self.table.ended or outcome is None:
            how = "ended"
        elif self.game.seats == 1:
            how = "won" if outcome.winners else "lost"
        else:
            how = "played"
        _log.info("game over", sid=self.sid, game=self.game.name, outcome=how, actions=self.version)

    def _done(self, at_ms: int, deed: Deed, body: bytes, table: Table, state: Any, over: bool) -> None:
        """`deed` is in the log: shows it, then answers who did it."""
        self.state = state
        self.version = version = self.version + 1
        self._times_ms.append(at_ms)
        # The store's clock may have been put back. All nodes read the same log, and read it in the same way.
        if at_ms < self._latest_ms:
            at_ms = self._latest_ms
        self._latest_ms = at_ms
        self._bodies.append(body)
        seat, ref = deed.seat, deed.ref
        if ref:
            self._seen[seat][ref] = version
        began = self.started_ms is None and (seat != HOUSE or deed.action[0] == "start")
        if began:
            self.started_ms = at_ms
        if over:
            self.ended_ms = at_ms
        if self._driver is not None:
            self._keep_time(at_ms, deed, table)
        pending = self._pending.pop((seat, ref), None) if self._pending else None
        if pending is not None:
            if self._queue and self._queue[0] is pending:
                self._queue.popleft()
            else:
                self._queue.remove(pending)
        actor = pending.viewer if pending is not None else None
        views = self._views
        for (kind, before), view in zip(views.items(), self.game.views(state, views), strict=True):
            diff = outbound.diff(version, outbound.changes(before, view))
            views[kind] = view
            self._histories[kind].add(version, diff)
            for viewer in self.viewers.get(kind, ()):
                if viewer is actor:  # one packet for both
                    viewer.show(diff, outbound.ack(ref, version))
                    pending = None
                else:
                    viewer.show(diff)
        if table is not self.table:
            self._changed_table(table)
        if over or began:
            self.tell_all(outbound.clock(self.elapsed_ms, self.running, self.waiting_ms))
        if pending is not None:  # its viewer looks on no more
            pending.accept(self.version)
        if over and not self._loading:
            self._house.tidy(self)

    def _keep_time(self, at_ms: int, deed: Deed, table: Table) -> None:
        """Notes since when each seat is to act."""
        to_act = self.game.to_act(self.state) if table.started else ()
        for seat in to_act:
            returned = deed.seat == HOUSE and deed.action[:2] in (("back", seat), ("away", seat))
            if seat not in self._to_act or returned or deed.seat == seat:
                self.since_ms[seat] = at_ms
                self.since[seat] = self.version
        self._to_act = to_act

    def _who_may_act(self) -> list[bool]:
        going_on = self.table.started and not self.table.ended
        return [going_on and self.table.is_human(seat) for seat in range(self.game.seats)]

    def _changed_table(self, table: Table) -> None:
        self.table = table
        self._players = self._who_may_act()
        if self._loading:
            return
        self._rearrange()
        if table.closed:
            self._show_out()
        if self.nameless:
            self._house.name_players(self)
        self._house.tidy(self)
        self.tell_all(self._table())
        if table.ended:
            self.tell_all(outbound.error(Code.ENDED))

    def _snapshot(self, viewer: Viewer) -> bytes:
        return outbound.snapshot(
            self.sid,
            self.game.name,
            self.epoch,
            self.version,
            viewer.seat,
            self._views[viewer.kind],
            self.elapsed_ms,
            self.running,
            self.waiting_ms,
        )

    def _table(self) -> bytes:
        watching = self._viewers_elsewhere + self.spectators
        if self._driver is None:
            return outbound.table(self.names, watching, settings=[0, False, None, self.table.private, ""])
        chairs = [self._chair(seat) for seat in range(self.game.seats)]
        settings = self.settings
        starts_in_ms = None
        if not self.table.started and settings.starts_ms is not None:
            starts_in_ms = max(0, settings.starts_ms - self._house.now_ms)
        return outbound.table(
            self.names,
            watching,
            chairs,
            self.table.started,
            [settings.pace_s, settings.public, starts_in_ms, self.table.private, self.level],
        )

    def _chair(self, seat: int) -> int:
        """See *table* in docs/protocol.md."""
        chair = self.table.chairs[seat]
        if not chair.pid:
            return 4 if self.table.started else 0
        if chair.left:
            return 4
        if chair.away:
            return 3
        return 1 if self.here(seat) else 2

    def _announce(self) -> None:
        """Tells everybody soon who is here."""
        if not self._table_due:
            self._table_due = True
            many = sum(map(len, self.viewers.values())) / self.TOLD_PER_S
            self._house.later(max(self.TABLE_PAUSE_S, many), self._tell_table)

    def _tell_table(self) -> None:
        self._table_due = False
        self.tell_all(self._table())
