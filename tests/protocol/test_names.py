"""What may be a player's name, in every script and with every trick."""

from __future__ import annotations

import contextlib
import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from heartroom.protocol.names import LONGEST, clean

FAMILY = "👨🏻‍👩🏽‍👧🏿‍👦🏼"

KEPT = {
    "plain": "Ada",
    "one letter": "X",
    "a digit": "7",
    "Norwegian": "Øyvind Ærø-Åsen",
    "Chinese": "李小龍",
    "Japanese": "さくら",
    "Korean": "김철수",
    "Arabic": "محمد",
    "Persian, with a joiner that writing needs": "می‌خواهم",
    "Hebrew": "דוד",
    "Devanagari": "क्षत्रिय",
    "Thai with marks": "น้ำผึ้ง",
    "Vietnamese": "Nguyễn Thị Ắ",
    "Tamil": "கௌரி",
    "emoji": "🂡 ♥",
    "a family with skin tones": FAMILY,
    "twenty families": FAMILY * 20,
    "a flag": "🇳🇴",
    "a heart in red": "❤️",
    "twenty letters": "x" * 20,
    "twenty flags": "🇳🇴" * 20,
    "twenty letters with marks": "x̂" * 20,
    "HTML is text": "<b>&amp;</b>",
    "punctuation": "-_.!?'\"\\",
}

BECOMES = {
    "blanks around it": ("  Ada \u3000", "Ada"),
    "runs of blanks": ("Ada \u00a0 \u2003 Lovelace", "Ada Lovelace"),
    "composed": ("A\u030ase", "Åse"),
    "Korean letter by letter": ("\u1100\u1161", "가"),
    "twenty letters and many blanks": ("x" * 10 + " " * 50 + "x" * 9, "x" * 10 + " " + "x" * 9),
}

REFUSED = {
    "nothing": "",
    "blanks": "   ",
    "other blanks": "\u2003\u3000\u00a0",
    "twenty-one letters": "x" * 21,
    "twenty-one families": FAMILY * 21,
    "twenty and a blank between": "x" * 10 + " " + "x" * 10,
    "no-break, nothing": "\u2060",
    "zero-width space": "\u200b",
    "zero-width space in it": "Ad\u200ba",
    "byte order mark": "\ufeffAda",
    "soft hyphen": "Ad\u00ada",
    "joiners alone": "\u200d\u200c",
    "NUL": "Ada\0",
    "escape": "\x1b[31mAda",
    "delete": "Ada\x7f",
    "control of the second set": "Ada\x90",
    "right-to-left override": "Ada\u202e",
    "left-to-right override": "\u202dAda",
    "embeddings": "\u202aAda\u202c",
    "isolates": "\u2066Ada\u2069",
    "left-to-right mark": "Ada\u200e",
    "right-to-left mark": "Ada\u200f",
    "Arabic letter mark": "Ada\u061c",
    "annotation": "\ufff9Ada\ufffb",
    "tags": "🏴\U000e0067\U000e0062\U000e007f",
    "Hangul fillers": "\u3164",
    "Hangul filler, half width": "\uffa0",
    "Hangul jamo fillers": "\u115f\u1160",
    "Braille blank": "\u2800\u2800",
    "fillers and joiners": "\u3164\u200d\u115f",
    "a mark alone": "\u0301",
    "variation selector alone": "\ufe0f",
    "grapheme joiner alone": "\u034f",
    "private use": "\ue000",
    "unassigned": "\u0378",
    "no character": "\uffff",
    "half a character": "\ud800",
    "zalgo": "x\u0311\u0312\u0313\u0314\u0315algo",
    "a tower": "A" + "\u0321" * 100,
    "enclosing marks": "a" + "\u20dd" * 5,
    "a chain of emoji that is one character": "👩" + "\u200d👩" * 12,
}


@pytest.mark.parametrize("name", KEPT.values(), ids=KEPT)
def test_names_that_people_have_are_kept_as_they_are(name: str) -> None:
    assert clean(name) == unicodedata.normalize("NFC", name)


@pytest.mark.parametrize(("raw", "name"), BECOMES.values(), ids=BECOMES)
def test_a_name_is_trimmed_and_normalised(raw: str, name: str) -> None:
    assert clean(raw) == name


@pytest.mark.parametrize("raw", REFUSED.values(), ids=REFUSED)
def test_what_would_not_be_seen_or_would_harm_others_is_refused(raw: str) -> None:
    with pytest.raises(ValueError, match=r"length|control character|too tall|nothing to see"):
        clean(raw)


@given(st.text(max_size=60) | st.text(st.characters(categories=["L", "M", "Z", "C", "S"]), max_size=30))
def test_whatever_is_accepted_keeps_every_promise(raw: str) -> None:
    try:
        name = clean(raw)
    except ValueError:
        return
    assert 1 <= len(regex.findall(r"\X", name)) <= LONGEST
    assert name == unicodedata.normalize("NFC", name) == name.strip()
    assert "  " not in name
    assert clean(name) == name
    assert not {"\u202e", "\u2066", "\u200b", "\0", "\n", "\r", "\t"} & set(name)
    # what a JSON log, a msgpack frame and a page can all carry
    assert name.encode().decode() == name


@given(st.text())
def test_nothing_but_value_errors_comes_of_any_text(raw: str) -> None:
    with contextlib.suppress(ValueError):
        clean(raw)


@pytest.mark.parametrize("raw", ["a\nb", "a\tb", "a\x1cb", "a\x07b"])
def test_a_control_character_within_is_refused_even_if_it_is_a_blank(raw: str) -> None:
    with pytest.raises(ValueError, match="control"):
        clean(raw)
