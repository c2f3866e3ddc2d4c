"""Which samples are pooled, what the pool holds, and how sure its intervals are."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from annotation.analysis.estimates.estimates import estimates
from annotation.analysis.estimates.plan import plan
from annotation.analysis.estimates.pooling import (
    HeldSample,
    Pool,
    SampleProgress,
    next_confidence,
    samples_and_pools,
    shown_pool,
)
from annotation.analysis.estimates.words import estimate_in_words
from annotation.assessing.services.assignment_orders import AssignmentOrder, Way
from annotation.assessing.services.plan_assignments import carry_out
from annotation.models import Check, Draw, DrawnCheck
from annotation.sampling.queries.sampled_items import framed_items
from annotation.sampling.services.sample_checks import sample_checks
from evaluation.statistics import declared_looks, look_confidence
from tests.annotation.answering import add_checks
from tests.annotation.cast import World
from tests.annotation.laying import judge_and_close
from tests.annotation.planning import answer_draw


def draw_of(world: World, seed: int, *, method: str = "uniform", share: float = 0.5) -> Draw:
    return sample_checks(project=world.project, by=world.mona, method=method, share=share, seed=seed)


def pools(world: World) -> list[Pool]:
    return samples_and_pools(world.project)[1]


def drawn_by(*draws: Draw) -> set[str]:
    rows = DrawnCheck.objects.filter(draw__in=draws)
    return set(rows.values_list("check_row__public_id", flat=True))


def answer_first(world: World, draw: Draw, count: int) -> None:
    """Only the first checks of the sample are answered."""
    answer_draw(world, draw)
    later = draw.drawn_checks.order_by("pk").values_list("pk", flat=True)[count:]
    DrawnCheck.objects.filter(pk__in=list(later)).update(verdict=None)


@pytest.mark.django_db
@pytest.mark.parametrize("answered", [20, 40, 99])
def test_a_plan_is_made_while_a_sample_is_being_answered(world: World, answered: int) -> None:
    add_checks(world, 94)
    draw = draw_of(world, 1, share=1.0)
    answer_first(world, draw, answered)
    (found,) = pools(world)
    assert found.answers < draw.drawn_checks.count() == 100
    assert plan(world.project)["pilot"]["answers"] == found.answers
    # What comes next follows all looks of the sample at hand.
    looks = declared_looks(100)
    later = tuple(100 + look for look in looks)
    expected = look_confidence(later[-1], later, before=(looks,))
    assert next_confidence(world.project, Check.Side.REFERENCE, found, ()) == pytest.approx(expected)


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["uniform", "active"])
def test_a_further_sample_of_the_same_checks_is_pooled(world: World, method: str) -> None:
    add_checks(world, 34)
    first = draw_of(world, 1)
    answer_draw(world, first)
    second = draw_of(world, 2, method=method)
    answer_draw(world, second)
    (_, found) = pools(world)
    both = drawn_by(first, second)
    assert (found.draws, found.answers) == ([first, second], len(both))
    framed = framed_items(world.project, first, second)
    chances = dict(zip((name for name, _ in second.frame), second.chances or [0.5] * 40, strict=True))
    for system, items in framed.items[20].items():
        for name, item in zip(framed.ids[20][system], items, strict=True):
            assert item.is_drawn is (name in both)
            # In the first sample with the chance .5, in either with 1 - .5 (1 - p).
            assert item.probability == pytest.approx(1 - 0.5 * (1 - chances[name]))
    # The looks go on: 20 of the first 20, then as many as the second adds.
    assert found.confidence == look_confidence(len(both), (len(both),), before=((20,),))
    table = estimates(world.project).at(20)
    day = found.latest.day
    assert (table.draw_id, table.answers) == (second.public_id, len(both))
    assert f"2 pooled random samples, of {day} and {day}: {len(both)} checks" in estimate_in_words(table)


@pytest.mark.django_db
def test_the_plan_goes_by_what_estimates_show_while_a_further_sample_is_answered(world: World) -> None:
    add_checks(world, 234)
    answer_draw(world, draw_of(world, 1))
    answer_first(world, draw_of(world, 2), 110)
    shown = shown_pool(pools(world))
    assert shown is not None
    assert [each.is_complete for each in (*shown.earlier, shown.latest)] == [True, False]
    found = plan(world.project)
    assert (found["pilot"]["answers"], found["pilot"]["samples"]) == (shown.answers, 2)


@pytest.mark.django_db
def test_a_sample_that_adds_no_answer_costs_nothing(world: World) -> None:
    answer_draw(world, draw_of(world, 1, share=1.0))
    assert estimates(world.project).at(20).confidence == look_confidence(6, (6,))
    # Every check keeps its answer, so the second is complete at once.
    draw_of(world, 2, share=1.0)
    assert estimates(world.project).at(20).confidence == look_confidence(6, (6,))


@pytest.mark.django_db
def test_a_cancelled_sample_is_not_pooled_and_its_looks_are_paid_for(world: World) -> None:
    first = draw_of(world, 1, share=1.0)
    answer_draw(world, first)
    Draw.objects.filter(pk=first.pk).update(cancelled_at=datetime.now(UTC))
    second = draw_of(world, 2, share=1.0)
    (found,) = pools(world)
    assert (found.draws, found.confidence) == ([second], look_confidence(6, (6,), before=((),)))
    # Cancelled before anybody could look at it, it has told nothing.
    first.drawn_checks.update(verdict=None)
    (found,) = pools(world)
    assert found.confidence == look_confidence(6, (6,))


@pytest.mark.django_db
def test_a_sample_that_is_still_answered_holds_back_those_after_it(world: World) -> None:
    add_checks(world, 54)
    first = draw_of(world, 1)
    answer_first(world, first, 25)
    second = draw_of(world, 2)
    answer_draw(world, second)
    answer_first(world, first, 25)
    table = estimates(world.project).at(20)
    assert (table.draw_id, table.answers, table.waits) == (first.public_id, 20, True)
    assert "Its answers join the estimate once the random sample of" in estimate_in_words(table)
    answer_draw(world, first)
    table = estimates(world.project).at(20)
    assert (table.draw_id, table.answers, table.waits) == (
        second.public_id,
        len(drawn_by(first, second)),
        False,
    )


@pytest.mark.django_db
def test_a_sample_that_nobody_has_begun_holds_back_nothing(world: World) -> None:
    add_checks(world, 34)
    first, second = draw_of(world, 1), draw_of(world, 2)
    answer_draw(world, second)
    assert estimates(world.project).at(20).draw_id == second.public_id
    answer_draw(world, first)
    # In the order in which they could be looked at.
    assert pools(world)[-1].draws == [second, first]


@pytest.mark.django_db
def test_after_new_checks_came_a_sample_stands_by_itself(world: World) -> None:
    first = draw_of(world, 1, share=1.0)
    answer_draw(world, first)
    # Six checks become eight: less than nine tenths are the same.
    add_checks(world, 2)
    second = draw_of(world, 2, share=1.0)
    answer_draw(world, second)
    found = pools(world)[-1]
    assert (found.draws, found.confidence) == ([second], look_confidence(8, (8,), before=((),)))


@pytest.mark.django_db
def test_what_was_drawn_at_unknown_chances_is_not_pooled(world: World) -> None:
    add_checks(world, 34)
    first = draw_of(world, 1, method="active")
    answer_draw(world, first)
    second = draw_of(world, 2)
    answer_draw(world, second)
    assert pools(world)[-1].draws == [first, second]
    # As of samples that were made before all chances were kept.
    Draw.objects.filter(pk=first.pk).update(chances=[])
    assert pools(world)[-1].draws == [second]


@pytest.mark.django_db
def test_assessors_samples_are_pooled_too(world: World) -> None:
    for seed, person in ((4, "ana"), (5, "ben")):
        order = AssignmentOrder(way=Way.PLAN, seed=seed, people=(person,), method="uniform", share=0.5)
        for sitting in carry_out(project=world.project, order=order, by=world.mona):
            judge_and_close(sitting)
    found = pools(world)[-1]
    framed = framed_items(world.project, *found.draws)
    assert len(found.draws) == 2
    # One of two sets was drawn each time, at .5: in either with .75.
    assert {item.probability for items in framed.items[20].values() for item in items} == {0.75}


PROGRESS = SampleProgress(
    "d", "check", "uniform", drawn=18, answered=18, withdrawn=0, day="4 May 2026", run=18
)


def pool(run: int, drawn: int, *, before: tuple[int, ...] = ()) -> Pool:
    """A sample of which so many are answered in its order, after others of the same frame that are all answered."""
    progress = replace(PROGRESS, drawn=drawn, answered=run, run=run)
    held = HeldSample(progress, Draw(item="check"), {}, datetime(2026, 5, 4, tzinfo=UTC))
    begun = sum(before)
    looks = tuple(begun + look for look in declared_looks(drawn))
    ends = tuple((sum(before[: place + 1]),) for place in range(len(before)))
    answers = begun + progress.look
    return Pool((held,), answers, (*ends, looks), look_confidence(answers, looks, before=ends))


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        ([], None),
        ([pool(40, 120)], 0),
        # An early look at a further sample is wider than the last one at what was there.
        ([pool(60, 60), pool(20, 120, before=(60,))], 0),
        ([pool(60, 60), pool(100, 120, before=(60,))], 1),
        ([pool(60, 60), pool(120, 120, before=(60,))], 1),
        # What is all answered comes before what was.
        ([pool(200, 200), pool(30, 30)], 1),
        ([pool(200, 200), pool(30, 30), pool(20, 120)], 1),
    ],
)
def test_the_pool_that_says_most_is_shown(found: list[Pool], shown: int | None) -> None:
    assert shown_pool(found) is (None if shown is None else found[shown])
