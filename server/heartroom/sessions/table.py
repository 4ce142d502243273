"""Who sits at a table: a pure fold over the deeds of the house, as a game's state is over the players'.

A log holds both. A deed whose seat is `HOUSE` is about the seats (`sit`, `stand`, `start`, `away`, `back`),
who may look on (`private`) or that the house has ended the game (`end`), and leaves the game as it is; all
others are the game's. So every node, every replay and every restart agrees on who sits where from the log
alone.

Knows no game, no clock, no connection: whether a player is *here* is for `presence`, not for the log.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from heartroom.games.game import Refused

HOUSE: Final = -1
"""The seat of deeds that are about the table."""


class Chair(NamedTuple):
    """One seat of the table."""

    pid: str = ""
    """The player whose seat it is; `""` for nobody's: open before the start, a bot's after it."""
    away: bool = False
    """Whether a bot plays until the player is back."""
    left: bool = False
    """Whether the player has gone for good, and a bot has the seat to the end."""


class Table(NamedTuple):
    """The seats of one session."""

    chairs: tuple[Chair, ...]
    started: bool
    private: bool = False
    """Whether only those who sit here may look on while the game goes on."""
    ended: bool = False
    """Whether those who run the house have ended the game, which nobody has won then."""

    @property
    def host(self) -> str:
        """Who may say whether the game is private: the first player who has not left; `""` if all have."""
        return next((chair.pid for chair in self.chairs if chair.pid and not chair.left), "")

    @property
    def abandoned(self) -> bool:
        """Whether the game has begun and all who played it have left for good: bots have all the seats."""
        return self.started and not self.host

    @property
    def closed(self) -> bool:
        """Whether somebody without a seat is to be kept out (to take one, one must come in)."""
        return self.private and self.started

    @property
    def players(self) -> tuple[str, ...]:
        """All who sit here or sat here when the game began, once each."""
        return tuple(dict.fromkeys(chair.pid for chair in self.chairs if chair.pid))

    def seat_of(self, pid: str) -> int | None:
        """The seat that `pid` has and has not left, or `None`."""
        for seat, chair in enumerate(self.chairs):
            if chair.pid == pid and not chair.left:
                return seat
        return None

    def is_human(self, seat: int) -> bool:
        """Whether a player, and no bot, is to act for `seat` (who may have lost the connection, though)."""
        chair = self.chairs[seat]
        return chair.pid != "" and not chair.away and not chair.left

    def apply(self, action: tuple[Any, ...]) -> Table:
        """The table after a deed of the house. Raises `Refused` (see `SEAT_CODES`)."""
        verb = action[0]
        if verb == "end":
            return self._replace(ended=True)
        if verb == "start":
            return self._start()
        if verb == "sit":
            return self._sit(*action[1:])
        if verb == "private":
            return self._replace(private=bool(action[1]))
        seat: int = action[1]
        chair = self.chairs[seat]
        if verb == "stand":
            return self._stand(seat, chair)
        if not self.started or chair.pid == "" or chair.left:
            raise Refused("wrong_moment")
        if verb == "away":
            if chair.away:
                raise Refused("wrong_moment")
            return self._with(seat, chair._replace(away=True))
        assert verb == "back"
        if not chair.away:
            raise Refused("wrong_moment")
        return self._with(seat, chair._replace(away=False))

    def _start(self) -> Table:
        if self.started or not self.players:
            raise Refused("wrong_moment")
        return self._replace(started=True)

    def _sit(self, seat: int, pid: str) -> Table:
        if self.started or self.seat_of(pid) is not None:
            raise Refused("wrong_moment")
        if self.chairs[seat].pid:
            raise Refused("seat_taken")
        return self._with(seat, Chair(pid))

    def _stand(self, seat: int, chair: Chair) -> Table:
        if chair.pid == "" or chair.left:
            raise Refused("wrong_moment")
        return self._with(seat, chair._replace(left=True) if self.started else Chair())

    def _with(self, seat: int, chair: Chair) -> Table:
        return self._replace(chairs=(*self.chairs[:seat], chair, *self.chairs[seat + 1 :]))


def empty(seats: int) -> Table:
    """A table at which nobody sits yet."""
    return Table((Chair(),) * seats, started=False)


def alone(pid: str, *, started: bool = True) -> Table:
    """The table of a solitaire: one player, who may begin (or must say so first: a sealed deal)."""
    return Table((Chair(pid),), started)
