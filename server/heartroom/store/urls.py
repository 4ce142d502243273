"""Where the store is: what may stand in a URL, and the connections that follow from it.

    redis://[user:password@]host[:port][/number]        one server; rediss:// with TLS
    unix://[user:password@]/path/of/socket              one server on this machine
    redis+sentinel://host[:port][,host[:port]...]/name  the primary of that name, as these Sentinels say
    redis+cluster://host[:port][,host[:port]...]        a cluster, of which these nodes know the others

The last two also with TLS, as `rediss+...`, and with `user:password@`, which is for the servers; Sentinels
that want one get `?sentinel_username=...&sentinel_password=...`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import structlog
from redis.asyncio import BlockingConnectionPool, ConnectionPool, Redis
from redis.asyncio.connection import Connection, parse_url
from redis.asyncio.sentinel import MasterNotFoundError, Sentinel, SentinelConnectionPool
from redis.exceptions import AuthenticationError, AuthorizationError, NoPermissionError, RedisError
from redis.exceptions import ConnectionError as RedisConnectionError

_log = structlog.get_logger(__name__)

SCHEMES: Final = (
    "redis://",
    "rediss://",
    "unix://",
    "redis+sentinel://",
    "rediss+sentinel://",
    "redis+cluster://",
    "rediss+cluster://",
)
Address = tuple[str, int]
"""Host and port."""

_MANY: Final = re.compile(
    r"(?P<scheme>rediss?)\+(?P<kind>cluster|sentinel)://(?:(?P<login>[^@/]*)@)?(?P<hosts>[^/?#]*)"
    r"(?:/(?P<path>[^?#]*))?(?:\?(?P<query>[^#]*))?"
)
_HOST: Final = re.compile(r"(?P<host>\[[0-9A-Fa-f:.%]+\]|[^\[\]:,@\s]+)(?::(?P<port>\d{1,5}))?")


class BadUrl(ValueError):
    """No store can be found there; the message says why."""


class Where(NamedTuple):
    """Where the store is."""

    kind: str
    """`"one"`, `"sentinel"` or `"cluster"`."""
    options: dict[str, Any]
    """What redis-py is told of each connection to a server, in `"one"` also its address."""
    addresses: tuple[Address, ...] = ()
    """Of the Sentinels, or of nodes of the cluster."""
    service: str = ""
    """What Sentinels call the primary."""
    sentinel_options: Mapping[str, Any] = MappingProxyType({})
    """What redis-py is told of each connection to a Sentinel."""


_OPTIONS: Final = re.compile(
    "username|password|db|client_name|health_check_interval|socket_(connect_timeout|timeout|keepalive)|ssl_.*"
)
"""What may be said of a connection after `?`. redis-py would take more; some of it would break what we do."""


def parse(url: str) -> Where:
    """What a URL means. Raises `BadUrl`, which says nothing of passwords."""
    if not url.startswith(SCHEMES):
        raise BadUrl(f"must begin with one of {', '.join(SCHEMES)}")
    try:
        where = _one(url) if url.startswith(("redis://", "rediss://", "unix://")) else _many(url)
        _try(where.options)
    except ValueError as error:
        if _may_tell(url):
            raise BadUrl(
                "cannot be read: in the user and the password all but letters and digits is written as %2F is"
            ) from None
        raise BadUrl(str(error)) from None
    return where


def _may_tell(url: str) -> bool:
    """Whether what cannot be read in it may be a part of the password."""
    before, at, _ = url.partition("://")[2].rpartition("@")
    return (
        at != ""
        and re.search(r"[/?#]" if "+" not in url.partition(":")[0] else r"[/?#@]", before) is not None
    )


def _one(url: str) -> Where:
    path = urlsplit(url).path.strip("/")
    if path and not url.startswith("unix://") and not path.isdecimal():
        raise BadUrl("must end with the number of a database, if anything comes after the host")
    return Where("one", dict(parse_url(url)))


def _try(options: Mapping[str, Any]) -> None:
    """Raises `BadUrl` for what no connection can be told."""
    given = {name: one for name, one in options.items() if name != "connection_class"}
    for name in given.keys() - {"host", "port", "path"}:
        if not _OPTIONS.fullmatch(name):
            raise BadUrl(f"has an option that is none: {name}")
    try:
        options.get("connection_class", Connection)(**given)
    except (TypeError, RedisError) as error:
        raise BadUrl(f"has an option that is none: {error}") from None


def _many(url: str) -> Where:
    found = _MANY.fullmatch(url)
    if found is None:
        raise BadUrl("is not of the form redis+…://host:port,host:port")
    kind, scheme = found["kind"], found["scheme"]
    path = unquote(found["path"] or "")
    default = 6379 if kind == "cluster" else 26379
    addresses = tuple(_address(host, default) for host in found["hosts"].split(","))
    query = dict(parse_qsl(found["query"] or "", keep_blank_values=True))
    sentinel = {
        name: query.pop(f"sentinel_{name}")
        for name in ("username", "password")
        if f"sentinel_{name}" in query
    }
    login = f"{found['login']}@" if found["login"] is not None else ""
    options = dict(parse_url(f"{scheme}://{login}host:1?{urlencode(query)}"))
    del options["host"], options["port"]
    if kind == "cluster":
        if path not in ("", "0"):
            raise BadUrl("a cluster has no numbered databases: nothing may follow the hosts")
        if sentinel:
            raise BadUrl("sentinel_username and sentinel_password are for redis+sentinel://")
        return Where("cluster", options, addresses)
    if not path or "/" in path:
        raise BadUrl("must end with the name that the Sentinels have for the primary: …/name")
    return Where("sentinel", options, addresses, path, sentinel)


def _address(text: str, default: int) -> Address:
    found = _HOST.fullmatch(text)
    if found is None or not 0 < int(found["port"] or default) < 65_536:
        raise BadUrl(f"{text!r} is not host or host:port")
    return found["host"].strip("[]"), int(found["port"] or default)


class Sentinels(Sentinel):
    """Finds the primary as the Sentinel knows it that knows of the latest failover.

    redis-py believes the list of primaries of any Sentinel that answers. While a failover is under way that
    has the old one yet, which may have been started again; asked for an address, Sentinels name the new one.
    """

    PATIENCE_S: Final = 0.5
    """How long those that do not answer are waited for, if others do."""

    def __init__(self, addresses: Sequence[Address], **options: Any) -> None:
        super().__init__(addresses, sentinel_kwargs=options)  # type: ignore[no-untyped-call]
        self._asked: set[asyncio.Task[tuple[int, Address]]] = set()

    async def discover_master(self, service_name: str) -> Address:
        """Where the primary is. Raises `MasterNotFoundError`."""
        asked = [asyncio.create_task(self._ask(sentinel, service_name)) for sentinel in self.sentinels]
        for task in asked:
            self._asked.add(task)
            task.add_done_callback(self._answered)
        done, late = await asyncio.wait(asked, timeout=self.PATIENCE_S)
        while late and not any(task.exception() is None for task in done):
            more, late = await asyncio.wait(late, return_when=asyncio.FIRST_COMPLETED)
            done |= more
        found = [task.result() for task in done if task.exception() is None]
        if not found:
            why = "; ".join(str(task.exception()) for task in done)
            raise MasterNotFoundError(f"no Sentinel knows {service_name!r}: {why}")
        return max(found)[1]

    async def _ask(self, sentinel: Any, name: str) -> tuple[int, Address]:
        """How new what a Sentinel knows is, and where it has the primary."""
        state = (await sentinel.sentinel_masters()).get(name)
        named = await sentinel.execute_command("SENTINEL GET-MASTER-ADDR-BY-NAME", name)
        if not state or not named:
            raise MasterNotFoundError("not watched")
        host, port = named
        address = host.decode() if isinstance(host, bytes) else str(host), int(port)
        if address == (state["ip"], state["port"]) and not self.check_master_state(state, name):
            raise MasterNotFoundError("down")
        return int(state["config-epoch"]), address

    def _answered(self, task: asyncio.Task[tuple[int, Address]]) -> None:
        self._asked.discard(task)
        if not task.cancelled():
            task.exception()  # whoever has gone without it need not know


class _SentinelPool(SentinelConnectionPool, BlockingConnectionPool):
    """Connections to the primary; who finds all in use waits."""

    async def get_master_address(self) -> Address:
        """Where the primary is. Connections that lead elsewhere are cut, also while they are in use: what was
        the primary may answer for seconds yet, and nothing that it takes is kept."""
        before: Address | None = self.master_address
        address: Address = await super().get_master_address()  # type: ignore[no-untyped-call]
        if before is not None and before != address == self.master_address:
            _log.info("new primary", address=f"{address[0]}:{address[1]}")
        for connection in list(self._get_in_use_connections()):
            one: Any = connection
            if one.is_connected and (one.host, one.port) != address:
                one.cut()
        return address

    async def disconnect(self, inuse_connections: bool = True) -> None:
        """Closes the connections, if all then also those to the Sentinels."""
        try:
            await super().disconnect(inuse_connections)
        finally:
            if inuse_connections:
                for sentinel in self.sentinel_manager.sentinels:
                    await sentinel.aclose()


def _sturdy(pool: ConnectionPool) -> ConnectionPool:
    """The pool, whose connections fail as connections do if they are closed while something is written:
    uvloop refuses to write to what is closed, redis-py has let go of its writer; neither is an `OSError`."""
    kind: Any = pool.connection_class

    class Sturdy(kind):  # type: ignore[misc]
        async def send_packed_command(self, command: Any, check_health: bool = True) -> None:
            try:
                await super().send_packed_command(command, check_health)
            except (AttributeError, RuntimeError) as error:
                raise RedisConnectionError(f"closed while something was written: {error}") from error

        def cut(self) -> None:
            """As if the other end had closed it: who waits for an answer hears that it is gone."""
            if self._writer is not None:
                self._writer.transport.abort()

    pool.connection_class = Sturdy
    return pool


_NO_RIGHT: Final = re.compile(
    "ACL failure in script|The user executing the script can't|Transaction discarded because of: NOPERM"
)
"""What servers say of rights that a script or a transaction lacks: an error like any other."""


def locked_out(error: BaseException | None) -> bool:
    """Whether this is of a server that is there, and does not let us in or do what we must."""
    return _caused_by(
        error, lambda one: isinstance(one, AuthenticationError | AuthorizationError) or _right(one)
    )


def lacks_rights(error: BaseException | None) -> bool:
    """Whether this is of a server that lets us in, and does not let us do what we must."""
    return _caused_by(error, _right)


def _right(error: BaseException) -> bool:
    return isinstance(error, NoPermissionError) or _NO_RIGHT.match(str(error)) is not None


def _caused_by(error: BaseException | None, that: Callable[[BaseException], bool]) -> bool:
    while error is not None:
        if that(error):
            return True
        error = error.__cause__  # redis-py says that the connection failed, and only there why
    return False


async def follow(redis: Redis) -> None:
    """Asks the Sentinels, if this is a client of theirs, where the primary is, and leaves any other. Raises
    what redis-py raises."""
    pool = redis.connection_pool
    if isinstance(pool, _SentinelPool):
        await pool.get_master_address()


def client(where: Where, connections: int, timeout_s: float, address: Address | None = None) -> Redis:
    """A client of one server: the one that `where` is, the primary that the Sentinels name, or the node of a
    cluster that has `address`. It has so many `connections`, and who finds all in use waits."""
    common: dict[str, Any] = {
        "protocol": 2,
        "socket_timeout": timeout_s,
        "socket_connect_timeout": timeout_s,
        "retry": None,
    }
    pool: dict[str, Any] = {"max_connections": connections, "timeout": timeout_s}
    options = where.options | common
    if where.kind == "sentinel":
        tls: dict[str, Any] = {name: value for name, value in options.items() if name.startswith("ssl_")}
        if options.pop("connection_class", None) is not None:
            tls["ssl"] = options["ssl"] = True
        given = common | tls | dict(where.sentinel_options)
        primary: Any = _SentinelPool
        sentinels = Sentinels(where.addresses, **given)
        for sentinel in sentinels.sentinels:
            _sturdy(sentinel.connection_pool)
        return Redis.from_pool(_sturdy(primary(where.service, sentinels, **pool, **options)))
    if address is not None:
        options |= {"host": address[0], "port": address[1]}
    return Redis.from_pool(_sturdy(BlockingConnectionPool(**pool, **options)))
