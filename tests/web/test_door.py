"""Connections that come and go, one by one and by the hundred."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Any, Final

import pytest

from heartroom.web import door
from heartroom.web.door import Door

MANY: Final = 100


class House:
    """What is behind a door: greets, and counts its guests."""

    def __init__(self) -> None:
        self.guests = 0

    def make(self) -> asyncio.Protocol:
        house = self

        class Guest(asyncio.Protocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                house.guests += 1
                assert isinstance(transport, asyncio.Transport)
                transport.write(b"welcome")

        return Guest()


@contextlib.asynccontextmanager
async def opened(house: House, per_second: int) -> AsyncIterator[tuple[Door, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0), backlog=MANY) as listening:
        opened = Door(listening, house.make, per_second)
        try:
            yield opened, listening
        finally:
            opened.close()
            await opened.wait_closed()


async def greeted(listening: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(*listening.getsockname())
    assert await reader.read(7) == b"welcome"
    writer.close()


async def test_all_come_in_sooner_or_later() -> None:
    house = House()
    async with opened(house, per_second=500) as (_, listening):
        await asyncio.gather(*(greeted(listening) for _ in range(MANY)))
    assert house.guests == MANY


class Clock:
    """The event loop's, but that its time stands still and what is to be done later waits for us."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.now = self._loop.time()
        self.taken_up = 0
        self.later: asyncio.Queue[tuple[float, Any]] = asyncio.Queue()
        self.add_reader = self._loop.add_reader
        self.remove_reader = self._loop.remove_reader
        self.connect_accepted_socket = self._loop.connect_accepted_socket

    def time(self) -> float:
        return self.now

    def create_task(self, coming: Any) -> asyncio.Task[Any]:
        self.taken_up += 1
        return self._loop.create_task(coming)

    def call_later(self, delay_s: float, call: Any) -> asyncio.TimerHandle:
        self.later.put_nowait((delay_s, call))
        return self._loop.call_later(3600, call)


async def test_no_more_come_in_than_may(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: clock)
    house = House()
    async with opened(house, per_second=10) as (_, listening):
        monkeypatch.undo()
        coming = [asyncio.ensure_future(greeted(listening)) for _ in range(8)]
        delay_s, again = await clock.later.get()
        at_once = clock.taken_up
        assert at_once in (4, 5)  # as rounding will have it
        for taken_up in range(at_once + 1, 9):
            assert 0 < delay_s <= 0.101
            clock.now += delay_s + 1e-6
            again()
            if taken_up < 8:
                delay_s, again = await clock.later.get()
                assert clock.taken_up == taken_up
        await asyncio.gather(*coming)
        assert (clock.taken_up, house.guests) == (8, 8)


async def test_who_comes_after_it_was_closed_is_not_let_in() -> None:
    house = House()
    async with opened(house, per_second=500) as (its, listening):
        await greeted(listening)
        its.close()
        its.close()
        with socket.create_connection(listening.getsockname()):
            for _ in range(20):
                await asyncio.sleep(0)
        assert house.guests == 1


async def test_when_there_is_no_room_it_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "_FULL_S", 0.01)
    house = House()
    async with opened(house, per_second=500) as (its, listening):

        class Full:
            refusals = 0

            def fileno(self) -> int:
                return listening.fileno()

            def accept(self) -> Any:
                if Full.refusals < 3:
                    Full.refusals += 1
                    raise OSError(24, "Too many open files")
                return listening.accept()

        monkeypatch.setattr(its, "_listening", Full())
        await greeted(listening)
        assert (house.guests, Full.refusals) == (1, 3)
        its.close()


async def test_a_few_who_go_are_forgotten_at_once_and_many_in_turn_all_of_them() -> None:
    loop, forgotten = asyncio.get_running_loop(), list[int]()
    for number in range(3):
        door.leave(loop, lambda number=number: forgotten.append(number))  # type: ignore[misc]
    assert forgotten == [0, 1, 2]
    await asyncio.sleep(0)
    forgotten.clear()
    done = asyncio.Event()

    def forget(number: int) -> None:
        forgotten.append(number)
        if number == 500:
            raise ValueError("one that cannot be forgotten")
        if number == 999:
            done.set()

    for number in range(1000):
        door.leave(loop, lambda number=number: forget(number))  # type: ignore[misc]
    assert len(forgotten) <= 10
    await done.wait()
    assert forgotten == list(range(1000))
