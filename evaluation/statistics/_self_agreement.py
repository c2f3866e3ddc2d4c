"""Agreement of a judge with itself: the share of answers that change when the same question is asked again."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from evaluation._guards import check_same_length
from evaluation._labels import Label
from evaluation.statistics._agreement import cohen_kappa
from evaluation.statistics._resampling import Estimate, estimates, places_of, sums_by

LENGTHS: Mapping[str, Callable[[int], bool]] = {
    "up to 8 words": lambda words: words <= 8,
    "9 to 16 words": lambda words: 8 < words <= 16,
    "more than 16 words": lambda words: words > 16,
}
"""The ranges of a claim's number of words, by name."""


@dataclass(frozen=True, slots=True)
class SelfAgreement:
    """A judge's first answers compared with its second answers to the same checks with the same settings.

    `flips` is the share of checks whose label changed, in [0, 1], with an interval that resamples documents.
    `by_label` has this share by first label, and `by_length` by range of the claim's number of words. `kappa_ceiling`
    is the largest kappa with people that such a judge can reach: the square root of the kappa between its first and
    second answers. It is 0 if that kappa is negative, None if it is undefined.
    """

    checks: int
    flips: Estimate
    by_label: dict[str, Estimate]
    by_length: dict[str, Estimate]
    kappa_ceiling: float | None


def self_agreement(
    first: Sequence[Label],
    second: Sequence[Label],
    words: Sequence[int],
    documents: Sequence[Hashable],
) -> SelfAgreement:
    """Compute how often a judge's label changes. `words` has the number of words of each check's claim.

    Source of the ceiling: Spearman, "The proof and measurement of association between two things", 1904: the
    correlation of a measure with another measure is at most the square root of its reliability.
    Raises LengthMismatch.
    Example: the first answers are yes, yes, no, no and the second yes, no, no, no. The flip rate is 1/4, for the
    label yes 1/2. Their kappa is 1/2 and the ceiling .707.
    """
    for name, column in (("second", second), ("words", words), ("documents", documents)):
        check_same_length("first", first, name, column)

    def share(is_part: Callable[[int], bool]) -> Estimate:
        places = [place for place in range(len(first)) if is_part(place)]
        rows = np.array([(1, first[place] != second[place]) for place in places], dtype=np.float64)
        where, width = places_of([documents[place] for place in places])
        sums = sums_by(where, width, rows.reshape(-1, 2))
        return estimates(sums, lambda of: of[:, 1:] / of[:, :1], shares=(0,))[0]

    kappa = cohen_kappa(first, second)
    return SelfAgreement(
        checks=len(first),
        flips=share(lambda _: True),
        by_label={label: share(lambda at: first[at] == label) for label in sorted(set(first))},  # noqa: B023
        by_length={
            name: share(lambda at: holds(words[at]))  # noqa: B023 - called at once
            for name, holds in LENGTHS.items()
            if any(map(holds, words))
        },
        kappa_ceiling=None if kappa is None else sqrt(max(0.0, kappa)),
    )
