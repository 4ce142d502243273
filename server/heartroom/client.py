"""A small client for programs: bots, tests, load generators. Speaks docs/protocol.md.

    async with await Client.connect("ws://127.0.0.1:8000") as client:
        await client.join(await client.new("heart-to-heart", {"code": "HH1-N-AAAAAAM"}))
        await client.act("draw")
        print(client.table.view)

Knows the wire and no game: a view is a list, an action is a verb with arguments.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Self

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

SUBPROTOCOL: Final = Subprotocol("heartroom.v1")
COOKIE: Final = "heartroom"

NEW, JOIN, ACT, NAME, LEAVE, PING, SIT, STAND, START, QUICK = range(1, 11)
DIFF, SNAPSHOT, ACK, REJECT, WELCOME, CREATED, TABLE, CLOCK, PONG, ERROR, RESUMED, STORE = range(12)


class Rejected(Exception):
    """The server refused a request; `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code: Final = code


class NotAdmitted(Exception):
    """The server does not want this connection; `status` is the HTTP status of its answer."""

    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP status {status}")
        self.status: Final = status


class NoAddress(ValueError):
    """What was to be connected to is no address of a server."""


class Lost(Exception):
    """The connection is gone, or could not be made. Whether a request under way was done is not known:
    connect again, join with what you hold, and send it again with the same id."""


class OutOfStep(Exception):
    """The server sent something that does not follow from what came before."""


@dataclass(slots=True)
class Table:
    """What the client knows of the session it looks at."""

    session: str = ""
    game: str = ""
    epoch: int = 0
    version: int = 0
    seat: int | None = None
    view: list[Any] = field(default_factory=list)
    elapsed_ms: int = 0
    running: bool = False
    waiting_ms: int = 0
    names: list[str] = field(default_factory=list)
    viewers: int = 0
    chairs: list[int] = field(default_factory=list)
    started: bool = False
    settings: list[Any] = field(default_factory=list)

    def apply(self, message: list[Any]) -> None:
        """Takes a *diff*. Raises `OutOfStep` if it is not the next one."""
        if message[1] != self.version + 1:
            raise OutOfStep(f"diff to version {message[1]} on {self.version}")
        for index, value in zip(message[2::2], message[3::2], strict=True):
            self.view[index] = value
        self.version = message[1]


class Client:
    """One connection. All that it is told is in its attributes; methods send, and wait for the answer."""

    def __init__(self, connection: ClientConnection, cookie: str | None) -> None:
        self.connection: Final = connection
        self.cookie: Final = cookie
        """Who we are: give it to `connect` to be the same player again."""
        self.player = ""
        self.name = ""
        self.sessions: list[tuple[str, str]] = []
        self.table = Table()
        self.errors: list[str] = []
        """Codes of all *error* messages so far."""
        self.store_answers = True
        self.frames: list[bytes] = []
        """Every frame received, if `keep_frames` is set."""
        self.keep_frames = False
        self._next_ref = secrets.randbelow(2**48) + 1
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._welcomes: list[int] = []
        self._changed = asyncio.Condition()
        self._lost = False
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def connect(
        cls, url: str, cookie: str | None = None, *, origin: str | None = None, **options: Any
    ) -> Self:
        """Connects to the server at `url` (`ws://host:port`) and returns once it has said *welcome*.
        `options` go to `websockets.connect`. Raises `NoAddress`, `NotAdmitted`, `Lost`."""
        try:
            parse_uri(f"{url}/ws")
        except (InvalidURI, ValueError) as error:
            raise NoAddress(f"not ws://host:port or wss://host:port: {url!r}") from error
        headers = {}
        if cookie is not None:
            headers["Cookie"] = f"{COOKIE}={cookie}"
        if origin is not None:
            headers["Origin"] = origin
        options.setdefault("max_size", 2**20)
        try:
            connection = await connect(
                f"{url}/ws",
                subprotocols=[SUBPROTOCOL],
                additional_headers=headers,
                compression=None,
                proxy=None,
                **options,
            )
        except InvalidStatus as refused:
            raise NotAdmitted(refused.response.status_code) from refused
        except (InvalidHandshake, OSError, EOFError, TimeoutError) as failed:
            raise Lost(str(failed)) from failed
        assert connection.response is not None
        for header in connection.response.headers.get_all("Set-Cookie"):
            if header.startswith(f"{COOKIE}="):
                cookie = header.split(";", 1)[0].removeprefix(f"{COOKIE}=")
        client = cls(connection, cookie)
        await client.until(lambda: client.player != "")
        return client

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the connection."""
        await self.connection.close()
        await asyncio.gather(self._reader, return_exceptions=True)

    # -- requests

    def fresh_ref(self) -> int:
        """A number for the next request, used by no other."""
        self._next_ref += 1
        return self._next_ref

    async def new(
        self, game: str, options: Mapping[str, Any] | None = None, table: Mapping[str, Any] | None = None
    ) -> str:
        """Begins a session and returns its id. `table`: how a game with several seats is played, see *new* in
        docs/protocol.md. Raises `Rejected`, `Lost`."""
        ref = self.fresh_ref()
        message = [NEW, ref, game, dict(options or {})]
        answer: str = await self.ask(ref, message if table is None else [*message, dict(table)])
        return answer

    async def quick(self, game: str) -> str:
        """Is seated at a public table, which soon starts, and returns its id. Raises `Rejected`, `Lost`."""
        ref = self.fresh_ref()
        answer: str = await self.ask(ref, [QUICK, ref, game])
        return answer

    async def join(self, session: str, epoch: int = 0, version: int = 0) -> None:
        """Looks at `session` and returns when its view is here and as new as the server's. Raises `Rejected`
        (`no_session`), `Lost`."""
        errors = len(self.errors)
        names = self.table.names
        self.table.names = []
        await self.send([JOIN, session, epoch, version])
        # *table* comes last of all that answers a join
        await self.until(lambda: bool(self.table.names) or len(self.errors) > errors)
        if len(self.errors) > errors:
            self.table.names = self.table.names or names
            raise Rejected(self.errors[-1])

    async def act(self, *action: Any, base: int | None = None, ref: int | None = None) -> int:
        """Takes an action and returns the version it made, once it is stored. Raises `Rejected`, `Lost`."""
        ref = self.fresh_ref() if ref is None else ref
        answer: int = await self.ask(ref, [ACT, ref, base, list(action)])
        return answer

    async def sit(self, seat: int | None = None) -> None:
        """Takes a seat of the joined session (`None`: any), or one's own back from a bot. Raises `Rejected`,
        `Lost`."""
        ref = self.fresh_ref()
        await self.ask(ref, [SIT, ref, seat])

    async def stand(self) -> None:
        """Leaves one's seat for good. Raises `Rejected`, `Lost`."""
        ref = self.fresh_ref()
        await self.ask(ref, [STAND, ref])

    async def start(self) -> None:
        """Begins, with bots on the seats that are open. Raises `Rejected`, `Lost`."""
        ref = self.fresh_ref()
        await self.ask(ref, [START, ref])

    async def rename(self, name: str) -> str:
        """Takes a name and returns it as the server keeps it. Raises `Rejected`, `Lost`."""
        ref = self.fresh_ref()
        # answered by *welcome*, which has no ref
        answer: str = await self.ask(ref, [NAME, ref, name], on_welcome=True)
        return answer

    async def ping(self) -> None:
        """Returns when the server has answered. Raises `Lost`."""
        number = self.fresh_ref()
        await self.ask(number, [PING, number])

    async def leave(self) -> None:
        """Looks at nothing any more."""
        await self.send([LEAVE])
        self.table = Table()

    # -- below

    async def send(self, message: list[Any]) -> None:
        """Sends one message. Raises `Lost`."""
        await self.send_frame(msgspec.msgpack.encode(message))

    async def send_frame(self, frame: bytes | str) -> None:
        """Sends anything at all. Raises `Lost`."""
        try:
            await self.connection.send(frame)
        except ConnectionClosed as closed:
            raise Lost(str(closed)) from closed

    async def ask(self, ref: int, message: list[Any], *, on_welcome: bool = False) -> Any:
        """Sends `message` and returns what answers its `ref`; sent again before that, both get the answer.
        Raises `Rejected`, `Lost`."""
        if (asked := self._answers.get(ref)) is not None:
            await self.send(message)
            return await asyncio.shield(asked)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._answers[ref] = future
        if on_welcome:
            self._welcomes.append(ref)
        try:
            await self.send(message)
            return await future
        finally:
            self._answers.pop(ref, None)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Returns when `condition` holds; it is looked at after every message. Raises `Lost` if it cannot
        come to hold any more."""
        async with self._changed:
            await self._changed.wait_for(lambda: condition() or self._lost)
        if not condition():
            raise Lost("the connection was closed")

    async def _read(self) -> None:
        try:
            async for frame in self.connection:
                assert isinstance(frame, bytes)
                if self.keep_frames:
                    self.frames.append(frame)
                self._received(msgspec.msgpack.decode(frame))
                async with self._changed:
                    self._changed.notify_all()
        except ConnectionClosed:
            pass
        finally:
            self._lost = True
            for future in self._answers.values():
                if not future.done():
                    future.set_exception(Lost("the connection was closed"))
                    future.exception()  # whoever asked may be told by `send`, or have gone
            async with self._changed:
                self._changed.notify_all()

    def _answer(self, ref: int, value: Any) -> None:
        future = self._answers.get(ref)
        if future is not None and not future.done():
            future.set_result(value)

    def _received(self, message: list[Any]) -> None:
        kind, table = message[0], self.table
        if kind == DIFF:
            table.apply(message)
        elif kind == SNAPSHOT:
            if message[1] != table.session:
                table = self.table = Table()
            _, table.session, table.game, table.epoch, table.version, table.seat, table.view, clock = message
            table.elapsed_ms, table.running, table.waiting_ms = clock[0], bool(clock[1]), clock[2]
        elif kind == ACK:
            self._answer(message[1], message[2])
        elif kind == REJECT:
            if message[1] in self._welcomes:
                self._welcomes.remove(message[1])
            future = self._answers.get(message[1])
            if future is not None and not future.done():
                future.set_exception(Rejected(message[2]))
        elif kind == WELCOME:
            self.player, self.name = message[1], message[2]
            self.sessions = [(session, game) for session, game in message[3]]
            if self._welcomes:
                self._answer(self._welcomes.pop(0), self.name)
        elif kind == CREATED:
            self._answer(message[1], message[2])
        elif kind == TABLE:
            table.names, table.viewers, table.chairs = message[1:4]
            table.started, table.settings = bool(message[4]), message[5]
        elif kind == CLOCK:
            table.elapsed_ms, table.running, table.waiting_ms = message[1], bool(message[2]), message[3]
        elif kind == PONG:
            self._answer(message[1], None)
        elif kind == ERROR:
            self.errors.append(message[1])
        elif kind == STORE:
            self.store_answers = bool(message[1])
