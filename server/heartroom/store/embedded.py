"""The embedded store: a Valkey server of our own in a data directory, for a host that has no Redis.

The server process is not our child but a keeper's (`keeper.py`), which holds a pipe to us: when we end,
however we end, the pipe breaks and the keeper ends the Valkey server in good order. So nothing is left
behind by `kill -9`, and the next start finds the directory free. A keeper that dies is replaced, and its
successor ends and starts anew whatever server it finds.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO, Final
from urllib.parse import quote

import structlog

from heartroom.store.orphan import end_orphan

_log = structlog.get_logger(__name__)

_LONGEST_SOCKET_PATH = 100
"""Unix socket addresses hold some 104 bytes (macOS) or 108 (Linux)."""

_AGAIN_S: Final = (0.1, 5.0)
"""First and longest pause before another keeper is started."""


class StoreInUse(Exception):
    """The data directory belongs to a heartroom that is running."""


class StoreFailed(Exception):
    """The embedded server did not start; the message says why."""


class Embedded:
    """One embedded Valkey, kept with its append-only file in `data_dir`."""

    def __init__(self, data_dir: Path, fsync: str = "always") -> None:
        self.data_dir = data_dir.resolve()
        self.fsync = fsync
        """`always`: a move is on the disk before it is acknowledged. `everysec`: in the hands of the
        operating system, which a power cut takes up to a second from."""
        self._lock: IO[str] | None = None
        self._keeper: subprocess.Popen[str] | None = None
        self._changing: Final = threading.Lock()
        """Held by who starts a keeper, or says that there will be no more."""
        self._ending: Final = threading.Event()
        self._watching: threading.Thread | None = None

    @property
    def socket(self) -> Path:
        """The Unix socket the server listens on; in the data directory unless that name is too long."""
        path = self.data_dir / "valkey.sock"
        if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
            return path
        digest = hashlib.sha256(os.fsencode(self.data_dir)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"heartroom-{os.getuid()}-{digest}" / "valkey.sock"

    @property
    def url(self) -> str:
        """Where the store is found, for `Store`."""
        return f"unix://{quote(str(self.socket))}"

    def start(self) -> None:
        """Starts the server and returns when it answers.

        Raises `StoreInUse` if another heartroom has the directory, `StoreFailed` if it cannot start.
        """
        try:
            self.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._own_socket_folder()
            self._take_lock()
        except OSError as error:
            raise StoreFailed(str(error)) from None
        self._ending.clear()
        keeper = self._keeper = self._another()
        answer = _answer_of(keeper)
        if answer != "ready":
            self.stop()
            raise StoreFailed(answer or f"see {self.data_dir / 'valkey.log'}")
        self._watching = threading.Thread(target=self._watch, args=[keeper], name="keeper", daemon=True)
        self._watching.start()

    def stop(self) -> None:
        """Ends the server in good order and gives the directory free. May be called twice."""
        with self._changing:
            self._ending.set()
            keeper, self._keeper = self._keeper, None
        if keeper is not None:
            assert keeper.stdin is not None
            keeper.stdin.close()
            left = keeper.wait()
            if self._watching is not None:
                self._watching.join()
                self._watching = None
            assert keeper.stdout is not None
            keeper.stdout.close()
            if left:  # it did not end its server
                end_orphan(self.socket)
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _another(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [
                sys.executable,
                "-m",
                "heartroom.store.keeper",
                str(self.data_dir),
                str(self.socket),
                self.fsync,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # Ctrl-C in the terminal is for us; the store goes when we have finished with it.
            start_new_session=True,
        )

    def _watch(self, keeper: subprocess.Popen[str]) -> None:
        """In a thread of its own: starts another keeper whenever one is gone that was not told to go."""
        pause = _AGAIN_S[0]
        while True:
            code = keeper.wait()
            if self._ending.is_set():
                return
            _log.error("keeper died", process=keeper.pid, code=code)
            if self._ending.wait(pause):
                return
            pause = min(2 * pause, _AGAIN_S[1])
            with self._changing:
                if self._ending.is_set():
                    return
                for pipe in (keeper.stdin, keeper.stdout):
                    assert pipe is not None
                    pipe.close()
                keeper = self._keeper = self._another()
            if _answer_of(keeper) == "ready":
                pause = _AGAIN_S[0]

    def _own_socket_folder(self) -> None:
        folder = self.socket.parent
        if folder == self.data_dir:
            return
        folder.mkdir(exist_ok=True, mode=0o700)
        # Where everybody may make folders, somebody else may have made this one and listen there.
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise StoreFailed(f"{folder} must be a folder that is ours alone")

    def _take_lock(self) -> None:
        descriptor = os.open(self.data_dir / "server.lock", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        lock = open(descriptor, "a+")  # noqa: SIM115 (held until stop)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            lock.close()
            raise StoreInUse(f"{self.data_dir} is in use by another heartroom (process {holder})") from None
        os.fchmod(descriptor, 0o600)  # an earlier version's may be open to all
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        self._lock = lock


def _answer_of(keeper: subprocess.Popen[str]) -> str:
    """What a keeper says when it has started its server, or could not."""
    assert keeper.stdout is not None
    return keeper.stdout.readline().strip()
