"""The blend: scores of a summary from answers of judges and people.

The final verdict of a check is the adjudicator's. Without one it is the reviewer's, then the rule's (an empty summary
expresses nothing), then the deciding judge's.

The coverage of a unit is the adjudicated percent. Without one it is the assessors' average, then the share of yes
among the final verdicts of the unit's claims. The `weighted` blend mixes the last two if a unit has both.
"""

import math
import statistics
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from evaluation._guards import check_choice, checked_percent, checked_scale, checked_share, checked_weight
from evaluation._labels import (
    FEW_CLAIMS,
    FEWEST_CLAIMS,
    LEAST_SCORED,
    MOST_UNSCORED,
    MOSTLY_UNSCORED,
    Label,
    checked_labels,
    count_labels,
    lacks_scored,
)
from evaluation._means import mean, weighted_mean
from evaluation._signature import signature
from evaluation.errors import InvalidBudget
from evaluation.metrics._alignment import alignment, factual_alignment
from evaluation.metrics._brevity import brevity
from evaluation.metrics._composite import DUC_COVERAGE_WEIGHT, composite
from evaluation.metrics._coverage import claim_coverage
from evaluation.metrics._summarization import SummarizationResult, summarization
from evaluation.text._lengths import LengthUnit

Blend = Literal["human_first", "weighted"]
AssessorAverage = Literal["mean", "median"]
OverLength = Literal["zero", "truncate"]
FinalSource = Literal["adjudicator", "reviewer", "rule", "judge"]
UnitSource = Literal["adjudicated", "assessors", "claims", "blend", "rule"]
SummarizationPart = Literal["questions", "claims"]

DOCUMENT_COMPARISON = "document"
"""The id of the comparison with the documents' own claims, which replaces a missing reference."""


@dataclass(frozen=True, slots=True)
class ScoredClaim:
    """A claim with the answer of each source to its check; None without an answer.

    `rule` is an answer that needs no judge: "no" for every claim that is checked against an empty summary.
    Raises InvalidLabel.
    """

    claim_id: str
    judge: Label | None = None
    reviewer: Label | None = None
    adjudicated: Label | None = None
    rule: Label | None = None

    def __post_init__(self) -> None:
        checked_labels((self.judge, self.reviewer, self.adjudicated, self.rule))

    @property
    def human(self) -> Label | None:
        """Return people's answer: the adjudicator's, otherwise the reviewer's; None without both."""
        return self.adjudicated if self.adjudicated is not None else self.reviewer

    @property
    def automatic(self) -> Label | None:
        """Return the answer without people: the rule's, otherwise the deciding judge's; None without both."""
        return self.rule if self.rule is not None else self.judge

    @property
    def final(self) -> Label | None:
        """Return the final verdict; None means unscored."""
        return self.human if self.human is not None else self.automatic

    @property
    def final_source(self) -> FinalSource | None:
        """Return the source of the final verdict; None if the claim is unscored."""
        if self.adjudicated is not None:
            return "adjudicator"
        if self.reviewer is not None:
            return "reviewer"
        if self.rule is not None:
            return "rule"
        return "judge" if self.judge is not None else None


@dataclass(frozen=True, slots=True)
class ScoredUnit:
    """A reference unit with its answers. Without a reference, each claim is a unit.

    `percents` are the coverage judgments that assessors submitted, 0 to 100.
    Raises InvalidPercent, InvalidWeight.
    """

    unit_id: str
    weight: float = 1.0
    percents: tuple[float, ...] = ()
    adjudicated_percent: float | None = None
    claims: tuple[ScoredClaim, ...] = ()

    def __post_init__(self) -> None:
        checked_weight(f"The weight of unit {self.unit_id}", self.weight)
        for percent in self.percents:
            checked_percent(percent)
        if self.adjudicated_percent is not None:
            checked_percent(self.adjudicated_percent)


@dataclass(frozen=True, slots=True)
class ScoredComparison:
    """One summary compared with one reference, over one list of units."""

    comparison_id: str
    units: tuple[ScoredUnit, ...]


