"""What saving an act knows of an assignment, read in one statement."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.assessing.queries.open_assignment import assignment_for_acts
from annotation.assessing.services.assign import assign
from annotation.models import Assignment, Project
from tests.annotation.cast import World

OWN = [{"id": "clear", "text": "Is it clear?", "answers": ["no", "yes"]}]


@pytest.fixture
def assignment(world: World) -> Assignment:
    Project.objects.filter(pk=world.project.pk).update(question_set="own", own_questions=OWN)
    return assign(document_set=world.sets["port"], assessor=world.ana, by=None, seed=1)


def test_one_question_tells_what_saving_needs(world: World, assignment: Assignment) -> None:
    Assignment.objects.update(pen="tab", pen_seq=3, lease_until=timezone.now())
    stored = Assignment.objects.select_related("document_set__project").get()
    with CaptureQueriesContext(connection) as asked:
        found = assignment_for_acts("harbour", world.ana, assignment.public_id)
        assert found is not None
        assert found == stored
        for name in ("public_id", "assessor_id", "pen", "pen_seq", "closed_at", "unassigned_at"):
            assert getattr(found, name) == getattr(stored, name), name
        project = found.document_set.project
        assert project == world.project
        for name in ("name", "percent_scale", "question_set", "own_questions", "lease_minutes"):
            assert getattr(project, name) == getattr(stored.document_set.project, name), name
    assert found.lease_until is not None
    assert project.own_questions == OWN
    assert len(asked) == 1


def test_what_was_not_read_is_read_when_it_is_asked_for(world: World, assignment: Assignment) -> None:
    found = assignment_for_acts("harbour", world.ana, assignment.public_id)
    assert found is not None
    assert found.created_at == assignment.created_at
    assert found.document_set.external_id == "port"


@pytest.mark.parametrize("over", ["closed_at", "unassigned_at"])
def test_a_assignment_that_is_over_is_found_too(world: World, assignment: Assignment, over: str) -> None:
    now = timezone.now()
    Assignment.objects.update(**{over: now})
    found = assignment_for_acts("harbour", world.ana, assignment.public_id)
    assert found is not None
    assert getattr(found, over) == now


def test_nothing_is_found_in_another_project_or_for_another_person(
    world: World, assignment: Assignment
) -> None:
    assert assignment_for_acts("elsewhere", world.ana, assignment.public_id) is None
    assert assignment_for_acts("harbour", world.ben, assignment.public_id) is None
