"""Sentences about estimates: where they come from and what their intervals cover."""

from __future__ import annotations

from annotation.analysis.estimates.estimates import EstimateState, EstimateTable
from evaluation.statistics import FEW_DOCUMENTS, TOO_FEW_DOCUMENTS

CAPTION = "what people would say of all claims, including the judge's errors"
CAPTION_OF_PEOPLE = "what people would say of all claims, from their sampled answers alone"
NO_SAMPLE = "No estimate yet: review a random sample first."
ALL_ANSWERED = "No estimate is needed: people answered every check."


def caption_of_estimate(table: EstimateTable) -> str:
    """What the interval of an estimate covers."""
    return CAPTION_OF_PEOPLE if table.state == EstimateState.PEOPLE else CAPTION


def estimate_in_words(table: EstimateTable) -> str:
    """The sample behind the estimates, or the reason that there are none."""
    newer = table.newer and (
        f"The random sample of {table.newer.day} has {table.newer.answered:,} of {table.newer.sampled:,} answered. "
        "Estimates use it once all are answered."
    )
    if table.sample is None:
        return newer or (ALL_ANSWERED if table.is_all_answered else NO_SAMPLE)
    if not table.documents:
        return f"No estimate: the random sample of {table.sample.day} has no checks at this target length."
    said = [
        f"From the random sample of {table.sample.day}: {table.sample.sampled:,} checks, in at least "
        f"{table.answered_documents} document sets of every system."
    ]
    if table.state == EstimateState.PEOPLE:
        why = "the judge would not narrow any interval"
        if not table.has_judge:
            why = "the judge recorded no probabilities"
        elif table.answered_documents < TOO_FEW_DOCUMENTS:
            why = f"using the judge needs {TOO_FEW_DOCUMENTS} document sets"
        said.append(f"Only people's sampled answers are used because {why}.")
    elif table.state == EstimateState.FEW:
        said.append(f"Below {FEW_DOCUMENTS} document sets, an interval may miss more often than stated.")
    if table.came_after:
        said.append(f"{table.came_after:,} checks were added after the sample and are not covered.")
    return " ".join([*said, *([newer] if newer else [])])
