from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from annotation.models import Run
from annotation.watches.make_watch import make_watch

if TYPE_CHECKING:
    from django.test import Client

    from tests.annotation.cast import World

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "monitoring.md").read_text()
RULES = yaml.safe_load(
    next(block for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.S) if "groups:" in block)
)
NAME = re.compile(r"coverdict_[a-z_]+")
TOKEN = "a-token-of-the-operators-choice"


@pytest.fixture
def families(client: Client, world: World, settings: Any) -> dict[str, set[str]]:
    settings.METRICS_TOKEN = TOKEN
    Run.objects.create(project=world.project, judge=world.judge)
    watch = make_watch(project=world.project, by=None, name="live")
    watch.latest = {"state": "steady", "means": {"coverage": 0.7}}
    watch.save(update_fields=["latest"])
    text = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).content.decode()
    return {
        sample.name: set(sample.labels)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_every_metric_that_the_page_names_is_measured_and_none_is_left_out(
    families: dict[str, set[str]],
) -> None:
    named = set(NAME.findall(PAGE))
    assert named - set(families) == set()
    assert set(families) - set(NAME.findall(PAGE)) == set()


def test_every_alert_reads_metrics_and_labels_that_there_are(families: dict[str, set[str]]) -> None:
    [group] = RULES["groups"]
    assert len({rule["alert"] for rule in group["rules"]}) == len(group["rules"])
    for rule in group["rules"]:
        assert rule["annotations"]["summary"]
        for name, labels in re.findall(r"(coverdict_[a-z_]+)(?:\{([^}]*)\})?", rule["expr"]):
            assert name in families, (rule["alert"], name)
            assert set(re.findall(r"(\w+)\s*=~?", labels)) <= families[name], (rule["alert"], labels)
        assert rule["expr"].count("(") == rule["expr"].count(")")
