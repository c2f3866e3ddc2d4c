"""Hours, units and pace, by person and by sitting."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotation.assessing.queries.effort import Effort, effort_by_person, effort_by_sitting, total_effort
from annotation.assessing.services.recall_sitting import recall
from annotation.models import Claim, ClaimSet, Sitting, SummaryJudgment
from tests.annotation.cast import World
from tests.annotation.sitting import say, sit


def of(world: World, name: str) -> Effort:
    return effort_by_person(Sitting.objects.all())[getattr(world, name).pk]


def test_all_time_counts_and_the_last_judgment_of_a_unit(world: World) -> None:
    sitting = sit(world, "ana", "port")
    say(sitting, "alder", (60, [1], 9_000), (100, [2], 3_000))
    say(sitting, "alder", (40, [1], 4_000))
    SummaryJudgment.objects.create(
        sitting=sitting, peer=world.peers["port", "alder"], quality_answers={"1": 0}, active_ms=2_000
    )
    # 9 + 3 + 4 s at units and 2 s at questions are 18 s for two units: 400 an hour, 9 s each.
    effort = of(world, "ana")
    assert (effort.judged_units, effort.timed_units, effort.active_ms) == (2, 2, 18_000)
    assert effort.hours == pytest.approx(0.005)
    assert effort.units_per_hour == pytest.approx(400)
    assert effort.seconds_per_unit == 9
    assert effort_by_sitting(Sitting.objects.all()) == {sitting.pk: effort}


def test_work_without_times_has_no_pace(world: World) -> None:
    say(sit(world, "ana", "port"), "alder", (60, [1], 0))
    effort = of(world, "ana")
    assert (effort.judged_units, effort.hours) == (1, 0)
    assert (effort.units_per_hour, effort.seconds_per_unit) == (None, None)


def test_units_without_times_do_not_make_anybody_faster(world: World) -> None:
    sitting = sit(world, "ana", "port")
    say(sitting, "alder", (60, [1], 10_000))
    say(sitting, "birch", (60, [1], 0), (0, [], 0))
    # One unit in 10 s is 360 an hour, whatever was judged elsewhere.
    assert of(world, "ana").units_per_hour == pytest.approx(360)


def test_what_was_taken_away_is_time_but_no_result(world: World) -> None:
    sitting = sit(world, "ana", "port")
    say(sitting, "alder", (60, [1], 36_000))
    recall(sitting=sitting, by=world.mona)
    effort = of(world, "ana")
    assert (effort.judged_units, effort.active_ms) == (0, 36_000)
    # One unit in 36 s: it took its time like any other.
    assert effort.units_per_hour == pytest.approx(100)
    assert effort_by_sitting(Sitting.objects.all())[sitting.pk].judged_units == 1


def test_a_claim_of_a_replaced_set_is_no_result(world: World) -> None:
    claims = ClaimSet.objects.create(summary=world.models["bridge"], origin="import")
    first, second = (
        Claim.objects.create(claim_set=claims, position=place, text="It closed.", origin="import")
        for place in (1, 2)
    )
    assignment = sit(world, "ana", "bridge").assignments.get(comparison__peer__system__name="alder")
    for claim in (first, second):
        assignment.unit_judgments.create(claim=claim, percent=20, marks=[1], active_ms=500)
    assert of(world, "ana").judged_units == 2
    Claim.objects.filter(pk=first.pk).update(removed_at=timezone.now())
    assert of(world, "ana").judged_units == 1
    ClaimSet.objects.filter(pk=claims.pk).update(is_active=False)
    assert (of(world, "ana").judged_units, of(world, "ana").active_ms) == (0, 1_000)


def test_people_and_sittings_are_kept_apart_and_add_up(world: World) -> None:
    for name, document_set, ms in (("ana", "port", 1000), ("ana", "bridge", 2000), ("ben", "port", 4000)):
        say(sit(world, name, document_set), "birch", (0, [], ms))
    assert of(world, "ana").active_ms == 3000
    assert of(world, "ben").active_ms == 4000
    efforts = effort_by_sitting(Sitting.objects.filter(assessor=world.ana))
    assert sorted(effort.active_ms for effort in efforts.values()) == [1000, 2000]
    assert total_effort(efforts.values()) == of(world, "ana")
    assert total_effort([]) == Effort()
