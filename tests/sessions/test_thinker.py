"""The processes in which bots think."""

from __future__ import annotations

import os
import subprocess
import sys

import msgspec

from heartroom.games.game import games
from heartroom.games.hearts.view import view
from tests.support.stores import PATIENCE_S


def test_a_thinker_whose_server_was_killed_ends_quietly() -> None:
    """It found nobody to tell what it had thought, and wrote a traceback to the dead server's log."""
    game = games()["hearts"]
    state = game.initial(game.deal({"target": 1, "omnibus": False}, bytes(32)))
    request = msgspec.msgpack.encode(["hearts", "easy", view(state, 0), 0, "seed"])
    reading, writing = os.pipe()
    thinker = subprocess.Popen(
        [sys.executable, "-m", "heartroom.sessions.thinker"],
        stdin=subprocess.PIPE,
        stdout=writing,
        stderr=subprocess.PIPE,
    )
    os.close(writing)
    os.close(reading)
    _, said = thinker.communicate(len(request).to_bytes(4) + request, timeout=PATIENCE_S)
    assert said == b""
    assert thinker.returncode == 0
