"""Real servers: `heartroom serve` in a process of its own, as a host runs it."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from heartroom.client import Client
from tests.support.stores import PATIENCE_S

HEARTROOM = str(Path(sys.executable).with_name("heartroom"))
SECRET = "a secret of these tests"


class Answer(NamedTuple):
    """What came over HTTP."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def all(self, name: str) -> list[str]:
        """Every header of this name."""
        return [value for header, value in self.headers if header.lower() == name]

    def one(self, name: str) -> str:
        """The only header of this name."""
        (value,) = self.all(name)
        return value


def ask(address: str, path: str, method: str = "GET", headers: dict[str, str] | None = None) -> Answer:
    """Asks the server at `address` (`host:port`) over HTTP. `path` is sent as it is."""
    connection = http.client.HTTPConnection(address, timeout=PATIENCE_S)
    try:
        connection.request(method, path, headers=headers or {})
        response = connection.getresponse()
        return Answer(response.status, response.getheaders(), response.read())
    finally:
        connection.close()


def environment(**more: str) -> dict[str, str]:
    """This process's environment without settings of its own, and with `HEARTROOM_` + these."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HEARTROOM_")}
    return inherited | {f"HEARTROOM_{name.upper()}": value for name, value in more.items()}


class Server:
    """`heartroom serve` on a free port, or on one that is given, with settings from the environment."""

    def __init__(self, port: int = 0, **settings: str) -> None:
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed by stop)
        self.process = subprocess.Popen(
            [HEARTROOM, "serve", "--port", str(port)],
            env=environment(**settings),
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("heartroom is open at http://"), line + self.said()
        self.address = line.strip().removeprefix("heartroom is open at http://")
        """`host:port`."""
        self.port = int(self.address.rsplit(":", 1)[1])
        # what comes later is not to fill the pipe, and there is nothing
        self.url = f"ws://{self.address}"

    def said(self) -> str:
        """All that was written to standard error."""
        self.log.seek(0)
        return self.log.read()

    def complaints(self) -> str:
        """What of it is more than an event that was to be expected."""
        return "".join(line for line in self.said().splitlines(True) if '"level": "info"' not in line)

    def get(self, path: str, **headers: str) -> Answer:
        """Asks for `path`; names of headers are written with `_` for `-`."""
        return ask(self.address, path, headers={name.replace("_", "-"): v for name, v in headers.items()})

    async def connect(self, cookie: str | None = None, **options: Any) -> Client:
        """A client of this server."""
        return await Client.connect(self.url, cookie, open_timeout=PATIENCE_S, **options)

    def kill(self) -> None:
        """Ends it with no chance to tidy up."""
        self.process.kill()
        self._ended()

    def terminate(self) -> int:
        """Asks it to end; returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self._ended()

    def stop(self) -> None:
        """Ends it, in whatever state it is."""
        if self.process.poll() is None:
            self.kill()
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.log.close()

    def _ended(self) -> int:
        code = self.process.wait(PATIENCE_S)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code
