"""An assertion on the scores of one summary, for tests."""

from evaluation._means import is_below
from evaluation.errors import EvaluationError
from evaluation.judging.lexical import LexicalJudge
from evaluation.judging.protocol import Judge
from evaluation.running import METRICS, SummaryEvaluation, SummaryInput, evaluate_summaries


def assert_summary(
    document: str,
    summary: str,
    *,
    reference: str | None = None,
    judge: Judge | None = None,
    target_words: int | None = None,
    language: str = "en",
    **least: float,
) -> SummaryEvaluation:
    """Evaluate a summary, and raise AssertionError if a score is too low or missing.

    `least` has the lowest allowed score of each metric, such as `coverage=0.7`. The default judge is the offline
    `LexicalJudge`. Returns the evaluation if all scores are high enough. Raises AssertionError with the reason for
    each score that is too low or missing. Raises EvaluationError if a metric is unknown or no metric is given.
    Example: `assert_summary(document, summary, coverage=0.7, alignment=0.9)`.
    """
    if not least:
        known = ", ".join(METRICS)
        raise EvaluationError(f"Name the least score of a metric, as coverage=0.7. Known: {known}.")
    item = SummaryInput(document, summary, reference, target_words=target_words, language=language)
    (result,) = evaluate_summaries([item], judge=judge or LexicalJudge(), metrics=list(least))
    faults = [
        f"{metric} is {'unscored' if value is None else f'{value:.4f}'}, not {bar:g} or more. "
        f"{result.reasons.get(metric, '')}".rstrip()
        for metric, bar in least.items()
        if (value := result.scores[metric]) is None or is_below(value, bar)
    ]
    if faults:
        raise AssertionError("\n".join(faults))
    return result
