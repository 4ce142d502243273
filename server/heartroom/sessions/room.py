"""A room: one live session on this node.

Owns the state of the game, who looks at it from here, and the order in which actions are taken: one at a
time, each shown and acknowledged only after it is stored. All methods are plain calls on the event loop;
what has to wait (the store) comes back through `Committer` callbacks or `House.catch_up`.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple, Protocol

from heartroom.games.game import Action, Game, Refused, Setup, View
from heartroom.protocol import outbound
from heartroom.protocol.codes import Code
from heartroom.sessions.history import History
from heartroom.sessions.log import Deed, pack, unpack
from heartroom.sessions.viewer import Viewer
from heartroom.store.store import CONFLICT, GONE, STORED, Commit, Entry, Opened


class Limits(NamedTuple):
    """Bounds that the host sets."""

    log_length: int = 10_000
    """Actions in one session."""
    waiting: int = 128
    """Actions of one session that may wait for the store at a time."""
    finished_ttl_s: int = 400 * 86_400
    """How long a finished game is kept."""
    linger_s: float = 60.0
    """How long a room stays on a node after its last viewer left."""


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

    def later(self, delay_s: float, call: Callable[[], None]) -> None:
        """Calls `call` after `delay_s`."""
        ...

    def over(self, room: Room) -> None:
        """The game has ended; may be said more than once."""
        ...

    def gone(self, room: Room) -> None:
        """The session is no longer in the store."""
        ...


class _Pending:
    """An action that has been sent and not yet answered."""

    __slots__ = ("action", "base", "ref", "seat", "viewer")

    def __init__(self, viewer: Viewer, seat: int, ref: int, base: int | None, action: Action) -> None:
        self.viewer = viewer
        self.seat = seat
        self.ref = ref
        self.base = base
        self.action = action


class Room:
    """See the module."""

    TABLE_PAUSE_S: Final = 0.3
    """Comings and goings within this time are told together."""

    def __init__(
        self, sid: str, game: Game, opened: Opened, names: Sequence[str], house: Caretaker, limits: Limits
    ) -> None:
        self.sid: Final = sid
        self.game: Final = game
        self.names = list(names)
        """The name of each seat's player."""
        self.viewers: dict[int | None, set[Viewer]] = {}
        """Those who look on, by perspective."""
        self.empty_since: float | None = time.monotonic()
        """When the last viewer left (monotonic seconds); `None` while somebody is here."""
        self._house: Final = house
        self._limits: Final = limits
        self._queue: deque[_Pending] = deque()
        self._pending: dict[tuple[int, int], _Pending] = {}
        self._busy = False
        self._behind = False
        self._table_due = False
        self.away = False
        """Whether viewers were told that the store does not answer."""
        self._load(opened)

    # -- what it is

    @property
    def players(self) -> tuple[str, ...]:
        """The player of each seat."""
        return self._seats

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.ended_ms is not None

    @property
    def idle(self) -> bool:
        """Nobody looks on and nothing is under way."""
        return not self._busy and not self._queue and self.empty_since is not None

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

    def seat_of(self, pid: str) -> int | None:
        """The seat of a player, `None` for anybody else."""
        return self._seats.index(pid) if pid in self._seats else None

    # -- who looks on

    def attach(self, viewer: Viewer, epoch: int, version: int) -> None:
        """Lets `viewer`, who holds `version` of `epoch`, look on: from where it is if that can be proven,
        else from a snapshot."""
        viewer.seat = self.seat_of(viewer.pid)
        viewer.kind = self.game.perspective(viewer.seat)
        viewer.lagging = False
        self.viewers.setdefault(viewer.kind, set()).add(viewer)
        self.empty_since = None
        self._see(viewer.kind)
        missed = self._histories[viewer.kind].since(version) if epoch == self.epoch else None
        if missed is None:
            viewer.outlet.send(self._snapshot(viewer))
        else:
            viewer.outlet.send(outbound.resumed(self.version))
            for diff in missed:
                viewer.outlet.send(diff)
            viewer.outlet.send(outbound.clock(self.elapsed_ms, self.running))
        viewer.outlet.send(self._table())
        if self.away:
            viewer.outlet.send(outbound.store(False))
        self._announce()

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
        self._announce()

    def drained(self, viewer: Viewer) -> None:
        """The outlet of `viewer` has room again."""
        if viewer.lagging:
            viewer.caught_up(self._snapshot(viewer), self._table())

    def rename(self, pid: str, name: str) -> None:
        """A player at this table has another name."""
        for seat, player in enumerate(self._seats):
            if player == pid:
                self.names[seat] = name
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
        if (version := self._seen.get((seat, ref))) is not None:
            viewer.tell(outbound.ack(ref, version))
            return
        if (sent_before := self._pending.get((seat, ref))) is not None:
            sent_before.viewer = viewer  # sent again over a new connection: answer there
            return
        if len(self._queue) >= self._limits.waiting:
            viewer.tell(outbound.reject(ref, Code.TOO_FAST.value))
            return
        try:
            action = self.game.parse_action(raw)
        except Refused as refused:
            viewer.tell(outbound.reject(ref, refused.code))
            return
        pending = _Pending(viewer, seat, ref, base, action)
        self._pending[seat, ref] = pending
        self._queue.append(pending)
        if not self._busy:
            self._advance()

    def hear(self, epoch: int, version: int, entry: Entry) -> None:
        """Another node has stored an entry."""
        if epoch == self.epoch and version <= self.version:
            return
        if epoch == self.epoch and version == self.version + 1:
            self._take(entry)
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

    def missed(self, after: int, entries: Iterable[Entry]) -> None:
        """`entries` are those of the log after version `after`; takes those that are new."""
        for version, entry in enumerate(entries, start=after + 1):
            if version == self.version + 1:
                self._take(entry)

    def reload(self, opened: Opened) -> None:
        """Begins anew from the store: what was known here has been lost there."""
        self._load(opened)
        for watching in self.viewers.values():
            for viewer in watching:
                self._see(viewer.kind)
                viewer.caught_up(self._snapshot(viewer), self._table())

    def settled(self) -> None:
        """The room knows all that is stored: goes on with what waits."""
        self._busy = False
        self._advance()

    def close(self, code: Code) -> None:
        """There is no such session any more: answers all that waits with `code`."""
        for pending in self._queue:
            pending.viewer.tell(outbound.reject(pending.ref, code.value))
        self._queue.clear()
        self._pending.clear()
        self.tell_all(outbound.error(code))

    # -- inside

    def _load(self, opened: Opened) -> None:
        record = opened.record
        self._seats = record.seats
        self.epoch = record.epoch
        self.setup = Setup(record.options, record.deal)
        self.version = 0
        self.started_ms: int | None = None
        self.ended_ms: int | None = None
        self.log: list[tuple[int, Deed]] = []
        """All that was done, each with its time in ms since 1970."""
        self._seen: dict[tuple[int, int], int] = {}
        self._state = self.game.initial(self.setup)
        self._views: dict[int | None, View] = {}
        self._histories: dict[int | None, History] = {}
        for entry in opened.entries:
            self._take(entry)

    def _see(self, kind: int | None) -> None:
        """Sees to it that there is a view of this kind."""
        if kind not in self._views:
            self._views[kind] = self.game.view(self._state, kind)
            self._histories[kind] = History(self.version)

    def _advance(self) -> None:
        """Takes up the next action that can be taken; refuses those before it that cannot."""
        while self._queue and not self._busy:
            pending = self._queue[0]
            key = (pending.seat, pending.ref)
            if key in self._seen:
                answer = outbound.ack(pending.ref, self._seen[key])
            else:
                code = self._refusal(pending)
                if code is None:
                    return
                answer = outbound.reject(pending.ref, code)
            self._queue.popleft()
            del self._pending[key]
            pending.viewer.tell(answer)

    def _refusal(self, pending: _Pending) -> str | None:
        """Why `pending` cannot be done; `None` if it can, and then it is on its way to the store."""
        if pending.base is not None and pending.base != self.version:
            return Code.STALE.value
        if self.is_over:
            return Code.GAME_OVER.value
        if self.version >= self._limits.log_length:
            return Code.LOG_FULL.value
        try:
            state = self.game.apply(self._state, pending.seat, pending.action)
        except Refused as refused:
            return refused.code
        over = self.game.outcome(state) is not None
        deed = Deed(pending.seat, pending.ref, pending.action)
        # A list made by its first entry lives for ever unless told otherwise.
        ttl_s = (
            self._limits.finished_ttl_s if over else self._house.live_ttl_s if self.version % 64 == 0 else 0
        )
        commit = Commit(self.sid, self.epoch, self.version, pack(deed), ttl_s)
        self._busy = True
        self._house.submit(commit, lambda result, at_ms: self._committed(result, at_ms, deed, state, over))
        return None

    def _committed(self, result: int | None, at_ms: int, deed: Deed, state: Any, over: bool) -> None:
        if result == STORED:
            self._done(at_ms, deed, state, over)
            self._busy = False
            if self._behind:
                self._behind = False
                self.look_again()
            else:
                self._advance()
        elif result == GONE:
            self._busy = False
            self._house.gone(self)
        else:
            assert result in (CONFLICT, None)
            self._behind = False
            self._house.catch_up(self)

    def _take(self, entry: Entry) -> None:
        """Takes an entry that is in the log: the rules were asked before it got there."""
        deed = unpack(entry.body)
        state = self.game.apply(self._state, deed.seat, deed.action)
        self._done(entry.at_ms, deed, state, self.game.outcome(state) is not None)

    def _done(self, at_ms: int, deed: Deed, state: Any, over: bool) -> None:
        """`deed` is in the log: shows it, then answers who did it."""
        self._state = state
        self.version += 1
        self.log.append((at_ms, deed))
        self._seen[deed.seat, deed.ref] = self.version
        if self.started_ms is None:
            self.started_ms = at_ms
        if over:
            self.ended_ms = at_ms
        for kind, before in self._views.items():
            view = self.game.view(state, kind)
            diff = outbound.diff(self.version, outbound.changes(before, view))
            self._views[kind] = view
            self._histories[kind].add(self.version, diff)
            for viewer in self.viewers.get(kind, ()):
                viewer.show(diff)
        if over or self.version == 1:
            self.tell_all(outbound.clock(self.elapsed_ms, self.running))
        if self._queue and self._queue[0].ref == deed.ref and self._queue[0].seat == deed.seat:
            pending = self._queue.popleft()
            del self._pending[pending.seat, pending.ref]
            pending.viewer.tell(outbound.ack(pending.ref, self.version))
        if over:
            self._house.over(self)

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
        )

    def _table(self) -> bytes:
        watching = sum(viewer.seat is None for viewers in self.viewers.values() for viewer in viewers)
        return outbound.table(self.names, watching)

    def _announce(self) -> None:
        """Tells everybody soon who is here."""
        if not self._table_due:
            self._table_due = True
            self._house.later(self.TABLE_PAUSE_S, self._tell_table)

    def _tell_table(self) -> None:
        self._table_due = False
        self.tell_all(self._table())
