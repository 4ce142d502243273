"""Deeds as bytes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heartroom.sessions.log import Deed, pack, unpack

WORDS = st.text(max_size=8) | st.integers(-(2**63), 2**63 - 1) | st.none() | st.booleans()


@given(
    st.integers(-1, 3),
    st.integers(0, 2**53 - 1),
    st.lists(WORDS, max_size=4).map(tuple),
)
def test_a_deed_is_read_as_it_was_written(seat: int, ref: int, action: tuple[Any, ...]) -> None:
    assert unpack(pack(Deed(seat, ref, action))) == Deed(seat, ref, action)


def test_a_draw_is_short() -> None:
    assert len(pack(Deed(0, 2**48, ("draw",)))) <= 20


@pytest.mark.parametrize("body", [b"", b"\x93\x00\x01", b"\x93\x00\x01\xa4draw", b"\x92\x00\x01", b"\xc0"])
def test_bytes_that_are_no_deed_are_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpack(body)
