"""Calibration: of the answers that a judge was 80 % sure of, were 80 % yes?"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from evaluation._guards import check_choice, check_same_length, checked_share
from evaluation.errors import EvaluationError
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

Binning = Literal["quantile", "width"]
"""Bins of about equally many answers, or of equal width."""

DEFAULT_BINS = 10


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Answers whose probabilities lie between `low` and `high`: how many, their mean, and the share that was yes.

    `predicted` and `observed` are in [0, 1]. A probability on the edge of two bins is in the higher one.
    """

    low: float
    high: float
    count: int
    predicted: float
    observed: Estimate


@dataclass(frozen=True, slots=True)
class CalibrationCurve:
    """What the judge's probabilities say beside what people said.

    `error` is the expected calibration error: the mean distance between predicted and observed share, weighted by the
    bins' counts, in [0, 1], lower is better; None without answers. `chance_error` is about what a judge would show
    whose probabilities are exactly right, in as many clusters of as many answers that vary together as these do: an
    error near it is no sign of bad calibration. None with fewer than two clusters, rough with few. Only bins with
    answers are listed; `answers` counts the answers in them.
    """

    binning: Binning
    bins: tuple[CalibrationBin, ...]
    error: float | None
    chance_error: float | None
    answers: int


def calibration_curve(
    probabilities: Sequence[float | None],
    answers: Sequence[bool | None],
    clusters: Sequence[Hashable] | None = None,
    *,
    bins: int = DEFAULT_BINS,
    binning: Binning = "quantile",
    confidence: float = DEFAULT_CONFIDENCE,
    draws: int = STATISTIC_DRAWS,
    seed: int = 0,
) -> CalibrationCurve:
    """The calibration curve of probabilities of yes against answers, with intervals that resample clusters.

    Items that lack a probability or an answer are left out. `clusters` names each item's document; without it items
    are resampled. Quantile bins never part equal probabilities, so there may be fewer than asked for; bins are those of
    the sample in every draw. The calibration error is a mean of absolute values: in a small sample it is too high,
    and in every draw from that sample higher still, so that it has no interval but `chance_error` beside it.
    Raises LengthMismatch; InvalidPercent for a probability or confidence outside 0 to 1; EvaluationError for fewer than
    one bin or draw, or another binning.
    Source: Guo et al., On calibration of modern neural networks, 2017; quantile bins: Nguyen and O'Connor, Posterior
    calibration and exploratory analysis for natural language processing models, 2015.
    Example: of four answers at 0.75 three were yes: one bin, predicted 0.75, observed 0.75, error 0.
    """
    labels: Sequence[Hashable] = range(len(probabilities)) if clusters is None else clusters
    check_same_length("probabilities", probabilities, "answers", answers)
    check_same_length("probabilities", probabilities, "clusters", labels)
    check_choice("The binning", binning, get_args(Binning))
    if bins < 1:
        raise EvaluationError(f"The number of bins must be at least 1, got {bins}.")
    used = [
        (checked_share("A probability", p), float(answer), label)
        for p, answer, label in zip(probabilities, answers, labels, strict=True)
        if p is not None and answer is not None
    ]
    p = np.array([probability for probability, _, _ in used], dtype=np.float64)
    yes = np.array([answer for _, answer, _ in used], dtype=np.float64)
    edges = _edges(p, bins, binning)
    place = np.searchsorted(edges[1:-1], p, side="right")
    rows = _bin_columns(place, len(edges) - 1, p, yes)
    places, width = places_of([label for _, _, label in used])
    sums = sums_by(places, width, rows)
    observed = estimates(
        sums,
        _observed,
        shares=range(len(edges) - 1),
        confidence=confidence,
        draws=draws,
        seed=seed,
    )
    counts, predicted, said = np.split(rows.sum(axis=0), 3)
    return CalibrationCurve(
        binning=binning,
        bins=tuple(
            CalibrationBin(
                low=float(edges[number]),
                high=float(edges[number + 1]),
                count=int(count),
                predicted=float(predicted[number] / count),
                observed=observed[number],
            )
            for number, count in enumerate(counts)
            if count
        ),
        error=float(np.abs(predicted - said).sum() / len(p)) if len(p) else None,
        chance_error=_chance_error(sums) if width > 1 else None,
        answers=len(p),
    )


def _edges(p: Floats, bins: int, binning: Binning) -> Floats:
    if binning == "width" or not len(p):
        return np.arange(bins + 1) / bins
    # Edges are probabilities that occur: a bin reaches no further than what the judge said.
    inner = np.quantile(p, np.arange(1, bins) / bins, method="higher")
    distinct = np.unique(inner)
    return np.concatenate([[p.min()], distinct[distinct > p.min()], [p.max()]])


def _bin_columns(place: Integers, bins: int, p: Floats, yes: Floats) -> Floats:
    """Per item and bin: whether it is there, its probability, its answer; shape (items, 3 * bins)."""
    inside = np.arange(bins) == place[:, np.newaxis]
    return np.hstack([inside, inside * p[:, np.newaxis], inside * yes[:, np.newaxis]]).astype(np.float64)


def _observed(sums: Floats) -> Floats:
    """The observed share of each bin."""
    counts, _, yes = np.split(sums, 3, axis=1)
    return yes / counts


def _chance_error(sums: Floats) -> float:
    """The mean of an absolute normal variable of each bin's spread between clusters, summed over bins.

    By how much a bin's answers exceed its probabilities varies from cluster to cluster about its mean, and with it
    the sum over clusters; the mean itself is what the probabilities are off by, and is no chance.
    """
    counts, predicted, yes = np.split(sums, 3, axis=1)
    excess = yes - predicted
    clusters = len(sums)
    variance = np.var(excess, axis=0, ddof=1) * clusters
    return float(np.sqrt(2 / np.pi) * np.sqrt(variance).sum() / counts.sum())
