"""A real server in a process of its own, with its embedded store, in a directory that goes with it."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

_START_S = 30.0
_STOP_S = 30.0

LIMITS = {
    # The load is a few players who act like thousands.
    "HEARTROOM_CONNECTIONS_PER_ADDRESS": "1000000",
    "HEARTROOM_CONNECTIONS_PER_SECOND": "2000",
    "HEARTROOM_SESSIONS_PER_HOUR": "1000000",
    "HEARTROOM_FRAMES_PER_SECOND": "1000000",
    "HEARTROOM_FRAMES_BURST": "1000000",
    "HEARTROOM_LOG_LENGTH": "1000000",
}


class Served(NamedTuple):
    """A running server."""

    port: int
    server: int
    """Process id of the server."""
    store: int
    """Process id of its Valkey."""
    keeper: int
    """Process id of what stands between the two; idle."""


class Failed(Exception):
    """The server did not start; the message has what it said."""


@contextlib.contextmanager
def serving(environ: Mapping[str, str], parent: Path | None = None) -> Iterator[Served]:
    """A server on a free port of the loopback, with `environ` set besides. `parent`: where its data
    directory is made (default: the system's place for temporary files); it is removed afterwards.

    Raises `Failed`.
    """
    with folder(parent) as made, serving_from(made, environ) as served:
        yield served


@contextlib.contextmanager
def serving_from(made: Path, environ: Mapping[str, str]) -> Iterator[Served]:
    """A server as `serving` has it, whose data directory is in the folder `made`. Raises `Failed`."""
    command = (
        *(Path(sys.executable).with_name("heartroom"), "serve"),
        *("--host", "127.0.0.1", "--port", "0", "--data-dir", made / "data"),
    )
    with _process(command, made, environ) as process:
        yield _started(process, made)


@contextlib.contextmanager
def serving_node(url: str, environ: Mapping[str, str]) -> Iterator[Served]:
    """A node of several, over the store at `url`. Raises `Failed`."""
    command = (Path(sys.executable).with_name("heartroom"), "serve", "--host", "127.0.0.1", "--port", "0")
    ours = {"HEARTROOM_REDIS_URL": url, "HEARTROOM_SECRET": secrets.token_hex(16)}
    with folder() as made, _process(command, made, {**ours, **environ}) as process:
        port = _port(process, made)
        _wait_ready(process, port, made)
        yield Served(port, process.pid, 0, 0)


@contextlib.contextmanager
def echoing() -> Iterator[Served]:
    """The server of `bench.echo`. Raises `Failed`."""
    with serving_other((sys.executable, "-m", "bench.echo"), {}) as served:
        yield served


@contextlib.contextmanager
def floor(parent: Path | None = None) -> Iterator[Served]:
    """The server of `bench.floor`. `parent`: as for `serving`. Raises `Failed`."""
    with folder(parent) as made:
        command = (sys.executable, "-m", "bench.floor", made / "data")
        with _process(command, made, {}) as process:
            yield _with_store(process, _port(process, made))


@contextlib.contextmanager
def serving_other(command: Sequence[str | Path], environ: Mapping[str, str]) -> Iterator[Served]:
    """A server that has no store and prints its address. Raises `Failed`."""
    with folder() as made, _process(command, made, environ) as process:
        yield Served(_port(process, made), process.pid, 0, 0)


@contextlib.contextmanager
def folder(parent: Path | None = None) -> Iterator[Path]:
    """A new folder, removed afterwards."""
    made = Path(tempfile.mkdtemp(prefix="heartroom-bench-", dir=parent))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextlib.contextmanager
def _process(
    command: Sequence[str | Path], made: Path, environ: Mapping[str, str]
) -> Iterator[subprocess.Popen[str]]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HEARTROOM_")}
    with open(made / "stderr", "w") as stderr:
        process = subprocess.Popen(
            command,
            env={**inherited, **LIMITS, **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
    try:
        yield process
    finally:
        _end(process)


def _port(process: subprocess.Popen[str], made: Path) -> int:
    assert process.stdout is not None
    for line in process.stdout:
        if "http://" in line:
            return int(line.rsplit(":", 1)[1])
    raise Failed((made / "stderr").read_text().strip() or "the server says no address")


def _started(process: subprocess.Popen[str], made: Path) -> Served:
    port = _port(process, made)
    _wait_ready(process, port, made)
    return _with_store(process, port)


def _with_store(process: subprocess.Popen[str], port: int) -> Served:
    below = psutil.Process(process.pid).children(recursive=True)
    store = next(child for child in below if "valkey" in child.name())
    # Others come and go: what makes the day's deal, what thinks for bots.
    keeper = store.parent()
    assert keeper is not None
    return Served(port, process.pid, store.pid, keeper.pid)


def _wait_ready(process: subprocess.Popen[str], port: int, made: Path) -> None:
    deadline = time.monotonic() + _START_S
    while not _ready(port):
        if process.poll() is not None or time.monotonic() > deadline:
            raise Failed((made / "stderr").read_text().strip() or "the server does not get ready")
        time.sleep(0.05)


def _ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5.0) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    assert process.stdout is not None
    process.stdout.close()
