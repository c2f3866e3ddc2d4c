"""Score summaries from texts and answers.

More names are in the packages `gate`, `running`, `blend` (the score of a summary), `judging`, `statistics`, `metrics`
and `text`, and in the modules `client` and `errors`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluation._labels import Label
    from evaluation.blend import (
        ScoredClaim,
        ScoredComparison,
        ScoredSummary,
        ScoredUnit,
        ScoreRules,
        SummaryScore,
        score,
    )
    from evaluation.errors import EvaluationError, JudgeError
    from evaluation.judging import (
        JudgePanel,
        LexicalJudge,
        Limits,
        MoneyCap,
        OpenAIJudge,
        Price,
        Verdict,
        check_claims,
        extract_claims,
    )
    from evaluation.metrics import (
        Criterion,
        alignment,
        brevity,
        claim_coverage,
        completeness,
        composite,
        conciseness,
        factual_alignment,
        mean_coverage,
        pyramid_score,
        question_coverage,
        redundancy,
        summarization,
        topic_preservation,
    )
    from evaluation.running import (
        METRICS,
        SummaryEvaluation,
        SummaryInput,
        evaluate_summaries,
        evaluate_summary,
        stream_evaluations,
    )
    from evaluation.statistics import (
        FEWEST_FOR_INTERVAL,
        bootstrap_interval,
        cohen_kappa,
        expanded_tails,
        krippendorff_alpha,
        prediction_powered_mean,
    )
    from evaluation.text import count_words, split_sentences

__all__ = [
    "FEWEST_FOR_INTERVAL",
    "METRICS",
    "Criterion",
    "EvaluationError",
    "JudgeError",
    "JudgePanel",
    "Label",
    "LexicalJudge",
    "Limits",
    "MoneyCap",
    "OpenAIJudge",
    "Price",
    "ScoreRules",
    "ScoredClaim",
    "ScoredComparison",
    "ScoredSummary",
    "ScoredUnit",
    "SummaryEvaluation",
    "SummaryInput",
    "SummaryScore",
    "Verdict",
    "alignment",
    "bootstrap_interval",
    "brevity",
    "check_claims",
    "claim_coverage",
    "cohen_kappa",
    "completeness",
    "composite",
    "conciseness",
    "count_words",
    "evaluate_summaries",
    "evaluate_summary",
    "expanded_tails",
    "extract_claims",
    "factual_alignment",
    "krippendorff_alpha",
    "mean_coverage",
    "prediction_powered_mean",
    "pyramid_score",
    "question_coverage",
    "redundancy",
    "score",
    "split_sentences",
    "stream_evaluations",
    "summarization",
    "topic_preservation",
]

_ROOMS = ("errors", "text", "metrics", "judging", "blend", "running", "statistics", "gate", "client")


def __getattr__(name: str) -> object:
    # Import packages on first use.
    if name in _ROOMS:
        return import_module(f"evaluation.{name}")
    if name in __all__:
        for room in _ROOMS:
            if hasattr(found := import_module(f"evaluation.{room}"), name):
                return getattr(found, name)
    raise AttributeError(f"module 'evaluation' has no attribute {name!r}")
