"""Alignment of a summary with its source, and its harmonic mean with coverage."""

from collections.abc import Iterable

from evaluation._guards import checked_share
from evaluation._labels import Label, count_labels


def alignment(labels: Iterable[Label | None]) -> float | None:
    """Compute the share of the summary's claims that the source supports; also called factual consistency.

    In [0, 1], higher is better: the claims with `yes` divided by the scored claims. `unsure` counts as not yes;
    unscored claims (None) are ignored. Returns None if there are no scored claims. Raises InvalidLabel. Source: the
    alignment part of the summarization metrics of DeepEval and Mastra. Here a missing verdict neither passes nor fails,
    and a summary without claims has no score. Example: `alignment(["yes", "no", None])` is 0.5.
    """
    return count_labels(labels).share_of_yes


def factual_alignment(coverage: float | None, consistency: float | None) -> float | None:
    """Compute the harmonic mean of claim coverage (recall) and alignment (precision).

    In [0, 1], higher is better; 0 if either is 0, None if either is None. Raises InvalidPercent if a part is outside 0
    to 1. Source: the factual alignment metric of Assert LLM Tools (an F1). Example: `factual_alignment(0.5, 1.0)` is
    0.666667.
    """
    if coverage is None or consistency is None:
        return None
    checked_share("Coverage", coverage)
    checked_share("Consistency", consistency)
    if min(coverage, consistency) == 0:
        return 0.0
    # This is 2 / (1 / coverage + 1 / consistency), written so that it does not divide by the smallest numbers, which
    # would overflow.
    smaller, larger = sorted((coverage, consistency))
    return min(2 * smaller / (1 + smaller / larger), 1.0)
