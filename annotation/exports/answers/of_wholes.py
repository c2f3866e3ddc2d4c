"""Ratings of whole summaries, for the level `answers`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from annotation.exports.answers.answer import ExportedAnswer, standing_among
from annotation.exports.statements import rater
from annotation.models import Rating

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People


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
                origin_name=people.rater(row.origin_name),
            ),
            rater_kind="import" if row.role == Rating.Role.REVIEWER and row.person_id is None else row.role,
            value=None if row.value is None else f"{row.value:.6g}",
            evidence=row.evidence,
            submitted_at=row.assignment__closed_at or row.created_at,
            superseded=row.pk not in standing,
            guideline_version=row.guideline__version,
            blind=not (row.had_seen or row.assignment__may_have_seen) if row.person_id else None,
        )
