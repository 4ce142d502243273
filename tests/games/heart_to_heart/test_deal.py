from __future__ import annotations

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heartroom.games.game import Refused
from heartroom.games.heart_to_heart import GAME
from heartroom.games.heart_to_heart.deal import deal_number, format_code, is_deal, parse_code, random_number
from heartroom.games.heart_to_heart.solver import winnable
from tests.games.heart_to_heart.actions import CODE, DECK, FEW, MANY

NUMBERS = st.integers(0, 2**35 - 1)

# Frozen: stored games, exports and links depend on them. Ranks in hexadecimal, ten A … king D.
VECTORS = {
    "HH1-N-AAAAAAA": "651B76213C5BD68C9DC2735953BB1A6A994CD7428D7A188A4342",
    "HH1-N-AAAAAAB": "BAC12617B7315D92D97788C8465B4D4BD3AC26352693CA9A4158",
    "HH1-N-AAAAAAM": "ACAC4C7D733522DB8612DAA14C931553946B588726B9847D6B91",
    "HH1-N-HEARTSQ": "6DC3A42178CB78B2AC9258C78DA156B463516D137592A9B3494D",
    "HH1-N-7777777": "A3C8AD96D679941C32BBB7551A1B5D87472239825C834166A4DC",
}


@pytest.mark.parametrize("code", VECTORS)
def test_what_a_code_means_never_changes(code: str) -> None:
    assert "".join(f"{rank:X}" for rank in deal_number(parse_code(code))) == VECTORS[code]


def test_the_documented_deal_is_what_players_are_told() -> None:
    setup = GAME.deal(GAME.parse_options({"code": CODE}), b"")
    heart, stock, discard = setup.deal[:25], setup.deal[25:51], setup.deal[51]
    assert heart[0] == 10
    assert heart[24] == 4
    assert discard == 1
    assert stock.index(4) == 8, "the ninth card drawn is the first four"
    assert winnable(setup.deal)


def test_the_code_of_twelve_is_the_documented_one() -> None:
    assert parse_code(CODE) == 12
    assert format_code(12) == CODE
    assert format_code(0) == "HH1-N-AAAAAAA"
    assert format_code(2**35 - 1) == "HH1-N-7777777"


@given(NUMBERS)
@MANY
def test_codes_round_trip(number: int) -> None:
    assert parse_code(format_code(number)) == number


@given(NUMBERS)
@MANY
def test_a_code_is_base32_of_the_number_its_highest_bits_first(number: int) -> None:
    # 35 bits in front of five that are not shown
    encoded = base64.b32encode((number << 5).to_bytes(5, "big")).decode()
    assert format_code(number) == "HH1-N-" + encoded[:7]
    assert re.fullmatch(r"HH1-N-[A-Z2-7]{7}", format_code(number))


@given(NUMBERS, st.data())
@FEW
def test_codes_are_read_as_people_type_them(number: int, data: st.DataObject) -> None:
    code = format_code(number)
    typed = ""
    for letter in code:
        looks_like = {"O": "O0", "I": "I1", "B": "B8", "1": "1I", "-": ["-", "", " ", "–", "\u2011"]}
        letter = data.draw(st.sampled_from(looks_like.get(letter, letter)))
        typed += data.draw(st.sampled_from([letter, letter.lower()]))
        typed += data.draw(st.sampled_from(["", "", " ", "\t", "\u00a0"]))
    assert parse_code(typed) == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        "HH1-N-",
        "AAAAAAM",
        "HH1-N-AAAAAA",
        "HH1-N-AAAAAAMA",
        "HH1-N-AAAAAA9",
        "HH1-N-AAAAAA=",
        "HH1-D-AAAAAAM",
        "HH1-D-20260105",
        "HH2-N-AAAAAAM",
        "HH1-N-ÄAAAAAM",
        "HH1-N-AAAAAA\u0131",
        "HH1-N-AAAA\u017fAM",
        "HH1-N-AAAAA\u00df",
        "ＨＨ１-Ｎ-ＡＡＡＡＡＡＭ",
        "HH1_N_AAAAAAM",
        "HH1-N-AAAAAAM\0",
        None,
        12,
        b"HH1-N-AAAAAAM",
        ["HH1-N-AAAAAAM"],
    ],
)
def test_anything_else_is_no_code(text: object) -> None:
    with pytest.raises(Refused, match="bad_code"):
        parse_code(text)


@pytest.mark.parametrize("number", [-1, 2**35])
def test_numbers_beyond_35_bits_have_no_code_and_no_deal(number: int) -> None:
    with pytest.raises(ValueError, match="35 bits"):
        format_code(number)
    with pytest.raises(ValueError, match="35 bits"):
        deal_number(number)


@given(NUMBERS)
@MANY
def test_every_number_deals_four_of_each_rank(number: int) -> None:
    assert sorted(deal_number(number)) == sorted(DECK)


def test_each_rank_is_as_likely_at_each_place() -> None:
    deals = [deal_number(number) for number in range(2600)]
    for place in range(52):
        for rank in range(1, 14):
            # 200 expected, standard deviation 13.6
            assert 130 < sum(deal[place] == rank for deal in deals) < 270


def test_a_random_deal_is_that_of_its_code() -> None:
    setup = GAME.deal(GAME.parse_options({}), bytes(range(100, 132)))
    assert setup.options == {"code": format_code(random_number(bytes(range(100, 132))))}
    assert GAME.deal(setup.options, b"") == setup


def test_entropy_reaches_every_bit_of_the_number() -> None:
    assert random_number(b"\xff" * 32) == 2**35 - 1
    assert random_number(b"\0" * 32) == 0
    with pytest.raises(ValueError, match="entropy"):
        random_number(b"\0" * 4)


def test_options() -> None:
    assert GAME.parse_options({}) == {}
    assert GAME.parse_options({"code": "hh1 n aaaaaam"}) == {"code": CODE}
    for options in ({"kode": CODE}, {"code": CODE, "more": 1}):
        with pytest.raises(Refused, match="bad_options"):
            GAME.parse_options(options)
    for code in ("HH1-N-9", None, 12):
        with pytest.raises(Refused, match="bad_code"):
            GAME.parse_options({"code": code})


def test_what_is_a_deal() -> None:
    assert is_deal(DECK)
    assert not is_deal(DECK[:-1])
    assert not is_deal([*DECK[:-1], 1])
    assert not is_deal([*DECK, 1])
    assert not is_deal([True, *DECK[1:]])
    assert not is_deal([1.0, *DECK[1:]])
