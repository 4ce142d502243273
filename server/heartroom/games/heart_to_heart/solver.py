"""What can be reached from a deal or a position: whether it can be won, and in how few moves.

Owns the search, over cards that a player does not see: nothing here may reach a view. Must not know
codes, players or clocks. Pure and bounded: the same question with the same budget has the same answer.

A heart is a set of places here, an int whose bit *place − 1* is set while the card lies there. The cards
of a `Position.cycle` are numbered from 0 in the order in which they come round, and what is left of them
is such a set too.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from heartroom.cards import KING, RANKS, Rank
from heartroom.games.game import Action
from heartroom.games.heart_to_heart import rules
from heartroom.games.heart_to_heart.deal import is_deal
from heartroom.games.heart_to_heart.layout import COVERED_BY, COVERS, HEART_SIZE
from heartroom.games.heart_to_heart.rules import DISCARD, FREE, Position

MAX_POSITIONS: Final = 100_000
"""How many positions a search keeps before it gives up the proof, unless told otherwise: some 65 MB, and
8 s. The hardest of a thousand winnable deals needed 13,000."""


class Solution(NamedTuple):
    """The answer to "in how few moves?"."""

    winnable: bool
    moves: tuple[Action, ...]
    """Draws, recycles and pairs that win; none if it cannot be won (or is won). Any winnable position
    has them, but only if `proven` is nothing shorter possible."""
    proven: bool
    lower_bound: int
    """No win takes fewer moves than this; the length of `moves` if `proven`. 0 if it cannot be won."""
    positions: int
    """How many the search kept."""


def winnable(deal: Sequence[Rank]) -> bool:
    """Whether a deal (52 ranks in dealing order) can be won. Exact. Raises `ValueError` if it is no deal."""
    if not is_deal(deal):
        raise ValueError("a deal is 52 ranks, four of each")
    return _Hearts(deal[:HEART_SIZE], deal[HEART_SIZE:]).can_be_cleared(_WHOLE)


def fewest_moves(deal: Sequence[Rank], max_positions: int = MAX_POSITIONS) -> Solution:
    """The fewest moves in which a deal (52 ranks in dealing order) can be won, and such moves.

    Raises `ValueError` if it is no deal.
    """
    return fewest_moves_from(rules.initial(deal, "").position, max_positions)


def fewest_moves_from(position: Position, max_positions: int = MAX_POSITIONS) -> Solution:
    """The fewest moves in which `position` can be won, and such moves.

    After `max_positions` the proof is given up: then the moves are some that win, and the lower bound is
    the best that was proved.
    """
    heart = tuple(value % FREE for value in position.heart)
    mask = sum(1 << place for place, rank in enumerate(heart) if rank)
    hearts = _Hearts(heart, position.cycle)
    if not hearts.can_be_cleared(mask):
        return Solution(winnable=False, moves=(), proven=True, lower_bound=0, positions=0)
    node = _Node(mask, (1 << len(position.cycle)) - 1, position.turned)
    return _Search(hearts, position.cycle).run(node, max_positions)


_WHOLE: Final = (1 << HEART_SIZE) - 1
_COVER_BITS: Final = tuple(sum(1 << below for below in covers) for covers in COVERED_BY)
_EACH: Final = tuple((place, 1 << place, _COVER_BITS[place]) for place in reversed(range(HEART_SIZE)))


def _goes_before() -> tuple[int, ...]:
    """For each place − 1, the cards that have to go before it: those from which a chain of covers leads
    to it."""
    before = [0] * HEART_SIZE
    for place in reversed(range(HEART_SIZE)):
        for below in COVERED_BY[place]:
            before[place] |= 1 << below | before[below]
    return tuple(before)


_GOES_BEFORE: Final = _goes_before()
_NEVER_TOGETHER: Final = tuple(
    _GOES_BEFORE[place] | sum(1 << other for other in range(HEART_SIZE) if _GOES_BEFORE[other] >> place & 1)
    for place in range(HEART_SIZE)
)
"""For each place − 1, the cards that are never free at the same time as it."""


class _Hearts:
    """Which hearts can be cleared, for the cards of one deal.

    Recycles are without limit, so any card of stock or discard can be brought to the top at any time:
    where it lies there does not matter, and how many of a rank are left follows from the heart (each rank
    has four cards, and leaves in twos). A rank with as many partners out there as it has cards in the
    heart is *loose*: each of these goes when it is free. Of three in the heart, one goes with the only
    card out there and the other two must go together; of four, two and two. Which with which is all that
    there is to choose.
    """

    def __init__(self, heart: Sequence[Rank], others: Sequence[Rank]) -> None:
        self.ranks = tuple(heart)
        """By place − 1; 0 for a place that is empty from the beginning."""
        self.of_rank = _by_rank(heart)
        """The heart's cards of each rank."""
        self._tight = frozenset(rank for rank in RANKS if self.of_rank[rank].bit_count() > others.count(rank))
        self._hopeless = any(not self._has_a_split(self.of_rank[rank]) for rank in self._tight)
        self._answers: dict[int, bool] = {0: True}

    def can_be_cleared(self, heart: int) -> bool:
        """Whether what is left of the deal's heart can be cleared."""
        if self._hopeless:
            return False
        answer = self._answers.get(heart)
        if answer is None:
            answer = self._answers[heart] = self._search(heart)
        return answer

    def _has_a_split(self, cards: int) -> bool:
        """Whether two to four cards of one rank can go in pairs, an odd one alone, as far as a card and
        one that has to go before it are never together."""
        places = [place for place, bit, _ in _EACH if cards & bit]
        if len(places) % 2:
            return any(cards & ~(1 << place) & ~_NEVER_TOGETHER[place] for place in places)
        return any(self._are_pairs(cards, 1 << places[0] | 1 << other) for other in places[1:])

    def _are_pairs(self, cards: int, two: int) -> bool:
        """Whether `two` of the `cards`, and what is left of them, are each free together at some time."""
        return all(
            not part or not _NEVER_TOGETHER[part.bit_length() - 1] & part for part in (two, cards & ~two)
        )

    def _search(self, heart: int) -> bool:
        heart, free = self._remove_what_has_no_choice(heart)
        if not heart:
            return True
        for rank, bits in free.items():
            left = (heart & self.of_rank[rank]).bit_count()
            for i, bit in enumerate(bits):
                if left == 3 and self.can_be_cleared(heart ^ bit):
                    return True
                if left > 2 and any(self.can_be_cleared(heart ^ bit ^ other) for other in bits[:i]):
                    return True
        return False

    def _remove_what_has_no_choice(self, heart: int) -> tuple[int, dict[Rank, list[int]]]:
        """What is left when every card is gone that can go in one way only, which never hurts; and the
        free cards of what is left, by rank."""
        while True:
            before = heart
            free: dict[Rank, list[int]] = {}
            for place, bit, covers in _EACH:
                if heart & bit and not heart & covers:
                    if self.ranks[place] in self._tight:
                        free.setdefault(self.ranks[place], []).append(bit)
                    else:
                        heart ^= bit
            for rank, bits in free.items():
                left = (heart & self.of_rank[rank]).bit_count()
                if left == 1 or left == len(bits) == 2:
                    heart ^= sum(bits)
            if heart == before:
                return heart, free


