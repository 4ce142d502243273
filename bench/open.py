"""An open loop on one node: `make bench-open`. See `bench.paced` for the load and bench/README.md."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import click
import msgspec

from bench import runs
from bench.measure import median
from bench.paced import Job, Paced
from bench.runs import Variant
from bench.served import Failed, serving

_ROW = "{:>10} {:<9}{:>10}{:>10}{:>10}{:>8}{:>8}{:>8}{:>8}{:>7}{:>8}{:>7}{:>8}"
_COLUMNS = (
    *("due/s", "fsync", "done/s", "server µs", "Valkey µs", "p50 ms", "p99 ms", "p99.9", "worst"),
    *("late", "queued", "batch", "others"),
)


@click.command(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.option("--rates", default="500,1000,2000,3000,4000", help="Actions due a second, comma-separated.")
@click.option("--sessions", default=200, type=click.IntRange(1, 4000), help="How many take turns.")
@click.option("--spectators", default=3, type=click.IntRange(0, 100), help="Of each session.")
@click.option("--repeats", default=5, type=click.IntRange(1, 100), help="Runs of each; medians are printed.")
@click.option("--seconds", default=5.0, type=click.FloatRange(0.2, 120), help="Window of one run.")
@click.option(
    "--warm", default=1.0, type=click.FloatRange(0.2, 60), help="Seconds of load before the window."
)
@click.option("--fsync", default="always,everysec", help="Of the embedded store, comma-separated.")
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
    rates: str,
    sessions: int,
    spectators: int,
    repeats: int,
    seconds: float,
    warm: float,
    fsync: str,
    parent: Path | None,
    json_file: Path | None,
) -> None:
    """Latencies of one node, from when actions are due, at rates that do not wait for it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    runs.allow_files(2 * (1 + spectators) * sessions + 1000)
    variants = [Variant(name, {"HEARTROOM_FSYNC": name}) for name in fsync.split(",")]
    raw: list[dict[str, object]] = []
    print(
        f"open loop, {sessions} sessions with {spectators} spectators each;"
        f" medians of {repeats} × {seconds:g} s"
    )
    print(_ROW.format(*_COLUMNS))
    try:
        for rate in [float(part) for part in rates.split(",")]:
            found: dict[str, list[Paced]] = {variant.name: [] for variant in variants}
            for turn in range(repeats):
                for variant in variants[turn % 2 :] + variants[: turn % 2]:
                    result = _run(variant, sessions, spectators, rate, warm, seconds, turn, parent)
                    found[variant.name].append(result)
                    raw.append({"rate": rate, "fsync": variant.name, **msgspec.to_builtins(result)})
            for name, results in found.items():
                print(_ROW.format(f"{rate:.0f}", name, *_row(results)), flush=True)
    except (runs.Broken, Failed) as error:
        raise click.ClickException(str(error)) from None
    finally:
        if json_file is not None:
            json_file.write_text(json.dumps(raw, indent=1))


def _run(
    variant: Variant,
    sessions: int,
    spectators: int,
    rate: float,
    warm_s: float,
    window_s: float,
    seed: int,
    parent: Path | None,
) -> Paced:
    with serving(variant.environ, parent) as served:
        job = Job(
            host="127.0.0.1",
            ports=[served.port],
            nodes=[served.server],
            stores=[served.store, served.keeper],
            sessions=sessions,
            spectators=spectators,
            rate=rate,
            warm_s=warm_s,
            window_s=window_s,
            seed=seed,
        )
        return msgspec.json.decode(runs.load_of("bench.paced", job, warm_s + window_s), type=Paced)


def _row(results: list[Paced]) -> list[str]:
    return [
        f"{median(p.actions / p.wall_s for p in results):.0f}",
        f"{median(p.nodes_s / p.actions * 1e6 for p in results):.1f}",
        f"{median(p.stores_s / p.actions * 1e6 for p in results):.1f}",
        f"{median(p.p50_ms for p in results):.2f}",
        f"{median(p.p99_ms for p in results):.2f}",
        f"{median(p.p999_ms for p in results):.2f}",
        f"{max(p.worst_ms for p in results):.1f}",
        f"{median(p.late_p99_ms for p in results):.2f}",
        f"{median(p.queued / p.actions for p in results):.1%}",
        f"{median(p.batch for p in results):.1f}",
        f"{median(p.others_s / p.wall_s for p in results):.0%}",
    ]


if __name__ == "__main__":
    main()
