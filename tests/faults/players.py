"""Who plays and looks on while there are faults: over one connection after another, resuming with what they
hold, and sending again what was not answered. All that they did and saw is written down for the checker.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections.abc import Callable
from typing import Any, Final

import msgspec
from websockets.frames import Opcode
from websockets.typing import Subprotocol

from bench.wire import Closed, Link
from heartroom.client import (
    ACK,
    ACT,
    COOKIE,
    CREATED,
    DIFF,
    ERROR,
    JOIN,
    NEW,
    PING,
    REJECT,
    SIT,
    SNAPSHOT,
    START,
    SUBPROTOCOL,
    TABLE,
)
from heartroom.games.hearts.rules import OVER, PASSING, PLAYING, SCORED
from heartroom.games.hearts.view import FIELD
from heartroom.web.identity import Identity
from tests.faults.history import Acts, Sight
from tests.faults.scripts import Script
from tests.support.games import GAME
from tests.support.serving import SECRET

HEARTS: Final = "hearts"
SILENCE_S: Final = (1.0, 3.0)
"""After so much of it the other end is asked whether it is there; then it is given up."""
RETRY_S: Final = 0.05
"""Between two attempts to be connected."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode


class Session:
    """One session, and all that was noted of it."""

    def __init__(self, sid: str, game: str) -> None:
        self.sid: Final = sid
        self.game: Final = game
        self.acts: Final[list[Acts]] = []
        self.sights: Final[list[Sight]] = []
        self.final: int | None = None
        """The version with which it ends."""
        self.watchers: Final[list[Spectator]] = []

    def end(self, version: int) -> None:
        """Nothing more is done in it: who looks on may go when that has been seen."""
        self.final = version
        for watcher in self.watchers:
            watcher.look()


class Ground:
    """What all clients share: where the nodes are, and what all count together."""

    def __init__(self, seed: int, ports: Callable[[], list[int]]) -> None:
        """`ports`: of the nodes that live."""
        self.seed: Final = seed
        self.ports: Final = ports
        self.sessions: Final[dict[str, Session]] = {}
        self.lookers: Final[list[Looker]] = []
        self.acknowledged = 0
        self.refused = 0
        self.connected = 0
        """Connections that came to be."""
        self.longest_s = 0.0
        """The longest that anybody waited for an answer."""
        self.wrong: Final[list[str]] = []
        """What was seen to be wrong on the way."""
        self.ending = False
        """Whether it is enough: sessions are brought to an end."""
        self._identity = Identity(SECRET)

    def cookie(self, pid: str) -> str:
        """What makes a connection that of a player."""
        return f"{COOKIE}={self._identity.seal(pid)}"

    def session(self, sid: str, game: str) -> Session:
        """The session of this id."""
        return self.sessions.setdefault(sid, Session(sid, game))

    async def watch_over(self) -> None:
        """Gives up connections over which nothing comes any more, for ever."""
        while True:
            await asyncio.sleep(0.25)
            for looker in self.lookers:
                looker.tick()


class Wire(Link):
    """One connection of a player's."""

    def __init__(self, port: int, cookie: str, heard: Callable[[list[Any]], None]) -> None:
        super().__init__(f"ws://127.0.0.1:{port}/ws", Subprotocol(SUBPROTOCOL))
        assert self._handshake is not None
        connect = self._handshake.connect

        def with_cookie() -> Any:
            request = connect()
            request.headers["Cookie"] = cookie
            return request

        self._handshake.connect = with_cookie  # type: ignore[method-assign]
        self._heard = heard
        self.port: Final = port
        self.heard_s = time.monotonic()
        """When something came last."""
        self.gone = asyncio.Event()

    @classmethod
    async def open_to(cls, port: int, cookie: str, heard: Callable[[list[Any]], None]) -> Wire:
        """A connection after the handshake. Raises `Closed`, `OSError`, `TimeoutError`."""
        wire = cls(port, cookie, heard)
        try:
            async with asyncio.timeout(SILENCE_S[1]):
                await asyncio.get_running_loop().create_connection(lambda: wire, "127.0.0.1", port)
                await wire.open
        except BaseException:
            wire.abort()
            if wire.open.done() and not wire.open.cancelled():
                wire.open.exception()
            raise
        return wire

    def send(self, message: list[Any]) -> None:
        """Sends one message, or nothing if the connection is gone."""
        if not self.gone.is_set():
            self.write(Opcode.BINARY, _encode(message))

    def received(self, payload: bytes, size: int) -> None:
        """A frame has come."""
        self.heard_s = time.monotonic()
        if not self.gone.is_set():
            self._heard(_decode(payload))

    def lost(self, error: Closed) -> None:
        """Nothing comes any more."""
        self.gone.set()

    def drop(self) -> None:
        """Breaks the connection; what may yet come of it is not for us."""
        self.gone.set()
        self.abort()


