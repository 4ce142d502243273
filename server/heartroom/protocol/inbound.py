"""What a client may say: a closed vocabulary, one struct a message."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from heartroom.protocol.codes import Code

LARGEST = 4096
"""Bytes of the largest frame that is read."""

Ref = Annotated[int, Meta(ge=1, le=2**53 - 1)]
Base = Annotated[int, Meta(ge=-(2**53) + 1, le=2**53 - 1)]
Number = Annotated[int, Meta(ge=0, le=2**53 - 1)]


class TableOptions(Struct, forbid_unknown_fields=True, frozen=True):
    """How a table of a game with several seats is played."""

    pace: Annotated[int, Meta(ge=0, le=600)] = 30
    """Seconds for a turn; 0 for no limit."""
    public: bool = False
    """Whether *quick* may bring others here."""
    level: str = ""
    """How well the bots play; `""`: as well as they can."""


class New(Struct, array_like=True, tag=1, forbid_unknown_fields=True, frozen=True):
    """Begin a session."""

    ref: Ref
    game: str
    options: dict[str, Any]
    table: TableOptions | None = None


class Join(Struct, array_like=True, tag=2, forbid_unknown_fields=True, frozen=True):
    """Look at a session; `epoch` and `version` are what the client holds of it, 0 and 0 for nothing."""

    session: str
    epoch: Number
    version: Number


class Act(Struct, array_like=True, tag=3, forbid_unknown_fields=True, frozen=True):
    """Take an action in the joined session."""

    ref: Ref
    base: Base | None
    """The version the action is meant on; or, negated, the ref of an action of the same player that is to
    make that version; `None`: any."""
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


class Sit(Struct, array_like=True, tag=7, forbid_unknown_fields=True, frozen=True):
    """Take a seat of the joined session (`None`: any), or one's own back from the bot that plays there."""

    ref: Ref
    seat: Number | None


class Stand(Struct, array_like=True, tag=8, forbid_unknown_fields=True, frozen=True):
    """Leave one's seat for good."""

    ref: Ref


class Start(Struct, array_like=True, tag=9, forbid_unknown_fields=True, frozen=True):
    """Begin, with bots on the seats that are open."""

    ref: Ref


class Quick(Struct, array_like=True, tag=10, forbid_unknown_fields=True, frozen=True):
    """Be seated at a public table that waits, or at a new one that starts in some seconds."""

    ref: Ref
    game: str


class Watch(Struct, array_like=True, tag=11, forbid_unknown_fields=True, frozen=True):
    """Be told when something changes (`None`: nothing)."""

    topic: Annotated[str, Meta(max_length=40)] | None


Inbound = New | Join | Act | Name | Leave | Ping | Sit | Stand | Start | Quick | Watch

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


_ANSWERED = (1, 3, 4, 7, 8, 9, 10)


class _Head(Struct, array_like=True):
    kind: int
    ref: Ref


def _ref(frame: bytes) -> int | None:
    """The ref of a message whose rest cannot be read, so that its sender learns which one it was."""
    try:
        head = msgspec.msgpack.decode(frame, type=_Head)
    except Exception:
        return None
    return head.ref if head.kind in _ANSWERED else None
