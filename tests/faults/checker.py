"""The checker: holds what clients did and saw against what the store has in the end. Pure.

Each function returns what is wrong, one sentence each; nothing if all is as promised.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from heartroom.games.game import Refused
from heartroom.sessions.table import HOUSE, Table
from tests.faults.history import Acts, Log, Sight, print_of


class Folded:
    """A log, played by the rules: every state and table that it leads through."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.wrong: list[str] = []
        self.states: list[Any] = [log.game.initial(log.setup)]
        self.tables: list[Table] = [log.table]
        self._prints: dict[tuple[int, int | None], int] = {}
        for version, deed in enumerate(log.deeds, start=1):
            try:
                if deed.seat == HOUSE:
                    table, state = self.tables[-1].apply(deed.action), self.states[-1]
                else:
                    table, state = self.tables[-1], log.game.apply(self.states[-1], deed.seat, deed.action)
            except Refused as refused:
                self.wrong.append(f"version {version} is against the rules ({refused.code}): {deed}")
                break
            self.tables.append(table)
            self.states.append(state)

    @property
    def version(self) -> int:
        """The last one that can be reached."""
        return len(self.states) - 1

    def prints(self, version: int, seat: int | None) -> set[int]:
        """What who sits at `seat` may be shown of a version. The one that starts the game is told to all
        as to those who watch; then each player is shown the own cards."""
        kinds = {self._kind(version, seat)}
        if version:
            kinds.add(self._kind(version - 1, seat))
        return {self._print(version, kind) for kind in kinds}

    def _kind(self, version: int, seat: int | None) -> int | None:
        return self.log.game.perspective(seat if self.tables[version].started else None)

    def _print(self, version: int, kind: int | None) -> int:
        known = self._prints.get((version, kind))
        if known is None:
            known = print_of(self.log.game.view(self.states[version], kind))
            self._prints[version, kind] = known
        return known


def wrong_in_session(log: Log, acts: Iterable[Acts], sights: Iterable[Sight]) -> list[str]:
    """Every acknowledged action is in the log once, at its version, in order, and nothing else is; every
    viewer saw versions without gaps, and nothing that is not in the log."""
    folded = Folded(log)
    wrong = [*folded.wrong]
    for one in acts:
        wrong += _wrong_acts(folded, one)
    wrong += _unasked(folded, {one.seat for one in acts})
    for sight in sights:
        wrong += _wrong_sight(folded, sight)
    return [f"{log.game.name} {log.sid}: {text}" for text in wrong]


def _wrong_acts(folded: Folded, acts: Acts) -> list[str]:
    wrong: list[str] = []
    stored: dict[int, int] = {}
    for version, deed in enumerate(folded.log.deeds, start=1):
        if deed.seat != acts.seat or not deed.ref:
            continue
        place = deed.ref - acts.first
        if deed.ref in stored:
            wrong.append(f"action {deed.ref} is there twice, as version {stored[deed.ref]} and {version}")
        elif not 0 <= place < len(acts.sent):
            wrong.append(f"version {version} was sent by nobody: {deed}")
        elif deed.action != acts.sent[place]:
            wrong.append(f"version {version} is {deed.action}, and {acts.sent[place]} was sent")
        elif deed.ref in acts.refused:
            wrong.append(f"action {deed.ref} was refused, and is version {version}")
        stored.setdefault(deed.ref, version)
    if list(stored) != sorted(stored):
        late = next(after for before, after in zip(stored, list(stored)[1:], strict=False) if after < before)
        wrong.append(f"action {late} is not in the order in which it was sent, as version {stored[late]}")
    answered = set(acts.refused)
    for ref, version in acts.acks:
        answered.add(ref)
        if ref not in stored:
            wrong.append(f"action {ref} was acknowledged as version {version}, and is lost")
        elif stored[ref] != version:
            wrong.append(f"action {ref} was acknowledged as version {version}, and is {stored[ref]}")
    for place in range(len(acts.sent)):
        if acts.first + place not in answered:
            wrong.append(f"action {acts.first + place} was never answered")
    return wrong


def _unasked(folded: Folded, seats: set[int]) -> list[str]:
    """What the house did for a player who was there to do it."""
    wrong = []
    for version, (deed, table) in enumerate(zip(folded.log.deeds, folded.tables, strict=False), start=1):
        put_away = deed.action == ("next",)  # a score sheet may be, for anybody
        if deed.seat in seats and not deed.ref and table.is_human(deed.seat) and not put_away:
            wrong.append(f"version {version} was asked for by nobody: {deed}")
    return wrong


def _wrong_sight(folded: Folded, sight: Sight) -> list[str]:
    wrong: list[str] = []
    held: int | None = None
    for glimpse in sight:
        version = glimpse.version
        if not glimpse.epoch and (held is None or version != held + 1):
            wrong.append(f"{sight.who} was at version {held} and got the diff to {version}")
        elif glimpse.epoch and held is not None and version < held:
            wrong.append(f"{sight.who} was at version {held} and was put back to {version}")
        if glimpse.epoch and glimpse.epoch != folded.log.epoch:
            wrong.append(f"{sight.who} saw epoch {glimpse.epoch}, and the log is of {folded.log.epoch}")
        if version > folded.version:
            wrong.append(f"{sight.who} saw version {version}, and the log ends with {folded.version}")
        elif glimpse.seen not in folded.prints(version, glimpse.seat):
            wrong.append(f"{sight.who} saw something else at version {version} than the log leads to")
        held = version
    if held is None:
        wrong.append(f"{sight.who} never saw anything")
    elif held < folded.version:
        wrong.append(f"{sight.who} stopped at version {held}, and the log goes on to {folded.version}")
    return wrong


def wrong_in_statistics(
    who: str, finished: Mapping[str, tuple[int, int]], counted: Mapping[str, Mapping[str, int]]
) -> list[str]:
    """Every finished game is counted once. `finished`: by game, how many there are in the logs of `who` and
    how many of them were won; `counted`: the statistics."""
    wrong = []
    for game in sorted(finished.keys() | counted.keys()):
        games, wins = finished.get(game, (0, 0))
        numbers = counted.get(game, {})
        there = numbers.get("games", 0), numbers.get("wins", 0)
        if there != (games, wins):
            wrong.append(
                f"{who} finished {games} games of {game} and won {wins}: {there[0]} and {there[1]} counted"
            )
    return wrong


def wrong_on_board(board: str, won: Iterable[str], rows: Iterable[str]) -> list[str]:
    """Everybody who has won is on the board once, and nobody else. `rows`: the player of each row."""
    counts = Counter(rows)
    expected = set(won)
    return [
        f"{player} is on {board} {counts[player]} times, and won {'once' if player in expected else 'never'}"
        for player in sorted(expected | counts.keys())
        if counts[player] != (player in expected)
    ]
