"""How far raters differ, from checks that several of them rated, and what that adds to the error of an estimate.

A rater who says yes more readily than others does so in every document. Answers of one rater therefore err together,
and the spread between documents, from which an estimate's error is told, shows nothing of it.
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError

Array = NDArray[np.float64]
Key = TypeVar("Key", bound=Hashable)
Pairs = Mapping[tuple[Hashable, Hashable], float]

FEWEST_RATERS = 3
FEWEST_DOUBLE_DOCUMENTS = 10
WIDENED_AT_MOST = 0.025
"""What an estimate's standard error may grow by for not knowing better that raters are alike."""

LEAST_OF_ITS_ERROR = 0.5
"""A variance of leniency is never taken as smaller than this share of its error: below that it came out by chance."""

_NOTHING = 1e-9


class Rating(NamedTuple):
    """What one rater said of one item of a document, in [0, 1]."""

    document: Hashable
    item: Hashable
    rater: Hashable
    value: float


@dataclass(frozen=True, slots=True)
class RaterSpread:
    """How raters differ on items that two or more of them rated. Made by `rater_spread`.

    `noise` is the variance of the answers to one item over raters, its mean over items; None without such items.
    `leniency` is the unbiased variance of raters' leniency, how far one's answers lie above the mean of all raters'
    wherever they answer: it may fall below 0, and is None of a single document or rater. `error` is the standard error
    that it would have if raters were alike, `degrees` the effective number of raters less 1.
    """

    items: int
    raters: int
    documents: int
    noise: float | None
    leniency: float | None
    error: float
    degrees: float

    @property
    def is_enough(self) -> bool:
        """Whether an estimate can allow for raters' leniency: from fewer items or raters it would be a guess."""
        return (
            self.leniency is not None
            and self.raters >= FEWEST_RATERS
            and self.documents >= FEWEST_DOUBLE_DOCUMENTS
            and LEAST_OF_ITS_ERROR * self.error <= WIDENED_AT_MOST**2 * (self.degrees + 1)
        )

    @property
    def variance(self) -> float:
        """The variance of leniency that estimates allow for; 0 where it is not known."""
        return 0.0 if self.leniency is None else max(self.leniency, LEAST_OF_ITS_ERROR * self.error)


def rater_spread(ratings: Iterable[Rating]) -> RaterSpread:
    """How raters differ in leniency, and within items, from whatever items two or more of them rated.

    Who rated what may be anything; items rated once are passed over, of two ratings by one rater the first counts.
    Raises EvaluationError for values outside [0, 1].
    Source: Henderson's method of fitting constants, Biometrics 9, 1953, with products over different documents alone,
    so that what one rater thinks of one document is not taken for leniency.
    Example: raters a and b say 1 and 0 to one item in each of two documents. They lie .5 above and below the item's
    mean in both, so b_a - b_b is 1 and the leniency's variance 1/2; the noise within an item is 1/2 too.
    """
    # Of an item with k ratings, q_j = Y_j - mean holds nothing of the item: with C = I - 1/k over its raters, q is
    # C b + noise. Summed by document, E[sum over d != d' of q_d' W q_d'] = σ^2 tr(sum over d != d' of W C_d C_d'),
    # for whatever is said within a document. W = 1 / C_jj weighs raters between by their answers and alike.
    of_items: dict[tuple[Hashable, Hashable], dict[Hashable, float]] = defaultdict(dict)
    for rating in ratings:
        if not 0 <= rating.value <= 1:
            raise EvaluationError(
                f"The rating of item {rating.item!r} must lie in 0 to 1, got {rating.value!r}."
            )
        of_items[rating.document, rating.item].setdefault(rating.rater, rating.value)
    noises: list[float] = []
    apart: dict[Hashable, dict[Hashable, float]] = defaultdict(lambda: defaultdict(float))
    shared: dict[Hashable, dict[tuple[Hashable, Hashable], float]] = defaultdict(lambda: defaultdict(float))
    for (document, _), given in of_items.items():
        count = len(given)
        if count < 2:
            continue
        mean = math.fsum(given.values()) / count
        noises.append(math.fsum((value - mean) ** 2 for value in given.values()) / (count - 1))
        for rater, value in given.items():
            apart[document][rater] += value - mean
            for other in given:
                shared[document][rater, other] += (rater == other) - 1 / count
    return _spread_of(noises, apart, shared)


