"""Hearts: four seats, thirteen cards each, and nobody wants the queen. See `docs/rules/hearts.md`."""

from __future__ import annotations

from typing import Final

from heartroom.games.game import Game
from heartroom.games.hearts.game import HEARTS

GAME: Final[Game] = HEARTS
