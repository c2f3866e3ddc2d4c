from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotation.judging.services.ask_questions import ask_questions, retire_question
from annotation.models import Claim, Judge, Rating
from tests.annotation.asking import answer
from tests.annotation.cast import World
from tests.annotation.exports.reading import Rows, exported
from tests.annotation.rated import judge_rates

pytestmark = pytest.mark.django_db


@pytest.fixture
def question(world: World) -> Claim:
    return ask_questions(document_set=world.sets["port"], texts=["Does it close?"], by=None)[0]


def judgments(world: World, folder: Path, kind: str) -> Rows:
    rows = exported(world.project, "answers", folder / "answers.jsonl", named=True)
    return [row for row in rows if row["kind"] == kind]


def test_an_answer_names_its_question(world: World, tmp_path: Path, question: Claim) -> None:
    answer(question, "yes", judge=world.judge, summary=world.summaries["port", "alder"])
    [row] = judgments(world, tmp_path, "question")
    assert (row["document_id"], row["system"], row["claim_id"]) == ("port", "alder", question.public_id)
    assert (row["rater"], row["rater_kind"], row["value"]) == ("lexical", "judge", "yes")


def test_the_source_answers_once_and_has_no_system(world: World, tmp_path: Path, question: Claim) -> None:
    answer(question, "yes", judge=world.judge)
    for system in ("alder", "birch"):
        answer(question, "no", judge=world.judge, summary=world.summaries["port", system])
    rows = judgments(world, tmp_path, "question")
    assert [(row["system"], row["target_words"], row["value"]) for row in rows] == [
        (None, None, "yes"),
        ("alder", 20, "no"),
        ("birch", 20, "no"),
    ]


def test_a_later_answer_takes_the_place_of_one_and_a_failure_does_not(
    world: World, tmp_path: Path, question: Claim
) -> None:
    for label in (None, "no", "yes", None):
        answer(question, label, judge=world.judge)
    answer(question, "no", judge=Judge.objects.create(name="other", kind="lexical"))
    rows = judgments(world, tmp_path, "question")
    assert [(row["rater"], row["value"], row["superseded"]) for row in rows] == [
        ("lexical", None, True),
        ("lexical", "no", True),
        ("lexical", "yes", False),
        ("lexical", None, True),
        ("other", "no", False),
    ]


def test_answers_to_a_retired_question_do_not_stand(world: World, tmp_path: Path, question: Claim) -> None:
    answer(question, "yes", judge=world.judge)
    retire_question(question=question, by=None)
    assert [row["superseded"] for row in judgments(world, tmp_path, "question")] == [True]


def test_ratings_name_what_they_rate(world: World, tmp_path: Path) -> None:
    alder = world.summaries["port", "alder"]
    for value in (0.5, 0.8, None):
        judge_rates(alder, world.judge, value)
    columns = ("claim_id", "rater", "rater_kind", "value", "superseded")
    assert [tuple(row[name] for name in columns) for row in judgments(world, tmp_path, "rating")] == [
        ("conciseness", "lexical", "judge", "0.5", True),
        ("conciseness", "lexical", "judge", "0.8", False),
        ("conciseness", "lexical", "judge", None, True),
    ]


def test_another_adjudicators_decision_on_a_rating_replaces_the_first(world: World, tmp_path: Path) -> None:
    criterion = world.project.criteria.get()
    common: dict[str, Any] = {"summary": world.summaries["port", "alder"], "role": "adjudicator"}
    for person, value in ((world.cleo, 0.2), (world.olga, 0.6)):
        Rating.objects.create(criterion=criterion, person=person, value=value, **common)
    rows = judgments(world, tmp_path, "rating")
    assert [(row["value"], row["superseded"]) for row in rows] == [("0.2", True), ("0.6", False)]
