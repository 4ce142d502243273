"""Pages and files of the client, of a client that is built here for the test."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from heartroom.store.store import Store
from heartroom.web import app
from heartroom.web.app import HEADERS, Web
from heartroom.web.identity import Identity
from heartroom.web.settings import load
from tests.support.serving import SECRET, Answer, ask

INDEX = b'<!doctype html><meta name="games" content="" /><title>heartroom</title>'

Get = Callable[..., Awaitable[Answer]]


class Quiet(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield


@contextlib.asynccontextmanager
async def serving(**more: Any) -> AsyncIterator[Get]:
    """Serves what is built; the store is nowhere, as no page needs it."""
    store = Store("redis://127.0.0.1:1", timeout_s=1.0)
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(Web(load({}), SECRET, store).app(), log_config=None, server_header=False, **more)
    server = Quiet(config)
    running = asyncio.ensure_future(server.serve(sockets=[listening]))
    address = f"127.0.0.1:{listening.getsockname()[1]}"

    async def get(path: str, method: str = "GET", **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await asyncio.to_thread(ask, address, path, method, named)

    yield get
    server.should_exit = True
    await running


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "main-abc123.js").write_text("export {};")
    (tmp_path / "index.html").write_bytes(INDEX)
    (tmp_path / "favicon.svg").write_text("<svg/>")
    monkeypatch.setattr(app, "STATIC", tmp_path)
    return tmp_path


PAGES = ("/", "/g/AAAAAAAAAAAA", "/r/AAAAAAAAAAAA", "/d/HH1-N-AAAAAAM", "/rules/heart-to-heart", "/me")


async def test_every_page_is_the_client_and_carries_the_headers(built: Path) -> None:
    async with serving() as get:
        for path in PAGES:
            page = await get(path)
            assert page.status == 200
            assert b"<title>heartroom</title>" in page.body
            assert page.one("content-type") == "text/html; charset=utf-8"
            assert page.one("cache-control") == "no-store"
            for name, value in HEADERS.items():
                assert page.one(name) == value


async def test_a_page_makes_a_player_of_a_stranger_and_keeps_one_it_knows(built: Path) -> None:
    async with serving() as get:
        cookie = (await get("/")).one("set-cookie")
        name, *flags = cookie.split("; ")
        assert flags == ["Path=/", "Max-Age=31536000", "HttpOnly", "SameSite=Lax"]
        assert Identity(SECRET).read(name) is not None
        again = await get("/me", cookie=f"theme=dark; {name}")
        assert again.one("set-cookie") == cookie
        other = await get("/", cookie=name[:-1])
        assert other.one("set-cookie").split("; ")[0] != name


async def test_behind_a_proxy_with_tls_the_cookie_is_for_tls_alone(built: Path) -> None:
    async with serving(proxy_headers=True, forwarded_allow_ips="127.0.0.1") as get:
        assert (await get("/", x_forwarded_proto="https")).one("set-cookie").endswith("; Secure")
        assert "Secure" not in (await get("/")).one("set-cookie")


async def test_a_page_that_there_is_none_of_is_the_client_with_404(built: Path) -> None:
    async with serving() as get:
        for path in (
            "/nothing",
            "/g",
            "/g/a/b",
            "/index.html.bak",
            "/../secret",
            "/%2e%2e/secret",
        ):
            page = await get(path)
            assert page.status == 404, path
            assert b"<title>heartroom</title>" in page.body
            for name, value in HEADERS.items():
                assert page.one(name) == value


async def test_files_with_a_hash_in_their_name_are_kept_for_ever_and_others_are_asked_for(
    built: Path,
) -> None:
    async with serving() as get:
        asset = await get("/assets/main-abc123.js")
        assert (asset.status, asset.body) == (200, b"export {};")
        assert asset.one("cache-control") == "public, max-age=31536000, immutable"
        icon = await get("/favicon.svg")
        assert (icon.status, icon.body) == (200, b"<svg/>")
        assert "immutable" not in "".join(icon.all("cache-control"))
        for answer in (asset, icon):
            assert answer.all("set-cookie") == []
            for name, value in HEADERS.items():
                assert answer.one(name) == value


async def test_nothing_beside_the_client_is_given_out(built: Path) -> None:
    (built.parent / "secret").write_text("sealed")
    (built / "assets" / "link").symlink_to(built.parent / "secret")
    async with serving() as get:
        for path in (
            "/assets/../../secret",
            "/assets/%2e%2e/%2e%2e/secret",
            "/assets/..%2f..%2fsecret",
            "/assets//etc/passwd",
            "/assets/link",
        ):
            assert b"sealed" not in (await get(path)).body


async def test_head_is_answered_without_a_body(built: Path) -> None:
    async with serving() as get:
        page = await get("/", "HEAD")
        assert (page.status, page.body) == (200, b"")
        assert (await get("/nothing", "HEAD")).status == 404


async def test_a_client_that_is_not_built_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "STATIC", tmp_path / "none")
    async with serving() as get:
        page = await get("/")
        assert page.status == 503
        assert b"make client" in page.body
        assert page.one("x-frame-options") == "DENY"
        assert (await get("/healthz")).status == 200
        assert (await get("/readyz")).status == 503
