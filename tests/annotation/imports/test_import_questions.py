from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotation.imports.problems import ImportRefused
from annotation.imports.services import ImportReport
from annotation.judging.services.ask_questions import retire_question
from annotation.models import DocumentSet, Judge, Project, Score, Summary
from annotation.scoring.rescore import rescore
from tests.annotation.asking import answer, make_question, questions
from tests.annotation.imports.files import import_dataset, jsonl, nested, row

TWO = ["Did it rain?", "Did trams stop?"]


@pytest.fixture
def project(db: None) -> Project:
    return Project.objects.create(
        slug="trams", name="Trams", deciding_judge=Judge.objects.create(name="lexical", kind="lexical")
    )


def bring(project: Project, folder: Path, *records: Any) -> ImportReport:
    return import_dataset(project=project, path=jsonl(folder, *records), by=None)


def counts(report: ImportReport) -> tuple[int, int, int]:
    return (
        report.counts["questions"].created,
        report.counts["questions"].changed,
        report.counts["questions"].unchanged,
    )


def standing() -> list[tuple[int, str, str, str]]:
    rows = questions().filter(removed_at=None)
    return list(rows.values_list("position", "text", "origin", "claim_set__origin_name"))


@pytest.mark.parametrize("record", [row, nested])
def test_questions_become_rows_with_the_files_name(project: Project, tmp_path: Path, record: Any) -> None:
    assert counts(bring(project, tmp_path, record(questions=TWO))) == (2, 0, 0)
    assert standing() == [
        (1, "Did it rain?", "imported", "data.jsonl"),
        (2, "Did trams stop?", "imported", "data.jsonl"),
    ]


def test_another_file_adds_what_is_new_and_retires_nothing(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, row(questions=TWO))
    assert counts(bring(project, tmp_path, row(questions=["Was it Monday?", "did trams  STOP?"]))) == (
        1,
        0,
        1,
    )
    assert [text for _, text, _, _ in standing()] == [*TWO, "Was it Monday?"]


def test_what_a_person_retired_stays_retired(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, row(questions=TWO))
    retire_question(question=questions().get(position=1), by=None)
    assert counts(bring(project, tmp_path, row(questions=TWO))) == (0, 0, 2)
    assert [text for _, text, _, _ in standing()] == TWO[1:]


def test_given_questions_win_over_those_made_up_and_the_scores_follow(
    project: Project, tmp_path: Path
) -> None:
    bring(project, tmp_path, row())
    judge, summary = Judge.objects.get(), Summary.objects.get(is_summary=True)
    made_up = make_question(DocumentSet.objects.get(), "Did it rain?", position=1, origin="judge")
    answer(made_up, "yes", judge=judge)
    answer(made_up, "yes", judge=judge, summary=summary)
    rescore(project=project)
    assert Score.objects.get().question_coverage == 1.0
    # One question is retired and two are new.
    assert counts(bring(project, tmp_path, row(questions=TWO))) == (2, 1, 0)
    assert [position for position, *_ in standing()] == [2, 3]
    assert Score.objects.get().question_coverage is None


def test_more_than_a_set_may_have_is_refused_and_nothing_is_written(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, row(questions=[f"Is it {number}?" for number in range(99)]))
    with pytest.raises(ImportRefused) as refused:
        bring(project, tmp_path, row(questions=TWO))
    assert "would give 'd1' 101 questions" in refused.value.problems[0].reason
    assert questions().count() == 99
