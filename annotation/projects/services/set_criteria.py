"""Replacing the criteria of a project."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.utils import timezone

from annotation.analysis.leaderboard.values import ESTIMATED, VERSIONS
from annotation.core.criteria import criteria_in_force
from annotation.core.refusals import Conflict, Invalid
from annotation.models import SCORES, CoverageJudgment, Criterion, Dispute, Sample, SampledRating
from annotation.scoring.own_scores import COMPOSITE
from evaluation.metrics import MOST_JUDGED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from annotation.models import Project
    from evaluation import metrics

MOST_CRITERIA = 40


def set_criteria(project: Project, criteria: Sequence[metrics.Criterion]) -> list[object] | None:
    """Replace the project's own criteria, in this order.

    Returns the lists of names before and after, or None if nothing changes. The caller must have locked the project. A
    changed criterion becomes a new version, and an omitted criterion is retired; both keep their ratings. Raises
    Invalid (field `criteria`) for an unusable criterion. Raises Conflict (code `judged`) if a question for people is
    added before the reference, but assessors have judged units in open sets.
    """
    before = list(criteria_in_force(project))
    standing = {row.fact: row for row in before}
    rows: list[Criterion] = []
    for number, fact in enumerate(criteria, start=1):
        row = standing.pop(fact, None)
        rows.append(_new(project, number, fact) if row is None else row)
    if rows == before:
        return None
    _check(project, rows)
    now = timezone.now()
    retired = [row.pk for row in standing.values()]
    Criterion.objects.filter(pk__in=retired).update(retired_at=now)
    Dispute.objects.filter(criterion__in=retired).delete()
    unfinished = SampledRating.objects.filter(sample__criterion__in=retired, rating=None).values("sample")
    Sample.objects.filter(pk__in=unfinished, cancelled_at=None).update(cancelled_at=now)
    versions = dict(project.criteria.order_by("version").values_list("name", "version"))
    for position, row in enumerate(rows, start=1):
        row.position = position
        if row._state.adding:
            row.version = versions.get(row.name, 0) + 1
        row.save()
    return [[row.name for row in before], [row.name for row in rows]]


def _new(project: Project, number: int, fact: metrics.Criterion) -> Criterion:
    row = Criterion(project=project, **asdict(fact))
    try:
        row.full_clean(validate_unique=False, validate_constraints=False)
    except ValidationError as error:
        raise Invalid(f"Question {number}: {' '.join(error.messages)}", field="criteria") from error
    return row


def _check(project: Project, rows: Sequence[Criterion]) -> None:
    names = [row.name for row in rows]
    if len(names) > MOST_CRITERIA:
        raise Invalid(
            f"There are {len(names)} questions; at most {MOST_CRITERIA} can be asked.", field="criteria"
        )
    for row in rows:
        if names.count(row.name) > 1:
            raise Invalid(f"Two questions are named “{row.name}”; each needs its own name.", field="criteria")
        is_score = row.name in (*SCORES, *VERSIONS, COMPOSITE) or row.name.endswith(ESTIMATED)
        if is_score or row.scale == Criterion.Scale.SHARE:
            raise Invalid(f"“{row.name}” is a score. Choose another name or scale.", field="criteria")
        if row.reads == Criterion.Reads.UNMARKED and row.answered_by != Criterion.AnsweredBy.PEOPLE:
            raise Invalid(f"“{row.name}” is about units that only people mark.", field="criteria")
    judged = sum(row.answered_by != Criterion.AnsweredBy.PEOPLE for row in rows)
    if judged > MOST_JUDGED:
        raise Invalid(
            f"There are {judged} questions for judges; at most {MOST_JUDGED} can be asked.", field="criteria"
        )
    is_new_before = any(
        row._state.adding
        and row.asked == Criterion.Asked.BEFORE
        and row.answered_by != Criterion.AnsweredBy.JUDGE
        for row in rows
    )
    started = CoverageJudgment.objects.filter(
        reading__assignment__document_set__project=project,
        reading__assignment__closed_at__isnull=True,
        reading__assignment__unassigned_at__isnull=True,
    )
    if is_new_before and started.exists():
        raise Conflict(
            "Document sets have been started whose assessors have seen references already, and these "
            "questions come before those. Change the questions when the open sets are closed or unassigned.",
            code="judged",
        )
