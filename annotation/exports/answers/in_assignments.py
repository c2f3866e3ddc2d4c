"""Percents for the level `answers`: assessors' and judges' shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from django.db.models import Q

from annotation.exports.answers.answer import ExportedAnswer
from annotation.models import (
    CoverageJudgment,
    Reading,
)
from annotation.scoring.judge_percents import judge_percents

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People


def unit_judgments(peer_ids: Sequence[int], people: People) -> Iterator[ExportedAnswer]:
    """Percents of closed assignments, and decisions; of these the last one that is not withdrawn stands."""
    given = (
        CoverageJudgment.objects.filter(
            Q(reading__state=Reading.State.SUBMITTED) | Q(role=CoverageJudgment.Role.ADJUDICATOR),
            comparison__peer_id__in=peer_ids,
            percent__isnull=False,
        )
        .order_by("-role", "pk")
        .values_list(
            "pk",
            "comparison_id",
            "unit_id",
            "claim_id",
            "reading_id",
            "comparison__peer_id",
            "comparison__model__external_id",
            "unit__position",
            "claim__position",
            "claim__public_id",
            "role",
            "person_id",
            "person__username",
            "percent",
            "evidence",
            "created_at",
            "reading__submitted_at",
            "is_current",
            "withdrawn_at",
            "guideline__version",
            "reading__assignment__may_have_seen",
            named=True,
        )
    )
    # One row of each reading is current; decisions are told apart by what they are about alone.
    standing = {row[1:5]: row.pk for row in given if row.is_current and row.withdrawn_at is None}
    for row in given:
        yield ExportedAnswer(
            peer_id=row.comparison__peer_id,
            kind="unit",
            reference_id=row.comparison__model__external_id or None,
            unit=row.claim__position if row.claim__public_id else row.unit__position,
            claim_id=row.claim__public_id,
            rater=people.name(row.person_id, row.person__username),
            rater_kind=row.role,
            value=str(row.percent),
            evidence=row.evidence,
            submitted_at=row.reading__submitted_at or row.created_at,
            superseded=standing.get(row[1:5]) != row.pk,
            guideline_version=row.guideline__version,
            blind=not row.reading__assignment__may_have_seen
            if row.role == CoverageJudgment.Role.ASSESSOR
            else None,
        )


def judge_shares(peer_ids: Sequence[int]) -> Iterator[ExportedAnswer]:
    for said in judge_percents(peer_ids):
        yield ExportedAnswer(
            peer_id=said.peer_id,
            kind="unit",
            reference_id=said.reference_id or None,
            unit=said.number,
            claim_id=said.claim_id,
            rater=said.judge,
            rater_kind="judge",
            value=f"{said.percent:.6g}",
            evidence=said.marks,
            submitted_at=said.at,
            superseded=False,
        )
