"""Percents for the level `answers`: assessors' and judges' shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from annotation.exports.answers.answer import ExportedAnswer
from annotation.models import Reading, UnitJudgment
from annotation.scoring.judge_percents import judge_percents

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People


def unit_judgments(peer_ids: Sequence[int], people: People) -> Iterator[ExportedAnswer]:
    closed = UnitJudgment.objects.filter(
        reading__state=Reading.State.SUBMITTED,
        reading__comparison__peer_id__in=peer_ids,
        percent__isnull=False,
    )
    for row in closed.order_by("pk").values_list(
        "reading__comparison__peer_id",
        "reading__comparison__model__external_id",
        "unit__position",
        "claim__position",
        "claim__public_id",
        "reading__assignment__assessor_id",
        "reading__assignment__assessor__username",
        "percent",
        "marks",
        "reading__submitted_at",
        "is_current",
        "guideline__version",
        "reading__assignment__may_have_seen",
        named=True,
    ):
        yield ExportedAnswer(
            peer_id=row.reading__comparison__peer_id,
            kind="unit",
            reference_id=row.reading__comparison__model__external_id or None,
            unit=row.claim__position if row.claim__public_id else row.unit__position,
            claim_id=row.claim__public_id,
            rater=people.name(
                row.reading__assignment__assessor_id, row.reading__assignment__assessor__username
            ),
            rater_kind="assessor",
            value=str(row.percent),
            evidence=row.marks,
            submitted_at=row.reading__submitted_at,
            superseded=not row.is_current,
            guideline_version=row.guideline__version,
            blind=not row.reading__assignment__may_have_seen,
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
