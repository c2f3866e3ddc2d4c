"""What saving an act knows of a sitting, read in one statement."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.assessing.queries.open_sitting import sitting_for_acts
from annotation.assessing.services.assign import assign
from annotation.models import Project, Sitting
from tests.annotation.cast import World

OWN = [{"id": "clear", "text": "Is it clear?", "answers": ["no", "yes"]}]


@pytest.fixture
def sitting(world: World) -> Sitting:
    Project.objects.filter(pk=world.project.pk).update(question_set="own", own_questions=OWN)
    return assign(document_set=world.sets["port"], assessor=world.ana, by=None, seed=1)


def test_one_question_tells_what_saving_needs(world: World, sitting: Sitting) -> None:
    Sitting.objects.update(pen="tab", pen_seq=3, lease_until=timezone.now())
    stored = Sitting.objects.select_related("document_set__project").get()
    with CaptureQueriesContext(connection) as asked:
        found = sitting_for_acts("harbour", world.ana, sitting.public_id)
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


def test_what_was_not_read_is_read_when_it_is_asked_for(world: World, sitting: Sitting) -> None:
    found = sitting_for_acts("harbour", world.ana, sitting.public_id)
    assert found is not None
    assert found.created_at == sitting.created_at
    assert found.document_set.external_id == "port"


@pytest.mark.parametrize("over", ["closed_at", "unassigned_at"])
def test_a_sitting_that_is_over_is_found_too(world: World, sitting: Sitting, over: str) -> None:
    now = timezone.now()
    Sitting.objects.update(**{over: now})
    found = sitting_for_acts("harbour", world.ana, sitting.public_id)
    assert found is not None
    assert getattr(found, over) == now


def test_nothing_is_found_in_another_project_or_for_another_person(world: World, sitting: Sitting) -> None:
    assert sitting_for_acts("elsewhere", world.ana, sitting.public_id) is None
    assert sitting_for_acts("harbour", world.ben, sitting.public_id) is None
