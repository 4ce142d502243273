"""The browser that these tests drive: the machine's chromium, kept off the network; and what it looks at.

pytest-playwright's fixtures (`page`, `context`, `new_context`) are used as they are, by its synchronous API.
Every page that any of them opens is listened to: what it complains about fails the test.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, WebError, expect

from tests.browser.served import Server
from tests.browser.table import PATIENCE_MS
from tools.chromium import VARIABLE, find

HERE = Path(__file__).parent

QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    # Debian's chromium asks for drawing by a graphics card. Where there is none that is done by a program
    # that plays one: slow, and on a busy machine its frames may stop coming.
    "--disable-gpu",
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


# ---- the server


@pytest.fixture(scope="session")
def base_url() -> Iterator[str]:
    """The address of a server that is not to be harmed. Tests use players and sessions of their own."""
    server = Server()
    try:
        server.start()
        yield server.url
    finally:
        server.remove()


@pytest.fixture
def server() -> Iterator[Server]:
    """A server for one test, to be killed and started again."""
    server = Server()
    try:
        server.start()
        yield server
    finally:
        server.remove()


# ---- the browser


AWAY = "WebSocket connection|Failed to load resource: net::ERR_"
"""What chromium says of a server that is not there: of the socket, and of what a page asks for meanwhile."""


class Complaints:
    """What pages said in their consoles that nobody wants to read there: errors, warnings, and with them
    anything that the content security policy has stopped."""

    def __init__(self) -> None:
        self._said: list[str] = []
        self._expected: list[str] = []

    def expect(self, pattern: str) -> None:
        """The test provokes this one."""
        self._expected.append(pattern)

    def listen(self, context: BrowserContext) -> None:
        context.on("console", self._console)
        context.on("weberror", self._error)

    def unexpected(self) -> list[str]:
        return [said for said in self._said if not any(re.search(known, said) for known in self._expected)]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning", "assert"):
            self._said.append(f"{message.type}: {message.text}")

    def _error(self, error: WebError) -> None:
        self._said.append(f"uncaught: {error.error}")


@pytest.fixture
def complaints() -> Iterator[Complaints]:
    complaints = Complaints()
    yield complaints
    assert complaints.unexpected() == []


NewContext = Callable[..., BrowserContext]
"""Makes a browser of somebody else, with the arguments of playwright's `Browser.new_context`."""


@pytest.fixture
def new_context(new_context: NewContext, complaints: Complaints) -> Iterator[NewContext]:
    expect.set_options(timeout=PATIENCE_MS)
    made: list[BrowserContext] = []

    def make(**options: Any) -> BrowserContext:
        context = new_context(**options)
        context.set_default_timeout(PATIENCE_MS)
        complaints.listen(context)
        made.append(context)
        return context

    yield make
    for context in made:
        for page in context.pages:
            # a request that the test answers may be under way, and its page is going to be closed
            page.unroute_all(behavior="wait")


@pytest.fixture
def calm(new_context: NewContext) -> Page:
    """A page of somebody who wants no motion, which takes a third of the work out of a whole game: for tests
    that need a won game and look at what comes after."""
    return new_context(reduced_motion="reduce").new_page()


@pytest.fixture
def stranger(new_context: NewContext) -> Page:
    """A page in the browser of another player."""
    return new_context().new_page()
