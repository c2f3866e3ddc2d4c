"""Random samples with known inclusion probabilities."""

import math
import random
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from evaluation._guards import check_choice, checked_weight
from evaluation.errors import EvaluationError, InvalidPercent

Array = NDArray[np.float64]
Design = Literal["uniform", "active"]
"""uniform: equal chances. active: higher chances for items on which the judge is unsure."""

Item = TypeVar("Item", bound=Hashable)
Stratum = TypeVar("Stratum", bound=Hashable)

UNIFORM_FLOOR = 0.5
"""The smallest share of the work that is distributed evenly.

A judge's uncertainty often predicts its errors badly, and then sampling by it alone is worse than equal chances
(arXiv 2511.08991).
"""
_ALL_BUT_WHOLE = 1e-9


def inclusion_probabilities(
    spreads: Mapping[Item, float], strata: Mapping[Item, Stratum], *, size: int, design: Design
) -> dict[Item, float]:
    """Compute the inclusion probabilities of a sample. Each stratum gets a part of the sample in proportion to its
    size.

    `uniform`: size/N for every item. `active`: within each stratum, the part `UNIFORM_FLOOR` of the sample is spread
    evenly and the rest in proportion to `spreads`. The variance of the estimate is smallest if the spread of an item
    is sqrt(p (1 - p)) for a calibrated probability p. Items whose probability would exceed 1 are sampled with
    certainty, and the other items share the rest. A stratum whose spreads are all 0 is uniform.
    Raises InvalidWeight for a spread that is negative or not finite, EvaluationError unless size is in 1 to the
    number of items.
    Source: Zrnic and Candes, Active statistical inference, arXiv 2403.03208; the floor follows arXiv 2511.08991.
    Example: spreads .3 and .1 of one stratum at size 1 give .5 * .75 + .25 = .625 and .5 * .25 + .25 = .375.
    """
    check_choice("The design", design, get_args(Design))
    if not 0 < size <= len(spreads):
        raise EvaluationError(f"Between 1 and {len(spreads)} items can be sampled, not {size}.")
    for item, spread in spreads.items():
        checked_weight(f"The spread of {item!r}", spread)
    if design == "uniform":
        return dict.fromkeys(spreads, size / len(spreads))
    members: dict[Stratum, list[Item]] = defaultdict(list)
    for item in spreads:
        members[strata[item]].append(item)
    found: dict[Item, float] = {}
    for items in members.values():
        own = np.array([spreads[item] for item in items], dtype=np.float64)
        chances = active_chances(own, size * len(items) / len(spreads))
        found |= dict(zip(items, chances.tolist(), strict=True))
    return {item: found[item] for item in spreads}


def active_chances(spreads: Array, size: float) -> Array:
    """Compute chances that add up to the size: the part `UNIFORM_FLOOR` is even, the rest is in proportion to the
    spreads.

    A chance that would exceed 1 is 1.
    """
    even, left = UNIFORM_FLOOR * size / max(1, len(spreads)), (1 - UNIFORM_FLOOR) * size
    # Divide by the largest spread first, because the sum of huge spreads would overflow.
    weights = spreads / spreads.max(initial=0.0) if spreads.any() else np.ones_like(spreads)
    is_full = np.zeros(len(spreads), dtype=np.bool_)
    while True:
        is_open = ~is_full
        total = float(weights[is_open].sum())
        parts = weights / total if total > 0 else np.full(len(weights), 1 / max(1, int(is_open.sum())))
        chances: Array = np.where(is_full, 1.0, even + left * parts)
        over = is_open & (chances > 1)
        if not over.any():
            return chances
        is_full |= over
        left -= float(over.sum()) * (1 - even)


def fixed_size_sample(
    probabilities: Mapping[Item, float], *, seed: int, strata: Mapping[Item, Any] | None = None
) -> dict[Item, float]:
    """Draw a sample with exactly these inclusion probabilities and a fixed size.

    The size is the sum of the probabilities, also within each of the `strata`; if the sum is not an integer, the size
    is one of the two nearest integers. The method is systematic sampling: the items lie on a line in random order,
    each as long as its probability. Points at distance 1 from each other, with a random start, choose the items. The
    result has the order of `probabilities` and depends only on the arguments.
    Raises InvalidPercent for a probability outside 0 to 1. Items with probability 0 are never sampled.
    Source: Madow, On the theory of systematic sampling II, 1949; in random order Goodman and Kish, 1950.
    Example: probabilities .5, .5, 1 always sample the third item and one of the first two.
    """
    for item, probability in probabilities.items():
        if not 0 <= probability <= 1:
            raise InvalidPercent(f"The probability of {item!r} must lie in 0 to 1, got {probability!r}.")
    chance = random.Random(f"systematic:{seed}")
    order = [item for item, probability in probabilities.items() if probability < 1]
    chance.shuffle(order)
    if strata is not None:
        places = {stratum: place for place, stratum in enumerate(dict.fromkeys(strata.values()))}
        order.sort(key=lambda item: places[strata[item]])
    sampled = {item for item, probability in probabilities.items() if probability >= 1}
    ends = list(_running_sums([probabilities[item] for item in order]))
    start = chance.random()
    for item, begin, end in zip(order, [0.0, *ends], ends, strict=False):
        # The points are start, start + 1, ... Choose the item if a point is between its begin and its end.
        if math.ceil(end - start) > math.ceil(begin - start):
            sampled.add(item)
    return {item: probability for item, probability in probabilities.items() if item in sampled}


def _running_sums(values: Sequence[float]) -> list[float]:
    """Return cumulative sums; the total is rounded if it is within 1e-9 of an integer."""
    sums, total = [], 0.0
    for value in values:
        total += value
        sums.append(total)
    if sums and abs(sums[-1] - round(sums[-1])) < _ALL_BUT_WHOLE:
        sums[-1] = float(round(sums[-1]))
    return sums
