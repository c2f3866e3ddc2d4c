"""Further document sets and assignments for tests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from django.contrib.auth.models import User

from annotation.assessing.services.assign import assign
from annotation.assessing.services.save_acts import judge_unit
from annotation.models import (
    Assignment,
    Check,
    Claim,
    Comparison,
    DocumentSet,
    Membership,
    Role,
    Summary,
    Unit,
)
from tests.annotation.cast import World, finish

TEXT = "One sentence."


def add_sets(world: World, names: Sequence[str], *, targets: Sequence[int] = (20,)) -> list[DocumentSet]:
    made = []
    for name in names:
        row = DocumentSet.objects.create(project=world.project, external_id=name)
        reference = Summary.objects.create(document_set=row, is_reference=True, text=TEXT)
        Unit.objects.create(summary=reference, position=1, start=0, end=len(TEXT))
        for target in targets:
            for system in world.systems.values():
                summary = Summary.objects.create(
                    document_set=row, system=system, is_summary=True, target_words=target, text=TEXT
                )
                Unit.objects.create(summary=summary, position=1, start=0, end=len(TEXT))
                Comparison.objects.create(summary=summary, reference=reference)
        world.sets[name] = row
        made.append(row)
    return made


def open_queue(world: World, per_set: int = 1) -> None:
    world.project.assessors_per_set = per_set
    world.project.save(update_fields=["assessors_per_set"])


def add_assessors(world: World, names: Sequence[str]) -> list[User]:
    people = []
    for name in names:
        user = User.objects.create_user(name, password=f"{name}-secret")
        Membership.objects.create(project=world.project, user=user, roles=[Role.ASSESSOR])
        world.users[name] = user
        people.append(user)
    return people


def only_these_sets(world: World, names: Sequence[str], **kinds: Sequence[int]) -> list[DocumentSet]:
    Check.objects.filter(project=world.project).delete()
    Claim.objects.all().delete()
    DocumentSet.objects.filter(project=world.project).delete()
    world.sets.clear()
    return add_sets(world, names, **kinds)


def assign_part(world: World, name: str, person: User, *systems: str) -> Assignment:
    assignment = assign(document_set=world.sets[name], assessor=person, by=None, seed=7)
    assignment.readings.exclude(comparison__summary__system__name__in=systems).delete()
    return Assignment.objects.get(pk=assignment.pk)


def begin(assignment: Assignment) -> None:
    reading = assignment.readings.order_by("position")[0]
    unit = reading.comparison.reference.units.order_by("position")[0]
    judge_unit(reading=reading, by=assignment.assessor, unit_id=unit.public_id, percent=20)


def judge_all(assignment: Assignment, *percents: int, marks: Sequence[int] = (1,)) -> None:
    for reading in assignment.readings.order_by("position"):
        units = reading.comparison.reference.units.order_by("position")
        for unit, percent in zip(units, cycle(percents), strict=False):
            said = {"percent": percent, "marks": marks if percent else ()}
            judge_unit(reading=reading, by=assignment.assessor, unit_id=unit.public_id, **said)


def judge_and_close(assignment: Assignment, *percents: int, marks: Sequence[int] = ()) -> Assignment:
    judge_all(assignment, *(percents or (20,)), marks=marks)
    return finish(assignment)
