"""Asks whether weaknesses are known of what is pinned in requirements/ and package-lock.json.

    python -m tools.audit

Fails if there are any (npm: from *high* on). An advisory service that cannot be reached, or that does not
answer within 20 s, fails nothing: it is said, and that is all. `make audit` installs what this needs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

PATIENCE_S: Final = 20
"""How long one service may take."""

_GRAVE: Final = ("high", "critical")


class Unreachable(Exception):
    """The service says nothing; why."""


def of_pip(answer: str) -> list[str]:
    """What pip-audit's JSON says is weak. Raises `Unreachable`."""
    try:
        packages: list[dict[str, Any]] = json.loads(answer)["dependencies"]
    except (ValueError, KeyError, TypeError):
        raise Unreachable("pip-audit had no answer") from None
    known = [package for package in packages if "vulns" in package]
    if not known:
        raise Unreachable("the service knows none of the packages")
    return [
        f"{package['name']} {package['version']}: {', '.join(weak['id'] for weak in package['vulns'])}"
        for package in known
        if package["vulns"]
    ]


def of_npm(answer: str) -> list[str]:
    """What `npm audit --json` says is weak. Raises `Unreachable`."""
    try:
        found: dict[str, dict[str, Any]] = json.loads(answer)["vulnerabilities"]
    except (ValueError, KeyError, TypeError):
        raise Unreachable("npm had no answer") from None
    return [f"{name}: {weak['severity']}" for name, weak in found.items() if weak["severity"] in _GRAVE]


def ask(command: list[str]) -> str:
    """What a command prints, whatever its exit code. Raises `Unreachable`."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        raise Unreachable(f"no answer within {PATIENCE_S} s") from None
    except OSError as error:
        raise Unreachable(str(error)) from None
    return done.stdout


def main() -> int:
    """See the module."""
    root = Path(__file__).parents[1]
    # that of the tests has all that the others have, but for pip-audit's own
    pinned = [word for name in ("test", "audit") for word in ("-r", str(root / f"requirements/{name}.txt"))]
    pip_audit = str(Path(sys.executable).with_name("pip-audit"))
    audits: dict[str, Callable[[], list[str]]] = {
        "pip-audit": lambda: of_pip(
            ask([pip_audit, "--no-deps", "--disable-pip", "--format", "json", *pinned])
        ),
        "npm audit": lambda: of_npm(ask(["npm", "audit", "--json", "--prefix", str(root / "client")])),
    }
    weak = False
    for name, audit in audits.items():
        try:
            found = audit()
        except Unreachable as why:
            print(f"{name}: not done: {why}")
            continue
        weak = weak or bool(found)
        print("\n  ".join([f"{name}: {len(found) or 'nothing'} found", *found]))
    return int(weak)


if __name__ == "__main__":
    sys.exit(main())
