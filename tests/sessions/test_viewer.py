"""A viewer that is slow: what is dropped, what waits, and in which order it gets both."""

from __future__ import annotations

import pytest

from heartroom.protocol import outbound
from heartroom.sessions.viewer import Viewer


class Pipe:
    def __init__(self) -> None:
        self.backlog = 0
        self.sent: list[bytes] = []

    def send(self, payload: bytes, *more: bytes) -> None:
        self.sent += (payload, *more)


@pytest.fixture
def pipe() -> Pipe:
    return Pipe()


@pytest.fixture
def viewer(pipe: Pipe) -> Viewer:
    return Viewer(pipe, "somebody")


def test_what_is_shown_and_told_is_sent_in_order(viewer: Viewer, pipe: Pipe) -> None:
    assert viewer.show(b"diff")
    viewer.tell(b"ack")
    assert viewer.show(b"diff 2")
    assert pipe.sent == [b"diff", b"ack", b"diff 2"]


def test_a_viewer_is_slow_only_beyond_its_bound(viewer: Viewer, pipe: Pipe) -> None:
    pipe.backlog = Viewer.CLOGGED
    assert viewer.show(b"diff")
    pipe.backlog += 1
    assert not viewer.show(b"diff 2")
    assert pipe.sent == [b"diff"]


def test_a_slow_viewer_gets_nothing_until_the_snapshot_even_if_there_is_room(
    viewer: Viewer, pipe: Pipe
) -> None:
    pipe.backlog = Viewer.CLOGGED + 1
    viewer.show(b"diff")
    pipe.backlog = 0
    assert not viewer.show(b"diff 2")
    assert pipe.sent == []
    viewer.caught_up(b"snapshot", b"table")
    assert viewer.show(b"diff 3")
    assert pipe.sent == [b"snapshot", b"table", b"diff 3"]


def test_answers_wait_for_the_snapshot_and_follow_it_once(viewer: Viewer, pipe: Pipe) -> None:
    pipe.backlog = Viewer.CLOGGED + 1
    viewer.show(b"diff")
    viewer.tell(b"ack 1")
    viewer.tell(b"ack 2")
    assert pipe.sent == []
    viewer.caught_up(b"snapshot")
    viewer.caught_up(b"another")
    assert pipe.sent == [b"snapshot", b"ack 1", b"ack 2", b"another"]


def test_an_answer_alone_does_not_make_a_viewer_slow(viewer: Viewer, pipe: Pipe) -> None:
    pipe.backlog = Viewer.CLOGGED + 1
    viewer.tell(b"ack")
    assert pipe.sent == [b"ack"]
    assert not viewer.lagging


def test_who_leaves_while_slow_gets_the_answers_and_no_snapshot(viewer: Viewer, pipe: Pipe) -> None:
    pipe.backlog = Viewer.CLOGGED + 1
    viewer.show(b"diff")
    viewer.tell(b"ack")
    viewer.caught_up()
    assert pipe.sent == [b"ack"]
    assert not viewer.lagging


def test_that_the_store_is_away_is_told_once_and_that_it_is_back_only_after_that(
    viewer: Viewer, pipe: Pipe
) -> None:
    away, back = outbound.store(False), outbound.store(True)
    viewer.tell_away(False)
    assert pipe.sent == []
    viewer.tell_away(True)
    viewer.tell_away(True)
    assert pipe.sent == [away]
    viewer.waits = True
    viewer.tell_away(False)
    assert pipe.sent == [away]
    viewer.waits = False
    viewer.tell_away(False)
    assert pipe.sent == [away, back]


def test_that_the_store_is_away_is_told_to_the_slow_as_well(viewer: Viewer, pipe: Pipe) -> None:
    pipe.backlog = Viewer.CLOGGED + 1
    viewer.show(b"diff")
    viewer.tell_away(True)
    assert pipe.sent == [outbound.store(False)]
