"""Metrics, by name: those that there are, those that are documented, those that dashboard and alarms want."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import Any

import pytest
import yaml
from prometheus_client import Counter, Gauge, Histogram

from heartroom import metrics
from heartroom.protocol.codes import Code
from heartroom.web.settings import Settings
from tests.deploy.test_deploy import ROOT, replicas, services, upstreams

GRAFANA = ROOT / "deploy" / "grafana"
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()


def series() -> dict[str, set[str]]:
    """By metric: the names of its series, without those of buckets' labels."""
    found: dict[str, set[str]] = {}
    for metric in vars(metrics).values():
        if isinstance(metric, Histogram):
            (family,) = metric.collect()
            found[family.name] = {f"{family.name}_{what}" for what in ("bucket", "sum", "count")}
        elif isinstance(metric, Counter | Gauge):
            (family,) = metric.collect()
            name = family.name + ("_total" if isinstance(metric, Counter) else "")
            found[name] = {name}
    return found


ALL = series()


def mentioned(text: str) -> set[str]:
    return set(re.findall(r"\bheartroom_[a-z_]+\b", text))


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((GRAFANA / "heartroom.json").read_text())["panels"]
    return found


def asked_for() -> list[str]:
    """All expressions of the dashboard."""
    return [target["expr"] for panel in panels() for target in panel["targets"]]


def alarms() -> list[dict[str, Any]]:
    groups = yaml.safe_load((ROOT / "deploy/alerts.yml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def test_every_metric_is_documented_and_every_one_documented_exists() -> None:
    assert len(ALL) >= 15
    table = set(re.findall(r"^\| `(heartroom_\w+)`", OPERATIONS, re.MULTILINE))
    assert table == ALL.keys()
    assert mentioned(OPERATIONS) <= ALL.keys() | set().union(*ALL.values())


def test_every_metric_is_on_the_dashboard_and_every_one_there_exists() -> None:
    shown = mentioned(" ".join(asked_for()))
    assert shown <= set().union(*ALL.values())
    assert [name for name, of in ALL.items() if not shown & of] == []


def test_alarms_ask_for_what_exists_and_are_documented() -> None:
    for rule in alarms():
        assert mentioned(rule["expr"]) <= set().union(*ALL.values())
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"]
        codes = re.findall(r'code=~"([^"]*)"', rule["expr"])
        assert {code for listed in codes for code in listed.split("|")} <= set(Code)
    named = set(re.findall(r"^\| `(Heartroom\w+)`", OPERATIONS, re.MULTILINE))
    assert named == {rule["alert"] for rule in alarms()}


@pytest.mark.parametrize("expression", [*asked_for(), *(rule["expr"] for rule in alarms())])
def test_expressions_are_whole(expression: str) -> None:
    bare = re.sub(r'"[^"]*"', "", expression)
    assert '"' not in bare
    for opening, closing in ("()", "[]", "{}"):
        assert bare.count(opening) == bare.count(closing)
    # counters are only of use as rates
    counters = {name for name in mentioned(bare) if name.endswith(("_total", "_bucket", "_sum", "_count"))}
    for name in counters:
        assert re.search(rf"(rate|increase)\({name}(\{{[^}}]*\}})?\[", bare), expression


def test_panels_lie_side_by_side_and_are_told_apart() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in panels():
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert place["x"] + place["w"] <= 24
        assert not cells & taken, panel["title"]
        taken |= cells
    ids = [panel["id"] for panel in panels()]
    assert len(set(ids)) == len(ids)


def test_prometheus_asks_every_node_that_there_is() -> None:
    config = yaml.safe_load((ROOT / "deploy/prometheus.yml").read_text())
    (job,) = config["scrape_configs"]
    (targets,) = job["static_configs"]
    assert targets["targets"] == upstreams()
    assert len(targets["targets"]) == len(replicas())
    assert job["metrics_path"] == "/metrics"
    assert all(
        f'job="{job["job_name"]}"' in text
        for text in (*asked_for(), *(r["expr"] for r in alarms()))
        if "job=" in text
    )
    mounted = {mount.split(":")[1] for mount in services()["prometheus"]["volumes"]}
    assert {f"/etc/prometheus/{name}" for name in ("prometheus.yml", *config["rule_files"])} <= mounted


def test_grafana_finds_its_source_and_its_dashboard() -> None:
    (source,) = yaml.safe_load((GRAFANA / "provisioning/datasources/prometheus.yml").read_text())[
        "datasources"
    ]
    assert source["url"] == "http://prometheus:9090"
    variables = json.loads((GRAFANA / "heartroom.json").read_text())["templating"]["list"]
    assert variables[0]["current"]["value"] == source["uid"]
    (provider,) = yaml.safe_load((GRAFANA / "provisioning/dashboards/heartroom.yml").read_text())["providers"]
    mounts = [mount.split(":")[:2] for mount in services()["grafana"]["volumes"]]
    assert ["./deploy/grafana/heartroom.json", provider["options"]["path"] + "/heartroom.json"] in mounts
    home = services()["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert home == provider["options"]["path"] + "/heartroom.json"


# -- settings and limits


def test_every_setting_is_in_the_table_and_every_one_there_exists() -> None:
    table = OPERATIONS.split("## Settings", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| `([A-Z_]+)` \|([^|]*)\|", table, re.MULTILINE)
    assert [name for name, _ in rows] == [field.name.upper() for field in fields(Settings)]
    for (name, raw), field in zip(rows, fields(Settings), strict=True):
        default = raw.strip()
        if isinstance(field.default, int) and not isinstance(field.default, bool):
            assert default.replace(",", "") == str(field.default), name
        elif isinstance(field.default, bool):
            assert default == str(int(field.default)), name
        elif field.default and isinstance(field.default, str):
            assert default.strip("`") == field.default, name


def test_the_settings_in_the_readme_exist() -> None:
    table = (ROOT / "README.md").read_text().split("| `HEARTROOM_…` |", 1)[1].split("\n\n", 1)[0]
    named = {
        name
        for row in table.splitlines()
        for name in re.findall(r"`([A-Z_]{4,})`", row.split("|")[1] if "|" in row else "")
    }
    assert named == {field.name.upper() for field in fields(Settings)}


def test_limits_name_codes_that_exist() -> None:
    table = OPERATIONS.split("## Limits", 1)[1].split("\n## ", 1)[0]
    codes = set(re.findall(r"^\|[^|]*\|[^|]*\| `([a-z_]+)`", table, re.MULTILINE))
    assert (
        {"too_fast", "crowded", "too_many_sessions", "too_many_connections", "log_full"} <= codes <= set(Code)
    )
