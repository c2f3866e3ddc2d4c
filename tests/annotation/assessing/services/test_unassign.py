from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.analysis.agreement.ratings import percent_ratings
from annotation.assessing.services.assign import assign
from annotation.assessing.services.queue import give_back, lapse_leases, pull, take_up
from annotation.assessing.services.unassign import mark_seen, unassign
from annotation.core.permissions import is_blind
from annotation.core.refusals import Conflict
from annotation.models import Assignment, CoverageJudgment, Event, Membership, Role, Score
from annotation.reviewing.services.look_at_check import see_summary
from tests.annotation.assessing.services.test_queue import run_out
from tests.annotation.laying import begin, judge_and_close, open_queue

if TYPE_CHECKING:
    from tests.annotation.cast import World

WITH_SIGHT = [
    ["assessor", "owner"],
    ["assessor", "manager"],
    ["assessor", "reviewer"],
    ["assessor", "viewer"],
]


def given(world: World) -> Assignment:
    return assign(document_set=world.sets["port"], assessor=world.ana, by=None)


def test_what_was_said_is_kept_and_counts_for_nothing(world: World) -> None:
    assignment = given(world)
    begin(assignment)
    assert is_blind(world.ana, world.project)
    unassign(assignment=assignment, by=world.mona)
    assert not is_blind(world.ana, world.project)
    assert CoverageJudgment.objects.filter(reading__assignment=assignment, is_current=True).count() == 1
    assert percent_ratings(world.project) == []
    assert Event.objects.get(verb="unassign").data == {"assessor": "ana", "document_set": "port"}


def test_twice_changes_nothing(world: World) -> None:
    assignment = given(world)
    first = unassign(assignment=assignment, by=world.mona)
    assert unassign(assignment=assignment, by=world.mona).unassigned_at == first.unassigned_at
    assert Event.objects.filter(verb="unassign").count() == 1


def test_what_is_submitted_cannot_be_taken_away(world: World) -> None:
    assignment = judge_and_close(given(world))
    with pytest.raises(Conflict) as refused:
        unassign(assignment=assignment, by=world.mona)
    assert refused.value.code == "closed"


@pytest.mark.parametrize("is_started", [True, False], ids=["started", "untouched"])
@pytest.mark.parametrize("roles", WITH_SIGHT, ids="-".join)
def test_any_role_that_sees_more_counts(world: World, roles: list[str], is_started: bool) -> None:
    Membership.objects.filter(user=world.ana).update(roles=roles)
    assignment = given(world)
    if is_started:
        begin(assignment)
    unassign(assignment=assignment, by=world.mona)
    assert given(world).may_have_seen


def test_an_assessor_alone_stays_blind(world: World) -> None:
    unassign(assignment=given(world), by=world.mona)
    assert not given(world).may_have_seen


def test_a_role_that_came_in_between_counts(world: World) -> None:
    unassign(assignment=given(world), by=world.mona)
    Membership.objects.filter(user=world.ana).update(roles=[Role.ASSESSOR, Role.VIEWER])
    assert given(world).may_have_seen


@pytest.mark.parametrize("way", ["returned", "expired"])
def test_a_set_of_the_queue_is_flagged_when_it_is_taken_up(world: World, way: str) -> None:
    Membership.objects.filter(user=world.ana).update(roles=[Role.ASSESSOR, Role.REVIEWER])
    open_queue(world)
    assignment = pull(project=world.project, by=world.ana)
    if way == "returned":
        give_back(assignment=assignment, by=world.ana)
    else:
        run_out(assignment)
        assert lapse_leases() == 1
    assert take_up(assignment=assignment, by=world.ana).may_have_seen


def test_flagged_percents_score_and_enter_no_blind_statistic(world: World) -> None:
    judge_and_close(given(world))
    assert len(percent_ratings(world.project)) == 4
    mark_seen(Assignment.objects.all())
    assert percent_ratings(world.project) == []
    assert Score.objects.filter(coverage_human__isnull=False).count() == 2


def test_who_saw_the_scores_before_the_set_was_assigned_is_not_blind(world: World) -> None:
    Membership.objects.filter(user=world.ana).update(roles=[Role.ASSESSOR, Role.VIEWER])
    see_summary(project=world.project, summary=world.summaries["port", "alder"], by=world.ana)
    judge_and_close(given(world))
    assert not CoverageJudgment.objects.filter(had_seen=False).exists()
    assert percent_ratings(world.project) == []
