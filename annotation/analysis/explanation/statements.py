"""What everybody said of one summary, in the order in which they said it, taken back or not.

A statement on a check is a verdict or a decision; one on a unit is a percent or a decision.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from annotation.models import (
    Adjudication,
    Dispute,
    UnitJudgment,
    Verdict,
)
from annotation.models.judgment import COUNTING

if TYPE_CHECKING:
    from annotation.models import Summary

    UnitPlace = tuple[int, str]
    """Comparison by its key, and the public id of the unit or of the claim that stands in for one."""


@dataclass(frozen=True, slots=True)
class ExplainedAnswer:
    """One statement on a check: who, what, why, and what they knew.

    `kind` is judge, reviewer, import or adjudicator. `had_seen` tells that a reviewer had seen others' answers; None
    for everybody else. `label` is None where a judge gave no usable answer.
    """

    answer_id: str
    who: str
    kind: str
    label: str | None
    reason: str
    at: datetime
    probability: float | None = None
    confidence: float | None = None
    error: str = ""
    evidence: tuple[int, ...] = ()
    votes: tuple[str, ...] = ()
    had_seen: bool | None = None
    guideline: int | None = None
    is_withdrawn: bool = False


@dataclass(frozen=True, slots=True)
class ExplainedPercent:
    """A percent of an assessor, an adjudicator or a judge's checks, and the numbers of the peer units marked for it."""

    answer_id: str
    who: str
    kind: str
    percent: float
    marks: tuple[int, ...]
    reason: str
    at: datetime
    error: str = ""
    guideline: int | None = None
    is_withdrawn: bool = False

    @property
    def is_adjudicated(self) -> bool:
        return self.kind == "adjudicator"


@dataclass(frozen=True, slots=True)
class ToldDispute:
    """That answers went to the adjudicators: how far apart they are (0 to 1), and how it stands."""

    dispute_id: str
    state: str
    spread: float
    answers: int


@dataclass(frozen=True, slots=True)
class Statements:
    """Everything said of a summary and of these checks: by the key of the check, or by comparison and unit."""

    answers: dict[int, tuple[ExplainedAnswer, ...]]
    percents: dict[UnitPlace, tuple[ExplainedPercent, ...]]
    check_disputes: dict[int, ToldDispute]
    unit_disputes: dict[UnitPlace, ToldDispute]

    @classmethod
    def of(cls, summary: Summary, checks: Sequence[int]) -> Statements:
        """Eight queries, however much was said."""
        disputes = list(_disputes(summary, checks))
        return cls(
            answers=answers_on(check_row__in=checks),
            percents=_percents(summary),
            check_disputes={place: told for place, told in disputes if isinstance(place, int)},
            unit_disputes={place: told for place, told in disputes if not isinstance(place, int)},
        )


def answers_on(**checks: object) -> dict[int, tuple[ExplainedAnswer, ...]]:
    """What was said of the checks that this names by their path from an answer, by key. Three queries."""
    answers: dict[int, list[ExplainedAnswer]] = defaultdict(list)
    for check, answer in (*_verdicts(checks), *_decisions_on_checks(checks)):
        answers[check].append(answer)
    # Stable, so that those of one moment keep the order of their rows.
    return {check: tuple(sorted(said, key=lambda each: each.at)) for check, said in answers.items()}


def _verdicts(checks: dict[str, object]) -> Iterator[tuple[int, ExplainedAnswer]]:
    rows = Verdict.objects.filter(**checks).select_related("judge", "person", "guideline")
    for verdict in rows.order_by("pk"):
        yield (
            verdict.check_row_id,
            ExplainedAnswer(
                answer_id=verdict.public_id,
                who=_author(verdict),
                kind=_kind(verdict),
                label=verdict.label,
                reason=verdict.reason,
                at=verdict.created_at,
                probability=verdict.probability,
                confidence=verdict.confidence,
                error=verdict.get_error_type_display() if verdict.error_type else "",
                evidence=tuple(verdict.evidence),
                votes=tuple(f"{name}: {label or 'unscored'}" for name, label in verdict.votes),
                # Nobody knows what those who answered elsewhere had seen.
                had_seen=verdict.had_seen if verdict.person_id else None,
                guideline=verdict.guideline.version if verdict.guideline else None,
                is_withdrawn=verdict.withdrawn_at is not None,
            ),
        )


