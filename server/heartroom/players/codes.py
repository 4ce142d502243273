"""Recovery codes: 100 random bits that a person can write down. Pure, but for the chance."""

from __future__ import annotations

import hashlib
import secrets
from typing import Final

_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base32: no letter that looks like a digit, and no U."""
_LOOKALIKES: Final = str.maketrans("OIL", "011", "- \u2010\u2011\u2012\u2013\u2014")
_LENGTH: Final = 20
_GROUP: Final = 5


def fresh() -> str:
    """A new code, such as `"7K3QD-0XM4W-…"`."""
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
    return "-".join(letters[at : at + _GROUP] for at in range(0, _LENGTH, _GROUP))


def read(text: str) -> str | None:
    """A code as it is typed, in one form; `None` if it cannot be one."""
    letters = text.strip().upper().translate(_LOOKALIKES)
    if len(letters) != _LENGTH or any(letter not in _ALPHABET for letter in letters):
        return None
    return letters


def digest(letters: str) -> str:
    """What is stored of a code (from `read`). 100 bits cannot be searched, so a plain hash hides them."""
    return hashlib.blake2s(letters.encode(), digest_size=20, person=b"recovery").hexdigest()
