"""The draws for reviewers as a manager follows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import DrawnCheck, Verdict
from annotation.sampling.queries.check_samples import check_samples
from annotation.sampling.queries.sample_work import sample_works
from annotation.sampling.services.sample_checks import sample_checks
from annotation.templatetags.samples import chance_of_work
from tests.annotation.planning import lay_sets

if TYPE_CHECKING:
    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db


def test_without_draws_there_is_nothing(world: World) -> None:
    assert sample_works(world.project) == []


def test_a_draw_tells_how_far_it_is_who_made_it_and_who_answers(world: World) -> None:
    lay_sets(world, 3)
    draw = sample_checks(
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
    (work,) = sample_works(world.project)
    assert (work.draw.frame, work.draw.drawn, work.draw.answered, work.open) == (30, 15, 4, 11)
    assert (work.made_by, chance_of_work(work)) == ("mona", "0.5")
    assert work.people == (("rex", 3), ("cleo", 1))


def test_it_lists_the_same_samples_as_the_overview(world: World) -> None:
    for seed in (1, 2):
        sample_checks(project=world.project, by=world.mona, method="uniform", share=0.5, seed=seed)
    assert [work.draw for work in sample_works(world.project)] == check_samples(world.project)


def test_unequal_chances_are_told_from_the_least_to_the_greatest(world: World) -> None:
    draw = sample_checks(project=world.project, by=None, method="uniform", share=1, seed=1)
    first, *_ = DrawnCheck.objects.filter(draw=draw)
    DrawnCheck.objects.filter(pk=first.pk).update(inclusion_probability=0.25)
    (work,) = sample_works(world.project)
    assert (work.made_by, chance_of_work(work)) == (None, "0.25 to 1")
