"""The blend: scores of a summary from answers of judges and people."""

from evaluation._signature import VERSION, signature
from evaluation.blend._impacts import flip_impacts
from evaluation.blend._score import (
    AssessorAverage,
    Blend,
    ComparisonScore,
    FinalSource,
    OverLength,
    ScoredClaim,
    ScoredComparison,
    ScoredSummary,
    ScoredUnit,
    ScoreRules,
    SummarizationPart,
    SummaryScore,
    UnitCoverage,
    UnitSource,
    left_out_of_averages,
    score,
    unit_coverage,
)

__all__ = [
    "VERSION",
    "AssessorAverage",
    "Blend",
    "ComparisonScore",
    "FinalSource",
    "OverLength",
    "ScoreRules",
    "ScoredClaim",
    "ScoredComparison",
    "ScoredSummary",
    "ScoredUnit",
    "SummarizationPart",
    "SummaryScore",
    "UnitCoverage",
    "UnitSource",
    "flip_impacts",
    "left_out_of_averages",
    "score",
    "signature",
    "unit_coverage",
]
