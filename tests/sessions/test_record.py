"""Records: written, read back, replayed; and every defect found in its line, with its reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heartroom.games.game import Setup, games
from heartroom.sessions import record
from heartroom.sessions.record import BadRecord
from tests.support.games import CODE, GAME, RECORDED, WINNING

SETUP = GAME.deal({"code": CODE}, bytes(32))


def written(actions: tuple[tuple[Any, ...], ...] = WINNING, setup: Setup = SETUP) -> bytes:
    deeds = ((1000 * number, 0, action) for number, action in enumerate(actions))
    return b"".join(record.lines(GAME, setup, ["Åse"], deeds))


def replayed(read: record.Record, *people: Any) -> bytes:
    shown = list(record.frames(read.game, read.states[0], read.deeds))
    return record.replay(read.game, read.setup, read.header.names, shown, *people)


def test_a_game_that_was_written_is_read_as_it_was_played() -> None:
    read = record.read(written())
    assert [step.action for step in read.steps] == list(WINNING)
    assert (read.header.game, read.header.names) == (GAME.name, ("Åse",))
    assert read.header.options == SETUP.options
    assert read.header.deal == SETUP.deal
    assert len(read.states) == len(WINNING) + 1
    assert read.outcome is not None
    assert read.outcome.winners == (0,)
    assert read.elapsed_ms == 1000 * (len(WINNING) - 1)


def test_a_game_that_is_not_over_has_no_outcome() -> None:
    read = record.read(written(WINNING[:-1]))
    assert read.outcome is None
    assert record.read(written(())).elapsed_ms == 0
    assert record.read(written(())).steps == ()


def test_what_was_read_is_written_again_byte_for_byte() -> None:
    raw = written()
    read = record.read(raw)
    assert b"".join(record.lines(GAME, read.setup, read.header.names, read.deeds)) == raw


def test_ends_of_lines_and_empty_lines_at_the_end_do_not_matter() -> None:
    raw = written()
    for same in (raw.rstrip(), raw + b"\n \n\n", raw.replace(b"\n", b"\r\n")):
        assert len(record.read(same).steps) == len(WINNING)


def test_the_recorded_example_is_a_record() -> None:
    read = record.read(RECORDED)
    assert read.outcome is not None
    assert read.header.options == {"code": CODE}


def test_a_replay_leads_to_every_view_of_the_game() -> None:
    read = record.read(written())
    game, names, first, frames = msgspec.msgpack.decode(replayed(read))
    assert (game, names) == (GAME.name, ["Åse"])
    assert [frame[0] for frame in frames] == list(range(1, len(WINNING) + 1))
    assert [frame[1] for frame in frames] == [1000 * number for number in range(len(WINNING))]
    view = list(first)
    assert tuple(view) == GAME.view(read.states[0], None)
    for (_, _, *pairs), state in zip(frames, read.states[1:], strict=True):
        for index, value in zip(pairs[::2], pairs[1::2], strict=True):
            view[index] = value
        assert tuple(view) == GAME.view(state, None)


def test_a_replay_of_a_table_says_who_sat_there() -> None:
    read = record.read(written())
    without = msgspec.msgpack.decode(replayed(read))
    assert msgspec.msgpack.decode(replayed(read, [False, True], 0)) == [*without, [False, True], 0]


def test_times_count_from_when_the_game_s_time_began() -> None:
    """That of a deal that was sealed began before its first action."""
    deeds = ((5000 + 10 * number, 0, action) for number, action in enumerate(WINNING[:3]))
    read = record.read(b"".join(record.lines(GAME, SETUP, [""], deeds)))
    assert [frame[1] for frame in msgspec.msgpack.decode(replayed(read))[3]] == [5000, 5010, 5020]
    assert read.elapsed_ms == 5020


def test_the_deal_of_a_day_has_a_name_and_no_code() -> None:
    dealt = Setup({"code": "HH1-D-20261130"}, SETUP.deal)
    assert record.read(written(setup=dealt)).outcome is not None


@pytest.mark.parametrize("options", [{}, {"omnibus": True}, {"target": 50}])
def test_a_game_that_chance_has_dealt_is_read(options: dict[str, Any]) -> None:
    hearts = games()["hearts"]
    setup = hearts.deal(hearts.parse_options(options), bytes(range(32)))
    raw = b"".join(record.lines(hearts, setup, ["Åse", "", "", ""], ()))
    assert record.read(raw).header.deal == setup.deal


# -- defects

Change = Callable[[dict[str, Any]], object]


def with_line(number: int, change: Change) -> bytes:
    """A good record, one line of which is changed."""
    texts = written().splitlines()
    line = json.loads(texts[number - 1])
    change(line)
    texts[number - 1] = json.dumps(line).encode()
    return b"\n".join(texts)


def defect(raw: bytes) -> BadRecord:
    with pytest.raises(BadRecord) as caught:
        record.read(raw)
    assert str(caught.value) == f"line {caught.value.line}: {caught.value.reason}"
    return caught.value


HEADERS: dict[str, tuple[Change, str]] = {
    "another format": (lambda line: line.update(heartroom=2), "unknown format 2"),
    "no format": (lambda line: line.pop("heartroom"), "heartroom"),
    "format is no number": (lambda line: line.update(heartroom=True), "int"),
    "another game": (lambda line: line.update(game="chess"), "unknown game chess"),
    "other rules": (lambda line: line.update(rules=99), "unknown rules version 99"),
    "a card missing": (lambda line: line["deal"].pop(), "no deal"),
    "a card too often": (lambda line: line["deal"].__setitem__(0, line["deal"][1]), "no deal"),
    "a card that is none": (lambda line: line["deal"].__setitem__(0, "ace"), "no deal"),
    "no code": (lambda line: line.update(options={}), "no deal"),
    "options that are none": (lambda line: line.update(options=[]), "options"),
    "no names": (lambda line: line.pop("names"), "names"),
    "a name that is none": (lambda line: line.update(names=[1]), "names"),
    "something else": (lambda line: line.update(more=1), "more"),
    "another code": (lambda line: line.update(options={"code": "HH1-N-AAAAAAA"}), "another deal than that"),
    "a code that is none": (lambda line: line.update(options={"code": "HH1-N-AAAAAA"}), "bad_code"),
    "a day that is none": (lambda line: line.update(options={"code": "HH1-D-2026113"}), "bad_code"),
    "cards in other places": (lambda line: line["deal"].reverse(), "another deal than that"),
    "a name that turns what follows": (lambda line: line.update(names=["\u202eesÅ"]), "no name"),
    "a name too many": (lambda line: line.update(names=["", ""]), "2 names for 1 seats"),
    "a name that is too long": (lambda line: line.update(names=["x" * 21]), "no name"),
}


@pytest.mark.parametrize(("change", "reason"), HEADERS.values(), ids=HEADERS)
def test_a_defect_of_the_header_is_in_line_1(change: Change, reason: str) -> None:
    bad = defect(with_line(1, change))
    assert bad.line == 1
    assert reason in bad.reason


STEPS: dict[str, tuple[Change, str]] = {
    "a version too high": (lambda line: line.update(v=6), "version 6 where 4 is due"),
    "a version twice": (lambda line: line.update(v=3), "version 3 where 4 is due"),
    "a time beyond all": (lambda line: line.update(at=2**53), "took longer than a game is kept"),
    "a version that is none": (lambda line: line.update(v="4"), "v"),
    "back in time": (lambda line: line.update(at=1), "goes back in time"),
    "before the beginning": (lambda line: line.update(at=-1), "goes back in time"),
    "a time that is none": (lambda line: line.update(at=1.5), "at"),
    "no such seat": (lambda line: line.update(seat=1), "no seat 1"),
    "a seat below the first": (lambda line: line.update(seat=-1), "no seat -1"),
    "no action": (lambda line: line.update(action=[]), "malformed"),
    "an action of no game": (lambda line: line.update(action=["castle"]), "malformed"),
    "an action that is none": (lambda line: line.update(action="draw"), "action"),
    "a place that is none": (lambda line: line.update(action=["pair", 1.0, 2]), "malformed"),
    "a move against the rules": (lambda line: line.update(action=["pair", 1, 2]), "covered"),
    "a recycle too early": (lambda line: line.update(action=["recycle"]), "stock_not_empty"),
    "something missing": (lambda line: line.pop("seat"), "seat"),
    "something else": (lambda line: line.update(more=1), "more"),
}


@pytest.mark.parametrize(("change", "reason"), STEPS.values(), ids=STEPS)
def test_a_defect_of_a_step_is_in_its_line(change: Change, reason: str) -> None:
    bad = defect(with_line(5, change))
    assert bad.line == 5
    assert reason in bad.reason


def test_an_action_after_the_end_is_refused() -> None:
    last = len(WINNING) + 1
    step = json.dumps({"v": last, "at": 10**9, "seat": 0, "action": ["undo"]}).encode()
    bad = defect(written() + step)
    assert (bad.line, bad.reason) == (last + 1, "game_over")


def test_an_action_left_out_is_noticed() -> None:
    texts = written().splitlines()
    del texts[3]
    assert defect(b"\n".join(texts)).line == 4


@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"{",
        b"\xff\xfe",
        b"\xef\xbb\xbf{}",
        b'{"v": 4',
        b"[" * 100_000,
        b'{"v":' * 50_000,
        b'"' + b"x" * 100_000,
    ],
    ids=repr,
)
@pytest.mark.parametrize("number", [1, 5])
def test_a_line_that_is_no_line_is_named(junk: bytes, number: int) -> None:
    texts = written().splitlines()
    texts[number - 1] = junk
    bad = defect(b"\n".join(texts))
    assert bad.line == number
    assert bad.reason


@pytest.mark.parametrize("raw", [b"", b"\n", b" \n\t\n"])
def test_nothing_is_no_record(raw: bytes) -> None:
    bad = defect(raw)
    assert (bad.line, bad.reason) == (1, "empty")


@given(st.binary(max_size=100), st.integers(0, 500))
def test_whatever_is_in_a_file_it_is_a_record_or_a_bad_one(junk: bytes, at: int) -> None:
    raw = written(WINNING[:4])
    for file in (junk, raw[:at] + junk + raw[at:], raw[:at] + junk):
        try:
            read = record.read(file)
        except BadRecord as bad:
            found = bad.line
        else:
            assert read.header.heartroom == 1
            found = 1
        assert 1 <= found <= 7 + junk.count(b"\n") + junk.count(b"\r")
