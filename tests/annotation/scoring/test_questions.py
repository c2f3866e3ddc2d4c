from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.analysis.explanation.explanation import ExplainedQuestion, Explanation, explain, summary_of
from annotation.analysis.explanation.questions import standing_of
from annotation.core.lists import Viewer
from annotation.judging.services.ask_questions import ask_questions, retire_question
from annotation.management.commands.verify_scores import differences
from annotation.models import Check, Judge, Score, Summary
from annotation.projects.queries.overview import contents
from annotation.reviewing.queries.review_queue import QUEUE, count
from annotation.reviewing.services.review import override, withdraw_answer
from annotation.sampling.queries.check_samples import eligible
from annotation.scoring.ratings import ratings_of
from annotation.scoring.records import score_rules, summary_records
from annotation.scoring.rescore import rescore
from evaluation.blend import score
from evaluation.metrics import completeness, conciseness_terms, question_coverage_or_none
from evaluation.text import DOCUMENT_BREAK
from tests.annotation.asking import answer
from tests.annotation.cast import SOURCE, SUMMARIES
from tests.annotation.rated import computed, judge_rates

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
    asked = ask_questions(
        document_set=world.sets["port"], texts=[f"Is it {name}?" for name in PAIRS], by=world.mona
    )
    summary = world.summaries["port", "alder"]
    for question, (source, said) in zip(asked, PAIRS.values(), strict=True):
        answer(question, source, judge=world.judge, reason="from the source")
        answer(question, said, judge=world.judge, summary=summary, reason="from the summary")
    retire_question(question=asked[-1], by=world.mona)
    return summary


def explanation(world: World, summary: Summary) -> Explanation:
    row = summary_of(world.project, summary.public_id)
    record = next(summary_records(world.project, [row.pk]))
    result = score(record.value, score_rules(world.project))
    return explain(world.project, row, record.value, result, record.conciseness_terms)


def formula(world: World, summary: Summary, column: str) -> tuple[float | None, str] | None:
    found = {made.column: (made.value, made.text) for made in explanation(world, summary).formulas}
    return found.get(column)


def questions(world: World, summary: Summary) -> list[ExplainedQuestion]:
    return list(explanation(world, summary).questions)


def test_every_question_says_whether_it_counts_and_why(world: World, alder: Summary) -> None:
    assert [question.standing for question in questions(world, alder)] == list(PAIRS)


def test_answers_come_with_their_reasons(world: World, alder: Summary) -> None:
    first = questions(world, alder)[0]
    for of, reason in ((first.source, "from the source"), (first.summary, "from the summary")):
        assert (of.final, of.source, [said.reason for said in of.answers]) == ("yes", "judge", [reason])


def test_question_coverage_with_its_numbers(world: World, alder: Summary) -> None:
    # The source answers yes to the scored questions `kept` and `missed`, and the summary only to `kept`: 1 / 2. One
    # pair lacks an answer.
    assert formula(world, alder, "question_coverage") == (
        0.5,
        "1 yes in both / 2 yes in the source, 1 without an answer",
    )


def test_without_a_yes_of_the_source_the_reason_stands_in_its_place(world: World) -> None:
    [question] = ask_questions(document_set=world.sets["port"], texts=["Is it so?"], by=world.mona)
    summary = world.summaries["port", "alder"]
    assert formula(world, summary, "question_coverage") == (None, "1 without an answer")
    answer(question, "no", judge=world.judge)
    assert formula(world, summary, "question_coverage") == (None, "the source answers yes to none")


def test_a_project_without_questions_has_no_such_line(world: World) -> None:
    assert formula(world, world.summaries["port", "alder"], "question_coverage") is None


def test_a_failure_takes_back_no_answer_that_was_given(world: World) -> None:
    [question] = ask_questions(document_set=world.sets["port"], texts=["Is it so?"], by=world.mona)
    answer(question, "yes", judge=world.judge)
    assert answer(question, None, judge=world.judge, reason="timed out").final_label == "yes"


def test_other_judges_answers_are_not_those_that_count(world: World) -> None:
    [question] = ask_questions(document_set=world.sets["port"], texts=["Is it so?"], by=world.mona)
    other = Judge.objects.create(name="other", kind="lexical")
    assert answer(question, "yes", judge=other).final_label is None


def test_people_correct_an_answer_of_the_source_for_all_summaries(world: World) -> None:
    [question] = ask_questions(document_set=world.sets["port"], texts=["Is it so?"], by=world.mona)
    source = answer(question, "no", judge=world.judge)
    for system, label in (("alder", "yes"), ("birch", "no")):
        answer(question, label, judge=world.judge, summary=world.summaries["port", system])

    def coverages() -> list[float | None]:
        rows = Score.objects.filter(summary__document_set=world.sets["port"], summary__is_summary=True)
        return list(rows.order_by("summary__system__name").values_list("question_coverage", flat=True))

    # The source answers yes to no question.
    assert coverages() == [None, None]
    # The source answers yes; alder has 1 of 1 and birch 0 of 1.
    given = override(check=source, by=world.rex, label="yes")
    assert (given.check.final_label, given.check.final_source) == ("yes", "reviewer")
    assert coverages() == [1.0, 0.0]
    withdraw_answer(answer=given.verdict, by=world.rex)
    assert coverages() == [None, None]


