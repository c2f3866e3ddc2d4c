from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from annotation.assessing.services.acts import Act, UnitAct
from annotation.assessing.services.assign import assign
from annotation.assessing.services.open_assignment import open_assignment
from annotation.assessing.services.save_acts import save_acts
from annotation.models import Assignment, CoverageJudgment, Rating, Reading
from annotation.projects.services.write_guidelines import write_guidelines
from evaluation.metrics import PACKS
from tests.annotation.rated import ask, on

if TYPE_CHECKING:
    from annotation.models import Guideline
    from tests.annotation.cast import World


@pytest.fixture
def assignment(world: World) -> Assignment:
    return assign(document_set=world.sets["port"], assessor=world.ana, by=world.mona)


def guideline(world: World, text: str) -> Guideline:
    return write_guidelines(project=world.project, text=text, by=world.mona)


def first(assignment: Assignment) -> Reading:
    return assignment.readings.select_related("assignment__document_set__project").order_by("position")[0]


def send(world: World, assignment: Assignment, *acts: Act) -> None:
    assignment.refresh_from_db()
    save_acts(assignment=assignment, by=world.ana, acts=acts)


def unit_act(world: World, assignment: Assignment) -> UnitAct:
    return UnitAct(first(assignment).public_id, world.units("port")[0].public_id, 40)


def test_an_open_form_goes_by_what_it_was_opened_with(world: World, assignment: Assignment) -> None:
    seen = guideline(world, "One.")
    open_assignment(assignment)
    guideline(world, "Two.")
    send(world, assignment, unit_act(world, assignment))
    assert CoverageJudgment.objects.get().guideline == seen


def test_opened_again_it_goes_by_the_new_ones(world: World, assignment: Assignment) -> None:
    versions = [guideline(world, text) for text in ("One.", "Two.")]
    Assignment.objects.update(guideline=versions[0])
    open_assignment(assignment)
    send(world, assignment, unit_act(world, assignment))
    assert CoverageJudgment.objects.get().guideline == versions[1]


def test_ratings_keep_it_too(world: World, assignment: Assignment) -> None:
    ask(world.project, *PACKS["DUC 2006"])
    seen = guideline(world, "One.")
    open_assignment(assignment)
    assignment = Assignment.objects.select_related("document_set__project").get()
    send(world, assignment, on(first(assignment).public_id, "grammaticality", 3))
    assert Rating.objects.get().guideline == seen


def test_a_set_that_is_over_is_not_opened(world: World, assignment: Assignment) -> None:
    seen = guideline(world, "One.")
    Assignment.objects.update(guideline=seen, unassigned_at=timezone.now())
    guideline(world, "Two.")
    open_assignment(assignment)
    assert Assignment.objects.get().guideline == seen


def test_without_guidelines_there_is_none_to_keep(world: World, assignment: Assignment) -> None:
    open_assignment(assignment)
    send(world, assignment, unit_act(world, assignment))
    assert CoverageJudgment.objects.get().guideline is None
