"""What a node hears of the others: over a channel of its own, or, in a cluster, over one for each session.

In a cluster a message to a plain channel goes to every node of it, however few have use for it. A shard
channel is served by the node that has its slot, which is that of the session's keys, and by no other.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import secrets
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Any, Final, Protocol

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ClusterDownError, MovedError, RedisError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError

from heartroom.store import keys
from heartroom.store.cluster import PAUSE_S, Table, address_of, slot_of
from heartroom.store.urls import Address

PING_S: Final = 5.0
"""After so much silence the other end is asked whether it is there; after twice that it is not."""


class Began:
    """Listening has begun, maybe anew: all that was said before may have been missed."""


class Lost:
    """What was said on these channels may have been missed."""

    def __init__(self, channels: frozenset[str]) -> None:
        self.channels: Final = channels


Heard = Began | Lost | tuple[str, bytes]
"""Or a channel, and what was said on it."""


class Ears(Protocol):
    """How a node hears."""

    def listen(self) -> AsyncGenerator[Heard]:
        """All that is heard, for ever; first that it has begun. Raises what redis-py raises when the
        connection is lost for good."""
        ...

    async def join(self, sid: str) -> None:
        """What is said of a session is heard when this returns. Raises what redis-py raises."""
        ...

    async def leave(self, sid: str) -> None:
        """What is said of a session need not be heard any more."""
        ...

    async def renamed(self, node: str) -> None:
        """This node is called `node` from now on."""
        ...

    async def aclose(self) -> None:
        """Hears nothing any more."""
        ...


class NodeEars:
    """On one server: a channel for each node."""

    def __init__(self, redis: Redis, node: str) -> None:
        self._redis: Final = redis
        self._node = node
        self._pubsub: PubSub | None = None

    async def listen(self) -> AsyncGenerator[Heard]:
        """See `Ears`."""
        pubsub: PubSub = self._redis.pubsub(ignore_subscribe_messages=False)
        async with contextlib.aclosing(pubsub):
            self._pubsub = pubsub
            node = self._node
            await pubsub.subscribe(keys.node(node), keys.EVERYBODY)
            waiting, asked = 2, False
            while True:
                message = await pubsub.get_message(timeout=PING_S)
                if message is None:
                    if asked:
                        raise RedisConnectionError("nothing is heard")
                    asked = True
                    await pubsub.ping()
                    continue
                asked = False
                if message["type"] == "subscribe":
                    waiting -= 1
                    if waiting == 0:
                        if node != self._node:
                            raise RedisConnectionError("this node has another name by now")
                        yield Began()
                elif message["type"] == "message":
                    yield message["channel"].decode(), message["data"]

    async def join(self, _sid: str) -> None:
        """See `Ears`: who commits tells each node on its channel."""

    async def leave(self, _sid: str) -> None:
        """See `Ears`."""

    async def renamed(self, node: str) -> None:
        """See `Ears`. Who listens is told that the connection is lost."""
        self._node = node
        connection: Any = self._pubsub and self._pubsub.connection
        if connection is not None:
            await connection.disconnect()

    async def aclose(self) -> None:
        """See `Ears`."""


class ShardEars:
    """In a cluster: a shard channel for each session that is open here, and one for everybody.

    A channel that is lost (with its connection, or because its slot has moved) is subscribed to again, and
    then heard of as `Lost`.
    """

    PAUSES_S: Final = (PAUSE_S, 1.0)
    """First and longest pause between two attempts to have a lost channel again."""

    def __init__(self, table: Table) -> None:
        self.table: Final = table
        self._wanted: set[str] = set()
        self._lost: set[str] = set()
        self._ears: dict[Address, _Ear] = {}
        self._heard: asyncio.Queue[Heard] | None = None
        self._restoring: asyncio.Task[None] | None = None

    async def listen(self) -> AsyncGenerator[Heard]:
        """See `Ears`. It does not end: what is lost is sought."""
        heard = self._heard = asyncio.Queue()
        try:
            await self._want(keys.EVERYBODY)
            yield Began()
            while True:
                yield await heard.get()
        finally:
            self._heard = None

    async def join(self, sid: str) -> None:
        """See `Ears`."""
        await self._want(keys.channel(sid))

    async def leave(self, sid: str) -> None:
        """See `Ears`."""
        channel = keys.channel(sid)
        self._wanted.discard(channel)
        self._lost.discard(channel)
        for ear in list(self._ears.values()):
            await ear.unsubscribe(channel)

    async def renamed(self, _node: str) -> None:
        """See `Ears`. Who listens is told that it begins anew."""
        self._say(Began())

    async def aclose(self) -> None:
        """See `Ears`."""
        self._wanted.clear()
        self._lost.clear()
        while self._restoring is not None and not self._restoring.done():
            self._restoring.cancel()
            await asyncio.wait([self._restoring], timeout=0.1)
        for ear in list(self._ears.values()):
            await ear.aclose()

    def _say(self, heard: Heard) -> None:
        if self._heard is not None:
            self._heard.put_nowait(heard)

    async def _want(self, channel: str) -> None:
        new = channel not in self._wanted
        self._wanted.add(channel)
        try:
            async with asyncio.timeout(self.table.timeout_s):
                while not await self._again(channel):  # noqa: ASYNC110 (a cluster says nothing when it has settled)
                    await asyncio.sleep(PAUSE_S)
        except BaseException:
            if new:
                self._wanted.discard(channel)
            raise
        if channel in self._lost:  # it would be said sooner or later; whoever opens the session reads it now
            self._lost.discard(channel)
            self._say(Lost(frozenset({channel})))

    async def _again(self, channel: str) -> bool:
        """Hears a channel, where its slot is served. Returns `False` if it is served elsewhere, or nowhere
        for a moment. Raises what redis-py raises."""
        try:
            address = await self.table.primary(slot_of(channel))
        except ClusterDownError:
            return False
        ear = self._ears.get(address)
        if ear is None:
            ear = self._ears[address] = _Ear(self.table.client(address), address, self)
        try:
            await ear.subscribe(channel)
        except MovedError as error:
            self.table.moved(int(error.slot_id), address_of(error, address))
            return False
        except ResponseError:
            self.table.doubt()
            return False
        except (RedisError, OSError, TimeoutError):
            self.table.doubt()
            raise
        return True

    # -- what an ear says

    def heard(self, channel: str, message: bytes) -> None:
        """Something was said."""
        if channel in self._wanted:
            self._say((channel, message))

    def lost(self, channels: Iterable[str]) -> None:
        """These are not heard any more."""
        self._lost |= self._wanted.intersection(channels)
        if self._lost and self._restoring is None:
            self._restoring = asyncio.get_running_loop().create_task(self._restore())

    def ended(self, address: Address) -> None:
        """The ear at this node is no more."""
        self._ears.pop(address, None)
        self.table.doubt()

    async def _restore(self) -> None:
        """Hears again what was lost, however long that takes."""
        pause = self.PAUSES_S[0]
        try:
            while self._lost:
                tried = list(self._lost)
                found = await asyncio.gather(*map(self._sought, tried))
                again = self._lost.intersection(
                    channel for channel, heard in zip(tried, found, strict=True) if heard
                )
                if again:
                    self._lost -= again
                    self._say(Lost(frozenset(again)))
                    pause = self.PAUSES_S[0]
                if self._lost:
                    await asyncio.sleep(pause * (0.5 + secrets.randbelow(1000) / 1000))
                    pause = min(2 * pause, self.PAUSES_S[1])
        finally:
            self._restoring = None

    async def _sought(self, channel: str) -> bool:
        """Whether a lost channel is heard again."""
        try:
            return await self._again(channel)
        except (RedisError, OSError, TimeoutError):
            return False


class _Ear:
    """A connection to one node of a cluster, and what is heard over it."""

    def __init__(self, redis: Redis, address: Address, ears: ShardEars) -> None:
        self._pool: Final = redis.connection_pool
        self._address: Final = address
        self._ears: Final = ears
        self._connection: AbstractConnection | None = None
        self._waiting: dict[str, asyncio.Future[None]] = {}
        self._hears: set[str] = set()
        self._connecting = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    async def subscribe(self, channel: str) -> None:
        """Returns when `channel` is heard. Raises what redis-py raises, also `MovedError`."""
        if channel in self._hears:
            return
        waiting = self._waiting.get(channel)
        if waiting is None:
            waiting = self._waiting[channel] = asyncio.get_running_loop().create_future()
            try:
                await self._send("SSUBSCRIBE", channel)
            except BaseException as error:
                self._answer(channel, RedisConnectionError(str(error)))
                raise
        async with asyncio.timeout(self._ears.table.timeout_s):
            await asyncio.shield(waiting)

    async def unsubscribe(self, channel: str) -> None:
        """`channel` need not be heard."""
        if channel in self._hears:
            self._hears.discard(channel)
            with contextlib.suppress(RedisError, OSError, TimeoutError):
                await self._send("SUNSUBSCRIBE", channel)

    async def aclose(self) -> None:
        """Ends the connection."""
        task = self._task
        while task is not None and not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=0.1)

    def _answer(self, channel: str, error: Exception | None) -> None:
        waiting = self._waiting.pop(channel, None)
        if waiting is None or waiting.done():
            return
        if error is None:
            waiting.set_result(None)
        else:
            waiting.set_exception(error)
            waiting.exception()  # whoever asked may have gone

    async def _send(self, *command: str) -> None:
        async with self._connecting:
            if self._connection is None:
                connection: Any = self._pool.make_connection()  # type: ignore[no-untyped-call]
                await connection.connect()
                self._connection = connection
                self._task = asyncio.get_running_loop().create_task(self._listen(connection))
        await self._connection.send_command(*command, check_health=False)

    async def _listen(self, connection: AbstractConnection) -> None:
        asked = False
        try:
            while True:
                try:
                    async with asyncio.timeout(PING_S):
                        message = await connection.read_response(timeout=math.inf, disconnect_on_error=False)
                except TimeoutError:
                    if asked:
                        break
                    asked = True
                    await connection.send_command("PING", check_health=False)
                except MovedError as error:
                    self._refused(error, lambda channel, slot=int(error.slot_id): slot_of(channel) == slot)  # type: ignore[misc]
                except ResponseError as error:  # of whichever it is: all that wait ask again
                    self._refused(error, lambda _: True)
                else:
                    asked = False
                    if isinstance(message, list):  # else it is a PONG while nothing is subscribed to
                        self._take(message)
        except (RedisError, OSError):
            pass
        finally:
            self._task = self._connection = None
            self._ears.ended(self._address)
            self._refused(RedisConnectionError("the connection was lost"), lambda _: True)
            self._ears.lost(self._hears)
            self._hears.clear()
            await connection.disconnect(nowait=True)

    def _take(self, message: Any) -> None:
        kind, channel, *rest = message
        name = channel.decode()
        if kind == b"smessage":
            self._ears.heard(name, rest[0])
        elif kind == b"ssubscribe":
            self._hears.add(name)
            self._answer(name, None)
        elif kind == b"sunsubscribe" and name in self._hears:  # nobody asked for that: its slot has moved
            self._hears.discard(name)
            self._ears.table.doubt()
            self._ears.lost([name])

    def _refused(self, error: Exception, concerns: Callable[[str], bool]) -> None:
        for channel in [channel for channel in self._waiting if concerns(channel)]:
            self._answer(channel, error)
