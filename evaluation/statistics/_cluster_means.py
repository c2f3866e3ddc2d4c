"""Means of values that are dependent within clusters: of slices of the document sets, and differences of two means."""

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import scipy

from evaluation._guards import check_confidence
from evaluation.errors import InvalidWeight
from evaluation.statistics._ranges import Precision, interval_within_range
from evaluation.statistics._resampling import FEWEST_FOR_INTERVAL
from evaluation.statistics._systems import holm

FEWEST_IN_SLICE = 10
"""Below this number of document sets, a slice is not tested."""

_NO_ERROR = 1e-12

ValueOf = tuple[Hashable, float]
"""A value and its cluster, such as the document in which it was observed; the cluster comes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceMean:
    """The mean of a system over the document sets of a slice, in [0, 1], with its interval.

    `error` is the standard error and `degrees` its degrees of freedom. `error` and the bounds are None with a single
    cluster or if clusters do not vary.
    """

    mean: float
    documents: int
    degrees: float = 0.0
    error: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class SliceDifference:
    """A system's lead over the other systems in a slice, minus its lead elsewhere.

    `difference` is None if the slice or the rest has fewer than `FEWEST_IN_SLICE` document sets. `p` is the one-sided
    p-value of a negative difference, and `adjusted_p` has Holm's correction over all tested pairs of system and slice.
    Both are None without a difference, if the slice or the rest has fewer than 5 clusters, and if clusters do not vary.
    """

    system: str
    slice: str
    difference: float | None
    p: float | None
    adjusted_p: float | None = None

    def is_worse(self, level: float = 0.05) -> bool:
        """Return True if the system is worse in this slice than elsewhere, at this level after correction."""
        return self.adjusted_p is not None and self.adjusted_p <= level


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """The mean of one sample less the mean of another, with its interval.

    The bounds are None if a sample has values from fewer than 5 documents.
    """

    first: float
    second: float
    difference: float
    low: float | None = None
    high: float | None = None


def slice_mean(
    values: Mapping[str, float], clusters: Mapping[str, Hashable], *, confidence: float = 0.95
) -> SliceMean:
    """Average values in [0, 1] by document set. Document sets of one cluster are dependent.

    The error is linearized over clusters. The interval is that of `interval_within_range`, with the number of clusters
    less 1 as its degrees of freedom. Raises InvalidPercent for a confidence outside 0 to 1, ValueError without values.
    Example: the values 0, 1, 1, 1 of four clusters have the mean .75 and the standard error .5 / sqrt(4) = .25.
    """
    check_confidence(confidence)
    mean, parts = _linearized([(clusters[name], value) for name, value in values.items()])
    return _with_interval(mean, len(values), _variance(parts), len(parts) - 1.0, confidence)


def weighted_mean(parts: Sequence[tuple[float, SliceMean]], *, confidence: float = 0.95) -> SliceMean:
    """Combine the means of slices with the weights that the slices have in actual use (post-stratification).

    Weights are divided by their sum. The degrees of freedom are Satterthwaite's. There is no error if a slice with a
    positive weight has none. Raises InvalidWeight if a weight is negative or all are 0, InvalidPercent for a confidence
    outside 0 to 1. Source: Cochran, Sampling Techniques, 1977, 5.4 and 5A.9. Example: means .8 and .4 with errors .03
    and .04 and weights 3 and 1 have the mean .7 and the error sqrt((.75 * .03)^2 + (.25 * .04)^2) = .0246.
    """
    check_confidence(confidence)
    total = math.fsum(weight for weight, _ in parts)
    if total <= 0 or any(weight < 0 for weight, _ in parts):
        raise InvalidWeight("Weights of slices must not be negative, and one of them must be positive.")
    shares = [(weight / total, part) for weight, part in parts if weight > 0]
    mean = math.fsum(share * part.mean for share, part in shares)
    documents = sum(part.documents for _, part in shares)
    errors = [(share * part.error, part.degrees) for share, part in shares if part.error is not None]
    if len(errors) < len(shares):
        return SliceMean(mean=mean, documents=documents)
    variance = math.fsum(error**2 for error, _ in errors)
    degrees = variance**2 / math.fsum(error**4 / free for error, free in errors)
    return _with_interval(mean, documents, variance, degrees, confidence)


def mean_difference(
    first: Sequence[ValueOf], second: Sequence[ValueOf], *, lowest: float = 0.0, confidence: float = 0.95
) -> MeanDifference:
    """Subtract the mean of `second` from the mean of `first`. Values are in [lowest, 1]; those of one document are
    dependent.

    Each mean has the interval of `interval_within_range`, with an error linearized over documents. The bounds of the
    difference combine the distances of both intervals' bounds from the means (Newcombe's method 10). If the two samples
    share documents, the interval ignores that both vary together. Raises InvalidPercent for a confidence outside 0 to
    1, ValueError for an empty sample. Source: Newcombe, Statistics in Medicine 17, 1998, 873-890; Zou and Donner,
    Statistics in Medicine 27, 2008. Example: shares of .3 (interval .2 to .4) and .1 (.05 to .2) differ by .2. The
    lower bound is .2 - sqrt((.3 - .2)^2 + (.2 - .1)^2) = .059, the upper .2 + sqrt((.4 - .3)^2 + (.1 - .05)^2) = .312.
    """
    check_confidence(confidence)
    mean, bounds = _bounded_mean(first, lowest, confidence)
    less, less_bounds = _bounded_mean(second, lowest, confidence)
    difference = mean - less
    if bounds is None or less_bounds is None:
        return MeanDifference(mean, less, difference)
    down = math.hypot(mean - bounds[0], less_bounds[1] - less)
    up = math.hypot(bounds[1] - mean, less - less_bounds[0])
    return MeanDifference(mean, less, difference, difference - down, difference + up)


def slice_differences(
    values: Mapping[str, Mapping[str, float]],
    slices: Mapping[str, str],
    clusters: Mapping[str, Hashable],
) -> list[SliceDifference]:
    """Test for every system and slice whether the system is worse there than elsewhere.

    `values` has a value in [0, 1] by system and document set, `slices` the slice of each document set. The lead of a
    system in a document set is its value minus the other systems' mean in the set. Document sets with a single system
    are ignored. Student's t conservatively has the degrees of freedom of the slice or of the rest (clusters less 1),
    whichever has fewer. Source: Welch, Biometrika 34, 1947, with the conservative degrees of freedom; Holm, 1979.
    """
    leads = _leads(values)
    found = [
        _difference(system, name, of_system, slices, clusters)
        for system, of_system in leads.items()
        for name in sorted(set(slices.values()))
    ]
    adjusted = holm([each.p for each in found])
    return [replace(each, adjusted_p=p) for each, p in zip(found, adjusted, strict=True)]


def _leads(values: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    sums: defaultdict[str, float] = defaultdict(float)
    counts: defaultdict[str, int] = defaultdict(int)
    for of_system in values.values():
        for document, value in of_system.items():
            sums[document] += value
            counts[document] += 1
    return {
        system: {
            document: value - (sums[document] - value) / (counts[document] - 1)
            for document, value in of_system.items()
            if counts[document] > 1
        }
        for system, of_system in values.items()
    }


def _difference(
    system: str,
    name: str,
    leads: Mapping[str, float],
    slices: Mapping[str, str],
    clusters: Mapping[str, Hashable],
) -> SliceDifference:
    here = {document: lead for document, lead in leads.items() if slices[document] == name}
    elsewhere = {document: lead for document, lead in leads.items() if slices[document] != name}
    if min(len(here), len(elsewhere)) < FEWEST_IN_SLICE:
        return SliceDifference(system, name, None, None)
    parts: defaultdict[Hashable, float] = defaultdict(float)
    means, fewest = [], math.inf
    for sign, side in ((1, here), (-1, elsewhere)):
        mean, of_side = _linearized([(clusters[document], lead) for document, lead in side.items()])
        means.append(mean)
        fewest = min(fewest, len(of_side))
        for cluster, part in of_side.items():
            # A cluster may have document sets on both sides; its two parts then partly cancel.
            parts[cluster] += sign * part * math.sqrt(len(of_side) / max(1, len(of_side) - 1))
    difference = means[0] - means[1]
    error = math.sqrt(math.fsum(part**2 for part in parts.values()))
    if fewest < FEWEST_FOR_INTERVAL or error < _NO_ERROR:
        return SliceDifference(system, name, difference, None)
    return SliceDifference(
        system, name, difference, float(scipy.special.stdtr(fewest - 1, difference / error))
    )


def _linearized(values: Sequence[ValueOf]) -> tuple[float, Mapping[Hashable, float]]:
    """Return the mean, and each cluster's part of its error: the sum of the cluster's deviations, divided by the number
    of values.
    """
    mean = fmean(value for _, value in values)
    parts: defaultdict[Hashable, float] = defaultdict(float)
    for cluster, value in values:
        parts[cluster] += (value - mean) / len(values)
    return mean, parts


def _variance(parts: Mapping[Hashable, float]) -> float:
    return math.fsum(part**2 for part in parts.values()) * len(parts) / max(1, len(parts) - 1)


def _bounded_mean(
    values: Sequence[ValueOf], lowest: float, confidence: float
) -> tuple[float, tuple[float, float] | None]:
    width = 1 - lowest
    share, parts = _linearized([(document, (value - lowest) / width) for document, value in values])
    mean = fmean(value for _, value in values)
    if len(parts) < FEWEST_FOR_INTERVAL:
        return mean, None
    known = Precision.of_answers(share, _variance(parts), len(parts) - 1)
    low, high = interval_within_range(share, known, confidence)
    return mean, (lowest + width * low, lowest + width * high)


def _with_interval(
    mean: float, documents: int, variance: float, degrees: float, confidence: float
) -> SliceMean:
    if variance < _NO_ERROR**2 or degrees < 1:
        return SliceMean(mean=mean, documents=documents)
    known = Precision.of_answers(mean, variance, math.floor(degrees))
    low, high = interval_within_range(mean, known, confidence)
    return SliceMean(
        mean=mean, documents=documents, degrees=degrees, error=math.sqrt(variance), low=low, high=high
    )
