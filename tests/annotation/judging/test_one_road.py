from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import SCORES, Project, Score
from evaluation import OpenAIJudge, SummaryInput, evaluate_summaries
from tests.annotation.judging.doing import add_document_set, judge_to_end
from tests.llm_server import faults

if TYPE_CHECKING:
    from collections.abc import Callable

    from annotation.models import Judge
    from tests.llm_server import Call, Fault, LLMServer

METRICS = [
    "coverage",
    "alignment",
    "factual_alignment",
    "question_coverage",
    "coherence",
    "completeness",
    "redundancy",
]
SOURCE = (
    "The mill {0} burned down at night. Nobody was hurt. A new mill opens in June. It rained in town {0}."
)
REFERENCE = "The mill {0} burned down. Nobody was hurt. It rained in town {0}."
SUMMARIES = {
    "elm": "The mill {0} burned down at night. It rained in town {0}.",
    "fir": "Nobody was hurt. Prices rose sharply. Nobody was hurt.",
    "yew": "",
}


def unreadable(call: Call) -> Fault | None:
    asked = str(call.question)
    if "town 1" not in asked:
        return None
    return faults.refusal("Not this.") if "summary" in call.question else faults.without("c2")


@pytest.mark.parametrize("rule", [None, unreadable], ids=["right replies", "bad replies"])
def test_equal_replies_make_equal_scores(
    db: None, llm_judge: Judge, llm_server: LLMServer, rule: Callable[[Call], Fault | None] | None
) -> None:
    llm_server.where(rule or (lambda _: None))
    project = Project.objects.create(slug="mill", name="Mill study")
    items = []
    for number in range(3):
        source, reference = SOURCE.format(number), REFERENCE.format(number)
        summaries = {name: text.format(number) for name, text in SUMMARIES.items()}
        add_document_set(project, source, external_id=str(number), reference=reference, **summaries)
        items += [
            SummaryInput(source, text, reference, key=f"{number} {name}") for name, text in summaries.items()
        ]
    judge_to_end(project, llm_judge, METRICS)
    asked = {str(call.body["messages"]) for call in llm_server.calls}
    llm_server.calls.clear()

    judge = OpenAIJudge(llm_judge.model, llm_judge.base_url)
    found = {each.key: each for each in evaluate_summaries(items, judge=judge, metrics=METRICS)}

    assert {str(call.body["messages"]) for call in llm_server.calls} == asked
    rows = Score.objects.filter(project=project).select_related("summary__system", "summary__document_set")
    assert len(rows) == len(items)
    for row in rows:
        scores = found[f"{row.summary.document_set.external_id} {row.summary.system}"].scores
        for name in set(METRICS) & set(SCORES):
            assert getattr(row, name) == pytest.approx(scores[name]), (row.summary, name)
