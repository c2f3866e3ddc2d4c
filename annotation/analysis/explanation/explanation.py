"""Explain the scores of a summary by its units, claims, answers and formulas."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from django.db.models import Count, Q

from annotation.analysis.explanation.formulas import Formula, coverage_formula, formulas_of, unit_formula
from annotation.analysis.explanation.questions import STANDINGS, QuestionStanding, standing_of
from annotation.analysis.explanation.statements import (
    ExplainedAnswer,
    ExplainedDispute,
    ExplainedPercent,
    Statements,
)
from annotation.core.refusals import NotFound
from annotation.models import Check, Claim, ClaimSet, Comment, Comparison, Project, Summary, Unit
from annotation.scoring.judge_percents import judge_percents
from annotation.scoring.ratings import ratings_of
from annotation.scoring.records import judged_text, sources_of
from evaluation.blend import (
    ComparisonScore,
    ScoredClaim,
    ScoredSummary,
    ScoredUnit,
    SummaryScore,
    UnitCoverage,
    UnitSource,
)
from evaluation.judging import Label
from evaluation.metrics import Completeness, ConcisenessTerms, completeness

SOURCES: dict[UnitSource, str] = {
    "adjudicated": "resolved by an adjudicator",
    "assessors": "assessors' percents",
    "claims": "share of yes over the claims",
    "blend": "weighted mean of percents and claims",
    "rule": "the summary is empty",
}


@dataclass(frozen=True, slots=True)
class ExplainedClaim:
    """A claim with its final verdict and its answers in the order of time.

    `unit` is the number of the claim's unit. `restates` is True if the claim has the same words as the unit. Only
    `explain` fills the fields that have defaults.
    """

    claim_id: str
    check_id: str | None
    text: str
    final: Label | None
    source: str | None
    answers: tuple[ExplainedAnswer, ...]
    dispute: ExplainedDispute | None = None
    comments: int = 0
    unit: int | None = None
    restates: bool = False


@dataclass(frozen=True, slots=True)
class ExplainedQuestion:
    """A closed question with its answers from the summary and from the source, and its effect on the score."""

    question_id: str
    text: str
    standing: QuestionStanding
    summary: ExplainedClaim
    source: ExplainedClaim

    @property
    def standing_in_words(self) -> str:
        return STANDINGS[self.standing]


@dataclass(frozen=True, slots=True)
class ExplainedUnit:
    """A reference unit, or the claim that replaces it. `formula` shows the computation of the value, or is "".

    `by_judges` has each judge's percent (see `JudgePercent`).
    """

    unit_id: str
    number: int
    text: str
    coverage: UnitCoverage
    source: str
    formula: str
    percents: tuple[ExplainedPercent, ...]
    by_judges: tuple[ExplainedPercent, ...]
    claims: tuple[ExplainedClaim, ...]
    dispute: ExplainedDispute | None = None


@dataclass(frozen=True, slots=True)
class ExplainedComparison:
    """The contribution of one reference to the coverage. `summary_id` is the reference's id."""

    summary_id: str
    reference: str
    coverage: float | None
    formula: str
    units: tuple[ExplainedUnit, ...]


