"""Clusters for tests end with whoever started them, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.support.stores import BINARIES, ended, eventually

STARTS = """
import sys, time
from tests.support.clusters import cluster
with cluster(sys.argv[1]) as made:
    print(made.nodes[0]._folder.parent, *(node.pid for node in made.nodes), flush=True)
    time.sleep(600)
"""


def test_a_cluster_is_gone_when_its_process_was_killed() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", STARTS, BINARIES["valkey"]],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    folder, *pids = process.stdout.readline().split()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert len(pids) == 3
    for pid in pids:
        eventually(lambda pid=pid: ended(int(pid)), "the server has ended")  # type: ignore[misc]
    eventually(lambda: not Path(folder).exists(), "the folder is gone")
