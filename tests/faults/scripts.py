"""What a player of Heart to Heart does: legal moves, moves taken back, and some that are to be refused."""

from __future__ import annotations

import random
from typing import Any, Final

from heartroom.games.game import Refused
from heartroom.games.heart_to_heart.deal import CODE_BITS, format_code
from heartroom.games.heart_to_heart.rules import FREE, WON, State
from tests.support.games import CODE, GAME, WINNING

_ANYTHING: Final[tuple[tuple[Any, ...], ...]] = (
    ("draw",),
    ("recycle",),
    ("undo",),
    ("pair", 3, 3),
    ("pair", 1, 0),
    ("pair", 25, 0),
    ("pair", 24, 25),
)
"""Some of these are against the rules at any time."""


class Script:
    """One game, played ahead of the server: the deal is known, and nobody else plays."""

    ILLEGAL: Final = 0.04
    DETOUR: Final = 0.4
    LONGEST_DETOUR: Final = 3

    def __init__(self, rng: random.Random, code: str, line: tuple[tuple[Any, ...], ...], length: int) -> None:
        """`line`: what wins it, or nothing; then it ends after `length` actions."""
        self.code: Final = code
        self.taken = 0
        """Actions so far that are not to be refused."""
        self._rng: Final = rng
        self._line: Final = line
        self._length: Final = length
        self._at = 0
        self._astray = 0
        """Moves that are to be taken back."""
        self._state: State = GAME.initial(GAME.deal({"code": code}, bytes(32)))

    @classmethod
    def to_win(cls, rng: random.Random) -> Script:
        """The known deal, to be won."""
        return cls(rng, CODE, WINNING, 0)

    @classmethod
    def some(cls, rng: random.Random) -> Script:
        """Now the known deal, now any."""
        if rng.random() < 0.5:
            return cls.to_win(rng)
        return cls(rng, format_code(rng.randrange(1 << CODE_BITS)), (), rng.randrange(50, 500))

    @property
    def over(self) -> bool:
        """Whether all is done that was to be."""
        return self._state.position.status == WON or (not self._line and self.taken >= self._length)

    def next(self) -> tuple[tuple[Any, ...], str | None]:
        """The next action, and the code with which it is to be refused; `None` if it is legal."""
        if self._rng.random() < self.ILLEGAL:
            action = self._rng.choice(_ANYTHING)
            try:
                GAME.apply(self._state, 0, action)
            except Refused as refused:
                return action, refused.code
        action = self._legal()
        self._state = GAME.apply(self._state, 0, action)
        self.taken += 1
        return action, None

    def _legal(self) -> tuple[Any, ...]:
        chance = self._rng.random()
        if not self._line:
            if self._state.past and chance < 0.3:
                return ("undo",)
            return self._move()
        if self._astray and (chance < 0.5 or self._astray == self.LONGEST_DETOUR):
            self._astray -= 1
            return ("undo",)
        if self._astray or chance < self.DETOUR:
            move = self._move()
            # a move that wins cannot be taken back
            if GAME.outcome(GAME.apply(self._state, 0, move)) is None:
                self._astray += 1
                return move
            if self._astray:
                self._astray -= 1
                return ("undo",)
        action = self._line[self._at]
        self._at += 1
        return action

    def _move(self) -> tuple[Any, ...]:
        position = self._state.position
        heart, cycle, turned = position.heart, position.cycle, position.turned
        pairs: list[tuple[Any, ...]] = []
        if self._rng.random() < 0.3:
            free = [(place, value - FREE) for place, value in enumerate(heart, 1) if value > FREE]
            pairs = [("pair", one, two) for one, a in free for two, b in free if one < two and a == b]
            pairs += [("pair", place, 0) for place, rank in free if turned and rank == cycle[turned - 1]]
        if pairs:
            return self._rng.choice(pairs)
        if turned < len(cycle):
            return ("draw",)
        return ("recycle",) if cycle else ("undo",)
