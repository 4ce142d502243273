"""The closed lists, against what docs/protocol.md promises."""

from __future__ import annotations

import re
from pathlib import Path

from heartroom.protocol.codes import Close, Code

PROTOCOL = (Path(__file__).parents[2] / "docs/protocol.md").read_text()


def test_every_code_is_documented_and_every_documented_code_is_one() -> None:
    table = PROTOCOL.split("## Codes", 1)[1].split("Close codes", 1)[0]
    documented = set(re.findall(r"^\| `([a-z_]+)` \|", table, re.MULTILINE))
    assert documented == set(Code) - {Code.NOT_OVER}
    assert f"`{Code.NOT_OVER}`" in PROTOCOL.split("## HTTP", 1)[1]


def test_every_close_code_is_documented_and_says_whether_to_retry() -> None:
    text = PROTOCOL.split("Close codes:", 1)[1].split("\n\n", 1)[0]
    retry, give_up = text.split("1009", 1)
    for code in Close:
        assert str(int(code)) in text
        assert (str(int(code)) in retry) == code.retry
    assert give_up
