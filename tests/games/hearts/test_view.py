"""Who sees what: secrets stay secret whatever is played, and what is seen is what is there."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from heartroom.games.game import Action, Refused
from heartroom.games.hearts import deck, rules, view
from heartroom.games.hearts.chance import Dice
from heartroom.games.hearts.deck import SEATS, Mask
from heartroom.games.hearts.game import HEARTS
from heartroom.games.hearts.rules import PASSING, PLAYING, State, Table
from heartroom.games.hearts.view import FIELD
from heartroom.games.hearts.worlds import Worlds

from .table import ONE_SUIT_EACH, SEED, Log, cards, dealt, hand_over, midway, play, play_on


def shown(state: State, seat: int | None, *names: str) -> tuple[object, ...]:
    seen = HEARTS.view(state, seat)
    return tuple(seen[FIELD[name]] for name in names)


def another_world(state: State, seat: int, dice: Dice) -> tuple[list[Mask], list[Mask]]:
    """Hands as they might have been dealt, and passes as they might have been made, for all that `seat`
    has seen of the hand up to `state`: drawn at random."""
    known = rules.known(state, seat)
    hands = Worlds(seat, known.sizes, known.possible, known.unseen).draw(dice)
    hands[seat] = known.hand
    for trick in (*state.tricks, state.trick) if state.trick else state.tricks:
        for place, card in enumerate(trick[2:]):
            hands[trick[0] + place & 3] |= 1 << card
    offset = rules.pass_offset(state.number)
    passes = [deck.mask(passed) for passed in state.passes]
    if offset:
        for giver in SEATS:
            receiver = giver + offset & 3
            if seat not in (giver, receiver):
                held = list(deck.cards(hands[receiver]))
                dice.shuffle(held)
                passes[giver] = deck.mask(held[:3])
        after = [hands[giver] & ~passes[giver - offset & 3] | passes[giver] for giver in SEATS]
        hands = after
    return hands, passes


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 8), st.booleans(), st.integers(0, 1 << 32), st.integers(1, 56), st.integers(0, 3))
def test_no_view_depends_on_cards_that_are_not_seen(
    number: int, omnibus: bool, seed: int, moves: int, seat: int
) -> None:
    """The same log in another world, which differs only in what `seat` does not see: every view of that
    seat and of the spectators on the way is the same, and so is the answer to a claim."""
    rng = Random(seed)
    left = iter(range(moves))
    hands = deck.deal(seed.to_bytes(32, "big"), number)
    start = rules.begin_hand(Table(100, omnibus, SEED), number, hands, (), (0, 0, 0, 0))
    end, log = play_on(start, rng, lambda state: hand_over(state) or next(left, None) is None)
    if hand_over(end) or not (end.tricks or end.trick):
        return  # nothing is hidden, or the holder of the two of clubs is about to show it
    other_hands, other_passes = another_world(end, seat, Dice(str(seed)))
    other = rules.begin_hand(start.table, number, tuple(other_hands), (), (0, 0, 0, 0))
    state = start
    for at, (who, action) in enumerate([*log, (seat, ("claim",))]):
        assert HEARTS.view(state, seat) == HEARTS.view(other, seat)
        assert HEARTS.view(state, None) == HEARTS.view(other, None)
        among_all, in_the_other = (HEARTS.views(each, ALL) for each in (state, other))
        assert among_all[ALL.index(seat)] == in_the_other[ALL.index(seat)]
        assert among_all[ALL.index(None)] == in_the_other[ALL.index(None)]
        if at == len(log):
            assert tried(state, who, action, seat) == tried(other, who, action, seat)
            break
        state = HEARTS.apply(state, who, action)
        if action[0] == "pass":
            action = ("pass", *sorted(deck.cards(other_passes[who])))
        other = HEARTS.apply(other, who, action)


ALL: tuple[int | None, ...] = (*SEATS, None)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 8), st.booleans(), st.integers(0, 1 << 32), st.lists(st.sampled_from(ALL)))
def test_what_somebody_sees_does_not_depend_on_who_else_looks(
    number: int, omnibus: bool, seed: int, together: list[int | None]
) -> None:
    hands = deck.deal(seed.to_bytes(32, "big"), number)
    start = rules.begin_hand(Table(100, omnibus, SEED), number, hands, (), (0, 0, 0, 0))

    def check(state: State) -> None:
        alone = {seat: HEARTS.view(state, seat) for seat in ALL}
        assert HEARTS.views(state, together) == [alone[seat] for seat in together]
        assert HEARTS.views(state, dict.fromkeys(together)) == [
            alone[seat] for seat in dict.fromkeys(together)
        ]

    end, _ = play_on(start, Random(seed), hand_over, check)
    check(end)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 8), st.integers(0, 1 << 32))
def test_a_seat_sees_what_everybody_sees_and_its_own(number: int, seed: int) -> None:
    """Its hand, what it gave and was given, and on its turn what it may do: everywhere else a view is that of
    a spectator, and there a spectator sees but numbers of cards."""
    hands = deck.deal(seed.to_bytes(32, "big"), number)
    start = rules.begin_hand(Table(100, False, SEED), number, hands, (), (0, 0, 0, 0))

    def check(state: State) -> None:
        *seats, table = HEARTS.views(state, ALL)
        assert all(type(table[FIELD[f"{pile}{seat}"]]) is int for pile in ("hand", "pass") for seat in SEATS)
        assert (table[FIELD["legal"]], table[FIELD["why"]], table[FIELD["may_claim"]]) == ((), "", 0)
        for seat, seen in enumerate(seats):
            own = {f"hand{seat}", f"pass{seat}"}
            if state.phase != PASSING:
                own.add(f"pass{seat - rules.pass_offset(number) & 3}")
            if seat == state.turn:
                own |= {"legal", "why", "may_claim"}
            differs = {name for name, place in FIELD.items() if seen[place] != table[place]}
            assert differs <= own

    end, _ = play_on(start, Random(seed), hand_over, check)
    check(end)


def tried(state: State, who: int, action: Action, seat: int) -> object:
    """What `seat` sees of an action: a refusal or a view."""
    try:
        return HEARTS.view(HEARTS.apply(state, who, action), seat)
    except Refused as refusal:
        return refusal.code


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 32), st.integers(1, 4))
def test_before_all_have_passed_a_seat_sees_only_that_the_others_have(seed: int, number: int) -> None:
    rng = Random(seed)
    state = dealt(*deck.deal(seed.to_bytes(32, "big"), 1), number=number)
    for _ in SEATS:
        if state.phase != PASSING:
            break
        for seat in SEATS:
            for other in SEATS:
                held, given_ = shown(state, seat, f"hand{other}", f"pass{other}")
                if other == seat:
                    assert held == deck.cards(state.hands[seat])
                    assert given_ == state.passes[seat]
                else:
                    assert held == 13
                    assert given_ == (0 if other in rules.to_act(state) else 3)
        seat = rng.choice(rules.to_act(state))
        state = rules.pass_cards(state, seat, tuple(rng.sample(deck.cards(state.hands[seat]), 3)))


def passed() -> State:
    state = dealt(*ONE_SUIT_EACH, number=1)
    for seat, chosen in enumerate(("J♣ Q♣ K♣", "J♦ Q♦ K♦", "J♠ Q♠ K♠", "J♥ Q♥ K♥")):
        state = rules.pass_cards(state, seat, cards(chosen))
    return state


def test_a_pass_is_seen_by_who_gave_it_and_who_got_it() -> None:
    state = passed()
    assert shown(state, 1, "pass0", "pass1", "pass2", "pass3") == (cards("J♣ Q♣ K♣"), cards("J♦ Q♦ K♦"), 3, 3)
    assert shown(state, None, "pass0", "pass1", "pass2", "pass3") == (3, 3, 3, 3)


def test_a_hand_without_a_pass_shows_none() -> None:
    assert shown(dealt(*ONE_SUIT_EACH), 0, "pass0", "pass1", "pass_offset") == ((), 0, 0)


def test_a_spectator_sees_the_table() -> None:
    state = play(dealt(*ONE_SUIT_EACH), "2♣ 2♦")
    assert shown(state, None, "hand0", "hand1", "hand2", "hand3") == (12, 12, 13, 13)
    assert shown(state, None, "trick1", "trick2", "trick_number", "to_act") == (
        (0, 0, *cards("2♣ 2♦")), (), 1, (2,)
    )  # fmt: skip
    assert shown(state, None, "legal", "why", "may_claim") == ((), "", 0)


def test_the_seat_on_turn_sees_what_it_may_play_and_why_not_the_rest() -> None:
    state = play(midway("2♦ 3♦", "4♦ 5♠", "6♦ 7♥", "8♦ 9♥", broken=True), "2♦")
    assert shown(state, 1, "hand1", "legal", "why") == (cards("4♦ 5♠"), cards("4♦"), "must_follow")
    assert shown(state, 2, "hand2", "legal", "why") == (cards("6♦ 7♥"), (), "")


def test_a_trick_shows_leader_and_who_is_winning_it() -> None:
    state = midway("2♦ 3♦", "4♦ 5♠", "3♣ 7♥", "8♦ 9♥", turn=1, broken=True)
    assert shown(state, 0, "trick12", "trick_number", "to_act") == ((), 12, (1,))
    state = play(state, "4♦ 3♣")
    assert shown(state, 0, "trick12") == ((1, 1, *cards("4♦ 3♣")),)
    state = play(state, "8♦")
    assert shown(state, 0, "trick12") == ((1, 3, *cards("4♦ 3♣ 8♦")),)
    state = play(state, "2♦")
    assert shown(state, 0, "trick12", "trick13", "trick_number") == (
        (1, 3, *cards("4♦ 3♣ 8♦ 2♦")), (3, 3, *cards("9♥ 3♦ 5♠ 7♥")), 13
    )  # fmt: skip


def test_the_sheet_names_the_shooter() -> None:
    state = play(midway("A♥", "2♥", "2♦", "3♦", penalty=(24, 0, 0, 0)), "A♥ 2♥ 2♦ 3♦")
    assert shown(state, None, "sheet", "totals", "winners") == (((0, 26, 26, 26, 0),), (0, 26, 26, 26), ())
    state = play(midway("A♥", "2♥", "2♦", "3♦", target=2), "A♥ 2♥ 2♦ 3♦")
    assert shown(state, 2, "sheet", "winners") == (((2, 0, 0, 0, None),), (1, 2, 3))


def test_a_claim_shows_the_claimers_cards_and_no_others() -> None:
    state = midway("A♣ K♣ Q♣", "2♣ 3♦ 4♥", "3♣ 4♦ 5♥", "4♣ 5♦ 6♥", penalty=(0, 23, 0, 0))
    assert shown(state, 0, "may_claim") == (1,)
    assert shown(state, 1, "may_claim") == (0,)
    state = rules.claim_rest(state, 0)
    for seat in (*SEATS, None):
        assert shown(state, seat, "claimed", "sheet") == ((0, *cards("Q♣ K♣ A♣")), ((3, 23, 0, 0, None),))
        hands = shown(state, seat, "hand0", "hand1", "hand2", "hand3")
        assert all(not held for held in hands)


def test_the_open_view_shows_all() -> None:
    state = passed()
    seen = view.open_view(state)
    assert all(seen[FIELD[f"hand{seat}"]] == deck.cards(state.hands[seat]) for seat in SEATS)
    assert all(seen[FIELD[f"pass{seat}"]] == state.passes[seat] for seat in SEATS)
    seen = view.open_view(dealt(*ONE_SUIT_EACH, number=1))
    assert seen[FIELD["pass2"]] == ()


def test_views_have_one_value_for_each_field() -> None:
    rng = Random(1)
    lengths: set[int] = set()
    log: Log
    state, log = play_on(
        dealt(*ONE_SUIT_EACH, number=1),
        rng,
        hand_over,
        lambda state: lengths.update(len(HEARTS.view(state, seat)) for seat in (*SEATS, None)),
    )
    assert lengths == {len(HEARTS.fields)}
    assert len(set(HEARTS.fields)) == len(HEARTS.fields)
    assert len(log) == 4 + 48
    assert state.phase != PLAYING
