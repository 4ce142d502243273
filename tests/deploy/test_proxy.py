"""The real proxy with the real configuration before two real nodes, on the loopback and without containers.

Caddy comes with the tests' requirements, so that these run wherever `make test` does, and everywhere with the
same version; that of the system, if there is one, is not asked.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from heartroom.client import STORE, Client, Lost, NotAdmitted
from heartroom.protocol import SUBPROTOCOL
from heartroom.web.identity import COOKIE
from tests.deploy.test_deploy import ROOT, environment_of, filled, front, upstreams
from tests.support.clusters import free_ports
from tests.support.games import CODE, GAME
from tests.support.serving import Answer, Server, ask
from tests.support.stores import BINARIES, PATIENCE_S, StoreProcess, eventually, freeze, thaw

CADDY = str(Path(sys.executable).with_name("caddy"))
NOT_READY = ("status code out of tolerances", "unexpected status code", "HTTP request failed")
"""What the proxy says in its log of a node that it asks and that is not ready."""


def adapted(text: str) -> str:
    """Configuration for containers as it is right for the loopback."""
    (subnet,) = front()["ipam"]["config"]
    return text.replace(filled(subnet["subnet"]), "127.0.0.0/8")


class Proxied:
    """Two nodes, with the settings that compose gives them, and the proxy before them."""

    def __init__(self, store: StoreProcess, folder: Path) -> None:
        self.nodes = []
        for name in ("app-1", "app-2"):
            given = {
                key.removeprefix("HEARTROOM_").lower(): adapted(value)
                for key, value in environment_of(name).items()
            }
            self.nodes.append(Server(0, **given | {"redis_url": store.url}))
        config = (ROOT / "deploy" / "Caddyfile").read_text()
        for upstream, node in zip(upstreams(), self.nodes, strict=True):
            config = config.replace(upstream, node.address)
        file = folder / "Caddyfile"
        file.write_text(config)
        self.log = folder / "log"
        (self.port,) = free_ports(1)
        self.address = f"127.0.0.1:{self.port}"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [CADDY, "run", "--config", str(file), "--adapter", "caddyfile"],
                env=os.environ
                | {"SITE": f"http://{self.address}", "HOME": str(folder), "XDG_DATA_HOME": str(folder)},
                stderr=log,
            )
        eventually(self.answers, "the proxy answers")

    def answers(self) -> bool:
        assert self.process.poll() is None, "the proxy has ended"
        try:
            return self.get("/readyz").status == 200
        except OSError:
            return False

    def passed_over(self) -> set[str]:
        """The nodes that the proxy has found not to be ready, since it was started."""
        said = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return {
            one["host"]
            for one in said
            if one.get("logger", "").endswith("health_checker.active") and one["msg"] in NOT_READY
        }

    def get(self, path: str, **headers: str) -> Answer:
        return ask(self.address, path, headers={name.replace("_", "-"): v for name, v in headers.items()})

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        for node in self.nodes:
            node.stop()


@pytest.fixture(scope="module")
def store() -> Iterator[StoreProcess]:
    process = StoreProcess(BINARIES["valkey"])
    process.start()
    yield process
    process.remove()


@pytest.fixture(scope="module")
def proxied(store: StoreProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    """For tests that harm no node."""
    made = Proxied(store, tmp_path_factory.mktemp("proxy"))
    yield made
    made.stop()


@pytest.fixture
def mortal(store: StoreProcess, tmp_path: Path) -> Iterator[Proxied]:
    """For one test, which may."""
    made = Proxied(store, tmp_path)
    yield made
    made.stop()


async def back(proxied: Proxied, cookie: str) -> Client:
    """The same player through the proxy again, as soon as it lets them."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                return await Client.connect(f"ws://{proxied.address}", cookie)
            except (Lost, NotAdmitted):
                await asyncio.sleep(0.05)


def connections(node: Server) -> int:
    """How many websockets a node has, as it says itself to whoever asks it directly."""
    found = re.search(r"^heartroom_connections (\S+)$", node.get("/metrics").body.decode(), re.MULTILINE)
    assert found is not None
    return int(float(found[1]))


async def test_a_game_goes_on_through_the_proxy_when_its_node_dies(mortal: Proxied) -> None:
    client = await Client.connect(f"ws://{mortal.address}")
    cookie = client.cookie
    assert cookie is not None
    session = await client.new(GAME.name, {"code": CODE})
    await client.join(session)
    for version in (1, 2, 3):
        assert await client.act("draw") == version
    held = client.table
    (serving,) = [node for node in mortal.nodes if await asyncio.to_thread(connections, node) == 1]
    serving.kill()
    with pytest.raises(Lost):
        await client.until(lambda: False)
    await client.close()
    again = await back(mortal, cookie)
    try:
        again.table = held
        await again.join(session, held.epoch, held.version)
        assert await again.act("draw") == 4
        assert again.player == client.player
    finally:
        await again.close()


