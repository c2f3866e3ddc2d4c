"""Metrics: scores from labels, percents or texts, and criteria with their packs."""

from evaluation.metrics._alignment import alignment, factual_alignment
from evaluation.metrics._brevity import brevity
from evaluation.metrics._completeness import Completeness, completeness
from evaluation.metrics._composite import composite, weighted_composite
from evaluation.metrics._conciseness import ConcisenessTerms, conciseness, conciseness_terms
from evaluation.metrics._coverage import (
    claim_coverage,
    mean_coverage,
)
from evaluation.metrics._criteria import (
    JUDGED,
    LONGEST_QUESTION,
    MOST_JUDGED,
    PACKS,
    UNMARKED,
    Criterion,
    checked_criteria,
    counted,
    read_criteria,
)
from evaluation.metrics._explained import explained_completeness, explained_redundancy, explained_topics
from evaluation.metrics._marks import Marks, MarkWarning
from evaluation.metrics._pyramid import MeanRounding, PyramidScore, pyramid_score
from evaluation.metrics._questions import (
    question_coverage,
    question_coverage_or_none,
    scored_pairs,
    topic_preservation,
)
from evaluation.metrics._redundancy import redundancy, repeated_sentences
from evaluation.metrics._summarization import SummarizationResult, summarization

USUAL_METRICS = ("coverage", "alignment")
"""The default metrics of a gate."""

__all__ = [
    "JUDGED",
    "LONGEST_QUESTION",
    "MOST_JUDGED",
    "PACKS",
    "UNMARKED",
    "USUAL_METRICS",
    "Completeness",
    "ConcisenessTerms",
    "Criterion",
    "MarkWarning",
    "Marks",
    "MeanRounding",
    "PyramidScore",
    "SummarizationResult",
    "alignment",
    "brevity",
    "checked_criteria",
    "claim_coverage",
    "completeness",
    "composite",
    "conciseness",
    "conciseness_terms",
    "counted",
    "explained_completeness",
    "explained_redundancy",
    "explained_topics",
    "factual_alignment",
    "mean_coverage",
    "pyramid_score",
    "question_coverage",
    "question_coverage_or_none",
    "read_criteria",
    "redundancy",
    "repeated_sentences",
    "scored_pairs",
    "summarization",
    "topic_preservation",
    "weighted_composite",
]
