"""Answers about a summary."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, OuterRef, Q

from annotation.models import (
    Answer,
    Check,
    CoverageJudgment,
    Dispute,
    Project,
    Verdict,
)
from annotation.models.answer import STANDING_DECISION
from annotation.models.judgment import COUNTING

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Summary

    UnitPlace = tuple[int, str]
    """The key of a comparison, and the public id of the unit or of the claim that replaces it."""


@dataclass(frozen=True, slots=True)
class ExplainedAnswer:
    """An answer to a check with its author, reason and context.

    `kind` is judge, reviewer, import or adjudicator. `had_seen` is True if a reviewer had seen others' answers; it is
    None for all other kinds. `label` is None if a judge gave no usable answer.
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

    @property
    def sure(self) -> float | None:
        """Return the author's certainty of the label, from 0 to 1; None if unknown.

        The certainty is the probability of the label yes or no, or else the confidence that the author gave.
        """
        if self.probability is None or self.label not in ("yes", "no"):
            return self.confidence
        return self.probability if self.label == "yes" else 1 - self.probability


@dataclass(frozen=True, slots=True)
class ExplainedPercent:
    """A percent from an assessor, an adjudicator or a judge's verdicts, with the numbers of marked summary units."""

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
class ExplainedDispute:
    """A dispute with its state, its spread (0 to 1) and the number of answers."""

    dispute_id: str
    state: str
    spread: float
    answers: int


@dataclass(frozen=True, slots=True)
class Statements:
    """Answers and disputes about a summary, by check key, or by comparison and unit."""

    answers: dict[int, tuple[ExplainedAnswer, ...]]
    percents: dict[UnitPlace, tuple[ExplainedPercent, ...]]
    disputes: dict[int | UnitPlace, ExplainedDispute]

    @classmethod
    def of(cls, summary: Summary, checks: Sequence[int]) -> Statements:
        answers = answers_on(check_row__in=checks)
        return cls(answers, _percents(summary), dict(_disputes(summary, checks)))


def with_overruled(checks: QuerySet[Check]) -> QuerySet[Check]:
    """Add `is_overruled` to checks: a decision on the unit or claim, or with HUMAN_FIRST a counting percent, replaces
    it.
    """
    percents = CoverageJudgment.objects.filter(
        STANDING_DECISION
        | Q(COUNTING, comparison__summary__document_set__project__blend=Project.Blend.HUMAN_FIRST),
        Q(unit=OuterRef("claim__unit")) | Q(claim=OuterRef("claim")),
        comparison__summary=OuterRef("summary"),
    )
    return checks.annotate(is_overruled=Exists(percents))


def says_who(sources: Iterable[str | None]) -> str:
    """Name the sources of these final verdicts in words that follow a sentence, such as ", says the judge".

    Returns "" if there are no verdicts, or only verdicts of a rule.
    """
    given = set(sources)
    people = bool(given & {Check.Decider.ADJUDICATOR, Check.Decider.REVIEWER})
    if Check.Decider.JUDGE in given:
        return ", say the judge and people" if people else ", says the judge"
    return ", say people" if people else ""


def answers_on(**checks: object) -> dict[int, tuple[ExplainedAnswer, ...]]:
    """Load the answers that match these lookups on `Verdict`, by the key of their check."""
    answers: dict[int, list[ExplainedAnswer]] = defaultdict(list)
    rows = Verdict.objects.filter(**checks).select_related("judge", "person", "guideline")
    for verdict in rows.order_by("created_at", "pk"):
        is_imported = verdict.role == Verdict.Role.REVIEWER and verdict.person_id is None
        answers[verdict.check_row_id].append(
            ExplainedAnswer(
                **_in_common(verdict),
                who=verdict.author,
                kind="import" if is_imported else verdict.role,
                label=verdict.label,
                probability=verdict.probability,
                confidence=verdict.confidence,
                evidence=tuple(verdict.evidence),
                votes=tuple(f"{name}: {label or 'unscored'}" for name, label in verdict.votes),
                # The raters of an imported file may have seen others' answers.
                had_seen=verdict.had_seen
                if verdict.role == Verdict.Role.REVIEWER and verdict.person_id
                else None,
            )
        )
    return {check: tuple(said) for check, said in answers.items()}


def _percents(summary: Summary) -> dict[UnitPlace, tuple[ExplainedPercent, ...]]:
    """List the percents of closed assignments, then those of decisions."""
    percents: dict[UnitPlace, list[ExplainedPercent]] = defaultdict(list)
    rows = CoverageJudgment.objects.filter(
        COUNTING | Q(role=Answer.Role.ADJUDICATOR), comparison__summary=summary
    ).select_related("person", "unit", "claim", "guideline")
    for judgment in rows.order_by("-role", "pk"):
        assert judgment.person is not None, "the database holds a judgment to a person"
        percents[judgment.comparison_id, judgment.unit_judged.public_id].append(
            ExplainedPercent(
                **_in_common(judgment),
                who=judgment.person.username,
                kind=judgment.role,
                percent=judgment.percent or 0,
                marks=tuple(judgment.evidence),
            )
        )
    return {place: tuple(of_unit) for place, of_unit in percents.items()}


def _in_common(answer: Verdict | CoverageJudgment) -> dict[str, Any]:
    return {
        "answer_id": answer.public_id,
        "reason": answer.reason,
        "at": answer.created_at,
        "error": answer.get_error_type_display() if answer.error_type else "",
        "guideline": answer.guideline.version if answer.guideline else None,
        "is_withdrawn": answer.withdrawn_at is not None,
    }


def _disputes(summary: Summary, checks: Sequence[int]) -> Iterator[tuple[int | UnitPlace, ExplainedDispute]]:
    on_checks = Dispute.objects.filter(check_row__in=checks)
    on_units = Dispute.objects.filter(comparison__summary=summary)
    rows: Sequence[Dispute] = [
        *on_checks.order_by("pk"),
        *on_units.select_related("unit", "claim").order_by("pk"),
    ]
    for row in rows:
        dispute = ExplainedDispute(
            dispute_id=row.public_id,
            state=row.state,
            spread=row.spread,
            answers=row.answers,
        )
        if row.check_row_id is not None:
            yield row.check_row_id, dispute
        elif row.comparison_id is not None:
            yield (row.comparison_id, row.unit_judged.public_id), dispute