def test_people_correct_an_answer_of_one_summary(world: World) -> None:
    [question] = ask_questions(document_set=world.sets["port"], texts=["Is it so?"], by=world.mona)
    answer(question, "yes", judge=world.judge)
    check = answer(question, "no", judge=world.judge, summary=world.summaries["port", "alder"])
    override(check=check, by=world.rex, label="yes")
    assert Score.objects.get(summary=check.summary).question_coverage == 1.0
    assert not list(differences(world.project))


def test_questions_are_no_claims(world: World) -> None:
    summary = world.summaries["port", "alder"]
    viewer = Viewer.now(world.rex, world.project)

    def figures() -> list[object]:
        scores = Score.objects.filter(summary=summary).values(
            "claims", "claims_unscored", "coverage", "alignment"
        )
        waiting = count(QUEUE.look(viewer, {"only": "all"}))
        counts = (
            contents(world.project),
            eligible(world.project).count(),
            waiting,
        )
        return [*scores, *counts]

    rescore(project=world.project)
    before = figures()
    [question] = ask_questions(document_set=world.sets["port"], texts=["Is it so?"], by=world.mona)
    for asked in (None, summary):
        check = answer(question, "yes", judge=world.judge, summary=asked)
        assert check.impact == 0.0
    assert figures() == before
    assert count(QUEUE.look(viewer, {"only": "all", "side": "question"})) == 2


def test_an_empty_summary_answers_no_by_rule(world: World) -> None:
    [question] = ask_questions(document_set=world.sets["port"], texts=["Is it so?"], by=world.mona)
    answer(question, "yes", judge=world.judge)
    summary = world.summaries["port", "alder"]
    Summary.objects.filter(pk=summary.pk).update(text=" ")
    summary.refresh_from_db()
    [asked] = questions(world, summary)
    assert (asked.summary.final, asked.summary.source, asked.standing) == ("no", "rule", "missed")
    assert formula(world, summary, "question_coverage") == (0.0, "0 yes in both / 1 yes in the source")


@given(st.lists(st.tuples(LABELS, LABELS), max_size=8))
def test_what_is_shown_to_count_is_what_the_score_counts(pairs: list[tuple[str | None, str | None]]) -> None:
    shown = [standing_of(one, other, is_retired=False) for one, other in pairs]
    kept, missed = shown.count("kept"), shown.count("missed")
    expected = question_coverage_or_none([one for one, _ in pairs], [other for _, other in pairs])  # type: ignore[misc]
    assert (kept / (kept + missed) if kept + missed else None) == expected


def test_summarization_names_its_parts(world: World, alder: Summary) -> None:
    from annotation.models import Claim, ClaimSet, Verdict

    claims = ClaimSet.objects.create(summary=alder, origin="judge", origin_name="lexical")
    for position, label in enumerate(("yes", "yes", "no", "yes"), start=1):
        claim = Claim.objects.create(
            claim_set=claims, position=position, text=f"claim {position}", origin="judge"
        )
        check = Check.objects.create(
            project=world.project,
            claim=claim,
            summary=alder,
            document_set_id=alder.document_set_id,
            side="summary",
        )
        Verdict.objects.create(check_row=check, role="judge", judge=world.judge, label=label)
    # Alignment is 3 / 4 and question coverage 1 / 2.
    assert formula(world, alder, "summarization") == (
        0.5,
        "the lower of alignment 0.750 and question coverage 0.500, which reaches the threshold 0.5",
    )


def test_conciseness_with_its_numbers(world: World, alder: Summary) -> None:
    rate(world, alder, 0.8)
    # 13 of 28 words give 1 - (13/28 - .3) / .3 = .4524, and 6.5 words per sentence give 1: .7 · (.6 · .4524 + .4) +
    # .3 · .8 = .47 + .24 = .71.
    terms = conciseness_terms(SOURCE, SUMMARIES["alder"])
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
    computed(alder, "completeness", 0.5, reason)
    assert formula(world, alder, "completeness") == (0.5, reason)


def test_the_elements_of_completeness_are_listed_where_it_was_computed(world: World, alder: Summary) -> None:
    assert explanation(world, alder).elements is None
    computed(alder, "completeness", 0.5, "")
    elements = explanation(world, alder).elements
    assert elements is not None
    documents = [document.text for document in world.sets["port"].documents.order_by("position")]
    assert elements == completeness(DOCUMENT_BREAK.join(documents), alder.text)


def rate(world: World, summary: Summary, value: float | None, *, reason: str = "") -> None:
    judge_rates(summary, world.judge, value, reason=reason)
