"""Who leaves an open set and could then see more is no longer blind to it, by whichever way they left."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from annotation.analysis.agreement.ratings import percent_ratings
from annotation.assessing.services.assign import assign
from annotation.assessing.services.assignment_orders import AssignmentOrder, Way
from annotation.assessing.services.plan_assignments import carry_out
from annotation.assessing.services.pull_sitting import pull, take_up
from annotation.assessing.services.recall_sitting import (
    give_back,
    lapse_leases,
    reassign,
    recall,
    requeue,
)
from annotation.models import Membership, Role, Score, Sitting
from annotation.sampling.queries.sampled_items import _percents
from tests.annotation.laying import begin, judge_and_close

if TYPE_CHECKING:
    from tests.annotation.cast import World

WITH_SIGHT = [
    ["assessor", "owner"],
    ["assessor", "manager"],
    ["assessor", "reviewer"],
    ["assessor", "viewer"],
]


@pytest.fixture
def seeing(world: World) -> World:
    """Ana assesses and owns."""
    Membership.objects.filter(user=world.ana).update(roles=[Role.ASSESSOR, Role.OWNER])
    return world


def given(world: World) -> Sitting:
    return assign(document_set=world.sets["port"], assessor=world.ana, by=None)


def queue(world: World) -> None:
    carry_out(project=world.project, order=AssignmentOrder(way=Way.QUEUE, seed=1), by=world.mona)


@pytest.mark.parametrize("is_begun", [True, False], ids=["begun", "untouched"])
@pytest.mark.parametrize("way", ["recall", "reassign", "requeue"])
def test_each_way_out_is_remembered(seeing: World, way: str, is_begun: bool) -> None:
    sitting = given(seeing)
    if is_begun:
        begin(sitting)
    match way:
        case "recall":
            recall(sitting=sitting, by=seeing.ana)
        case "reassign":
            reassign(sitting=sitting, to=seeing.ben, by=seeing.ana)
        case "requeue":
            requeue(sitting=sitting, by=seeing.ana)
    again = given(seeing)
    assert again != sitting
    assert again.may_have_seen
    assert not Sitting.objects.filter(assessor=seeing.ben, may_have_seen=True).exists()


@pytest.mark.parametrize("roles", WITH_SIGHT, ids="-".join)
def test_any_role_that_sees_more_counts(world: World, roles: list[str]) -> None:
    Membership.objects.filter(user=world.ana).update(roles=roles)
    recall(sitting=given(world), by=world.mona)
    assert given(world).may_have_seen


def test_an_assessor_alone_stays_blind(world: World) -> None:
    recall(sitting=given(world), by=world.mona)
    assert not given(world).may_have_seen


def test_what_waits_and_is_handed_over_again_is_flagged(seeing: World) -> None:
    requeue(sitting=given(seeing), by=seeing.ana)
    waiting = Sitting.objects.get(assessor__isnull=True)
    assert not waiting.may_have_seen
    assert reassign(sitting=waiting, to=seeing.ana, by=seeing.ana).may_have_seen


def test_a_set_given_back_untouched_is_not_pulled_again(seeing: World) -> None:
    queue(seeing)
    sitting = pull(project=seeing.project, by=seeing.ana)
    give_back(sitting=sitting, by=seeing.ana)
    assert pull(project=seeing.project, by=seeing.ana).document_set != sitting.document_set


def test_a_set_that_expired_is_flagged_when_it_is_taken_up(seeing: World) -> None:
    queue(seeing)
    sitting = pull(project=seeing.project, by=seeing.ana)
    Sitting.objects.filter(pk=sitting.pk).update(lease_until=timezone.now() - timedelta(minutes=1))
    assert lapse_leases() == 1
    assert take_up(sitting=sitting, by=seeing.ana).may_have_seen


def test_flagged_percents_score_and_enter_no_blind_statistic(seeing: World) -> None:
    judge_and_close(given(seeing))
    assert len(percent_ratings(seeing.project)) == 4
    Sitting.objects.update(may_have_seen=True)
    assert percent_ratings(seeing.project) == []
    assert Score.objects.filter(coverage_human__isnull=False).count() == 2


def test_an_estimate_takes_a_flagged_answer_as_not_given(seeing: World) -> None:
    carry_out(
        project=seeing.project,
        order=AssignmentOrder(way=Way.PLAN, seed=1, people=("ana",)),
        by=seeing.mona,
    )
    sitting = Sitting.objects.get(document_set=seeing.sets["port"], assessor=seeing.ana)
    draw = sitting.assignments.exclude(draw=None)[0].draw
    assert draw is not None
    judge_and_close(sitting)
    assert len(_percents(draw)) == 2
    Sitting.objects.update(may_have_seen=True)
    assert _percents(draw) == {}
