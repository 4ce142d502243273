"""Where things lie on the screen, and when that holds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from playwright.sync_api import Page

from tests.browser.table import PATIENCE_MS

TWO_FRAMES: Final = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""What is laid out anew when it has another size is so between two frames, unless the machine is busy."""


def settles(page: Page, check: Callable[..., None], *seen: Any) -> None:
    """Returns when `check` of what is seen holds: on a busy machine a new layout takes more than two frames.
    What is to be looked at anew each time is given as a function."""
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while True:
        try:
            return check(*(each() if callable(each) else each for each in seen))
        except AssertionError:
            if time.monotonic() > deadline:
                raise
        page.evaluate(TWO_FRAMES)
