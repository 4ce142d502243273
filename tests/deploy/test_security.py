"""What docs/security.md says of headers, cookies, and of the rights that a house wants of its Redis."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from redis import Redis

from heartroom.cli import main
from heartroom.web.app import HEADERS
from heartroom.web.identity import Identity
from tests.cli.test_admin import own_log  # what a command sets up is undone
from tests.deploy.test_deploy import ROOT, SECRET
from tests.support.clusters import cluster
from tests.support.games import CODE, GAME
from tests.support.serving import Server
from tests.support.stores import BINARIES, StoreProcess

SECURITY = (ROOT / "docs" / "security.md").read_text()

__all__ = ["own_log"]


def test_no_header_is_missing_in_the_guide_and_nothing_unsafe_is_allowed() -> None:
    named = re.findall(r"`([a-z-]+)`", SECURITY)
    assert set(HEADERS) <= set(named)
    policy = dict(part.split(" ", 1) for part in HEADERS["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert "unsafe" not in HEADERS["content-security-policy"]
    assert {"frame-ancestors", "base-uri", "form-action"} <= {
        name for name, value in policy.items() if value == "'none'"
    }
    for name in ("script-src", "style-src", "connect-src"):
        assert policy[name] == "'self'"


def test_a_cookie_has_all_that_the_guide_says() -> None:
    sealed = Identity(SECRET).set_cookie("p" * 16, secure=True)
    for flag in ("HttpOnly", "SameSite=Lax", "Path=/", "Secure"):
        assert f"`{flag}`" in SECURITY
        assert flag in sealed.split("; ")


def rights() -> list[str]:
    (line,) = re.findall(r"^    ACL (SETUSER heartroom .*)$", SECURITY, re.MULTILINE)
    return ["ACL", *shlex.split(line)]


@pytest.fixture(params=[*sorted(BINARIES), "cluster"])
def guarded(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a store, for a user with no more rights than the guide gives."""
    if request.param == "cluster":
        with cluster(BINARIES["valkey"]) as of_three:
            for node in of_three.nodes:
                node.ask(*rights(), "+cluster|slots")
            yield of_three.url.replace("://", "://heartroom:password@")
        return
    process = StoreProcess(BINARIES[request.param])
    process.start()
    with Redis.from_url(process.url) as redis:
        redis.execute_command(*rights())
    yield process.url.replace("://", "://heartroom:password@")
    process.remove()


def test_a_house_needs_no_more_rights_than_the_guide_gives(guarded: str, tmp_path: Path) -> None:
    file = str(tmp_path / "backup")

    def typed(*arguments: str) -> None:
        done = CliRunner().invoke(main, ["admin", *arguments], env={"HEARTROOM_REDIS_URL": guarded})
        assert done.exit_code == 0, done.output

    async def play(server: Server) -> None:
        async with await server.connect() as client:
            assert await client.rename("Ada") == "Ada"
            await client.join(await client.new(GAME.name, {"code": CODE}))
            assert await client.act("draw") == 1
            await client.join(await client.new("hearts", {}))
            await client.start()

    server = Server(redis_url=guarded, secret=SECRET)
    try:
        asyncio.run(play(server))
        assert server.get("/readyz").status == 200
        typed("sessions", "--live")
        typed("nodes")
        typed("backup", file)
        assert server.terminate() == 0
        assert "NOPERM" not in server.said()
        assert "permission" not in server.said().lower()
    finally:
        server.stop()
    typed("restore", "--force", file)
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
