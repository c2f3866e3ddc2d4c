"""Question coverage and topic preservation: the shares of the source's questions and topics that a summary covers."""

from collections.abc import Iterable, Sequence

from evaluation._guards import check_same_length
from evaluation._labels import Label, checked_labels, count_labels


def question_coverage(
    source_answers: Sequence[Label | None], summary_answers: Sequence[Label | None]
) -> float | None:
    """Compute the share of the questions answered yes from the source that the summary also answers with yes.

    In [0, 1], higher is better. Both lists have the order of the questions. A pair with an unscored answer (None) is
    ignored. If no scored pair has yes from the source, the result is 0, as in DeepEval, or None if an unscored pair
    could have yes.
    Raises LengthMismatch, InvalidLabel.
    Source: the coverage part of the summarization metric of DeepEval.
    Example: `question_coverage(["yes", "yes", "no"], ["yes", "no", "no"])` is 0.5.
    """
    if _count_pairs(source_answers, summary_answers) == (0, 0, 0):
        return 0.0
    return question_coverage_or_none(source_answers, summary_answers)


def question_coverage_or_none(
    source_answers: Sequence[Label | None], summary_answers: Sequence[Label | None]
) -> float | None:
    """Compute `question_coverage`, but return None instead of 0 if no scored source answer is yes.

    Raises LengthMismatch, InvalidLabel. Example: `question_coverage_or_none(["no"], ["yes"])` is None.
    """
    both_yes, source_yes, _ = _count_pairs(source_answers, summary_answers)
    return both_yes / source_yes if source_yes else None


def scored_pairs(
    source_answers: Sequence[Label | None], summary_answers: Sequence[Label | None]
) -> tuple[int, int]:
    """Count the scored pairs that question coverage uses, and these together with the unscored pairs that it may use
    once they are scored.

    Raises LengthMismatch, InvalidLabel.
    Example: `scored_pairs(["yes", None, "no"], ["yes", "yes", "no"])` is (1, 2).
    """
    _, source_yes, open_pairs = _count_pairs(source_answers, summary_answers)
    return source_yes, source_yes + open_pairs


def topic_preservation(labels: Iterable[Label | None]) -> float | None:
    """Compute the share of the source's main topics that the summary covers.

    In [0, 1], higher is better: the topics with `yes` divided by the scored topics. Unscored topics (None) are ignored.
    Returns None if there are no scored topics. Raises InvalidLabel. Source: the topic preservation metric of Assert LLM
    Tools. A source without topics has no score here. Example: `topic_preservation(["yes", "no", "yes", None])` is
    0.666667.
    """
    return count_labels(labels).share_of_yes


def _count_pairs(source: Sequence[Label | None], summary: Sequence[Label | None]) -> tuple[int, int, int]:
    """Count the scored pairs with yes from both, those with yes from the source, and the unscored pairs with yes or
    None from the source.
    """
    check_same_length("source answers", source, "summary answers", summary)
    pairs = list(zip(checked_labels(source), checked_labels(summary), strict=True))
    scored = [(left, right) for left, right in pairs if left is not None and right is not None]
    open_pairs = [left for left, right in pairs if (left is None or right is None) and left in ("yes", None)]
    source_yes = [right for left, right in scored if left == "yes"]
    return source_yes.count("yes"), len(source_yes), len(open_pairs)
