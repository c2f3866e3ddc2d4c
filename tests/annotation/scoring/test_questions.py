"""Questions as people see them: what counts, what does not and why, and the formulas with their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.analysis.explanation.explanation import Explanation, explain
from annotation.core.summaries import summary_of
from annotation.judging.services.ask_questions import ask_questions, retire_question
from annotation.models import Judge, Question, Rating, Summary
from annotation.scoring.questions import AskedQuestion, QuestionSaid, questions_of, questions_to, ratings_of
from annotation.scoring.records import score_rules, summary_records
from evaluation.blend import score
from evaluation.metrics import conciseness_terms, question_coverage_or_none
from tests.annotation.asking import answer
from tests.annotation.cast import PEERS, SOURCE

if TYPE_CHECKING:
    from tests.annotation.cast import World

LABELS = st.sampled_from(["yes", "no", "unsure", None])
PAIRS = {
    "kept": ("yes", "yes"),
    "missed": ("yes", "no"),
    "not_yes": ("unsure", "yes"),
    "unscored": ("yes", None),
    "retired": ("yes", "yes"),
}


@pytest.fixture
def alder(world: World) -> Summary:
    """Its set has one question of each standing."""
    asked = ask_questions(
        document_set=world.sets["port"], texts=[f"Is it {name}?" for name in PAIRS], by=world.mona
    )
    peer = world.peers["port", "alder"]
    for question, (source, said) in zip(asked, PAIRS.values(), strict=True):
        answer(question, source, judge=world.judge, reason="from the source")
        answer(question, said, judge=world.judge, summary=peer, reason="from the summary")
    retire_question(question=asked[-1], by=world.mona)
    return peer


def explanation(world: World, peer: Summary) -> Explanation:
    summary = summary_of(world.project, peer.public_id)
    record = next(summary_records(world.project, [summary.pk]))
    result = score(record.value, score_rules(world.project))
    return explain(world.project, summary, record.value, result, record.conciseness_terms)


def formula(world: World, peer: Summary, column: str) -> tuple[float | None, str] | None:
    found = {made.column: (made.value, made.text) for made in explanation(world, peer).formulas}
    return found.get(column)


def test_every_question_says_whether_it_counts_and_why(world: World, alder: Summary) -> None:
    assert [question.standing for question in questions_to(world.project, alder)] == list(PAIRS)
    assert [question.counts for question in questions_to(world.project, alder)] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_answers_come_with_their_reasons(world: World, alder: Summary) -> None:
    first = questions_to(world.project, alder)[0]
    assert first.source == QuestionSaid("yes", None, (), "from the source")
    assert first.answer == QuestionSaid("yes", None, (), "from the summary")


def test_question_coverage_with_its_numbers(world: World, alder: Summary) -> None:
    # kept / (kept + missed) = 1 / 2; one pair lacks an answer.
    assert formula(world, alder, "question_coverage") == (
        0.5,
        "1 yes in both / 2 yes in the source, 1 without an answer",
    )


def test_without_a_yes_of_the_source_the_reason_stands_in_its_place(world: World) -> None:
    [question] = ask_questions(document_set=world.sets["port"], texts=["Is it so?"], by=world.mona)
    peer = world.peers["port", "alder"]
    assert formula(world, peer, "question_coverage") == (None, "1 without an answer")
    answer(question, "no", judge=world.judge)
    assert formula(world, peer, "question_coverage") == (None, "the source answers yes to none")


def test_a_project_without_questions_has_no_such_line(world: World) -> None:
    assert formula(world, world.peers["port", "alder"], "question_coverage") is None


def test_a_failure_takes_back_no_answer_that_was_given(world: World) -> None:
    [question] = ask_questions(document_set=world.sets["port"], texts=["Is it so?"], by=world.mona)
    answer(question, "yes", judge=world.judge)
    answer(question, None, judge=world.judge, reason="timed out")
    [asked] = questions_of(world.sets["port"])
    assert asked.source == QuestionSaid("yes", None, (), "")


def test_other_judges_answers_are_not_those_that_count(world: World) -> None:
    [question] = ask_questions(document_set=world.sets["port"], texts=["Is it so?"], by=world.mona)
    answer(question, "yes", judge=Judge.objects.create(name="other", kind="lexical"))
    [asked] = questions_of(world.sets["port"])
    assert asked.source is None


def test_an_empty_summary_answers_no_by_rule(world: World) -> None:
    [question] = ask_questions(document_set=world.sets["port"], texts=["Is it so?"], by=world.mona)
    answer(question, "yes", judge=world.judge)
    peer = world.peers["port", "alder"]
    Summary.objects.filter(pk=peer.pk).update(text=" ")
    peer.refresh_from_db()
    [asked] = questions_to(world.project, peer)
    assert (asked.answer and asked.answer.label, asked.standing) == ("no", "missed")
    assert formula(world, peer, "question_coverage") == (0.0, "0 yes in both / 1 yes in the source")


@given(st.lists(st.tuples(LABELS, LABELS), max_size=8))
def test_what_is_shown_to_count_is_what_the_score_counts(pairs: list[tuple[str | None, str | None]]) -> None:
    def said(label: str | None) -> QuestionSaid | None:
        return None if label is None else QuestionSaid(label, None, (), "")  # type: ignore[arg-type]  # a label of LABELS

    shown = [
        AskedQuestion(
            "q", 1, "Is it?", "", is_made_up=False, retired_at=None, source=said(one), answer=said(other)
        )
        for one, other in pairs
    ]
    counting = [question for question in shown if question.counts]
    kept = [question for question in shown if question.standing == "kept"]
    expected = question_coverage_or_none([one for one, _ in pairs], [other for _, other in pairs])  # type: ignore[misc]
    assert (len(kept) / len(counting) if counting else None) == expected


def test_summarization_names_its_parts(world: World, alder: Summary) -> None:
    from annotation.models import Check, Claim, ClaimSet, Verdict

    claims = ClaimSet.objects.create(summary=alder, origin="judge", origin_name="lexical")
    for position, label in enumerate(("yes", "yes", "no", "yes"), start=1):
        claim = Claim.objects.create(
            claim_set=claims, position=position, text=f"claim {position}", origin="judge"
        )
        check = Check.objects.create(
            project=world.project, claim=claim, peer=alder, document_set_id=alder.document_set_id, side="peer"
        )
        Verdict.objects.create(check_row=check, role="judge", judge=world.judge, label=label)
    # Alignment 3 / 4, question coverage 1 / 2.
    assert formula(world, alder, "summarization") == (
        0.5,
        "the lower of alignment 0.750 and question coverage 0.500, which reaches the threshold 0.5",
    )


def test_conciseness_with_its_numbers(world: World, alder: Summary) -> None:
    rate(world, alder, 0.8)
    # 13 of 28 words: 1 - (13/28 - .3) / .3 = .4524; 6.5 words a sentence: 1.
    # .7 · (.6 · .4524 + .4) + .3 · .8 = .47 + .24 = .71.
    terms = conciseness_terms(SOURCE, PEERS["alder"])
    assert terms is not None
    assert terms.compression == pytest.approx(2 - 13 / 28 / 0.3)
    assert terms.sentences == 1.0
    value, text = formula(world, alder, "conciseness") or (None, "")
    assert value == pytest.approx(0.71)
    assert text == ".7·(.6·0.452 compression + .4·1.000 sentence length) + .3·0.800 rated by lexical"


def test_a_rating_that_failed_says_why(world: World, alder: Summary) -> None:
    rate(world, alder, None, reason="It was refused.")
    assert formula(world, alder, "conciseness") == (None, "It was refused.")
    rate(world, alder, 0.5)
    rate(world, alder, None, reason="It was refused.")
    [rating] = ratings_of(world.project, alder)
    assert (rating.value, rating.judge) == (0.5, "lexical")


def test_completeness_names_what_is_missing(world: World, alder: Summary) -> None:
    reason = "2 of 4 elements are covered. Missing: quick, lazy."
    Rating.objects.create(summary=alder, name="completeness", origin_name="c", value=0.5, reason=reason)
    assert formula(world, alder, "completeness") == (0.5, reason)


def rate(world: World, peer: Summary, value: float | None, *, reason: str = "") -> None:
    Rating.objects.create(
        summary=peer, name="conciseness", judge=world.judge, origin_name="lexical", value=value, reason=reason
    )


def test_where_a_question_comes_from(world: World) -> None:
    ask_questions(document_set=world.sets["port"], texts=["Is it so?"], by=world.mona)
    for position, (origin, name) in enumerate((("imported", "q.csv"), ("judge", "lexical:1")), start=2):
        Question.objects.create(
            document_set=world.sets["port"], position=position, text="Is it?", origin=origin, origin_name=name
        )
    assert [question.origin for question in questions_of(world.sets["port"])] == [
        "added by mona",
        "imported from q.csv",
        "generated by a judge",
    ]