class _Node(NamedTuple):
    """A position of the search."""

    heart: int
    cycle: int
    """Which of the cycle's cards are left."""
    turned: int
    """Those of the cycle with a number below this lie on the discard."""


class _Step(NamedTuple):
    """One pair, with the draws and the recycle that bring its card of the cycle to the top."""

    moves: int
    heart_cards: int
    cycle_card: int
    """Its number, or −1 if the pair is of two heart cards."""
    to: _Node


class _Facts(NamedTuple):
    """What a heart alone says."""

    free: tuple[int, ...]
    """The places − 1 of its free cards."""
    live: int
    """The cards of the whole cycle that have an equal in the heart."""
    pairs: int
    """The fewest pairs that clear it."""
    uses: tuple[tuple[Rank, int, bool], ...]
    """For each rank that can take cards from the cycle: how many at most, and whether that costs one
    more pair than the fewest."""


class _Cards(NamedTuple):
    """What does not change in a search."""

    heart: tuple[Rank, ...]
    """By place − 1."""
    partners: tuple[int, ...]
    """By place − 1, the heart cards of the same rank that can be free together with it."""
    cycle: tuple[Rank, ...]
    """By number."""
    cycle_of: tuple[int, ...]
    """The cycle's cards of each rank."""


class _Search:
    """A* from pair to pair.

    Between two pairs there are only draws and a recycle, and the only reason to stop at a card is to pair
    it; so a step goes straight to the next card that is paired. What makes it short work is the lower
    bound (`_bound`): the moves left in a game in which every card of the cycle may be used again and again.
    """

    def __init__(self, hearts: _Hearts, cycle: Sequence[Rank]) -> None:
        self._hearts = hearts
        partners = tuple(
            hearts.of_rank[rank] & ~_NEVER_TOGETHER[place] & ~(1 << place)
            for place, rank in enumerate(hearts.ranks)
        )
        self._cards = _Cards(hearts.ranks, partners, tuple(cycle), _by_rank(cycle))
        self._facts_of: dict[int, _Facts] = {}

    def run(self, start: _Node, max_positions: int) -> Solution:
        """The answer for `start`, which can be won."""
        # Keyed by what makes a difference (`_key`): the moves that led there and the last step.
        best: dict[object, int] = {self._key(start): 0}
        came: dict[object, tuple[object, _Step]] = {}
        queue = [(self._bound(start), 0, start)]
        while queue:
            bound, negative_moves, node = heapq.heappop(queue)
            key, moves = self._key(node), -negative_moves
            if moves > best[key]:
                continue
            if not node.heart or len(best) > max_positions:
                steps = _path(came, key)
                found = self._expand(start, [*steps, *self._some_win(node)])
                return Solution(True, found, not node.heart, bound, len(best))
            for step in self._steps(node):
                after, after_key = moves + step.moves, self._key(step.to)
                if after >= best.get(after_key, after + 1):
                    continue
                best[after_key] = after
                came[after_key] = key, step
                heapq.heappush(queue, (max(bound, after + self._bound(step.to)), -after, step.to))
        raise AssertionError("a heart that can be cleared was not")

    def _steps(self, node: _Node) -> Iterator[_Step]:
        """Every pair that can come next and after which the rest can still be cleared."""
        heart, cycle, turned = node
        free: dict[Rank, list[int]] = {}
        for place in self._facts(heart).free:
            free.setdefault(self._cards.heart[place], []).append(1 << place)
        for rank, bits in free.items():
            for i, bit in enumerate(bits):
                for other in bits[:i]:
                    after = _Node(heart ^ bit ^ other, cycle, turned)
                    if self._hearts.can_be_cleared(after.heart):
                        yield _Step(1, bit | other, -1, after)
            cards = cycle & self._cards.cycle_of[rank]
            while cards:
                card = cards & -cards
                cards ^= card
                number = card.bit_length() - 1
                moves = self._moves_to(node, number) + 1
                for bit in bits:
                    after = _Node(heart ^ bit, cycle ^ card, number)
                    if self._hearts.can_be_cleared(after.heart):
                        yield _Step(moves, bit, number, after)

    def _moves_to(self, node: _Node, number: int) -> int:
        """How many draws and recycles bring the card `number` of the cycle to the top of the discard."""
        _, cycle, turned = node
        up_to = _below(cycle, number + 1)
        if number >= turned:
            return (up_to >> turned).bit_count()
        if not _below(cycle, turned) >> (number + 1):
            return 0
        return (cycle >> turned).bit_count() + 1 + up_to.bit_count()

    def _key(self, node: _Node) -> object:
        """Equal for positions with the same future. Cards of the cycle without an equal in the heart only
        cost draws, so all that counts of them is how many lie between the others, and on which side of
        the top."""
        heart, cycle, turned = node
        live = cycle & self._facts(heart).live
        if not live:
            return heart
        dead = cycle & ~live
        dead_down = _below(dead, turned)
        dead_up = dead ^ dead_down
        counts = [_below(live, turned).bit_count(), dead_down.bit_count(), dead_up.bit_count()]
        rest = live
        while rest:
            card = rest & -rest
            rest ^= card
            counts.append((dead_down & (card - 1)).bit_count())
            counts.append((dead_up & (card - 1)).bit_count())
        return heart, live, bytes(counts)

    def _facts(self, heart: int) -> _Facts:
        facts = self._facts_of.get(heart)
        if facts is None:
            facts = self._facts_of[heart] = self._find_facts(heart)
        return facts

    def _find_facts(self, heart: int) -> _Facts:
        live = pairs = 0
        uses = []
        for rank in RANKS:
            cards = heart & self._hearts.of_rank[rank]
            if not cards:
                continue
            live |= self._cards.cycle_of[rank]
            together = bool(self._cards.partners[cards.bit_length() - 1] & cards)
            count = cards.bit_count()
            if count == 2:
                pairs += 1 if together else 2
                uses.append((rank, 2, together))
            else:
                pairs += (count + 1) // 2
                uses.append((rank, count % 2, False))
        free = tuple(place for place, bit, covers in _EACH if heart & bit and not heart & covers)
        return _Facts(free, live, pairs, tuple(uses))

    def _bound(self, node: _Node) -> int:
        """No win from `node`, whose heart can be cleared, takes fewer moves than this.

        The pairs still needed, and the draws and recycles up to where a `_Sweep` ends. The rest of this
        pass is drawn whole; in each later pass every card is drawn that cannot have been used by then.
        Using two cards of the cycle for two of the heart that could go together costs a pair: it counts
        as a saving only as far as it saves more draws than that.
        """
        heart, cycle, turned = node
        facts = self._facts(heart)
        sweep = _Sweep(self._cards, node, facts.free)
        sweep.run()
        end, gone = sweep.end, sweep.gone_at_recycle
        if not gone:
            return facts.pairs + (_below(cycle, end) >> turned).bit_count()
        last = _below(cycle, end)
        later = (len(gone) - 1) * cycle.bit_count() + last.bit_count()
        moves = facts.pairs + (cycle >> turned).bit_count() + len(gone) + later
        for rank, most, costs_a_pair in facts.uses:
            left = cycle & self._cards.cycle_of[rank]
            most = min(most, left.bit_count())
            if most:
                saved = min(most, gone[-1][rank], (left & last).bit_count())
                for earlier in gone[:-1]:
                    saved += min(most, earlier[rank])
                moves -= max(saved - 1, 0) if costs_a_pair else saved
        return moves

    def _some_win(self, node: _Node) -> list[_Step]:
        """Steps that win from `node`, the most promising first. As every step leads to a heart that can
        be cleared, none is ever taken back."""
        steps = []
        while node.heart:
            step = min(self._steps(node), key=lambda step: step.moves + self._bound(step.to))
            steps.append(step)
            node = step.to
        return steps

    def _expand(self, node: _Node, steps: Sequence[_Step]) -> tuple[Action, ...]:
        """The moves of `steps` from `node` on."""
        moves: list[Action] = []
        for step in steps:
            places = [place + 1 for place, bit, _ in _EACH if step.heart_cards & bit]
            if step.cycle_card < 0:
                moves.append(("pair", *places))
                node = _Node(node.heart & ~step.heart_cards, node.cycle, node.turned)
                continue
            ahead = (node.cycle >> node.turned).bit_count()
            needed = self._moves_to(node, step.cycle_card)
            if step.cycle_card < node.turned and needed:
                moves += [("draw",)] * ahead + [("recycle",)]
                needed -= ahead + 1
            moves += [("draw",)] * needed
            moves.append(("pair", *places, DISCARD))
            node = _Node(
                node.heart & ~step.heart_cards, node.cycle & ~(1 << step.cycle_card), step.cycle_card
            )
        return tuple(moves)


