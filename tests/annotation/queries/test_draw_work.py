"""The draws for reviewers as a manager follows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import DrawnCheck, Verdict
from annotation.queries.check_draws import check_draws
from annotation.queries.draw_work import draw_works
from annotation.services.draw_checks import draw_checks
from annotation.services.draw_planned import draw_planned
from tests.annotation.planning import lay_sets

if TYPE_CHECKING:
    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db


def test_without_draws_there_is_nothing(world: World) -> None:
    assert draw_works(world.project) == []


def test_a_draw_tells_how_far_it_is_who_made_it_and_who_answers(world: World) -> None:
    lay_sets(world, 3)
    draw = draw_checks(
        project=world.project, by=world.mona, method="uniform", share=0.5, side="reference", seed=3
    )
    waiting = list(DrawnCheck.objects.filter(draw=draw).order_by("pk"))
    # Half of 30 checks. Rex answers three of them, Cleo one.
    assert len(waiting) == 15
    for row, person in zip(waiting, (world.cleo, world.rex, world.rex, world.rex), strict=False):
        row.verdict = Verdict.objects.create(
            check_row_id=row.check_row_id, source=Verdict.Source.REVIEWER, person=person, label="no"
        )
        row.save(update_fields=["verdict"])
    (work,) = draw_works(world.project)
    assert (work.draw.frame, work.draw.drawn, work.draw.answered, work.open) == (30, 15, 4, 11)
    assert (work.made_by, work.method, work.chances_in_words) == ("mona", "by lot", "0.5")
    assert work.people == (("rex", 3), ("cleo", 1))


def test_it_is_the_query_of_the_plan_and_the_overview(world: World) -> None:
    for seed in (1, 2):
        draw_checks(project=world.project, by=world.mona, method="uniform", share=0.5, seed=seed)
    assert [work.draw for work in draw_works(world.project)] == check_draws(world.project)


def test_unequal_chances_are_told_from_the_least_to_the_greatest(world: World) -> None:
    draw = draw_checks(project=world.project, by=None, method="uniform", share=1, seed=1)
    first, *_ = DrawnCheck.objects.filter(draw=draw)
    DrawnCheck.objects.filter(pk=first.pk).update(inclusion_probability=0.25)
    (work,) = draw_works(world.project)
    assert (work.made_by, work.chances_in_words) == (None, "0.25 to 1")


def test_what_a_stratified_draw_was_by_is_named(world: World) -> None:
    lay_sets(world, 3)
    draw_checks(project=world.project, by=world.mona, method="stratified", share=0.5, seed=1)
    draw_planned(project=world.project, by=world.mona, size=10, design="stratified", seed=2)
    assert [work.method for work in draw_works(world.project)] == [
        "by lot within each system, length and doubt of the judge",
        "by lot within each system and length",
    ]
