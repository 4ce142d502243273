"""Where the store is: what may stand in its URL."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
import uvloop
from redis.asyncio.connection import SSLConnection, UnixDomainSocketConnection
from redis.exceptions import ConnectionError as RedisConnectionError

from heartroom.store.urls import BadUrl, Sentinels, client, parse
from tests.support.stores import StoreProcess


def test_one_server() -> None:
    where = parse("redis://me:s%40y@there:7000/3")
    assert where.kind == "one"
    assert where.options == {
        "username": "me",
        "password": "s@y",
        "host": "there",
        "port": 7000,
        "db": 3,
    }
    assert parse("rediss://there").options["connection_class"] is SSLConnection
    assert parse("unix:///run/valkey.sock").options == {
        "path": "/run/valkey.sock",
        "connection_class": UnixDomainSocketConnection,
    }


@pytest.mark.parametrize(
    ("hosts", "addresses"),
    [
        ("a", (("a", 6379),)),
        ("a:7000,b:7001,10.0.0.3", (("a", 7000), ("b", 7001), ("10.0.0.3", 6379))),
        ("[::1]:7000,[fe80::2]", (("::1", 7000), ("fe80::2", 6379))),
    ],
)
def test_a_cluster(hosts: str, addresses: tuple[tuple[str, int], ...]) -> None:
    for end in ("", "/", "/0"):
        where = parse(f"redis+cluster://{hosts}{end}")
        assert (where.kind, where.addresses, where.options) == ("cluster", addresses, {})
    where = parse(f"rediss+cluster://me:secret@{hosts}?ssl_cert_reqs=none")
    assert where.addresses == addresses
    assert where.options == {
        "username": "me",
        "password": "secret",
        "ssl_cert_reqs": "none",
        "connection_class": SSLConnection,
    }


def test_sentinels() -> None:
    where = parse("redis+sentinel://:secret@a,b:7000/main?sentinel_password=other")
    assert where.kind == "sentinel"
    assert where.addresses == (("a", 26379), ("b", 7000))
    assert where.service == "main"
    assert where.options == {"password": "secret"}
    assert where.sentinel_options == {"password": "other"}


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "must begin with"),
        ("there:6379", "must begin with"),
        ("http://there", "must begin with"),
        ("redis+cluster:/there", "must begin with"),
        ("redis+cluster://", "'' is not host or host:port"),
        ("redis+cluster://a:7000,", "'' is not host or host:port"),
        ("redis+cluster://a:0", "'a:0' is not host or host:port"),
        ("redis+cluster://a:70000", "'a:70000' is not host or host:port"),
        ("redis+cluster://a b", "'a b' is not host or host:port"),
        ("redis+cluster://a:b", "'a:b' is not host or host:port"),
        ("redis+cluster://a#b", "is not of the form"),
        ("redis+cluster://a/1", "no numbered databases"),
        ("redis+cluster://a?sentinel_password=x", "are for redis"),
        ("redis+cluster://a?socket_timeout=soon", "socket_timeout"),
        ("redis+sentinel://a", "must end with the name"),
        ("redis+sentinel://a/", "must end with the name"),
        ("redis+sentinel://a/b/c", "must end with the name"),
        ("redis://a:port", "port"),
        ("redis://a/games", "number of a database"),
        ("redis://me:secret@a/games", "number of a database"),
        ("redis://me:secret@a?foo=1", "none: foo"),
        ("redis://me:sec[ret@a", "IPv6"),
        ("redis://a?foo=1", "none: foo"),
        ("redis+cluster://a?foo=1", "none: foo"),
        ("redis+sentinel://a/main?decode_responses=1", "none: decode_responses"),
        ("redis://a?max_connections=2", "none: max_connections"),
        ("redis://a?ssl_ca_certs=x", "ssl_ca_certs"),
        ("rediss://a?ssl_cert_reqs=sometimes", "sometimes"),
    ],
)
def test_a_url_that_cannot_be_used_says_why(url: str, why: str) -> None:
    with pytest.raises(BadUrl, match=why):
        parse(url)


@pytest.mark.parametrize(
    "url",
    [
        *(f"redis://me:sec{special}ret@there:1/0" for special in "/#?"),
        *(f"redis+cluster://me:sec{special}ret@there:1" for special in "/#?@"),
        *(f"redis+sentinel://me:sec{special}ret@there:1/main" for special in "/#?@"),
        "redis://me:1?sec=ret@there",
    ],
)
def test_of_a_password_that_is_not_written_as_it_must_be_nothing_is_said(url: str) -> None:
    with pytest.raises(BadUrl) as caught:
        parse(url)
    for part in ("sec", "ret"):
        assert part not in str(caught.value)
    assert "%2F" in str(caught.value)


def test_what_may_be_said_of_a_connection_is_taken() -> None:
    asked = "ssl_cert_reqs=required&client_name=x&health_check_interval=5&socket_keepalive=1"
    for url in (f"rediss://a/3?{asked}", f"rediss+cluster://a?{asked}", f"rediss+sentinel://a/b?{asked}"):
        assert parse(url).options["client_name"] == "x"
    assert parse("redis://a/3").options["db"] == 3
    assert parse("redis://:p@ss@a?password=p@ss").options["password"] == "p@ss"
    assert parse("unix:///run/a@b").options["path"] == "/run/a@b"
    assert parse("redis://a/").options == {"host": "a"}
    assert parse("unix:///run/redis.sock?db=3").options == {"path": "/run/redis.sock", "db": 3} | (
        {"connection_class": parse("unix:///x").options["connection_class"]}
    )


def test_what_is_written_to_a_connection_that_was_just_closed_fails_as_a_connection_does(
    shared: StoreProcess,
) -> None:
    """uvloop raises `RuntimeError`, and redis-py `AttributeError` when it has let go of the writer: whoever
    listened to the other nodes died of it, and was deaf from then on."""

    async def write(*, let_go: bool) -> None:
        redis = client(parse(shared.url), 1, 5.0)
        connection: Any = await redis.connection_pool.get_connection()  # type: ignore[no-untyped-call]

        async def spoil() -> None:
            writer = connection._writer
            writer.transport.abort()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
            await asyncio.sleep(0)
            if let_go:
                writer.close()
                connection._writer = None

        connection.check_health = spoil  # between finding it connected and writing
        with pytest.raises(RedisConnectionError, match="closed while"):
            await connection.send_command("PING")
        await redis.aclose()

    for let_go in (False, True):
        uvloop.run(write(let_go=let_go))


class Told:
    """A Sentinel that says what it was told to say."""

    def __init__(self, epoch: int, listed: int, named: int, *, down: bool = False) -> None:
        self.state = {
            "config-epoch": epoch,
            "ip": "10.0.0.1",
            "port": listed,
            "is_master": True,
            "is_sdown": down,
            "is_odown": down,
            "num-other-sentinels": 2,
        }
        self.named = (b"10.0.0.1", named)

    async def sentinel_masters(self) -> dict[str, Any]:
        return {"main": self.state}

    async def execute_command(self, *_command: str) -> tuple[bytes, int]:
        return self.named


class Dead(Told):
    def __init__(self) -> None:
        super().__init__(99, 1, 1)

    async def sentinel_masters(self) -> dict[str, Any]:
        raise RedisConnectionError("dead")


class Silent(Told):
    def __init__(self) -> None:
        super().__init__(99, 1, 1)

    async def sentinel_masters(self) -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError


async def primary_by(*sentinels: Told) -> int:
    asking = Sentinels([])
    told: Any = list(sentinels)
    asking.sentinels = told
    _, port = await asking.discover_master("main")
    return port


async def test_the_sentinel_that_knows_of_the_latest_failover_is_believed() -> None:
    assert await primary_by(Told(1, 7001, 7001), Told(2, 7002, 7002), Told(1, 7001, 7001)) == 7002


async def test_while_a_failover_is_under_way_the_new_primary_is_had_already() -> None:
    assert await primary_by(Told(2, 7001, 7002), Told(1, 7001, 7001)) == 7002
    assert await primary_by(Told(2, 7001, 7002, down=True)) == 7002


async def test_sentinels_that_are_dead_or_silent_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sentinels, "PATIENCE_S", 0.01)
    assert await primary_by(Dead(), Told(1, 7001, 7001), Silent()) == 7001


async def test_nobody_knows_a_primary() -> None:
    for sentinels in ([Dead()], [Told(1, 7001, 7001, down=True), Dead()]):
        with pytest.raises(RedisConnectionError, match="no Sentinel knows 'main'"):
            await primary_by(*sentinels)
