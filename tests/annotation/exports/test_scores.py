from dataclasses import fields
from pathlib import Path

import pytest

from annotation.core.refusals import Invalid
from annotation.exports.services import write_export
from annotation.models import Score
from evaluation import SummaryScore
from tests.annotation.cast import World
from tests.annotation.exports.reading import exported

pytestmark = pytest.mark.django_db

COLUMNS = [
    "project",
    "document_id",
    "system",
    "target_words",
    "summary_words",
    *(score.name for score in fields(SummaryScore) if score.type == float | None),
    "passed",
    "claims",
    "claims_unscored",
    "flags",
    "composite_own",
]


def test_the_columns_are_the_public_ones_in_their_order(world: World, tmp_path: Path) -> None:
    rows = exported(world.project, "scores", tmp_path / "scores.jsonl")
    assert list(rows[0]) == COLUMNS


def test_a_summary_of_the_judge_alone(world: World, tmp_path: Path) -> None:
    rows = exported(world.project, "scores", tmp_path / "scores.jsonl")
    alder = next(row for row in rows if (row["document_id"], row["system"]) == ("port", "alder"))
    # Unit 1 has yes and no, unit 2 yes: (1/2 + 1) / 2 = 3/4. 2 of 3 claims are yes. The summary has 13 of 20 words,
    # so the brevity is 7/20 = 0.35, and the composite at 2/3 is 2/3 * 0.75 + 1/3 * 0.35 = 0.616667.
    assert alder["coverage"] == alder["coverage_judge"] == 0.75
    assert alder["claim_coverage"] == pytest.approx(2 / 3)
    assert (alder["summary_words"], alder["brevity"]) == (13, pytest.approx(0.35))
    assert alder["composite_1"] == 0.75
    assert alder["composite_2_3"] == alder["composite_custom"] == pytest.approx(0.6166666667)
    assert (alder["claims"], alder["claims_unscored"], alder["flags"]) == (3, 0, [])
    assert alder["human_share"] == 0.0


def test_what_nobody_judged_is_null_and_never_0(world: World, tmp_path: Path) -> None:
    rows = exported(world.project, "scores", tmp_path / "scores.jsonl")
    bridge = next(row for row in rows if (row["document_id"], row["system"]) == ("bridge", "alder"))
    empty = ("coverage", "coverage_judge", "coverage_human", "human_share", "alignment", "composite_2_3")
    assert [bridge[name] for name in empty] == [None] * len(empty)


def test_a_summary_that_was_never_scored_is_not_dropped(world: World, tmp_path: Path) -> None:
    Score.objects.all().delete()
    rows = exported(world.project, "scores", tmp_path / "scores.jsonl")
    assert len(rows) == 4
    assert {(row["summary_words"], row["coverage"], row["claims"], row["flags"]) for row in rows} == {
        (None,) * 4
    }


def test_slices_of_a_level_without_them_are_refused(world: World, tmp_path: Path) -> None:
    for level in ("scores", "pairs", "bundle"):
        with pytest.raises(Invalid, match=f"The level {level} has no slices"):
            write_export(
                project=world.project, level=level, format="csv", path=tmp_path / "x", by=None, key="group"
            )