@dataclass(frozen=True, slots=True)
class ScoredSummary:
    """The answers and measures that the scores of one summary depend on.

    - `comparisons` has one entry per reference. Without a reference, `document_claims` replace it.
    - `summary_claims` are the summary's own claims, checked against the source.
    - `claims_extracted` is False before claims are extracted; a comparison without claims has no claim coverage then.
    - `questions_asked` is True if closed questions were asked, even if `question_coverage` is None.
    - `questions_scored` has the two numbers of `scored_pairs`.
    - `summary_length` and `target` are in the project's length unit.

    Raises InvalidBudget, InvalidPercent.
    """

    summary_id: str
    comparisons: tuple[ScoredComparison, ...] = ()
    document_claims: tuple[ScoredClaim, ...] = ()
    summary_claims: tuple[ScoredClaim, ...] = ()
    summary_length: int = 0
    target: int | None = None
    has_word_breaks: bool = True
    is_empty: bool = False
    question_coverage: float | None = None
    topic_preservation: float | None = None
    completeness: float | None = None
    redundancy: float | None = None
    conciseness: float | None = None
    coherence: float | None = None
    claims_extracted: bool = True
    questions_asked: bool = False
    questions_scored: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        if self.summary_length < 0:
            raise InvalidBudget(f"The length of summary {self.summary_id} is {self.summary_length}, below 0.")
        if self.target is not None and self.target < 1:
            raise InvalidBudget(f"The target length of summary {self.summary_id} is {self.target}, below 1.")
        for name in (
            "question_coverage",
            "topic_preservation",
            "completeness",
            "redundancy",
            "conciseness",
            "coherence",
        ):
            value = getattr(self, name)
            if value is not None:
                checked_share(name, value)


@dataclass(frozen=True, slots=True)
class ScoreRules:
    """The scoring rules of a project.

    - `human_weight`: the weight of people in the `weighted` blend
    - `composite_weight`: the weight of coverage in the project's own composite
    - `threshold`, `strict`, `scale`: the options of `summarization`
    - `least_scored`: if a smaller share of the claims or questions is scored, their scores are None

    Raises EvaluationError for an unknown choice, InvalidPercent, InvalidWeight.
    """

    blend: Blend = "human_first"
    human_weight: float = 0.5
    assessor_average: AssessorAverage = "mean"
    composite_weight: float = DUC_COVERAGE_WEIGHT
    length_unit: LengthUnit = "words"
    over_length: OverLength = "zero"
    threshold: float = 0.5
    strict: bool = False
    scale: float = 1.0
    least_scored: float = LEAST_SCORED

    def __post_init__(self) -> None:
        check_choice("blend", self.blend, get_args(Blend))
        check_choice("assessor_average", self.assessor_average, get_args(AssessorAverage))
        check_choice("length_unit", self.length_unit, get_args(LengthUnit))
        check_choice("over_length", self.over_length, get_args(OverLength))
        checked_share("human_weight", self.human_weight)
        checked_share("composite_weight", self.composite_weight)
        checked_share("threshold", self.threshold)
        checked_share("least_scored", self.least_scored)
        checked_scale("scale", self.scale)

    @property
    def signature(self) -> str:
        """Return the `signature` of the rules."""
        return _signature_of(self)


@lru_cache(maxsize=16)
def _signature_of(rules: ScoreRules) -> str:
    return signature(
        blend=rules.blend,
        # Other blends ignore the weight.
        human_weight=float(rules.human_weight) if rules.blend == "weighted" else None,
        assessors=rules.assessor_average,
        composite=float(rules.composite_weight),
        length=rules.length_unit,
        over_length=rules.over_length,
        threshold=float(rules.threshold),
        strict=rules.strict,
        scale=float(rules.scale),
        least_scored=float(rules.least_scored),
    )


DEFAULT_RULES = ScoreRules()


