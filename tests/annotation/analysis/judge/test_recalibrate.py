"""Recalibrated uncertainty: put in force where it is shown to be better, and nothing else moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.core.management import call_command

from annotation.analysis.estimates.sample_planned import sample_planned
from annotation.analysis.judge.judge_quality import judge_quality
from annotation.analysis.judge.recalibrate import end_recalibration, recalibrate_judge
from annotation.analysis.judge.words import told
from annotation.core.refusals import Conflict, NotAllowed
from annotation.judging.services.let_decide import let_decide
from annotation.models import Check, DrawnCheck, Event, Judge, Project, Score, Verdict
from annotation.scoring.recalibrated import calibrator_of
from annotation.scoring.rescore import rescore
from tests.annotation.planning import PROBABILITIES, answer_draw, lay_sets

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor


@pytest.fixture
def sampled(world: World) -> World:
    """Twelve sets of eight checks, of which 80 are a sample of which Rex answers everything with no."""
    Check.objects.filter(project=world.project).delete()
    lay_sets(world, 12)
    draw = sample_planned(project=world.project, by=world.mona, size=80, design="uniform", seed=3)
    answer_draw(world, draw, label="no")
    return world


def doubts(project: Project) -> dict[int, float]:
    return dict(Check.objects.filter(project=project).values_list("pk", "doubt"))


def test_uncertainty_follows_and_nothing_else(sampled: World) -> None:
    project = sampled.project
    columns = ("pk", "judge_label", "judge_probability", "final_label", "effect")
    before = list(Check.objects.filter(project=project).order_by("pk").values_list(*columns))
    scores = list(Score.objects.filter(project=project).order_by("pk").values_list("coverage", "signature"))
    gained = recalibrate_judge(project=project, by=sampled.mona)
    assert gained.helps
    # People never say yes, whatever it says: its yes at .95 is about as doubtful as can be, its no at .3 hardly.
    yes = Check.objects.filter(project=project, judge_probability=0.95)
    no = Check.objects.filter(project=project, judge_probability=0.3)
    assert min(yes.values_list("doubt", flat=True)) > 0.9 > 0.4 > max(no.values_list("doubt", flat=True))
    assert list(Check.objects.filter(project=project).order_by("pk").values_list(*columns)) == before
    now = list(Score.objects.filter(project=project).order_by("pk").values_list("coverage", "signature"))
    assert now == scores
    event = Event.objects.get(verb="recalibrate judge")
    assert (event.actor, event.data["answers"]) == (sampled.mona, 80)


def test_it_can_be_rebuilt_from_what_was_said(sampled: World) -> None:
    recalibrate_judge(project=sampled.project, by=None)
    kept = doubts(sampled.project)
    Check.objects.filter(project=sampled.project).update(doubt=0.123)
    rescore(project=Project.objects.get(pk=sampled.project.pk))
    assert doubts(sampled.project) == kept
    call_command("verify_scores", sampled.project.slug)


def test_it_ends_where_it_began(sampled: World) -> None:
    before = doubts(sampled.project)
    recalibrate_judge(project=sampled.project, by=sampled.mona)
    assert doubts(sampled.project) != before
    for _ in range(2):
        end_recalibration(project=sampled.project, by=sampled.mona)
    assert doubts(sampled.project) == before
    assert Event.objects.filter(verb="end recalibration").count() == 1


def test_another_deciding_judge_is_not_recalibrated_by_it(sampled: World) -> None:
    recalibrate_judge(project=sampled.project, by=None)
    other = Judge.objects.create(name="other", kind=Judge.Kind.LEXICAL)
    let_decide(project=sampled.project, judge=other, by=None)
    assert calibrator_of(Project.objects.get(pk=sampled.project.pk)) is None


def test_probabilities_that_are_right_are_left_alone(world: World) -> None:
    Check.objects.filter(project=world.project).delete()
    lay_sets(world, 20)
    draw = sample_planned(project=world.project, by=None, size=120, design="uniform", seed=3)
    # Of the checks at each probability that share is answered with yes, spread over the sets.
    for chance in PROBABILITIES:
        rows = DrawnCheck.objects.filter(draw=draw, check_row__judge_probability=chance).order_by("pk")
        for place, row in enumerate(rows):
            is_yes = int((place + 1) * chance) > int(place * chance)
            row.verdict = Verdict.objects.create(
                check_row=row.check_row,
                source=Verdict.Source.REVIEWER,
                person=world.rex,
                label="yes" if is_yes else "no",
            )
            row.save(update_fields=["verdict"])
    rescore(project=world.project)
    found = told(judge_quality(world.project))["versions"][0]["recalibrated"]
    assert not found["helps"]
    assert found["sentence"].startswith("No proven gain: on held-out document sets, the Brier ")
    with pytest.raises(
        Conflict, match="not proven better than the judge's own, so nothing was changed"
    ) as refused:
        recalibrate_judge(project=world.project, by=None)
    assert refused.value.code == "no_gain"
    world.project.refresh_from_db()
    assert world.project.recalibration is None


def test_answers_that_people_chose_teach_nothing(world: World) -> None:
    Check.objects.filter(project=world.project).delete()
    lay_sets(world, 12)
    for check in Check.objects.filter(project=world.project)[:60]:
        Verdict.objects.create(check_row=check, source=Verdict.Source.REVIEWER, person=world.rex, label="no")
    rescore(project=world.project)
    assert told(judge_quality(world.project))["versions"][0]["recalibrated"] is None
    with pytest.raises(Conflict):
        recalibrate_judge(project=world.project, by=None)


def test_who_may(sampled: World) -> None:
    with pytest.raises(NotAllowed):
        recalibrate_judge(project=sampled.project, by=sampled.rex)
    with pytest.raises(NotAllowed):
        end_recalibration(project=sampled.project, by=sampled.rex)


def test_the_page_shows_it_and_one_click_uses_it(sampled: World, signed_in: Callable[[User], Client]) -> None:
    client = signed_in(sampled.mona)
    page = client.get("/p/harbour/scores/judge/").content.decode()
    assert "Use recalibrated probabilities" in page
    assert "Yes: on held-out document sets" in page
    answer = client.post("/p/harbour/scores/judge/recalibrate/", follow=True).content.decode()
    assert "Recalibrated probabilities are in use" in answer
    answer = client.post("/p/harbour/scores/judge/recalibrate/", {"end": "1"}, follow=True).content.decode()
    assert "Recalibrated probabilities are in use" not in answer


def test_the_api_tells_and_does_it(sampled: World, client_of: ApiDoor) -> None:
    client = client_of("mona")
    path = "/api/v1/projects/harbour/judge-quality/"
    assert client.get(path).json()["versions"][0]["recalibrated"]["helps"] is True
    assert client.post(f"{path}recalibration/").status_code == 204
    sampled.project.refresh_from_db()
    assert sampled.project.recalibration is not None
    assert client.delete(f"{path}recalibration/").status_code == 204
    sampled.project.refresh_from_db()
    assert sampled.project.recalibration is None
