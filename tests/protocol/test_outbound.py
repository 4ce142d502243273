"""What the server says: each message as docs/protocol.md has it, diffs that lead to the next view, sizes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heartroom.protocol import outbound
from heartroom.protocol.codes import Code
from heartroom.web.sockets import frame
from tests.support.games import CODE, GAME, WINNING

STOCK = GAME.fields.index("stock")

MESSAGES: dict[str, tuple[bytes, list[Any]]] = {
    "diff": (outbound.diff(7, [25, 26, 27, 13]), [0, 7, 25, 26, 27, 13]),
    "diff of what is hidden": (outbound.diff(7, []), [0, 7]),
    "snapshot": (
        outbound.snapshot("s", "g", 5, 7, 0, (1, "x", None, (2, 3)), 99, True, 4),
        [1, "s", "g", 5, 7, 0, [1, "x", None, [2, 3]], [99, 1, 4]],
    ),
    "snapshot of a spectator": (
        outbound.snapshot("s", "g", 5, 0, None, (), 0, False, 0),
        [1, "s", "g", 5, 0, None, [], [0, 0, 0]],
    ),
    "ack": (outbound.ack(2**53 - 1, 7), [2, 2**53 - 1, 7]),
    "reject": (outbound.reject(3, "not_equal"), [3, 3, "not_equal"]),
    "welcome": (outbound.welcome("p", "Åse", [("s", "g")]), [4, "p", "Åse", [["s", "g"]]]),
    "created": (outbound.created(3, "s"), [5, 3, "s"]),
    "table": (outbound.table(["Åse"], 2), [6, ["Åse"], 2, [1], 1, [0, False, None, False, ""]]),
    "table of four": (
        outbound.table(["a", "", "", ""], 0, [1, 0, 2, 4], False, [30, True, 5000, False]),
        [6, ["a", "", "", ""], 0, [1, 0, 2, 4], 0, [30, True, 5000, False]],
    ),
    "clock": (outbound.clock(99, False, 5), [7, 99, 0, 5]),
    "pong": (outbound.pong(0), [8, 0]),
    "error": (outbound.error(Code.NO_SESSION), [9, "no_session"]),
    "resumed": (outbound.resumed(7), [10, 7]),
    "store away": (outbound.store(False), [11, 0]),
    "store back": (outbound.store(True), [11, 1]),
    "changed": (outbound.changed("live"), [13, "live"]),
}


@pytest.mark.parametrize(("payload", "message"), MESSAGES.values(), ids=MESSAGES)
def test_every_message_is_as_documented(payload: bytes, message: list[Any]) -> None:
    assert msgspec.msgpack.decode(payload) == message


def test_numbers_that_stand_for_yes_and_no_are_numbers() -> None:
    """A client need not know msgpack's booleans from its integers."""
    for payload in (outbound.clock(0, True, 0), outbound.store(True)):
        assert not any(isinstance(item, bool) for item in msgspec.msgpack.decode(payload))


VALUES = st.none() | st.integers(-5, 2**40) | st.text(max_size=3) | st.tuples(st.integers(0, 9))
TWO_VIEWS = st.lists(st.tuples(VALUES, VALUES), max_size=12)
"""Field by field what was and what is."""


@given(TWO_VIEWS)
def test_a_view_and_its_changes_make_the_next_view(fields: list[tuple[Any, Any]]) -> None:
    before, after = [was for was, _ in fields], [now for _, now in fields]
    _, version, *pairs = msgspec.msgpack.decode(outbound.diff(1, outbound.changes(before, after)))
    assert version == 1
    seen = msgspec.msgpack.decode(msgspec.msgpack.encode(before))
    for index, value in zip(pairs[::2], pairs[1::2], strict=True):
        seen[index] = value
    assert seen == msgspec.msgpack.decode(msgspec.msgpack.encode(after))


@given(TWO_VIEWS)
def test_changes_name_what_differs_and_nothing_else(fields: list[tuple[Any, Any]]) -> None:
    before, after = [was for was, _ in fields], [now for _, now in fields]
    differing = [index for index in range(len(after)) if before[index] != after[index]]
    assert outbound.changes(before, after)[::2] == differing
    assert outbound.changes(after, after) == []


def draws() -> list[tuple[Any, Any]]:
    """Pairs of views before and after a draw, with few and with many moves behind them."""
    state = GAME.initial(GAME.deal({"code": CODE}, bytes(32)))
    found = []
    for _ in range(1200):
        verb = "draw" if GAME.view(state, None)[STOCK] else "recycle"
        after = GAME.apply(state, 0, (verb,))
        if verb == "draw":
            found.append((GAME.view(state, None), GAME.view(after, None)))
        state = after
    return found


@pytest.mark.parametrize("version", [1, 127, 128, 255, 256, 65535])
def test_a_draw_takes_17_bytes_with_framing_at_most(version: int) -> None:
    sizes = [len(frame(outbound.diff(version, outbound.changes(before, after)))) for before, after in draws()]
    assert len(sizes) > 1000
    assert max(sizes) <= 17


def test_a_snapshot_takes_300_bytes_with_framing_at_most() -> None:
    state = GAME.initial(GAME.deal({"code": CODE}, bytes(32)))
    for action in WINNING:
        payload = outbound.snapshot(
            "A" * 12, GAME.name, 2**31 - 1, 65535, 0, GAME.view(state, 0), 2**40, True, 2**40
        )
        assert len(frame(payload)) <= 300
        state = GAME.apply(state, 0, action)
