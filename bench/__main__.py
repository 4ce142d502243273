"""The command: `python -m bench`, or `make bench ARGS='…'`. See bench/README.md."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import click

from bench import engine, runs
from bench.load import Echoed, Idle, Watched
from bench.measure import median
from bench.runs import Variant
from bench.served import Failed

_PARTS = ("engine", "watch4", "table4", "idle")
_COLUMNS = (
    *("R", "server", "actions/s", "server µs", "Valkey µs", "p50 ms", "p99 ms"),
    *("diff bytes", "longest", "snapshot", "load CPU", "others"),
)
_ROW = "{:>4} {:<10} {:>10} {:>10} {:>10} {:>7} {:>7} {:>11} {:>8} {:>9} {:>9} {:>7}"


@click.command(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.option("--only", type=click.Choice(_PARTS), multiple=True, help="Parts to run.  [default: all]")
@click.option("--sessions", default="10,50,100", help="R: sessions of watch4, comma-separated.")
@click.option("--tables", default="25", help="R: tables of table4, comma-separated.")
@click.option("--repeats", default=5, type=click.IntRange(1, 100), help="Runs of each; medians are printed.")
@click.option(
    "--seconds", default=3.0, type=click.FloatRange(0.2, 60), help="Window of one run of watch4 or table4."
)
@click.option("--warm", default=1.0, type=click.FloatRange(0, 60), help="Seconds of load before the window.")
@click.option(
    "--idle", "idle_connections", default="2000", help="Idle connections, comma-separated: 2000,10000,20000."
)
@click.option(
    "--idle-seconds", default=20.0, type=click.FloatRange(0.2, 600), help="For how long they are left alone."
)
@click.option("--compare", is_flag=True, help="Also plain sends, and fsync every second; taking turns.")
@click.option(
    "--against",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Another checkout, whose server is measured too; taking turns.",
)
@click.option(
    "--dir",
    "parent",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where the stores' files are made, and removed.  [default: the system's temporary directory]",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where every single run is written to.",
)
def main(
    only: tuple[str, ...],
    sessions: str,
    tables: str,
    repeats: int,
    seconds: float,
    warm: float,
    idle_connections: str,
    idle_seconds: float,
    compare: bool,
    against: Path | None,
    parent: Path | None,
    json_file: Path | None,
) -> None:
    """Measure heartroom on this machine: a real server, real websockets, over the loopback."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers are ended, files removed
    idle_counts = [int(part) for part in idle_connections.split(",")]
    files = runs.allow_files(max(idle_counts) + 2000)
    # what is beyond the machine's limits is not tried
    idle_counts = [min(count, files - 500) for count in idle_counts]
    parts = only or _PARTS
    variants = [Variant("heartroom", {})]
    if against is not None:
        variants.append(Variant("other", {"PYTHONPATH": str(against.resolve() / "server")}))
    if compare:
        variants.append(Variant("plain", {"HEARTROOM_PLAIN_SENDS": "1"}))
        variants.append(Variant("everysec", {"HEARTROOM_FSYNC": "everysec"}))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}")
    raw: list[dict[str, object]] = []
    try:
        if "engine" in parts:
            _engine()
        for workload, counts in (("watch4", sessions), ("table4", tables)):
            if workload in parts:
                print(f"\n{workload}, medians of {repeats} × {seconds:g} s")
                print(_ROW.format(*_COLUMNS))
                for r in [int(part) for part in counts.split(",")]:
                    _loaded(workload, variants, r, repeats, warm, seconds, parent, raw)
        if "idle" in parts:
            _idle(variants, idle_counts, idle_seconds, parent, raw)
    except (runs.Broken, Failed) as error:
        raise click.ClickException(str(error)) from None
    finally:
        if json_file is not None:
            json_file.write_text(json.dumps(raw, indent=1))


def _engine() -> None:
    print("\nengine, µs an action      apply   view   diff  total")
    for costs in engine.measure():
        print(
            f"  {costs.actions:<22}{costs.apply:>7.2f}{costs.view:>7.2f}{costs.diff:>7.2f}{costs.total:>7.2f}"
        )


def _loaded(
    workload: str,
    variants: list[Variant],
    sessions: int,
    repeats: int,
    warm_s: float,
    window_s: float,
    parent: Path | None,
    raw: list[dict[str, object]],
) -> None:
    """Runs the variants in turn, so that what else the machine does befalls all of them alike."""
    found: dict[str, list[Watched]] = {"floor": []} if workload == "watch4" else {}
    found |= {variant.name: [] for variant in variants}
    echoed: list[Echoed] = []
    for _ in range(repeats):
        echoed.append(runs.echo(sessions, warm_s / 2, window_s / 2))
        raw.append({"workload": workload, "sessions": sessions, "variant": "echo", **_fields(echoed[-1])})
        if "floor" in found:
            found["floor"].append(runs.floor(sessions, warm_s, window_s, parent))
        for variant in variants:
            found[variant.name].append(runs.measured(variant, workload, sessions, warm_s, window_s, parent))
        raw += [
            {"workload": workload, "sessions": sessions, "variant": name, **_fields(results[-1])}
            for name, results in found.items()
        ]
    rate = f"{median(e.messages / e.wall_s for e in echoed):.0f}"
    echo_us = median(e.server_s / e.messages * 1e6 for e in echoed)
    print(_ROW.format(sessions, "echo", rate, f"{echo_us:.1f}", *[""] * 8))
    for name, results in found.items():
        print(_ROW.format(sessions, name, *_row(results)))
    sys.stdout.flush()


def _fields(result: Watched | Echoed | Idle) -> dict[str, object]:
    return {name: getattr(result, name) for name in result.__struct_fields__}


def _row(results: list[Watched]) -> list[str]:
    return [
        f"{median(w.actions / w.wall_s for w in results):.0f}",
        f"{median(w.server_s / w.actions * 1e6 for w in results):.1f}",
        f"{median(w.store_s / w.actions * 1e6 for w in results):.1f}",
        f"{median(w.p50_ms for w in results):.2f}",
        f"{median(w.p99_ms for w in results):.2f}",
        f"{median(w.diff_bytes for w in results):.1f}",
        f"{max(w.diff_bytes_max for w in results)}",
        f"{max(w.snapshot_bytes for w in results)}",
        f"{median(w.load_s / w.wall_s for w in results):.0%}",
        f"{median(w.others_s / w.wall_s for w in results):.0%}",
    ]


def _idle(
    variants: list[Variant],
    counts: list[int],
    window_s: float,
    parent: Path | None,
    raw: list[dict[str, object]],
) -> None:
    print(f"\nidle connections, left alone for {window_s:g} s")
    row = "{:>7} {:<26}{:<11}{:>7}{:>10}{:>16}{:>9}"
    print(row.format("", "", "server", "alive", "KiB each", "server, CPU", "opened"))
    for connections in counts:
        for workload, what in (("connected", "connected"), ("joined", "joined, four to a session")):
            for variant in variants:
                result = runs.idle(variant, workload, connections, window_s, parent)
                each = (result.rss_after - result.rss_before) / result.connections / 1024
                raw.append({"workload": workload, "variant": variant.name, "kib": each, **_fields(result)})
                print(
                    row.format(
                        *(result.connections, what, variant.name, result.alive, f"{each:.1f}"),
                        *(f"{result.cpu:.1%} of a core", f"{result.opening_s:.1f} s"),
                    ),
                    flush=True,
                )


if __name__ == "__main__":
    main()