@dataclass(frozen=True, slots=True)
class UnitCoverage:
    """The coverage of a unit, in [0, 1], and its parts.

    - `claim_share`: share of yes among the final verdicts of its claims
    - `judge_share`: share of yes among the verdicts of the rule, otherwise of the deciding judge
    - `human_value`: value from people alone; None unless they gave a percent or answered every claim
    - `human_share`: share of `value` that comes from people, in [0, 1]
    """

    unit_id: str
    weight: float
    value: float | None
    source: UnitSource | None
    claim_share: float | None
    judge_share: float | None
    human_value: float | None
    human_share: float | None
    scored_claims: int
    unscored_claims: int


@dataclass(frozen=True, slots=True)
class ComparisonScore:
    """The coverage figures of one comparison, in [0, 1], and its units.

    `units_without_value` counts the units whose value is None.
    """

    comparison_id: str
    coverage: float | None
    coverage_judge: float | None
    coverage_human: float | None
    human_share: float | None
    claim_coverage: float | None
    claims: int
    claims_unscored: int
    units_without_value: int
    units: tuple[UnitCoverage, ...]


@dataclass(frozen=True, slots=True)
class SummaryScore:
    """All scores of a summary; a score is None if it cannot be computed.

    Scores are in [0, 1]; `summarization` is in [0, scale]. `claims` and `claims_unscored` count the claims of all
    comparisons and of the summary. `flags` are:

    - "no_claims": no comparison has a claim, although claims were extracted
    - "few_claims": a comparison has 1 or 2 claims
    - "mostly_unscored": some claims of a comparison or of the summary, or some questions, count as scored, but less
      than half of them or less than the rules' least share
    - "empty_summary", "no_word_breaks", "over_length", "no_model_summary"
    - "unscored:N": N claims have no usable answer, which is more than one in ten, but not all
    - "partial:N": N units have no value, in comparisons that have a coverage
    - "comparisons_left_out:N": N comparisons have no coverage, but others do
    """

    summary_id: str
    coverage: float | None
    coverage_judge: float | None
    coverage_human: float | None
    human_share: float | None
    claim_coverage: float | None
    alignment: float | None
    factual_alignment: float | None
    question_coverage: float | None
    summarization: float | None
    summarization_part: SummarizationPart | None
    passed: bool | None
    reason: str
    topic_preservation: float | None
    completeness: float | None
    redundancy: float | None
    conciseness: float | None
    coherence: float | None
    brevity: float | None
    composite_1: float | None
    composite_2_3: float | None
    composite_custom: float | None
    claims: int
    claims_unscored: int
    flags: tuple[str, ...]
    comparisons: tuple[ComparisonScore, ...]
    signature: str

    @property
    def left_out_of_averages(self) -> frozenset[str]:
        """Return the names of the scores that must not enter an average, because there are no claims."""
        return left_out_of_averages(self.flags, by_questions=self.summarization_part != "claims")


def left_out_of_averages(flags: Collection[str], *, by_questions: bool) -> frozenset[str]:
    """Name the scores of a summary that must not enter an average, because there are no claims.

    `flags` are the flags of its `SummaryScore`. `by_questions` is True if its summarization uses question coverage
    instead of claim coverage. The result is empty without the flag "no_claims". A reference without claims counts as
    covered, which says nothing about the summary.
    Example: `left_out_of_averages(["no_claims"], by_questions=True)` contains claim_coverage and
    factual_alignment.
    """
    if "no_claims" not in flags:
        return frozenset()
    resting = frozenset({"claim_coverage", "factual_alignment"})
    return resting if by_questions else resting | {"summarization"}


def unit_coverage(unit: ScoredUnit, rules: ScoreRules = DEFAULT_RULES) -> UnitCoverage:
    """Compute the coverage of a unit, in [0, 1], and name its source.

    The coverage is the adjudicated percent. Without one it is the average of the assessors' percents, then the share of
    yes among the final verdicts of scored claims. The `weighted` blend of percents and verdicts is their weighted mean,
    with `human_weight` for the percents. A unit without percents and scored claims has the value None.
    Example: percents 60 and 80 with claims yes and no give 0.7 under `human_first`, and 0.6 under `weighted` with
    0.5.
    """
    of_claims = _shares(
        tuple((each.judge, each.reviewer, each.adjudicated, each.rule) for each in unit.claims)
    )
    assessed = _assessed(unit, rules)
    value, source, human_share = _blend(unit, rules, assessed, of_claims.final, of_claims.human_share)
    return UnitCoverage(
        unit_id=unit.unit_id,
        weight=unit.weight,
        value=value,
        source=source,
        claim_share=of_claims.final,
        judge_share=of_claims.automatic,
        human_value=_human_value(unit, assessed, of_claims.human),
        human_share=human_share,
        scored_claims=of_claims.scored,
        unscored_claims=of_claims.unscored,
    )


