"""The impact of a check: how far another answer to it can move the coverage of a summary."""

from evaluation.blend._score import (
    DEFAULT_RULES,
    ComparisonScore,
    ScoredSummary,
    ScoreRules,
    SummaryScore,
    UnitCoverage,
    score,
)


def flip_impacts(
    summary: ScoredSummary, rules: ScoreRules = DEFAULT_RULES, *, result: SummaryScore | None = None
) -> dict[str, float]:
    """Compute for each claim how far another answer to it can move the summary's coverage.

    The keys are the ids of the references' claims, or of the documents' claims without a reference. The impact is 0 if
    an adjudicated percent, or percents with the blend `human_first`, decide the claim's unit. The summary's own claims
    are omitted. `result` is the summary's score, if the caller has it already. Whether enough claims are scored
    (`ScoreRules.least_scored`) is ignored.

    Example: the only claim of one of four equal units, all scored, has the impact 0.25.
    """
    result = score(summary, rules) if result is None else result
    with_value = sum(comparison.coverage is not None for comparison in result.comparisons)
    claims_of = {
        unit.unit_id: unit.claims for comparison in summary.comparisons for unit in comparison.units
    } | {claim.claim_id: (claim,) for claim in summary.document_claims}
    weights = [
        sum(unit.weight for unit in comparison.units if unit.value is not None)
        for comparison in result.comparisons
    ]
    return {
        claim.claim_id: _effect(comparison, weight, unit, is_scored=claim.final is not None, rules=rules)
        / (with_value + (comparison.coverage is None))
        for comparison, weight in zip(result.comparisons, weights, strict=True)
        for unit in comparison.units
        for claim in claims_of[unit.unit_id]
    }


def _effect(
    comparison: ComparisonScore, weights: float, unit: UnitCoverage, *, is_scored: bool, rules: ScoreRules
) -> float:
    """`weights` is the sum of the weights of the comparison's units with a value."""
    is_decided = unit.source in ("adjudicated", "rule")
    if not unit.weight or is_decided or (unit.source == "assessors" and rules.blend == "human_first"):
        return 0.0
    if unit.value is None:
        coverage = comparison.coverage
        reach = 1.0 if coverage is None else max(coverage, 1 - coverage)
        return reach * unit.weight / (weights + unit.weight)
    claims_weight = 1.0 if unit.source == "claims" else 1 - rules.human_weight
    return claims_weight * _share_of_answer(unit, is_scored=is_scored) * unit.weight / weights


def _share_of_answer(unit: UnitCoverage, *, is_scored: bool) -> float:
    if is_scored:
        return 1 / unit.scored_claims
    # If no claim of the unit is scored yet, the unit's value comes from the assessors' percents.
    share = unit.value if unit.claim_share is None else unit.claim_share
    assert share is not None
    return max(share, 1 - share) / (unit.scored_claims + 1)
