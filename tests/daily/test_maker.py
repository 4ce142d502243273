"""The process that makes the deal of a day."""

from __future__ import annotations

import subprocess
import sys

from tests.support.games import GAME
from tests.support.stores import PATIENCE_S


def test_a_maker_whose_server_was_killed_ends_quietly() -> None:
    maker = subprocess.Popen(
        [sys.executable, "-m", "heartroom.daily.maker", GAME.name],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert maker.stdout is not None
    assert maker.stderr is not None
    maker.stdout.close()  # as when whoever reads it is no more
    assert maker.stderr.read() == b""
    maker.stderr.close()
    assert maker.wait(PATIENCE_S) == 0
