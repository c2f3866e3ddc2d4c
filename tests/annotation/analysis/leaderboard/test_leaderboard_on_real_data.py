from pathlib import Path

import pytest

from annotation.analysis.leaderboard.leaderboard import SystemRow, leaderboard
from annotation.models import Project
from tests.annotation.imports.files import import_dataset

pytestmark = pytest.mark.django_db


def imported(path: Path) -> dict[str, SystemRow]:
    project = Project.objects.create(slug="judged", name="Judged")
    import_dataset(project=project, path=path, by=None)
    (table,) = leaderboard(project).tables
    return {row.system: row for row in table.rows}


def test_macro_recalls_of_realsumm(judged_data: Path) -> None:
    rows = imported(judged_data / "realsumm_dev.jsonl")
    # The mean over the documents of the share of claims that are present, from the description of the data.
    known = {
        "abs_semsim_out": 0.575355,
        "ext_bart_out": 0.567910,
        "ext_pnbert_out_bert_tf_pn": 0.562817,
        "ext_refresh_out": 0.555471,
        "abs_bart_out": 0.487101,
        "abs_bottom_up_out": 0.287240,
    }
    found = {system: rows[system].scores["coverage_human"].mean for system in known}
    assert found == pytest.approx(known, abs=5e-7)
    assert {rows[system].scores["coverage_judge"].mean for system in known} == {None}


def test_sentence_support_of_qags_is_alignment(judged_data: Path) -> None:
    rows = imported(judged_data / "qags_factual_dev.jsonl")
    found = {system: row.scores["alignment"].mean for system, row in rows.items()}
    assert found == pytest.approx({"bottom_up": 0.754167, "bart": 0.5}, abs=5e-7)
    assert {row.scores["coverage"].mean for row in rows.values()} == {None}
