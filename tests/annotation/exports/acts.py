"""Answers of people, for the tests of exports."""

from collections.abc import Mapping
from datetime import UTC, datetime

from django.contrib.auth.models import User

from annotation.assessing.services.assign import assign
from annotation.assessing.services.save_acts import judge_unit
from annotation.models import Assignment, Comparison, CoverageJudgment, Verdict
from tests.annotation.cast import World, finish

LONG_AGO = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


def assess(
    world: World, assessor: User, percents: Mapping[tuple[str, int], int], *, document_set: str = "port"
) -> Assignment:
    assignment = assign(document_set=world.sets[document_set], assessor=assessor, by=world.mona)
    for (system, number), percent in percents.items():
        judge_unit(
            reading=assignment.readings.get(comparison=world.comparison(document_set, system)),
            by=assessor,
            unit_id=world.units(document_set)[number - 1].public_id,
            percent=percent,
            marks=[1],
        )
    return assignment


def assess_and_close(
    world: World, assessor: User, percents: Mapping[tuple[str, int], int], *, document_set: str = "port"
) -> None:
    finish(assess(world, assessor, percents, document_set=document_set))


def long_ago() -> None:
    for model in (Verdict, CoverageJudgment):
        model.objects.update(created_at=LONG_AGO)


def add_comparison(world: World, document_set: str, system: str) -> Comparison:
    other = "birch" if system == "alder" else "alder"
    model = world.summaries[document_set, other]
    model.is_reference, model.external_id = True, "second"
    model.save()
    return Comparison.objects.create(summary=world.summaries[document_set, system], reference=model)
