"""An assessor closes a sitting: everything in it is submitted and counts from now on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation.assessing.queries.progress import AssessingProgress, SittingProgress
from annotation.assessing.services.act_turn import check_open
from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid, NotFound
from annotation.models import Assignment, Sitting, Summary, SummaryJudgment
from annotation.scoring.rescore import rescore_now

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User

    from annotation.assessing.queries.progress import JudgedComparison, PeerReading

MISSING_WORDS = {
    "quality": ("quality question has no answer yet", "quality questions have no answer yet"),
    "units": ("model unit has no percent yet", "model units have no percent yet"),
    "unmarked": (
        "question of the unmarked peer units has no answer yet",
        "questions of the unmarked peer units have no answer yet",
    ),
}
"""What a set can lack, in the order in which an assessor comes to it."""


@transaction.atomic
def close_sitting(*, sitting: Sitting, by: User) -> Sitting:
    """Submit everything in a sitting; its percents count from now on. Twice changes nothing.

    Where no peer unit is unmarked, the answer 0 to the question of them is written down. Raises Invalid (code
    `incomplete`) with what is missing by assignment (`missing`: the stage and how much) and the assignment to
    go to (`go_to`); Conflict (code `unassigned`) and NotFound where the sitting is no longer the person's.
    """
    project = sitting.document_set.project
    require(by, project, Verb.ASSESS)
    sitting = (
        Sitting.objects.select_for_update(of=("self",)).select_related("document_set").get(pk=sitting.pk)
    )
    sitting.document_set.project = project
    if sitting.assessor_id != by.pk:
        raise NotFound("There is no such assignment.")
    if sitting.closed_at is not None:
        return sitting
    check_open(sitting)
    progress = AssessingProgress.read(project, [sitting.pk])
    progress.load_marks(progress.readings())
    here = progress.of(sitting.pk)
    _check_complete(here)
    _answer_by_rule(sitting, [each for each in here.readings.values() if each.unmarked_gate == "rule"])
    now = timezone.now()
    sitting.closed_at, sitting.lease_until = now, None
    sitting.save(update_fields=["closed_at", "lease_until"])
    sitting.assignments.update(state=Assignment.State.SUBMITTED, submitted_at=now)
    peer_ids = sorted({reading.peer_id for reading in here.readings.values()})
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


def _check_complete(here: SittingProgress) -> None:
    missing = {piece.assignment_id: what for piece in here.pieces.values() if (what := _missing(piece))}
    if not missing:
        return
    told = [_in_words(stage, [n for each, n in missing.values() if each == stage]) for stage in MISSING_WORDS]
    raise Invalid(
        f"{', '.join(words for words in told if words)}, in {len(missing)} of {len(here.pieces)} summaries. "
        "Complete these, then close the set.",
        code="incomplete",
        details={
            "missing": {key: {"stage": stage, "count": n} for key, (stage, n) in missing.items()},
            "go_to": next(iter(missing)),
        },
    )


def _missing(piece: JudgedComparison) -> tuple[str, int] | None:
    """The stage at which a comparison stands and how much is missing there; None where nothing is.

    Nothing is told of what comes after the stage: not even how many units a model summary has.
    """
    match piece.gates.stage:
        case "quality":
            return ("quality", len(piece.reading.unanswered)) if piece.is_first else None
        case "units":
            return "units", piece.total - piece.judged
        case "unmarked":
            return "unmarked", 1
        case "done":
            return None


def _in_words(stage: str, counts: Sequence[int]) -> str:
    one, several = MISSING_WORDS[stage]
    total = sum(counts)
    return f"{total} {one if total == 1 else several}" if total else ""


def _answer_by_rule(sitting: Sitting, readings: Sequence[PeerReading]) -> None:
    """Write down that nothing of what is unmarked is related where nothing is unmarked."""
    stale = [reading for reading in readings if reading.unmarked_percent != 0]
    if not stale:
        return
    peers = [reading.peer_id for reading in stale]
    SummaryJudgment.objects.filter(peer__in=peers, sitting=sitting, is_current=True).update(is_current=False)
    SummaryJudgment.objects.bulk_create(
        SummaryJudgment(
            sitting=sitting,
            peer_id=reading.peer_id,
            quality_answers=reading.answers,
            unmarked_percent=0,
            guideline_id=sitting.guideline_id,
        )
        for reading in stale
    )
