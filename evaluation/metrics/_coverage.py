"""Coverage: the share of the reference's content that a summary expresses."""

from collections.abc import Iterable, Sequence

from evaluation._guards import check_same_length, checked_percent
from evaluation._labels import Label, count_labels
from evaluation._means import weighted_mean


def mean_coverage(percents: Sequence[float | None], weights: Sequence[float] | None = None) -> float | None:
    """Compute the share of the reference's content that the summary expresses, from percents of reference units.

    `percents` has one value from 0 to 100 per reference unit; None means unscored and is ignored. The result is in
    [0, 1], higher is better; it is None if no unit is scored or the scored units' weights sum to 0. All weights are 1
    by default.
    Raises InvalidPercent for a percent outside 0 to 100, InvalidWeight for a negative or non-finite weight, and
    LengthMismatch.
    Source: DUC 2002, length-adjusted coverage, point 2; DUC 2003 mean coverage.
    Example: `mean_coverage([0, 0, 0, 60, 60, 60, 100])` is 0.4.
    """
    if weights is None:
        weights = [1.0] * len(percents)
    check_same_length("percents", percents, "weights", weights)
    coverage = weighted_mean(_checked(percents), weights)
    return None if coverage is None else coverage / 100


def claim_coverage(labels: Iterable[Label | None]) -> float | None:
    """Compute the share of the reference's claims that the summary expresses.

    In [0, 1], higher is better: the claims with `yes` divided by the scored claims. `unsure` counts as not yes;
    unscored claims (None) are ignored. Returns None if all claims are unscored. Returns 1.0 if there are no claims,
    because nothing can be missing; leave such a summary out of averages. Raises InvalidLabel.
    Source: the coverage metric of Assert LLM Tools: claims in summary / total reference claims.
    Example: `claim_coverage(["yes", "yes", "no", "no"])` is 0.5.
    """
    counts = count_labels(labels)
    if counts.scored + counts.unscored == 0:
        return 1.0
    return counts.share_of_yes


def _checked(percents: Sequence[float | None]) -> list[float | None]:
    return [None if percent is None else checked_percent(float(percent)) for percent in percents]
