"""Rows of acts written by hand are those that Django would have written."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.assessing.services.act_rows import insert, outdate, take_turn
from annotation.assessing.services.assign import assign
from annotation.models import Assignment, SummaryJudgment, UnitJudgment
from tests.annotation.cast import World


@pytest.fixture
def assignment(world: World) -> Assignment:
    return assign(document_set=world.sets["port"], assessor=world.ana, by=None, seed=1)


def judgment(world: World, assignment: Assignment, **given: object) -> UnitJudgment:
    values = {
        "percent": 40,
        "marks": [1, 2],
        "note": "so \u2013 so",
        "client_id": "tab",
        "active_ms": 7,
        **given,
    }
    reading = assignment.readings.earliest("position")
    return UnitJudgment(reading=reading, unit=world.units("port")[0], **values)


def told(row: UnitJudgment) -> dict[str, object]:
    own = ("id", "public_id", "seq", "created_at")
    return {name: value for name, value in vars(row).items() if name not in own and not name.startswith("_")}


@pytest.mark.parametrize("given", [{}, {"percent": None, "marks": [], "is_current": False, "note": ""}])
def test_a_row_by_hand_is_the_row_that_django_writes(
    world: World, assignment: Assignment, given: dict[str, object]
) -> None:
    before = timezone.now()
    insert([judgment(world, assignment, seq=1, **given)])
    by_hand = UnitJudgment.objects.get()
    UnitJudgment.objects.all().delete()
    judgment(world, assignment, seq=2, **given).save()
    by_django = UnitJudgment.objects.get()
    assert told(by_hand) == told(by_django)
    assert len(by_hand.public_id) == len(by_django.public_id)
    assert before <= by_hand.created_at <= by_django.created_at


def test_answers_are_rows_too(world: World, assignment: Assignment) -> None:
    answers = {"clear": 1}
    insert(
        [SummaryJudgment(assignment=assignment, peer=world.peers["port", "alder"], quality_answers=answers)]
    )
    assert SummaryJudgment.objects.get().quality_answers == answers


def test_only_what_is_named_is_outdated(world: World, assignment: Assignment) -> None:
    old = judgment(world, assignment, seq=1)
    old.save()
    outdate([old.pk])
    judgment(world, assignment, seq=2).save()
    rows = UnitJudgment.objects.order_by("seq").values_list("seq", "is_current")
    assert list(rows) == [(1, False), (2, True)]


def test_the_turn_sets_the_pen_and_the_lease(world: World, assignment: Assignment) -> None:
    now = timezone.now()
    renewed = {"worked_at": now, "lease_until": now + timedelta(minutes=5)}
    assert take_turn(assignment, pen="tab", seq=4, renewed=renewed, if_unheard=True)
    row = Assignment.objects.get()
    assert (row.pen, row.pen_seq, row.worked_at) == ("tab", 4, now)
    assert row.lease_until == now + timedelta(minutes=5)


@pytest.mark.parametrize(
    "changed",
    [{"pen": "phone"}, {"pen_seq": 1}, {"closed_at": timezone.now()}, {"unassigned_at": timezone.now()}],
)
def test_no_turn_where_the_assignment_has_changed(
    world: World, assignment: Assignment, changed: dict[str, object]
) -> None:
    Assignment.objects.update(**changed)
    assert not take_turn(assignment, pen="tab", seq=1, renewed={"worked_at": timezone.now()}, if_unheard=True)
    assert Assignment.objects.get().worked_at is None


def test_whoever_had_the_pen_may_be_passed_over(world: World, assignment: Assignment) -> None:
    Assignment.objects.update(pen="phone", pen_seq=9)
    assert take_turn(assignment, pen="tab", seq=1, renewed={"worked_at": timezone.now()}, if_unheard=False)
    assert Assignment.objects.get().pen == "tab"
