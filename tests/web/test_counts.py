"""Folders in which processes count: left by those that are killed, and removed when nobody uses them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import psutil
import pytest
from redis import Redis

from heartroom.store import keys
from heartroom.web.counts import Counts, remove_left
from tests.support.serving import SECRET, Server
from tests.support.stores import StoreProcess, ended, eventually


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this test's folders are, and no others."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def left(folder: Path) -> list[str]:
    return [one.name for one in folder.glob("heartroom-*")]


def serving(server: Server, process: StoreProcess) -> list[int]:
    """The workers that have taken their leases."""
    with Redis.from_url(process.url, protocol=2) as redis:
        nodes: Any = redis.hkeys(keys.NODES)
    started = [json.loads(line) for line in server.said().splitlines() if "worker starts" in line]
    return [one["process"] for one in started if one["node"].encode() in nodes]


HOLDER = """
import sys
from heartroom.web.counts import Counts
print(Counts.make().folder, flush=True)
sys.stdin.read()
"""


def test_a_folder_that_is_held_stays_and_one_whose_process_was_killed_goes(folder: Path) -> None:
    holders = [
        subprocess.Popen([sys.executable, "-c", HOLDER], stdin=-1, stdout=-1, text=True) for _ in range(2)
    ]
    try:
        held = []
        for holder in holders:
            assert holder.stdout is not None
            held.append(Path(holder.stdout.readline().strip()))
        remove_left()
        assert all(one.is_dir() for one in held)
        holders[0].kill()
        holders[0].wait()
        (held[0] / "some.db").touch()
        remove_left()
        assert [one.exists() for one in held] == [False, True]
    finally:
        for holder in holders:
            holder.kill()
            holder.communicate()


def test_the_last_one_to_leave_removes_it(folder: Path) -> None:
    parent = Counts.make()
    children = [Counts.join(parent.folder, os.dup(parent.held)) for _ in range(2)]
    for one in (children[0], parent):
        one.leave()
        assert parent.folder.is_dir()
    children[1].leave()
    assert left(folder) == []


def test_what_is_no_folder_or_somebody_else_s_is_left_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "heartroom-counts-link").symlink_to(folder / "elsewhere")
    (folder / "heartroom-counts-file").touch()
    remove_left()
    assert sorted(left(folder)) == ["heartroom-counts-file", "heartroom-counts-link"]
    (folder / "heartroom-counts-theirs").mkdir()
    uid = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: uid + 1)
    remove_left()
    assert (folder / "heartroom-counts-theirs").is_dir()


@pytest.mark.parametrize("all_at_once", [False, True])
async def test_workers_whose_parent_was_killed_leave_nothing_or_what_the_next_start_removes(
    shared: StoreProcess, folder: Path, all_at_once: bool
) -> None:
    server = await asyncio.to_thread(Server, redis_url=shared.url, secret=SECRET, workers="2")
    try:
        eventually(lambda: len(serving(server, shared)) == 2, "both serve")
        workers = [psutil.Process(pid) for pid in serving(server, shared)]
        assert len(left(folder)) == 1
        os.kill(server.process.pid, signal.SIGSTOP)
        if all_at_once:
            for worker in workers:
                worker.kill()
        server.kill()
        for worker in workers:
            eventually(lambda worker=worker: ended(worker.pid), "the worker ends")  # type: ignore[misc]
        assert len(left(folder)) == int(all_at_once)
        next_one = await asyncio.to_thread(Server, redis_url=shared.url, secret=SECRET)
        assert left(folder) == []
        next_one.stop()
    finally:
        server.stop()


async def test_a_server_that_starts_beside_another_takes_nothing_from_it(
    shared: StoreProcess, folder: Path
) -> None:
    first = await asyncio.to_thread(Server, redis_url=shared.url, secret=SECRET, workers="2")
    try:
        eventually(lambda: len(serving(first, shared)) == 2, "both of the first serve")
        held = left(folder)
        second = await asyncio.to_thread(Server, redis_url=shared.url, secret=SECRET, workers="2")
        eventually(lambda: len(serving(second, shared)) == 2, "both of the second serve")
        assert len(left(folder)) == 2
        assert await asyncio.to_thread(second.terminate) == 0
        second.stop()
        assert left(folder) == held
        assert await asyncio.to_thread(first.terminate) == 0
        assert left(folder) == []
    finally:
        first.stop()
