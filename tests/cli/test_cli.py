"""The command as it is typed: what it prints, where, and how it ends."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from click.testing import CliRunner, Result

from heartroom import __version__
from heartroom.cli import main
from tests.support.games import CODE, GAME, RECORDED, WINNING
from tests.support.serving import SECRET, Server

DEAL = GAME.deal({"code": CODE}, bytes(32)).deal


@pytest.fixture(autouse=True)
def own_log() -> Iterator[None]:
    """What `serve` sets up writes to a stream that is closed after the test."""
    yield
    structlog.reset_defaults()
    logging.getLogger().handlers.clear()


def run(*arguments: str, given: bytes | None = None) -> Result:
    return CliRunner().invoke(main, list(arguments), input=given)


def test_it_says_what_it_can_do() -> None:
    done = run("--help")
    assert done.exit_code == 0
    for command in ("serve", "deal", "verify"):
        assert f"  {command} " in done.stdout
    assert run("-h").stdout == done.stdout
    assert __version__ in run("--version").stdout


def test_what_it_cannot_do_is_refused() -> None:
    for arguments in (["play"], ["deal"], ["verify"], ["serve", "--port", "65536"], ["serve", "--port", "x"]):
        assert run(*arguments).exit_code == 2


# -- deal


def test_deal_prints_every_card_of_a_code() -> None:
    done = run("deal", CODE, "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout) == {
        "code": CODE,
        "heart": list(DEAL[:25]),
        "stock": list(DEAL[25:51]),
        "discard": [DEAL[51]],
    }
    # what is documented of this deal
    shown = json.loads(done.stdout)
    assert (shown["heart"][0], shown["heart"][24], shown["discard"]) == (10, 4, [1])
    assert shown["stock"].index(4) == 8


@pytest.mark.parametrize(
    "typed", ["hh1-n-aaaaaam", "HH1NAAAAAAM", " HH1 - N - AAA AAAM ", "HHI-N-AAAAAAM", "HH1–N–AAAAAAM"]
)
def test_deal_reads_a_code_as_people_type_it(typed: str) -> None:
    assert run("deal", typed, "--json").stdout == run("deal", CODE, "--json").stdout


def test_deal_prints_a_table_for_people() -> None:
    lines = run("deal", CODE).stdout.splitlines()
    assert lines[0] == CODE
    assert lines[1].split() == ["10", "Q", "10", "Q"]
    assert lines[7].split() == ["[4]"]
    assert lines[8] == "stock 26, discard 1, top A"
    assert len(lines[-1].removeprefix("drawn in this order: ").split()) == 26


@pytest.mark.parametrize(
    "typed", ["", "HH1-N-", "HH1-N-AAAAAA", "HH1-N-AAAAAAMM", "HH2-N-AAAAAAM", "HH1-N-AAAAAA9", "åß"]
)
@pytest.mark.parametrize("how", [[], ["--json"]])
def test_deal_refuses_what_is_no_code(typed: str, how: list[str]) -> None:
    done = run("deal", *how, "--", typed)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert "bad_code" in done.stderr


# -- verify


def test_verify_says_how_a_game_ended(tmp_path: Path) -> None:
    file = tmp_path / "game.jsonl"
    file.write_bytes(RECORDED)
    done = run("verify", "--json", str(file))
    assert done.exit_code == 0
    facts = json.loads(done.stdout)
    assert facts.pop("elapsed_ms") >= 0
    assert facts == {
        "valid": True,
        "game": GAME.name,
        "result": "won",
        "score": 250,
        "winners": [0],
        "moves": len(WINNING),
    }
    lines = run("verify", str(file)).stdout.splitlines()
    assert {"result: won", "score: 250", f"moves: {len(WINNING)}"} <= set(lines)


def test_verify_reads_standard_input() -> None:
    assert json.loads(run("verify", "--json", "-", given=RECORDED).stdout)["valid"]
    assert run("verify", "-", given=b"").exit_code == 1


def test_what_stands_in_a_file_does_nothing_to_the_terminal() -> None:
    header = RECORDED.splitlines()[0].replace(GAME.name.encode(), b"x\\u001b[2Jy\\u000az\\u202e", 1)
    done = run("verify", "-", given=header)
    assert done.exit_code == 1
    assert done.stderr == "refused: line 1: unknown game x [2Jy z \n"


def test_verify_says_that_a_game_is_not_over() -> None:
    half = b"\n".join(RECORDED.splitlines()[:20])
    facts = json.loads(run("verify", "--json", "-", given=half).stdout)
    assert (facts["result"], facts["winners"], facts["moves"]) == ("unfinished", [], 19)
    assert facts["score"] < 250


def broken(line: int, **change: Any) -> bytes:
    lines = RECORDED.splitlines()
    lines[line - 1] = json.dumps(json.loads(lines[line - 1]) | change).encode()
    return b"\n".join(lines)


BROKEN: dict[str, tuple[bytes, int, str]] = {
    "nothing": (b"", 1, "empty"),
    "no record": (b"not a record\n", 1, "malformed"),
    "a rule broken": (broken(5, action=["recycle"]), 5, "stock_not_empty"),
    "a move twice": (broken(8, v=6), 8, "version 6"),
    "another deal": (broken(1, deal=[1] * 52), 1, "no deal"),
    "a blank line": (RECORDED.replace(b"\n", b"\n \n", 1), 2, "a blank line"),
}


@pytest.mark.parametrize(("given", "line", "reason"), BROKEN.values(), ids=BROKEN)
def test_verify_refuses_a_record_that_does_not_hold(given: bytes, line: int, reason: str) -> None:
    done = run("verify", "-", given=given)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert f"line {line}: " in done.stderr
    assert reason in done.stderr
    as_json = run("verify", "--json", "-", given=given)
    assert as_json.exit_code == 1
    facts = json.loads(as_json.stdout)
    assert (facts["valid"], facts["line"]) == (False, line)
    assert reason in facts["reason"]


def test_verify_of_no_file_is_refused(tmp_path: Path) -> None:
    assert run("verify", str(tmp_path / "none")).exit_code == 2


# -- serve


def refused(data_dir: Path, *arguments: str, **settings: str) -> str:
    """What `serve` says when it cannot start: on one line, and no traceback."""
    arguments = ("serve", "--data-dir", str(data_dir), *arguments)
    named = {f"HEARTROOM_{name.upper()}": value for name, value in settings.items()}
    done = CliRunner().invoke(main, arguments, env=named)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert done.stderr.startswith("Error: "), done.stderr
    assert len(done.stderr.splitlines()) == 1
    return done.stderr


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"prot": "1"}, "HEARTROOM_PROT"),
        ({"port": "99999"}, "HEARTROOM_PORT"),
        ({"redis_url": "redis://127.0.0.1:1"}, "HEARTROOM_SECRET"),
        ({"redis_url": "http://127.0.0.1:1", "secret": SECRET}, "HEARTROOM_REDIS_URL"),
        ({"redis_wait": "1"}, "HEARTROOM_REDIS_WAIT"),
        ({"host": "no.such.host.invalid"}, "no.such.host.invalid"),
        ({"host": "192.0.2.1"}, "192.0.2.1"),
    ],
)
def test_serve_refuses_a_bad_setting_by_its_name(
    tmp_path: Path, settings: dict[str, str], named: str
) -> None:
    assert named in refused(tmp_path, **settings)


def test_serve_does_not_take_another_port_than_the_one_asked_for(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert port in refused(tmp_path, "--port", port)
        assert port in refused(tmp_path, port=port)


def test_serve_refuses_a_data_directory_that_is_in_use_and_one_that_is_none(tmp_path: Path) -> None:
    server = Server(data_dir=str(tmp_path / "a"))
    said = refused(tmp_path / "a", "--port", "0")
    assert "in use" in said
    assert str(server.process.pid) in said
    assert server.get("/readyz").status == 200
    server.terminate()
    server.stop()
    (tmp_path / "file").write_text("")
    for settings in ({}, {"secret": SECRET}):
        assert str(tmp_path / "file") in refused(tmp_path / "file", "--port", "0", **settings)