class Looker:
    """Somebody who looks at one session after another, from whatever node lives."""

    def __init__(self, ground: Ground, pid: str, who: str) -> None:
        self.ground: Final = ground
        self.pid: Final = pid
        self.who: Final = who
        self.chance: Final = random.Random(f"{ground.seed} {who}")
        """Its own, so that what it means to do depends on nobody else, nor on how often it must connect."""
        self._ways: Final = random.Random(f"{ground.seed} ways of {who}")
        self.wire: Wire | None = None
        self.session: Session | None = None
        self.sight: Sight | None = None
        self.joined = False
        self.done = asyncio.Event()
        """Whether it has come to its end."""
        self.epoch = self.version = 0
        self.seat: int | None = None
        self.view: list[Any] = []
        self.table: list[Any] = []
        ground.lookers.append(self)

    async def run(self) -> None:
        """Returns when it has come to its end."""
        cookie = self.ground.cookie(self.pid)
        while not self.done.is_set():
            try:
                wire = await Wire.open_to(self.pick(self.ground.ports()), cookie, self._heard)
            except (Closed, OSError, TimeoutError):
                await asyncio.sleep(RETRY_S)
                continue
            self.ground.connected += 1
            self.wire, self.joined = wire, False
            try:
                self.connected()
                ends = asyncio.ensure_future(self.done.wait())
                breaks = asyncio.ensure_future(wire.gone.wait())
                try:
                    await asyncio.wait([ends, breaks], return_when=asyncio.FIRST_COMPLETED)
                finally:
                    ends.cancel()
                    breaks.cancel()
            finally:
                self.wire, self.joined = None, False
                wire.drop()

    def pick(self, ports: list[int]) -> int:
        """Where to go."""
        return self._ways.choice(ports)

    def describe(self) -> str:
        """Who it is, and how far it has come."""
        sid = self.session.sid if self.session is not None else "no session"
        return f"{self.who} in {sid} at version {self.version}{' (joined)' * self.joined}"

    def tick(self) -> None:
        """From time to time: asks whether the other end is there."""
        if self.wire is not None:
            silence = time.monotonic() - self.wire.heard_s
            if silence > SILENCE_S[1]:
                self.wire.drop()
            elif silence > SILENCE_S[0]:
                self.wire.send([PING, 1])

    # -- what a subclass says

    def connected(self) -> None:
        """There is a new connection."""
        if self.session is not None:
            self.join()

    def resumed(self) -> None:
        """What it looks at is up to date, over this connection."""

    def changed(self) -> None:
        """The view has changed."""

    def answered(self, message: list[Any]) -> None:
        """Something has come that is about no view."""

    # -- below

    def turn_to(self, session: Session) -> None:
        """Looks at a session from now on, of which it knows nothing yet."""
        self.session = session
        self.sight = Sight(self.who)
        session.sights.append(self.sight)
        self.epoch = self.version = 0
        self.seat, self.view, self.table = None, [], []
        self.join()

    def join(self) -> None:
        """Asks for the session, from what it holds."""
        self.joined = False
        if self.wire is not None and self.session is not None:
            self.wire.send([JOIN, self.session.sid, self.epoch, self.version])

    def send(self, message: list[Any]) -> None:
        """Sends a message, if it can be."""
        if self.wire is not None:
            self.wire.send(message)

    def accuse(self, text: str) -> None:
        """Something is not as it must be."""
        sid = self.session.sid if self.session is not None else "no session"
        self.ground.wrong.append(f"{self.who} in {sid}: {text}")

    def _heard(self, message: list[Any]) -> None:
        kind = message[0]
        if kind == DIFF:
            # One that does not follow is not for us to make sense of: the checker sees it.
            if self.sight is None or self.session is None or not self.view:
                self.accuse(f"a diff before there was a snapshot: {message}")
                return
            for index, value in zip(message[2::2], message[3::2], strict=True):
                self.view[index] = value
            self.version = message[1]
            self.sight.show(0, self.version, self.seat, self.view)
            self.changed()
        elif kind == SNAPSHOT:
            if self.session is None or self.sight is None or message[1] != self.session.sid:
                return  # it looked at that before
            self.epoch, self.version, self.seat, self.view = message[3:7]
            self.sight.show(self.epoch, self.version, self.seat, self.view)
            self.changed()
        elif kind == TABLE:
            self.table = message
            # The first that comes with a view of this session: the answer to the join is complete.
            if not self.joined and self.view:
                self.joined = True
                self.resumed()
            self.answered(message)
        elif kind == ERROR:
            self.accuse(f"was told {message[1]}")
        else:
            self.answered(message)


