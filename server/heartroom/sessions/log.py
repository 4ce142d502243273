"""An entry of a session's log as bytes: who did what. The store adds when."""

from __future__ import annotations

from typing import Any

import msgspec


class Deed(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """One accepted action."""

    seat: int
    ref: int
    """The id that the player's client gave the action; unique per seat and session."""
    action: tuple[Any, ...]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Deed).decode


def pack(deed: Deed) -> bytes:
    """`deed` as the body of a log entry."""
    return _encode(deed)


def unpack(body: bytes) -> Deed:
    """The deed in the body of a log entry."""
    return _decode(body)
