"""Heart to Heart: a solitaire of pairs. This module is the game as the rest of the house sees it.

`layout` knows the shape, `deal` the codes, `rules` the moves, `solver` the best play.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from heartroom.games.game import Action, Game, Outcome, Puzzle, Refused, Setup, Value, View
from heartroom.games.heart_to_heart import deal as deals
from heartroom.games.heart_to_heart import rules
from heartroom.games.heart_to_heart.layout import HEART_SIZE
from heartroom.games.heart_to_heart.rules import State
from heartroom.games.heart_to_heart.solver import fewest_moves, winnable


class HeartToHeart:
    """The `Game` protocol's methods, whose contracts are described there. One seat, no private cards."""

    name = "heart-to-heart"
    rules_version = 1
    seats = 1
    fields: tuple[str, ...] = rules.FIELDS
    codes: frozenset[str] = rules.CODES | {"bad_options", "bad_code"}
    levels: tuple[str, ...] = ()

    def parse_options(self, raw: Mapping[str, Value]) -> Mapping[str, Value]:
        """`{}` for a random deal, `{"winnable": true}` for one that can be won, or `{"code": …}`, which is
        read leniently and returned in its usual form.

        Raises `Refused("bad_code")`, or `Refused("bad_options")` for any other option.
        """
        if raw.keys() == {"code"}:
            return {"code": deals.format_code(deals.parse_code(raw["code"]))}
        if not raw.keys() <= {"winnable"} or type(raw.get("winnable", False)) is not bool:
            raise Refused("bad_options")
        return {"winnable": True} if raw.get("winnable") else {}

    def deal(self, options: Mapping[str, Value], entropy: bytes) -> Setup:
        """The deal of the code in `options`, or of a random one that has a pair to begin with (one in ten has
        none); in any case the setup has its code."""
        if "code" in options:
            number = deals.parse_code(options["code"])
        elif "winnable" in options:
            number = next(n for n in deals.random_numbers(entropy) if winnable(deals.deal_number(n)))
        else:
            number = next(n for n in deals.random_numbers(entropy) if _begins(deals.deal_number(n)))
        return Setup({"code": deals.format_code(number)}, deals.deal_number(number))

    def initial(self, setup: Setup) -> State:
        """The state before the first move. The code in the options is a label: the deal is the setup's.

        Raises `ValueError` for a setup without a code or whose deal is not four of each rank.
        """
        code = setup.options.get("code")
        if not isinstance(code, str):
            raise ValueError("a deal of Heart to Heart has a code")
        return rules.initial(setup.deal, code)

    def parse_action(self, raw: object) -> Action:
        """`("draw",)`, `("recycle",)`, `("undo",)` or `("pair", a, b)`. Raises `Refused("malformed")`."""
        return rules.parse_action(raw)

    def apply(self, state: State, seat: int, action: Action) -> State:
        """The state after `action`. Raises `Refused` with one of `rules.CODES`."""
        return rules.apply(state, action)

    def perspective(self, seat: int | None) -> int | None:
        """`None`: player and spectators see the same."""
        return None

    def view(self, state: State, perspective: int | None) -> View:
        """What everybody sees: one value for each of `fields`."""
        return rules.view(state)

    def views(self, state: State, perspectives: Iterable[int | None]) -> list[View]:
        """The one view, so many times."""
        seen = rules.view(state)
        return [seen for _ in perspectives]

    def open_view(self, state: State) -> View:
        """The same: nothing is private, and the stock stays in its order."""
        return rules.view(state)

    def to_act(self, state: State) -> tuple[int, ...]:
        """The player, until the game is won."""
        return () if state.position.status == rules.WON else (0,)

    def patience(self, state: State) -> float:
        """A solitaire has no turns."""
        return 1.0

    def unattended(self, state: State, seat: int) -> Action | None:
        """Nobody plays a solitaire for anybody."""
        return None

    def choose(self, level: str, view: View, seat: int, seed: str) -> Action:
        """There are no bots. Raises `KeyError`."""
        raise KeyError(level)

    def scores(self, state: State) -> tuple[int, ...]:
        """0 … 250."""
        return (state.position.score,)

    def outcome(self, state: State) -> Outcome | None:
        """The win, or `None`: a game that is stuck is not over, as moves can be taken back."""
        position = state.position
        return Outcome((0,), (position.score,)) if position.status == rules.WON else None

    def statistics(self, state: State) -> tuple[Mapping[str, int], ...]:
        """`moves`: draws, recycles, pairs and undos; `undos` among them."""
        return ({"moves": state.position.moves + 2 * state.undos, "undos": state.undos},)

    def progress(self, state: State) -> float:
        """How much of the heart is gone."""
        return state.position.score / (rules.CARD_SCORE * HEART_SIZE)

    def daily_deal(self, entropy: bytes) -> Puzzle | None:
        """See `game.DailyGame`."""
        deal = deals.shuffled(entropy)
        if not winnable(deal):
            return None
        solution = fewest_moves(deal)
        return Puzzle(deal, solution.lower_bound, solution.moves) if solution.proven else None

    def daily_code(self, day: str) -> str:
        """`"HH1-D-20261130"`."""
        return deals.DAY_PREFIX + day

    def daily_day(self, code: object) -> str | None:
        """The day in such a code, in any case, with blanks or without hyphens."""
        return deals.parse_day_code(code)


def _begins(deal: Sequence[int]) -> bool:
    return rules.initial(deal, "").position.status != rules.STUCK


GAME: Final[Game] = HeartToHeart()
