"""What docker-compose.yml, Dockerfile and the proxy's configuration promise each other and the server.

No Docker is needed, and no proxy.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from heartroom.web import settings

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "docker-compose.yml"
SECRET = "a long random string"


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())["services"]
    return found


def replicas() -> dict[str, Any]:
    return {name: service for name, service in services().items() if "build" in service}


def instructions(name: str) -> list[str]:
    """The arguments of each `name` instruction of the Dockerfile, in order."""
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    return [line.removeprefix(name).strip() for line in text.splitlines() if line.startswith(f"{name} ")]


def image_environment() -> dict[str, str]:
    """What the image sets for the server."""
    pairs = [pair.split("=", 1) for line in instructions("ENV") for pair in shlex.split(line)]
    return {name: value for name, value in pairs if name.startswith("HEARTROOM_")}


def upstreams() -> list[str]:
    """`host:port` of each replica that the proxy knows."""
    line = re.search(r"reverse_proxy (.*) \{", (ROOT / "deploy/Caddyfile").read_text())
    assert line is not None
    return line[1].split()


def test_the_compose_file_is_in_the_compose_schema() -> None:
    command = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        "vendor.compose-spec",
        str(COMPOSE),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_volume_that_is_mounted_is_declared_or_in_this_repository() -> None:
    declared = yaml.safe_load(COMPOSE.read_text())["volumes"]
    for service in services().values():
        for mount in service.get("volumes", ()):
            source = mount.split(":")[0]
            assert (ROOT / source).is_file() if source.startswith(".") else source in declared


def test_two_replicas_stand_behind_the_proxy_on_the_image_s_port() -> None:
    port = image_environment()["HEARTROOM_PORT"]
    assert len(replicas()) == 2
    assert upstreams() == [f"{name}:{port}" for name in replicas()]
    assert instructions("EXPOSE") == [port]


def test_only_the_proxy_is_reachable_from_outside() -> None:
    assert [name for name, service in services().items() if "ports" in service] == ["proxy"]


@pytest.mark.parametrize("replica", replicas())
def test_the_server_takes_a_replica_s_settings(replica: str) -> None:
    given = {
        name: re.sub(r"\$\{HEARTROOM_SECRET:\?[^}]*\}", SECRET, value)
        for name, value in services()[replica]["environment"].items()
    }
    taken = settings.load(image_environment() | given)
    assert taken.secret == SECRET
    assert taken.redis_url == "redis://redis:6379/0"
    assert taken.host == "0.0.0.0"
    assert "redis" in services()


def test_a_replica_without_compose_keeps_its_games_in_the_volume() -> None:
    taken = settings.load(image_environment())
    assert [str(taken.data_dir)] == instructions("VOLUME")


def test_redis_writes_a_move_to_the_disk_before_it_answers() -> None:
    redis = services()["redis"]
    assert redis["command"] == "redis-server --appendonly yes --appendfsync always"
    assert redis["volumes"] == ["redis:/data"]


def test_what_the_image_copies_is_here() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    for line in instructions("COPY"):
        if line.startswith("--from"):
            continue
        for source in line.split()[:-1]:
            assert (ROOT / source).exists(), source
            assert source.split("/")[0] in allowed, source


def test_the_server_in_the_image_is_not_root() -> None:
    assert instructions("USER") == ["heartroom"]