class Spectator(Looker):
    """Looks at what a player plays, from another node where there is one."""

    def __init__(self, ground: Ground, pid: str, who: str, player: Player) -> None:
        super().__init__(ground, pid, who)
        self.player: Final = player
        player.watchers.append(self)

    def pick(self, ports: list[int]) -> int:
        other = self.player.wire
        elsewhere = [port for port in ports if other is None or port != other.port]
        return super().pick(elsewhere or ports)

    def connected(self) -> None:
        super().connected()
        self.look()

    def tick(self) -> None:
        super().tick()
        self.look()

    def look(self) -> None:
        """Goes on to what the player plays now, if this one has been seen to its end."""
        session = self.session
        if session is not None and (session.final is None or not self.view or self.version < session.final):
            return
        following = self.player.session
        if following is not None and following is not self.session and following.final is None:
            following.watchers.append(self)
            self.turn_to(following)
        elif self.ground.ending and self.player.done.is_set():
            self.done.set()

    def changed(self) -> None:
        if self.session is not None and self.version == self.session.final:
            self.look()


class Player(Looker):
    """Somebody who has a seat: acts, and sees to it that everything is answered."""

    _numbers = itertools.count(1)

    def __init__(self, ground: Ground, pid: str, who: str) -> None:
        super().__init__(ground, pid, who)
        self.watchers: Final[list[Spectator]] = []
        self.acts: Acts | None = None
        self.acknowledged = 0
        self.unanswered: dict[int, tuple[list[Any], str | None, float]] = {}
        """By ref: the message, the code that it is to be refused with, and when it was sent first."""

    def act(self, base: int | None, action: tuple[Any, ...], code: str | None = None) -> int:
        """Sends an action for the first time; returns its ref. `code`: with which it is to be refused."""
        assert self.acts is not None
        ref = self.acts.send(action)
        message = [ACT, ref, base, action]
        self.unanswered[ref] = message, code, time.monotonic()
        self.send(message)
        return ref

    def resumed(self) -> None:
        for message, _, _ in self.unanswered.values():
            self.send(message)
        self.go_on()

    def changed(self) -> None:
        if self.joined:
            self.go_on()

    def nudge(self) -> None:
        """It may be enough."""
        if self.joined:
            self.go_on()

    def go_on(self) -> None:
        """Acts, if there is anything to do; ends the session when it is over."""
        raise NotImplementedError

    def seated(self, session: Session, seat: int) -> None:
        """Notes what it does in a session from now on."""
        self.acts = Acts(seat, self.chance.randrange(1, 2**52))
        session.acts.append(self.acts)

    def answered(self, message: list[Any]) -> None:
        kind = message[0]
        if kind not in (ACK, REJECT) or self.acts is None:
            return
        known = self.unanswered.pop(message[1], None)
        if known is None:
            return
        _, code, sent_s = known
        self.ground.longest_s = max(self.ground.longest_s, time.monotonic() - sent_s)
        if kind == ACK:
            self.acts.ack(message[1], message[2])
            self.acknowledged += 1
            self.ground.acknowledged += 1
            if code is not None:
                self.accuse(f"{known[0]} was acknowledged, and is {code}")
        else:
            self.acts.refuse(message[1])
            self.ground.refused += 1
            # sent again, what cannot be comes after what was sent after it
            if code is None or message[2] not in (code, "stale"):
                self.accuse(f"{known[0]} was refused as {message[2]}, not {code}")
        self.go_on()

    def leave(self, version: int) -> None:
        """The session has come to its end."""
        assert self.session is not None
        session, self.session, self.acts, self.sight = self.session, None, None, None
        self.joined = False
        if self.ground.ending:
            self.done.set()
        session.end(version)


