"""The gate scores a file as a project does that imports it: people's answers, claims of either side, references."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from annotation.command_line.main import main
from annotation.models import Run
from tests.annotation.judging.doing import judge_all

METRICS = ("coverage", "claim_coverage", "alignment", "factual_alignment")
SOURCE = "It rained on Monday. The mayor left the town. Nobody asked why. The bridge stayed open all day."
OF_THE_REFERENCE = {
    "doc_id": "d1",
    "source_text": SOURCE,
    "reference_text": "It rained. The mayor left. The bridge stayed open.",
    "systems": [
        {"system": "alder", "summary_text": "It rained on Monday. The bridge stayed open."},
        {"system": "birch", "summary_text": "It snowed. The mayor left the town."},
        {"system": "cedar", "summary_text": ""},
    ],
    "claims": [
        {"claim_text": "It rained.", "weight": 3, "verdicts": {"alder": 0, "birch": 1}},
        {"claim_text": "The mayor left.", "weight": 1, "verdicts": {"birch": "unsure"}},
        {"claim_text": "The bridge stayed open.", "weight": 2, "verdicts": {}},
    ],
}
OF_THE_SUMMARIES = {
    "doc_id": "d1",
    "source_text": SOURCE,
    "reference_text": "It rained. The mayor left.",
    "systems": [{"system": "alder", "summary_text": "It rained. It snowed. Nobody asked why."}],
    "claims": [
        {"claim_text": "It rained.", "verdicts": {"alder": 0}},
        {"claim_text": "It snowed.", "verdicts": {"alder": 1}},
    ],
}
FLAT = [
    {
        "document_id": "d1",
        "document": SOURCE,
        "system": "alder",
        "summary": "It rained. It snowed.",
        **reference,
    }
    for reference in (
        {"reference": "It rained. The mayor left.", "reference_id": "a", "target_words": 10},
        {"reference": "It snowed. Nobody asked why.", "reference_id": "b", "target_words": 10},
        {"reference": "It rained.", "reference_id": "a", "target_words": 20},
    )
]


@pytest.mark.parametrize(
    "lines",
    [[OF_THE_REFERENCE], [OF_THE_SUMMARIES], FLAT],
    ids=["reference", "summaries", "several references"],
)
def test_a_gate_gives_the_scores_of_a_project(
    lines: list[dict[str, object]],
    transactional_db: None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "summaries.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert main(["gate", str(path), "--metrics", ",".join(METRICS), "--format", "json"]) == 0
    gated = {
        (row["system"], row["target_words"]): row["scores"]
        for row in json.loads(capsys.readouterr().out)["summaries"]
    }
    table = tmp_path / "scores.csv"
    call_command("import_dataset", "same", path, "--create", stdout=StringIO())
    named = ["--judge", "lexical", "--metrics", ",".join(METRICS)]
    call_command("evaluate", "same", *named, stdout=StringIO(), stderr=StringIO())
    judge_all(Run.objects.get())
    call_command("export_dataset", "same", level="scores", format="csv", output=table, verbosity=0)
    with table.open(encoding="utf-8") as stream:
        stored = {
            (row["system"], int(row["target_words"]) if row["target_words"] else None): row
            for row in csv.DictReader(stream)
        }
    assert gated.keys() == stored.keys()
    for key, scores in gated.items():
        told = {name: float(stored[key][name]) if stored[key][name] else None for name in METRICS}
        assert (key, scores) == (key, pytest.approx(told, abs=1e-9))
