"""The closed lists of reasons: why a message was refused, why a connection was closed.

A game adds its own codes (`Game.codes`). Clients translate all of them.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Code(StrEnum):
    """Reasons in *reject* and *error* that belong to no game."""

    MALFORMED = "malformed"
    TOO_LARGE = "too_large"
    TOO_FAST = "too_fast"
    STALE = "stale"
    NOT_JOINED = "not_joined"
    NOT_SEATED = "not_seated"
    NO_SESSION = "no_session"
    UNREADABLE = "unreadable"
    UNKNOWN_GAME = "unknown_game"
    BAD_OPTIONS = "bad_options"
    BAD_NAME = "bad_name"
    NAME_HIDDEN = "name_hidden"
    GAME_OVER = "game_over"
    NOT_STARTED = "not_started"
    AWAY = "away"
    SEAT_TAKEN = "seat_taken"
    WRONG_MOMENT = "wrong_moment"
    SEALED = "sealed"
    PRIVATE = "private"
    LOG_FULL = "log_full"
    ENDED = "ended"
    CROWDED = "crowded"
    TOO_MANY_SESSIONS = "too_many_sessions"
    UNAVAILABLE = "unavailable"
    # over HTTP only
    NOT_OVER = "not_over"
    BAD_ORIGIN = "bad_origin"
    NO_DAY = "no_day"
    NO_GROUP = "no_group"
    GROUP_FULL = "group_full"
    BAD_RECOVERY = "bad_recovery"
    TOO_MANY_CONNECTIONS = "too_many_connections"


class Close(IntEnum):
    """Close codes that the server uses; those below 4000 are the websocket standard's."""

    TOO_BIG = 1009
    SERVER_ERROR = 1011
    RESTART = 1012
    OVERLOADED = 1013
    WRONG_SUBPROTOCOL = 4400
    FLOOD = 4408

    @property
    def retry(self) -> bool:
        """Whether a client should connect again by itself."""
        return self in (Close.SERVER_ERROR, Close.RESTART, Close.OVERLOADED)
