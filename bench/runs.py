"""One measurement: a fresh server, a load process, and what came of it."""

from __future__ import annotations

import contextlib
import resource
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench.load import Echoed, Idle, Job, Watched
from bench.served import Served, echoing, serving
from bench.served import floor as least

_PATIENCE_S = 150.0
"""How long a load process may take beyond what it was told to."""


class Variant(NamedTuple):
    """One of the servers that are compared."""

    name: str
    environ: Mapping[str, str]


class Broken(Exception):
    """The load process failed; the message has what it said."""


def measured(
    variant: Variant, workload: str, sessions: int, warm_s: float, window_s: float, parent: Path | None
) -> Watched:
    """One window of `workload`, `watch4` or `table4`. Raises `Broken`, `served.Failed`."""
    with serving(variant.environ, parent) as served:
        job = job_for(workload, served, sessions=sessions, warm_s=warm_s, window_s=window_s)
        return msgspec.json.decode(load(job), type=Watched)


def floor(sessions: int, warm_s: float, window_s: float, parent: Path | None) -> Watched:
    """One window of `watch4` on the server of `bench.floor`. Raises as `measured`."""
    with least(parent) as served:
        job = job_for("watch4", served, sessions=sessions, warm_s=warm_s, window_s=window_s)
        return msgspec.json.decode(load(job), type=Watched)


def echo(connections: int, warm_s: float, window_s: float) -> Echoed:
    """One window of `echo`. Raises as `measured`."""
    with echoing() as served:
        job = job_for("echo", served, sessions=connections, warm_s=warm_s, window_s=window_s)
        return msgspec.json.decode(load(job), type=Echoed)


def idle(variant: Variant, workload: str, connections: int, window_s: float, parent: Path | None) -> Idle:
    """What idle connections cost; `workload` is `connected` or `joined`. Raises as `measured`."""
    with serving(variant.environ, parent) as served:
        job = job_for(workload, served, connections=connections, window_s=window_s)
        return msgspec.json.decode(load(job), type=Idle)


def job_for(workload: str, served: Served, **more: float) -> Job:
    """What a load process is told."""
    fields = {"workload": workload, "host": "127.0.0.1", **served._asdict(), **more}
    return msgspec.convert(fields, type=Job)


def load(job: Job, module: str = "bench.load") -> bytes:
    """What the load process of `module` printed. Raises `Broken`."""
    return load_of(module, job, job.warm_s + job.window_s + job.settle_s + job.connections / 50)


def load_of(module: str, job: msgspec.Struct, takes_s: float) -> bytes:
    """What the load process of `module` printed, which has to take `takes_s` at least. Raises `Broken`."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", module, msgspec.json.encode(job).decode()],
            capture_output=True,
            timeout=takes_s + _PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise Broken(f"the load does not end: {late}") from None
    if done.returncode != 0:
        raise Broken(done.stderr.decode().strip())
    return done.stdout


def allow_files(wanted: int) -> int:
    """As many open files as the connections need, here and in all processes to come; returns how many a
    process may have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < wanted:
        with contextlib.suppress(ValueError, OSError):  # only some may raise it
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, wanted))
            hard = wanted
    if soft < wanted:
        soft = min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft
