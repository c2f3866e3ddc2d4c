"""A second opinion where it pays: an expensive judge answers what an inexpensive one may have wrong."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation._guards import check_same_length, checked_weight
from evaluation._labels import Label, checked_labels
from evaluation.statistics._intervals import DEFAULT_CONFIDENCE
from evaluation.statistics._resampling import (
    STATISTIC_DRAWS,
    Estimate,
    Floats,
    Integers,
    estimates,
    places_of,
    sums_by,
)
from evaluation.statistics.judges._calibrators import cross_fitted_calibration

SHARES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
"""Shares of the checks that go to the expensive judge, for which a frontier tells cost and error."""


@dataclass(frozen=True, slots=True)
class CascadePoint:
    """Two judges together, where the expensive one is asked about the `share` of checks that the inexpensive one is
    likeliest to have wrong: those whose risk is at least `risk`, half-way to the next that are not.

    `error` is the share of checks on which the answer differs from people's; `cost` is that of one check.
    """

    share: float
    risk: float
    error: Estimate
    cost: float


def wrong_risk(label: Label, probability_of_yes: float) -> float:
    """The probability that an answer is wrong, by the probability that people say yes; unsure counts as not yes.

    Example: of a yes where people say yes at .8 it is .2.
    """
    return 1.0 - probability_of_yes if label == "yes" else probability_of_yes


def cascade_frontier(
    cheap: Sequence[Label | None],
    probabilities: Sequence[float | None],
    dear: Sequence[Label | None],
    human: Sequence[Label | None],
    documents: Sequence[Hashable],
    *,
    cheap_cost: float,
    dear_cost: float,
    call_risks: Sequence[float] | None = None,
    shares: Sequence[float] = SHARES,
    confidence: float = DEFAULT_CONFIDENCE,
    draws: int = STATISTIC_DRAWS,
    seed: int = 0,
) -> tuple[CascadePoint, ...]:
    """Cost against error of asking an expensive judge where an inexpensive one may be wrong, from both judges' answers.

    How likely the inexpensive judge is wrong is learned from people's answers in other documents
    (`cross_fitted_calibration` of its `probabilities` of yes), so that both its doubt and where it was wrong before
    count. Checks that a side left unanswered are left out; without a probability the risk is that of a half.
    `cheap_cost` and `dear_cost` are those of one check. `call_risks` holds the greatest risk in each call that asking
    the expensive judge about everything takes: a call counts whole where any of its checks is asked about. Without it
    each check is a call of its own. Raises LengthMismatch, InvalidLabel, InvalidWeight for a cost below 0, and as
    `estimates`.
    Example: with shares 0 and 1 the error is that of the inexpensive judge, then that of the expensive one.
    """
    for name, column in (("probabilities", probabilities), ("dear", dear), ("human", human)):
        check_same_length("cheap", cheap, name, column)
    check_same_length("cheap", cheap, "documents", documents)
    checked_weight("A cost", cheap_cost)
    checked_weight("A cost", dear_cost)
    rows = [
        row
        for row in zip(*map(checked_labels, (cheap, dear, human)), probabilities, documents, strict=True)
        if None not in row[:3]
    ]
    if not rows:
        return ()
    said, given, truth, chances, names = map(list, zip(*rows, strict=True))
    answers = [float(label == "yes") for label in truth]
    fitted = cross_fitted_calibration(chances, answers, names, method="beta")
    risks = np.array(
        [
            0.5 if chance is None else wrong_risk(label, chance)
            for label, chance in zip(said, fitted, strict=True)
        ]
    )
    wrong = [
        np.array([(label == "yes") != (answer == "yes") for label, answer in zip(labels, truth, strict=True)])
        for labels in (said, given)
    ]
    order = np.argsort(-risks, kind="stable")
    counts = [round(share * len(rows)) for share in shares]
    errors = np.column_stack([np.ones(len(rows)), *(_errors(order[:count], *wrong) for count in counts)])
    places, width = places_of(names)
    found = estimates(
        sums_by(places, width, errors),
        lambda sums: sums[:, 1:] / sums[:, :1],
        shares=range(len(shares)),
        confidence=confidence,
        draws=draws,
        seed=seed,
    )
    return tuple(
        CascadePoint(
            share=count / len(rows),
            risk=risk,
            error=error,
            cost=cheap_cost + dear_cost * asked,
        )
        for count, error in zip(counts, found, strict=True)
        for risk in [_between(risks[order], count)]
        for asked in [_calls_asked(call_risks, risk) if count and call_risks else count / len(rows)]
    )


def _between(falling: Floats, count: int) -> float:
    """The risk that parts the first so many from the others."""
    if count in (0, len(falling)):
        return 1.0 if count == 0 else 0.0
    return float(falling[count - 1] + falling[count]) / 2


def _calls_asked(call_risks: Sequence[float], risk: float) -> float:
    return sum(each >= risk for each in call_risks) / len(call_risks)


def _errors(asked: Integers, cheap: NDArray[np.bool_], dear: NDArray[np.bool_]) -> Floats:
    """Per check whether the answer is wrong, where the expensive judge decides on those asked."""
    found = cheap.astype(np.float64)
    found[asked] = dear[asked]
    return found
