"""Texts longer than what a judge can read at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation import Limits, check_claims, evaluate_summary
from evaluation.judging._windows import merged, windows
from evaluation.judging.parsing import Answer
from evaluation.judging.protocol import Text
from evaluation.text import Span
from tests.evaluation.judging.conftest import JudgeMaker
from tests.llm_server import LLMServer, faults

SENTENCES = [f"Sentence number {number} tells of town {number}." for number in range(40)]
LONG = " ".join(SENTENCES)
# 600 tokens of context, 300 of them for the reply, leave 900 bytes for what is told and what is read.
SMALL = Limits(context_tokens=600, max_tokens=300)


@given(
    st.lists(st.text(min_size=1, max_size=30).filter(str.strip), min_size=1, max_size=12), st.integers(1, 300)
)
def test_windows_hold_every_unit_in_order(contents: list[str], room: int) -> None:
    spans, text = [], ""
    for content in contents:
        spans.append(Span(len(text), len(text) + len(content)))
        text += content
    whole = Text(text, tuple(spans))
    found = windows(whole, room)
    numbers = [number for pieces in found for number, _ in pieces]
    assert sorted(set(numbers)) == list(range(1, len(contents) + 1))
    assert numbers == sorted(numbers)
    assert all(pieces for pieces in found)


def test_a_long_unit_is_cut_into_its_sentences() -> None:
    found = windows(Text(LONG), 200)
    assert len(found) > 5
    assert {number for pieces in found for number, _ in pieces} == {1}
    assert " ".join(content for pieces in found for _, content in pieces) == LONG


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


def test_a_claim_is_found_in_whatever_window_it_stands(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    found, absent = check_claims(
        ["Sentence number 37 tells of town 37", "The town burned"], LONG, judge=judge_of(limits=SMALL)
    )
    assert (found.label, found.evidence, absent.label) == ("yes", (38,), "no")
    assert len(llm_server.calls) > 2
    assert all(len(call.question["text"]) < 40 for call in llm_server.calls)


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
    # Each window makes up its share of the 40, or as many as it has sentences.
    assert 30 <= cut.counts["questions"] <= 40
    assert cut["question_coverage"] == pytest.approx(2 / cut.counts["questions"])
    assert len(llm_server.calls) - calls > calls
