from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heartroom.games.game import Refused
from heartroom.games.heart_to_heart import GAME, rules
from heartroom.games.heart_to_heart.deal import deal_number, is_deal, parse_code, random_numbers, shuffled
from heartroom.games.heart_to_heart.solver import winnable
from tests.games.heart_to_heart.actions import CODE, FEW, MANY

ENTROPY = st.binary(min_size=32, max_size=32)


@given(ENTROPY)
@FEW
def test_the_deal_can_be_won_and_is_the_first_of_the_random_ones_that_can(entropy: bytes) -> None:
    setup = GAME.deal(GAME.parse_options({"winnable": True}), entropy)
    numbers = list(itertools.takewhile(lambda n: not winnable(deal_number(n)), random_numbers(entropy)))
    assert winnable(setup.deal)
    assert parse_code(setup.options["code"]) == next(
        itertools.islice(random_numbers(entropy), len(numbers), None)
    )


@given(ENTROPY)
@FEW
def test_it_has_a_code_that_leads_to_it_again(entropy: bytes) -> None:
    setup = GAME.deal({"winnable": True}, entropy)
    assert GAME.deal(GAME.parse_options(setup.options), bytes(32)) == setup


def test_not_wanting_it_is_wanting_any() -> None:
    assert GAME.parse_options({"winnable": False}) == {}


@pytest.mark.parametrize("raw", [{"winnable": 1}, {"winnable": None}, {"winnable": True, "code": CODE}])
def test_it_is_yes_or_no_and_goes_with_no_code(raw: dict[str, object]) -> None:
    with pytest.raises(Refused, match="bad_options"):
        GAME.parse_options(raw)


def test_the_numbers_that_follow_from_entropy_never_change() -> None:
    assert list(itertools.islice(random_numbers(bytes(range(32))), 3)) == [528408, 7764301126, 19854445030]


@given(ENTROPY, ENTROPY)
@MANY
def test_a_secret_deal_follows_from_its_entropy_alone(entropy: bytes, other: bytes) -> None:
    assert is_deal(shuffled(entropy))
    assert (shuffled(entropy) == shuffled(other)) == (entropy == other)


@given(ENTROPY)
def test_a_random_deal_has_a_pair_to_begin_with_and_one_by_code_is_that_of_the_code(entropy: bytes) -> None:
    setup = GAME.deal({}, entropy)
    assert GAME.view(GAME.initial(setup), None)[GAME.fields.index("status")] != rules.STUCK
    assert GAME.deal(setup.options, bytes(32)) == setup
    stuck = GAME.deal({"code": "HH1-N-AAAAAAA"}, entropy)
    assert GAME.view(GAME.initial(stuck), None)[GAME.fields.index("status")] == rules.STUCK
