"""Ends a server of the embedded store that nobody keeps any more.

Apart from `embedded.py`, since the keeper needs no more of it: the fewer modules it reads, the sooner the
store answers.
"""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import Final

_OLD_ONE_S: Final = 20.0
"""How long a server that a keeper left behind gets to write its file and go."""


def end_orphan(path: Path) -> None:
    """Ends a server that still listens on `path` though nobody keeps it."""
    deadline = time.monotonic() + _OLD_ONE_S
    while time.monotonic() < deadline:
        with socket.socket(socket.AF_UNIX) as old:
            try:
                old.connect(str(path))
                old.sendall(b"*1\r\n$8\r\nSHUTDOWN\r\n")
                old.settimeout(_OLD_ONE_S)
                while old.recv(1024):
                    pass
            except OSError:
                return
        time.sleep(0.05)
