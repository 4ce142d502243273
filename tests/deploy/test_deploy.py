"""What docker-compose.yml, Dockerfile and the proxy's configuration promise each other and the server.

No Docker is needed: what containers would run is run here, with the files and settings that they would get.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from redis import Redis

from heartroom.web import settings
from tests.support.serving import Server, ask
from tests.support.stores import BINARIES, PATIENCE_S, StoreProcess, answers, eventually

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "docker-compose.yml"
SECRET = "a long random string"


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())["services"]
    return found


def replicas() -> dict[str, Any]:
    return {name: service for name, service in services().items() if "build" in service}


def filled(text: str) -> str:
    """`text` as compose would have it: with the secret set, and nothing else."""
    text = re.sub(r"\$\{HEARTROOM_SECRET:\?[^}]*\}", SECRET, text)
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def environment_of(name: str) -> dict[str, str]:
    """What compose sets for a service."""
    return {key: filled(value) for key, value in services()[name]["environment"].items()}


def front() -> dict[str, Any]:
    """The network that the proxy is on."""
    found: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())["networks"]["front"]
    return found


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
            assert (ROOT / source).exists() if source.startswith(".") else source in declared


def test_two_replicas_stand_behind_the_proxy_on_the_image_s_port() -> None:
    port = image_environment()["HEARTROOM_PORT"]
    assert len(replicas()) == 2
    assert upstreams() == [f"{name}:{port}" for name in replicas()]
    assert instructions("EXPOSE") == [port]


def test_only_the_proxy_is_reachable_from_outside() -> None:
    ports = {name: service["ports"] for name, service in services().items() if "ports" in service}
    assert ports == {"proxy": ["80:80", "443:443"], "grafana": ["127.0.0.1:3000:3000"]}
    assert [name for name, service in services().items() if "monitoring" in service.get("profiles", ())] == [
        "prometheus",
        "grafana",
    ]


def test_only_the_nodes_reach_redis() -> None:
    networks = {
        name: set(service["networks"]) for name, service in services().items() if "networks" in service
    }
    assert networks.keys() == services().keys()
    assert {name for name, on in networks.items() if "store" in on} == {"redis", *replicas()}
    assert networks["redis"] == {"store"}
    assert yaml.safe_load(COMPOSE.read_text())["networks"]["store"] == {"internal": True}


@pytest.mark.parametrize("name", [*replicas(), "proxy"])
def test_the_root_file_system_is_read_only(name: str) -> None:
    assert services()[name]["read_only"] is True


def test_the_proxy_waits_for_the_nodes_and_they_for_redis() -> None:
    assert instructions("HEALTHCHECK")
    healthy = {"condition": "service_healthy"}
    assert services()["proxy"]["depends_on"] == dict.fromkeys(replicas(), healthy)
    for replica in replicas().values():
        assert replica["depends_on"] == {"redis": healthy}
        # a node is given more time to end than it takes (cli, web.workers)
        assert int(replica["stop_grace_period"].removesuffix("s")) > 10


@pytest.mark.parametrize("replica", replicas())
def test_the_server_takes_a_replica_s_settings(replica: str) -> None:
    taken = settings.load(image_environment() | environment_of(replica))
    assert taken.secret == SECRET
    (subnet,) = front()["ipam"]["config"]
    network = filled(subnet["subnet"])
    assert (taken.trusted_proxies, taken.metrics_from) == (network, (network,))
    assert taken.shows_metrics_to(str(ipaddress.ip_network(network)[2]))
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


# -- what containers would run


def test_redis_takes_the_command_line_of_its_service(tmp_path: Path) -> None:
    program, *options = shlex.split(services()["redis"]["command"])
    assert program == "redis-server"
    folder = tempfile.mkdtemp(prefix="hr-")  # a short name, for the socket
    for name, binary in BINARIES.items():
        (tmp_path / name).mkdir()
        place = ["--port", "0", "--unixsocket", f"{folder}/s", "--dir", str(tmp_path / name)]
        process = subprocess.Popen([binary, *options, *place], stdout=subprocess.DEVNULL)
        try:
            eventually(lambda: answers(f"{folder}/s"), "the store answers")
            with Redis.from_url(f"unix://{folder}/s", decode_responses=True) as redis:
                found = redis.config_get("append*")
                assert (found["appendonly"], found["appendfsync"]) == ("yes", "always")
        finally:
            process.kill()
            process.wait()
    shutil.rmtree(folder)


def image_command() -> list[str]:
    (command,) = instructions("CMD")[-1:]
    words: list[str] = json.loads(command)
    return words


class ReadOnly:
    """The image's command with the image's settings, where Python can write to two folders alone: /tmp and
    /data of the image, so to speak. What it tries elsewhere is listed."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.tried = folder / "tried"
        for name in ("data", "tmp"):
            (folder / name).mkdir()
        given = image_environment() | {f"HEARTROOM_{name.upper()}": value for name, value in settings.items()}
        given |= {
            "HEARTROOM_HOST": "127.0.0.1",
            "HEARTROOM_PORT": "0",
            "HEARTROOM_DATA_DIR": str(folder / "data"),
        }
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("HEARTROOM_")}
        env = (
            inherited
            | given
            | {
                "PYTHONPATH": str(Path(__file__).parent / "readonly"),
                "PYTHONDONTWRITEBYTECODE": "1",
                "READONLY_MAY": f"{folder / 'data'}:{folder / 'tmp'}",
                "READONLY_TRIED": str(self.tried),
                "TMPDIR": str(folder / "tmp"),
                "HOME": "/nonexistent",
            }
        )
        program, *arguments = image_command()
        command = [str(Path(sys.executable).with_name(program)), *arguments]
        self.process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.address = line.strip().removeprefix("heartroom is open at http://")

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        assert self.process.stdout is not None
        self.process.stdout.close()


