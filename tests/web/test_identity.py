"""Cookies: what is read from which header, and whom they make."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heartroom.web.identity import Identity, pseudonym

IDENTITY = Identity("a secret of these tests")
PID = "abcDEF123-_xyz00"
SEALED = IDENTITY.seal(PID)


def test_who_was_sealed_is_unsealed() -> None:
    for _ in range(20):
        pid = IDENTITY.fresh()
        assert len(pid) == 16
        assert IDENTITY.unseal(IDENTITY.seal(pid)) == pid


def test_another_house_s_seal_is_none() -> None:
    assert Identity("another secret of others").unseal(SEALED) is None


# The last letter of base64 has bits that stand for nothing: several of it are the same seal.
@given(st.integers(0, len(SEALED) - 2), st.characters(codec="utf-8"))
def test_a_seal_with_another_letter_is_none(at: int, letter: str) -> None:
    forged = SEALED[:at] + letter + SEALED[at + 1 :]
    assert (IDENTITY.unseal(forged) == PID) == (forged == SEALED)


@pytest.mark.parametrize(
    "pid", ["", "short", "x" * 17, "abcDEF123-_xyz0.", "abcDEF123-_xyz0\n", "åbcDEF123-_xyz00"]
)
def test_what_is_no_player_is_none_even_if_sealed(pid: str) -> None:
    assert IDENTITY.unseal(IDENTITY.seal(pid)) is None


@pytest.mark.parametrize(
    "header",
    [
        f"heartroom={SEALED}",
        f"theme=dark; heartroom={SEALED}",
        f"heartroom={SEALED}; theme=dark",
        f" heartroom={SEALED} ;",
        f'heartroom="{SEALED}"',
        # what other programs on one's own machine leave behind
        f'state={{"a": [1, 2]}}; heartroom={SEALED}',
        f"a[b]=1; heartroom={SEALED}",
        f"lonely; heartroom={SEALED}",
        f"name=Åse; heartroom={SEALED}",
        f"a=b=c; ; =; heartroom={SEALED}",
    ],
)
def test_ours_is_found_among_the_cookies_of_others(header: str) -> None:
    assert IDENTITY.read(header) == PID


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "heartroom",
        "heartroom=",
        "heartroom=x",
        f"Heartroom={SEALED}",
        f"theheartroom={SEALED}",
        ";;;",
        "\0",
    ],
)
def test_where_there_is_none_there_is_none(header: str | None) -> None:
    assert IDENTITY.read(header) is None


@given(st.text(max_size=60))
def test_any_header_is_read(header: str) -> None:
    assert IDENTITY.read(header) is None
    assert IDENTITY.read(f"heartroom={header}") is None


def test_a_cookie_is_sent_in_safety_alone_where_there_is_any() -> None:
    plain, secure = (IDENTITY.set_cookie(PID, secure=secure) for secure in (False, True))
    assert plain.split("; ") == [
        f"heartroom={SEALED}",
        "Path=/",
        "Max-Age=31536000",
        "HttpOnly",
        "SameSite=Lax",
    ]
    assert secure == f"{plain}; Secure"


def test_a_pseudonym_is_always_the_same_and_leads_nowhere() -> None:
    assert pseudonym(PID) == pseudonym(PID)
    assert len(pseudonym(PID)) == 12
    assert pseudonym(PID) not in PID
    assert len({pseudonym(IDENTITY.fresh()) for _ in range(100)}) == 100
