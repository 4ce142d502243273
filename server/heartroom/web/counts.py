"""The folder in which the processes of one server keep what they count, so that any of them can show it all.

Each process that uses a folder holds a (shared) lock of it, which ends with the process however that ends. So
a folder that nobody holds is one that was left behind by processes that were killed, and may be removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final, Self

_NAME: Final = "heartroom-counts-"
"""How the names of these folders begin. Earlier versions had others, which nobody held."""


class Counts:
    """A folder that this process holds."""

    def __init__(self, folder: Path, held: int) -> None:
        self.folder: Final = folder
        self.held: Final = held
        """The descriptor of the lock. A child that inherits it holds the folder, too."""

    @classmethod
    def make(cls) -> Self:
        """A new folder."""
        made = Path(tempfile.mkdtemp(prefix="heartroom-new-"))
        held = _open(made)
        fcntl.flock(held, fcntl.LOCK_SH)
        # Only now it has a name that `remove_left` looks for.
        return cls(made.rename(made.with_name(made.name.replace("heartroom-new-", _NAME))), held)

    @classmethod
    def join(cls, folder: Path, inherited: int) -> Self:
        """A folder of the parent's, which this process holds by the descriptor that it inherited, and from
        now on by one of its own."""
        held = _open(folder)
        fcntl.flock(held, fcntl.LOCK_SH)
        os.close(inherited)
        return cls(folder, held)

    def leave(self) -> None:
        """Holds the folder no more; whoever is the last to leave removes it."""
        _remove_if_left(self.folder, self.held)


def remove_left() -> None:
    """Removes the folders of this user that nobody holds."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_NAME}*"):
        with contextlib.suppress(OSError):
            held = _open(folder)
            if os.fstat(held).st_uid == os.getuid():
                _remove_if_left(folder, held)
            else:
                os.close(held)


def _open(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def _remove_if_left(folder: Path, held: int) -> None:
    try:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(held)