def score(summary: ScoredSummary, rules: ScoreRules = DEFAULT_RULES) -> SummaryScore:
    """Compute all scores of one summary from its answers.

    - Coverage: the weighted mean over the units that have a value. Without a reference, each claim of the documents is
      a unit of its own.
    - Claim coverage: the claims with yes divided by the scored claims of a reference, ignoring units. A reference
      without claims is ignored if another reference has claims.
    - Several references: the mean over the comparisons that have the figure; `coverage_human` needs all comparisons.
    - An empty summary: claims of comparisons have the rule's answer no, units without a value get 0, the length is 0,
      and alignment is None.
    - Too few scored claims or questions (see `ScoreRules`): None. In coverage, the claims of a unit with a percent
      count as scored.
    Sources: DUC 2002; Assert LLM Tools (claim coverage, factual alignment); DeepEval and Mastra (summarization).
    Example: a unit has the percents 60 and 80, another has claims with yes and no: coverage is (0.7 + 0.5) / 2 = 0.6.
    """
    summary = _with_rule(summary) if summary.is_empty else summary
    comparisons = tuple(_score_comparison(comparison, rules, summary) for comparison in _references(summary))
    coverage = mean(comparison.coverage for comparison in comparisons)
    covered_claims = _claim_coverage(comparisons)
    own = count_labels(claim.final for claim in summary.summary_claims)
    is_aligned = not (summary.is_empty or own.lacks_scored(rules.least_scored))
    aligned = alignment(claim.final for claim in summary.summary_claims) if is_aligned else None
    asked_enough = not lacks_scored(*summary.questions_scored, rules.least_scored)
    questions = summary.question_coverage if asked_enough else None
    part, result = _summarization(summary, aligned, questions, covered_claims, rules)
    saved = _brevity(summary, rules)
    return SummaryScore(
        summary_id=summary.summary_id,
        coverage=coverage,
        coverage_judge=mean(comparison.coverage_judge for comparison in comparisons),
        coverage_human=_mean_of_all([comparison.coverage_human for comparison in comparisons]),
        human_share=mean(comparison.human_share for comparison in comparisons),
        claim_coverage=covered_claims,
        alignment=aligned,
        factual_alignment=factual_alignment(covered_claims, aligned),
        question_coverage=questions,
        summarization=result.score,
        summarization_part=part,
        passed=result.passed,
        reason=result.reason,
        topic_preservation=summary.topic_preservation,
        completeness=summary.completeness,
        redundancy=summary.redundancy,
        conciseness=summary.conciseness,
        coherence=summary.coherence,
        brevity=saved,
        composite_1=composite(coverage, saved, 1),
        composite_2_3=composite(coverage, saved, DUC_COVERAGE_WEIGHT),
        composite_custom=composite(coverage, saved, rules.composite_weight),
        claims=len(summary.summary_claims) + sum(comparison.claims for comparison in comparisons),
        claims_unscored=own.unscored + sum(comparison.claims_unscored for comparison in comparisons),
        flags=tuple(_flags(summary, comparisons, rules)),
        comparisons=comparisons,
        signature=rules.signature,
    )


class _ClaimShares(NamedTuple):
    final: float | None
    automatic: float | None
    human: float | None
    human_share: float | None
    scored: int
    unscored: int


