"""The command: `make bench-peers`, or `python -m bench.peers`. See bench/README.md."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click
import msgspec

from bench import runs
from bench.load import Echoed, Idle, Watched
from bench.measure import median
from bench.peers import faults
from bench.peers.servers import NAMES, NODE, started
from bench.served import Failed

_PARTS = ("watch4", "table4", "idle", "faults")
_YARDSTICK = "colyseus"
_COLUMNS = (
    *("R", "server", "actions/s", "server µs", "Valkey µs", "sum µs", "server ÷C", "sum ÷C"),
    *("p50 ms", "p99 ms", "diff bytes", "snapshot", "join", "load CPU", "others"),
)
_ROW = "{:>4} {:<10}{:>10}{:>10}{:>10}{:>8}{:>10}{:>8}{:>8}{:>8}{:>11}{:>9}{:>6}{:>9}{:>7}"
_FAULTS_COLUMNS = ("", "server", "acknowledged", "gone", "lost", "doubled", "seen as lost")
_FAULTS_ROW = "{:<30} {:<10}{:>13}{:>6}{:>6}{:>9}{:>14}"

Found = dict[str, list[Watched]]


@click.command(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.option("--only", type=click.Choice(_PARTS), multiple=True, help="Parts to run.  [default: all]")
@click.option("--server", "names", type=click.Choice(NAMES), multiple=True, help="Servers.  [default: all]")
@click.option("--sessions", default="10,50,100", help="R: sessions of watch4, comma-separated.")
@click.option("--tables", default="25", help="R: tables of table4, comma-separated.")
@click.option("--repeats", default=5, type=click.IntRange(1, 100), help="Runs of each; medians are printed.")
@click.option("--seconds", default=3.0, type=click.FloatRange(0.2, 60), help="Window of one run.")
@click.option("--warm", default=1.0, type=click.FloatRange(0, 60), help="Seconds of load before the window.")
@click.option("--idle", "connections", default=2000, type=click.IntRange(100, 8000), help="How many.")
@click.option("--players", default=20, type=click.IntRange(2, 200), help="Players whom the faults befall.")
@click.option(
    "--dir",
    "parent",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where the store's files are made, and removed.  [default: the system's temporary directory]",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where every single run is written to.",
)
def main(
    only: tuple[str, ...],
    names: tuple[str, ...],
    sessions: str,
    tables: str,
    repeats: int,
    seconds: float,
    warm: float,
    connections: int,
    players: int,
    parent: Path | None,
    json_file: Path | None,
) -> None:
    """Measure heartroom beside Colyseus and boardgame.io on this machine, taking turns."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers are ended, files removed
    runs.allow_files(4 * connections)
    parts, names = only or _PARTS, names or NAMES
    if not NODE.exists():
        raise click.ClickException("the peers are not installed: make bench-peers does that")
    node = subprocess.run([NODE, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f}, Python {platform.python_version()}, Node {node[1:]}")
    raw: list[dict[str, object]] = []
    try:
        for workload, counts in (("watch4", sessions), ("table4", tables)):
            if workload in parts:
                print(f"\n{workload}, medians of {repeats} × {seconds:g} s; ÷C: of what Colyseus took")
                print(_ROW.format(*_COLUMNS))
                for r in map(int, counts.split(",")):
                    _loaded(workload, names, r, repeats, warm, seconds, parent, raw)
        if "idle" in parts:
            _idle(names, connections, min(repeats, 3), parent, raw)
        if "faults" in parts:
            asyncio.run(_faults(names, players, parent, raw))
    except (runs.Broken, Failed, TimeoutError) as error:
        raise click.ClickException(str(error) or type(error).__name__) from None
    finally:
        if json_file is not None:
            json_file.write_text(json.dumps(raw, indent=1))


def _loaded(
    workload: str,
    names: Sequence[str],
    sessions: int,
    repeats: int,
    warm_s: float,
    window_s: float,
    parent: Path | None,
    raw: list[dict[str, object]],
) -> None:
    """Runs the servers in turn, another one first each time, so that what else the machine does befalls all
    of them alike."""
    found: Found = {name: [] for name in names}
    echoed: list[Echoed] = []
    for number in range(repeats):
        echoed.append(runs.echo(sessions, warm_s / 2, window_s / 2))
        first = number % len(names)
        for name in (*names[first:], *names[:first]):
            with started(name, parent) as served:
                what = workload if name == "heartroom" else f"{name}-{workload}"
                job = runs.job_for(what, served, sessions=sessions, warm_s=warm_s, window_s=window_s)
                result = msgspec.json.decode(runs.load(job, _load_of(name)), type=Watched)
            found[name].append(result)
            raw.append({"workload": workload, "sessions": sessions, "server": name, **_fields(result)})
        raw.append({"workload": workload, "sessions": sessions, "server": "echo", **_fields(echoed[-1])})
    rate = f"{median(e.messages / e.wall_s for e in echoed):.0f}"
    echo_us = median(e.server_s / e.messages * 1e6 for e in echoed)
    print(_ROW.format(sessions, "echo", rate, f"{echo_us:.1f}", *[""] * 11))
    for name in names:
        print(_ROW.format(sessions, name, *_row(found, name)))
    sys.stdout.flush()


def _load_of(name: str) -> str:
    return "bench.load" if name == "heartroom" else "bench.peers.load"


def _fields(result: msgspec.Struct) -> dict[str, object]:
    return {name: getattr(result, name) for name in result.__struct_fields__}


def _server_us(result: Watched) -> float:
    return result.server_s / result.actions * 1e6


def _store_us(result: Watched) -> float:
    return result.store_s / result.actions * 1e6


def _sum_us(result: Watched) -> float:
    return _server_us(result) + _store_us(result)


def _row(found: Found, name: str) -> list[str]:
    results = found[name]
    return [
        f"{median(w.actions / w.wall_s for w in results):.0f}",
        f"{median(map(_server_us, results)):.1f}",
        f"{median(map(_store_us, results)):.1f}",
        f"{median(map(_sum_us, results)):.1f}",
        _ratio(found, name, _server_us),
        _ratio(found, name, _sum_us),
        f"{median(w.p50_ms for w in results):.2f}",
        f"{median(w.p99_ms for w in results):.2f}",
        f"{median(w.diff_bytes for w in results):.1f}",
        f"{max(w.snapshot_bytes for w in results)}",
        f"{max(w.join_bytes for w in results)}",
        f"{median(w.load_s / w.wall_s for w in results):.0%}",
        f"{median(w.others_s / w.wall_s for w in results):.0%}",
    ]


def _ratio(found: Found, name: str, of: Callable[[Watched], float]) -> str:
    """The median of the ratios in each turn."""
    if not found.get(_YARDSTICK):
        return ""
    return f"{median(of(w) / of(c) for w, c in zip(found[name], found[_YARDSTICK], strict=True)):.2f}"


def _idle(
    names: Sequence[str],
    connections: int,
    repeats: int,
    parent: Path | None,
    raw: list[dict[str, object]],
) -> None:
    print(f"\nidle connections, four to a session: KiB of the server's RSS each, medians of {repeats}")
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(repeats):
        for name in names:
            with started(name, parent) as served:
                what = "joined" if name == "heartroom" else f"{name}-joined"
                job = runs.job_for(what, served, connections=connections)
                result = msgspec.json.decode(runs.load(job, _load_of(name)), type=Idle)
            each = (result.rss_after - result.rss_before) / result.connections / 1024
            found[name].append(each)
            raw.append({"workload": "joined", "server": name, "kib": each})
    for name, kib in found.items():
        print(f"  {connections:>5} {name:<10} {median(kib):>6.1f}", flush=True)


async def _faults(
    names: Sequence[str], players: int, parent: Path | None, raw: list[dict[str, object]]
) -> None:
    print("\nfaults: what becomes of actions")
    print(_FAULTS_ROW.format(*_FAULTS_COLUMNS))
    for name in names:
        rows = {"killed": await faults.killed(name, players, parent)}
        rows[f"cut for {faults.CUT_S:g} s"] = await faults.cut(name, players, parent, again=False)
        if name != "heartroom":
            # heartroom's client repeats by itself
            rows["cut, and what failed repeated"] = await faults.cut(name, players, parent, again=True)
        for what, losses in rows.items():
            print(_FAULTS_ROW.format(what, name, *losses), flush=True)
            raw.append({"workload": what, "server": name, **losses._asdict()})


if __name__ == "__main__":
    main()
