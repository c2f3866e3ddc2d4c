"""What each score of one summary is made of: its units, who said what of them, and the formula with its numbers.

The values come from the evaluation room; this module adds the words and the people.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Q

from annotation.models import (
    Adjudication,
    Assignment,
    Check,
    Claim,
    Comparison,
    Project,
    PublishedPercent,
    Rating,
    Score,
    Summary,
    Unit,
    UnitJudgment,
    Verdict,
)
from annotation.models.pyramid import peer_annotation_of, pyramid_of
from annotation.queries.judge_percents import JudgePercent, judge_percents
from annotation.queries.published import PublishedFigures, published_assessor, published_of
from annotation.queries.questions import AskedQuestion, GivenRating, questions_to, ratings_of
from annotation.refusals import NotFound
from evaluation import (
    ComparisonScore,
    ConcisenessTerms,
    Label,
    MeanRounding,
    PyramidScore,
    ScoredClaim,
    ScoredSummary,
    ScoredUnit,
    SummaryScore,
    UnitCoverage,
    UnitSource,
    pyramid_score,
)

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import System

TERMS_SHOWN = 8
ROUNDINGS: tuple[MeanRounding, MeanRounding] = ("floor", "ceil")
PER_SYSTEM = 200

SOURCES: dict[UnitSource, str] = {
    "adjudicated": "settled by an adjudicator",
    "assessors": "assessors' percents",
    "claims": "share of yes over the claims",
    "blend": "percents and claims, weighted",
    "rule": "the summary is empty",
}

COVERED_BY = {"questions": "question coverage", "claims": "claim coverage"}
"""What stands for coverage in a summarization score."""

FLAGS: dict[str, str] = {
    "no_model_summary": "There is no model summary, so the claims come from the documents themselves.",
    "no_claims": "A reference has no claims; claim coverage is 1 by definition and stays out of every average.",
    "empty_peer": "The summary is empty: every claim counts as not expressed, without asking anybody.",
    "no_word_breaks": "The script has no spaces between words, so words cannot be counted and brevity is unknown.",
    "over_length": "The summary is longer than its target, so its brevity is 0.",
    "partial": "Units that nobody has said anything of; coverage is the mean of the others:",
    "comparisons_left_out": "Model summaries without any coverage, left out of the mean:",
}


@dataclass(frozen=True, slots=True)
class ExplainedAnswer:
    """One statement on a check: who, what, why."""

    who: str
    kind: str
    label: str | None
    reason: str
    probability: float | None = None
    is_withdrawn: bool = False


@dataclass(frozen=True, slots=True)
class ExplainedClaim:
    """A claim, what everybody answered in order, and what stands."""

    check_id: str | None
    text: str
    final: Label | None
    source: str | None
    answers: tuple[ExplainedAnswer, ...]


@dataclass(frozen=True, slots=True)
class ExplainedPercent:
    """An assessor's percent (or the adjudicated one) and the peer units marked for it."""

    who: str
    percent: int
    marks: tuple[int, ...]
    is_adjudicated: bool
    reason: str


@dataclass(frozen=True, slots=True)
class ExplainedUnit:
    number: int
    text: str
    coverage: UnitCoverage
    source: str
    percents: tuple[ExplainedPercent, ...]
    by_judges: tuple[JudgePercent, ...]
    claims: tuple[ExplainedClaim, ...]


@dataclass(frozen=True, slots=True)
class ExplainedComparison:
    """One model summary's part in the coverage."""

    reference: str
    score: ComparisonScore
    formula: str
    units: tuple[ExplainedUnit, ...]