# Many units have the same answers.
@lru_cache(maxsize=1024)
def _shares(
    answers: tuple[tuple[Label | None, Label | None, Label | None, Label | None], ...],
) -> _ClaimShares:
    """`answers` has one tuple per claim: the labels of judge, reviewer, adjudicator and rule."""
    claims = [ScoredClaim("", *given) for given in answers]
    finals = count_labels(claim.final for claim in claims)
    people = count_labels(claim.human for claim in claims)
    return _ClaimShares(
        final=finals.share_of_yes,
        automatic=count_labels(claim.automatic for claim in claims).share_of_yes,
        human=None if people.unscored else people.share_of_yes,
        # People's verdicts are always final, so they are a part of the final verdicts.
        human_share=people.scored / finals.scored if finals.scored else None,
        scored=finals.scored,
        unscored=finals.unscored,
    )


def _assessed(unit: ScoredUnit, rules: ScoreRules) -> float | None:
    if not unit.percents:
        return None
    if rules.assessor_average == "median":
        return statistics.median(unit.percents) / 100
    return math.fsum(unit.percents) / len(unit.percents) / 100


def _blend(
    unit: ScoredUnit,
    rules: ScoreRules,
    assessed: float | None,
    claimed: float | None,
    claims_human_share: float | None,
) -> tuple[float | None, UnitSource | None, float | None]:
    if unit.adjudicated_percent is not None:
        return unit.adjudicated_percent / 100, "adjudicated", 1.0
    if assessed is None:
        return claimed, None if claimed is None else "claims", claims_human_share
    if rules.blend == "human_first" or claimed is None or claims_human_share is None:
        return assessed, "assessors", 1.0
    weight = rules.human_weight
    value = weight * assessed + (1 - weight) * claimed
    return min(value, 1.0), "blend", min(weight + (1 - weight) * claims_human_share, 1.0)


def _human_value(unit: ScoredUnit, assessed: float | None, claimed: float | None) -> float | None:
    """`claimed` is people's share of yes; it is None unless they answered every claim."""
    if unit.adjudicated_percent is not None:
        return unit.adjudicated_percent / 100
    return claimed if assessed is None else assessed


def _with_rule(summary: ScoredSummary) -> ScoredSummary:
    comparisons = tuple(
        replace(
            comparison,
            units=tuple(replace(unit, claims=_ruled_out(unit.claims)) for unit in comparison.units),
        )
        for comparison in summary.comparisons
    )
    return replace(
        summary,
        comparisons=comparisons,
        document_claims=_ruled_out(summary.document_claims),
        summary_length=0,
    )


def _ruled_out(claims: Iterable[ScoredClaim]) -> tuple[ScoredClaim, ...]:
    return tuple(replace(claim, rule="no") for claim in claims)


def _references(summary: ScoredSummary) -> tuple[ScoredComparison, ...]:
    if summary.comparisons:
        return summary.comparisons
    units = tuple(ScoredUnit(unit_id=claim.claim_id, claims=(claim,)) for claim in summary.document_claims)
    return (ScoredComparison(comparison_id=DOCUMENT_COMPARISON, units=units),)


def _score_comparison(
    comparison: ScoredComparison, rules: ScoreRules, summary: ScoredSummary
) -> ComparisonScore:
    units = tuple(unit_coverage(unit, rules) for unit in comparison.units)
    if summary.is_empty:
        units = tuple(_nothing_expressed(unit) for unit in units)
    weights = [unit.weight for unit in units]
    human_values = [unit.human_value for unit in units]
    claims = [claim for unit in comparison.units for claim in unit.claims]
    labels = [claim.final for claim in claims]
    is_claimed = bool(labels) or summary.claims_extracted
    is_covered, is_judged, is_checked = (
        not lacks_scored(*scored, rules.least_scored)
        for scored in (
            _scored_in(units),
            (sum(claim.automatic is not None for claim in claims), len(claims)),
            (len(labels) - labels.count(None), len(labels)),
        )
    )
    return ComparisonScore(
        comparison_id=comparison.comparison_id,
        coverage=weighted_mean([unit.value for unit in units], weights) if is_covered else None,
        coverage_judge=weighted_mean([unit.judge_share for unit in units], weights) if is_judged else None,
        coverage_human=None if None in human_values else weighted_mean(human_values, weights),
        human_share=weighted_mean([unit.human_share for unit in units], weights) if is_covered else None,
        claim_coverage=claim_coverage(labels) if is_claimed and is_checked else None,
        claims=len(labels),
        claims_unscored=labels.count(None),
        units_without_value=sum(unit.value is None for unit in units),
        units=units,
    )


