"""What clients may say, and that nothing else they send is more than *unreadable*."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from heartroom.protocol import inbound
from heartroom.protocol.codes import Code
from heartroom.protocol.inbound import (
    LARGEST,
    Act,
    Join,
    Leave,
    Name,
    New,
    Ping,
    Quick,
    Sit,
    Stand,
    Start,
    TableOptions,
    Unreadable,
    Watch,
    decode,
)

MOST = 2**53 - 1

encode = msgspec.msgpack.encode

GOOD: list[tuple[list[Any], inbound.Inbound]] = [
    ([1, 1, "heart-to-heart", {}], New(1, "heart-to-heart", {})),
    ([1, MOST, "", {"code": "x", "n": [1, None]}], New(MOST, "", {"code": "x", "n": [1, None]})),
    ([1, 1, "hearts", {}, None], New(1, "hearts", {}, None)),
    ([1, 1, "hearts", {}, {}], New(1, "hearts", {}, TableOptions())),
    (
        [1, 1, "hearts", {}, {"pace": 600, "public": True, "level": "x"}],
        New(1, "hearts", {}, TableOptions(600, True, "x")),
    ),
    ([2, "s", 0, 0], Join("s", 0, 0)),
    ([2, "s", MOST, MOST], Join("s", MOST, MOST)),
    ([3, 1, None, ["draw"]], Act(1, None, ["draw"])),
    ([3, 1, 0, []], Act(1, 0, [])),
    ([3, 1, 5, ["pair", 25, [0, {"a": b"b"}]]], Act(1, 5, ["pair", 25, [0, {"a": b"b"}]])),
    ([4, 1, "Åse"], Name(1, "Åse")),
    ([5], Leave()),
    ([6, 0], Ping(0)),
    ([7, 1, None], Sit(1, None)),
    ([7, 1, 3], Sit(1, 3)),
    ([8, 1], Stand(1)),
    ([9, 1], Start(1)),
    ([10, 1, "hearts"], Quick(1, "hearts")),
    ([11, "live"], Watch("live")),
    ([11, None], Watch(None)),
]

BAD: list[Any] = [
    # no message at all
    None, 5, "draw", {}, {0: 5}, [], [None], ["5"], [True], [5.0], [[5]],
    # no such type
    [0], [-1], [12], [99], [2**63],
    # an element more, an element less
    [5, 0], [6], [6, 1, 1], [2, "s", 0], [2, "s", 0, 0, 0], [3, 1, 0], [3, 1, 0, [], 0],
    [4, 1], [4, 1, "x", 0],
    [1, 1, "g"], [1, 1, "g", {}, {}, 0], [7, 1], [7, 1, 0, 0], [8], [8, 1, 1], [9], [10, 1], [10, 1, "g", 0],
    # numbers out of range, and what is no number
    [3, 0, None, []], [3, -1, None, []], [3, MOST + 1, None, []], [3, 2**64 - 1, None, []],
    [3, 1.0, None, []],
    [3, True, None, []], [3, "1", None, []], [3, None, None, []], [3, 1, -(2**53), []], [3, 1, MOST + 1, []],
    [3, 1, 1.5, []], [3, 1, False, []], [2, "s", -1, 0], [2, "s", 0, True], [2, "s", 0.0, 0],
    [6, None], [6, 1.0],
    [6, True], [8, True], [7, 1, -1], [7, 1, True], [7, 1, 1.0],
    # the wrong kind
    [2, b"s", 0, 0], [2, 5, 0, 0], [2, None, 0, 0], [3, 1, None, "draw"], [3, 1, None, {"a": 1}],
    [3, 1, None, None],
    [4, 1, b"name"], [4, 1, None], [4, 1, 7], [1, 1, b"g", {}], [1, 1, "g", []], [1, 1, "g", None],
    [1, 1, "g", "x"],
    [1, 1, "g", {1: 2}], [1, 1, "g", {b"a": 2}], [10, 1, None], [11], [11, 1], [11, "x" * 41],
    # tables
    [1, 1, "g", {}, []], [1, 1, "g", {}, {"pace": -1}], [1, 1, "g", {}, {"pace": 601}],
    [1, 1, "g", {}, {"pace": True}], [1, 1, "g", {}, {"public": 1}], [1, 1, "g", {}, {"level": None}],
    [1, 1, "g", {}, {"unknown": 1}],
]  # fmt: skip

FRAMES: dict[str, bytes] = {
    "nothing": b"",
    "text": b"draw",
    "never used": b"\xc1",
    "two messages": b"\x91\x05\x91\x05",
    "cut short": encode([3, 1, None, ["draw"]])[:-1],
    "text that is no UTF-8": b"\x93\x04\x01\xa2\xff\xfe",
    "text that is a lone surrogate": b"\x93\x04\x01\xa3\xed\xa0\x80",
    "text that is no UTF-8, in an action": b"\x94\x03\x01\xc0\x91\xa1\xff",
    "array of 2**32 - 1": b"\xdd\xff\xff\xff\xff",
    "action of 2**32 - 1": b"\x94\x03\x01\xc0\xdd\xff\xff\xff\xff",
    "options of 2**32 - 1": b"\x94\x01\x01\xa1g\xdf\xff\xff\xff\xff",
    "text of 2**32 - 1": b"\x93\x04\x01\xdb\xff\xff\xff\xff",
    "bytes of 2**32 - 1": b"\x94\x03\x01\xc0\x91\xc6\xff\xff\xff\xff",
    "extension of 2**32 - 1": b"\x94\x03\x01\xc0\x91\xc9\xff\xff\xff\xff\x01",
    "arrays in arrays": b"\x94\x03\x01\xc0" + b"\x91" * (LARGEST - 5) + b"\x90",
    "arrays in arrays without end": b"\x91" * LARGEST,
    "maps in maps": b"\x94\x01\x01\xa1g" + b"\x81\xa1a" * 1360 + b"\x80",
    "a map as a map's name": b"\x94\x03\x01\xc0\x91\x81\x80\x01",
    "a list as a map's name": b"\x94\x03\x01\xc0\x91\x81\x91\x80\x01",
    "a time that is none": b"\x94\x03\x01\xc0\x91\xc7\x0c\xff" + b"\xff" * 12,
    "a time of no length": b"\x94\x03\x01\xc0\x91\xc7\x00\xff",
    "an extension as a type": b"\x91\xd4\x05\x00",
    "an extension as a number": b"\x92\x06\xd4\x05\x00",
}
"""Frames that no encoder makes."""


def read(frame: bytes) -> Any:
    """The message in `frame`, or why there is none."""
    try:
        return decode(frame)
    except Unreadable as unreadable:
        return unreadable


def refused(frame: bytes) -> Unreadable:
    with pytest.raises(Unreadable) as caught:
        decode(frame)
    return caught.value


@pytest.mark.parametrize(("message", "means"), GOOD)
def test_every_message_of_the_protocol_is_read(message: list[Any], means: inbound.Inbound) -> None:
    assert decode(encode(message)) == means


@pytest.mark.parametrize("message", BAD, ids=repr)
def test_whatever_is_not_in_the_protocol_is_malformed(message: Any) -> None:
    assert refused(encode(message)).code is Code.MALFORMED


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_bytes_that_are_no_message_are_malformed(frame: bytes) -> None:
    assert refused(frame).code is Code.MALFORMED


def test_an_action_may_be_nested_as_deep_as_it_likes_or_is_malformed() -> None:
    """Whether it is read or not, it is for the game to refuse."""
    for depth in (1, 10, 100, 500, 1000, 2000, 4000):
        frame = b"\x94\x03\x01\xc0" + b"\x91" * depth + b"\x90"
        outcome = read(frame)
        assert isinstance(outcome, Act) or outcome.code is Code.MALFORMED


def test_a_frame_may_have_so_many_bytes_and_not_one_more() -> None:
    def of(size: int) -> bytes:
        return encode([4, 1, "x" * (size - 6)])

    assert len(of(LARGEST)) == LARGEST == 4096
    assert isinstance(decode(of(LARGEST)), Name)
    assert refused(of(LARGEST + 1)).code is Code.TOO_LARGE
    assert refused(b"\x91" * 100_000).code is Code.TOO_LARGE


@pytest.mark.parametrize(
    ("message", "ref"),
    [
        ([3, 7, "1", ["draw"]], 7),
        ([3, 7, None, "draw"], 7),
        ([3, 7], 7),
        ([3, 7, None, [], 0], 7),
        ([1, MOST, "g", []], MOST),
        ([4, 7, None], 7),
        ([7, 7, True], 7),
        ([8, 7, 7], 7),
        ([9, 7, 7], 7),
        ([10, 7, 7], 7),
        # of these nobody waits for an answer with a number
        ([2, 7, 0, 0], None),
        ([6, 7, 7], None),
        ([5, 7], None),
        ([11, 7], None),
        # no number that could be one of theirs
        ([3, 0, None, []], None),
        ([3, True, None, []], None),
        ([3, 2**53, None, []], None),
        ([3], None),
        ("x", None),
    ],
)
def test_whoever_waits_for_an_answer_learns_which_request_it_was(message: Any, ref: int | None) -> None:
    assert refused(encode(message)).ref == ref


def test_the_request_is_known_even_if_the_rest_is_garbage() -> None:
    assert refused(FRAMES["a map as a map's name"]).ref == 1
    assert refused(FRAMES["text that is no UTF-8"]).ref == 1


def only_unreadable(frame: bytes) -> None:
    outcome = read(frame)
    if isinstance(outcome, Unreadable):
        assert outcome.code is (Code.TOO_LARGE if len(frame) > LARGEST else Code.MALFORMED)
        assert outcome.ref is None or 1 <= outcome.ref <= MOST


@given(st.binary(max_size=200))
@example(b"\x91" * 5000)
def test_any_bytes_are_a_message_or_unreadable(frame: bytes) -> None:
    only_unreadable(frame)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=8)
    | st.binary(max_size=8)
    | st.builds(msgspec.msgpack.Ext, st.integers(0, 127), st.binary(max_size=8)),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=4) | st.integers(0, 9), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.lists(st.integers(0, 12) | VALUES, max_size=6))
def test_any_values_are_a_message_or_unreadable(message: list[Any]) -> None:
    only_unreadable(encode(message))


@given(st.sampled_from([message for message, _ in GOOD]), st.data())
def test_messages_that_were_tampered_with_are_messages_or_unreadable(
    message: list[Any], data: st.DataObject
) -> None:
    frame = bytearray(encode(message))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(frame)))
        match data.draw(st.integers(0, 3)):
            case 0:
                frame[at:at] = data.draw(st.binary(min_size=1, max_size=4))
            case 1:
                del frame[at : at + data.draw(st.integers(1, 4))]
            case 2:
                frame[at : at + 1] = data.draw(
                    st.sampled_from([b"\xc1", b"\xdd", b"\xdf", b"\xc9", b"\xff", b"\x80"])
                )
            case _:
                frame[at:] = frame[at:] * 2
    only_unreadable(bytes(frame))


@given(VALUES)
def test_any_value_may_stand_in_an_action(value: Any) -> None:
    only_unreadable(encode([3, 1, None, ["pair", value]]))
    only_unreadable(encode([1, 1, "heart-to-heart", {"code": value}]))


def test_nothing_of_a_message_can_be_changed_once_it_is_read() -> None:
    message = decode(encode([6, 1]))
    with pytest.raises(AttributeError):
        message.number = 2  # type: ignore[misc, union-attr]


def test_the_decoder_has_the_protocol_s_types_and_no_more() -> None:
    tags = [kind.__struct_config__.tag for kind in inbound.Inbound.__args__]
    assert sorted(tags) == list(range(1, 12))
    assert msgspec.msgpack.encode(Ping(1)) == encode([6, 1])
