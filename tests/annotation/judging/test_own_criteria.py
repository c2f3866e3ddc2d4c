from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.judging.queries.run_estimate import run_estimate
from annotation.judging.queries.run_metrics import parts_of
from annotation.models import Judge, Project, Rating
from annotation.projects.services.set_criteria import set_criteria
from evaluation.metrics import Criterion
from tests.annotation.exports.reading import exported
from tests.annotation.judging.doing import add_document_set, run_to_end

if TYPE_CHECKING:
    from pathlib import Path

    from tests.llm_server import LLMServer

TEXT = "The mill burned down at night. Nobody was hurt."
TONE = Criterion("tone", "Is the tone neutral?", (1, 5), answered_by="both")
TRUE = Criterion("true", "Is it true?", "yes_no", reads="source", answered_by="judge")
NEAR = Criterion("near", "Is it near?", (0, 2), reads="reference", answered_by="judge", asked="after")


@pytest.fixture
def project(db: None) -> Project:
    made = Project.objects.create(slug="mill", name="Mill study")
    add_document_set(made, TEXT, reference=TEXT, elm=TEXT, oak=" ")
    return made


def rated(project: Project) -> list[tuple[str, str, float | None]]:
    rows = Rating.objects.filter(summary__document_set__project=project).order_by("pk")
    return list(rows.values_list("summary__system__name", "criterion__name", "value"))


def test_criteria_are_answered_once_and_a_new_version_again(
    project: Project, llm_judge: Judge, llm_server: LLMServer, tmp_path: Path
) -> None:
    assert project.usual_metrics == ["coverage", "alignment"]
    set_criteria(project, [TONE, TRUE, NEAR])
    assert project.usual_metrics == ["coverage", "alignment", "criteria"]
    llm_server.chances = {"4": 0.6, "5": 0.2}
    run_to_end(project, llm_judge, ["coverage", "criteria"])
    # The empty summary is unscored; the server gives the others the second-highest value of each scale.
    elm = [("elm", "near", 1.0), ("elm", "tone", 4.0), ("elm", "true", 0.0)]
    assert sorted(each for each in rated(project) if each[0] == "elm") == elm
    assert {each[2] for each in rated(project) if each[0] == "oak"} == {None}
    tone = Rating.objects.get(criterion__name="tone", summary__system__name="elm")
    assert (tone.reason, tone.evidence, tone.confidence) == ("fair", [1], 0.9)
    # The probabilities are .6 for 4 and .2 for 5, of .8 in total: 4.25 is expected.
    assert tone.expected == pytest.approx(4.25)
    rows = exported(project, "answers", tmp_path / "answers.jsonl")
    told = {row["claim_id"]: row["expected"] for row in rows if row["kind"] == "rating" and row["value"]}
    assert told["tone"] == pytest.approx(4.25)
    # One call extracts claims, one covers them and rates the criterion of the summary alone, and two read another
    # text.
    assert len(llm_server.calls) == 4
    run_to_end(project, llm_judge, ["coverage", "criteria"])
    assert len(llm_server.calls) == 4
    before = len(rated(project))
    set_criteria(project, [Criterion("tone", "Is it calm?", (1, 5), answered_by="judge"), TRUE, NEAR])
    run_to_end(project, llm_judge, ["criteria"])
    assert len(llm_server.calls) == 5
    # No request is made about the empty summary, which is unscored again.
    assert len(rated(project)) == before + 2


def test_the_estimate_counts_a_call_for_each_text_beside(project: Project, llm_judge: Judge) -> None:
    def calls(*metrics: str) -> int:
        return run_estimate(project=project, judge=llm_judge, parts=parts_of(metrics)).calls

    set_criteria(project, [TONE, TRUE, NEAR])
    assert calls("coverage", "criteria") == calls("coverage") + 2 * 2
    assert calls("criteria") == 2 * 3
