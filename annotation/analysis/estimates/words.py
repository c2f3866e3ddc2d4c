"""Sentences about estimates: where they come from and what they assume."""

from __future__ import annotations

from annotation.analysis.estimates.estimates import EstimateState, EstimateTable
from annotation.analysis.estimates.samples import SampleProgress
from annotation.analysis.intervals import no_interval_in_words
from annotation.models import Draw
from evaluation.statistics import FEW_DOCUMENTS, TOO_FEW_DOCUMENTS

CAPTION = (
    "what people would say of all claims, in the population that the document sets represent, including the "
    "judge's errors"
)
CAPTION_OF_PEOPLE = (
    "what people would say of all claims, in the population that the document sets represent, from their "
    "sampled answers alone"
)
NO_SAMPLE = (
    "No estimate yet: review a random sample first. Other answers by reviewers count only if the sample "
    "includes their checks."
)
ALL_ANSWERED = "No estimate is needed: people answered every check."


def caption_of_estimate(table: EstimateTable) -> str:
    """What the interval of an estimate covers."""
    return CAPTION_OF_PEOPLE if table.state == EstimateState.PEOPLE else CAPTION


def estimate_in_words(table: EstimateTable) -> str:
    """Where the estimates come from and what they may be trusted for, or why there are none."""
    newer = _open_in_words(table.newer) if table.newer else ""
    if table.sample is None:
        return newer or (ALL_ANSWERED if table.is_all_answered else NO_SAMPLE)
    if not table.documents:
        return f"No estimate: the random sample of {table.sample.day} has no checks at this target length."
    after = (
        f"{table.came_after:,} checks were added after the random sample and are not covered by it."
        if table.came_after
        else ""
    )
    told = (
        f"From the random sample of {table.sample.day}: {table.sample.drawn:,} checks, answered before the judge's "
        "answer was shown.",
        _state_in_words(table),
        _saved_in_words(table),
        after,
        newer,
    )
    return " ".join(filter(None, told))


def _state_in_words(table: EstimateTable) -> str:
    answered = table.answered_documents
    if not table.has_judge:
        return "Only people's sampled answers are used because the judge recorded no probabilities."
    if answered < TOO_FEW_DOCUMENTS:
        why = no_interval_in_words(answered)
        return (
            f"Only people's sampled answers are used: using the judge needs answers in {TOO_FEW_DOCUMENTS} "
            f"document sets for every system (fewest: {answered}{f'; {why}' if why else ''})."
        )
    fewest = f"Every system has answers in at least {answered} document sets"
    if table.state == EstimateState.PEOPLE:
        return (
            f"{fewest}. Only people's sampled answers are used because the judge would not narrow any "
            "interval."
        )
    if table.state == EstimateState.FEW:
        return f"{fewest}. Below {FEW_DOCUMENTS}, an interval may miss more often than stated."
    return f"{fewest}."


def _saved_in_words(table: EstimateTable) -> str:
    """How much the judge is worth, as answers of people; nothing where people stand alone."""
    if table.labels_saved is None:
        return ""
    if table.labels_saved < 1:
        return "The judge saves no answers here."
    by_chance = table.sample is not None and table.sample.method == Draw.Method.UNIFORM
    what = "The judge adds" if by_chance else "The judge and the sampling design together add"
    return (
        f"{what} the precision of {table.labels_saved:,.0f} more human answers per system, on average, "
        "compared with people alone on a simple random sample of the same size."
    )


def _open_in_words(newest: SampleProgress) -> str:
    return (
        f"The random sample of {newest.day} has {newest.answered:,} of {newest.drawn:,} answered. Estimates use it "
        "once all are answered."
    )
