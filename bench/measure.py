"""Reading what processes use, and making one number of several."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

import psutil


def cpu_s(pids: Iterable[int]) -> list[float]:
    """CPU time that each process has used so far, in user mode and in the kernel, in seconds."""
    used = []
    for pid in pids:
        times = psutil.Process(pid).cpu_times()
        used.append(times.user + times.system)
    return used


def machine_s() -> float:
    """CPU time that all processors have been busy so far, for anybody, in seconds."""
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0))


def rss(pid: int) -> int:
    """Resident memory of a process, in bytes."""
    size: int = psutil.Process(pid).memory_info().rss
    return size


def quantile(values: Sequence[float], part: float) -> float:
    """The value below which `part` (0 … 1) of `values` lie; 0 if there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0


def median(values: Iterable[float]) -> float:
    """The median; 0 of none."""
    listed = list(values)
    return statistics.median(listed) if listed else 0.0
