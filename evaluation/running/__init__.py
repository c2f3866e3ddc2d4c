"""Evaluate summaries in memory: from texts and a judge to scores."""

from evaluation.running._cases import (
    DEFAULT_METRICS,
    METRICS,
    EvaluationOptions,
    GivenClaim,
    Metric,
    SummaryInput,
)
from evaluation.running._evaluate import evaluate_summaries, evaluate_summary, stream_evaluations
from evaluation.running._results import EvaluationDetails, JudgedQuestion, JudgedTopic, SummaryEvaluation

__all__ = [
    "DEFAULT_METRICS",
    "METRICS",
    "EvaluationDetails",
    "EvaluationOptions",
    "GivenClaim",
    "JudgedQuestion",
    "JudgedTopic",
    "Metric",
    "SummaryEvaluation",
    "SummaryInput",
    "evaluate_summaries",
    "evaluate_summary",
    "stream_evaluations",
]