@dataclass(frozen=True, slots=True)
class Formula:
    """A score with the numbers that it is made of; without a value `text` is empty, or says why."""

    name: str
    column: str
    value: float | None
    text: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything behind the scores of one summary."""

    summary: Summary
    score: SummaryScore
    peer_units: tuple[tuple[int, str], ...]
    comparisons: tuple[ExplainedComparison, ...]
    document_claims: tuple[ExplainedClaim, ...]
    peer_claims: tuple[ExplainedClaim, ...]
    questions: tuple[AskedQuestion, ...]
    formulas: tuple[Formula, ...]
    flags: tuple[str, ...]
    published: tuple[PublishedFigures, ...]


def summary_of(project: Project, public_id: str) -> Summary:
    """The peer summary of that public id in the project. Raises NotFound."""
    summary = (
        Summary.objects.filter(document_set__project=project, is_peer=True, public_id=public_id)
        .select_related("system", "document_set")
        .first()
    )
    if summary is None:
        raise NotFound("There is no such peer summary in this project.")
    return summary


def scores_of_system(project: Project, system: System) -> QuerySet[Score]:
    """The scores of a system's summaries, lowest coverage first: what to look at first."""
    return (
        Score.objects.filter(project=project, summary__system=system)
        .select_related("summary__document_set")
        .order_by("summary__target_words", "coverage", "summary__document_set__external_id")[:PER_SYSTEM]
    )


def explain(
    project: Project,
    summary: Summary,
    value: ScoredSummary,
    score: SummaryScore,
    terms: ConcisenessTerms | None = None,
) -> Explanation:
    """Put words and people to a score. The number of queries does not grow with units, claims or verdicts.

    `terms` are those of its conciseness, where that was rated.
    """
    said = _Said.load(summary)
    scored = {comparison.comparison_id: comparison for comparison in score.comparisons}
    questions = questions_to(project, summary)
    ratings = {rating.name: rating for rating in ratings_of(project, summary)}
    return Explanation(
        summary=summary,
        score=score,
        peer_units=tuple(
            (unit.position, _cut(summary.text, unit)) for unit in summary.units.order_by("position")
        ),
        comparisons=tuple(
            said.comparison(made.comparison_id, made.units, scored[made.comparison_id])
            for made in value.comparisons
        ),
        document_claims=tuple(said.claim(claim) for claim in value.document_claims),
        peer_claims=tuple(said.claim(claim) for claim in value.peer_claims),
        questions=questions,
        formulas=(
            *_formulas(project, value, score),
            *_pyramid_formulas(summary, value, said),
            *(
                formula
                for formula in _formulas_of_wholes(score, questions, ratings, terms, value)
                if formula.value is not None or formula.text
            ),
        ),
        flags=tuple(_in_words(flag) for flag in score.flags),
        published=published_of(summary),
    )


@dataclass(slots=True)
class _Said:
    """The rows behind one summary's scores, each kind fetched once and found by public id."""

    claims: dict[str, Claim]
    checks: dict[str, Check]
    answers: dict[int, list[ExplainedAnswer]]
    comparisons: dict[str, Comparison]
    units: dict[str, Unit]
    percents: dict[tuple[int, str], list[ExplainedPercent]]
    by_judges: dict[tuple[int, str], list[JudgePercent]]

    @classmethod
    def load(cls, summary: Summary) -> _Said:
        comparisons = list(Comparison.objects.filter(peer=summary).select_related("model__system"))
        checks = list(Check.objects.filter(peer=summary).select_related("claim"))
        models = [comparison.model_id for comparison in comparisons]
        claims = Claim.objects.filter(claim_set__is_active=True).filter(
            Q(claim_set__summary_id__in=models) | Q(claim_set__document_set_id=summary.document_set_id)
        )
        return cls(
            claims={claim.public_id: claim for claim in (*claims, *(check.claim for check in checks))},
            checks={check.claim.public_id: check for check in checks},
            answers=_answers(summary),
            comparisons={comparison.public_id: comparison for comparison in comparisons},
            units={unit.public_id: unit for unit in Unit.objects.filter(summary_id__in=models)},
            percents=_percents(summary),
            by_judges=_by_judges(summary),
        )

    def comparison(
        self, public_id: str, units: Sequence[ScoredUnit], score: ComparisonScore
    ) -> ExplainedComparison:
        row = self.comparisons[public_id]
        covered = {unit.unit_id: unit for unit in score.units}
        return ExplainedComparison(
            reference=row.model.external_id or (row.model.system.name if row.model.system else ""),
            score=score,
            formula=coverage_formula(score),
            units=tuple(
                self.unit(row, number, unit.unit_id, unit.claims, covered[unit.unit_id])
                for number, unit in enumerate(units, start=1)
            ),
        )

    def unit(
        self,
        comparison: Comparison,
        number: int,
        unit_id: str,
        claims: Iterable[ScoredClaim],
        coverage: UnitCoverage,
    ) -> ExplainedUnit:
        unit = self.units.get(unit_id)
        return ExplainedUnit(
            number=number,
            text=_cut(comparison.model.text, unit) if unit else self.claims[unit_id].text,
            coverage=coverage,
            source=SOURCES[coverage.source] if coverage.source else "nobody has said anything of it",
            percents=tuple(self.percents.get((comparison.pk, unit_id), ())),
            by_judges=tuple(self.by_judges.get((comparison.pk, unit_id), ())),
            claims=tuple(self.claim(claim) for claim in claims),
        )

    def claim(self, claim: ScoredClaim) -> ExplainedClaim:
        check = self.checks.get(claim.claim_id)
        return ExplainedClaim(
            check_id=check.public_id if check else None,
            text=self.claims[claim.claim_id].text,
            final=claim.final,
            source=claim.final_source,
            answers=tuple(self.answers.get(check.pk, ())) if check else (),
        )


