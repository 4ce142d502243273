"""Stores for several nodes, and the nodes; ended and removed whatever happens.

All are the Valkey of the wheel, on TCP ports of the loopback as stores of several machines are, and sync
every write to the disk before they answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from bench.served import Served, serving_node
from heartroom.daily import dates
from heartroom.store.days import Days
from heartroom.store.store import Store
from tests.support.clusters import Server, cluster, free_ports, servers
from tests.support.days import known_deal
from tests.support.stores import BINARIES

VALKEY = BINARIES["valkey"]


class Kept(NamedTuple):
    """A running store."""

    url: str
    servers: list[Server]


@contextlib.contextmanager
def single(parent: Path | None) -> Iterator[Kept]:
    """One server."""
    with servers(parent or tempfile.gettempdir()) as (folder, started):
        (port,) = free_ports(1)
        server = Server(VALKEY, port, folder / "0", appendonly="yes", appendfsync="always")
        started.append(server)
        server.start()
        kept = Kept(f"redis://127.0.0.1:{port}", [server])
        deal_days(kept.url)
        yield kept


@contextlib.contextmanager
def three_shards(parent: Path | None) -> Iterator[Kept]:
    """A cluster of three shards."""
    with cluster(VALKEY, appendfsync="always", parent=parent or tempfile.gettempdir()) as shards:
        kept = Kept(shards.url, shards.nodes)
        deal_days(kept.url)
        yield kept


STORES = {"single": single, "cluster": three_shards}


def deal_days(url: str) -> None:
    """The deals of the days are known, so that nodes that start need not seek any, which takes a core."""

    async def deal() -> None:
        store = Store(url)
        today = dates.of(await store.time_ms())
        for after in range(3):
            await Days(store).put(known_deal(dates.after(today, after)))
        await store.aclose()

    asyncio.run(deal())


@contextlib.contextmanager
def nodes(url: str, count: int, environ: Mapping[str, str]) -> Iterator[list[Served]]:
    """So many nodes over the store at `url`. Raises `served.Failed`."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(serving_node(url, environ)) for _ in range(count)]
