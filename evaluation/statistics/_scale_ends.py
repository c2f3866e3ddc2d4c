"""Intervals of a mean on a bounded scale if almost all answers are the best one, or the worst one."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

import scipy

from evaluation.statistics._estimates import SampledItem, SampleEstimate

FEWEST_OFF_THE_END = 10
"""With fewer answers than this below the top (or above the bottom), the interval is widened."""


def widen_at_ends(
    found: Mapping[str, SampleEstimate],
    systems: Mapping[str, Sequence[SampledItem]],
    *,
    confidence: float = 0.95,
) -> dict[str, SampleEstimate]:
    """Widen the intervals of systems with fewer than 10 sampled answers below 1, or above 0.

    `found` has the estimates of `systems`. Then the variance of the answers says little about rare bad ones (or good
    ones), so the bound on this side is at least as far away as Stringer's bound, which assumes nothing about them. An
    estimate without bounds stays as it is. The answers of a document are averaged first.
    Source: Stringer, Proceedings of the Business and Economic Statistics Section of the ASA, 1963; Bickel, Inference
    and auditing: the Stringer bound, International Statistical Review 60, 1992.
    Example: of 60 answers, all are 1. The lower bound is .025^(1/60) = .940, whatever the judge says.
    """
    return {name: _widened(each, systems[name], (1 - confidence) / 2) for name, each in found.items()}


def _widened(found: SampleEstimate, items: Sequence[SampledItem], tail: float) -> SampleEstimate:
    of_documents: defaultdict[Hashable, list[float]] = defaultdict(list)
    for item in items:
        if item.answer is not None:
            of_documents[item.document].append(item.answer)
    if found.low is None or found.high is None or not of_documents:
        return found
    answers = [answer for of_document in of_documents.values() for answer in of_document]
    means, low, high = [fmean(each) for each in of_documents.values()], found.low, found.high
    if sum(answer < 1 for answer in answers) < FEWEST_OFF_THE_END:
        low = min(low, 1 - _most([1 - mean for mean in means], tail))
    if sum(answer > 0 for answer in answers) < FEWEST_OFF_THE_END:
        high = max(high, _most(means, tail))
    return replace(found, low=low, high=high)


def _most(values: Sequence[float], tail: float) -> float:
    """Return Stringer's upper bound of the mean of values in [0, 1], most of which are 0."""
    count, bound, before = len(values), 0.0, 0.0
    for place, value in enumerate([1.0, *sorted((value for value in values if value > 0), reverse=True)]):
        share = 1.0 if place >= count else float(scipy.special.betaincinv(place + 1, count - place, 1 - tail))
        bound, before = bound + (share - before) * value, share
    return bound
