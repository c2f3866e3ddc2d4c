"""A project with many kinds of rows."""

from __future__ import annotations

from annotation.assessing.services.save_acts import judge_unit
from annotation.models import Assignment
from annotation.scoring.rescore import rescore
from tests.annotation.admin.rows import fill
from tests.annotation.cast import World, finish


def filled(world: World) -> World:
    fill(world)
    assignment = Assignment.objects.get()
    for reading in assignment.readings.all():
        for unit in world.units("bridge"):
            judge_unit(reading=reading, by=world.ana, unit_id=unit.public_id, percent=60)
    finish(assignment)
    # Some of these rows were created without the services, so rescore.
    rescore(project=world.project)
    return world
