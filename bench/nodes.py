"""What an action costs at several nodes beside one: `make bench-nodes`. See bench/README.md."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import NamedTuple

import click
import msgspec

from bench import runs
from bench.measure import median
from bench.paced import Job, Paced
from bench.places import STORES, Kept, nodes
from bench.served import Failed

_ROW = "{:<9}{:>6} {:<9}{:>5}{:>7}{:>11}{:>11}{:>12}{:>13}{:>8}{:>8}{:>13}{:>13}{:>7}{:>8}"
_COLUMNS = (
    *("store", "nodes", "viewers", "R", "due/s", "server µs", "Valkey µs", "÷ same sum", "÷ same each"),
    *("p50 ms", "p99 ms", "seen p50 ms", "seen p99 ms", "batch", "others"),
)


class Load(NamedTuple):
    """One of the loads that are compared."""

    nodes: int
    apart: bool
    sessions: int
    rate: float

    @property
    def viewers(self) -> str:
        """How it is called."""
        return "apart" if self.apart else "together"


def loads(count: int, sessions: int, rate: float) -> list[Load]:
    """One node with the load of one, one with that of `count`, and `count` nodes with that, both ways."""
    return [
        Load(1, False, sessions, rate),
        Load(1, False, count * sessions, count * rate),
        Load(count, False, count * sessions, count * rate),
        Load(count, True, count * sessions, count * rate),
    ]


@click.command(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.option("--nodes", "count", default=4, type=click.IntRange(2, 16), help="How many, beside one.")
@click.option("--rate", default=500.0, type=click.FloatRange(10, 5000), help="Actions a second, of a node.")
@click.option("--sessions", default=50, type=click.IntRange(1, 1000), help="Of a node.")
@click.option("--repeats", default=5, type=click.IntRange(1, 100), help="Runs of each; medians are printed.")
@click.option("--seconds", default=5.0, type=click.FloatRange(0.5, 120), help="Window of one run.")
@click.option(
    "--warm", default=1.0, type=click.FloatRange(0.2, 60), help="Seconds of load before the window."
)
@click.option("--store", "stores", type=click.Choice(tuple(STORES)), multiple=True, help="  [default: all]")
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
    count: int,
    rate: float,
    sessions: int,
    repeats: int,
    seconds: float,
    warm: float,
    stores: tuple[str, ...],
    parent: Path | None,
    json_file: Path | None,
) -> None:
    """CPU time and latency of an action at several nodes, and at one over the same store; taking turns.

    '÷ same sum': CPU time of all nodes' processes by that of one node with the same load in all;
    '÷ same each': by that of one node with as much load as each of them has.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    runs.allow_files(8 * count * sessions + 1000)
    raw: list[dict[str, object]] = []
    print(f"medians of {repeats} × {seconds:g} s")
    print(_ROW.format(*_COLUMNS), flush=True)
    try:
        for store in stores or tuple(STORES):
            with STORES[store](parent) as kept:
                found = _turns(kept, loads(count, sessions, rate), repeats, warm, seconds)
            raw += [
                {"store": store, **load._asdict(), **msgspec.to_builtins(result)}
                for load, results in found.items()
                for result in results
            ]
            for row in _rows(store, found):
                print(_ROW.format(*row), flush=True)
    except (runs.Broken, Failed) as error:
        raise click.ClickException(str(error)) from None
    finally:
        if json_file is not None:
            json_file.write_text(json.dumps(raw, indent=1))


def _turns(
    kept: Kept, compared: list[Load], repeats: int, warm_s: float, window_s: float
) -> dict[Load, list[Paced]]:
    found: dict[Load, list[Paced]] = {load: [] for load in compared}
    for turn in range(repeats):
        first = turn % len(compared)
        for load in compared[first:] + compared[:first]:
            found[load].append(_run(kept, load, warm_s, window_s, turn))
    return found


def _run(kept: Kept, load: Load, warm_s: float, window_s: float, seed: int) -> Paced:
    with nodes(kept.url, load.nodes, {}) as served:
        job = Job(
            host="127.0.0.1",
            ports=[node.port for node in served],
            nodes=[node.server for node in served],
            stores=[server.pid for server in kept.servers],
            sessions=load.sessions,
            rate=load.rate,
            apart=load.apart,
            warm_s=warm_s,
            window_s=window_s,
            seed=seed,
        )
        return msgspec.json.decode(runs.load_of("bench.paced", job, warm_s + window_s), type=Paced)


def _rows(store: str, found: dict[Load, list[Paced]]) -> list[list[object]]:
    def cost(result: Paced) -> float:
        return result.nodes_s / result.actions * 1e6

    def ratio(results: list[Paced], base: list[Paced]) -> str:
        """The median of the ratios within a turn."""
        return f"{median(cost(a) / cost(b) for a, b in zip(results, base, strict=True)):.2f}"

    each, total, *_ = found.values()
    return [
        [
            store,
            load.nodes,
            load.viewers,
            load.sessions,
            f"{load.rate:.0f}",
            f"{median(map(cost, results)):.1f}",
            f"{median(p.stores_s / p.actions * 1e6 for p in results):.1f}",
            ratio(results, total) if load.nodes > 1 else "",
            ratio(results, each) if load.nodes > 1 else "",
            f"{median(p.p50_ms for p in results):.2f}",
            f"{median(p.p99_ms for p in results):.2f}",
            f"{median(p.seen_p50_ms for p in results):.2f}",
            f"{median(p.seen_p99_ms for p in results):.2f}",
            f"{median(p.batch for p in results):.1f}",
            f"{median(p.others_s / p.wall_s for p in results):.0%}",
        ]
        for load, results in found.items()
    ]


if __name__ == "__main__":
    main()
