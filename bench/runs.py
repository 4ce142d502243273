"""One measurement: a fresh server, a load process, and what came of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench.load import Echoed, Idle, Job, Watched
from bench.served import Served, echoing, serving

_PATIENCE_S = 150.0
"""How long a load process may take beyond what it was told to."""


class Variant(NamedTuple):
    """One of the servers that are compared."""

    name: str
    environ: Mapping[str, str]


class Broken(Exception):
    """The load process failed; the message has what it said."""


def watch4(variant: Variant, sessions: int, warm_s: float, window_s: float, parent: Path | None) -> Watched:
    """One window of `watch4`. Raises `Broken`, `served.Failed`."""
    with serving(variant.environ, parent) as served:
        job = _job("watch4", served, sessions=sessions, warm_s=warm_s, window_s=window_s)
        return msgspec.json.decode(_load(job), type=Watched)


def echo(connections: int, warm_s: float, window_s: float) -> Echoed:
    """One window of `echo`. Raises as `watch4`."""
    with echoing() as served:
        job = _job("echo", served, sessions=connections, warm_s=warm_s, window_s=window_s)
        return msgspec.json.decode(_load(job), type=Echoed)


def idle(variant: Variant, workload: str, connections: int, parent: Path | None) -> Idle:
    """Memory of idle connections; `workload` is `connected` or `joined`. Raises as `watch4`."""
    with serving(variant.environ, parent) as served:
        return msgspec.json.decode(_load(_job(workload, served, connections=connections)), type=Idle)


def _job(workload: str, served: Served, **more: float) -> Job:
    fields = {"workload": workload, "host": "127.0.0.1", **served._asdict(), **more}
    return msgspec.convert(fields, type=Job)


def _load(job: Job) -> bytes:
    timeout_s = job.warm_s + job.window_s + job.settle_s + job.connections / 50 + _PATIENCE_S
    done = subprocess.run(
        [sys.executable, "-m", "bench.load", msgspec.json.encode(job).decode()],
        capture_output=True,
        timeout=timeout_s,
        check=False,
    )
    if done.returncode != 0:
        raise Broken(done.stderr.decode().strip())
    return done.stdout