def coverage_formula(score: ComparisonScore) -> str:
    """The mean with its numbers, such as "(1.00 + 0.50) / 2"; weights are named where they differ from 1.

    Empty where no unit has a value.
    """
    units = [unit for unit in score.units if unit.value is not None]
    if not units:
        return ""
    is_weighted = any(unit.weight != 1 for unit in units)
    terms = [f"{unit.weight:g}·{unit.value:.2f}" if is_weighted else f"{unit.value:.2f}" for unit in units]
    if len(terms) > TERMS_SHOWN:
        terms = [*terms[: TERMS_SHOWN - 1], "…", terms[-1]]
    return f"({' + '.join(terms)}) / {sum(unit.weight for unit in units):g}"


def _formulas(project: Project, value: ScoredSummary, score: SummaryScore) -> Iterable[Formula]:
    def formula(name: str, column: str, result: float | None, text: str) -> Formula:
        return Formula(name=name, column=column, value=result, text=text if result is not None else "")

    coverages = [made.coverage for made in score.comparisons if made.coverage is not None]
    parts = " + ".join(f"{coverage:.3f}" for coverage in coverages)
    yield formula(
        "Coverage",
        "coverage",
        score.coverage,
        f"({parts}) / {len(coverages)}" if len(coverages) > 1 else coverage_formula(score.comparisons[0]),
    )
    yield formula("Brevity", "brevity", score.brevity, _brevity(value))
    for name, column, result, weight in (
        ("Composite, a = 1", "composite_1", score.composite_1, 1.0),
        ("Composite, a = ⅔", "composite_2_3", score.composite_2_3, 2 / 3),
        ("Composite of the project", "composite_custom", score.composite_custom, project.composite_weight),
    ):
        yield formula(name, column, result, _composite(score, weight))
    yield formula("Claim coverage", "claim_coverage", score.claim_coverage, _covered_claims(value, score))
    yield formula("Alignment", "alignment", score.alignment, _share_of_yes(value.peer_claims))
    yield formula(
        "Factual alignment",
        "factual_alignment",
        score.factual_alignment,
        f"harmonic mean of {_number(score.claim_coverage)} and {_number(score.alignment)}",
    )
    yield formula("Human share", "human_share", score.human_share, "part of the coverage that people decided")


def _pyramid_formulas(summary: Summary, value: ScoredSummary, said: _Said) -> Iterable[Formula]:
    """The scores of the pyramid that the summary is held against, if there is one."""
    for made in value.comparisons:
        pyramid = pyramid_of(said.comparisons[made.comparison_id].model.metadata)
        if pyramid is None or len(pyramid.units) != len(made.units):
            continue
        annotation = peer_annotation_of(summary.metadata)
        unmatched = len(annotation.unmatched) + annotation.repetitions if annotation else 0
        floor, ceil = (
            pyramid_score(
                [unit.weight for unit in made.units],
                [any(claim.final == "yes" for claim in unit.claims) for unit in made.units],
                models=len(pyramid.models) or None,
                contributors=pyramid.contributors,
                unmatched=unmatched,
                mean_rounding=rounding,
            )
            for rounding in ROUNDINGS
        )
        yield Formula("Pyramid score, modified", "pyramid_modified", floor.modified, _modified(floor, ceil))
        yield Formula(
            "Pyramid score, original",
            "pyramid_original",
            floor.original,
            f"{floor.weight:g} / {floor.original_ideal:g}, the most that {floor.peer_units} content units weigh",
        )


