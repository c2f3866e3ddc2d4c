"""The metrics of a run, and the parts of a run that each metric needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

RunPart = Literal[
    "coverage",
    "alignment",
    "questions",
    "topics",
    "conciseness",
    "coherence",
    "completeness",
    "redundancy",
    "criteria",
]


class RunMetric(NamedTuple):
    """A metric of a run: the parts that it needs, and the question that it answers."""

    parts: frozenset[RunPart]
    meaning: str


def _metric(meaning: str, *parts: RunPart) -> RunMetric:
    return RunMetric(frozenset(parts), meaning)


RUN_METRICS: Mapping[str, RunMetric] = {
    "coverage": _metric("How much of the important content does the summary express?", "coverage"),
    "alignment": _metric("Does the source support what the summary says?", "alignment"),
    "factual_alignment": _metric("Coverage and alignment as one number (F1).", "coverage", "alignment"),
    "question_coverage": _metric("Does the summary answer questions that its source answers?", "questions"),
    "topic_preservation": _metric("Does the summary cover the main topics of its source?", "topics"),
    "summarization": _metric("Coverage or alignment, whichever is lower.", "coverage", "alignment"),
    "conciseness": _metric("Does the summary get to the point?", "conciseness"),
    "coherence": _metric("Do the sentences build on each other in a clear order?", "coherence"),
    "criteria": _metric("The judge's answers to the project's own criteria.", "criteria"),
    "completeness": _metric(
        "How many of the source's content words appear in the summary? No calls.", "completeness"
    ),
    "redundancy": _metric(
        "How much of the summary is not repeated? Compares its sentences. No calls.", "redundancy"
    ),
    "brevity": _metric("How much of the target length is unused? No calls."),
}
OTHER_NAMES: Mapping[str, str] = {
    "claim_coverage": "coverage",
    "factual_consistency": "alignment",
    "faithfulness": "alignment",
}
"""Names of metrics of the library, with the equal metric of a run."""


def parts_of(metrics: Iterable[str]) -> frozenset[RunPart]:
    """The parts of a run that these metrics need; unknown names are ignored."""
    known = (RUN_METRICS[name].parts for name in metrics if name in RUN_METRICS)
    return frozenset[RunPart]().union(*known)
