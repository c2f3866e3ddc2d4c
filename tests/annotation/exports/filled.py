"""A project with rows of nearly every kind, for tests of exports."""

from __future__ import annotations

from annotation.assessing.services.save_acts import judge_unit
from annotation.models import Sitting
from annotation.scoring.rescore import rescore
from tests.annotation.admin.rows import fill
from tests.annotation.cast import World, finish


def filled(world: World) -> World:
    """The project with a row of nearly every kind, submitted percents among them."""
    fill(world)
    sitting = Sitting.objects.get()
    for assignment in sitting.assignments.all():
        for unit in world.units("bridge"):
            judge_unit(assignment=assignment, by=world.ana, unit_id=unit.public_id, percent=60)
    finish(sitting)
    # Some of these rows were written past the services.
    rescore(project=world.project)
    return world
