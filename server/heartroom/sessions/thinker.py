"""Where bots think: processes of their own, so that no table waits while another's bot ponders.

As a module it is the pool on the server's side (`Thinkers`); run (`python -m heartroom.sessions.thinker`) it
is one such process. It reads requests from its standard input and ends when that ends, so it never outlives
its server. A message is its length (4 bytes, big end first) and msgpack: `[game, level, view, seat, seed]`
one way, the action the other.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from typing import IO, Any, Final

import msgspec
import structlog

from heartroom.games.game import Action, Game, View, games

_log = structlog.get_logger(__name__)

_NICENESS: Final = 5


class Thinkers:
    """A pool of thinking processes, started when first needed."""

    LONGEST_QUEUE: Final = 8
    """Requests per process beyond which bots of the weakest level answer on the spot: better a quick move
    than a table that stands still."""

    def __init__(self, processes: int = 1) -> None:
        self._free: asyncio.Queue[_Thinker] = asyncio.Queue()
        self._idle: Final = [_Thinker() for _ in range(processes)]
        for thinker in self._idle:
            self._free.put_nowait(thinker)
        self._waiting = 0

    async def choose(self, game: Game, level: str, view: View, seat: int, seed: str) -> Action:
        """What a bot does; see `Game.choose`. Always answers, if need be with the weakest level's choice."""
        if self._waiting >= self.LONGEST_QUEUE * len(self._idle):
            return game.choose(game.levels[0], view, seat, seed)
        self._waiting += 1
        try:
            thinker = await self._free.get()
            try:
                raw = await thinker.ask([game.name, level, view, seat, seed])
            finally:
                self._free.put_nowait(thinker)
            return game.parse_action(raw)
        except (OSError, EOFError) as error:
            _log.warning("a bot's process died", error=str(error))
            return game.choose(game.levels[0], view, seat, seed)
        finally:
            self._waiting -= 1

    async def aclose(self) -> None:
        """Ends the processes."""
        for thinker in self._idle:
            await thinker.end()


class _Thinker:
    """One process, started anew if it has died."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None

    async def ask(self, request: list[Any]) -> Any:
        """Raises `OSError` or `EOFError` if the process dies over it."""
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "heartroom.sessions.thinker",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                start_new_session=True,  # Ctrl-C in the terminal is for the server
            )
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(_frame(request))
            await stdin.drain()
            length = int.from_bytes(await stdout.readexactly(4))
            return msgspec.msgpack.decode(await stdout.readexactly(length))
        except BaseException:
            # Also when cancelled: an answer that nobody took would be the answer to the next request.
            await self.end()
            raise

    async def end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _frame(message: Any) -> bytes:
    raw = msgspec.msgpack.encode(message)
    return len(raw).to_bytes(4) + raw


def _answer(requests: IO[bytes], answers: IO[bytes]) -> None:
    while header := requests.read(4):
        name, level, view, seat, seed = msgspec.msgpack.decode(
            requests.read(int.from_bytes(header)), type=tuple[str, str, tuple[Any, ...], int, str]
        )
        answers.write(_frame(games()[name].choose(level, view, seat, seed)))
        answers.flush()


if __name__ == "__main__":
    os.nice(_NICENESS)
    try:
        _answer(sys.stdin.buffer, sys.stdout.buffer)
    except BrokenPipeError:  # whoever asked was killed
        os._exit(0)
