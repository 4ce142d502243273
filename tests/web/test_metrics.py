"""What the server counts, as a Prometheus would read it."""

from __future__ import annotations

import asyncio
import http.client
import os
import signal
import socket

import psutil
import pytest
from prometheus_client.parser import text_string_to_metric_families

from heartroom.client import Rejected
from heartroom.players.service import Players
from heartroom.protocol import SUBPROTOCOL
from heartroom.protocol.inbound import LARGEST
from heartroom.web.identity import COOKIE, Identity
from heartroom.web.settings import Settings
from tests.support.games import CODE, GAME, pid
from tests.support.guests import until
from tests.support.serving import SECRET, Server
from tests.support.stores import PATIENCE_S, StoreProcess

REFUSALS = "heartroom_refusals_total"


def counted(server: Server) -> dict[tuple[str, str], float]:
    """By name and (joined) labels."""
    answer = server.get("/metrics")
    assert answer.status == 200
    assert answer.one("content-type").startswith("text/plain; version=0.0.4")
    families = text_string_to_metric_families(answer.body.decode())
    return {
        (sample.name, ",".join(sample.labels.values())): sample.value
        for family in families
        for sample in family.samples
    }


async def play(server: Server, draws: int) -> None:
    async with await server.connect() as client:
        await client.join(await client.new(GAME.name, {"code": CODE}))
        for _ in range(draws):
            await client.act("draw")
        with pytest.raises(Rejected):
            await client.act("recycle")
        client.table.version -= 1  # as if the last diff had been lost
        await client.join(client.table.session, client.table.epoch, client.table.version)
        await client.join(client.table.session, client.table.epoch + 1, 1)


async def test_what_is_done_is_counted(shared: StoreProcess) -> None:
    server = Server(redis_url=shared.url, secret=SECRET)
    try:
        await play(server, 3)
        found = await asyncio.to_thread(counted, server)
        assert found["heartroom_actions_total", ""] == 3
        assert found["heartroom_commit_batch_entries_count", ""] == 3
        assert found["heartroom_commit_seconds_count", ""] == 3
        assert found["heartroom_refusals_total", "stock_not_empty"] == 1
        assert found["heartroom_sessions_created_total", GAME.name] == 1
        assert [found["heartroom_joins_total", kind] for kind in ("first", "diffs", "snapshot")] == [1, 1, 1]
        assert found["heartroom_store_failures_total", ""] == 0
        assert found["process_resident_memory_bytes", ""] > 0

        async def nobody_connected() -> bool:
            return (await asyncio.to_thread(counted, server))["heartroom_connections", ""] == 0

        await until(nobody_connected)
    finally:
        server.stop()


def asks(server: Server, path: str, body: bytes | None, **headers: str) -> int:
    """The status of what a page of the house asks, or with `headers` somebody else."""
    method = "GET" if body is None else "POST"
    sent = {
        "Origin": f"http://{server.address}",
        "Content-Type": "application/json",
        "Cookie": f"{COOKIE}={Identity(SECRET).seal(pid())}",
    } | headers
    connection = http.client.HTTPConnection(server.address, timeout=PATIENCE_S)
    try:
        connection.request(method, path, body, sent)
        return connection.getresponse().status
    finally:
        connection.close()


