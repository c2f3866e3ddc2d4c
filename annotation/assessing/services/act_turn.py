"""Whose turn it is in an assignment: who may write, which form has the pen, and which of its acts are new.

A form numbers its acts in each assignment, and has the pen while its acts are the last ones heard. Every refusal
here tells what the server holds (`theirs`) and what was sent (`yours`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING

from django.db.models import Max
from django.utils import timezone

from annotation.assessing.queries.progress import AssessingProgress, SummaryState
from annotation.assessing.services.act_rows import take_turn
from annotation.assessing.services.acts import Act, QualityAct, UnitAct, UnmarkedAct
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, NotFound
from annotation.core.shared.clock import shared_now
from annotation.models import Assignment, SummaryJudgment, UnitJudgment
from annotation.models.assignment import UNITS_CHANGED

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project


def may_write(assignment: Assignment, by: User) -> None:
    """Refuse unless the assignment is the person's own and still open. Raises as `save_acts`."""
    enter(assignment, by)
    check_open(assignment)


def last_saved(assignment: Assignment, client_id: str) -> int:
    """The greatest number among the acts of this form that have rows in the assignment; 0 where there is none."""
    of_units = UnitJudgment.objects.filter(reading__assignment=assignment, client_id=client_id)
    of_peers = SummaryJudgment.objects.filter(assignment=assignment, client_id=client_id)
    numbers = (rows.order_by().aggregate(last=Max("seq"))["last"] for rows in (of_units, of_peers))
    return max(number or 0 for number in numbers)


def lease_end(project: Project) -> datetime:
    """Until when a set is held by somebody who works at it now: all processes go by one clock."""
    return shared_now() + timedelta(minutes=project.lease_minutes)


def lease(assignment: Assignment) -> dict[str, datetime]:
    """The columns that an act or sign of life renews."""
    worked = {"worked_at": timezone.now()}
    if assignment.lease_until is None:
        return worked
    return {**worked, "lease_until": lease_end(assignment.document_set.project)}


def enter(assignment: Assignment, by: User) -> None:
    if assignment.assessor_id != by.pk:
        raise NotFound("There is no such assignment.")
    require(by, assignment.document_set.project, Verb.ASSESS)


def check_open(assignment: Assignment) -> None:
    """Refuse an assignment that takes no more judgments. Raises Conflict (codes `closed`, `unassigned`)."""
    if assignment.closed_at is not None:
        raise Conflict("This document set is closed, so its judgments cannot be changed.", code="closed")
    if assignment.unassigned_at is not None:
        raise Conflict(
            "This document set is no longer assigned to you. Your judgments are kept. If it returned to the queue, "
            "resume it from My work.",
            code="unassigned",
        )


def not_heard(assignment: Assignment, client_id: str, acts: Sequence[Act]) -> Sequence[Act]:
    """Those of the acts that have not been heard yet, of which the first is the next one. Raises Conflict."""
    heard = _heard(assignment, client_id, acts)
    fresh = [act for act in acts if act.seq > heard]
    if len(fresh) < len(acts):
        _check_repeated(assignment, client_id, acts[: len(acts) - len(fresh)])
    if not fresh:
        return fresh
    _check_still_open(assignment, fresh)
    for expected, act in zip(count(heard + 1), fresh, strict=False):
        if act.seq != expected:
            gap = Conflict(
                f"Act {expected} has not arrived, so act {act.seq} was not saved. Send all from {expected} on.",
                code="gap",
                details={"expected": expected},
            )
            raise _with_both(gap, assignment, fresh)
    return fresh


def _check_repeated(assignment: Assignment, client_id: str, acts: Sequence[Act]) -> None:
    """Raise Conflict where a number comes again with something else: two tabs gave it to two different acts."""
    numbers = [act.seq for act in acts]
    rows = UnitJudgment.objects.filter(reading__assignment=assignment, client_id=client_id, seq__in=numbers)
    judged = {
        seq: (reading, unit or claim, percent, marks, note)
        for seq, reading, unit, claim, percent, marks, note in rows.values_list(
            "seq",
            "reading__public_id",
            "unit__public_id",
            "claim__public_id",
            "percent",
            "marks",
            "note",
        )
    }
    summaries = SummaryJudgment.objects.filter(assignment=assignment, client_id=client_id, seq__in=numbers)
    answered = {row.seq: row for row in summaries}
    # An act that was refused left no row: nothing tells what it said.
    others = [act for act in acts if not _is_the_same(act, judged.get(act.seq), answered.get(act.seq))]
    if others:
        told = "This set is open in two tabs with judgments at the same time."
        raise _with_both(
            Conflict(told, code="elsewhere", details={"pen": assignment.pen}), assignment, others
        )


