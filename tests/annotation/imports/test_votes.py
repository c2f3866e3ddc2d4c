from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.analysis.agreement.agreement import agreement
from annotation.analysis.agreement.ratings import check_answers
from annotation.imports.read import read_dataset
from annotation.models import Check, Project, Verdict
from tests.annotation.exports.reading import exported
from tests.annotation.imports.files import claims_of, import_dataset, jsonl, nested

if TYPE_CHECKING:
    from pathlib import Path

CLAIMS = [
    {
        "claim_text": "It rained",
        "verdicts": {"alder": 0, "birch": 1},
        "raw_votes": {"alder": [0, 0, 1], "birch": [1, 1, 1]},
    },
    {"claim_text": "Trams stopped", "raw_votes": {"alder": [1, 1, 1], "birch": [0, 1]}},
]


def bring(project: Project, folder: Path, claims: list[dict[str, Any]], name: str = "votes.jsonl") -> Any:
    path = jsonl(folder, nested(claims=claims), name=name)
    return import_dataset(project=project, path=path, by=None)


def test_a_check_keeps_one_verdict_and_its_votes(project: Project, tmp_path: Path) -> None:
    report = bring(project, tmp_path, CLAIMS)
    assert report.counts["verdicts"].created == 4
    verdict = Verdict.objects.get(
        check_row__claim__text="It rained", check_row__summary__system__name="alder"
    )
    assert (verdict.person, verdict.origin_name, verdict.label) == (None, "import:votes.jsonl", "no")
    assert verdict.votes == [["rater 1", "no"], ["rater 2", "no"], ["rater 3", "yes"]]
    labels = Check.objects.order_by("claim__position", "summary__system__name").values_list(
        "human_label", flat=True
    )
    # The two checks without a verdict in the file have three yes of three votes, and one yes of two.
    assert list(labels) == ["no", "yes", "yes", "unsure"]


def test_alpha_is_that_of_the_file(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, CLAIMS)
    # The checks have the votes 0 0 1, 1 1 1, 1 1 1 and 0 1. An ordered pair of unequal votes counts 1 / (number of
    # votes - 1), which is 4 / 2 in the first check and 2 / 1 in the last, so the observed disagreement is 4 / 11. Of
    # the 11 votes, 3 are no and 8 yes, so the expected disagreement is 2 * 3 * 8 / (11 * 10) = 48 / 110. Alpha is 1 -
    # (4 / 11) / (48 / 110) = 1 - 40 / 48.
    [scale] = agreement(project).scales
    assert scale.alpha.value == pytest.approx(1 / 6)
    assert (scale.items, scale.answers) == (4, 11)
    assert scale.raters == tuple(f"import:votes.jsonl rater {number}" for number in (1, 2, 3))


def test_votes_that_come_later_take_the_place_of_the_verdict_alone(project: Project, tmp_path: Path) -> None:
    without = [{key: value for key, value in claim.items() if key != "raw_votes"} for claim in CLAIMS[:1]]
    bring(project, tmp_path, without)
    assert [each.rater for each in check_answers(project, by_rater=True)] == ["import:votes.jsonl"] * 2
    assert bring(project, tmp_path, CLAIMS[:1]).counts["verdicts"].created == 2
    assert len(check_answers(project, by_rater=True)) == 6
    # In the comparison with a judge, the votes count together as one answer.
    assert [(each.rater, each.label) for each in check_answers(project)] == [
        ("import:votes.jsonl", "no"),
        ("import:votes.jsonl", "yes"),
    ]


def test_each_vote_is_exported_beside_its_verdict(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, CLAIMS[:1])
    answers = exported(project, "answers", tmp_path / "answers.jsonl", named=True)
    rows = [(row["kind"], row["rater"], row["value"]) for row in answers if row["kind"] in ("check", "vote")]
    assert rows[:4] == [
        ("check", "import:votes.jsonl", "no"),
        ("vote", "import:votes.jsonl rater 1", "no"),
        ("vote", "import:votes.jsonl rater 2", "no"),
        ("vote", "import:votes.jsonl rater 3", "yes"),
    ]
    assert [kind for kind, *_ in rows].count("vote") == 6


def test_votes_in_a_list_may_name_their_raters(tmp_path: Path) -> None:
    given = [{"worker": 7, "vote": "yes"}, {"vote": 0}, None]
    path = jsonl(tmp_path, nested(claims=[{"claim_text": "It rained", "raw_votes": {"alder": given}}]))
    [claim] = claims_of(read_dataset(path).dataset.sets["d1"])
    assert claim.votes == {"alder": {"7": "yes", "rater 2": "no"}}
