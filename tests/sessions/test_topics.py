"""Who watches what, and is told that it has changed: at once, and then once in a while."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from heartroom.sessions.house import House
from heartroom.sessions.topics import Topics
from heartroom.sessions.viewer import Viewer


class Ear:
    """A client that is told of topics."""

    def __init__(self) -> None:
        self.backlog = 0
        self.told: list[str] = []
        self._changed = asyncio.Event()

    def send(self, payload: bytes, *more: bytes) -> None:
        for one in (payload, *more):
            kind, topic = msgspec.msgpack.decode(one)
            assert kind == 13
            self.told.append(topic)
        self._changed.set()

    async def until(self, count: int) -> None:
        async with asyncio.timeout(30):
            while len(self.told) < count:
                self._changed.clear()
                await self._changed.wait()


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Topics, "PAUSE_S", 0.05)


async def test_who_begins_to_watch_is_told_at_once() -> None:
    topics, ear = Topics(), Ear()
    topics.watch(ear, "live")
    assert ear.told == ["live"]
    topics.watch(ear, "daily")
    assert ear.told == ["live", "daily"]
    assert not topics.watched("live")


async def test_changes_in_quick_succession_are_told_together_and_the_last_is_told() -> None:
    topics, ear = Topics(), Ear()
    topics.watch(ear, "live")
    for _ in range(50):
        topics.changed("live")
    assert ear.told == ["live"] * 2
    await ear.until(3)
    topics.changed("live")
    await ear.until(4)
    assert ear.told == ["live"] * 4


async def test_only_those_who_watch_it_are_told() -> None:
    topics, one, other, gone = Topics(), Ear(), Ear(), Ear()
    topics.watch(one, "live")
    topics.watch(other, "daily")
    topics.watch(gone, "live")
    topics.watch(gone, None)
    topics.changed("live")
    topics.changed("all-time")
    assert (one.told, other.told, gone.told) == (["live"] * 2, ["daily"], ["live"])


async def test_who_leaves_while_something_is_due_is_not_told() -> None:
    topics, one, other = Topics(), Ear(), Ear()
    topics.watch(one, "live")
    topics.watch(other, "live")
    topics.changed("live")
    topics.changed("live")
    topics.watch(one, None)
    await other.until(3)
    assert one.told == ["live"] * 2


async def test_who_does_not_read_is_told_when_there_is_room_again() -> None:
    topics, ear = Topics(), Ear()
    topics.watch(ear, "live")
    ear.backlog = Viewer.CLOGGED + 1
    topics.changed("live")
    assert ear.told == ["live"]
    ear.backlog = 0
    await ear.until(2)


async def test_after_a_gap_all_are_told() -> None:
    topics, one, other = Topics(), Ear(), Ear()
    topics.watch(one, "live")
    topics.watch(other, "daily")
    topics.all_changed()
    assert (len(one.told), len(other.told)) == (2, 2)


async def test_a_house_hears_of_changes_on_any_node(house: House) -> None:
    ear = Ear()
    house.topics.watch(ear, "board/2026-11-30")
    async with asyncio.timeout(30):
        while len(ear.told) < 3:  # it may not have begun to listen
            await house.store.tell_changed("board/2026-11-30")
            await asyncio.sleep(0)
