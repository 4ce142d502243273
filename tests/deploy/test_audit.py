"""`make audit`: weaknesses that are known fail it, and nothing else does."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.deploy.test_deploy import ROOT
from tools import audit

SOUND = {"name": "click", "version": "8", "vulns": []}
WEAK = {"name": "idna", "version": "3", "vulns": [{"id": "PYSEC-1"}, {"id": "PYSEC-2"}]}
UNKNOWN = {"name": "regex", "skip_reason": "Dependency not found"}
NPM = {"vulnerabilities": {"vite": {"severity": "high"}, "rollup": {"severity": "moderate"}}}


def test_weaknesses_are_read_from_what_the_tools_print() -> None:
    assert audit.of_pip(json.dumps({"dependencies": [SOUND, WEAK, UNKNOWN]})) == ["idna 3: PYSEC-1, PYSEC-2"]
    assert audit.of_pip(json.dumps({"dependencies": [SOUND, UNKNOWN]})) == []
    assert audit.of_npm(json.dumps(NPM)) == ["vite: high"]
    assert audit.of_npm('{"vulnerabilities": {}}') == []


@pytest.mark.parametrize(
    "answer",
    ["", "error", "[]", "{}", json.dumps({"dependencies": [UNKNOWN]}), '{"message": "405", "error": {}}'],
)
def test_no_answer_is_told_from_nothing_found(answer: str) -> None:
    for read in (audit.of_pip, audit.of_npm):
        with pytest.raises(audit.Unreachable):
            read(answer)


def test_a_service_that_stands_still_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def stuck(*_: Any, **options: Any) -> None:
        raise subprocess.TimeoutExpired("npm", options["timeout"])

    monkeypatch.setattr(subprocess, "run", stuck)
    with pytest.raises(audit.Unreachable, match="within 20 s"):
        audit.ask(["npm"])


@pytest.mark.parametrize(("pip", "code"), [(SOUND, 0), (WEAK, 1), (UNKNOWN, 0)])
def test_only_what_is_known_to_be_weak_fails(
    monkeypatch: pytest.MonkeyPatch, pip: dict[str, Any], code: int
) -> None:
    answers = {"npm": "", "pip-audit": json.dumps({"dependencies": [pip]})}
    monkeypatch.setattr(audit, "ask", lambda command: answers[command[0].rsplit("/", 1)[-1]])
    assert audit.main() == code


def test_a_tool_that_is_missing_is_said() -> None:
    with pytest.raises(audit.Unreachable):
        audit.ask(["/no/such/tool"])
    assert audit.ask([sys.executable, "-c", "print('x'); exit(1)"]) == "x\n"


def test_ci_asks_after_the_tests() -> None:
    assert (ROOT / ".ci/run").read_text().rstrip().endswith("make test\nexec make audit")
