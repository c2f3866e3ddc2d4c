"""Brevity: DUC 2002's bonus for a summary shorter than its target."""

from evaluation.errors import InvalidBudget


def brevity(summary_words: int, target_words: int | None) -> float | None:
    """Compute the share of the target length that a summary leaves unused.

    In [0, 1]: 1 for an empty summary, 0 if the summary reaches or exceeds the target. None without a target. Both
    lengths are in the project's unit, usually words. Raises InvalidBudget if the target is below 1 or the length
    below 0.
    Source: DUC 2002, length-adjusted coverage, point 3.
    Example: 47 words of a 50-word target give 0.06.
    """
    if summary_words < 0:
        raise InvalidBudget(f"A length must be at least 0, got {summary_words}.")
    if target_words is None:
        return None
    if target_words < 1:
        raise InvalidBudget(
            f"A target length must be at least 1, got {target_words}; leave it out for no target."
        )
    return max(0, target_words - summary_words) / target_words
