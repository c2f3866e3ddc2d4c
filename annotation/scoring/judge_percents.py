"""Judges' verdicts expressed as percents of reference units, as assessors give them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from annotation.models import Check, Comparison, Label, Verdict
from annotation.scoring.unit_lists import with_linked_claims


@dataclass(frozen=True, slots=True)
class JudgePercent:
    """A judge's percent for a unit of a comparison, with the summary units that support it.

    `percent` is the share of yes among the judge's scored claims of the unit, 0 to 100; unsure counts as not yes.
    `marks` is the evidence of the yes verdicts. `unit_id` is the public id of the unit, or of the claim that replaces
    it, and `number` is its position. `at` is the time of the latest of these verdicts.
    """

    judge: str
    summary_id: int
    comparison_id: int
    reference_id: str
    unit_id: str
    number: int
    claim_id: str | None
    percent: float
    marks: tuple[int, ...]
    at: datetime


class _JudgeAnswer(NamedTuple):
    judge: str
    check_id: int
    summary_id: int
    reference_id: int
    reference_name: str
    unit_id: str | None
    unit_number: int | None
    claim_id: str
    claim_number: int
    label: str | None
    evidence: list[int]
    at: datetime


def judge_percents(summary_ids: Sequence[int]) -> list[JudgePercent]:
    """Compute every judge's percents for the units of these summaries, sorted by summary, judge, reference and number.

    A unit without an answered claim has no percent.
    """
    answers = _latest_answers(summary_ids)
    linked = with_linked_claims({answer.reference_id for answer in answers})
    grouped: dict[tuple[int, str, int, bool, int], list[_JudgeAnswer]] = defaultdict(list)
    for answer in answers:
        is_unit = answer.reference_id in linked and answer.unit_number is not None
        number = answer.unit_number if is_unit and answer.unit_number is not None else answer.claim_number
        grouped[answer.summary_id, answer.judge, answer.reference_id, is_unit, number].append(answer)
    comparisons = _comparisons(summary_ids)
    return [
        _percent(group, comparisons[summary, reference], number, is_unit=is_unit)
        for (summary, _, reference, is_unit, number), group in sorted(grouped.items())
        if (summary, reference) in comparisons
    ]


def _percent(group: Sequence[_JudgeAnswer], comparison: int, number: int, *, is_unit: bool) -> JudgePercent:
    first = group[0]
    yes = [answer for answer in group if answer.label == Label.YES]
    return JudgePercent(
        judge=first.judge,
        summary_id=first.summary_id,
        comparison_id=comparison,
        reference_id=first.reference_name,
        unit_id=first.unit_id if is_unit and first.unit_id is not None else first.claim_id,
        number=number,
        claim_id=None if is_unit else first.claim_id,
        percent=100 * len(yes) / len(group),
        marks=tuple(sorted({unit for answer in yes for unit in answer.evidence})),
        at=max(answer.at for answer in group),
    )


def _latest_answers(summary_ids: Sequence[int]) -> list[_JudgeAnswer]:
    verdicts = Verdict.objects.filter(
        check_row__summary_id__in=summary_ids,
        check_row__side=Check.Side.REFERENCE,
        check_row__is_current=True,
        check_row__claim__claim_set__summary__isnull=False,
        judge__isnull=False,
        label__isnull=False,
        withdrawn_at=None,
    )
    rows = verdicts.order_by("pk").values_list(
        "judge__name",
        "check_row_id",
        "check_row__summary_id",
        "check_row__claim__claim_set__summary_id",
        "check_row__claim__claim_set__summary__external_id",
        "check_row__claim__unit__public_id",
        "check_row__claim__unit__position",
        "check_row__claim__public_id",
        "check_row__claim__position",
        "label",
        "evidence",
        "created_at",
    )
    latest = {(row[0], row[1]): _JudgeAnswer(*row) for row in rows}
    return list(latest.values())


def _comparisons(summary_ids: Sequence[int]) -> dict[tuple[int, int], int]:
    rows = Comparison.objects.filter(summary_id__in=summary_ids).values_list(
        "summary_id", "reference_id", "pk"
    )
    return {(summary, reference): pk for summary, reference, pk in rows}
