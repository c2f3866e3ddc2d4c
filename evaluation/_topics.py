"""Topic preservation: whether a summary deals with what its source is about."""

from collections.abc import Iterable

from evaluation._labels import Label, count_labels


def topic_preservation(labels: Iterable[Label | None]) -> float | None:
    """Share of the source's main topics that the summary deals with.

    In [0, 1], higher is better: yes over scored; unscored (None) topics leave the denominator. None where
    there are no topics, or none is scored.
    Raises InvalidLabel.
    Source: the topic preservation metric of Assert LLM Tools; unlike there, no topics give no score instead
    of 0.
    Example: `topic_preservation(["yes", "no", "yes", None])` is 0.666667.
    """
    return count_labels(labels).share_of_yes
