from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heartroom.players import codes


def test_a_code_is_read_as_it_was_made_and_as_people_type_it() -> None:
    code = codes.fresh()
    letters = codes.read(code)
    assert letters is not None
    assert len(letters) == 20
    for typed in (code.lower(), code.replace("-", " "), code.replace("-", ""), f" {code}\n", letters):
        assert codes.read(typed) == letters


def test_letters_that_look_like_digits_are_read_as_those() -> None:
    assert codes.read("OIL0O-IL10O-AAAAA-BBBBB") == "0110011100AAAAABBBBB"


@given(st.text(max_size=40))
def test_anything_else_is_none(text: str) -> None:
    letters = codes.read(text)
    assert letters is None or codes.read(letters) == letters


@pytest.mark.parametrize(
    "text", ["", "AAAAA-BBBBB-CCCCC-DDDD", "AAAAA-BBBBB-CCCCC-DDDDDD", "UUUUU-BBBBB-CCCCC-DDDDD"]
)
def test_what_is_no_code(text: str) -> None:
    assert codes.read(text) is None


def test_no_two_codes_are_the_same_nor_their_digests() -> None:
    made = {codes.fresh() for _ in range(100)}
    assert len(made) == 100
    digests = {codes.digest(codes.read(code) or "") for code in made}
    assert len(digests) == 100
    assert not any(code[:5] in digest for code in made for digest in digests)
