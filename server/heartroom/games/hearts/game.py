"""Hearts as the house sees it: options, deal, actions and views (`heartroom.games.game.Game`).

Owns the shape of options and actions, and the list of codes. The rules are in `rules.py`, what a viewer
sees in `view.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeGuard

from heartroom.cards import DECK, Card
from heartroom.games.game import Action, Outcome, Refused, Setup, Value, View

from . import bots, rules, view
from .deck import SEATS
from .rules import OVER, PASSING, SCORED, State, Table

DEFAULT_TARGET: Final = 100
MAX_TARGET: Final = 200
"""A hand adds at least 16 points to the sum of the totals and takes at most 56 actions, so a game to 200 is
over after 50 hands and 2,800 actions at the latest (to 100: 25 and 1,400). A game to 1 is one hand."""
SEED_SIZE: Final = 32


def _is_card(value: object) -> TypeGuard[Card]:
    return type(value) is int and value in DECK


class Hearts:
    """The game. It has no state of its own: `HEARTS` is all there is to it."""

    name: str = "hearts"
    rules_version: int = 1
    seats: int = len(SEATS)
    fields: tuple[str, ...] = view.FIELDS
    levels: tuple[str, ...] = tuple(bots.LEVELS)
    codes: frozenset[str] = frozenset(
        (
            "bad_options",
            "game_over",
            "wrong_phase",
            "not_your_turn",
            "not_in_hand",
            "must_follow",
            "must_lead_two_of_clubs",
            "no_points_on_first_trick",
            "hearts_not_broken",
            "pass_three",
            "already_passed",
            "already_ready",
            "cannot_claim",
        )
    )

    def parse_options(self, raw: Mapping[str, Value]) -> Mapping[str, Value]:
        """`target` (1 … 200, default 100) and `omnibus` (default false). Raises `Refused("bad_options")`."""
        options = {"target": DEFAULT_TARGET, "omnibus": False, **raw}
        target, omnibus = options["target"], options["omnibus"]
        if len(options) != 2 or type(target) is not int or type(omnibus) is not bool:
            raise Refused("bad_options")
        if not 1 <= target <= MAX_TARGET:
            raise Refused("bad_options")
        return options

    def deal(self, options: Mapping[str, Value], entropy: bytes) -> Setup:
        """The seed of all the hands is `entropy`, as 64 hexadecimal digits."""
        return Setup(options, (entropy.hex(),))

    def initial(self, setup: Setup) -> State:
        """The first hand, dealt, before anyone has passed. Raises `ValueError` for a setup that is none."""
        try:
            options = self.parse_options(setup.options)
            (text,) = setup.deal
            seed = bytes.fromhex(text)
        except (Refused, TypeError, ValueError) as error:
            raise ValueError(f"no setup of Hearts: {setup!r}") from error
        if len(seed) != SEED_SIZE:
            raise ValueError(f"a seed has {SEED_SIZE} bytes, not {len(seed)}")
        return rules.begin(Table(options["target"], options["omnibus"], seed))

    def parse_action(self, raw: object) -> Action:
        """`("pass", card, card, card)`, `("play", card)`, `("claim",)` or `("next",)`.

        A pass comes out sorted: in which order its cards were chosen is nobody's business. One of too few
        or too many cards is well-formed, so that it is refused as `pass_three`. Raises
        `Refused("malformed")`.
        """
        match raw:
            case ["play", card] if _is_card(card):
                return ("play", card)
            case ["pass", *cards] if len(cards) <= len(DECK):
                chosen = [card for card in cards if _is_card(card)]
                if len(chosen) == len(cards):
                    return ("pass", *sorted(chosen))
            case ["claim" | "next" as verb]:
                return (verb,)
        raise Refused("malformed")

    def apply(self, state: State, seat: int, action: Action) -> State:
        """The state after `seat` has taken `action` (from `parse_action`).

        Raises `Refused` with a code of `codes`, `ValueError` for a seat that is not 0 … 3.
        """
        if seat not in SEATS:
            raise ValueError(f"no seat {seat!r}")
        verb = action[0]
        if verb == "play":
            return rules.play(state, seat, action[1])
        if verb == "pass":
            return rules.pass_cards(state, seat, action[1:])
        if verb == "claim":
            return rules.claim_rest(state, seat)
        return rules.say_next(state, seat)

    def perspective(self, seat: int | None) -> int | None:
        """Each seat sees its own cards; all spectators see the same."""
        return seat

    def view(self, state: State, perspective: int | None) -> View:
        """What `perspective` may know; see `docs/rules/hearts.md` for the fields."""
        return view.view(state, perspective)

    def views(self, state: State, perspectives: Iterable[int | None]) -> list[View]:
        """The same for each of `perspectives`."""
        return view.views(state, perspectives)

    def open_view(self, state: State) -> View:
        """All hands and passes face up: for a game that is over."""
        return view.open_view(state)

    def to_act(self, state: State) -> tuple[int, ...]:
        """One seat while playing; while passing, and on the score sheet, all that are not done yet."""
        return rules.to_act(state)

    def patience(self, state: State) -> float:
        """To choose three cards takes longer than to play one."""
        return 3 if state.phase == PASSING else 1

    def unattended(self, state: State, seat: int) -> Action | None:
        """A score sheet can be put away for anybody; to pass and to play takes a bot."""
        return ("next",) if state.phase == SCORED else None

    def choose(self, level: str, view: View, seat: int, seed: str) -> Action:
        """What a bot does; see `bots.choose`."""
        return bots.choose(level, view, seat, seed)

    def scores(self, state: State) -> tuple[int, ...]:
        """The totals of the hands that are over."""
        return state.totals

    def outcome(self, state: State) -> Outcome | None:
        """The lowest total wins, or shares the win; `None` while the game goes on."""
        return Outcome(rules.winners(state), state.totals) if state.phase == OVER else None

    def statistics(self, state: State) -> tuple[Mapping[str, int], ...]:
        """`hands`, `points` in all of them, and `moons` shot."""
        return tuple(
            {
                "hands": len(state.sheet),
                "points": state.totals[seat],
                "moons": sum(score.moon == seat for score in state.sheet),
            }
            for seat in SEATS
        )

    def progress(self, state: State) -> float:
        """How near the highest total has come to the target."""
        return min(1.0, max(0, *state.totals) / state.table.target)


HEARTS: Final = Hearts()
