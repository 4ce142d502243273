"""Finds the chromium that the browser tests drive, or installs one: `python -m tools.chromium`.

A browser test that is skipped for want of a browser proves nothing, so where none can be had this fails and
says what to do.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

VARIABLE = "CHROMIUM"
"""The environment variable that names a chromium to use in place of the one found."""

NAMES = (
    "chromium-headless-shell",
    *("chromium", "chromium-browser", "google-chrome-stable", "google-chrome"),
)
"""The first is the same browser without a desktop's toolbars and menus: the tests take half the time."""
PLACES = (
    Path("/Applications/Chromium.app/Contents/MacOS/Chromium"),
    Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
)


class NoChromium(Exception):
    """None was found, and none could be installed."""


@cache
def find() -> Path | None:
    """The chromium to use: the one that the environment names, else the system's, else playwright's own."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    return next((path for path in _candidates() if _runs(path)), None)


def install() -> Path:
    """Find a chromium or install one: as root for the system first, else for this user first."""
    ways = [_with_apt, _with_playwright]
    if os.geteuid() != 0:
        ways.reverse()
    if found := find():
        return found
    for way in ways:
        way()
        find.cache_clear()
        if found := find():
            return found
    raise NoChromium(
        "The browser tests need chromium: none was found, neither apt-get nor playwright could install one.\n"
        f"Install it (Debian: apt-get install chromium), or set {VARIABLE} to the path of one."
    )


def _candidates() -> Iterator[Path]:
    for name in NAMES:
        if path := shutil.which(name):
            yield Path(path)
    yield from PLACES
    # asked last, as it starts playwright's driver
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield Path(playwright.chromium.executable_path)


def _runs(path: Path) -> bool:
    """Whether it is more than a stub that asks to install something else, and finds its libraries."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _with_apt() -> None:
    apt_get = shutil.which("apt-get")
    if apt_get is None:
        return
    # -n: where sudo would ask for a password, the person there had better decide
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    install = ["install", "-qq", "--no-install-recommends"]
    _try([*root, apt_get, "update", "-qq"])
    _try([*root, apt_get, *install, NAMES[0]])
    if shutil.which(NAMES[0]) is None:  # older systems do not have it
        _try([*root, apt_get, *install, "chromium"])


def _with_playwright() -> None:
    _try([sys.executable, "-m", "playwright", "install", "chromium"])


def _try(command: list[str]) -> None:
    print("chromium is missing:", *command, file=sys.stderr, flush=True)
    try:
        subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            timeout=900,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        print(error, file=sys.stderr)


if __name__ == "__main__":
    try:
        print(install())
    except NoChromium as error:
        sys.exit(str(error))
