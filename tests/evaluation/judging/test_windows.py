import pytest

from evaluation import Limits, check_claims, evaluate_summary
from evaluation.judging._windows import merged
from evaluation.judging.parsing import Answer
from tests.evaluation.judging.conftest import JudgeMaker
from tests.llm_server import LLMServer, faults

SENTENCES = [f"Sentence number {number} tells of town {number}." for number in range(40)]
LONG = " ".join(SENTENCES)
# A context of 600 tokens less 300 for the reply leaves 300 tokens, or 900 bytes, for instructions and text.
SMALL = Limits(context_tokens=600, max_tokens=300)


@pytest.mark.parametrize(
    ("labels", "label"),
    [
        (["no", "yes", None], "yes"),
        (["no", None], None),
        (["no", "unsure", "no"], "unsure"),
        (["no", "no"], "no"),
    ],
)
def test_any_window_can_say_yes(labels: list[str | None], label: str | None) -> None:
    answers = [
        None if given is None else Answer(given, 0.5, (place,))  # type: ignore[arg-type]
        for place, given in enumerate(labels)
    ]
    found = merged(answers)
    assert (None if found is None else found.label) == label


def test_evidence_is_that_of_the_windows_that_decide() -> None:
    found = merged([Answer("yes", 0.9, (3,)), Answer("no", 0.1, (7,)), Answer("yes", 0.7, (9,))])
    assert found == Answer("yes", 0.9, (3, 9))


def test_a_lost_window_leaves_open_what_no_other_says(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    llm_server.where(lambda call: faults.refusal() if "town 0." in str(call.question) else None)
    found, absent = check_claims(
        ["Sentence number 37 tells of town 37", "The town burned"], LONG, judge=judge_of(limits=SMALL)
    )
    assert (found.label, absent.label) == ("yes", None)
    assert "refused" in absent.reason


def test_scores_are_those_of_a_judge_that_reads_everything(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    summary = f"{SENTENCES[3]} {SENTENCES[30]} The town burned."
    metrics = ["coverage", "alignment", "question_coverage", "topic_preservation"]
    whole = evaluate_summary(LONG, summary, judge=judge_of(), metrics=metrics[:2])
    calls = len(llm_server.calls)
    cut = evaluate_summary(LONG, summary, judge=judge_of(limits=SMALL), metrics=metrics, n_questions=40)
    assert {name: cut[name] for name in metrics[:2]} == dict(whole.scores)
    # Each window generates its share of the 40 questions, or as many as it has sentences.
    assert 30 <= cut.counts["questions"] <= 40
    assert cut["question_coverage"] == pytest.approx(2 / cut.counts["questions"])
    assert len(llm_server.calls) - calls > calls
