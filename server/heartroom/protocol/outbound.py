"""What the server says: a closed vocabulary, one function a message, each returning its bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from heartroom import metrics
from heartroom.protocol.codes import Code

DIFF, SNAPSHOT, ACK, REJECT, WELCOME, CREATED, TABLE, CLOCK, PONG, ERROR, RESUMED, STORE = range(12)
CHANGED = 13

_encode = msgspec.msgpack.Encoder().encode


def changes(before: Sequence[Any], after: Sequence[Any]) -> list[Any]:
    """Where two views of one game differ: `[index, value after, index, value after, …]`."""
    found: list[Any] = []
    for index, value in enumerate(after):
        was = before[index]
        if was is not value and was != value:  # nearly all are the very same
            found.append(index)
            found.append(value)
    return found


def diff(version: int, changed: list[Any]) -> bytes:
    """The session is at `version`; `changed` is what `changes` found."""
    return _encode([DIFF, version, *changed])


def snapshot(
    sid: str,
    game: str,
    epoch: int,
    version: int,
    seat: int | None,
    view: Sequence[Any],
    elapsed_ms: int,
    running: bool,
    waiting_ms: int,
) -> bytes:
    """All that this viewer may know."""
    return _encode([SNAPSHOT, sid, game, epoch, version, seat, view, [elapsed_ms, int(running), waiting_ms]])


def ack(ref: int, version: int) -> bytes:
    """Action `ref` is stored as `version`."""
    return _encode([ACK, ref, version])


def reject(ref: int, code: str) -> bytes:
    """Request or action `ref` was refused and changed nothing."""
    metrics.REFUSALS.labels(code).inc()
    return _encode([REJECT, ref, code])


def welcome(pseudonym: str, name: str, sessions: Sequence[tuple[str, str]]) -> bytes:
    """Who you are; `sessions` are (session, game)."""
    return _encode([WELCOME, pseudonym, name, sessions])


def created(ref: int, sid: str) -> bytes:
    """The session asked for by `ref` exists."""
    return _encode([CREATED, ref, sid])


def table(
    names: Sequence[str],
    viewers: int,
    chairs: Sequence[int] = (1,),
    started: bool = True,
    settings: Sequence[Any] = (0, False, None, False, ""),
) -> bytes:
    """Who sits where and how many others watch. `chairs`: 0 open, 1 here, 2 connection lost, 3 away with a
    bot in place, 4 a bot. `settings`: seconds a turn, public, ms until it starts by itself, private,
    level of the bots."""
    return _encode([TABLE, names, viewers, chairs, int(started), settings])


def clock(elapsed_ms: int, running: bool, waiting_ms: int) -> bytes:
    """The game's time started or stopped; `waiting_ms`: how long the present turn has lasted."""
    return _encode([CLOCK, elapsed_ms, int(running), waiting_ms])


def pong(number: int) -> bytes:
    """The answer to a ping."""
    return _encode([PONG, number])


def error(code: Code) -> bytes:
    """Something went wrong that was no numbered request."""
    metrics.REFUSALS.labels(code.value).inc()
    return _encode([ERROR, code.value])


def resumed(version: int) -> bytes:
    """What the client holds is good; diffs up to `version` follow."""
    return _encode([RESUMED, version])


def store(answering: bool) -> bytes:
    """Whether the store answers."""
    return _encode([STORE, int(answering)])


def changed(topic: str) -> bytes:
    """What is watched under `topic` is to be fetched (again)."""
    return _encode([CHANGED, topic])
