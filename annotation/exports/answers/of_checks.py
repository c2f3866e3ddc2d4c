"""Verdicts on checks for the level `answers`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from annotation.exports.answers.answer import ExportedAnswer, standing_among
from annotation.exports.statements import rater, reference_of
from annotation.models import (
    Check,
    SampledCheck,
    Verdict,
)

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People


def answers_on_checks(checks: dict[str, Any], people: People) -> Iterator[ExportedAnswer]:
    """What was said of the checks that this names by their path from an answer."""
    given = (
        Verdict.objects.filter(**checks)
        .order_by("pk")
        .values_list(
            "pk",
            "check_row_id",
            *_OF_CHECK,
            "role",
            "judge_id",
            "judge__name",
            "person_id",
            "person__username",
            "origin_name",
            "label",
            "votes",
            "repeated",
            "evidence",
            "created_at",
            "withdrawn_at",
            "guideline__version",
            "had_seen",
            named=True,
        )
    )
    standing = standing_among(
        (
            row.pk,
            (
                row.check_row_id,
                row.role,
                row.role != Verdict.Role.ADJUDICATOR and (row.judge_id or row.person_id or row.origin_name),
            ),
            bool(row.label),
        )
        for row in given
        if row.check_row__is_current and row.withdrawn_at is None
    )
    sampled = _given_in_samples(checks)
    for row in given:
        selected_by, probability = sampled.get(row.pk, (None, None))
        is_of_reviewer = row.role == Verdict.Role.REVIEWER and row.person_id is not None
        is_imported = row.role == Verdict.Role.REVIEWER and row.person_id is None
        said = ExportedAnswer(
            peer_id=row.check_row__peer_id or 0,
            document_id=row.check_row__document_set__external_id,
            kind="question" if row.check_row__side == Check.Side.QUESTION else "check",
            reference_id=reference_of(
                row.check_row__side, row.check_row__claim__claim_set__summary__external_id
            ),
            unit=row.check_row__claim__unit__position,
            claim_id=row.check_row__claim__public_id,
            rater=rater(
                people,
                person_id=row.person_id,
                username=row.person__username,
                judge=row.judge__name,
                origin_name=row.origin_name,
            ),
            rater_kind="import" if is_imported else row.role,
            value=row.label,
            evidence=row.evidence,
            submitted_at=row.created_at,
            selected_by=selected_by,
            inclusion_probability=probability,
            superseded=row.pk not in standing,
            guideline_version=row.guideline__version,
            blind=not row.had_seen if is_of_reviewer else None,
        )
        yield said
        if row.repeated:
            yield replace(said, kind="repeat", value=row.repeated, evidence=())
        if row.role == Verdict.Role.REVIEWER:
            for name, vote in row.votes:
                who = f"{row.origin_name} {people.rater(name)}"
                yield replace(said, kind="vote", rater=who, value=vote, evidence=())


_OF_CHECK = (
    "check_row__peer_id",
    "check_row__document_set__external_id",
    "check_row__side",
    "check_row__claim__claim_set__summary__external_id",
    "check_row__claim__unit__position",
    "check_row__claim__public_id",
    "check_row__is_current",
)


def _given_in_samples(checks: dict[str, Any]) -> dict[int, tuple[str, float]]:
    """The sample's method and the check's chance, by the verdict that answers it; others were volunteered."""
    sampled = SampledCheck.objects.filter(**checks, verdict__isnull=False, sample__cancelled_at=None)
    columns = ("verdict_id", "sample__method", "inclusion_probability")
    return {
        verdict_id: (method, probability)
        for verdict_id, method, probability in sampled.order_by("sample_id").values_list(*columns)
        if verdict_id is not None
    }
