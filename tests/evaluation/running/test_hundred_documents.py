import json
from collections.abc import Callable

import pytest

from evaluation import Limits, OpenAIJudge, SummaryInput, evaluate_summaries
from tests.evaluation.judging.conftest import JudgeMaker
from tests.llm_faults import LASTING, TIMEOUT_SECONDS
from tests.llm_server import Call, Fault, LLMServer

pytestmark = pytest.mark.slow

METRICS = ("coverage", "alignment", "question_coverage", "coherence")
DOCUMENTS = 100
SHARE = 10
KINDS = list(LASTING)
ROUNDS = -(-len(KINDS) // SHARE)


def corpus() -> list[SummaryInput]:
    return [
        SummaryInput(
            f"Dam {number} was finished. The mayor of town {number} left. Crew {number} stayed.",
            f"The mayor of town {number} left. Dam {number} burst."
            if number % 3
            else f"Rain fell on town {number}.",
            questions=[f"The mayor of town {number} left?", f"Dam {number} was finished?"],
            key=str(number),
        )
        for number in range(DOCUMENTS)
    ]


@pytest.fixture
def judge(judge_of: JudgeMaker) -> Callable[[], OpenAIJudge]:
    limits = Limits(concurrency=16, timeout_seconds=TIMEOUT_SECONDS, max_attempts=2, max_wait_seconds=1.0)
    return lambda: judge_of(limits=limits)


def is_about(call: Call, number: int) -> bool:
    asked = json.dumps(call.question)
    return f"Dam {number} " in asked or f"town {number} " in asked or f"town {number}." in asked


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_faults_of_every_kind_in_ten_documents_cost_the_others_nothing(
    judge: Callable[[], OpenAIJudge], llm_server: LLMServer, round_: int
) -> None:
    items = corpus()
    plain = evaluate_summaries(items, judge=judge(), metrics=METRICS)
    # All kinds of faults occur in turn; the last round starts again with the first ones.
    kinds = [KINDS[(round_ * SHARE + place) % len(KINDS)] for place in range(SHARE)]
    faulty = {1 + 10 * place: LASTING[kind] for place, kind in enumerate(kinds)}

    def rule(call: Call) -> Fault | None:
        return next((fault for number, (fault, _) in faulty.items() if is_about(call, number)), None)

    llm_server.where(rule)
    hit = evaluate_summaries(items, judge=judge(), metrics=METRICS)
    assert [result.key for result in hit] == [item.key for item in items]
    for number, (one, other) in enumerate(zip(plain, hit, strict=True)):
        if number not in faulty:
            assert None not in one.scores.values()
            assert (other.scores, other.reasons, other.counts) == (one.scores, one.reasons, one.counts)
            continue
        reason = faulty[number][1]
        unscored = [name for name, value in other.scores.items() if value is None]
        assert {"coverage", "alignment", "coherence"} <= set(unscored), kinds[number // 10]
        assert all(reason in other.reasons[name] for name in unscored), kinds[number // 10]
