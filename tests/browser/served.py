"""A real `heartroom serve` in a process of its own, to be opened in a browser, killed, started again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.support.stores import eventually

GENEROUS: Final = {
    # A test's fingers are faster than a person's; how the server slows down the too fast is tested elsewhere.
    "HEARTROOM_FRAMES_PER_SECOND": "1000",
    "HEARTROOM_FRAMES_BURST": "1000",
}
_STOP_S: Final = 30.0


class Server:
    """One server with a data directory of its own, which `remove` takes away with it."""

    def __init__(self, **settings: str) -> None:
        """`settings`: what else the host sets, by the names of the environment."""
        self._settings: Final = settings
        self._folder = Path(tempfile.mkdtemp(prefix="hr-"))
        self._process: subprocess.Popen[str] | None = None
        self.url = ""
        """`http://host:port`; stays the same over a restart."""

    def start(self) -> None:
        """Returns when the address is printed, from when on it can be opened: the first time on a free port,
        later on the same again. Raises `AssertionError` with what the server said."""
        assert self._process is None
        port = self.url.rsplit(":", 1)[1] if self.url else "0"
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("HEARTROOM_")}
        with open(self._folder / "stderr", "a") as stderr:
            self._process = subprocess.Popen(
                [
                    Path(sys.executable).with_name("heartroom"),
                    *("serve", "--host", "127.0.0.1", "--port", port, "--data-dir", self._folder / "data"),
                ],
                env=inherited | GENEROUS | self._settings,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        assert "http://" in line, (self._folder / "stderr").read_text() or "the server said nothing"
        self.url = line[line.index("http://") :]

    def kill(self) -> None:
        """Ends the server with no chance to tidy up."""
        assert self._process is not None
        self._process.kill()
        self._reap()

    def admin(self, *command: str) -> None:
        """Does what the host may do while the server runs. Raises `CalledProcessError`."""
        subprocess.run(
            [Path(sys.executable).with_name("heartroom"), "admin", *command],
            env=os.environ | {"HEARTROOM_DATA_DIR": str(self._folder / "data")},
            stdout=subprocess.DEVNULL,
            check=True,
        )

    def remove(self) -> None:
        """Ends the server as its host would, and removes all that it kept."""
        if self._process is not None:
            self._process.terminate()
            self._reap()
        # what keeps the embedded store tidies up too, a moment later
        eventually(self._removed, "the folder is gone")

    def _removed(self) -> bool:
        shutil.rmtree(self._folder, ignore_errors=True)
        return not self._folder.exists()

    def _reap(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.wait(_STOP_S)
        self._process.stdout.close()
        self._process = None
