"""Whether a store is found out that answers and does not store, or does not answer."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio
from redis import Redis

from heartroom.store import keys
from heartroom.store.cluster import slot_of
from heartroom.store.probe import Probe, reason
from heartroom.store.store import Away, Misnamed, Store
from heartroom.store.urls import lacks_rights, locked_out
from tests.support.clusters import Cluster, Server, cluster, free_ports, servers, watched
from tests.support.guests import until
from tests.support.stores import BINARIES, PATIENCE_S, StoreProcess

Node = Callable[..., Store]


@pytest_asyncio.fixture
async def node() -> AsyncIterator[Node]:
    """Makes stores, each a node of its own, and closes them after the test."""
    async with contextlib.AsyncExitStack() as stack:

        def make(url: str, replicas: int = 0) -> Store:
            store = Store(url, timeout_s=PATIENCE_S, replicas=replicas)
            stack.push_async_callback(store.aclose)
            return store

        yield make


def tell(own: StoreProcess, *command: str) -> None:
    with Redis(unix_socket_path=own.socket) as redis:
        redis.execute_command(*command)


NOT_STORING = {
    "maxmemory": (("CONFIG", "SET", "maxmemory", "1"), ("CONFIG", "SET", "maxmemory", "0")),
    "read only": (("REPLICAOF", "127.0.0.1", "1"), ("REPLICAOF", "NO", "ONE")),
    "enough good replicas": (
        ("CONFIG", "SET", "min-replicas-to-write", "1"),
        ("CONFIG", "SET", "min-replicas-to-write", "0"),
    ),
}


@pytest.mark.parametrize("named", NOT_STORING)
async def test_a_store_that_answers_and_does_not_store_is_found_out(
    own: StoreProcess, node: Node, named: str
) -> None:
    store = node(own.url)
    assert await store.failures() == {}
    harm, heal = NOT_STORING[named]
    tell(own, *harm)
    failures = await store.failures()
    assert list(failures) == [None]
    assert named in reason(failures[None])
    tell(own, *heal)
    assert await store.failures() == {}


RIGHTS = {"channels": "resetchannels", "publish": "-publish", "subscribe": "-subscribe", "rpush": "-rpush"}
"""What a node cannot do without, and how it is taken from it."""


@pytest.mark.parametrize("lacked", RIGHTS)
async def test_who_may_not_store_or_tell_or_hear_does_not_store(
    own: StoreProcess, node: Node, lacked: str
) -> None:
    store = node(own.url)
    assert await store.failures() == {}
    tell(own, "ACL", "SETUSER", "default", RIGHTS[lacked])
    failure = (await store.failures())[None]
    assert locked_out(failure)
    tell(own, "ACL", "SETUSER", "default", "allchannels", "+@all")
    assert await store.failures() == {}


async def test_each_command_that_nodes_use_is_tried(own: StoreProcess, node: Node) -> None:
    store = node(own.url)
    assert await store.failures() == {}
    with Redis(unix_socket_path=own.socket) as redis:
        used = [name.removeprefix("cmdstat_") for name in redis.info("commandstats")]
    used = [
        name for name in used if not name.startswith(("info", "client", "config", "hello", "unsubscribe"))
    ]
    assert len(used) > 40
    for command in used:
        tell(own, "ACL", "SETUSER", "default", f"-{command}")
        failure = (await store.failures())[None]
        assert lacks_rights(failure), (command, str(failure))
        assert "+@all" in reason(failure)
        tell(own, "ACL", "SETUSER", "default", "+@all")
    assert await store.failures() == {}


async def test_each_kind_of_key_that_nodes_use_is_tried(own: StoreProcess, node: Node) -> None:
    store = node(own.url)
    kinds = [f"~{name.split('{')[0]}*" for name in (*keys.of_each_kind("x"), *keys.ALONE, "hr:probe:")]
    tell(own, "ACL", "SETUSER", "default", "resetkeys", *kinds)
    assert await store.failures() == {}
    for left_out in set(kinds):
        tell(own, "ACL", "SETUSER", "default", "resetkeys", *(kind for kind in kinds if kind != left_out))
        failures = await store.failures()
        assert lacks_rights(failures[None]), left_out
    tell(own, "ACL", "SETUSER", "default", "allkeys")
    assert await store.failures() == {}


@pytest.mark.parametrize("channels", ["&hr:n:*", "&hr:all"])
async def test_each_channel_that_nodes_use_is_tried(own: StoreProcess, node: Node, channels: str) -> None:
    store = node(own.url)
    tell(own, "ACL", "SETUSER", "default", "resetchannels", channels)
    assert lacks_rights((await store.failures())[None])
    tell(own, "ACL", "SETUSER", "default", "&hr:n:*", "&hr:all")
    assert await store.failures() == {}


async def test_what_others_say_to_everybody_is_no_failure(own: StoreProcess, node: Node) -> None:
    store, other = node(own.url), node(own.url)

    enough = False

    async def talk() -> None:
        while not enough:
            await other.tell_changed("x")

    talking = asyncio.ensure_future(talk())
    for _ in range(100):
        assert await store.failures() == {}
    enough = True
    await talking


async def test_the_rights_that_the_guide_gives_a_user_are_enough(own: StoreProcess, node: Node) -> None:
    rights = "on >password ~hr:* &hr:* +@all -@admin -@dangerous"  # see docs/security.md
    tell(own, "ACL", "SETUSER", "heartroom", *rights.split())
    assert await node(f"unix://heartroom:password@{quote(own.socket)}").failures() == {}


async def test_a_store_that_is_gone_is_found_out_and_found_again(own: StoreProcess, node: Node) -> None:
    store = node(own.url)
    assert await store.failures() == {}
    own.kill()
    assert list(await store.failures()) == [None]
    own.start()
    assert await store.failures() == {}


async def test_a_store_that_stands_still_is_not_waited_for_as_long_as_others_are(
    own: StoreProcess, node: Node
) -> None:
    known, new = node(own.url), node(own.url)
    assert await known.failures() == {}
    asked: list[asyncio.Future[Any]] = []
    own.freeze()
    for store in (known, known, new):
        asking = asyncio.ensure_future(store.player("somebody"))
        assert list(await store.failures()) == [None]
        assert not asking.done()
        asked.append(asking)
    own.thaw()
    for store in (known, new):
        await until(lambda store=store: _none(store))  # type: ignore[misc]
    await asyncio.gather(*asked)


async def test_what_is_written_does_not_stay(own: StoreProcess, node: Node) -> None:
    assert await node(own.url).failures() == {}
    with Redis(unix_socket_path=own.socket) as redis:
        (key,) = redis.keys()
        assert key.startswith(b"hr:probe:")
        assert 0 < redis.ttl(key) <= Probe.LIFE_S


async def test_a_crowd_in_front_of_it_is_no_reason(own: StoreProcess, node: Node) -> None:
    store = node(own.url)
    assert await store.failures() == {}
    pool: Any = store.redis.connection_pool
    taken = [await pool.get_connection() for _ in range(Store.CONNECTIONS - 1)]
    assert await store.failures() == {}
    for connection in taken:
        await pool.release(connection)


@contextlib.asynccontextmanager
async def far_away(process: StoreProcess) -> AsyncIterator[str]:
    """Where the same store is found at the end of a long way: 0.4 s to and fro."""

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError), contextlib.closing(writer):
            while data := await reader.read(1 << 16):
                await asyncio.sleep(0.2)
                writer.write(data)
                await writer.drain()

    async def taken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        their_reader, their_writer = await asyncio.open_unix_connection(process.socket)
        await asyncio.gather(carry(reader, their_writer), carry(their_reader, writer))

    async with await asyncio.start_server(taken, "127.0.0.1", 0) as server:
        yield f"redis://:password@127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_a_store_that_is_slow_and_stores_is_not_away(own: StoreProcess, node: Node) -> None:
    """Several times to and fro make a connection, and that takes longer than an answer may."""
    tell(own, "CONFIG", "SET", "requirepass", "password")
    async with far_away(own) as url:
        store = node(url)
        await until(lambda: _none(store))
        assert await store.failures() == {}
        await store.aclose()


async def test_replicas_that_are_waited_for_must_have_it(node: Node) -> None:
    with watched(BINARIES["valkey"]) as place:
        one, two = node(place.url, replicas=1), node(place.url, replicas=2)
        assert await one.failures() == {}
        assert "1 of 2 replicas" in reason((await two.failures())[None])
        replica = next(each for each in place.data if each is not place.primary)
        replica.freeze()
        assert "0 of 1 replicas" in reason((await one.failures())[None])
        replica.thaw()
        await until(lambda: _none(one))


async def _none(store: Store) -> bool:
    return not await store.failures()


async def test_who_has_the_wrong_password_is_told_so(own: StoreProcess, node: Node) -> None:
    tell(own, "CONFIG", "SET", "requirepass", "the right one")
    stranger = node(f"unix://:the-wrong-one@{quote(own.socket)}")
    failure = (await stranger.failures())[None]
    assert locked_out(failure)
    assert "password" in reason(failure)
    assert "the-wrong-one" not in reason(failure)
    assert await node(f"unix://:{quote('the right one')}@{quote(own.socket)}").failures() == {}


@pytest.fixture(scope="module")
def shards() -> Iterator[Cluster]:
    with cluster(BINARIES["valkey"]) as made:
        yield made


async def test_each_shard_is_asked(shards: Cluster, node: Node) -> None:
    store = node(shards.url)
    assert await store.failures() == {}
    for harmed in shards.primaries:
        harmed.ask("CONFIG", "SET", "maxmemory", "1")
        failures = await store.failures()
        assert list(failures) == [("127.0.0.1", harmed.port)]
        assert "maxmemory" in reason(failures["127.0.0.1", harmed.port])
        harmed.ask("CONFIG", "SET", "maxmemory", "0")
        await until(lambda: _none(store))


SHARD_RIGHTS = {
    "channels": "resetchannels",
    "spublish": "-spublish",
    "ssubscribe": "-ssubscribe",
    "rpush": "-rpush",
}


@pytest.mark.parametrize("lacked", SHARD_RIGHTS)
async def test_a_shard_that_does_not_let_us_store_or_tell_or_hear_is_named(
    shards: Cluster, node: Node, lacked: str
) -> None:
    store = node(shards.url)
    assert await store.failures() == {}
    harmed = shards.primaries[1]
    harmed.ask("ACL", "SETUSER", "default", SHARD_RIGHTS[lacked])
    failures = await store.failures()
    assert list(failures) == [("127.0.0.1", harmed.port)]
    assert locked_out(failures["127.0.0.1", harmed.port])
    harmed.ask("ACL", "SETUSER", "default", "allchannels", "+@all")
    await until(lambda: _none(store))


async def test_a_node_of_a_cluster_is_not_taken_for_a_server_by_itself(shards: Cluster, node: Node) -> None:
    for server in shards.primaries:
        store = node(f"redis://127.0.0.1:{server.port}")
        failures = await store.failures()
        assert list(failures) == [None]
        assert "redis+cluster://" in reason(failures[None])
        with pytest.raises(Misnamed, match="cluster://"):
            await store.ask_kind()
    await node(shards.url).ask_kind()


@pytest.mark.parametrize("kind", sorted(BINARIES))
async def test_a_node_of_a_cluster_that_has_no_slots_is_not_taken_for_a_server_by_itself(
    node: Node, kind: str
) -> None:
    with servers() as (folder, started):
        (port,) = free_ports(1)
        server = Server(BINARIES[kind], port, folder / "one", cluster_enabled="yes")
        started.append(server)
        server.start()
        # Redis' clusters have no numbered databases
        for number in ("", "/1") if kind == "redis" else ("",):
            store = node(f"redis://127.0.0.1:{port}{number}")
            assert "redis+cluster://" in reason((await store.failures())[None])
            with pytest.raises(Misnamed, match=r"redis\+cluster://"):
                await store.ask_kind()


@pytest.mark.parametrize("kind", sorted(BINARIES))
async def test_a_cluster_that_has_no_slots_is_said_not_to_be_set_up(node: Node, kind: str) -> None:
    with servers() as (folder, started):
        for port in free_ports(2):
            started.append(Server(BINARIES[kind], port, folder / str(port), cluster_enabled="yes"))
            started[-1].start()
        one, gone = started
        gone.kill()
        store = node(f"redis+cluster://127.0.0.1:{gone.port},127.0.0.1:{one.port}")
        for _ in range(2):
            assert "not set up" in reason((await store.failures())[None])
        with pytest.raises(Away, match="not set up"):
            await store.ask_kind()
        one.ask("CLUSTER", "ADDSLOTSRANGE", 0, 8191)
        await until(lambda: _lacks(store, "some slots have no node"))
        one.ask("CLUSTER", "ADDSLOTSRANGE", 8192, 16383)
        await until(lambda: _none(store))


async def _lacks(store: Store, what: str) -> bool:
    failure = (await store.failures()).get(None)
    return failure is not None and what in reason(failure)


async def test_a_server_by_itself_is_not_taken_for_a_cluster(node: Node) -> None:
    with servers() as (folder, started):
        (port,) = free_ports(1)
        server = Server(BINARIES["valkey"], port, folder / "one")
        started.append(server)
        server.start()
        store = node(f"redis+cluster://127.0.0.1:{port}")
        assert "redis://" in reason((await store.failures())[None])
        with pytest.raises(Misnamed, match="redis://"):
            await store.ask_kind()
        await node(f"redis://127.0.0.1:{port}").ask_kind()


async def test_slots_on_their_way_are_no_failure(shards: Cluster, node: Node) -> None:
    store = node(shards.url)
    assert await store.failures() == {}
    sid = next(sid for sid in map(str, range(1000)) if shards.of(sid) is shards.of("0"))
    move = shards.begin_move(sid)
    assert move.slot == slot_of(f"hr:s:{{{sid}}}")
    assert await store.failures() == {}
    move.end()
    assert await store.failures() == {}


async def test_a_cluster_that_does_not_let_us_in_says_so(shards: Cluster, node: Node) -> None:
    for server in shards.primaries:
        server.ask("ACL", "SETUSER", "somebody", "on", ">secret", "+@all", "~*", "&*")
    stranger = node(shards.url.replace("://", "://somebody:the-wrong-one@"))
    failures = await stranger.failures()
    assert failures
    for failure in failures.values():
        assert locked_out(failure)
        assert "password" in reason(failure)


async def test_a_shard_that_stands_still_is_named(node: Node) -> None:
    with cluster(BINARIES["valkey"]) as place:
        for server in place.primaries:
            server.ask("CONFIG", "SET", "cluster-require-full-coverage", "no")
        store = node(place.url)
        assert await store.failures() == {}
        place.primaries[1].freeze()
        assert ("127.0.0.1", place.primaries[1].port) in await store.failures()
        place.primaries[1].thaw()
        await until(lambda: _none(store))
