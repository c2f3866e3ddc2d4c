"""Pyramid scores: the share of a pyramid's weight that a summary expresses. A pyramid has the content units of
several references, weighted by the number of references that contain them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation._guards import check_choice, check_same_length, checked_weight
from evaluation.errors import EvaluationError

MeanRounding = Literal["floor", "ceil"]


@dataclass(frozen=True, slots=True)
class PyramidScore:
    """The weight of a summary in a pyramid, the largest possible weights, and the scores.

    `weight` is the sum of the weights of the expressed content units. `modified_ideal` is the largest weight of as many
    units as the mean reference has, `original_ideal` of as many as the summary has. The scores are in [0, 1], None if
    undefined. `reference_units` is None if the number of references is unknown.
    """

    weight: float
    modified: float | None
    original: float | None
    modified_ideal: float | None
    original_ideal: float
    reference_units: int | None
    summary_units: int


def pyramid_score(
    weights: Sequence[float],
    expressed: Sequence[bool],
    *,
    references: int | None,
    contributors: int | None = None,
    unmatched: int = 0,
    mean_rounding: MeanRounding = "floor",
) -> PyramidScore:
    """Compute the share of a pyramid's weight that a summary expresses, relative to the largest possible weight.

    `weights` has the weight of each content unit of the pyramid and `expressed` is True for each unit that the summary
    expresses. `unmatched` counts the summary's units outside of the pyramid. Scores are in [0, 1], higher is better.
    The modified score (recall) compares with as many units as a reference has on average. It is None without
    `references` or if the largest weight is 0. The original score (density) compares with as many units as the summary
    has; it is None if that weight is 0, as without units. `contributors` replaces the sum of the weights, which is
    divided by `references` for the mean. `mean_rounding` rounds the mean: `floor` as DUCView does, `ceil` as a later
    implementation does. Raises LengthMismatch, InvalidWeight, EvaluationError for a negative count or fewer than 1
    reference. Source: Nenkova and Passonneau 2004; the modified score as DUCView computes it, at most 1. Example: the
    weights are one 4, three 3s, one 2 and thirteen 1s, in sum 28, from 4 references. The summary expresses the 4 and
    one 3. A reference has 28 / 4 = 7 units on average. The 7 largest weights add up to 17, so the modified score is
    7/17 = .411765. The 2 largest weights add up to 7, so the original score is 7/7 = 1.
    """
    check_same_length("weights", weights, "expressed", expressed)
    check_choice("mean_rounding", mean_rounding, ("floor", "ceil"))
    _check_counts(references, contributors, unmatched)
    ordered = sorted((checked_weight("A weight", weight) for weight in weights), reverse=True)
    reached = math.fsum(weight for weight, is_there in zip(weights, expressed, strict=True) if is_there)
    summary_units = sum(map(bool, expressed)) + unmatched
    total = math.fsum(ordered) if contributors is None else contributors
    rounded = math.floor if mean_rounding == "floor" else math.ceil
    reference_units = None if references is None else rounded(total / references)
    modified_ideal = None if reference_units is None else math.fsum(ordered[:reference_units])
    original_ideal = math.fsum(ordered[:summary_units])
    return PyramidScore(
        weight=reached,
        modified=_share(reached, modified_ideal),
        original=_share(reached, original_ideal),
        modified_ideal=modified_ideal,
        original_ideal=original_ideal,
        reference_units=reference_units,
        summary_units=summary_units,
    )


def _check_counts(references: int | None, contributors: int | None, unmatched: int) -> None:
    if references is not None and references < 1:
        raise EvaluationError(f"A pyramid is made of at least 1 reference summary, got {references}.")
    for name, count in (("contributors", contributors), ("unmatched", unmatched)):
        if count is not None and count < 0:
            raise EvaluationError(f"{name} must be at least 0, got {count}.")


def _share(reached: float, ideal: float | None) -> float | None:
    return min(reached / ideal, 1.0) if ideal else None
