"""Guests of a house, without sockets: they see what a room sends, and believe only what follows from it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from typing import Any, Self

import msgspec

from heartroom import client as wire
from heartroom.client import Table
from heartroom.sessions.house import House
from heartroom.sessions.room import Room
from heartroom.sessions.viewer import Viewer
from tests.support.games import pid
from tests.support.stores import PATIENCE_S


class Outlet:
    """The way to a client that reads at once, or, with a `backlog`, does not read."""

    def __init__(self) -> None:
        self.backlog = 0
        self.messages: list[list[Any]] = []
        self.table = Table()
        self.answers: dict[int, int | str] = {}
        """By ref: the version of an *ack* or the code of a *reject*."""
        self.answered: list[int] = []
        """The refs of all answers, in order."""
        self.errors: list[str] = []
        self.store: list[bool] = []
        """What was said of the store, in order."""
        self._changed = asyncio.Event()

    def send(self, payload: bytes, *more: bytes) -> None:
        for one in (payload, *more):
            self._take(msgspec.msgpack.decode(one))
        self._changed.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not holds():
                self._changed.clear()
                await self._changed.wait()

    def kinds(self) -> list[int]:
        """The types of all messages, in order."""
        return [message[0] for message in self.messages]

    def _take(self, message: list[Any]) -> None:
        self.messages.append(message)
        kind, table = message[0], self.table
        if kind == wire.DIFF:
            table.apply(message)
        elif kind == wire.SNAPSHOT:
            _, table.session, table.game, table.epoch, table.version, table.seat, view, clock = message
            table.view = list(view)
            table.elapsed_ms, table.running = clock[0], bool(clock[1])
        elif kind in (wire.ACK, wire.REJECT):
            self.answers[message[1]] = message[2]
            self.answered.append(message[1])
        elif kind == wire.TABLE:
            table.names, table.viewers = message[1], message[2]
        elif kind == wire.CLOCK:
            table.elapsed_ms, table.running = message[1], bool(message[2])
        elif kind == wire.ERROR:
            self.errors.append(message[1])
        elif kind == wire.STORE:
            self.store.append(bool(message[1]))
        else:
            assert kind == wire.RESUMED, message
            assert message[1] >= table.version


class Guest:
    """A player or spectator at one session, on one node."""

    def __init__(self, room: Room, player: str) -> None:
        self.room = room
        self.player = player
        self.outlet = Outlet()
        self.viewer = Viewer(self.outlet, player)

    @classmethod
    async def join(cls, house: House, sid: str, player: str = "", *, holding: Table | None = None) -> Self:
        """Opens the session and looks on, from a snapshot or from what it holds."""
        player = player or pid()
        held = (0, 0) if holding is None else (holding.epoch, holding.version)
        guest = cls(await house.enter(sid, player, *held), player)
        if holding is not None:
            guest.outlet.table = holding
        guest.room.attach(guest.viewer, *held)
        return guest

    @property
    def table(self) -> Table:
        return self.outlet.table

    def leave(self) -> Table:
        """Looks on no more; returns what it held."""
        self.room.detach(self.viewer)
        return self.outlet.table

    def send(self, *action: Any, base: int | None = None, ref: int = 0) -> int:
        """Sends an action and waits for nothing."""
        ref = ref or secrets.randbelow(2**53 - 1) + 1
        self.room.act(self.viewer, ref, base, list(action))
        return ref

    async def answer(self, ref: int) -> int | str:
        """What came back for `ref`: a version or a code."""
        await self.outlet.until(lambda: ref in self.outlet.answers)
        return self.outlet.answers[ref]

    async def act(self, *action: Any, base: int | None = None, ref: int = 0) -> int | str:
        """Takes an action and returns its version, or the code with which it was refused."""
        return await self.answer(self.send(*action, base=base, ref=ref))

    async def at(self, version: int) -> None:
        """Returns when the session is seen at `version`."""
        await self.outlet.until(lambda: self.table.version == version)

    def clog(self) -> None:
        """Reads nothing from now on."""
        self.outlet.backlog = 2**20

    def drain(self) -> None:
        """Reads again."""
        self.outlet.backlog = 0
        self.room.drained(self.viewer)

    def fresh(self) -> list[Any]:
        """The view as somebody sees it who has just come."""
        other = Viewer(Outlet(), self.player)
        self.room.attach(other, 0, 0)
        assert isinstance(other.outlet, Outlet)
        seen = other.outlet.table.view
        self.room.detach(other)
        return seen


async def until(asked: Callable[[], Awaitable[bool]]) -> None:
    """Returns when `asked` says yes. For what nobody tells us of."""
    async with asyncio.timeout(PATIENCE_S):
        while not await asked():  # noqa: ASYNC110 (another process is waited for)
            await asyncio.sleep(0.01)
