from typing import Any

import krippendorff
import pytest

from evaluation import (
    Criterion,
    EvaluationError,
    JudgePanel,
    LexicalJudge,
    SummaryInput,
    evaluate_summaries,
)
from evaluation.judging import OpenAIJudge
from evaluation.metrics import PACKS, read_criteria
from tests.evaluation.judging.conftest import JudgeMaker
from tests.llm_server import LLMServer, faults

DOCUMENT = "It rained on Monday. The mayor left."
TONE = Criterion("tone", "Is the tone neutral?", scale=(1, 5))
READ = (
    TONE,
    Criterion("safe", "Is it safe?", "yes_no", higher_is_better=False),
    Criterion("faithful", "Is it faithful?", (0, 2), reads="source"),
    Criterion("alike", "Is it like the reference?", (1, 5), reads="reference", asked="after"),
)


def inputs(count: int) -> list[SummaryInput]:
    return [SummaryInput(DOCUMENT, f"The mayor left, part {n}.", "The mayor left.") for n in range(count)]


def test_a_criterion_of_ones_own_is_a_score(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    [result] = evaluate_summaries(
        inputs(1), judge=judge_of(), metrics=["coverage"], criteria=READ, verbose=True
    )
    # The scripted server answers 4 on a scale of 1 to 5, 1 on a scale of 0 to 2, and no to a yes-or-no criterion. For
    # `safe`, no is the best answer.
    assert {name: result[name] for name in ("tone", "safe", "faithful", "alike")} == {
        "tone": 0.75,
        "safe": 1.0,
        "faithful": 0.5,
        "alike": 0.75,
    }
    assert result.details
    assert result.details.ratings["tone"].confidence == 0.9
    assert result.reasons["tone"] == "fair"
    assert "criteria:" in result.signature
    # One call extracts the claims of the reference. One covers it and rates both criteria about the summary alone. Each
    # further text needs one call.
    assert len(llm_server.calls) == 4


@pytest.mark.parametrize(("metrics", "more"), [(("coverage",), 0), (("alignment",), 100)])
def test_twelve_criteria_cost_at_most_one_call_a_summary(
    judge_of: JudgeMaker, llm_server: LLMServer, metrics: tuple[str, ...], more: int
) -> None:
    twelve = [Criterion(f"own{n}", f"Is it good by {n}?", (1, 5)) for n in range(12)]
    evaluate_summaries(inputs(100), judge=judge_of(), metrics=metrics)
    before = len(llm_server.calls)
    llm_server.calls.clear()
    evaluate_summaries(inputs(100), judge=judge_of(), metrics=metrics, criteria=twelve)
    assert len(llm_server.calls) == before + more


TEN_LINES = """
from evaluation import Criterion, SummaryInput, evaluate_summaries, krippendorff_alpha, prediction_powered_mean
tone = Criterion("tone", "Is the tone neutral?", scale=(1, 5))
estimates = {}
for system, (ann, ben) in people.items():
    rows = [SummaryInput(text, f"By {system}: {text}") for text in texts]
    judged = [found["tone"] for found in evaluate_summaries(rows, judge=judge, metrics=[], criteria=[tone])]
    human = [(tone.share(one) + tone.share(other)) / 2 for one, other in zip(ann, ben)]
    estimates[system] = prediction_powered_mean(human, judged[: len(human)], judged[len(human) :])
alpha = krippendorff_alpha([[x for pair in people.values() for x in pair[rater]] for rater in (0, 1)], "ordinal")
ranking = sorted(estimates, key=lambda system: -estimates[system].estimate)
"""


def test_ten_lines_rank_by_a_criterion_that_a_judge_and_two_people_rated(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    # The judge rates texts about early rain 2 and the others 4; people agree with it about alder.
    replies = {n: faults.text(f'{{"criteria": [{{"id": "r1", "value": {n}}}]}}') for n in (2, 4)}
    llm_server.where(lambda call: replies[2 if "early" in str(call.body) else 4])
    texts = [f"It rained {'early' if n % 2 else 'late'} on day {n}." for n in range(40)]
    people = {"birch": ([1, 1, 2, 1], [1, 1, 1, 2]), "alder": ([4, 2] * 2, [4, 2] * 2)}
    names: dict[str, Any] = {"judge": judge_of(), "texts": texts, "people": people}
    assert len(TEN_LINES.strip().splitlines()) == 10
    exec(TEN_LINES, names)  # the ten lines above
    assert names["ranking"] == ["alder", "birch"]
    assert names["alpha"] == pytest.approx(
        krippendorff.alpha(
            [[1, 1, 2, 1, 4, 2, 4, 2], [1, 1, 1, 2, 4, 2, 4, 2]], level_of_measurement="ordinal"
        )
    )
    assert names["estimates"]["alder"].estimate == pytest.approx(0.5)


def test_what_cannot_be_answered_is_unscored(judge_of: JudgeMaker) -> None:
    without = SummaryInput("", "The mayor left.")
    empty = SummaryInput(DOCUMENT, " ")
    source, reference = READ[2], READ[3]
    found = evaluate_summaries(
        [without, empty], judge=judge_of(), metrics=[], criteria=[source, reference, TONE]
    )
    assert found[0].scores == {"faithful": None, "alike": None, "tone": 0.75}
    assert found[0].reasons["faithful"] == "The document is empty."
    assert found[1].reasons["tone"] == "The summary is empty."
    [lexical] = evaluate_summaries(inputs(1), judge=LexicalJudge(), metrics=[], criteria=[TONE])
    assert lexical["tone"] is None
    assert "cannot rate" in lexical.reasons["tone"]


def test_a_panel_gives_a_value_of_the_scale(llm_server: LLMServer) -> None:
    llm_server.where(
        lambda call: (
            faults.text('{"criteria": [{"id": "r1", "value": 1}]}') if call.body["model"] == "low" else None
        )
    )
    panel = JudgePanel([OpenAIJudge(name, llm_server.base_url) for name in ("low", "fair")])
    [result] = evaluate_summaries(inputs(1), judge=panel, metrics=[], criteria=[TONE])
    # The lower median of 1 and 4 counts, which is 1, the lowest value of the scale.
    assert result["tone"] == 0.0


@pytest.mark.parametrize(
    ("criteria", "fault"),
    [
        ([Criterion(f"own{n}", "?", (1, 5)) for n in range(13)], "at most 12"),
        ([TONE, TONE], "Two criteria"),
        ([Criterion("tone", "", (1, 5))], "A question has"),
        ([Criterion("to ne", "?", (1, 5))], "A name has"),
        ([Criterion("coverage", "?", (1, 5))], "is a metric"),
        ([Criterion("tone", "?", (1, 30))], "2 to 11"),
        ([Criterion("tone", "?", "share")], "does not answer"),
        (["tone"], "a list of Criterion"),
    ],
)
def test_criteria_that_cannot_be_asked_are_refused(criteria: list[Criterion], fault: str) -> None:
    with pytest.raises(EvaluationError, match=fault):
        evaluate_summaries([("a", "b")], judge=LexicalJudge(), metrics=[], criteria=criteria)


def test_criteria_are_read_from_json() -> None:
    text = (
        '[{"name": "tone", "question": "Is the tone neutral?", "scale": [1, 5], "points": [[1, "biased"]]},'
        ' {"name": "safe", "question": "Is it safe?", "scale": "yes_no", "answered_by": "both"}]'
    )
    tone, safe = read_criteria(text)
    assert tone.choices[:2] == ((1, "biased"), (2, "2"))
    assert safe.answered_by == "both"
    for wrong in (
        "{",
        "3",
        "[3]",
        '[{"name": 3, "question": "?"}]',
        '[{"name": "a", "question": "?", "reads": "x"}]',
    ):
        with pytest.raises(EvaluationError, match="JSON list"):
            read_criteria(wrong)


def test_every_pack_can_be_asked() -> None:
    assert [each.fault for pack in PACKS.values() for each in pack if each.fault] == []
