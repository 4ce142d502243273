"""Answers over HTTP: JSON, refusals with their codes, and what a request must be to change anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import msgspec
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response

from heartroom import metrics
from heartroom.games.game import Refused
from heartroom.protocol.codes import Code
from heartroom.protocol.inbound import LARGEST
from heartroom.store.store import Away

STATUS: Final = {
    Code.NO_SESSION.value: HTTPStatus.NOT_FOUND,
    Code.UNREADABLE.value: HTTPStatus.GONE,
    Code.NO_DAY.value: HTTPStatus.NOT_FOUND,
    Code.NO_GROUP.value: HTTPStatus.NOT_FOUND,
    Code.NOT_OVER.value: HTTPStatus.CONFLICT,
    Code.GAME_OVER.value: HTTPStatus.CONFLICT,
    Code.GROUP_FULL.value: HTTPStatus.CONFLICT,
    Code.SEALED.value: HTTPStatus.FORBIDDEN,
    Code.PRIVATE.value: HTTPStatus.FORBIDDEN,
    Code.NOT_SEATED.value: HTTPStatus.FORBIDDEN,
    Code.BAD_ORIGIN.value: HTTPStatus.FORBIDDEN,
    Code.BAD_RECOVERY.value: HTTPStatus.FORBIDDEN,
    Code.TOO_FAST.value: HTTPStatus.TOO_MANY_REQUESTS,
    Code.TOO_LARGE.value: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    Code.UNAVAILABLE.value: HTTPStatus.SERVICE_UNAVAILABLE,
}
"""The status that goes with a code; of all others it is 400."""

T = TypeVar("T")
_Self = TypeVar("_Self")
_Endpoint = Callable[[_Self, Request], Awaitable[Response]]


def refusal(status: HTTPStatus, code: str) -> JSONResponse:
    """`{"code": …}`. Every refusal over HTTP is made here, and counted."""
    metrics.REFUSALS.labels(code).inc()
    return JSONResponse({"code": code}, status)


def answer(value: Any) -> Response:
    """`value` as JSON that nobody keeps."""
    headers = {"cache-control": "no-store"}
    return Response(msgspec.json.encode(value), headers=headers, media_type="application/json")


def answering(endpoint: _Endpoint[_Self]) -> _Endpoint[_Self]:
    """An endpoint whose refusals become answers."""

    async def answered(web: _Self, request: Request) -> Response:
        try:
            return await endpoint(web, request)
        except Refused as refused:
            return refusal(STATUS.get(refused.code, HTTPStatus.BAD_REQUEST), refused.code)
        except Away:
            return refusal(STATUS[Code.UNAVAILABLE.value], Code.UNAVAILABLE.value)

    return answered


def of_own_page(connection: HTTPConnection, origins: tuple[str, ...]) -> bool:
    """Whether a page of ours (or of `origins`) has sent this. Without an `Origin` nobody knows."""
    origin = connection.headers.get("origin")
    if origin is None:
        return False
    try:
        scheme, netloc, *_ = urlsplit(origin)
    except ValueError:
        return False
    own = scheme in ("http", "https") and netloc == connection.headers.get("host")
    return own or origin in origins


async def body(request: Request, kind: type[T], origins: tuple[str, ...]) -> T:
    """What a *POST* brings, a JSON object of at most `LARGEST` bytes.

    Browsers tell where a request comes from. One that changes something must come from a page of ours: it
    bears the player's cookie whoever has written the page.

    Raises `Refused` (`bad_origin`, `too_large`, `malformed`).
    """
    if not of_own_page(request, origins):
        raise Refused(Code.BAD_ORIGIN.value)
    if request.headers.get("sec-fetch-site") == "cross-site" and request.headers["origin"] not in origins:
        raise Refused(Code.BAD_ORIGIN.value)
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise Refused(Code.MALFORMED.value)
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > LARGEST:
            raise Refused(Code.TOO_LARGE.value)
    try:
        return msgspec.json.decode(raw or b"{}", type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise Refused(Code.MALFORMED.value) from None