def _modified(floor: PyramidScore, ceil: PyramidScore) -> str:
    if floor.modified is None or floor.modified_ideal is None:
        return ""
    told = (
        f"{floor.weight:g} / {floor.modified_ideal:g}, the most that {floor.model_units} content units weigh: as "
        "many as a model summary has on average, rounded down"
    )
    if ceil.model_units == floor.model_units or ceil.modified is None:
        return told
    return f"{told} (rounded up, {ceil.model_units}: {ceil.modified:.3f})"


def _formulas_of_wholes(
    score: SummaryScore,
    questions: Sequence[AskedQuestion],
    ratings: Mapping[str, GivenRating],
    terms: ConcisenessTerms | None,
    value: ScoredSummary,
) -> Iterable[Formula]:
    """The scores that few projects have; they are shown where somebody asked for them."""
    yield Formula("Question coverage", "question_coverage", score.question_coverage, _pairs(questions))
    yield Formula("Summarization", "summarization", score.summarization, _lower(score))
    computed = ratings.get(Rating.Name.COMPLETENESS)
    yield Formula("Completeness", "completeness", score.completeness, computed.reason if computed else "")
    rated = ratings.get(Rating.Name.CONCISENESS)
    yield Formula("Conciseness", "conciseness", score.conciseness, _conciseness(rated, terms, value))


def _pairs(questions: Sequence[AskedQuestion]) -> str:
    standings = [question.standing for question in questions]
    kept, unscored = standings.count("kept"), standings.count("unscored")
    counting = kept + standings.count("missed")
    left_out = f"{unscored} without an answer" if unscored else ""
    if counting:
        return f"{kept} yes in both / {counting} yes in the source{f', {left_out}' if left_out else ''}"
    return left_out or ("the source says yes to none" if "not_yes" in standings else "")


def _lower(score: SummaryScore) -> str:
    if score.summarization is None or score.summarization_part is None:
        return ""
    part = score.summarization_part
    covered = score.question_coverage if part == "questions" else score.claim_coverage
    return f"the lower of alignment {_number(score.alignment)} and {COVERED_BY[part]} {_number(covered)}"


def _conciseness(rated: GivenRating | None, terms: ConcisenessTerms | None, value: ScoredSummary) -> str:
    if rated is None:
        return ""
    if rated.value is None:
        return rated.reason
    if terms is None and not value.has_word_breaks:
        return "Words cannot be counted in this script."
    if terms is None:
        return "The words of the source cannot be counted."
    lengths = f".6·{terms.compression:.3f} compression + .4·{terms.sentences:.3f} sentence length"
    return f".7·({lengths}) + .3·{rated.value:.3f} rated by {rated.judge}"


def _brevity(value: ScoredSummary) -> str:
    if value.target is None:
        return ""
    if value.peer_length > value.target:
        return f"{value.peer_length} is more than the target {value.target}"
    return f"({value.target} − {value.peer_length}) / {value.target}"


def _composite(score: SummaryScore, weight: float) -> str:
    if weight == 1:
        return f"1·{_number(score.coverage)}"
    return f"{weight:.3g}·{_number(score.coverage)} + {1 - weight:.3g}·{_number(score.brevity)}"


def _covered_claims(value: ScoredSummary, score: SummaryScore) -> str:
    if len(score.comparisons) > 1:
        return "mean of the model summaries"
    claims = [claim for made in value.comparisons for unit in made.units for claim in unit.claims]
    return _share_of_yes(claims or value.document_claims)


def _share_of_yes(claims: Sequence[ScoredClaim]) -> str:
    scored = [claim.final for claim in claims if claim.final is not None]
    return f"{scored.count('yes')} yes / {len(scored)} scored" if scored else ""


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _in_words(flag: str) -> str:
    name, _, count = flag.partition(":")
    words = FLAGS.get(name, name.replace("_", " "))
    return f"{words} {count}." if count else words


