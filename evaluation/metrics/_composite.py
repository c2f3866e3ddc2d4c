"""The composite: the weighted mean of coverage and brevity."""

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
    _check_weight(a)
    if coverage is not None:
        checked_share("Coverage", coverage)
    if brevity is not None:
        checked_share("Brevity", brevity)
    if a == 1:
        return coverage
    if a == 0:
        return brevity
    if coverage is None or brevity is None:
        return None
    return min(a * coverage + (1 - a) * brevity, 1.0)


def _check_weight(a: float) -> None:
    if not 0 <= a <= 1:
        raise InvalidWeight(f"The weight of coverage must lie in 0 to 1, got {a!r}.")
