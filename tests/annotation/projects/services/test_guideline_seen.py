"""What somebody says keeps the version of the guidelines that they had before them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.assessing.services.acts import Act, QualityAct, UnitAct
from annotation.assessing.services.assign import assign
from annotation.assessing.services.save_acts import judge_unit, save_acts
from annotation.assessing.services.take_pen import take_pen
from annotation.models import Assignment, Sitting, SummaryJudgment, UnitJudgment
from annotation.projects.services.write_guidelines import write_guidelines

if TYPE_CHECKING:
    from annotation.models import Guideline
    from tests.annotation.cast import World

FORM = "form-1"


@pytest.fixture
def sitting(world: World) -> Sitting:
    return assign(document_set=world.sets["port"], assessor=world.ana, by=world.mona)


def guideline(world: World, text: str) -> Guideline:
    return write_guidelines(project=world.project, text=text, by=world.mona)


def first(sitting: Sitting) -> Assignment:
    return sitting.assignments.select_related("sitting__document_set__project").order_by("position")[0]


def send(world: World, sitting: Sitting, *acts: Act) -> None:
    sitting.refresh_from_db()
    save_acts(sitting=sitting, by=world.ana, client_id=FORM, acts=acts)


def unit_act(world: World, sitting: Sitting, seq: int) -> UnitAct:
    return UnitAct(seq, first(sitting).public_id, world.units("port")[seq - 1].public_id, 40)


def test_an_open_form_goes_by_what_it_was_opened_with(world: World, sitting: Sitting) -> None:
    seen = guideline(world, "One.")
    take_pen(sitting=sitting, by=world.ana, client_id=FORM, seen_pen="")
    guideline(world, "Two.")
    send(world, sitting, unit_act(world, sitting, 1))
    assert UnitJudgment.objects.get().guideline == seen


def test_opened_again_it_goes_by_the_new_ones(world: World, sitting: Sitting) -> None:
    versions = [guideline(world, text) for text in ("One.", "Two.")]
    Sitting.objects.update(guideline=versions[0])
    take_pen(sitting=sitting, by=world.ana, client_id=FORM, seen_pen="")
    send(world, sitting, unit_act(world, sitting, 1))
    assert UnitJudgment.objects.get().guideline == versions[1]


def test_quality_answers_keep_it_too(world: World, sitting: Sitting) -> None:
    world.project.question_set = "duc2006"
    world.project.save(update_fields=["question_set"])
    seen = guideline(world, "One.")
    take_pen(sitting=sitting, by=world.ana, client_id=FORM, seen_pen="")
    sitting = Sitting.objects.select_related("document_set__project").get()
    send(world, sitting, QualityAct(1, first(sitting).public_id, "grammaticality", 3))
    assert SummaryJudgment.objects.get().guideline == seen


def test_a_plain_form_goes_by_those_in_force(world: World, sitting: Sitting) -> None:
    seen = guideline(world, "One.")
    unit = world.units("port")[0].public_id
    assert judge_unit(assignment=first(sitting), by=world.ana, unit_id=unit, percent=40).guideline == seen
    sitting.refresh_from_db()
    assert sitting.guideline == seen


def test_without_guidelines_there_is_none_to_keep(world: World, sitting: Sitting) -> None:
    take_pen(sitting=sitting, by=world.ana, client_id=FORM, seen_pen="")
    send(world, sitting, unit_act(world, sitting, 1))
    assert UnitJudgment.objects.get().guideline is None
