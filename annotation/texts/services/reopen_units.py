"""The owner opens the units of a judged summary again, knowing what that undoes.

A percent holds for a unit as it was cut, and a mark for a number, so neither survives another cut. Nothing is
deleted: the judgments stay as rows that are not current, adjudicated percents are withdrawn, and an answer on
the unmarked units gives way to a row without one that keeps the quality answers. A set is submitted as a whole;
so one that was closed is opened again as a whole for its assessor: everything else that they said in it is kept
as a draft and counts when they close it anew. By then they may have seen what others said, which is why the
sitting says when it was opened again. What a published table says cannot be said again by anybody, so its units
are never opened. Answers to checks stand, since they are about words; their evidence follows these.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation.core.events import log
from annotation.core.notices import tell_of_work
from annotation.core.permissions import Verb, has_sight, require
from annotation.core.refusals import Conflict
from annotation.models import (
    Adjudication,
    Assignment,
    Notice,
    Sitting,
    Summary,
    SummaryJudgment,
    UnitChange,
    UnitJudgment,
)
from annotation.scoring.rescore import rescore_now
from annotation.texts.queries.unit_locks import Dropped, dropped_by_reopening
from annotation.texts.queries.unit_texts import keep_apart
from annotation.texts.services.change_units import hold, load_forms_anew

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.contrib.auth.models import User


@transaction.atomic
def reopen_units(*, summary: Summary, by: User | None, expected: int) -> Dropped:
    """Open the units of a judged summary again; what that undid. Where nothing is judged it changes nothing.

    `expected` is the number of statements of people that, as `by` was told, will no longer count: where it is
    another one by now, Conflict (code `newer_judgments`) carries both numbers. Raises Conflict (code
    `published`) where a published table speaks of the units, NotAllowed to everybody but owners who have no
    open assessor work in the project.
    """
    project = summary.document_set.project
    require(by, project, Verb.REOPEN_UNITS)
    keep_apart(by, summary)
    held = hold(summary)
    dropped = dropped_by_reopening(summary)
    if dropped.is_published:
        raise Conflict(
            "A published table refers to these units. To split the summary differently, import it into a new "
            "project.",
            code="published",
        )
    if dropped.is_nothing:
        return dropped
    if expected != dropped.number:
        raise Conflict(
            f"Not {expected} but {dropped.number} judgments would no longer count now. Check the consequences "
            "again.",
            code="newer_judgments",
            details={"yours": expected, "theirs": dropped.number},
        )
    UnitChange.objects.create(summary=summary, kind=UnitChange.Kind.REOPEN, by=by)
    _supersede(dropped)
    concerned = {reading.sitting_id for reading in dropped.readings}
    sittings = [sitting for sitting in held if sitting.pk in concerned]
    reopened = [sitting for sitting in sittings if sitting.closed_at is not None]
    _open_again(reopened)
    load_forms_anew(sittings)
    _rescore(summary, reopened)
    log(
        project=project,
        actor=by,
        verb="reopen units",
        target=summary,
        data={
            "judgments": len(dropped.judgments),
            "answers": len(dropped.answers),
            "decisions": len(dropped.decisions),
            "evidence": dropped.evidence,
            "assessors": list(dropped.assessors),
        },
    )
    for sitting in reopened:
        log(
            project=project,
            actor=by,
            verb="reopen sitting",
            target=sitting,
            data={
                "assessor": sitting.assessor.username,
                "document_set": summary.document_set.external_id,
                "summary": summary.public_id,
            },
        )
    tell_of_work(
        project=project,
        sets=Counter(sitting.assessor_id for sitting in reopened),
        by=by,
        kind=Notice.Kind.REOPENED,
        did="opened again",
        more=" that you had closed, because its units changed",
    )
    return dropped


def _supersede(dropped: Dropped) -> None:
    """Everything stays as a row; what holds for the old cut is no longer current."""
    UnitJudgment.objects.filter(pk__in=dropped.judgments).update(is_current=False)
    Adjudication.objects.filter(pk__in=dropped.decisions).update(withdrawn_at=timezone.now())
    answers = list(SummaryJudgment.objects.filter(pk__in=dropped.answers).order_by("pk"))
    SummaryJudgment.objects.filter(pk__in=dropped.answers).update(is_current=False)
    SummaryJudgment.objects.bulk_create(
        SummaryJudgment(
            sitting_id=answer.sitting_id,
            peer_id=answer.peer_id,
            quality_answers=answer.quality_answers,
            guideline_id=answer.guideline_id,
        )
        for answer in answers
    )


def _open_again(sittings: Sequence[Sitting]) -> None:
    now = timezone.now()
    for sitting in sittings:
        # It stays with its assessor: nobody else could take up what they said.
        sitting.closed_at, sitting.reopened_at = None, now
        if has_sight(sitting.assessor, sitting.document_set.project):
            # It was closed, so they could look. What they said before stands as blind (`GIVEN_BLIND`).
            sitting.may_have_seen = True
        sitting.save(update_fields=["closed_at", "reopened_at", "may_have_seen"])
    submitted = Assignment.objects.filter(sitting__in=sittings, state=Assignment.State.SUBMITTED)
    submitted.update(state=Assignment.State.DRAFT)


def _rescore(summary: Summary, reopened: Iterable[Sitting]) -> None:
    """The summary, what is compared with it, and all that the sets that were opened again had submitted on."""
    peers = Summary.objects.filter(is_peer=True)
    of_sets = peers.filter(comparisons_as_peer__assignments__sitting__in=list(reopened))
    compared = peers.filter(comparisons_as_peer__model=summary)
    keys = {
        *of_sets.values_list("pk", flat=True),
        *compared.values_list("pk", flat=True),
        *peers.filter(pk=summary.pk).values_list("pk", flat=True),
    }
    rescore_now(project=summary.document_set.project, summary_ids=sorted(keys))
