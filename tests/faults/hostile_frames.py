"""What hostile clients send: handshakes, frames and messages that are none, and an endless supply of such as
are nearly some. Knows no socket."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from heartroom.client import SUBPROTOCOL
from heartroom.protocol.inbound import LARGEST

encode: Final = msgspec.msgpack.Encoder().encode

CONT, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
FIN: Final = 0x80
MASKED: Final = 0x80
READ: Final = 4 * LARGEST
"""Bytes of the largest message that the server reads at all."""


def frame(payload: bytes, opcode: int = BINARY, *, fin: bool = True, mask: bytes = bytes(4)) -> bytes:
    """One masked frame. A mask of zeros, which is as good as any other, leaves the payload as it is."""
    length = len(payload)
    if length < 126:
        head = bytes((opcode | FIN * fin, MASKED | length))
    elif length < 65536:
        head = bytes((opcode | FIN * fin, MASKED | 126)) + length.to_bytes(2)
    else:
        head = bytes((opcode | FIN * fin, MASKED | 127)) + length.to_bytes(8)
    if any(mask):
        payload = bytes(byte ^ mask[at & 3] for at, byte in enumerate(payload))
    return head + mask + payload


def message(*parts: Any) -> bytes:
    """One message as a frame."""
    return frame(encode(parts))


def handshake(
    *more: str,
    method: str = "GET",
    path: str = "/ws",
    version: str = "13",
    subprotocol: str = SUBPROTOCOL,
    cookie: str = "",
    end: str = "\r\n",
) -> bytes:
    """A request for a websocket; `more` are headers."""
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: heartroom.example",
        "Connection: Upgrade",
        "Upgrade: websocket",
        f"Sec-WebSocket-Version: {version}",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        *([f"Sec-WebSocket-Protocol: {subprotocol}"] if subprotocol else []),
        *([f"Cookie: heartroom={cookie}"] if cookie else []),
        *more,
    ]
    return ("\r\n".join(lines) + "\r\n" + end).encode("latin-1")


class Shake(NamedTuple):
    """A handshake, and the status or, after 101, the close code with which it is refused; 0: closed without a
    word."""

    request: bytes
    expected: int
    counted: str = ""
    """As what it counts in the metrics."""


HANDSHAKES: Final[dict[str, Shake]] = {
    "another subprotocol": Shake(handshake(subprotocol="chat"), 4400, "wrong_subprotocol"),
    "no subprotocol": Shake(handshake(subprotocol=""), 4400, "wrong_subprotocol"),
    "another version of it": Shake(handshake(subprotocol="heartroom.v2"), 4400, "wrong_subprotocol"),
    "another origin": Shake(handshake("Origin: https://evil.example"), 403, "bad_origin"),
    "an origin that is none": Shake(handshake("Origin: null"), 403, "bad_origin"),
    "another path": Shake(handshake(path="/nowhere"), 403),
    "a path with a zero": Shake(handshake(path="/ws%00"), 403),
    "an old version": Shake(handshake(version="8"), 400),
    "a version that is none": Shake(handshake(version="x"), 400),
    "another method": Shake(handshake(method="POST"), 405),
    "a body": Shake(handshake("Content-Length: 5") + b"abcde", 400, "bad_request"),
    "chunks": Shake(handshake("Transfer-Encoding: chunked"), 400, "bad_request"),
    "a path without end": Shake(handshake(path="/ws?" + "x" * 9000), 400, "bad_request"),
    "a long header": Shake(handshake("X-Long: " + "x" * 9000), 431, "bad_request"),
    "many headers": Shake(handshake(*["X-More: x"] * 200), 431, "bad_request"),
    "a head without end": Shake(handshake(*["X-Long: " + "x" * 1000] * 300, end=""), 0, "bad_request"),
    "a header that is none": Shake(handshake("X-B\x80d: x"), 400, "bad_request"),
    "no HTTP": Shake(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100), 400, "bad_request"),
    "requests without end": Shake(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 2000, 0, "bad_request"),
}


class Bad(NamedTuple):
    """Bytes after the handshake, and what is said to them: a close code, or a code of *error*."""

    sent: bytes
    expected: int | str


def _head(first: int, second: int, rest: bytes = b"") -> bytes:
    return bytes((first, second)) + rest


FRAMES: Final[dict[str, Bad]] = {
    "4 KiB and one byte": Bad(frame(bytes(LARGEST + 1)), "too_large"),
    "16 KiB": Bad(frame(bytes(READ)), "too_large"),
    "16 KiB and one byte": Bad(frame(bytes(READ + 1)), 1009),
    "a length of 64 KiB": Bad(_head(0x82, 0xFE, b"\xff\xff" + bytes(4)), 1009),
    "a length of 2**63 - 1": Bad(_head(0x82, 0xFF, b"\x7f" + b"\xff" * 7 + bytes(4)), 1009),
    "a length of 2**64 - 1": Bad(_head(0x82, 0xFF, b"\xff" * 8 + bytes(4)), 1009),
    "parts of 4 KiB without end": Bad(
        frame(bytes(LARGEST), fin=False) + frame(bytes(LARGEST), CONT, fin=False) * 4, 1009
    ),
    "empty parts without end": Bad(frame(b"", fin=False) + frame(b"", CONT, fin=False) * 4000, 4408),
    "no mask": Bad(_head(0x82, 3, b"abc"), 1002),
    "reserved bit 1": Bad(_head(0xC2, 0x80, bytes(4)), 1002),
    "reserved bit 2": Bad(_head(0xA2, 0x80, bytes(4)), 1002),
    "reserved bit 3": Bad(_head(0x92, 0x80, bytes(4)), 1002),
    **{f"opcode {code}": Bad(frame(b"", code), 1002) for code in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)},
    "a ping of 126 bytes": Bad(frame(bytes(126), PING), 1002),
    "a pong of 126 bytes": Bad(frame(bytes(126), PONG), 1002),
    "a ping in parts": Bad(frame(b"", PING, fin=False), 1002),
    "a goodbye of 126 bytes": Bad(frame(b"\x03\xe8" + bytes(124), CLOSE), 1002),
    "a goodbye of one byte": Bad(frame(b"\x03", CLOSE), 1002),
    "a goodbye with no code": Bad(frame((999).to_bytes(2), CLOSE), 1002),
    "a goodbye that is no text": Bad(frame((1000).to_bytes(2) + b"\xff", CLOSE), 1007),
    "a part of nothing": Bad(frame(b"x", CONT), 1002),
    "a message within a message": Bad(frame(b"x", fin=False) + frame(b"x"), 1002),
    "a goodbye within a message": Bad(frame(b"x", fin=False) + frame((1000).to_bytes(2), CLOSE), 1002),
    "text": Bad(frame(b"hello", TEXT), "malformed"),
    "text that is none": Bad(frame(b"\xff\xfe\xc3\x28", TEXT), "malformed"),
    "text that is none, in parts": Bad(frame(b"\xff", TEXT, fin=False) + frame(b"\xfe", CONT), "malformed"),
}


def _act(action: bytes) -> bytes:
    """An *act* with ref 1 and no base, whose action is these bytes."""
    return b"\x94\x03\x01\xc0" + action


BOMBS: Final[dict[str, bytes]] = {
    "an array of 2**32 - 1": b"\xdd\xff\xff\xff\xff",
    "a map of 2**32 - 1": b"\xdf\xff\xff\xff\xff",
    "text of 2**32 - 1": b"\x93\x04\x01\xdb\xff\xff\xff\xff",
    "bytes of 2**32 - 1": _act(b"\x91\xc6\xff\xff\xff\xff"),
    "an extension of 2**32 - 1": _act(b"\x91\xc9\xff\xff\xff\xff\x01"),
    "an action of 2**32 - 1": _act(b"\xdd\xff\xff\xff\xff"),
    "an action of 2**16 - 1": _act(b"\xdc\xff\xff" + b"\xc0" * 4000),
    "options of 2**32 - 1": b"\x94\x01\x01\xaeheart-to-heart\xdf\xff\xff\xff\xff",
    "options of 2**16 - 1": b"\x94\x01\x01\xaeheart-to-heart\xde\xff\xff" + b"\xa1a\x01" * 1300,
    "arrays in arrays": _act(b"\x91" * (LARGEST - 5) + b"\x90"),
    "arrays in arrays without end": b"\x91" * LARGEST,
    "maps in maps": b"\x94\x01\x01\xaeheart-to-heart" + b"\x81\xa1a" * 1300 + b"\x80",
    "maps in maps in an action": _act(b"\x91" + b"\x81\xa1a" * 1300 + b"\x80"),
    "maps as names of maps": _act(b"\x91" + b"\x81" * 2000),
    "many equal names": b"\x94\x01\x01\xaeheart-to-heart\xde\x03\xe8" + b"\xa1a\x01" * 1000,
    "names whose hashes are equal": _act(
        b"\x91\xde\x01\x90"
        + b"".join(b"\xcf" + ((2**61 - 1) * number % 2**64).to_bytes(8) + b"\x01" for number in range(400))
    ),
    "an extension": _act(b"\x92\xa4pair\xd4\x05\x00"),
    "an extension as a message": b"\xd4\x05\x00",
    "an extension as a type": b"\x91\xd4\x05\x00",
    "a time": _act(b"\x92\xa4draw\xd6\xff\x00\x00\x00\x00"),
    "a time with more than nanoseconds": _act(b"\x91\xc7\x0c\xff" + b"\xff" * 12),
    "a time of no length": _act(b"\x91\xc7\x00\xff"),
    "not a number": _act(b"\x93\xa4pair\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00\x01"),
    "infinity": _act(b"\x93\xa4pair\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00\x01"),
    "not a number as a ref": b"\x94\x03\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00\xc0\x91\xa4draw",
    "the largest number": _act(b"\x93\xa4pair\xcf" + b"\xff" * 8 + b"\x01"),
    "the least number": _act(b"\x93\xa4pair\xd3\x80" + bytes(7) + b"\x01"),
    "the largest number as a ref": b"\x94\x03\xcf" + b"\xff" * 8 + b"\xc0\x91\xa4draw",
    "the least number as a base": b"\x94\x03\x01\xd3\x80" + bytes(7) + b"\x91\xa4draw",
    "true as a ref": b"\x94\x03\xc3\xc0\x91\xa4draw",
    "a byte that is never used": b"\xc1",
    "text that is no UTF-8": b"\x93\x04\x01\xa2\xff\xfe",
    "half of a surrogate": b"\x93\x04\x01\xa3\xed\xa0\x80",
    "a name of 4,000 marks": encode([4, 1, "\u0301\u0316" * 980]),
    "a session of 4,000 braces": encode([2, "{" * 4000, 1, 1]),
    "a game of 4,000 letters": encode([1, 1, "g" * 4000, {}]),
    "a game that leads elsewhere": encode([1, 1, "../../../etc/passwd", {}]),
    "a topic of 4,000 letters": encode([11, "board/" + "1" * 4000]),
    "an action of many arguments": encode([3, 1, None, ["pair", *range(1300)]]),
    "an action of one long verb": encode([3, 1, None, ["x" * 4000]]),
    "two messages in one": encode([6, 1]) + encode([6, 2]),
    "nothing": b"",
}
"""Payloads, each of which is answered by an *error* or a *reject*, and no more."""


def seeds(session: str, table: str, other: str) -> list[list[Any]]:
    """Each kind of message of docs/protocol.md: for a game of one's own, a table of one's own, and somebody
    else's game."""
    return [
        [1, 11, "heart-to-heart", {}],
        [1, 12, "heart-to-heart", {"code": "HH1-N-AAAAAAM"}],
        [1, 13, "heart-to-heart", {"winnable": True}],
        [1, 14, "hearts", {}, {"pace": 30, "public": True, "level": ""}],
        [2, session, 0, 0],
        [2, table, 1, 3],
        [2, other, 0, 0],
        [2, other, 2**40, 2**40],
        [3, 15, None, ["draw"]],
        [3, 16, 0, ["pair", 25, 0]],
        [3, 17, -16, ["undo"]],
        [3, 18, None, ["recycle"]],
        [3, 19, None, ["pass", 1, 2, 3]],
        [3, 20, None, ["play", 5]],
        [4, 21, "Ann \U0001f469\u200d\U0001f467"],
        [5],
        [6, 22],
        [7, 23, None],
        [7, 24, 2],
        [8, 25],
        [9, 26],
        [10, 27, "hearts"],
        [11, "board/2026-11-30"],
        [11, "live"],
        [11, None],
    ]


