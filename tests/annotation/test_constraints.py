from collections.abc import Callable

import pytest
from django.db import IntegrityError, transaction

from annotation.models import (
    Assignment,
    Check,
    Claim,
    ClaimSet,
    Comparison,
    CoverageJudgment,
    Job,
    Reading,
    Run,
    Summary,
    Unit,
    Verdict,
)
from tests.annotation.cast import World

Attempt = Callable[[World], object]


def _assignment(world: World) -> Assignment:
    return Assignment.objects.create(assessor=world.ana, document_set=world.sets["port"])


def _judgment(world: World, **columns: object) -> CoverageJudgment:
    reading = Reading.objects.create(
        assignment=_assignment(world), comparison=world.comparison("port", "alder")
    )
    return CoverageJudgment.objects.create(
        role="assessor",
        person=reading.assignment.assessor,
        comparison=reading.comparison,
        reading=reading,
        **columns,
    )


def _run(world: World) -> Run:
    return Run.objects.create(project=world.project, judge=world.judge)


REFUSED: dict[str, Attempt] = {
    "a percent above 100": lambda w: _judgment(w, unit=w.units("port")[0], percent=101),
    "a judgment of no unit": lambda w: _judgment(w, percent=20),
    "a comparison with itself": lambda w: Comparison.objects.create(
        summary=w.summaries["port", "alder"], reference=w.summaries["port", "alder"]
    ),
    "a comparison made twice": lambda w: Comparison.objects.create(
        summary=w.summaries["port", "alder"], reference=w.references["port"]
    ),
    "a second summary of a system at one target": lambda w: Summary.objects.create(
        document_set=w.sets["port"], system=w.systems["alder"], is_summary=True, target_words=20, text="x"
    ),
    "a second reference under one name": lambda w: Summary.objects.create(
        document_set=w.sets["port"], is_reference=True, text="x"
    ),
    "a summary by nobody": lambda w: Summary.objects.create(
        document_set=w.sets["port"], is_summary=True, text="x"
    ),
    "a summary that is neither": lambda w: Summary.objects.create(document_set=w.sets["port"], text="x"),
    "a target of 0": lambda w: Summary.objects.create(
        document_set=w.sets["port"], system=w.systems["alder"], is_summary=True, target_words=0
    ),
    "an empty unit": lambda w: Unit.objects.create(summary=w.references["port"], position=9, start=3, end=3),
    "a unit of two texts": lambda w: Unit.objects.create(
        summary=w.references["port"], document=w.sets["port"].documents.get(), position=9, start=0, end=3
    ),
    "two active claim sets of a text": lambda w: ClaimSet.objects.create(
        summary=w.references["port"], origin="person", origin_name="cleo", version=2
    ),
    "a claim without words": lambda w: Claim.objects.create(
        claim_set=ClaimSet.objects.get(), position=9, text="", origin="person"
    ),
    "a check asked twice": lambda w: Check.objects.create(
        project=w.project,
        claim=w.check("alder", 1).claim,
        summary=w.summaries["port", "alder"],
        document_set=w.sets["port"],
        side="reference",
    ),
    "a verdict by nobody": lambda w: Verdict.objects.create(
        check_row=w.check("alder", 1), role="reviewer", label="yes"
    ),
    "a reviewer's verdict without a label": lambda w: Verdict.objects.create(
        check_row=w.check("alder", 1), role="reviewer", person=w.rex
    ),
    "a probability above 1": lambda w: Verdict.objects.create(
        check_row=w.check("alder", 1), role="judge", judge=w.judge, label="yes", probability=1.2
    ),
    "a decision by nobody": lambda w: Verdict.objects.create(
        check_row=w.check("alder", 1), role="adjudicator", origin_name="votes.jsonl", label="yes"
    ),
    "a decision on a unit without a percent": lambda w: CoverageJudgment.objects.create(
        role="adjudicator",
        comparison=w.comparison("port", "alder"),
        unit=w.units("port")[0],
        person=w.cleo,
    ),
    "an assessor's percent outside a reading": lambda w: CoverageJudgment.objects.create(
        role="assessor",
        comparison=w.comparison("port", "alder"),
        unit=w.units("port")[0],
        person=w.ana,
        percent=20,
    ),
    "two assignments of a person on a set": lambda w: (_assignment(w), _assignment(w)),
    "submitted work without a time": lambda w: Reading.objects.create(
        assignment=_assignment(w), comparison=w.comparison("port", "alder"), state="submitted"
    ),
    "work on nothing": lambda w: Reading.objects.create(assignment=_assignment(w)),
    "a working job without a lease": lambda w: Job.objects.create(
        kind="run", project=w.project, run=_run(w), document_set=w.sets["port"], state="working"
    ),
    "a job of nothing": lambda w: Job.objects.create(kind="run", project=w.project),
}


@pytest.mark.parametrize("what", REFUSED)
def test_the_database_refuses(world: World, what: str) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        REFUSED[what](world)


def test_public_ids_tell_nothing_of_the_order(world: World) -> None:
    ids = list(Check.objects.order_by("pk").values_list("public_id", flat=True))
    assert all(len(public_id) == 16 and public_id.isalnum() for public_id in ids)
    assert len(set(ids)) == len(ids)
