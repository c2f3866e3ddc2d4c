"""Known faults of a server or network, in each of the three calls of an evaluation."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from evaluation import Limits, OpenAIJudge, SummaryEvaluation, evaluate_summaries, evaluate_summary
from evaluation.judging.errors import JudgeRefused
from evaluation.judging.protocol import MemoryCallStore
from tests.evaluation.judging.conftest import JudgeMaker
from tests.llm_faults import ASKED_AGAIN, CLOSED, FINAL, MENDED, TIMEOUT_SECONDS, TRIED_AGAIN
from tests.llm_server import Call, Fault, LLMServer

DOCUMENT = "It rained on Monday. The mayor left. Nobody asked why. The bridge stayed open."
SUMMARY = "The mayor left. The bridge stayed open. It snowed."
METRICS = ("coverage", "alignment", "question_coverage", "coherence")
# By the scripted server's rules, the summary covers two of four claims, and the document supports two of the summary's
# three claims. The document answers two questions with yes, and the summary one of these. Every rating is .8.
RIGHT = {"coverage": 0.5, "alignment": 2 / 3, "question_coverage": 0.5, "coherence": 0.8}
LIMITS = Limits(timeout_seconds=TIMEOUT_SECONDS, max_attempts=2, max_wait_seconds=1.0)

STEPS: Mapping[str, Callable[[Call], bool]] = {
    "reading the document": lambda call: "text" in call.question and not _is_of_summary(call),
    "aligning the summary": lambda call: "summary" in call.question,
    "covering the summary": lambda call: "criteria" in call.question or _is_part_of_cover(call),
}


def _is_of_summary(call: Call) -> bool:
    return "summary" in call.question or call.question["text"] == SUMMARY_UNITS


def _is_part_of_cover(call: Call) -> bool:
    return call.question.get("text") == SUMMARY_UNITS


SUMMARY_UNITS = {"1": "The mayor left.", "2": "The bridge stayed open.", "3": "It snowed."}


def evaluated(judge: OpenAIJudge) -> SummaryEvaluation:
    return evaluate_summary(
        DOCUMENT,
        SUMMARY,
        judge=judge,
        metrics=METRICS,
        questions=["Mayor left?", "Rained on Monday?", "Snowed?"],
    )


def once(step: str, fault: Fault) -> Callable[[Call], Fault | None]:
    is_of_step, hit = STEPS[step], []

    def rule(call: Call) -> Fault | None:
        if hit or not is_of_step(call):
            return None
        hit.append(call)
        return fault

    return rule


@pytest.fixture
def judge(judge_of: JudgeMaker) -> OpenAIJudge:
    # Name the format, so that no call waits for another to find it.
    return judge_of(name="Scripted", limits=LIMITS, reply_format="json_schema")


def test_without_a_fault_three_calls_give_the_scores(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    assert evaluated(judge).scores == pytest.approx(RIGHT)
    assert [sum(map(is_of_step, llm_server.calls)) for is_of_step in STEPS.values()] == [1, 1, 1]


@pytest.mark.parametrize("name", MENDED)
def test_what_is_certain_is_mended_without_another_call(
    judge: OpenAIJudge, llm_server: LLMServer, name: str
) -> None:
    llm_server.always(MENDED[name])
    assert evaluated(judge).scores == pytest.approx(RIGHT)
    assert len(llm_server.calls) == 3


WITH_TIME_OUTS = [
    pytest.param(name, marks=pytest.mark.slow) if name in ("hang", "trickle") else name
    for name in TRIED_AGAIN
]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", ASKED_AGAIN)
def test_what_is_not_certain_is_asked_for_again(
    judge: OpenAIJudge, llm_server: LLMServer, name: str, step: str
) -> None:
    llm_server.where(once(step, ASKED_AGAIN[name][0]))
    assert evaluated(judge).scores == pytest.approx(RIGHT)
    # A truncated reply is requested again in halves.
    assert len(llm_server.calls) == (5 if name == "truncation" else 4)


@pytest.mark.parametrize("name", ASKED_AGAIN)
def test_what_stays_uncertain_is_unscored_with_the_reason_and_kept(
    judge_of: JudgeMaker, llm_server: LLMServer, name: str
) -> None:
    store = MemoryCallStore()
    fault, reason = ASKED_AGAIN[name]
    llm_server.always(fault)
    result = evaluated(judge_of(limits=LIMITS, store=store))
    # If only the last of several answers is missing, the questions before it count.
    without_last = {**dict.fromkeys(METRICS), "question_coverage": 0.5}
    assert result.scores == (without_last if name == "absent ids" else dict.fromkeys(METRICS))
    assert all(reason in result.reasons[name] for name, value in result.scores.items() if value is None)
    assert len(store.calls) == len(llm_server.calls) > 3


@pytest.mark.parametrize("name", FINAL)
def test_a_refusal_is_unscored_with_the_reason_and_not_repeated(
    judge: OpenAIJudge, llm_server: LLMServer, name: str
) -> None:
    fault, reason = FINAL[name]
    llm_server.always(fault)
    result = evaluated(judge)
    assert set(result.scores.values()) == {None}
    assert all(reason in result.reasons[metric] for metric in METRICS)
    # After a rejection the request has a simpler format; the same request is never sent again.
    asked = [json.dumps(call.body, sort_keys=True) for call in llm_server.calls]
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", WITH_TIME_OUTS)
def test_a_fault_of_the_moment_changes_no_score(
    judge: OpenAIJudge, llm_server: LLMServer, name: str, step: str
) -> None:
    llm_server.where(once(step, TRIED_AGAIN[name][0]))
    assert evaluated(judge).scores == pytest.approx(RIGHT)
    assert len(llm_server.calls) == 4


@pytest.mark.parametrize("name", WITH_TIME_OUTS)
def test_a_fault_of_the_network_that_stays_is_unscored_and_names_the_judge(
    judge: OpenAIJudge, llm_server: LLMServer, name: str
) -> None:
    fault, reason = TRIED_AGAIN[name]
    llm_server.always(fault)
    result = evaluated(judge)
    assert set(result.scores.values()) == {None}
    for metric in METRICS:
        assert reason in result.reasons[metric]
        assert "'Scripted'" in result.reasons[metric]
        assert "2 attempts" in result.reasons[metric]


@pytest.mark.parametrize("name", CLOSED)
def test_a_closed_door_ends_the_run_at_once_and_tells_no_key(
    judge_of: JudgeMaker, llm_server: LLMServer, name: str
) -> None:
    fault, reason = CLOSED[name]
    llm_server.always(fault)
    items = [(f"Day {number}. {DOCUMENT}", SUMMARY) for number in range(30)]
    judge = judge_of(name="Scripted", limits=Limits(concurrency=1))
    with pytest.raises(JudgeRefused, match=f"'Scripted'.*{reason}") as caught:
        evaluate_summaries(items, judge=judge, metrics=METRICS)
    assert "test-4711" not in str(caught.value)
    assert len(llm_server.calls) <= 2


@pytest.mark.parametrize("odd", [5, ["max_tokens"], {"a": 1}, True, None])
def test_an_error_of_an_odd_shape_is_a_rejection(judge: OpenAIJudge, llm_server: LLMServer, odd: Any) -> None:
    llm_server.always(Fault(status=400, error={"message": odd, "code": odd, "param": odd, "type": odd}))
    result = evaluated(judge)
    assert set(result.scores.values()) == {None}
    assert all("HTTP 400" in result.reasons[metric] for metric in METRICS)
