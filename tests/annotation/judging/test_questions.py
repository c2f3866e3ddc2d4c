from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.core.refusals import Invalid
from annotation.judging.services.ask_questions import ask_questions, retire_question
from annotation.judging.services.running.questions import questions_to_make
from annotation.judging.services.start_run import start_run
from annotation.models import Claim, Judge, Project, Score
from tests.annotation.asking import answers, questions
from tests.annotation.judging.doing import add_document_set, perform_all, run_to_end

if TYPE_CHECKING:
    from annotation.models import Run
    from tests.llm_server import LLMServer

SOURCE = "The mill burned down at night. Nobody was hurt. A new one opens in June."
ELM = "The mill burned down at night. Nobody was hurt."
FIR = "Rain fell."
GIVEN = ["Nobody was hurt?", "A new one opens in June?", "Prices rose?"]


@pytest.fixture
def project(db: None) -> Project:
    made = Project.objects.create(slug="mill", name="Mill study")
    add_document_set(made, SOURCE, reference=ELM, elm=ELM, fir=FIR, oak=" ")
    return made


def give(project: Project, *texts: str) -> list[Claim]:
    return ask_questions(document_set=project.document_sets.get(), texts=texts, by=None)


def run(project: Project, judge: Judge, n_questions: int | None, *metrics: str) -> Run:
    started = start_run(
        project=project,
        judge=judge,
        metrics=metrics or ["question_coverage"],
        n_questions=n_questions,
        by=None,
    )
    perform_all(started)
    return started


def standing() -> list[str]:
    return list(questions().filter(removed_at=None).values_list("text", flat=True))


def coverage(system: str) -> float | None:
    return Score.objects.get(summary__system__name=system).question_coverage


@pytest.mark.parametrize(
    ("standing", "wanted", "made"),
    [(0, None, 5), (3, None, 0), (0, 2, 2), (3, 5, 2), (5, 3, 0), (0, 0, 0), (3, 0, 0)],
)
def test_how_many_are_made_up(standing: int, wanted: int | None, made: int) -> None:
    assert questions_to_make(standing, wanted) == made


def test_with_given_questions_it_is_one_call_a_document_and_two_a_summary(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    give(project, *GIVEN)
    run_to_end(project, llm_judge, ["coverage", "alignment", "question_coverage"])
    # One call is about source and reference; elm and fir need two calls each, and the empty oak none.
    assert len(llm_server.calls) == 1 + 2 * 2
    [shared] = [call for call in llm_server.calls if "reference" in call.question]
    assert list(shared.question["questions"].values()) == GIVEN
    assert standing() == GIVEN
    # The source answers yes to two of the three questions, elm to one of them, fir to none, and oak to none by rule.
    assert [coverage(name) for name in ("elm", "fir", "oak")] == [0.5, 0.0, 0.0]


def test_what_is_missing_is_made_up_beside_the_given_ones(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    give(project, "Prices rose?")
    run(project, llm_judge, 3)
    shared = llm_server.calls[0].question
    assert (shared["questions"], shared["n_questions"]) == ({"q1": "Prices rose?"}, 2)
    assert standing() == ["Prices rose?", "The mill burned down at night?", "Nobody was hurt?"]
    assert list(questions().values_list("origin", flat=True)) == ["person", "judge", "judge"]
    # The source answers yes to the two generated questions, and so does elm.
    assert coverage("elm") == 1.0


def test_one_that_is_given_already_is_not_made_up_again(project: Project, llm_judge: Judge) -> None:
    give(project, "the mill BURNED down at night?")
    run(project, llm_judge, 3)
    assert standing() == ["the mill BURNED down at night?", "Nobody was hurt?"]


def test_a_second_run_for_as_many_asks_nothing(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    give(project, "Prices rose?")
    run(project, llm_judge, 3)
    before = len(llm_server.calls), answers().count()
    run(project, llm_judge, 3)
    assert (len(llm_server.calls), answers().count()) == before


def test_none_are_made_up_where_a_run_asks_for_none(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    run(project, llm_judge, 0)
    assert not llm_server.calls
    assert not questions().exists()
    assert coverage("elm") is None


def test_a_run_may_ask_for_more_than_were_made_up_before(project: Project, llm_judge: Judge) -> None:
    run(project, llm_judge, 1)
    assert standing() == ["The mill burned down at night?"]
    run(project, llm_judge, None)
    assert len(standing()) == 1
    run(project, llm_judge, 3)
    # The scripted judge generates the first two questions again; one of them is new.
    assert standing() == ["The mill burned down at night?", "Nobody was hurt?"]


def test_a_retired_question_is_neither_asked_nor_made_up_again(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    run(project, llm_judge, 2)
    retire_question(question=questions().get(position=1), by=None)
    llm_server.calls.clear()
    run(project, llm_judge, 2)
    assert standing() == ["Nobody was hurt?"]
    assert all(
        "The mill burned down at night?" not in call.question.get("questions", {}).values()
        for call in llm_server.calls
    )


def test_a_question_that_is_added_later_is_asked_of_all(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    give(project, "Nobody was hurt?")
    run_to_end(project, llm_judge, ["question_coverage"])
    assert coverage("elm") == 1.0
    give(project, "A new one opens in June?")
    assert coverage("elm") == 1.0
    llm_server.calls.clear()
    run_to_end(project, llm_judge, ["question_coverage"])
    # One call each is about the source, elm and fir, and only the new question is asked.
    assert [list(call.question["questions"].values()) for call in llm_server.calls] == [
        ["A new one opens in June?"]
    ] * 3
    assert coverage("elm") == 0.5


@pytest.mark.parametrize(
    ("n_questions", "metrics", "told"),
    [
        (-1, ["question_coverage"], "0 to 50 questions per document set, not -1"),
        (51, ["question_coverage"], "0 to 50 questions per document set, not 51"),
        (3, ["coverage"], "used only for question coverage"),
    ],
)
def test_a_number_that_makes_no_sense_is_refused(
    project: Project, llm_judge: Judge, n_questions: int, metrics: list[str], told: str
) -> None:
    with pytest.raises(Invalid, match=told) as refused:
        start_run(project=project, judge=llm_judge, metrics=metrics, n_questions=n_questions, by=None)
    assert (refused.value.code, refused.value.field) == ("invalid_questions", "n_questions")
