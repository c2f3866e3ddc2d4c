"""Verdicts on checks for the level `judgments`, and adjudicators' decisions on checks and units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from annotation.exports.judgment import Judgment
from annotation.exports.statements import rater, reference_of
from annotation.models import (
    Adjudication,
    DrawnCheck,
    Verdict,
)

if TYPE_CHECKING:
    from annotation.exports.people import People


class _VerdictRow(NamedTuple):
    pk: int
    check_id: int
    peer_id: int
    side: str
    reference_id: str | None
    unit: int | None
    claim_id: str
    is_current: bool
    source: str
    judge_id: int | None
    judge: str | None
    person_id: int | None
    username: str | None
    origin_name: str
    label: str | None
    evidence: list[int]
    created_at: datetime
    withdrawn_at: datetime | None
    guideline_version: int | None
    is_set_aside: bool

    @property
    def answered(self) -> tuple[int, str, int | str | None]:
        """The check, and whose answer to it this is."""
        return self.check_id, self.source, self.judge_id or self.person_id or self.origin_name


def verdicts(peer_ids: Sequence[int], people: People) -> Iterator[Judgment]:
    given = [
        _VerdictRow(*row)
        for row in Verdict.objects.filter(check_row__peer_id__in=peer_ids)
        .order_by("pk")
        .values_list(
            "pk",
            "check_row_id",
            "check_row__peer_id",
            "check_row__side",
            "check_row__claim__claim_set__summary__external_id",
            "check_row__claim__unit__position",
            "check_row__claim__public_id",
            "check_row__is_current",
            "source",
            "judge_id",
            "judge__name",
            "person_id",
            "person__username",
            "origin_name",
            "label",
            "evidence",
            "created_at",
            "withdrawn_at",
            "guideline__version",
            "is_set_aside",
        )
    ]
    standing = _standing(given)
    drawn = _given_in_draws(peer_ids)
    for row in given:
        selected_by, probability = drawn.get(row.pk, (None, None))
        yield Judgment(
            peer_id=row.peer_id,
            kind="check",
            reference_id=reference_of(row.side, row.reference_id),
            unit=row.unit,
            claim_id=row.claim_id,
            rater=rater(
                people,
                person_id=row.person_id,
                username=row.username,
                judge=row.judge,
                origin_name=row.origin_name,
            ),
            rater_kind=_rater_kind(row),
            value=row.label,
            evidence=row.evidence,
            submitted_at=row.created_at,
            selected_by=selected_by,
            inclusion_probability=probability,
            superseded=row.pk not in standing,
            set_aside=row.is_set_aside,
            guideline_version=row.guideline_version,
        )


def _standing(given: Iterable[_VerdictRow]) -> set[int]:
    """The last answer of each source to each check that is in force.

    An answer that a judge could not give does not take back one that it gave before.
    """
    last: dict[tuple[int, str, int | str | None], _VerdictRow] = {}
    for row in given:
        before = last.get(row.answered)
        takes_back = row.label is None and before is not None and before.label is not None
        if row.is_current and row.withdrawn_at is None and not takes_back:
            last[row.answered] = row
    return {row.pk for row in last.values()}


def _rater_kind(row: _VerdictRow) -> str:
    if row.source == Verdict.Source.JUDGE:
        return "judge"
    return "import" if row.person_id is None else "reviewer"


def _given_in_draws(peer_ids: Sequence[int]) -> dict[int, tuple[str, float]]:
    """The draw's method and the check's chance, by the verdict that answers it; others were volunteered."""
    drawn = DrawnCheck.objects.filter(check_row__peer_id__in=peer_ids, verdict__isnull=False)
    columns = ("verdict_id", "draw__method", "inclusion_probability")
    return {
        verdict_id: (method, probability)
        for verdict_id, method, probability in drawn.order_by("draw_id").values_list(*columns)
        if verdict_id is not None
    }


class _Decision(NamedTuple):
    pk: int
    check_id: int
    withdrawn_at: datetime | None
    peer_id: int
    side: str
    reference_id: str | None
    unit: int | None
    claim_id: str
    is_current: bool
    user_id: int
    username: str
    label: str | None
    created_at: datetime
    guideline_version: int | None


def check_adjudications(peer_ids: Sequence[int], people: People) -> Iterator[Judgment]:
    decisions = [
        _Decision(*row)
        for row in Adjudication.objects.filter(check_row__peer_id__in=peer_ids)
        .order_by("pk")
        .values_list(
            "pk",
            "check_row__pk",
            "withdrawn_at",
            "check_row__peer_id",
            "check_row__side",
            "check_row__claim__claim_set__summary__external_id",
            "check_row__claim__unit__position",
            "check_row__claim__public_id",
            "check_row__is_current",
            "decided_by_id",
            "decided_by__username",
            "label",
            "created_at",
            "guideline__version",
        )
    ]
    standing = {row.check_id: row.pk for row in decisions if row.withdrawn_at is None}
    for row in decisions:
        yield Judgment(
            peer_id=row.peer_id,
            kind="check_adjudication",
            reference_id=reference_of(row.side, row.reference_id),
            unit=row.unit,
            claim_id=row.claim_id,
            rater=people.name(row.user_id, row.username),
            rater_kind="adjudicator",
            value=row.label,
            submitted_at=row.created_at,
            superseded=not row.is_current or standing.get(row.check_id) != row.pk,
            guideline_version=row.guideline_version,
        )


def unit_adjudications(peer_ids: Sequence[int], people: People) -> Iterator[Judgment]:
    decisions = list(
        Adjudication.objects.filter(comparison__peer_id__in=peer_ids)
        .order_by("pk")
        .values_list(
            "pk",
            "comparison_id",
            "unit_id",
            "claim_id",
            "withdrawn_at",
            "comparison__peer_id",
            "comparison__model__external_id",
            "unit__position",
            "claim__position",
            "claim__public_id",
            "decided_by_id",
            "decided_by__username",
            "percent",
            "created_at",
            "guideline__version",
        )
    )
    standing = {row[1:4]: row[0] for row in decisions if row[4] is None}
    for row in decisions:
        peer_id, reference_id, unit, claim_position, claim_id, user_id, username, percent, at, version = row[
            5:
        ]
        yield Judgment(
            peer_id=peer_id,
            kind="unit_adjudication",
            reference_id=reference_id or None,
            unit=claim_position if claim_id else unit,
            claim_id=claim_id,
            rater=people.name(user_id, username),
            rater_kind="adjudicator",
            value=str(percent),
            submitted_at=at,
            superseded=standing.get(row[1:4]) != row[0],
            guideline_version=version,
        )
