from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.assessing.services.assign import assign
from annotation.assessing.services.save_acts import judge_unit
from annotation.models import CoverageJudgment
from annotation.texts.queries.unit_texts import current_units, token_of
from annotation.texts.services.change_units import join_units, split_unit
from tests.annotation.at_once import codes_of

if TYPE_CHECKING:
    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db(transaction=True)


def test_of_a_join_and_a_split_of_the_same_cut_one_is_done(world: World) -> None:
    reference = world.references["bridge"]
    units = current_units(reference)
    seen, unit_id = token_of(units), units[0].public_id
    said = codes_of(
        lambda: join_units(summary=reference, by=world.mona, unit_id=unit_id, seen=seen),
        lambda: split_unit(summary=reference, by=world.olga, unit_id=unit_id, at=28, seen=seen),
    )
    assert sorted(said) == ["", "newer_cut"]
    assert [unit.position for unit in current_units(reference)] in ([1], [1, 2, 3])


def test_a_unit_is_either_judged_or_joined(world: World) -> None:
    reference = world.references["bridge"]
    assignment = assign(document_set=world.sets["bridge"], assessor=world.ana, by=None, seed=1)
    reading = assignment.readings.select_related("assignment__document_set__project").earliest("position")
    unit_id = current_units(reference)[0].public_id
    said = codes_of(
        lambda: join_units(summary=reference, by=world.mona, unit_id=unit_id),
        lambda: judge_unit(reading=reading, by=world.ana, unit_id=unit_id, percent=40, marks=[1]),
    )
    assert tuple(said) in {("", "not_found"), ("judged", "")}
    judged = CoverageJudgment.objects.filter(is_current=True)
    assert [judgment.unit for judgment in judged] == current_units(reference)[: len(judged)]


def test_a_summary_unit_is_either_marked_or_joined(world: World) -> None:
    summary = world.summaries["bridge", "alder"]
    assignment = assign(document_set=world.sets["bridge"], assessor=world.ana, by=None, seed=1)
    reading = assignment.readings.select_related("assignment__document_set__project").get(
        comparison__summary=summary
    )
    unit_id, first = world.units("bridge")[0].public_id, current_units(summary)[0].public_id
    said = codes_of(
        lambda: join_units(summary=summary, by=world.mona, unit_id=first),
        lambda: judge_unit(reading=reading, by=world.ana, unit_id=unit_id, percent=40, marks=[2]),
    )
    assert tuple(said) in {("", "not_found"), ("judged", "")}
    marked = {mark for marks in CoverageJudgment.objects.values_list("evidence", flat=True) for mark in marks}
    assert marked <= {unit.position for unit in current_units(summary)}
