"""The Starlette application: routes, the websocket endpoint, headers, start and end."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.resources
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import structlog
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from heartroom import metrics, turns
from heartroom.games.game import Refused, games
from heartroom.players.service import neighbourhood
from heartroom.protocol import SUBPROTOCOL
from heartroom.protocol.codes import Close, Code
from heartroom.sessions import record
from heartroom.sessions.house import House
from heartroom.sessions.room import Room
from heartroom.sessions.table import HOUSE
from heartroom.store.store import Away, Store
from heartroom.web.answers import answering, of_own_page, refusal
from heartroom.web.api import Api
from heartroom.web.connection import Connection
from heartroom.web.identity import Identity
from heartroom.web.settings import Settings
from heartroom.web.sockets import HIGH_WATER, DirectOutlet, DirectProtocol, PlainOutlet, Unsent, direct

_log = structlog.get_logger(__name__)

STATIC: Final = Path(__file__).parent / "static"
"""The built client."""

READY_S: Final = 1.5
"""How long an answer to `/readyz` may take."""

HEADERS: Final = {
    "content-security-policy": "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data:",
            "font-src 'self'",
            "connect-src 'self'",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""On every answer over HTTP."""

_PAGES: Final = (
    "/",
    "/g/{session}",
    "/r/{session}",
    "/d/{code}",
    "/rules/{game}",
    "/learn/{game}",
    "/examples/{game}",
    "/daily",
    "/daily/{date}",
    "/calendar",
    "/calendar/{month}",
    "/all-time",
    "/live",
    "/me",
    "/join/{group}",
)
"""Addresses that the client makes pages of."""


