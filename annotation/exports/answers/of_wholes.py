"""Answers to closed questions, and ratings of whole summaries, for the level `answers`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet

from annotation.exports.answers.answer import ExportedAnswer, standing_among
from annotation.exports.statements import rater
from annotation.models import QuestionAnswer, Rating

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project


def _answer_rows(answers: QuerySet[QuestionAnswer]) -> Any:
    return answers.order_by("question__position", "pk").values_list(
        "pk",
        "summary_id",
        "question__document_set__external_id",
        "question__public_id",
        "question__retired_at",
        "judge_id",
        "judge__name",
        "label",
        "evidence",
        "created_at",
        named=True,
    )


def source_answers(project: Project, document_ids: set[str]) -> dict[str, list[ExportedAnswer]]:
    """What sources answer, by their document set's name."""
    rows = _answer_rows(
        QuestionAnswer.objects.filter(
            summary=None,
            question__document_set__project=project,
            question__document_set__external_id__in=document_ids,
        )
    )
    found: dict[str, list[ExportedAnswer]] = defaultdict(list)
    for row, judgment in zip(rows, _answers(rows), strict=True):
        found[row.question__document_set__external_id].append(judgment)
    return found


def summary_answers(peer_ids: Sequence[int]) -> Iterator[ExportedAnswer]:
    return _answers(_answer_rows(QuestionAnswer.objects.filter(summary_id__in=peer_ids)))


def _answers(rows: Any) -> Iterator[ExportedAnswer]:
    standing = standing_among(
        (row.pk, (row.summary_id, row.question__public_id, row.judge_id), row.label is not None)
        for row in rows
    )
    for row in rows:
        yield ExportedAnswer(
            peer_id=row.summary_id or 0,
            kind="question",
            claim_id=row.question__public_id,
            rater=row.judge__name,
            rater_kind="judge",
            value=row.label,
            evidence=row.evidence,
            submitted_at=row.created_at,
            superseded=row.question__retired_at is not None or row.pk not in standing,
        )


def ratings(peer_ids: Sequence[int], people: People) -> Iterator[ExportedAnswer]:
    """What people and judges answered to criteria; nothing of an open assignment."""
    rows: Any = (
        Rating.objects.filter(summary_id__in=peer_ids)
        .exclude(assignment__isnull=False, assignment__closed_at__isnull=True)
        .order_by("pk")
        .values_list(
            "pk",
            "summary_id",
            "criterion_id",
            "criterion__name",
            "criterion__retired_at",
            "role",
            "judge__name",
            "person_id",
            "person__username",
            "origin_name",
            "value",
            "evidence",
            "created_at",
            "withdrawn_at",
            "had_seen",
            "assignment__may_have_seen",
            "assignment__closed_at",
            "guideline__version",
            named=True,
        )
    )
    # A person's empty answer takes back the one before it, a judge's does not.
    standing = standing_among(
        (
            row.pk,
            (row.summary_id, row.criterion_id, row.judge__name or row.person_id or row.origin_name),
            row.value is not None or row.role != Rating.Role.JUDGE,
        )
        for row in rows
        if row.criterion__retired_at is None and row.withdrawn_at is None
    )
    for row in rows:
        if row.value is None and row.role != Rating.Role.JUDGE:
            continue
        yield ExportedAnswer(
            peer_id=row.summary_id,
            kind="rating",
            claim_id=row.criterion__name,
            rater=rater(
                people,
                person_id=row.person_id,
                username=row.person__username,
                judge=row.judge__name,
                origin_name=row.origin_name,
            ),
            rater_kind=row.role,
            value=None if row.value is None else f"{row.value:.6g}",
            evidence=row.evidence,
            submitted_at=row.assignment__closed_at or row.created_at,
            superseded=row.pk not in standing,
            guideline_version=row.guideline__version,
            blind=not (row.had_seen or row.assignment__may_have_seen) if row.person_id else None,
        )
