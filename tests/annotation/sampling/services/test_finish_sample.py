"""The end of a random sample for assessors is logged once, whoever is last and however many are."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from django.db import connection, transaction

from annotation.assessing.services.assignment_orders import AssignmentOrder, Way
from annotation.assessing.services.plan_assignments import carry_out
from annotation.assessing.services.recall_sitting import reassign, recall
from annotation.models import Event
from tests.annotation.laying import judge_and_close
from tests.annotation.scoring.test_rescore_at_once import (
    PATIENCE_SECONDS,
    in_thread,
    wait_until_somebody_waits,
)

if TYPE_CHECKING:
    from annotation.models import Sitting
    from tests.annotation.cast import World


def two_sittings(world: World) -> list[Sitting]:
    order = AssignmentOrder(way=Way.PLAN, seed=4, people=("ana",))
    return carry_out(project=world.project, order=order, by=world.mona)


def ends() -> int:
    return Event.objects.filter(verb="finish sample").count()


def test_a_sample_ends_where_its_last_open_sitting_is_withdrawn(world: World) -> None:
    first, last = two_sittings(world)
    judge_and_close(first)
    given = reassign(sitting=last, to=world.ben, by=world.mona)
    assert ends() == 0
    recall(sitting=given, by=world.mona)
    assert ends() == 1


def test_a_sample_of_which_everything_is_withdrawn_has_no_end(world: World) -> None:
    for sitting in two_sittings(world):
        recall(sitting=sitting, by=world.mona)
    assert ends() == 0


@pytest.mark.django_db(transaction=True)
def test_two_who_close_the_last_sittings_at_once_end_it(world: World) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("one writes at a time")
    first, last = two_sittings(world)
    closed, let_go = threading.Event(), threading.Event()

    def close_slowly() -> None:
        with transaction.atomic():
            judge_and_close(first)
            closed.set()
            assert let_go.wait(PATIENCE_SECONDS)

    slow = in_thread(close_slowly)
    assert closed.wait(PATIENCE_SECONDS)
    quick = in_thread(lambda: judge_and_close(last))
    wait_until_somebody_waits()
    let_go.set()
    slow.join(PATIENCE_SECONDS)
    quick.join(PATIENCE_SECONDS)
    assert ends() == 1
