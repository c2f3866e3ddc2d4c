from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.models import Check, Score
from annotation.reviewing.services.review import override
from annotation.scoring.records import score_rules
from annotation.scoring.rescore import DERIVED
from tests.annotation.cast import World
from tests.annotation.exports.acts import assess_and_close
from tests.annotation.exports.test_streaming import in_another_thread


def run() -> str:
    out = StringIO()
    call_command("verify_scores", "harbour", stdout=out)
    return out.getvalue()


def complaints() -> list[str]:
    out = StringIO()
    with pytest.raises(CommandError) as failure:
        call_command("verify_scores", "harbour", stdout=out)
    assert failure.value.returncode == 1
    lines = out.getvalue().splitlines()
    assert str(failure.value).startswith(f"{len(lines)} difference")
    return lines


def test_a_sound_project_is_called_sound(world: World) -> None:
    assess_and_close(
        world, world.ana, {("alder", 1): 60, ("alder", 2): 80, ("birch", 1): 0, ("birch", 2): 20}
    )
    override(check=world.check("alder", 2), by=world.rex, label="yes")
    decide_check(check=world.check("birch", 1), by=world.cleo, label="unsure", reason="Vague.")
    assert run() == "The scores of harbour match its answers.\n"


def test_a_score_that_was_tampered_with(world: World) -> None:
    Score.objects.filter(summary=world.summaries["port", "alder"]).update(coverage=0.9)
    assert complaints() == ["port, alder, target 20: coverage is 0.9, should be 0.75"]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("judge_label", "unsure"),
        ("judge_probability", 0.1),
        ("human_label", "no"),
        ("final_label", "no"),
        ("final_source", "reviewer"),
        ("unscored_reason", "lost"),
        ("is_disputed", True),
        ("uncertainty", 0.123),
        ("impact", 0.123),
    ],
)
def test_a_column_of_a_check_that_was_tampered_with(world: World, column: str, value: object) -> None:
    check = world.check("alder", 1)
    Check.objects.filter(pk=check.pk).update(**{column: value})
    (line,) = complaints()
    assert line.startswith(f"port, alder, target 20, claim {check.claim.public_id}: {column} is {value!r}")


def test_every_derived_column_is_tried_above() -> None:
    (mark,) = (
        mark
        for mark in test_a_column_of_a_check_that_was_tampered_with.pytestmark
        if mark.name == "parametrize"
    )
    assert tuple(column for column, _ in mark.args[1]) == DERIVED


@pytest.mark.parametrize("change", [{"flags": ["no_claims"]}, {"claims": 9}, {"summary_words": 1}])
def test_what_stands_beside_the_scores_is_compared(world: World, change: dict[str, object]) -> None:
    Score.objects.filter(summary=world.summaries["port", "birch"]).update(**change)
    (line,) = complaints()
    assert f"{next(iter(change))} is" in line


def test_a_value_where_none_should_be(world: World) -> None:
    Score.objects.filter(summary=world.summaries["bridge", "birch"]).update(alignment=0.0)
    assert complaints() == ["bridge, birch, target 20: alignment is 0.0, should be None"]


def test_a_score_that_is_missing(world: World) -> None:
    Score.objects.filter(summary=world.summaries["port", "alder"]).delete()
    assert complaints() == ["port, alder, target 20: has no score"]


def test_a_score_of_what_is_no_summary_summary(world: World) -> None:
    Score.objects.create(
        project=world.project,
        summary=world.references["port"],
        summary_words=3,
        signature=score_rules(world.project).signature,
    )
    (line,) = complaints()
    assert line.endswith("has a score, but is only a reference")


def test_it_changes_nothing(world: World) -> None:
    Score.objects.update(coverage=0.9)
    complaints()
    assert set(Score.objects.values_list("coverage", flat=True)) == {0.9}


def test_a_long_list_is_cut_and_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.management.commands.verify_scores.LISTED", 2)
    Score.objects.update(coverage=0.9)
    out = StringIO()
    with pytest.raises(CommandError, match="4 differences"):
        call_command("verify_scores", "harbour", stdout=out)
    assert out.getvalue().splitlines()[-1] == "... and 2 more"


def test_scores_of_another_version_are_computed_again_and_not_compared(world: World) -> None:
    score = Score.objects.get(summary=world.summaries["port", "alder"])
    coverage, total = score.coverage, Score.objects.filter(project=world.project).count()
    Score.objects.filter(project=world.project).update(signature="another version", coverage=0)
    with pytest.raises(CommandError, match=rf"{total} scores of harbour .* another version.*--rescore"):
        call_command("verify_scores", "harbour")
    call_command("verify_scores", "harbour", "--rescore")
    score.refresh_from_db()
    assert score.coverage == coverage


@pytest.mark.django_db(transaction=True)
def test_an_answer_that_comes_meanwhile_is_no_difference(world: World) -> None:
    """The answer is saved after the command has read the answers and before it reads the scores."""
    check, given = world.check("alder", 2), []

    def after_an_answer(execute: Any, sql: str, *rest: Any) -> Any:
        if 'FROM "annotation_score" WHERE "annotation_score"."summary_id" IN' in sql and not given:
            given.append(check)
            in_another_thread(lambda: override(check=check, by=world.rex, label="yes"))
        return execute(sql, *rest)

    with connection.execute_wrapper(after_an_answer):
        assert run() == "The scores of harbour match its answers.\n"
    assert given