class _Sweep:
    """An easier game, played on from a position: cards do not run out. A card of the cycle takes all free
    cards of its rank and stays; two heart cards that can be free together go when both have been free,
    even if one of them was taken before. No card of the heart can go earlier in the real game.
    """

    def __init__(self, cards: _Cards, node: _Node, free: Sequence[int]) -> None:
        self._cards = cards
        self.heart, self._cycle, self.end = node
        self._freed = list(free)
        """Places − 1 that have become free and are not yet dealt with."""
        self._seen = 0
        """All heart cards that have been free."""
        self._free_count = [0] * (KING + 1)
        self._gone = [0] * (KING + 1)
        self._waiting = [0] * (KING + 1)
        """By rank, the free heart cards that nothing has taken."""
        self._wanted = 0
        """The cards of the cycle that would take one."""
        self.gone_at_recycle: list[list[int]] = []

    def run(self) -> None:
        """Play until the heart is cleared. Then the first `end` places of the cycle are turned, and
        `gone_at_recycle` has, for each recycle, how many cards of each rank were gone."""
        self._settle()
        while self.heart:
            ahead = (self._wanted & self._cycle) >> self.end
            if ahead:
                self.end += (ahead & -ahead).bit_length()
                self._take(self._cards.cycle[self.end - 1])
            else:
                assert self._wanted & self._cycle, "the heart cannot be cleared"
                self.gone_at_recycle.append(self._gone.copy())
                self.end = 0
            self._settle()

    def _settle(self) -> None:
        """Let everything go that can without a draw."""
        while self._freed:
            while self._freed:
                self._welcome(self._freed.pop())
            self._dig()

    def _welcome(self, place: int) -> None:
        """The card at `place` + 1 is free: it goes with a partner, or waits."""
        rank = self._cards.heart[place]
        self._seen |= 1 << place
        self._free_count[rank] += 1
        partners = self._cards.partners[place]
        waiting = self._waiting[rank]
        if partners & self._seen:
            self._lift(rank, 1 << place | waiting & partners)
            self._waiting[rank] = waiting & ~partners
            if not self._waiting[rank]:
                self._wanted &= ~self._cards.cycle_of[rank]
        else:
            self._waiting[rank] = waiting | 1 << place
            self._wanted |= self._cards.cycle_of[rank]

    def _dig(self) -> None:
        """Use the top of the discard, and what lies under it as long as all above can have gone to cards
        of the heart that have been free."""
        discard = _below(self._cycle, self.end)
        above = [0] * (KING + 1)
        while self._wanted & discard:
            number = discard.bit_length() - 1
            discard ^= 1 << number
            rank = self._cards.cycle[number]
            if above[rank] == self._free_count[rank]:
                break
            above[rank] += 1
            if self._waiting[rank]:
                self._take(rank)

    def _take(self, rank: Rank) -> None:
        self._lift(rank, self._waiting[rank])
        self._waiting[rank] = 0
        self._wanted &= ~self._cards.cycle_of[rank]

    def _lift(self, rank: Rank, cards: int) -> None:
        self._gone[rank] += cards.bit_count()
        heart = self.heart = self.heart & ~cards
        while cards:
            card = cards & -cards
            cards ^= card
            for above in COVERS[card.bit_length() - 1]:
                # Two cards that go at once may free one that both covered: it counts once.
                if heart >> above & 1 and not heart & _COVER_BITS[above] and above not in self._freed:
                    self._freed.append(above)


def _by_rank(ranks: Sequence[Rank]) -> tuple[int, ...]:
    """The set of the indices of `ranks` at which each rank stands."""
    sets = [0] * (KING + 1)
    for index, rank in enumerate(ranks):
        sets[rank] |= 1 << index
    return tuple(sets)


def _below(cycle: int, number: int) -> int:
    """The cards of `cycle` whose number is lower than `number`."""
    return cycle & ((1 << number) - 1)


def _path(came: dict[object, tuple[object, _Step]], key: object) -> list[_Step]:
    steps = []
    while key in came:
        key, step = came[key]
        steps.append(step)
    return steps[::-1]