def _is_the_same(act: Act, judged: tuple[object, ...] | None, answered: SummaryJudgment | None) -> bool:
    """Whether what was kept under the number of an act is that act, as far as anything was kept."""
    match act:
        case UnitAct():
            said = (
                act.reading_id,
                act.unit_id,
                act.percent,
                sorted(set(act.marks)),
                act.note.strip(),
            )
            return answered is None and judged in (None, said)
        case QualityAct():
            return judged is None and (
                answered is None or answered.quality_answers.get(act.question) == act.answer
            )
        case UnmarkedAct():
            return judged is None and (answered is None or answered.unmarked_percent == act.percent)


def _heard(assignment: Assignment, client_id: str, acts: Sequence[Act]) -> int:
    """The number up to which the form has been heard. Raises Conflict where another one has the pen."""
    if assignment.pen == client_id:
        return assignment.pen_seq
    last = last_saved(assignment, client_id)
    if assignment.pen == "" or acts[-1].seq <= last:
        return last
    fresh = [act for act in acts if act.seq > last]
    # Who has the pen of a set that is over helps nobody.
    _check_still_open(assignment, fresh)
    told = "This set was opened in another tab or on another device. Continue there."
    if assignment.pen.startswith(UNITS_CHANGED):
        told = "Units in this set were joined or split. Reload the page."
    elsewhere = Conflict(told, code="elsewhere", details={"pen": assignment.pen})
    raise _with_both(elsewhere, assignment, fresh)


def _check_still_open(assignment: Assignment, fresh: Sequence[Act]) -> None:
    try:
        check_open(assignment)
    except Conflict as refusal:
        raise _with_both(refusal, assignment, fresh) from None


def hear(assignment: Assignment, client_id: str, seq: int, *, if_unheard: bool = False) -> bool:
    """Take the turn: one update that holds the assignment's row to the end of the transaction."""
    renewed = lease(assignment)
    return take_turn(assignment, pen=client_id, seq=seq, renewed=renewed, if_unheard=if_unheard)


def busy() -> Conflict:
    return Conflict("Other changes to this set are being saved. Try again.", code="busy")


def _with_both(refusal: Conflict, assignment: Assignment, acts: Sequence[Act]) -> Conflict:
    """The refusal with what stands on the server of what the acts touch, and the acts."""
    details = {"theirs": _standing(assignment, acts), "yours": [act.as_json() for act in acts]}
    return Conflict(refusal.message, code=refusal.code, details={**refusal.details, **details})


def _standing(assignment: Assignment, acts: Sequence[Act]) -> list[dict[str, object]]:
    """What the server holds of everything that the acts touch, as acts without a number."""
    said = UnitJudgment.objects.filter(reading__assignment=assignment, is_current=True)
    rows = said.filter(reading__public_id__in={act.reading_id for act in acts}).order_by("pk")
    judged = {
        (reading, unit or claim): UnitAct(0, reading, unit or claim, percent, marks, note)
        for reading, unit, claim, percent, marks, note in rows.values_list(
            "reading__public_id", "unit__public_id", "claim__public_id", "percent", "marks", "note"
        )
    }
    pieces = AssessingProgress.read(assignment.document_set.project, [assignment.pk]).of(assignment.pk).pieces
    theirs: list[Act] = []
    for act in acts:
        piece = pieces.get(act.reading_id)
        if piece is not None and (stands := _stands(act, piece.summary, judged)) not in theirs:
            theirs.append(stands)
    return [act.as_json() for act in theirs]


def _stands(act: Act, summary: SummaryState, judged: Mapping[tuple[str, str], UnitAct]) -> Act:
    match act:
        case UnitAct():
            nothing = UnitAct(0, act.reading_id, act.unit_id, None)
            return judged.get((act.reading_id, act.unit_id), nothing)
        case QualityAct():
            return QualityAct(0, act.reading_id, act.question, summary.answers.get(act.question))
        case UnmarkedAct():
            return UnmarkedAct(0, act.reading_id, summary.unmarked_percent)
