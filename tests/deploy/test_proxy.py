"""The real proxy with the real configuration before two real nodes, on the loopback and without containers.

Caddy comes with the tests' requirements, so that these run wherever `make test` does, and everywhere with the
same version; that of the system, if there is one, is not asked.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from heartroom.client import Client, Lost, NotAdmitted
from tests.deploy.test_deploy import ROOT, environment_of, filled, front, upstreams
from tests.support.clusters import free_ports
from tests.support.games import CODE, GAME
from tests.support.serving import Answer, Server, ask
from tests.support.stores import BINARIES, PATIENCE_S, StoreProcess, eventually

CADDY = str(Path(sys.executable).with_name("caddy"))


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
        (self.port,) = free_ports(1)
        self.address = f"127.0.0.1:{self.port}"
        self.process = subprocess.Popen(
            [CADDY, "run", "--config", str(file), "--adapter", "caddyfile"],
            env=os.environ
            | {"SITE": f"http://{self.address}", "HOME": str(folder), "XDG_DATA_HOME": str(folder)},
            stderr=subprocess.DEVNULL,
        )
        eventually(self.answers, "the proxy answers")

    def answers(self) -> bool:
        assert self.process.poll() is None, "the proxy has ended"
        try:
            return self.get("/readyz").status == 200
        except OSError:
            return False

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
