"""A file system that is read-only, but for some folders, as far as Python can tell: loaded by a process."""

import os
import sys
from typing import Any

_WRITES = {"os.mkdir": 2, "os.remove": 1, "os.rmdir": 1, "os.rename": 2, "os.symlink": 2, "os.truncate": -1}
"""By event: which of its arguments is the folder that a relative path begins at, if any."""
_MAY = (*os.environ["READONLY_MAY"].split(":"), "/dev/", "/proc/")
_TRIED = os.environ["READONLY_TRIED"]


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    folder: int
    if event == "open":
        path, _, flags = arguments
        folder = -1
        if not isinstance(flags, int) or not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            return
    elif event in _WRITES:
        path, place = arguments[0], _WRITES[event]
        folder = arguments[place] if place >= 0 else -1
    else:
        return
    if not isinstance(path, str | bytes):
        return
    start = os.readlink(f"/proc/self/fd/{folder}") if folder >= 0 else os.getcwd()
    whole = os.path.normpath(os.path.join(start, os.fsdecode(path)))
    if whole == _TRIED or whole.startswith(_MAY):
        return
    with open(_TRIED, "a") as tried:
        tried.write(f"{event} {whole}\n")
    raise OSError(30, "Read-only file system", whole)


sys.addaudithook(_refuse)
