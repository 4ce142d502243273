"""Starting each of the servers that are compared, and the programs of the peers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.served import Served, serving, serving_other

NAMES: Final = ("heartroom", "colyseus", "boardgame")

HERE: Final = Path(__file__).parent
NODE: Final = HERE / "node_modules/node/bin/node"
"""The version that the peers want, which need not be the one that builds our client."""
PRODUCTION: Final = {"NODE_ENV": "production"}


@contextlib.contextmanager
def started(name: str, parent: Path | None) -> Iterator[Served]:
    """The server of that name on a free port of the loopback. `parent`: see `served.serving`.

    Raises `served.Failed`.
    """
    with serving({}, parent) if name == "heartroom" else peer(name) as served:
        yield served


def peer(name: str) -> contextlib.AbstractContextManager[Served]:
    """One of the others. Raises `served.Failed`."""
    return serving_other((NODE, HERE / f"{name}.js"), PRODUCTION)