def test_a_backup_is_restored_within_compose_as_the_guide_says(own: StoreProcess, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "operations.md").read_text()
    compose = [line.strip() for line in text.splitlines() if line.startswith("    docker compose ")]
    stop, run, start = compose[-3:]
    for line, verb in ((stop, "stop"), (start, "start")):
        assert line.removeprefix(f"docker compose {verb} ").split() == list(replicas())
    found = re.fullmatch(r"docker compose run --rm -T (\S+) heartroom (admin restore .*) < \S+", run)
    assert found is not None
    environ = {**os.environ, **image_environment(), **environment_of(found[1])}
    environ |= {"HEARTROOM_REDIS_URL": own.url, "TMPDIR": str(tmp_path)}
    heartroom = [sys.executable, "-m", "heartroom.cli"]
    with Redis.from_url(own.url) as redis:
        ada = f"hr:p:{{{'A' * 16}}}"
        redis.hset(ada, "name", "Ada")
        command = [*heartroom, "admin", "backup", "-"]
        made = subprocess.run(command, env=environ, capture_output=True, check=True).stdout
        redis.hset(ada, "name", "Eve")
        command = [*heartroom, *found[2].split()]
        done = subprocess.run(command, env=environ, input=made, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert redis.hget(ada, "name") == b"Ada"


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_node_writes_nothing_outside_of_tmp(shared: StoreProcess, tmp_path: Path, workers: str) -> None:
    node = ReadOnly(tmp_path, redis_url=shared.url, secret=SECRET, workers=workers)
    try:
        eventually(lambda: ask(node.address, "/readyz").status == 200, "the node is ready")
        assert ask(node.address, "/metrics").status == 200
        assert ask(node.address, "/").status == 200
    finally:
        node.end()
    assert not node.tried.exists(), node.tried.read_text()
    assert list((tmp_path / "data").iterdir()) == []


def test_without_compose_a_node_writes_to_its_volume_too(tmp_path: Path) -> None:
    node = ReadOnly(tmp_path)
    try:
        eventually(lambda: ask(node.address, "/readyz").status == 200, "the node is ready")
    finally:
        node.end()
    assert not node.tried.exists(), node.tried.read_text()
    assert (tmp_path / "data" / "secret").exists()


def test_what_would_be_refused_to_a_node_is_noticed(tmp_path: Path) -> None:
    """The tests above could not fail without this."""
    code = f"open({str(tmp_path / 'x')!r}, 'w')"
    env = os.environ | {
        "PYTHONPATH": str(Path(__file__).parent / "readonly"),
        "READONLY_MAY": "/nowhere",
        "READONLY_TRIED": str(tmp_path / "tried"),
    }
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert "Read-only file system" in done.stderr
    assert str(tmp_path / "x") in (tmp_path / "tried").read_text()


def test_the_image_s_health_check_sees_whether_the_node_lives(served: Server) -> None:
    (check,) = instructions("HEALTHCHECK")
    program, *arguments = json.loads(check.split("CMD", 1)[1])
    assert program == "python"
    assert image_environment()["HEARTROOM_PORT"] == "8000"

    def healthy(at: int) -> bool:
        """Whether it says so in a container in which the node is told to listen there."""
        env = os.environ | {"HEARTROOM_PORT": str(at)}
        command = [sys.executable, *arguments]
        return subprocess.run(command, env=env, capture_output=True, check=False).returncode == 0

    assert healthy(served.port)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert not healthy(silent.getsockname()[1])


@pytest.fixture
def served(shared: StoreProcess) -> Iterator[Server]:
    server = Server(redis_url=shared.url, secret=SECRET)
    yield server
    server.stop()


# -- the secret


def test_the_secret_is_written_once_and_for_nobody_else(tmp_path: Path) -> None:
    (command,) = re.findall(r"^#     (test .*)$", COMPOSE.read_text(), re.MULTILINE)
    for text in ("README.md", "docs/operations.md"):
        assert f"\n    {command}\n" in (ROOT / text).read_text()
    env = tmp_path / ".env"
    subprocess.run(["/bin/sh", "-c", f"umask 022; {command}"], cwd=tmp_path, check=True)
    kept = env.read_text()
    assert re.fullmatch(r"HEARTROOM_SECRET=[0-9a-f]{64}\n", kept)
    assert env.stat().st_mode & 0o777 == 0o600
    subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, check=True)
    assert env.read_text() == kept


def test_the_secret_is_in_no_repository_and_no_image() -> None:
    assert "/.env" in (ROOT / ".gitignore").read_text().splitlines()
    assert (ROOT / ".dockerignore").read_text().splitlines()[-1] == "**/.env"


def test_no_command_of_the_documents_brings_a_secret_of_its_own() -> None:
    for text in (COMPOSE, ROOT / "README.md", ROOT / "docs/operations.md"):
        assert not re.search(r"HEARTROOM_SECRET=\S+.* docker compose", text.read_text())