def _cut(text: str, unit: Unit) -> str:
    return text[unit.start : unit.end].strip()


def _answers(summary: Summary) -> dict[int, list[ExplainedAnswer]]:
    answers: dict[int, list[ExplainedAnswer]] = defaultdict(list)
    verdicts = (
        Verdict.objects.filter(check_row__peer=summary).select_related("judge", "person").order_by("pk")
    )
    for verdict in verdicts:
        person = verdict.person.username if verdict.person else verdict.origin_name
        answers[verdict.check_row_id].append(
            ExplainedAnswer(
                who=verdict.judge.name if verdict.judge else person,
                kind="judge" if verdict.judge else "reviewer",
                label=verdict.label,
                reason=verdict.reason,
                probability=verdict.probability,
                is_withdrawn=verdict.withdrawn_at is not None,
            )
        )
    settled = Adjudication.objects.filter(check_row__peer=summary).select_related("decided_by").order_by("pk")
    for decision in settled:
        assert decision.check_row_id is not None, "the filter asks for decisions on checks"
        answers[decision.check_row_id].append(
            ExplainedAnswer(
                who=decision.decided_by.username,
                kind="adjudicator",
                label=decision.label,
                reason=decision.reason,
                is_withdrawn=decision.withdrawn_at is not None,
            )
        )
    return dict(answers)


def _by_judges(summary: Summary) -> dict[tuple[int, str], list[JudgePercent]]:
    said: dict[tuple[int, str], list[JudgePercent]] = defaultdict(list)
    for percent in judge_percents([summary.pk]):
        said[percent.comparison_id, percent.unit_id].append(percent)
    return dict(said)


def _percents(summary: Summary) -> dict[tuple[int, str], list[ExplainedPercent]]:
    percents: dict[tuple[int, str], list[ExplainedPercent]] = defaultdict(list)
    judged = UnitJudgment.objects.filter(
        assignment__comparison__peer=summary,
        assignment__state=Assignment.State.SUBMITTED,
        assignment__repeat_of=None,
        is_current=True,
        percent__isnull=False,
    ).select_related("assignment__sitting__assessor", "unit", "claim")
    for judgment in judged.order_by("pk"):
        sitting, comparison_id = judgment.assignment.sitting, judgment.assignment.comparison_id
        assert sitting is not None, "units are judged in sittings only"
        assert comparison_id is not None, "units are judged in comparisons only"
        assert sitting.assessor is not None, "what is submitted was submitted by somebody"
        assert judgment.percent is not None, "the filter asks for percents"
        percents[comparison_id, _unit_id(judgment)].append(
            ExplainedPercent(
                who=sitting.assessor.username,
                percent=judgment.percent,
                marks=tuple(judgment.marks),
                is_adjudicated=False,
                reason=judgment.note,
            )
        )
    published = PublishedPercent.objects.filter(comparison__peer=summary).select_related("score", "unit")
    for said in published.order_by("pk"):
        percents[said.comparison_id, said.unit.public_id].append(
            ExplainedPercent(
                who=published_assessor(said.score.assessor, said.score.origin_name),
                percent=said.percent,
                marks=tuple(said.marks),
                is_adjudicated=False,
                reason="",
            )
        )
    settled = Adjudication.objects.filter(comparison__peer=summary, withdrawn_at=None).select_related(
        "decided_by", "unit", "claim"
    )
    for decision in settled.order_by("pk"):
        assert decision.comparison_id is not None, "the filter asks for decisions on comparisons"
        assert decision.percent is not None, "the database holds such a decision to a percent"
        percents[decision.comparison_id, _unit_id(decision)].append(
            ExplainedPercent(
                who=decision.decided_by.username,
                percent=decision.percent,
                marks=(),
                is_adjudicated=True,
                reason=decision.reason,
            )
        )
    return dict(percents)


def _unit_id(row: UnitJudgment | Adjudication) -> str:
    place = row.unit or row.claim
    assert place is not None, "the database holds it to a unit or a claim"
    return place.public_id
