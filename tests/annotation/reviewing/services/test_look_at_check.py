from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.assessing.services.assign import assign
from annotation.models import Check, Look
from annotation.reviewing.services.look_at_check import look_at, see_checks, see_summary
from annotation.reviewing.services.review import override, withdraw_answer

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from tests.annotation.cast import World


def look(world: World, check: Check) -> Look:
    return Look.objects.get(check_row=check, person=world.rex)


def looked_at(*, check: Check, by: User) -> Look:
    look_at(check=check, by=by)
    return Look.objects.get(check_row=check, person=by)


def test_an_opened_check_is_looked_at_once_and_nothing_is_revealed(world: World) -> None:
    check = world.check("alder", 1)
    first = looked_at(check=check, by=world.rex)
    again = looked_at(check=check, by=world.rex)
    assert (first.pk, first.revealed_at, again.revealed_at) == (again.pk, None, None)


def test_the_own_answer_reveals_and_knew_nothing(world: World) -> None:
    check = world.check("alder", 1)
    verdict = override(check=check, by=world.rex, label="no").verdict
    assert verdict.had_seen is False
    assert look(world, check).revealed_at is not None


def test_the_second_answer_knew_also_after_the_first_was_taken_back(world: World) -> None:
    check = world.check("alder", 1)
    withdraw_answer(answer=override(check=check, by=world.rex, label="no").verdict, by=world.rex)
    assert override(check=check, by=world.rex, label="yes").verdict.had_seen


def open_alder(world: World, person: User) -> None:
    see_summary(project=world.project, summary=world.summaries["port", "alder"], by=person)


def test_whoever_saw_why_a_summary_scores_as_it_does_knows_of_its_checks(world: World) -> None:
    opened = looked_at(check=world.check("alder", 1), by=world.cleo)
    open_alder(world, world.cleo)
    # The looks are at the three checks of alder, one of which was opened before, and at none of birch.
    looks = Look.objects.filter(person=world.cleo, summary=None)
    assert {each.check_row for each in looks} == {world.check("alder", position) for position in (1, 2, 3)}
    assert all(each.revealed_at for each in looks)
    assert looks.get(check_row=world.check("alder", 1)).public_id == opened.public_id
    assert override(check=world.check("alder", 2), by=world.cleo, label="yes").verdict.had_seen
    assert override(check=world.check("birch", 1), by=world.cleo, label="yes").verdict.had_seen is False
    assert override(check=world.check("alder", 2), by=world.rex, label="yes").verdict.had_seen is False


def test_the_first_sight_of_the_verdict_is_kept(world: World) -> None:
    check = world.check("alder", 1)
    override(check=check, by=world.cleo, label="yes")
    before = Look.objects.get(check_row=check, person=world.cleo)
    open_alder(world, world.cleo)
    open_alder(world, world.cleo)
    after = Look.objects.get(check_row=check, person=world.cleo)
    assert (after.pk, after.revealed_at) == (before.pk, before.revealed_at)


@pytest.mark.parametrize("name", ["rex", "vic", "ana", "dan"])
def test_whoever_may_not_review_or_not_view_the_scores_leaves_no_look(world: World, name: str) -> None:
    open_alder(world, getattr(world, name))
    assert not Look.objects.exists()


def test_the_blind_leave_no_look(world: World) -> None:
    world.cleo.memberships.update(roles=["adjudicator", "assessor"])
    assign(document_set=world.sets["bridge"], assessor=world.cleo, by=None)
    open_alder(world, world.cleo)
    assert not Look.objects.exists()


def test_whoever_may_review_knows_of_the_checks_that_a_door_showed_them(world: World) -> None:
    shown = [world.check("alder", 1), world.check("birch", 2)]
    for person in (world.cleo, world.rex, world.vic, world.dan):
        checks = Check.objects.filter(pk__in=[check.pk for check in shown])
        see_checks(project=world.project, checks=checks, by=person)
    looks = Look.objects.filter(revealed_at__isnull=False)
    assert sorted(looks.values_list("person__username", "check_row")) == [
        (name, check.pk) for name in ("cleo", "rex") for check in shown
    ]


def test_checks_of_another_project_are_not_seen_with_a_projects(world: World) -> None:
    see_checks(project=world.other_project, checks=Check.objects.all(), by=world.dan)
    assert not Look.objects.exists()