def test_every_refusal_over_http_is_counted_once_by_its_code(own: StoreProcess) -> None:
    server = Server(redis_url=own.url, secret=SECRET, connections_per_address="1")
    cookie = f"{COOKIE}={Identity(SECRET).seal(pid())}"
    attempts, _ = Players.ATTEMPTS
    try:
        assert asks(server, "/api/groups", b"{}", Origin="https://evil.example") == 403
        assert asks(server, "/api/groups", b'{"name": "' + b"x" * LARGEST + b'"}') == 413
        assert asks(server, "/api/groups", b"no json") == 400
        for _ in range(Players.MOST_GROUPS):
            assert asks(server, "/api/groups", b'{"name": "Friends"}', Cookie=cookie) == 200
        assert asks(server, "/api/groups", b'{"name": "Friends"}', Cookie=cookie) == 409
        for _ in range(attempts):
            assert asks(server, "/api/me/recover", b'{"code": "x"}') == 403
        assert asks(server, "/api/me/recover", b'{"code": "x"}') == 429
        assert asks(server, "/api/daily/yesterday", None) == 404
        assert asks(server, "/api/replays/AAAAAAAAAAAA", None) == 404
        assert asks(server, "/api/replays/example/chess", None) == 404
        assert asks(server, "/api/nothing", None) == 404
        assert asks(server, "/api/groups", None) == 405
        assert asks(server, "/healthz", b"") == 405
        assert asks(server, "/api/me", None) == 200
        with socket.create_connection(("127.0.0.1", server.port)) as holding:
            assert shakes_hands(server, holding) == 101
            with socket.create_connection(("127.0.0.1", server.port)) as second:
                assert shakes_hands(server, second) == 429
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", server.port)) as babbling:
                babbling.sendall(b"what is this?\r\n\r\n")
                babbling.settimeout(PATIENCE_S)
                assert babbling.recv(1000).startswith(b"HTTP/1.1 400 ")
        assert "Invalid HTTP" not in server.said()  # a log that anybody could fill
        found = {of: value for (name, of), value in counted(server).items() if name == REFUSALS}
        assert found == {
            "bad_request": 3,
            "bad_origin": 1,
            "too_large": 1,
            "malformed": 1,
            "group_full": 1,
            "bad_recovery": attempts,
            "too_fast": 1,
            "no_day": 1,
            "no_session": 1,
            "unknown_game": 1,
            "not_found": 1,
            "wrong_method": 2,
            "too_many_connections": 1,
        }
    finally:
        server.stop()


def shakes_hands(server: Server, connection: socket.socket) -> int:
    """The status of the answer to a websocket's handshake."""
    connection.settimeout(PATIENCE_S)
    lines = (
        "GET /ws HTTP/1.1",
        f"Host: {server.address}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        f"Sec-WebSocket-Protocol: {SUBPROTOCOL}",
    )
    connection.sendall("\r\n".join((*lines, "", "")).encode())
    return int(connection.makefile("rb").readline().split()[1])


async def test_workers_show_what_all_of_them_count_the_dead_ones_too(shared: StoreProcess) -> None:
    server = Server(redis_url=shared.url, secret=SECRET, workers="2")
    try:
        await play(server, 5)
        worker = psutil.Process(server.process.pid).children()[0]
        os.kill(worker.pid, signal.SIGKILL)
        await play(server, 4)
        for _ in range(6):  # whichever worker answers
            found = await asyncio.to_thread(counted, server)
            assert found["heartroom_actions_total", ""] == 9
            # as docs/operations.md and the dashboard say
            assert not any(name.startswith("process_") for name, _ in found)
    finally:
        server.stop()


def test_others_are_told_that_there_is_no_such_page(shared: StoreProcess) -> None:
    server = Server(redis_url=shared.url, secret=SECRET, metrics_from="10.0.0.0/8,::1")
    try:
        answer = server.get("/metrics")
        assert answer.status == 404
        assert b"heartroom_" not in answer.body
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("address", "may"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("128.0.0.1", False),
        ("::2", False),
        ("", False),
        ("localhost", False),
    ],
)
def test_by_default_only_this_machine_may_know(address: str, may: bool) -> None:
    assert Settings().shows_metrics_to(address) is may


@pytest.mark.parametrize(
    ("host", "may"),
    [
        ("localhost:8000", True),
        ("127.0.0.1", True),
        ("[::1]:8000", True),
        ("app-1:8000", True),
        ("cards.localhost", True),
        ("", True),
        ("evil.example:8000", False),
        ("evil.example.", False),
        ("127.0.0.1.evil.example", False),
        ("[", False),
    ],
)
def test_a_page_whose_domain_leads_to_this_machine_may_not_know(host: str, may: bool) -> None:
    settings = Settings(metrics_from=("127.0.0.0/8", "::1", "10.0.0.0/8"))
    assert settings.shows_metrics_to("127.0.0.1", host) is may
    assert settings.shows_metrics_to("::ffff:127.0.0.1", host) is may
    assert settings.shows_metrics_to("10.0.0.1", host)


def test_the_name_that_is_asked_for_is_looked_at(shared: StoreProcess) -> None:
    server = Server(redis_url=shared.url, secret=SECRET)
    try:
        assert server.get("/metrics", Host="evil.example").status == 404
        assert server.get("/metrics", Host=f"localhost:{server.port}").status == 200
    finally:
        server.stop()
