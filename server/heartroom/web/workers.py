"""Several server processes behind one socket, on one machine: the parent, which serves nobody itself.

Each worker is a node like any other: it shares the listening socket with its siblings and the store with the
whole house. One that dies is started anew; all end when the parent does, however that ends, because each has
the read end of a pipe of which the parent holds the other.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from types import FrameType
from typing import Final

import structlog
from prometheus_client.multiprocess import mark_process_dead

from heartroom import metrics
from heartroom.web.counts import Counts

_log = structlog.get_logger(__name__)

_LOOK_S: Final = 0.5
"""How often the parent looks whether all workers live."""
_AGAIN_S: Final = 1.0
"""A worker that did not live longer than this is not started anew before it has passed."""
_END_S: Final = 9.5
"""How long workers get to end in good order: they need at most some nine seconds, if they are not stopped."""


class Workers:
    """`count` processes that serve on `listening`. `environ` is what they get to know."""

    def __init__(self, count: int, listening: socket.socket, environ: Mapping[str, str]) -> None:
        self._count: Final = count
        self._listening: Final = listening
        self._counts: Final = Counts.make()
        self._environ: Final = {**environ, metrics.DIRECTORY: str(self._counts.folder)}
        self._running: dict[subprocess.Popen[bytes], float] = {}
        self._signalled_r, self._signalled_w = os.pipe()

    def run(self) -> None:
        """Keeps all workers running until SIGTERM or SIGINT; returns when the last one has ended."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._signalled)
        try:
            for _ in range(self._count):
                self._start()
            while not select.select([self._signalled_r], [], [], _LOOK_S)[0]:
                self._replace_dead()
        finally:
            self._end()
            self._counts.leave()

    def _signalled(self, _number: int, _frame: FrameType | None) -> None:
        os.write(self._signalled_w, b"x")

    def _start(self) -> None:
        inherited = (self._listening.fileno(), self._counts.held)
        worker = subprocess.Popen(
            [sys.executable, "-m", "heartroom.cli", "work", *map(str, inherited)],
            stdin=subprocess.PIPE,
            pass_fds=inherited,
            env=self._environ,
            start_new_session=True,  # Ctrl-C is for the parent
        )
        self._running[worker] = time.monotonic()

    def _replace_dead(self) -> None:
        now = time.monotonic()
        for worker, since in list(self._running.items()):
            if worker.poll() is not None and now - since >= _AGAIN_S:
                _log.error("worker died", process=worker.pid, code=worker.returncode)
                mark_process_dead(worker.pid, str(self._counts.folder))  # type: ignore[no-untyped-call]
                del self._running[worker]
                self._start()

    def _end(self) -> None:
        for worker in self._running:
            assert worker.stdin is not None
            worker.stdin.close()
        deadline = time.monotonic() + _END_S
        for worker in self._running:
            try:
                worker.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
        self._running.clear()


def end_with_parent() -> None:
    """In a worker: ends it in good order (as by SIGTERM) when the parent is gone."""

    def wait() -> None:
        while os.read(0, 1024):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="parent", daemon=True).start()
