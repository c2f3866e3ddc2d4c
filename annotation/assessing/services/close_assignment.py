from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation.assessing.queries.progress import AssessingProgress, AssignmentProgress
from annotation.assessing.services.open_assignment import check_open
from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid, NotFound
from annotation.models import Assignment, Rating, Reading, Summary
from annotation.scoring.rescore import rescore_now

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.contrib.auth.models import User

    from annotation.assessing.queries.progress import JudgedComparison, SummaryState

MISSING_WORDS = {
    "before": ("question about a summary has no answer yet", "questions about summaries have no answer yet"),
    "units": ("reference unit has no percent yet", "reference units have no percent yet"),
    "after": ("question at the end has no answer yet", "questions at the end have no answer yet"),
}
"""The words for one and for several missing answers, by stage in the order of the protocol."""


@transaction.atomic
def close_assignment(*, assignment: Assignment, by: User) -> Assignment:
    """Submit everything in an assignment, so that its percents count. A second call changes nothing.

    If all summary units are marked, the lowest answer to questions about unmarked units is stored.

    Raises Invalid (code `incomplete`) if answers are missing. In its details, `missing` has the stage and the number of
    missing answers by reading, and `go_to` is the first such reading. Raises Conflict (code `unassigned`) for an
    unassigned set, NotFound for another person's assignment, and the errors of `require`.
    """
    project = assignment.document_set.project
    require(by, project, Verb.ASSESS)
    assignment = (
        Assignment.objects.select_for_update(of=("self",))
        .select_related("document_set")
        .get(pk=assignment.pk)
    )
    assignment.document_set.project = project
    if assignment.assessor_id != by.pk:
        raise NotFound("There is no such assignment.")
    if assignment.closed_at is not None:
        return assignment
    check_open(assignment)
    progress = AssessingProgress.read(project, [assignment.pk])
    progress.load_marks(progress.summaries())
    here = progress.of(assignment.pk)
    _check_complete(here)
    _answer_by_rule(assignment, here.summaries.values())
    now = timezone.now()
    assignment.closed_at, assignment.lease_until = now, None
    assignment.save(update_fields=["closed_at", "lease_until"])
    assignment.readings.update(state=Reading.State.SUBMITTED, submitted_at=now)
    summary_ids = sorted({summary.summary_id for summary in here.summaries.values()})
    list(Summary.objects.select_for_update().filter(pk__in=summary_ids).order_by("pk").only("pk"))
    rescore_now(project=project, summary_ids=summary_ids)
    log(
        project=project,
        actor=by,
        verb="close assignment",
        target=assignment,
        data={"document_set": assignment.document_set.external_id, "summaries": len(summary_ids)},
    )
    return assignment


def _check_complete(here: AssignmentProgress) -> None:
    missing = {piece.reading_id: what for piece in here.pieces.values() if (what := _missing(piece))}
    if not missing:
        return
    parts = [
        _in_words(stage, [n for each, n in missing.values() if each == stage]) for stage in MISSING_WORDS
    ]
    raise Invalid(
        f"{', '.join(words for words in parts if words)}, in {len(missing)} of {len(here.pieces)} summaries. "
        "Complete these, then close the set.",
        code="incomplete",
        details={
            "missing": {key: {"stage": stage, "count": n} for key, (stage, n) in missing.items()},
            "go_to": next(iter(missing)),
        },
    )


def _missing(piece: JudgedComparison) -> tuple[str, int] | None:
    """Criteria before the reference are counted only in the first comparison of a summary."""
    match piece.gates.stage:
        case "before":
            return ("before", len(piece.summary.unanswered("before"))) if piece.is_first else None
        case "units":
            return "units", piece.total - piece.judged
        case "after":
            return "after", len(piece.summary.unanswered("after"))
        case "done":
            return None


def _in_words(stage: str, counts: Sequence[int]) -> str:
    one, several = MISSING_WORDS[stage]
    total = sum(counts)
    return f"{total} {one if total == 1 else several}" if total else ""


def _answer_by_rule(assignment: Assignment, summaries: Iterable[SummaryState]) -> None:
    Rating.objects.bulk_create(
        Rating(
            criterion=criterion,
            summary_id=summary.summary_id,
            role=Rating.Role.ASSESSOR,
            person_id=assignment.assessor_id,
            assignment=assignment,
            value=lowest,
            version=summary.versions.get(criterion.pk, 0) + 1,
            guideline_id=assignment.guideline_id,
            had_seen=assignment.may_have_seen,
        )
        for summary in summaries
        for criterion in summary.criteria
        if summary.is_by_rule(criterion)
        and summary.answers.get(criterion.pk) != (lowest := criterion.fact.values[0])
    )
