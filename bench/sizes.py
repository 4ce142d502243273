"""What a session weighs: `make bench-sizes`. Bytes in the store, in its file, between nodes, and to viewers.

Two nodes over one store; a player who draws and recycles on the first, a spectator on each. `bench.model`
takes what is measured here as given.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import uvloop
from websockets.frames import Opcode

from bench.load import Fault, Tally, settled
from bench.paced import Book, Player, Spectator
from bench.places import Kept, nodes, single
from bench.served import Failed, Served
from bench.wire import Closed
from heartroom.client import SNAPSHOT, TABLE
from heartroom.store import keys

_PATIENCE_S = 60.0


class Writer(Player):
    """Counts the bytes that it sends, framing included."""

    sent = 0

    def write(self, opcode: Opcode, payload: bytes) -> None:
        """Sends one frame, whose head and mask take six bytes."""
        self.sent += 6 + len(payload)
        super().write(opcode, payload)


class Traffic(NamedTuple):
    """What the store's connections had carried at one moment, and its file had grown to."""

    come: dict[str, int]
    """By connection, what the store was sent, and what it sent."""
    gone: dict[str, int]
    ears: frozenset[str]
    """Connections that listen."""
    file: int


def traffic(kept: Kept) -> Traffic:
    """As it is now."""
    (server,) = kept.servers
    listed: bytes = server.ask("CLIENT", "LIST")
    clients = [dict(word.split("=", 1) for word in line.split()) for line in listed.decode().splitlines()]
    info: Any = server.ask("INFO", "persistence")
    return Traffic(
        {one["id"]: int(one["tot-net-in"]) for one in clients},
        {one["id"]: int(one["tot-net-out"]) for one in clients},
        frozenset(one["id"] for one in clients if int(one["sub"])),
        int(info["aof_current_size"]),
    )


def _seen(player: Player, viewers: list[Spectator], version: int) -> bool:
    return not player.under_way and all(viewer.version == version for viewer in (player, *viewers))


async def played(kept: Kept, served: list[Served], counts: list[int]) -> None:
    """Plays one session and prints what it weighs when it has so many actions. Raises `Fault`, `Closed`."""
    here, there = served
    tally, book = Tally(), Book()
    player = await Writer.connect("127.0.0.1", here.port, tally, book)
    await player.welcome
    sid = await player.begin()
    join = player.sizes[SNAPSHOT] + player.sizes[TABLE]
    viewers = []
    for node in (here, there):
        viewer = await Spectator.connect("127.0.0.1", node.port, tally, book, player.dues)
        await viewer.welcome
        await viewer.join(sid)
        viewers.append(viewer)
    print(f"{'actions':>8}{'session, bytes of memory':>26}{'its log':>9}{'by action':>11}")
    before, sent = await asyncio.to_thread(traffic, kept), player.sent
    done = 0
    for count in counts:
        for _ in range(count - done):
            player.take(time.monotonic())
        await settled(partial(_seen, player, viewers, count), tally)
        done = count
        (server,) = kept.servers
        session, log = [
            await asyncio.to_thread(server.ask, "MEMORY", "USAGE", name, "SAMPLES", "0")
            for name in (keys.session(sid), keys.log(sid))
        ]
        print(f"{done:>8}{session:>26}{log:>9}{log / done:>11.1f}", flush=True)
    after = await asyncio.to_thread(traffic, kept)
    both = before.come.keys() & after.come.keys()
    come = sum(after.come[one] - before.come[one] for one in both)
    between = sum(after.gone[one] - before.gone[one] for one in both & after.ears)
    gone = sum(after.gone[one] - before.gone[one] for one in both) - between
    print(
        "\nbytes an action, one at a time, with what two nodes say of themselves meanwhile\n"
        f"  node to store                         {come / done:8.1f}\n"
        f"  store to node                         {gone / done:8.1f}\n"
        f"  store to each other node that has it  {between / done:8.1f}\n"
        f"  append-only file                      {(after.file - before.file) / done:8.1f}\n"
        f"  player to node                        {(player.sent - sent) / done:8.1f}\n"
        f"  node to each viewer, a diff           {tally.diff_bytes / tally.diffs:8.1f}\n"
        f"  node to each viewer, who joins        {join:8d}"
    )
    player.abort()
    for viewer in viewers:
        viewer.abort()


@click.command(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.option("--actions", default="10,100,400", help="When memory is looked at, comma-separated.")
@click.option(
    "--dir",
    "parent",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where the store's files are made, and removed.  [default: the system's temporary directory]",
)
def main(actions: str, parent: Path | None) -> None:
    """What a session of Heart to Heart weighs, in the store, in its file, and on the wires."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    async def bounded(kept: Kept, served: list[Served]) -> None:
        async with asyncio.timeout(_PATIENCE_S):
            await played(kept, served, [int(part) for part in actions.split(",")])

    try:
        with single(parent) as kept, nodes(kept.url, 2, {}) as served:
            uvloop.run(bounded(kept, served))
    except (Failed, Fault, Closed, TimeoutError) as error:
        raise click.ClickException(f"{type(error).__name__}: {error}") from None


if __name__ == "__main__":
    main()