class Solitaire(Player):
    """Plays one Heart to Heart after another, some actions under way at a time."""

    def __init__(self, ground: Ground, pid: str, who: str, ranked: str | None) -> None:
        """`ranked`: the session of a ranked attempt to begin with."""
        super().__init__(ground, pid, who)
        self._ranked = ranked
        self._script: Script | None = None
        self._last: int | None = None
        """The ref that what comes next builds on; at first it is on the session as it was found."""
        self._found = -1
        self._under_way = 1
        self._asked = 0

    def connected(self) -> None:
        super().connected()
        self._next()

    def _next(self) -> None:
        if self.session is not None:
            return
        if self._ranked is not None:
            session, self._ranked = self.ground.session(self._ranked, GAME.name), None
            self._begin(session, Script.to_win(self.chance))
        elif not self.ground.ending:
            self._script = Script.some(self.chance)
            self._asked = next(self._numbers)
            self.send([NEW, self._asked, GAME.name, {"code": self._script.code}])
        else:
            self.done.set()

    def _begin(self, session: Session, script: Script) -> None:
        self._script, self._last, self._found, self._asked = script, None, -1, 0
        self._under_way = self.chance.choice((1, 1, 2, 4))
        self.seated(session, 0)
        self.turn_to(session)
        for watcher in self.watchers:
            watcher.look()

    def answered(self, message: list[Any]) -> None:
        if message[0] == CREATED and message[1] == self._asked and self._script is not None:
            self._begin(self.ground.session(message[2], GAME.name), self._script)
        elif message[0] == REJECT and self.session is None and message[1] == self._asked:
            if message[2] != "unavailable":
                self.accuse(f"a new session was refused as {message[2]}")
            asyncio.get_running_loop().call_later(RETRY_S, self._next)
        else:
            super().answered(message)

    def changed(self) -> None:
        if not self.unanswered:  # else the answers are to come
            self.go_on()

    def go_on(self) -> None:
        script = self._script
        if not self.joined or script is None or self.session is None:
            return
        if self._found < 0:
            self._found = self.version
        while len(self.unanswered) < self._under_way and not script.over and not self.ground.ending:
            action, code = script.next()
            ref = self.act(self._found if self._last is None else -self._last, action, code)
            if code is None:
                self._last = ref
        seen_all = not self.unanswered and self.version >= self._found + script.taken
        if seen_all and (script.over or self.ground.ending):
            self.leave(self.version)
            self._next()


class Hearts(Player):
    """Plays one Hearts after another with a companion and two bots."""

    def __init__(self, ground: Ground, pid: str, who: str, host: Hearts | None) -> None:
        """`host`: at whose tables to sit; `None` begins them."""
        super().__init__(ground, pid, who)
        self.host: Final = host
        self.companion: Hearts | None = None
        if host is not None:
            host.companion = self
        self._asked = 0
        self._ticks = 0

    def connected(self) -> None:
        super().connected()
        self._next()

    def tick(self) -> None:
        super().tick()
        self._ticks += 1
        if self._ticks % 4 == 0:
            self._next()
            if self.joined:
                self.go_on()

    def _next(self) -> None:
        if self.session is not None:
            return
        if self.host is not None:
            session = self.host.session
            if session is not None and session.final is None and not any(a.seat == 1 for a in session.acts):
                self.seated(session, 1)
                self.turn_to(session)
            elif self.ground.ending and self.host.done.is_set():
                self.done.set()
        elif self.ground.ending:
            self.done.set()
        elif self.companion is None or self.companion.session is None:
            self._asked = next(self._numbers)
            options = {"target": 1}
            self.send([NEW, self._asked, HEARTS, options, {"pace": 0, "level": "easy"}])

    def answered(self, message: list[Any]) -> None:
        if message[0] == CREATED and message[1] == self._asked and self.session is None:
            session = self.ground.session(message[2], HEARTS)
            self.seated(session, 0)
            self.turn_to(session)
            for watcher in self.watchers:
                watcher.look()
        else:
            super().answered(message)

    def go_on(self) -> None:
        if self.session is None or not self.table:
            return
        if not self.table[4]:
            self._sit_down(self.table[3])
            return
        if self.seat is None or self.unanswered:
            return
        phase, to_act = self.view[FIELD["phase"]], self.view[FIELD["to_act"]]
        if phase == OVER or (self.ground.ending and not set(to_act) - {0, 1}):
            self._rise()
        elif self.seat in to_act and not self.ground.ending:
            if phase == PASSING:
                self.act(None, ("pass", *sorted(self.view[FIELD[f"hand{self.seat}"]][:3])))
            elif phase == SCORED:
                self.act(None, ("next",))
            elif phase == PLAYING and self.view[FIELD["legal"]]:
                self.act(None, ("play", self.chance.choice(self.view[FIELD["legal"]])))

    def _sit_down(self, chairs: list[int]) -> None:
        """May be asked for again and again; what has been done is refused, and no harm."""
        if self.seat is None:
            self.send([SIT, next(self._numbers), 1])
        elif self.host is None and chairs[1]:
            self.send([START, next(self._numbers)])

    def _rise(self) -> None:
        """Both have seen the end, or where the game is to rest."""
        assert self.session is not None
        other = self.host or self.companion
        assert other is not None
        if other.session is self.session and (other.unanswered or other.version != self.version):
            return
        version, session = self.version, self.session
        self.leave(version)
        if other.session is session:
            other.leave(version)
        for one in (self, other):
            one._next()
