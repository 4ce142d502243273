"""What may be a player's name. Names are shown as text, to strangers, in every script."""

from __future__ import annotations

import unicodedata

import regex

LONGEST = 20
"""Characters as people count them (grapheme clusters)."""
_LONGEST_CLUSTER = 12
"""Code points of one: enough for a family emoji with skin tones, too few to climb over other lines."""
MOST_CHARACTERS = LONGEST * _LONGEST_CLUSTER
"""Code points of a whole name."""
_MOST_MARKS = 4
"""Combining marks on one letter."""

_JOINERS = "\u200c\u200d"
"""Format characters that writing needs (Persian, Indic scripts, emoji); all others are refused, above all
those that turn the direction of what follows."""


def clean(raw: str) -> str:
    """`raw` as a name: normalised (NFC), trimmed, runs of blanks made one.

    Raises `ValueError` if it has no visible character, more than `LONGEST`, or control characters.
    """
    raw = raw.strip()
    if any(unicodedata.category(char) == "Cc" for char in raw):  # a line break, too, though it is a blank
        raise ValueError("control character")
    name = " ".join(unicodedata.normalize("NFC", raw).split())
    clusters = regex.findall(r"\X", name)
    if not 1 <= len(clusters) <= LONGEST:
        raise ValueError("length")
    for char in name:
        kind = unicodedata.category(char)
        if kind in ("Cc", "Cs", "Co", "Cn", "Zl", "Zp") or (kind == "Cf" and char not in _JOINERS):
            raise ValueError("control character")
    for cluster in clusters:
        marks = sum(unicodedata.category(char) in ("Mn", "Me") for char in cluster)
        if len(cluster) > _LONGEST_CLUSTER or marks > _MOST_MARKS:
            raise ValueError("too tall")
    if not any(unicodedata.category(char)[0] in "LNSP" and char not in _BLANK for char in name):
        raise ValueError("nothing to see")
    return name


_BLANK = "\u115f\u1160\u3164\uffa0\u2800"
"""Letters and symbols that show nothing."""
