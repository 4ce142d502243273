"""Sessions that cannot be read: whatever has become of one, who asks for it is refused, and the log says so
once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

import structlog
from redis.exceptions import ResponseError

from heartroom.games.game import Refused
from heartroom.protocol.codes import Code
from heartroom.store.store import Away

_log = structlog.get_logger(__name__)

_CODES: Final = frozenset(code.value for code in Code)
_MOST: Final = 10_000
"""Sessions of which it is remembered that the log has said it."""
_said: Final[dict[str, None]] = {}


def is_other_type(error: BaseException | None) -> bool:
    """Whether the store answered that something else lies at a key than what is asked for. It is not away."""
    if isinstance(error, Away):
        error = error.__cause__
    # Of a pipeline redis-py says first which command it was.
    return isinstance(error, ResponseError) and "WRONGTYPE Operation against a key" in str(error)


@contextlib.contextmanager
def refusing(sid: str) -> Iterator[None]:
    """Raises `Refused("unreadable")` for whatever a session is stumbled over that is opened within: a record
    or a log that is none, actions that the rules do not have. What is refused with a code of the protocol,
    and a store that is away, stay what they are."""
    try:
        yield
    except Refused as refused:
        if refused.code in _CODES:
            raise
        _say(sid, refused)  # a code of the game's: its log has what cannot be done
    except Away as away:
        if not is_other_type(away):
            raise
        _say(sid, away)
    except Exception as error:
        _say(sid, error)
    else:
        return
    raise Refused(Code.UNREADABLE.value)


def _say(sid: str, error: Exception) -> None:
    if sid in _said:
        return
    while len(_said) >= _MOST:
        del _said[next(iter(_said))]
    _said[sid] = None
    _log.error("session cannot be read", sid=sid, exc_info=error)
