"""Assignments with judgments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from annotation.assessing.services.acts import UnitAct
from annotation.assessing.services.assign import assign
from annotation.assessing.services.save_acts import save_acts
from annotation.models import Reading
from tests.annotation.cast import answer_rest, finish

if TYPE_CHECKING:
    from annotation.models import Assignment
    from tests.annotation.cast import World

Said = tuple[int, Sequence[int], int]
"""Percent, marked summary units, milliseconds."""


def sit(world: World, name: str, document_set: str) -> Assignment:
    return assign(document_set=world.sets[document_set], assessor=getattr(world, name), by=None, seed=1)


def say(assignment: Assignment, system: str, *said: Said) -> Reading:
    reading = assignment.readings.select_related("comparison__reference").get(
        comparison__summary__system__name=system
    )
    units = reading.comparison.reference.units.order_by("position")
    acts = [
        UnitAct(reading.public_id, unit.public_id, percent, tuple(marks), "", ms)
        for unit, (percent, marks, ms) in zip(units, said, strict=False)
    ]
    save_acts(assignment=assignment, by=assignment.assessor, acts=acts, all_or_none=True)
    return reading


__all__ = ["answer_rest", "finish", "say", "sit"]
