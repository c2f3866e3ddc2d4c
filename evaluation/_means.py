"""Means that do not depend on the order of their values."""

import math
from collections.abc import Iterable, Sequence

from evaluation._guards import check_same_length, checked_weight

ROUNDING = 1e-9
"""The tolerance for rounding when means are compared."""


def mean(values: Iterable[float | None]) -> float | None:
    """Return the arithmetic mean of the values that are not None; None if there are none."""
    present = [value for value in values if value is not None]
    return math.fsum(present) / len(present) if present else None


def weighted_mean(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """Return the weighted mean of the values that are not None.

    The result is None if there are no such values or their weights add up to 0. Otherwise it is within the range of the
    values. Raises LengthMismatch, InvalidWeight.
    """
    check_same_length("values", values, "weights", weights)
    is_equal = len(set(weights)) == 1
    for weight in weights[:1] if is_equal else weights:
        checked_weight("A weight", weight)
    if is_equal and weights[0] > 0:
        # If all weights are equal, the mean without weights is the same and faster.
        return _clamped(mean(values), values)
    present = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None]
    largest = max((weight for _, weight in present), default=0.0)
    if largest == 0:
        return None
    # Divide by the largest weight first, because the sum of huge weights would overflow.
    total = math.fsum(weight / largest for _, weight in present)
    result = math.fsum(value * (weight / largest) for value, weight in present) / total
    return _clamped(result, [value for value, _ in present])


def _clamped(result: float | None, values: Sequence[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return None if result is None else min(max(result, min(present)), max(present))


def is_below(value: float, bar: float) -> bool:
    """Return True if a value is below a bar by more than `ROUNDING`.

    Example: `is_below((0.3 + 0.6) / 2, 0.45)` is False, although the mean is .44999999999999996.
    """
    return value < bar - ROUNDING
