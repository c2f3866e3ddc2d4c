import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from tests.annotation.exports.reading import Rows, read
from tests.annotation.imports.files import jsonl, nested
from tests.test_documents import DOCS, TEXTS

pytestmark = pytest.mark.django_db

CLAIMS = [
    {"claim_text": "It rained", "weight": 1, "verdicts": {"alder": 1, "birch": 0, "cedar": 0}},
    {"claim_text": "Trams stopped", "weight": 2, "verdicts": {"alder": 0, "birch": 1, "cedar": 1}},
    {"claim_text": "Nobody was hurt", "weight": 5, "verdicts": {"alder": 1, "birch": "unsure"}},
]
# Alder has (1 + 5) / 8. Birch has 2 / 8, because unsure is not yes. Cedar has 2 / (1 + 2), because unscored claims
# are ignored.
KNOWN = {"alder": 0.75, "birch": 0.25, "cedar": 2 / 3}
SYSTEMS = [{"system": name, "summary_text": f"By {name}: trams stopped."} for name in KNOWN]


def exported(project: str, level: str, folder: Path) -> Rows:
    path = folder / f"{level}.parquet"
    call_command("export_dataset", project, "--level", level, "--format", "parquet", "--output", str(path))
    return read(path, "parquet")


@pytest.fixture
def weighed(tmp_path: Path) -> str:
    path = jsonl(tmp_path, nested(systems=SYSTEMS, claims=CLAIMS))
    call_command("import_dataset", "weighed", str(path), "--create")
    return "weighed"


def test_weighted_coverage_follows_from_the_units_alone(
    weighed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported(weighed, "units", tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    (example,) = re.findall(r"```python\n(.*?)```", TEXTS[DOCS / "exports.md"], re.DOTALL)
    exec(example, names)  # the example of the documentation
    recomputed = names["coverage"].reset_index().set_index("system")[0].to_dict()
    stored = {row["system"]: row["coverage"] for row in exported(weighed, "scores", tmp_path)}
    assert recomputed == pytest.approx(KNOWN)
    assert stored == pytest.approx(KNOWN)