@dataclass(frozen=True, slots=True)
class NumberedText:
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of a summary's scores, with people's names.

    `signature` identifies the scoring rules. `document_claims` replace a missing reference. `summary_claims` are
    compared with the source. `elements` are the elements of completeness; None if completeness has no value.
    """

    summary_id: str
    document_id: str
    system: str | None
    target_words: int | None
    signature: str
    summary_units: tuple[NumberedText, ...]
    comparisons: tuple[ExplainedComparison, ...]
    document_claims: tuple[ExplainedClaim, ...]
    summary_claims: tuple[ExplainedClaim, ...]
    questions: tuple[ExplainedQuestion, ...]
    formulas: tuple[Formula, ...]
    elements: Completeness | None
    flags: dict[str, str]


def summary_of(project: Project, public_id: str) -> Summary:
    """Return the summary with this public id. Raises NotFound if there is none."""
    summary = (
        Summary.objects.filter(document_set__project=project, is_summary=True, public_id=public_id)
        .select_related("system", "document_set")
        .first()
    )
    if summary is None:
        raise NotFound("There is no such summary in this project.")
    return summary


def explain(
    project: Project,
    summary: Summary,
    value: ScoredSummary,
    score: SummaryScore,
    terms: ConcisenessTerms | None = None,
) -> Explanation:
    """Explain the scores of a summary.

    `terms` are the parts of the summary's conciseness, if any.
    """
    rows = _Rows.load(project, summary)
    scored = {comparison.comparison_id: comparison for comparison in score.comparisons}
    questions = rows.questions(summary)
    return Explanation(
        summary_id=summary.public_id,
        document_id=summary.document_set.external_id,
        system=summary.system.name if summary.system else None,
        target_words=summary.target_words,
        signature=score.signature,
        summary_units=tuple(
            NumberedText(unit.position, _cut(summary.text, unit))
            for unit in summary.units.order_by("position")
        ),
        comparisons=tuple(
            rows.comparison(made.comparison_id, made.units, scored[made.comparison_id])
            for made in value.comparisons
        ),
        document_claims=tuple(rows.claim(claim) for claim in value.document_claims),
        summary_claims=tuple(rows.claim(claim) for claim in value.summary_claims),
        questions=questions,
        formulas=formulas_of(
            project,
            value,
            score,
            questions=[question.standing for question in questions],
            ratings={rating.name: rating for rating in ratings_of(project, summary)},
            terms=terms,
        ),
        elements=None if score.completeness is None else _elements(project, summary),
        flags={name: count for name, _, count in (flag.partition(":") for flag in score.flags)},
    )


@dataclass(slots=True)
class _Rows:
    project: Project
    claims: dict[str, Claim]
    checks: dict[str, Check]
    source_checks: dict[str, Check]
    comparisons: dict[str, Comparison]
    units: dict[str, Unit]
    by_judges: dict[tuple[int, str], list[ExplainedPercent]]
    said: Statements
    comments: dict[int, int]

    @classmethod
    def load(cls, project: Project, summary: Summary) -> _Rows:
        comparisons = list(Comparison.objects.filter(summary=summary).select_related("reference__system"))
        references = [comparison.reference_id for comparison in comparisons]
        active = ClaimSet.objects.filter(
            Q(summary_id__in=[*references, summary.pk]) | Q(document_set_id=summary.document_set_id),
            is_active=True,
        )
        # Use `all_claims`, because retired questions are shown. Removed claims are loaded too, but no score
        # contains them.
        claims = (
            Claim.all_claims.filter(claim_set__in=active)
            .select_related("claim_set__summary", "unit")
            .order_by("position")
        )
        of_summary = Q(summary=summary) | Q(summary=None, document_set=summary.document_set_id)
        checks = Check.objects.filter(of_summary, claim__in=claims).select_related("claim")
        return cls(
            project=project,
            claims={claim.public_id: claim for claim in claims},
            checks={check.claim.public_id: check for check in checks if check.summary_id},
            source_checks={check.claim.public_id: check for check in checks if not check.summary_id},
            comparisons={comparison.public_id: comparison for comparison in comparisons},
            units={unit.public_id: unit for unit in Unit.objects.filter(summary_id__in=references)},
            by_judges=_by_judges(summary),
            said=Statements.of(summary, [check.pk for check in checks]),
            comments=comments_on(claim__claim_set__in=active),
        )

    def comparison(
        self, public_id: str, units: Sequence[ScoredUnit], score: ComparisonScore
    ) -> ExplainedComparison:
        row = self.comparisons[public_id]
        covered = {unit.unit_id: unit for unit in score.units}
        return ExplainedComparison(
            summary_id=row.reference.public_id,
            reference=row.reference.external_id
            or (row.reference.system.name if row.reference.system else ""),
            coverage=score.coverage,
            formula=coverage_formula(score),
            units=tuple(
                self.unit(row, number, unit, covered[unit.unit_id])
                for number, unit in enumerate(units, start=1)
            ),
        )

    def unit(
        self, comparison: Comparison, number: int, unit: ScoredUnit, coverage: UnitCoverage
    ) -> ExplainedUnit:
        row = self.units.get(unit.unit_id)
        place = comparison.pk, unit.unit_id
        return ExplainedUnit(
            unit_id=unit.unit_id,
            number=number,
            text=_cut(comparison.reference.text, row) if row else self.claims[unit.unit_id].text,
            coverage=coverage,
            source=SOURCES[coverage.source] if coverage.source else "not judged",
            formula=unit_formula(self.project, unit, coverage),
            percents=self.said.percents.get(place, ()),
            by_judges=tuple(self.by_judges.get(place, ())),
            claims=tuple(self.claim(claim) for claim in unit.claims),
            dispute=self.said.disputes.get(place),
        )

    def claim(self, claim: ScoredClaim) -> ExplainedClaim:
        row, check = self.claims[claim.claim_id], self.checks.get(claim.claim_id)
        return self._explained(row, check, claim.final, claim.final_source)

    def questions(self, summary: Summary) -> tuple[ExplainedQuestion, ...]:
        by_rule = ("no", "rule") if summary.is_empty else (None, None)
        asked = [row for row in self.claims.values() if row.claim_set.kind == ClaimSet.Kind.QUESTIONS]
        return tuple(self._question(row, by_rule) for row in asked)

    def _question(self, row: Claim, by_rule: tuple[str | None, str | None]) -> ExplainedQuestion:
        pairs = (
            (self.checks.get(row.public_id), by_rule),
            (self.source_checks.get(row.public_id), (None, None)),
        )
        summary, source = (
            self._explained(row, check, *((check.final_label, check.final_source) if check else unasked))
            for check, unasked in pairs
        )
        return ExplainedQuestion(
            question_id=row.public_id,
            text=row.text,
            standing=standing_of(source.final, summary.final, is_retired=row.removed_at is not None),
            summary=summary,
            source=source,
        )

    def _explained(
        self, row: Claim, check: Check | None, final: str | None, source: str | None
    ) -> ExplainedClaim:
        text = row.claim_set.summary
        return ExplainedClaim(
            claim_id=row.public_id,
            check_id=check.public_id if check else None,
            text=row.text,
            final=cast("Label | None", final),
            source=source,
            answers=self.said.answers.get(check.pk, ()) if check else (),
            dispute=self.said.disputes.get(check.pk) if check else None,
            comments=self.comments.get(row.pk, 0),
            unit=row.unit.position if row.unit else None,
            restates=row.unit is not None and same_words(row.text, _cut(text.text if text else "", row.unit)),
        )


def comments_on(**claims: object) -> dict[int, int]:
    """Count the comments that match these lookups and are not withdrawn, by the claim's key."""
    rows = Comment.objects.filter(withdrawn_at=None, **claims).order_by()
    return dict(rows.values_list("claim_id").annotate(Count("pk")))


def same_words(claim: str, text: str) -> bool:
    """Return True if the texts are equal after white space, case and final full stops are normalised."""
    one, other = (" ".join(each.split()).rstrip(".").casefold() for each in (claim, text))
    return one == other


def _cut(text: str, unit: Unit) -> str:
    return text[unit.start : unit.end].strip()


def _elements(project: Project, summary: Summary) -> Completeness:
    source = sources_of([summary.document_set_id]).get(summary.document_set_id, "")
    return completeness(source, judged_text(summary, project), summary.document_set.language)


def _by_judges(summary: Summary) -> dict[tuple[int, str], list[ExplainedPercent]]:
    percents: dict[tuple[int, str], list[ExplainedPercent]] = defaultdict(list)
    for each in judge_percents([summary.pk]):
        percent = ExplainedPercent("", each.judge, "judge", each.percent, each.marks, reason="", at=each.at)
        percents[each.comparison_id, each.unit_id].append(percent)
    return dict(percents)
