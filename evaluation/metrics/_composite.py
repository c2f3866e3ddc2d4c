"""Composites: weighted means of coverage and brevity, and of any scores."""

import math
from collections.abc import Mapping

from evaluation._guards import checked_share
from evaluation.errors import InvalidWeight

DUC_COVERAGE_WEIGHT = 2 / 3


def composite(coverage: float | None, brevity: float | None, a: float = DUC_COVERAGE_WEIGHT) -> float | None:
    """Compute the weighted mean of coverage and brevity; `a` is the weight of coverage.

    In [0, 1], higher is better. `a` = 1 uses only coverage and `a` = 0 only brevity; the unused part may be None.
    Returns None if a used part is None. Compare composites only between summaries with the same target length.
    Raises InvalidWeight if `a` is outside 0 to 1, InvalidPercent if coverage or brevity is.
    Source: DUC 2002, length-adjusted coverage, point 4; NIST reported a = 1 and a = 2/3.
    Example: coverage 0.4 with brevity 0.06 gives 0.286667.
    """
    if not 0 <= a <= 1:
        raise InvalidWeight(f"The weight of coverage must lie in 0 to 1, got {a!r}.")
    return weighted_composite({"coverage": coverage, "brevity": brevity}, {"coverage": a, "brevity": 1 - a})


def weighted_composite(values: Mapping[str, float | None], weights: Mapping[str, float]) -> float | None:
    """Compute the mean of the named values with the weights, which are divided by their sum.

    In [0, 1]. Values with the weight 0 or without a weight are not used. Returns None if a used value is None or
    missing. Raises InvalidWeight if a weight is negative or not finite or none is positive, InvalidPercent if a value
    is outside 0 to 1. Example: coverage .8 and tone .5 with the weights 2 and 1 give (2 * .8 + .5) / 3 = .7.
    """
    used = {name: weight for name, weight in weights.items() if weight != 0}
    if not used or min(used.values()) < 0 or not math.isfinite(total := sum(used.values())):
        raise InvalidWeight("Weights must be finite and not negative, and one of them must be positive.")
    shares = {name: checked_share(name, value) for name, value in values.items() if value is not None}
    if not used.keys() <= shares.keys():
        return None
    return min(sum(weight * shares[name] for name, weight in used.items()) / total, 1.0)