class SecurityHeaders:
    """Adds `HEADERS` to every HTTP response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._headers = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self._headers]
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)


class HashedFiles(StaticFiles):
    """Files whose names change with their contents: never asked for twice."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """As in `StaticFiles`, with a lifetime."""
        response = super().file_response(*args, **kwargs)
        response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response


class Web:
    """Everything that answers over HTTP and websockets, for one node."""

    def __init__(self, settings: Settings, secret: str, store: Store) -> None:
        self._settings: Final = settings
        self._unsent: Final = Unsent()
        self._identity: Final = Identity(secret)
        self._store: Final = store
        self._connected: Final[Counter[str]] = Counter()
        """Websockets that are open, by where they come from."""
        self._open: Final[set[DirectProtocol]] = set()
        self.house: Final = House(store, settings.limits)
        self.house.when_kept_out.append(self._send_elsewhere)
        self.api: Final = Api(self.house, self._identity, settings.origins)
        index = STATIC / "index.html"
        self._pages: Final = [Route(path, self.page) for path in _PAGES]
        self._index: Final = with_games(index.read_bytes()) if index.is_file() else None

    def app(self) -> ASGIApp:
        """The ASGI application."""
        routes: list[Any] = [
            WebSocketRoute("/ws", self.websocket),
            Route("/healthz", self.healthz),
            Route("/readyz", self.readyz),
            Route("/metrics", self.metrics),
            Route("/api/sessions/{session}/log", self.log),
            Route("/api/replays/example/{game}", self.example),
            Route("/api/replays/{session}", self.replay),
            *self.api.routes(),
            *self._pages,
        ]
        if STATIC.is_dir():
            if (STATIC / "assets").is_dir():
                # Only these are packed: they hold nothing that somebody who counts bytes could want to know.
                routes.append(Mount("/assets", GZipMiddleware(HashedFiles(directory=STATIC / "assets"))))
            for file in sorted(STATIC.iterdir()):
                if file.is_file() and file.name != "index.html":
                    routes.append(Route(f"/{file.name}", partial(self.file, path=file)))
        handlers: dict[Any, Any] = {
            404: self.not_found,
            405: self.not_so,
            ClientDisconnect: self.gone,
        }
        app = Starlette(routes=routes, lifespan=self.lifespan, exception_handlers=handlers)
        app.router.redirect_slashes = False  # it would send to whatever host the client named
        # Around all of it: a middleware of Starlette's is not asked when something fails.
        return SecurityHeaders(app)

    @contextlib.asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        """Opens the house, and closes it when the last connection is gone."""
        self.house.start()
        self.api.start()
        try:
            yield
        finally:
            await self.api.aclose()
            await self.house.aclose()
            await self._store.aclose()

    # -- pages

    async def page(self, request: Request, status: HTTPStatus = HTTPStatus.OK) -> Response:
        """The client, which reads from the address what to show."""
        if self._index is None:
            return PlainTextResponse(
                "The client is not built: run `make client`.", HTTPStatus.SERVICE_UNAVAILABLE
            )
        pid = self._identity.read(request.headers.get("cookie")) or self._identity.fresh()
        cookie = self._identity.set_cookie(pid, secure=request.url.scheme == "https")
        headers = {"cache-control": "no-store", "set-cookie": cookie}
        return Response(self._index, status, headers, "text/html")

    async def not_found(self, request: Request, _error: Exception) -> Response:
        """Pages that there are none of; the client says so in the reader's language."""
        if request.url.path.startswith(("/api/", "/assets/")) or request.method not in ("GET", "HEAD"):
            return refusal(HTTPStatus.NOT_FOUND, "not_found")
        asked = request.scope["raw_path"].decode("latin-1")
        if asked.endswith("/") and self._is_page(request.scope["path"][:-1]):
            query = f"?{request.url.query}" if request.url.query else ""
            return RedirectResponse(asked[:-1] + query)
        return await self.page(request, HTTPStatus.NOT_FOUND)

    def _is_page(self, path: str) -> bool:
        return any(page.path_regex.match(path) for page in self._pages)

    async def not_so(self, _request: Request, error: HTTPException) -> Response:
        """What is there, asked in a way in which it cannot be."""
        response = refusal(HTTPStatus.METHOD_NOT_ALLOWED, "wrong_method")
        response.headers.update(error.headers or {})
        return response

    async def gone(self, _request: Request, _error: Exception) -> Response:
        """Somebody left in the middle of a request: nobody's error, and an answer to nobody."""
        return Response(status_code=HTTPStatus.BAD_REQUEST)

    async def file(self, _request: Request, path: Path) -> Response:
        """One of the client's files with a fixed name."""
        return await StaticFiles(directory=STATIC).get_response(path.name, _request.scope)

    async def healthz(self, _request: Request) -> Response:
        """The process works."""
        return PlainTextResponse("ok\n")

    async def readyz(self, _request: Request) -> Response:
        """The process works, and its store is whole and stores: on all shards, with as many replicas as are
        waited for."""
        # At once: a store that is far away may take a good part of that time for each.
        ready, restoring = await asyncio.gather(self.house.ready(READY_S), self._restoring())
        if not ready and self.house.shut_out:
            return PlainTextResponse(
                "the store does not let this node do all that it must: see its log\n",
                HTTPStatus.SERVICE_UNAVAILABLE,
            )
        if not ready:
            return PlainTextResponse(
                "the store does not store: see this node's log\n", HTTPStatus.SERVICE_UNAVAILABLE
            )
        if self.house.kept_out:
            return PlainTextResponse(
                "nodes of another format have the store\n", HTTPStatus.SERVICE_UNAVAILABLE
            )
        if restoring:
            return PlainTextResponse("the store is being restored\n", HTTPStatus.SERVICE_UNAVAILABLE)
        return PlainTextResponse("ok\n")

    async def _restoring(self) -> bool:
        """Whether the store is known to be no whole one. Whether it answers is for others to ask."""
        with contextlib.suppress(Away, TimeoutError):
            async with asyncio.timeout(READY_S):
                return await self._store.restoring()
        return False

    async def metrics(self, request: Request) -> Response:
        """What this process counts, for those who may know."""
        client = request.client.host if request.client else ""
        if not self._settings.shows_metrics_to(client, request.headers.get("host", "")):
            return refusal(HTTPStatus.NOT_FOUND, "not_found")
        return Response(metrics.shown(), media_type=metrics.CONTENT_TYPE)

    # -- finished games

    async def _finished(self, request: Request) -> Room:
        pid = self._identity.read(request.headers.get("cookie")) or ""
        room = await self.house.enter(request.path_params["session"], pid)
        if not room.is_over:
            raise Refused(Code.NOT_OVER.value)
        return room

    @answering
    async def log(self, request: Request) -> Response:
        """A finished game as JSON lines."""
        room = await self._finished(request)
        lines = record.lines(room.game, room.setup, room.names, _played(room))
        raw = b"".join(await turns.collect(lines, House.TOGETHER))
        disposition = f'attachment; filename="{room.game.name}-{room.sid}.jsonl"'
        return Response(raw, headers={"content-disposition": disposition}, media_type="application/jsonl")

    @answering
    async def replay(self, request: Request) -> Response:
        """A finished game to look at."""
        room = await self._finished(request)
        game, setup = room.game, room.setup
        frames = record.frames(game, game.initial(setup), _played(room))
        shown = await turns.collect(frames, House.TOGETHER)
        people: list[Any] = []
        if game.seats > 1:
            pid = self._identity.read(request.headers.get("cookie"))
            players = [chair.pid for chair in room.table.chairs]
            people = [[not player for player in players], players.index(pid) if pid in players else None]
        answer = record.replay(game, setup, room.names, shown, *people)
        return Response(answer, media_type="application/msgpack")

    async def example(self, request: Request) -> Response:
        """The recorded game that a game's folder brings along."""
        raw = _example(request.path_params["game"])
        if raw is None:
            return refusal(HTTPStatus.NOT_FOUND, Code.UNKNOWN_GAME.value)
        read = record.read(raw)
        shown = list(record.frames(read.game, read.states[0], read.deeds))
        return Response(
            record.replay(read.game, read.setup, read.header.names, shown),
            headers={"cache-control": "public, max-age=3600"},
            media_type="application/msgpack",
        )

    # -- the websocket

    def _own_origin(self, connection: HTTPConnection) -> bool:
        """Whether a browser's page (which sends its origin) is one of ours."""
        return "origin" not in connection.headers or of_own_page(connection, self._settings.origins)

    async def websocket(self, websocket: WebSocket) -> None:
        """One client's connection, from handshake to end."""
        if not self._own_origin(websocket):
            metrics.REFUSALS.labels(Code.BAD_ORIGIN.value).inc()
            await websocket.close()  # before the handshake: 403
            return
        address = neighbourhood(websocket.client.host) if websocket.client else ""
        if address and self._connected[address] >= self._settings.connections_per_address:
            await websocket.send_denial_response(
                refusal(HTTPStatus.TOO_MANY_REQUESTS, Code.TOO_MANY_CONNECTIONS.value)
            )
            return
        self._connected[address] += 1
        try:
            await self._admitted(websocket)
        finally:
            self._connected[address] -= 1
            if not self._connected[address]:
                del self._connected[address]

    async def _admitted(self, websocket: WebSocket) -> None:
        headers: list[tuple[bytes, bytes]] = []
        pid = self._identity.read(websocket.headers.get("cookie"))
        if pid is None:
            pid = self._identity.fresh()
            cookie = self._identity.set_cookie(pid, secure=websocket.url.scheme == "wss")
            headers.append((b"set-cookie", cookie.encode()))
        if SUBPROTOCOL not in websocket.scope["subprotocols"]:
            metrics.REFUSALS.labels("wrong_subprotocol").inc()
            await websocket.accept(headers=headers)
            await websocket.close(Close.WRONG_SUBPROTOCOL)
            return
        await websocket.accept(SUBPROTOCOL, headers)
        protocol = direct(websocket.scope)
        if protocol is None:
            await self._plain(websocket, pid)
            return
        self._open.add(protocol)
        try:
            if self._settings.plain_sends:
                await self._plain(websocket, pid)
            else:
                await self._direct(websocket, protocol, pid)
        finally:
            self._open.discard(protocol)

    def _send_elsewhere(self) -> None:
        """Whoever is connected is to try another node: nothing is done here any more."""
        for protocol in list(self._open):
            protocol.shutdown()

    def _connection(self, websocket: WebSocket, outlet: DirectOutlet | PlainOutlet, pid: str) -> Connection:
        protocol = direct(websocket.scope)

        def hang_up(code: Close) -> None:
            if protocol is not None:
                protocol.deafen()
            closing = asyncio.ensure_future(_close(websocket, code))
            closing.add_done_callback(lambda _: None)  # keeps it alive until it is done

        allowance = (self._settings.frames_per_second, self._settings.frames_burst)
        if protocol is None:
            return Connection(self.house, outlet, pid, allowance, hang_up)
        connection = Connection(self.house, outlet, pid, allowance, hang_up, protocol.slow_down)
        protocol.count(connection.counted)
        return connection

    async def _direct(self, websocket: WebSocket, protocol: DirectProtocol, pid: str) -> None:
        connection = self._connection(websocket, DirectOutlet(protocol, self._unsent), pid)
        protocol.take_over(connection.received, connection.drained)
        connection.opened()
        try:
            while (await websocket.receive())["type"] != "websocket.disconnect":
                pass  # only what came before we took over could be here, and nothing may
        finally:
            connection.closed()
            protocol.let_go()

    async def _plain(self, websocket: WebSocket, pid: str) -> None:
        clear = asyncio.Event()

        def drained() -> None:
            clear.set()
            connection.drained()

        outlet = PlainOutlet(websocket.send, drained)
        connection = self._connection(websocket, outlet, pid)
        sending = asyncio.ensure_future(outlet.run())
        connection.opened()
        try:
            while (message := await websocket.receive())["type"] != "websocket.disconnect":
                data = message.get("bytes")
                connection.received(data or b"", data is not None)
                if outlet.backlog > HIGH_WATER:
                    clear.clear()
                    cleared = asyncio.ensure_future(clear.wait())
                    await asyncio.wait([sending, cleared], return_when="FIRST_COMPLETED")
                    cleared.cancel()
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
            connection.closed()
            if (protocol := direct(websocket.scope)) is not None:
                protocol.let_go()


def _played(room: Room) -> Iterator[tuple[int, int, Any]]:
    """What was done by the players of a finished game, each with its ms since the game's time began."""
    started = room.started_ms or 0
    return ((at_ms - started, deed.seat, deed.action) for at_ms, deed in room.deeds() if deed.seat != HOUSE)


def with_games(page: bytes) -> bytes:
    """The client's page, which says in a `meta` element what games there are: it offers no others."""
    return page.replace(b'name="games" content=""', b'name="games" content="%s"' % " ".join(games()).encode())


async def _close(websocket: WebSocket, code: Close) -> None:
    with contextlib.suppress(RuntimeError, WebSocketDisconnect, OSError):
        await websocket.close(code)


def _example(game_name: str) -> bytes | None:
    if game_name not in games():
        return None
    folder = importlib.resources.files(f"heartroom.games.{game_name.replace('-', '_')}") / "examples"
    if not folder.is_dir():
        return None
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".jsonl"):
            return file.read_bytes()
    return None
