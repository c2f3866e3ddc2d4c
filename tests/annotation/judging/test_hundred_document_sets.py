"""A run over a hundred document sets of which ten meet faults: the others are scored as without any."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from annotation.core import jobs
from annotation.judging.services import judges
from annotation.models import Check, Job, Judge, Project, Score
from evaluation.judging import OpenAIJudge
from evaluation.judging.openai import _caller as caller
from evaluation.judging.protocol import Limits
from evaluation.running import SummaryInput, evaluate_summaries
from tests.annotation.asking import make_question
from tests.annotation.judging.doing import add_document_set, run_to_end
from tests.llm_faults import LASTING, TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.llm_server import Call, Fault, LLMServer

pytestmark = pytest.mark.slow
SETS = 100
METRICS = ["factual_alignment", "question_coverage", "conciseness"]
SCORED = ("coverage", "alignment", "factual_alignment", "question_coverage", "conciseness")
# Of what lasts, one kind for each way in which a job meets it; the library's tests go through all of them.
KINDS = [
    "unknown ids",
    "duplicate ids that disagree",
    "wrong labels",
    "truncation",
    "empty content",
    "a page",
    "refusal",
    "429 with Retry-After",
    "hang",
    "reset in mid-answer",
]
FAULTY = {10 * place + 1: kind for place, kind in enumerate(KINDS)}


def is_about(call: Call, number: int) -> bool:
    return f"town {number} " in json.dumps(call.question)


def rule(call: Call) -> Fault | None:
    return next((LASTING[kind][0] for number, kind in FAULTY.items() if is_about(call, number)), None)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few attempts and short pauses: no test waits for what does not come."""
    monkeypatch.setattr(judges, "Limits", lambda **given: Limits(**given, max_attempts=2))
    monkeypatch.setattr(caller, "_FIRST_BACKOFF_SECONDS", 0.01)
    monkeypatch.setattr(jobs, "PAUSES_SECONDS", ())


def texts(number: int) -> SummaryInput:
    town = f"town {number} "
    return SummaryInput(
        document=f"The dam of {town}was finished. The mayor of {town}left. A crew of {town}stayed.",
        reference=f"The dam of {town}was finished. The mayor of {town}left.",
        summary=f"The mayor of {town}left. The dam of {town}burst at {number % 7} in the morning.",
        questions=[f"Did the mayor of {town}leave?", f"The mayor of {town}left?"],
    )


def project_of(items: Sequence[SummaryInput]) -> Project:
    project = Project.objects.create(slug="dams", name="Dams")
    for number, item in enumerate(items):
        document_set = add_document_set(
            project,
            external_id=str(number),
            documents=[item.document],
            reference=item.reference,
            summaries={"elm": item.summary},
        )
        for position, text in enumerate(item.questions or (), start=1):
            make_question(document_set, text, position=position, origin="person")
    return project


def test_ten_faulty_sets_of_a_hundred_are_unscored_with_reasons_and_cost_the_others_nothing(
    impatient: None, llm_judge: Judge, llm_server: LLMServer
) -> None:
    Judge.objects.filter(pk=llm_judge.pk).update(timeout_seconds=TIMEOUT_SECONDS)
    items = [texts(number) for number in range(SETS)]
    # What the library says of the same texts without any fault.
    right = evaluate_summaries(items, judge=OpenAIJudge("scripted", llm_server.base_url), metrics=SCORED)
    assert {(result["coverage"], result["alignment"]) for result in right} == {(0.5, 0.5)}

    llm_server.where(rule)
    run = run_to_end(project_of(items), llm_judge, METRICS)
    assert run.state == "finished"
    rows = Score.objects.values_list("summary__document_set__external_id", *SCORED)
    found = {row[0]: dict(zip(SCORED, row[1:], strict=True)) for row in rows}
    for number, expected in enumerate(right):
        job = Job.objects.get(run=run, document_set__external_id=str(number))
        if number not in FAULTY:
            assert found[str(number)] == pytest.approx(expected.scores, abs=1e-12)
            assert (job.state, job.error, job.unscored) == ("done", "", 0)
            continue
        checks = Check.objects.filter(summary__document_set=job.document_set)
        told = [job.error, *checks.values_list("unscored_reason", flat=True)]
        assert LASTING[FAULTY[number]][1] in " ".join(told), FAULTY[number]
        assert not checks.exclude(final_label=None).exists(), FAULTY[number]
        assert set(found.get(str(number), {}).values()) <= {None}, FAULTY[number]