def _spread_of(
    noises: Sequence[float],
    apart: Mapping[Hashable, Mapping[Hashable, float]],
    shared: Mapping[Hashable, Pairs],
) -> RaterSpread:
    """From q and C of each document."""
    q, c = _total(apart.values()), _total(shared.values())
    own = {rater: c[rater, rater] for rater in q}
    # Over pairs of different documents: over all pairs, less those of each document with itself.
    products = _over_own(q, own) - math.fsum(_over_own(part, own) for part in apart.values())
    squares = pairs = 0.0
    both: tuple[tuple[int, Iterable[Pairs]], ...] = ((1, [c]), (-1, shared.values()))
    for sign, parts in both:
        for part in parts:
            for (one, other), value in part.items():
                squares += sign * value**2 / own[one]
                pairs += sign * value**2 / own[one] / own[other]
    noise = math.fsum(noises) / len(noises) if noises else None
    is_known = noise is not None and squares > _NOTHING
    return RaterSpread(
        items=len(noises),
        raters=len(own),
        documents=len(apart),
        noise=noise,
        leniency=products / squares if is_known else None,
        error=(noise or 0.0) * math.sqrt(2 * max(0.0, pairs)) / squares if is_known else 0.0,
        degrees=sum(own.values()) ** 2 / math.fsum(value**2 for value in own.values()) - 1 if own else 0.0,
    )


def _over_own(sums: Mapping[Hashable, float], own: Mapping[Hashable, float]) -> float:
    return math.fsum(value**2 / own[rater] for rater, value in sums.items())


def _total(parts: Iterable[Mapping[Key, float]]) -> dict[Key, float]:
    total: dict[Key, float] = defaultdict(float)
    for part in parts:
        for key, value in part.items():
            total[key] += value
    return total


def rater_parts(
    documents: NDArray[np.int64], weights: Array, raters: Sequence[Hashable | None], variance: float
) -> dict[Hashable, float]:
    """What each rater's leniency adds to an estimate's error beside what documents show of it, a part of its variance
    when squared.

    `weights` are those of the answers in the estimate, which sum to 1, `documents` and `raters` whose they are; what
    has no rater is known without asking. The spread between documents shows leniency as far as documents have raters
    of their own: all of it where each has, none where one rated everything.
    """
    # With A_dr a rater's weight in a document, W_d the document's and A_r the sum of A_dr, leniency b_r moves the
    # estimate by A_r b_r and the residual of a document by (A_dr - W_d A_r) b_r.
    of_documents = np.bincount(documents, weights=weights)
    answered = np.count_nonzero(of_documents)
    if answered < 2:
        return {}
    held: dict[Hashable, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for place in np.flatnonzero(weights).tolist():
        if (rater := raters[place]) is not None:
            held[rater][int(documents[place])] += float(weights[place])
    parts = {}
    for rater, own in held.items():
        total = math.fsum(own.values())
        shown = -of_documents * total
        shown[list(own)] += list(own.values())
        missing = total**2 - answered / (answered - 1) * float((shown**2).sum())
        parts[rater] = math.sqrt(variance * max(0.0, missing))
    return parts


def joint_degrees(*sources: tuple[float, float]) -> float:
    """Degrees of freedom of a sum of estimated variances, each with its own, after Satterthwaite; at least 1."""
    total = math.fsum(variance for variance, _ in sources)
    spread = math.fsum(variance**2 / degrees for variance, degrees in sources if variance > 0)
    return max(1.0, total**2 / spread) if spread > 0 else min(degrees for _, degrees in sources)