def _scored_in(units: Sequence[UnitCoverage]) -> tuple[int, int]:
    """Count the claims that count as scored in coverage, and all claims.

    A unit with a percent counts as if its claims were scored, or as one claim if it has none.
    """
    scored = count = 0
    for unit in units:
        claims = unit.scored_claims + unit.unscored_claims
        by_claims = unit.source in (None, "claims")
        count += claims if by_claims else max(claims, 1)
        scored += unit.scored_claims if by_claims else max(claims, 1)
    return scored, count


def _nothing_expressed(unit: UnitCoverage) -> UnitCoverage:
    if unit.value is not None:
        return unit
    return replace(unit, value=0.0, source="rule", judge_share=0.0, human_share=0.0)


def _mean_of_all(values: Sequence[float | None]) -> float | None:
    return None if None in values else mean(values)


def _claim_coverage(comparisons: Sequence[ComparisonScore]) -> float | None:
    with_claims = [comparison.claim_coverage for comparison in comparisons if comparison.claims]
    return mean(with_claims or [comparison.claim_coverage for comparison in comparisons])


def _summarization(
    summary: ScoredSummary,
    aligned: float | None,
    questions: float | None,
    covered_claims: float | None,
    rules: ScoreRules,
) -> tuple[SummarizationPart | None, SummarizationResult]:
    asked = summary.questions_asked or summary.question_coverage is not None
    covered = questions if asked else covered_claims
    result = summarization(
        aligned, covered, threshold=rules.threshold, strict=rules.strict, scale=rules.scale
    )
    if result.score is None:
        return None, result
    return "questions" if asked else "claims", result


def _counts_no_words(summary: ScoredSummary, rules: ScoreRules) -> bool:
    return rules.length_unit == "words" and not summary.has_word_breaks


def _brevity(summary: ScoredSummary, rules: ScoreRules) -> float | None:
    return None if _counts_no_words(summary, rules) else brevity(summary.summary_length, summary.target)


def _flags(
    summary: ScoredSummary, comparisons: Sequence[ComparisonScore], rules: ScoreRules
) -> Iterable[str]:
    own = count_labels(claim.final for claim in summary.summary_claims)
    if not summary.comparisons:
        yield "no_model_summary"
    if summary.claims_extracted and not any(comparison.claims for comparison in comparisons):
        yield "no_claims"
    if any(0 < comparison.claims < FEWEST_CLAIMS for comparison in comparisons):
        yield FEW_CLAIMS
    if _is_mostly_unscored(summary, comparisons, rules):
        yield MOSTLY_UNSCORED
    unscored = own.unscored + sum(comparison.claims_unscored for comparison in comparisons)
    claims = own.scored + own.unscored + sum(comparison.claims for comparison in comparisons)
    if MOST_UNSCORED * claims < unscored < claims:
        yield f"unscored:{unscored}"
    if summary.is_empty:
        yield "empty_summary"
    if _counts_no_words(summary, rules):
        yield "no_word_breaks"
    elif summary.target is not None and summary.summary_length > summary.target:
        yield "over_length"
    partial = sum(
        comparison.units_without_value for comparison in comparisons if comparison.coverage is not None
    )
    if partial:
        yield f"partial:{partial}"
    left_out = sum(comparison.coverage is None for comparison in comparisons)
    if 0 < left_out < len(comparisons):
        yield f"comparisons_left_out:{left_out}"


def _is_mostly_unscored(
    summary: ScoredSummary, comparisons: Sequence[ComparisonScore], rules: ScoreRules
) -> bool:
    own = sum(claim.final is not None for claim in summary.summary_claims)
    counts = [
        *(_scored_in(comparison.units) for comparison in comparisons),
        (own, len(summary.summary_claims)),
        summary.questions_scored,
    ]
    # Set the flag even if the project's rules accept a smaller share.
    least = max(rules.least_scored, LEAST_SCORED)
    return any(scored and lacks_scored(scored, count, least) for scored, count in counts)
