"""Ratings of whole summaries, for the level `answers`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annotation.exports.answers.answer import ExportedAnswer, standing_among
from annotation.models import Rating


def ratings(peer_ids: Sequence[int]) -> Iterator[ExportedAnswer]:
    rows = (
        Rating.objects.filter(summary_id__in=peer_ids)
        .order_by("pk")
        .values_list(
            "pk", "summary_id", "name", "judge__name", "origin_name", "value", "created_at", named=True
        )
    )
    standing = standing_among(
        (row.pk, (row.summary_id, row.name, row.judge__name), row.value is not None) for row in rows
    )
    for row in rows:
        yield ExportedAnswer(
            peer_id=row.summary_id,
            kind="rating",
            claim_id=row.name,
            rater=row.judge__name or row.origin_name,
            rater_kind="judge" if row.judge__name else "computed",
            value=None if row.value is None else f"{row.value:.6g}",
            submitted_at=row.created_at,
            superseded=row.pk not in standing,
        )
