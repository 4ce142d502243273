"""Makes the deal of a day, in a process of its own: the proof of its par takes seconds.

`python -m heartroom.daily.maker GAME` writes `[deal, par, line]` in msgpack to its standard output. The
chance it is made from is this process's alone and ends with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import sys

import msgspec

from heartroom.games.game import DailyGame, Puzzle, games

_NICENESS = 10


class MakerFailed(Exception):
    """The process ended without a deal."""


async def make(game: DailyGame) -> Puzzle:
    """A fresh deal. Raises `MakerFailed` and `OSError`."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "heartroom.daily.maker",
        game.name,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C in the terminal is for the server
    )
    try:
        raw, _ = await process.communicate()
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    try:
        return msgspec.msgpack.decode(raw, type=Puzzle)
    except msgspec.MsgspecError:
        raise MakerFailed(f"the maker of deals ended with {process.returncode}") from None


def _main() -> None:
    game = games()[sys.argv[1]]
    assert isinstance(game, DailyGame)
    while (puzzle := game.daily_deal(secrets.token_bytes(32))) is None:
        pass
    sys.stdout.buffer.write(msgspec.msgpack.encode(puzzle))


if __name__ == "__main__":
    os.nice(_NICENESS)
    try:
        _main()
        sys.stdout.flush()
    except BrokenPipeError:  # whoever asked was killed
        os._exit(0)
