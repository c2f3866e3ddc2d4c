"""Agreement: how alike two goes at the same items came out."""

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation._guards import check_same_length, checked_percent
from evaluation._means import mean

PERCENT_STEP = 20
"""One step of the DUC scale, which is what "within a step" means on any scale: so figures can be compared."""


@dataclass(frozen=True, slots=True)
class PercentAgreement:
    """How alike two goes at the same units came out.

    `items` counts the units with a percent in both. `exact` and `within_step` are the shares of equal percents
    and of those at most a step apart, in [0, 1], higher is better; `mean_difference` is the mean absolute
    difference in points of percent, 0 to 100, lower is better. All three are None where there are no such units.
    """

    items: int
    exact: float | None
    within_step: float | None
    mean_difference: float | None


def percent_agreement(
    first: Sequence[float | None], second: Sequence[float | None], *, step: float = PERCENT_STEP
) -> PercentAgreement:
    """How far two lists of percents agree, item by item: of two assessors, or of one and the same twice.

    Percents are 0 to 100, None where one is missing; an item that lacks either is left out. Nothing is taken off
    for agreement by chance.
    Raises InvalidPercent for a percent or step outside 0 to 100, LengthMismatch.
    Source: the exact share is what Lin and Hovy measured of DUC's assessors, who matched their own earlier judgment
    82 % of the time, as later papers cite them.
    Example: `percent_agreement([0, 40, 100, 60], [0, 60, 40, None])` has 3 items, 1/3 exact, 2/3 within a step of
    20 and a mean difference of 80/3.
    """
    check_same_length("first", first, "second", second)
    checked_percent(step)
    differences = [
        abs(checked_percent(one) - checked_percent(other))
        for one, other in zip(first, second, strict=True)
        if one is not None and other is not None
    ]
    return PercentAgreement(
        items=len(differences),
        exact=mean(float(difference == 0) for difference in differences),
        within_step=mean(float(difference <= step) for difference in differences),
        mean_difference=mean(differences),
    )
