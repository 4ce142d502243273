"""The browser that these tests drive: the machine's chromium, kept off the network.

pytest-playwright's fixtures (`page`, `context`, `browser`) are used as they are; their API is synchronous.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tools.chromium import VARIABLE, find

HERE = Path(__file__).parent

QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
    # the pages load nothing from elsewhere, and chromium itself shall not try either
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the browser tests last.

    Playwright's synchronous API leaves an event loop running in the thread of the tests, and no coroutine
    test can begin after that. Each of xdist's workers takes its tests in this order too.
    """
    items.sort(key=lambda item: HERE in item.path.parents)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    chromium = find()
    if chromium is None:
        pytest.fail(f"no chromium found: `make test` installs one, or set {VARIABLE}", pytrace=False)
    # root has no sandbox to go into
    sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()
    return {**browser_type_launch_args, "executable_path": chromium, "args": [*QUIET, *sandbox]}