_ATOMS: Final[tuple[Any, ...]] = (
    None, True, False, 0, 1, -1, 2, 11, 127, 128, 255, 256, 2**31, 2**32, 2**53 - 1, 2**53, 2**63, 2**64 - 1,
    -(2**31), -(2**53), -(2**63), 0.0, -0.0, 0.5, 1e308, float("nan"), float("inf"), "", "a", "draw", "pair",
    "heart-to-heart", "hearts", "\x00", "{", "}", "*", "\u202e", "\U0001f469" * 30, "x" * 300, b"",
    b"\xff" * 40,
    [], [[]], {}, {"a": {}}, {"code": None}, {1: 1},
    msgspec.msgpack.Ext(5, b"\x00"), msgspec.msgpack.Ext(-1, bytes(8)),
)  # fmt: skip
_TAGS: Final = bytes((0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, *range(0xC0, 0xE0), 0xE0, 0xFF))


class Mutator:
    """Payloads that are nearly messages: the same ones for the same seed."""

    def __init__(self, chance: random.Random, originals: list[list[Any]]) -> None:
        self._chance = chance
        self._originals = originals
        self._encoded = [encode(original) for original in originals]
        self._ways: list[Callable[[], bytes]] = [
            *[self._tampered] * 9,
            *[self._with_other_parts] * 6,
            *[self._spliced] * 2,
            self._noise,
            *[self._untouched] * 3,
            self._long,
        ]

    def payload(self) -> bytes:
        """One more, of at most `READ` bytes."""
        return self._chance.choice(self._ways)()[:READ]

    def broken_frame(self) -> bytes:
        """A frame whose own bytes were tampered with: most end the connection, some only begin a frame."""
        data = bytearray(frame(self._untouched(), mask=self._chance.randbytes(4)))
        for _ in range(self._chance.randint(1, 3)):
            data[self._chance.randrange(min(len(data), 8))] = self._chance.randrange(256)
        return bytes(data)

    def _untouched(self) -> bytes:
        return self._chance.choice(self._encoded)

    def _noise(self) -> bytes:
        return self._chance.randbytes(self._chance.randrange(80))

    def _long(self) -> bytes:
        data = self._untouched()
        return data + self._chance.randbytes(self._chance.choice((LARGEST - len(data), LARGEST + 1, 9000)))

    def _spliced(self) -> bytes:
        one, other = self._untouched(), self._untouched()
        return one[: self._chance.randrange(len(one) + 1)] + other[self._chance.randrange(len(other)) :]

    def _tampered(self) -> bytes:
        chance = self._chance
        data = bytearray(self._untouched())
        for _ in range(chance.randint(1, 2)):
            at = chance.randrange(len(data) + 1)
            match chance.randrange(6):
                case 0:
                    data[at:at] = chance.randbytes(chance.randint(1, 4))
                case 1:
                    del data[at : at + chance.randint(1, 4)]
                case 2:
                    data[at : at + 1] = bytes((chance.choice(_TAGS),))
                case 3:
                    data[at : at + 1] = (
                        bytes((data[at] ^ 1 << chance.randrange(8),)) if at < len(data) else b""
                    )
                case 4:
                    data[at:at] = struct.pack(">BQ", 0xCF, chance.getrandbits(64))
                case _:
                    data[at:] = data[at:] * 2
        return bytes(data)

    def _with_other_parts(self) -> bytes:
        chance = self._chance
        parts = list(chance.choice(self._originals))
        for _ in range(chance.randint(1, 2)):
            at = chance.randrange(len(parts) + 1)
            match chance.randrange(4):
                case 0:
                    parts[at:at] = [chance.choice(_ATOMS)]
                case 1:
                    del parts[at : at + 1]
                case _:
                    parts[at : at + 1] = [chance.choice(_ATOMS)]
            if not parts:
                break
        return encode(parts)
