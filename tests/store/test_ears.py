"""Hearing over silence, and noticing that the other end is gone though nobody says so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from heartroom.store import keys
from heartroom.store.ears import ShardEars
from heartroom.store.store import Away, Changed, Commit, Missed, News, Said, Store
from tests.conftest import Connect
from tests.support.clusters import Server, cluster
from tests.support.games import begin
from tests.support.guests import until
from tests.support.stores import BINARIES, StoreProcess

pytestmark = pytest.mark.usefixtures("impatient")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Silence is looked into soon."""
    monkeypatch.setattr("heartroom.store.ears.PING_S", 0.2)


async def until_one(news: AsyncIterator[Said], wanted: Callable[[Said], bool]) -> Said:
    async with asyncio.timeout(30):
        async for said in news:
            if wanted(said):
                return said
    raise AssertionError("it is silent for ever")


async def test_who_hears_nothing_for_long_asks_and_goes_on_listening(
    own: StoreProcess, connect: Connect
) -> None:
    here, there = connect(own), connect(own)
    news = here.news()
    assert await anext(news) == Missed(None, True)
    hearing = asyncio.ensure_future(until_one(news, lambda said: said == Changed("x")))

    async def asked() -> bool:
        found = await there.redis.info("commandstats")
        return int(found.get("cmdstat_ping", {}).get("calls", 0)) >= 4

    await until(asked)
    await there.tell_changed("x")
    await hearing
    await news.aclose()  # type: ignore[attr-defined]


async def test_a_store_that_stands_still_is_noticed_though_nothing_was_to_be_heard(
    own: StoreProcess, connect: Connect
) -> None:
    news = connect(own).news()
    assert await anext(news) == Missed(None, True)
    own.freeze()
    with pytest.raises(Away):
        await until_one(news, lambda _: False)


def pings(node: Server) -> int:
    found = node.ask("INFO", "commandstats")
    return int(found.get("cmdstat_ping", {}).get("calls", 0))


async def test_in_a_cluster_each_shard_is_asked_and_one_that_stands_still_is_noticed(
    connect: Connect,
) -> None:
    with cluster(BINARIES["valkey"]) as own:
        here, there = connect(own, 5.0), connect(own)
        news = here.news()
        assert await anext(news) == Missed(None, True)
        sid = await begin(there)
        node = own.of(sid)
        await here.open(sid)
        await here.close(sid)  # the connection is there, and nothing is heard over it
        before = pings(node)

        async def asked() -> bool:
            return pings(node) >= before + 4

        await until(asked)
        opened = await here.open(sid)
        assert opened is not None
        node.freeze()
        ears = here._ears
        assert isinstance(ears, ShardEars)

        async def noticed() -> bool:
            return keys.channel(sid) in ears._lost

        await until(noticed)
        node.thaw()
        missed = await until_one(news, lambda said: isinstance(said, Missed))
        assert isinstance(missed, Missed)
        assert missed.sids is not None
        assert sid in missed.sids
        await there.open(sid)
        await commit(there, sid, opened.record.epoch)
        heard = await until_one(news, lambda said: isinstance(said, News))
        assert isinstance(heard, News)
        assert (heard.sid, heard.version, heard.entry.body) == (sid, 1, b"x")
        await news.aclose()  # type: ignore[attr-defined]


async def commit(store: Store, sid: str, epoch: int) -> None:
    await store.commit([Commit(sid, epoch, 0, b"x", 0)])
