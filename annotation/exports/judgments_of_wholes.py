"""Answers to closed questions, and ratings of whole summaries, for the level `judgments`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Q, QuerySet

from annotation.exports.judgment import Judgment
from annotation.models import (
    QuestionAnswer,
    Rating,
)

if TYPE_CHECKING:
    from annotation.models import Project


class _AnswerRow(NamedTuple):
    pk: int
    peer_id: int | None
    document_id: str
    question: str
    is_retired: bool
    judge_id: int
    judge: str
    label: str | None
    evidence: list[int]
    created_at: datetime


def _answer_rows(answers: QuerySet[QuestionAnswer]) -> list[_AnswerRow]:
    return [
        _AnswerRow(*row)
        for row in answers.annotate(is_retired=Q(question__retired_at__isnull=False))
        .order_by("question__position", "pk")
        .values_list(
            "pk",
            "summary_id",
            "question__document_set__external_id",
            "question__public_id",
            "is_retired",
            "judge_id",
            "judge__name",
            "label",
            "evidence",
            "created_at",
        )
    ]


def source_answers(project: Project, document_ids: set[str]) -> dict[str, list[Judgment]]:
    """What sources answer, by their document set's name."""
    rows = _answer_rows(
        QuestionAnswer.objects.filter(
            summary=None,
            question__document_set__project=project,
            question__document_set__external_id__in=document_ids,
        )
    )
    found: dict[str, list[Judgment]] = defaultdict(list)
    for row, judgment in zip(rows, _answers(rows), strict=True):
        found[row.document_id].append(judgment)
    return found


def summary_answers(peer_ids: Sequence[int]) -> Iterator[Judgment]:
    return _answers(_answer_rows(QuestionAnswer.objects.filter(summary_id__in=peer_ids)))


def _answers(rows: Sequence[_AnswerRow]) -> Iterator[Judgment]:
    last: dict[tuple[int | None, str, int], _AnswerRow] = {}
    for row in rows:
        before = last.get((row.peer_id, row.question, row.judge_id))
        if row.label is not None or before is None or before.label is None:
            last[row.peer_id, row.question, row.judge_id] = row
    standing = {row.pk for row in last.values()}
    for row in rows:
        yield Judgment(
            peer_id=row.peer_id or 0,
            kind="question",
            claim_id=row.question,
            rater=row.judge,
            rater_kind="judge",
            value=row.label,
            evidence=row.evidence,
            submitted_at=row.created_at,
            superseded=row.is_retired or row.pk not in standing,
        )


class _RatingRow(NamedTuple):
    pk: int
    peer_id: int
    name: str
    judge: str | None
    origin_name: str
    value: float | None
    created_at: datetime


def ratings(peer_ids: Sequence[int]) -> Iterator[Judgment]:
    rows = [
        _RatingRow(*row)
        for row in Rating.objects.filter(summary_id__in=peer_ids)
        .order_by("pk")
        .values_list("pk", "summary_id", "name", "judge__name", "origin_name", "value", "created_at")
    ]
    last: dict[tuple[int, str, str | None], _RatingRow] = {}
    for row in rows:
        before = last.get((row.peer_id, row.name, row.judge))
        if row.value is not None or before is None or before.value is None:
            last[row.peer_id, row.name, row.judge] = row
    standing = {row.pk for row in last.values()}
    for row in rows:
        yield Judgment(
            peer_id=row.peer_id,
            kind="rating",
            claim_id=row.name,
            rater=row.judge or row.origin_name,
            rater_kind="judge" if row.judge else "computed",
            value=None if row.value is None else f"{row.value:.6g}",
            submitted_at=row.created_at,
            superseded=row.pk not in standing,
        )
