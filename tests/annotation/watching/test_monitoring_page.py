"""The page on monitoring, held to what is measured: no alert rests on a metric, label or route that is not there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from django.urls import URLPattern, URLResolver, get_resolver
from prometheus_client.parser import text_string_to_metric_families

from annotation.core import tallies
from annotation.watching.figures import TALLIES
from annotation.watching.queries import BACKUP_STAMP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.test import Client

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "monitoring.md").read_text()
RULES = yaml.safe_load(
    next(block for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.S) if "groups:" in block)
)
NAME = re.compile(r"coverdict_[a-z_]+")
TOKEN = "a-token-of-the-operators-choice"


@pytest.fixture
def families(client: Client, db: None, settings: Any, tmp_path: Path) -> dict[str, set[str]]:
    """The labels of every metric of an installation in which all has happened once."""
    settings.METRICS_TOKEN, settings.VAR_DIR = TOKEN, tmp_path
    (tmp_path / BACKUP_STAMP).write_text('{"finished_at": "2026-11-24T03:00:00+00:00"}')
    for name, (_, labels) in TALLIES.items():
        tallies.count(name, **dict.fromkeys(labels, "a"))
    tallies.write()
    client.get("/healthz")
    text = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).content.decode()
    return {
        sample.name: set(sample.labels)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def routes(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[str]:
    for each in patterns:
        here = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from routes(each.url_patterns, here)
        else:
            yield here


def test_every_metric_that_the_page_names_is_measured_and_none_is_left_out(
    families: dict[str, set[str]],
) -> None:
    named = set(NAME.findall(PAGE)) - {"coverdict_request_seconds"}
    assert named - set(families) == set()
    told = {re.sub(r"_(bucket|count|sum)$", "", name) for name in families if not name.endswith("_created")}
    assert told - set(NAME.findall(PAGE)) == set()


def test_every_alert_reads_metrics_and_labels_that_there_are(families: dict[str, set[str]]) -> None:
    [group] = RULES["groups"]
    assert len({rule["alert"] for rule in group["rules"]}) == len(group["rules"]) >= 10
    for rule in group["rules"]:
        assert rule["annotations"]["summary"]
        for name, labels in re.findall(r"(coverdict_[a-z_]+)(?:\{([^}]*)\})?", rule["expr"]):
            assert name in families, (rule["alert"], name)
            assert set(re.findall(r"(\w+)\s*=~?", labels)) <= families[name], (rule["alert"], labels)
        assert rule["expr"].count("(") == rule["expr"].count(")")


def test_saves_are_the_routes_that_the_page_names() -> None:
    known = set(routes(get_resolver().url_patterns))
    named = set(re.findall(r"`(p/[^`]+/)`", PAGE))
    assert len(named) == 2
    assert named <= known
    [rule] = [rule for rule in RULES["groups"][0]["rules"] if rule["alert"] == "CoverdictSavesAreSlow"]
    [pattern] = re.findall(r'route=~"([^"]+)"', rule["expr"])
    assert named <= {route for route in known if re.fullmatch(pattern, route)}