def _decisions_on_checks(checks: dict[str, object]) -> Iterator[tuple[int, ExplainedAnswer]]:
    rows = Adjudication.objects.filter(**checks).select_related(*_DECISION)
    for decision in rows.order_by("pk"):
        assert decision.check_row_id is not None, "the filter asks for decisions on checks"
        yield (
            decision.check_row_id,
            ExplainedAnswer(
                answer_id=decision.public_id,
                who=decision.decided_by.username,
                kind="adjudicator",
                label=decision.label,
                reason=decision.reason,
                at=decision.created_at,
                error=decision.get_error_type_display() if decision.error_type else "",
                guideline=decision.guideline.version if decision.guideline else None,
                is_withdrawn=decision.withdrawn_at is not None,
            ),
        )


_DECISION = (
    "decided_by",
    "guideline",
    "unit",
    "claim",
)


def _author(verdict: Verdict) -> str:
    if verdict.judge is not None:
        return verdict.judge.name
    return verdict.person.username if verdict.person else verdict.origin_name


def _kind(verdict: Verdict) -> str:
    if verdict.judge_id is not None:
        return "judge"
    return "reviewer" if verdict.person_id else "import"


def _assessor(judgment: UnitJudgment) -> str:
    return judgment.reading.assignment.assessor.username


def _percents(summary: Summary) -> dict[UnitPlace, tuple[ExplainedPercent, ...]]:
    percents: dict[UnitPlace, list[ExplainedPercent]] = defaultdict(list)
    said = (*_submitted(summary), *_decisions_on_units(summary))
    for place, percent in said:
        percents[place].append(percent)
    return {place: tuple(of_unit) for place, of_unit in percents.items()}


def _submitted(summary: Summary) -> Iterator[tuple[UnitPlace, ExplainedPercent]]:
    rows = UnitJudgment.objects.filter(COUNTING, reading__comparison__peer=summary).select_related(
        "reading__assignment__assessor", "unit", "claim", "guideline"
    )
    for judgment in rows.order_by("pk"):
        comparison_id = judgment.reading.comparison_id
        assert comparison_id is not None, "units are judged in comparisons only"
        assert judgment.percent is not None, "the filter asks for percents"
        yield (
            (comparison_id, _unit_id(judgment)),
            ExplainedPercent(
                answer_id=judgment.public_id,
                who=_assessor(judgment),
                kind="assessor",
                percent=judgment.percent,
                marks=tuple(judgment.marks),
                reason=judgment.note,
                at=judgment.created_at,
                guideline=judgment.guideline.version if judgment.guideline else None,
            ),
        )


def _decisions_on_units(summary: Summary) -> Iterator[tuple[UnitPlace, ExplainedPercent]]:
    rows = Adjudication.objects.filter(comparison__peer=summary).select_related(*_DECISION)
    for decision in rows.order_by("pk"):
        assert decision.comparison_id is not None, "the filter asks for decisions on comparisons"
        assert decision.percent is not None, "the database holds such a decision to a percent"
        yield (
            (decision.comparison_id, _unit_id(decision)),
            ExplainedPercent(
                answer_id=decision.public_id,
                who=decision.decided_by.username,
                kind="adjudicator",
                percent=decision.percent,
                marks=(),
                reason=decision.reason,
                at=decision.created_at,
                error=decision.get_error_type_display() if decision.error_type else "",
                guideline=decision.guideline.version if decision.guideline else None,
                is_withdrawn=decision.withdrawn_at is not None,
            ),
        )


def _disputes(summary: Summary, checks: Sequence[int]) -> Iterator[tuple[int | UnitPlace, ToldDispute]]:
    on_checks = Dispute.objects.filter(check_row__in=checks)
    on_units = Dispute.objects.filter(comparison__peer=summary)
    rows: Sequence[Dispute] = [
        *on_checks.order_by("pk"),
        *on_units.select_related("unit", "claim").order_by("pk"),
    ]
    for row in rows:
        told = ToldDispute(
            dispute_id=row.public_id,
            state=row.state,
            spread=row.spread,
            answers=row.answers,
        )
        if row.check_row_id is not None:
            yield row.check_row_id, told
        elif row.comparison_id is not None:
            yield (row.comparison_id, _unit_id(row)), told


def _unit_id(row: UnitJudgment | Adjudication | Dispute) -> str:
    place = row.unit or row.claim
    assert place is not None, "the database holds it to a unit or a claim"
    return place.public_id
