"""An assessor judges model units in a sitting, and closes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation.models import Assignment, Claim, Project, Sitting, Summary, Unit, UnitJudgment
from annotation.permissions import Verb, require
from annotation.queries.units import unit_list
from annotation.refusals import Conflict, Invalid, NotFound
from annotation.services.events import log
from annotation.services.rescore import rescore_now

if TYPE_CHECKING:
    from django.contrib.auth.models import User

PERCENT_STEP = {
    Project.PercentScale.SIX: 20,
    Project.PercentScale.FIVES: 5,
    Project.PercentScale.FREE: 1,
}


@transaction.atomic
def judge_unit(
    *,
    assignment: Assignment,
    by: User,
    unit_id: str,
    percent: int | None,
    marks: Sequence[int] = (),
    note: str = "",
    client_id: str = "",
    seq: int = 0,
) -> UnitJudgment:
    """Save one act of the SEE form: the percent and marks of one model unit.

    A draft may lack the percent. The row before it is kept and no longer current. The same act
    (client id and sequence number) arriving twice is saved once. Nothing is scored before the
    sitting is closed. `unit_id` is the public id of a unit, or of a claim that stands in for one;
    `marks` are numbers of peer units.
    """
    sitting = _open_sitting(assignment, by)
    if client_id:
        earlier = UnitJudgment.objects.filter(assignment=assignment, client_id=client_id, seq=seq).first()
        if earlier is not None:
            return earlier
    unit = _unit_of(assignment, unit_id)
    _validate(assignment, percent=percent, marks=marks, scale=sitting.document_set.project.percent_scale)
    place = {"unit": unit} if isinstance(unit, Unit) else {"claim": unit}
    current = UnitJudgment.objects.filter(assignment=assignment, is_current=True, **place)
    current.update(is_current=False)
    judgment = UnitJudgment.objects.create(
        assignment=assignment,
        percent=percent,
        marks=sorted(set(marks)),
        note=note.strip(),
        client_id=client_id,
        seq=seq,
        **place,
    )
    if assignment.state == Assignment.State.OPEN:
        assignment.state = Assignment.State.DRAFT
        assignment.save(update_fields=["state"])
    return judgment


@transaction.atomic
def close_sitting(*, sitting: Sitting, by: User) -> Sitting:
    """Submit everything in a sitting; its percents count from now on. Twice changes nothing.

    Raises Invalid (code `incomplete`) with what is missing: a submission may not be incomplete.
    """
    project = sitting.document_set.project
    require(by, project, Verb.ASSESS)
    sitting = Sitting.objects.select_for_update().get(pk=sitting.pk)
    if sitting.assessor_id != by.pk:
        raise NotFound("There is no such sitting.")
    if sitting.closed_at is not None:
        return sitting
    assignments = list(
        sitting.assignments.exclude(state=Assignment.State.RECALLED).select_related("comparison__peer")
    )
    missing = {a.public_id: n for a in assignments if (n := _units_without_percent(a))}
    if missing:
        raise Invalid(
            f"{sum(missing.values())} model units have no percent yet, in {len(missing)} of "
            f"{len(assignments)} summaries. Judge them, then close the set.",
            code="incomplete",
            details={"missing": missing},
        )
    now = timezone.now()
    sitting.closed_at = now
    sitting.save(update_fields=["closed_at"])
    sitting.assignments.exclude(state=Assignment.State.RECALLED).update(
        state=Assignment.State.SUBMITTED, submitted_at=now
    )
    peer_ids = sorted({a.comparison.peer_id for a in assignments if a.comparison})
    list(Summary.objects.select_for_update().filter(pk__in=peer_ids).order_by("pk").only("pk"))
    rescore_now(project=project, summary_ids=peer_ids)
    log(
        project=project,
        actor=by,
        verb="close sitting",
        target=sitting,
        data={"document_set": sitting.document_set.external_id, "summaries": len(peer_ids)},
    )
    return sitting


def _open_sitting(assignment: Assignment, by: User) -> Sitting:
    """The assignment's sitting, with the assignment's row locked, if `by` may still write in it."""
    sitting = assignment.sitting
    if sitting is None or sitting.assessor_id != by.pk:
        raise NotFound("There is no such assignment.")
    require(by, sitting.document_set.project, Verb.ASSESS)
    locked = Assignment.objects.select_for_update().only("state").get(pk=assignment.pk)
    assignment.state = locked.state
    if locked.state in (Assignment.State.SUBMITTED, Assignment.State.RECALLED):
        raise Conflict(
            "This document set is closed, so its judgments can no longer be changed.", code="closed"
        )
    return sitting


def _unit_of(assignment: Assignment, unit_id: str) -> Unit | Claim:
    assert assignment.comparison is not None, "sittings hold comparisons only"
    for unit in unit_list(assignment.comparison.model):
        if unit.public_id == unit_id:
            return unit
    raise NotFound("There is no such model unit in this comparison.")


def _validate(assignment: Assignment, *, percent: int | None, marks: Sequence[int], scale: str) -> None:
    step = PERCENT_STEP[Project.PercentScale(scale)]
    if percent is not None and (not 0 <= percent <= 100 or percent % step):
        raise Invalid(f"A percent lies between 0 and 100 in steps of {step}.", field="percent")
    assert assignment.comparison is not None, "sittings hold comparisons only"
    peer_units = set(assignment.comparison.peer.units.values_list("position", flat=True))
    unknown = sorted(set(marks) - peer_units)
    if unknown:
        raise Invalid(f"The peer summary has no unit {unknown[0]}.", field="marks")


def _units_without_percent(assignment: Assignment) -> int:
    assert assignment.comparison is not None, "sittings hold comparisons only"
    judged = assignment.unit_judgments.filter(is_current=True, percent__isnull=False)
    units_judged = set(judged.values_list("unit_id", flat=True))
    claims_judged = set(judged.values_list("claim_id", flat=True))
    return sum(
        unit.pk not in (units_judged if isinstance(unit, Unit) else claims_judged)
        for unit in unit_list(assignment.comparison.model)
    )