async def test_who_comes_while_a_node_hangs_is_served_by_the_other(mortal: Proxied) -> None:
    """With no time set for connecting and for an answer, half of these would wait until they give up."""
    freeze(mortal.nodes[0].process.pid)
    try:
        clients = [Client.connect(f"ws://{mortal.address}", open_timeout=PATIENCE_S) for _ in range(6)]
        pages = [asyncio.to_thread(mortal.get, "/") for _ in range(6)]
        connected, shown = await asyncio.gather(asyncio.gather(*clients), asyncio.gather(*pages))
        assert [page.status for page in shown] == [200] * 6
        for client in connected:
            assert await client.new(GAME.name, {"code": CODE})
            await client.close()
    finally:
        thaw(mortal.nodes[0].process.pid)


@pytest.fixture
def own_proxied(own: StoreProcess, tmp_path: Path) -> Iterator[Proxied]:
    """For one test, with a store of its own."""
    made = Proxied(own, tmp_path)
    yield made
    made.stop()


@pytest.mark.parametrize("own", ["valkey"], indirect=True)
async def test_while_the_store_is_away_who_comes_is_told_so_by_heartroom(
    own: StoreProcess, own_proxied: Proxied
) -> None:
    nodes = {node.address for node in own_proxied.nodes}
    async with await Client.connect(f"ws://{own_proxied.address}") as client:
        cookie = client.cookie
        assert cookie is not None
        session = await client.new(GAME.name, {"code": CODE})
    own.kill()
    await asyncio.to_thread(eventually, lambda: own_proxied.passed_over() == nodes, "no node is ready")
    page = await asyncio.to_thread(own_proxied.get, "/")
    assert page.status == 200
    assert page.one("content-security-policy").startswith("default-src 'none'")
    refused = await asyncio.to_thread(own_proxied.get, "/api/daily")
    assert (refused.status, json.loads(refused.body)) == (503, {"code": "unavailable"})
    assert (await asyncio.to_thread(own_proxied.get, "/readyz")).status == 503
    assert (await asyncio.to_thread(own_proxied.get, "/metrics")).status == 404
    headers = {"Cookie": f"{COOKIE}={cookie}"}
    async with connect(
        f"ws://{own_proxied.address}/ws",
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        additional_headers=headers,
        proxy=None,
    ) as connection:
        assert msgspec.msgpack.decode(await connection.recv(decode=False)) == [STORE, False]
        own.start()
        while msgspec.msgpack.decode(await connection.recv(decode=False)) != [STORE, True]:
            pass
    async with await back(own_proxied, cookie) as client:
        await client.join(session)
        assert await client.act("draw") == 1
    await asyncio.to_thread(eventually, own_proxied.answers, "a node is ready again")


def test_a_node_that_lives_is_looked_for_among_all_there_are() -> None:
    lists = re.findall(r"reverse_proxy (.*) \{", (ROOT / "deploy" / "Caddyfile").read_text())
    assert len(lists) >= 2
    assert {tuple(one.split()) for one in lists} == {tuple(upstreams())}


@pytest.mark.parametrize(
    "path", ["/metrics", "/%6detrics", "/metrics?x", "//metrics", "/./metrics", "/metrics/"]
)
def test_what_the_nodes_count_is_not_shown_outside(proxied: Proxied, path: str) -> None:
    for headers in ({}, {"X_Forwarded_For": "127.0.0.1"}, {"Forwarded": "for=127.0.0.1"}):
        answer = proxied.get(path, **headers)
        assert answer.status != 200
        assert b"heartroom_" not in answer.body
    assert proxied.get("/metrics").status == 404
    assert proxied.nodes[0].get("/metrics").status == 200


def test_pages_and_their_headers_come_through(proxied: Proxied) -> None:
    answer = proxied.get("/")
    assert answer.status == 200
    assert answer.one("content-security-policy").startswith("default-src 'none'")
    assert "HttpOnly" in answer.one("set-cookie")
    assert "Secure" not in answer.one("set-cookie")


def test_who_gives_a_false_address_to_the_proxy_is_not_believed(proxied: Proxied) -> None:
    """Else the cookie of a page without TLS could be told to be `Secure`, and limits by address be passed."""
    answer = proxied.get("/", X_Forwarded_Proto="https", X_Forwarded_For="203.0.113.9")
    assert "Secure" not in answer.one("set-cookie")
