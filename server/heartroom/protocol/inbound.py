"""What a client may say: a closed vocabulary, one struct a message."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from heartroom.protocol.codes import Code

LARGEST = 4096
"""Bytes of the largest frame that is read."""

Ref = Annotated[int, Meta(ge=1, le=2**53 - 1)]
Number = Annotated[int, Meta(ge=0, le=2**53 - 1)]


class New(Struct, array_like=True, tag=1, forbid_unknown_fields=True, frozen=True):
    """Begin a session."""

    ref: Ref
    game: str
    options: dict[str, Any]


class Join(Struct, array_like=True, tag=2, forbid_unknown_fields=True, frozen=True):
    """Look at a session; `epoch` and `version` are what the client holds of it, 0 and 0 for nothing."""

    session: str
    epoch: Number
    version: Number


class Act(Struct, array_like=True, tag=3, forbid_unknown_fields=True, frozen=True):
    """Take an action in the joined session."""

    ref: Ref
    base: Number | None
    action: list[Any]


class Name(Struct, array_like=True, tag=4, forbid_unknown_fields=True, frozen=True):
    """Be called something."""

    ref: Ref
    name: str


class Leave(Struct, array_like=True, tag=5, forbid_unknown_fields=True, frozen=True):
    """Look at no session."""


class Ping(Struct, array_like=True, tag=6, forbid_unknown_fields=True, frozen=True):
    """Answer, please."""

    number: Number


Inbound = New | Join | Act | Name | Leave | Ping

_decoder = msgspec.msgpack.Decoder(Inbound)


class Unreadable(Exception):
    """A frame that is no message. `code` says why, `ref` which request it was, if that much could be read."""

    def __init__(self, code: Code, ref: int | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.ref = ref


def decode(frame: bytes) -> Inbound:
    """The message in `frame`. Raises `Unreadable` and nothing else, whatever the bytes are."""
    if len(frame) > LARGEST:
        raise Unreadable(Code.TOO_LARGE)
    try:
        return _decoder.decode(frame)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError, OverflowError, MemoryError, ValueError):
        raise Unreadable(Code.MALFORMED, _ref(frame)) from None


class _Head(Struct, array_like=True):
    kind: int
    ref: Ref


def _ref(frame: bytes) -> int | None:
    """The ref of a message whose rest cannot be read, so that its sender learns which one it was."""
    try:
        head = msgspec.msgpack.decode(frame, type=_Head)
    except Exception:
        return None
    return head.ref if head.kind in (1, 3, 4) else None
