"""Labels from a crowd: what is most likely true when some raters err more, and differently, than others."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.statistics._resampling import Floats
from evaluation.statistics.agreement._alpha import Ratings
from evaluation.statistics.agreement._ratings import MISSING, rating_table

MOST_ROUNDS = 1_000
TOLERANCE = 1e-8

TIE = 1e-6
"""Probabilities closer than this are not told apart: they differ by where the rounds stopped."""


@dataclass(frozen=True, slots=True)
class CrowdConsensus:
    """What the crowd's votes say together.

    `posteriors` has, per item, the probability of each of the `categories`, or None where nobody voted; `labels`
    its most probable category, None where nobody voted or the highest probability is shared. `priors` is the share
    of each category. `confusions[rater][true][vote]` is the probability of a vote given the true category; a row
    is None where nothing the rater voted on is thought to be of that category. `rounds` counts the steps taken and
    `converged` says whether they came to rest. `log_likelihood` is that of the votes, never above 0.
    """

    categories: tuple[Hashable, ...]
    posteriors: tuple[tuple[float, ...] | None, ...]
    labels: tuple[Hashable | None, ...]
    priors: tuple[float, ...]
    confusions: tuple[tuple[tuple[float, ...] | None, ...], ...]
    rounds: int
    converged: bool
    log_likelihood: float


def dawid_skene(
    ratings: Ratings,
    *,
    categories: Sequence[Hashable] | None = None,
    most_rounds: int = MOST_ROUNDS,
    tolerance: float = TOLERANCE,
) -> CrowdConsensus:
    """The most likely true categories of items, with how often each rater takes one category for another.

    `ratings` are raters x items of anything hashable, None where one is missing. Expectation maximisation starts from
    each item's shares of votes and rests once no probability moves by more than `tolerance`; the same votes give the
    same answer, whatever the order of raters. What it finds is a local maximum near the majority. A tied item is
    settled by what is known of its raters, and stays tied where nothing tells them apart; a single rater is believed.
    Raises LengthMismatch; EvaluationError for a rating that is not one of the `categories`, no round or a negative
    tolerance.
    Source: Dawid and Skene, Maximum likelihood estimation of observer error-rates using the EM algorithm, 1979.
    Example: `dawid_skene([["yes", "no"], ["yes", "no"], ["yes", "yes"]])` labels the items yes and no.
    """
    if most_rounds < 1 or not tolerance >= 0:
        raise EvaluationError(
            f"At least one round and a tolerance of at least 0 are needed, got {most_rounds} and {tolerance!r}."
        )
    table = rating_table(ratings, categories=categories)
    raters, items = table.codes.shape
    rated = np.flatnonzero((table.codes != MISSING).any(axis=0))
    if not len(rated):
        return _silence(table.categories, raters, items)
    # One column per rater and vote, so that each step is a product of matrices.
    said = np.hstack([table.counts(row[np.newaxis, rated]) for row in table.codes])
    tallies = table.counts(table.codes[:, rated])
    posteriors = tallies / tallies.sum(axis=1, keepdims=True)
    rounds, moved, log_likelihood = 0, np.inf, 0.0
    priors, confusions = _learnt(posteriors, said)
    while rounds < most_rounds and moved > tolerance:
        believed, log_likelihood = _believed(priors, confusions, said)
        moved = float(np.abs(believed - posteriors).max())
        posteriors, rounds = believed, rounds + 1
        priors, confusions = _learnt(posteriors, said)
    of_item: list[tuple[float, ...] | None] = [None] * items
    for place, row in zip(rated.tolist(), posteriors.tolist(), strict=True):
        of_item[place] = tuple(row)
    return CrowdConsensus(
        categories=table.categories,
        posteriors=tuple(of_item),
        labels=tuple(_label(row, table.categories) for row in of_item),
        priors=tuple(priors.tolist()),
        confusions=tuple(
            tuple(tuple(row) if sum(row) else None for row in matrix) for matrix in confusions.tolist()
        ),
        rounds=rounds,
        converged=moved <= tolerance,
        log_likelihood=log_likelihood,
    )


def _learnt(posteriors: Floats, said: Floats) -> tuple[Floats, Floats]:
    """Shares of categories, and each rater's confusions; rows of a category that a rater never met are 0."""
    width = posteriors.shape[1]
    counts = (posteriors.T @ said).reshape(width, -1, width).swapaxes(0, 1)
    totals = counts.sum(axis=2, keepdims=True)
    return posteriors.mean(axis=0), counts / np.where(totals > 0, totals, 1)


def _believed(priors: Floats, confusions: Floats, said: Floats) -> tuple[Floats, float]:
    """What each item is likely to be, and the log likelihood of all votes."""
    with np.errstate(divide="ignore"):
        log_priors, log_confusions = np.log(priors), np.log(confusions)
    by_vote = log_confusions.swapaxes(1, 2).reshape(-1, len(priors))
    is_impossible = np.isneginf(by_vote)
    # A vote that was not cast adds nothing, also where it could not have been: 0 times -inf would not be 0.
    weights = said @ np.where(is_impossible, 0, by_vote) + log_priors
    weights[said @ is_impossible > 0] = -np.inf
    highest = weights.max(axis=1, keepdims=True)
    shares = np.exp(weights - highest)
    totals = shares.sum(axis=1, keepdims=True)
    return shares / totals, float((highest + np.log(totals)).sum())


def _label(row: tuple[float, ...] | None, categories: tuple[Hashable, ...]) -> Hashable | None:
    if row is None:
        return None
    best = max(row)
    tops = [category for category, share in zip(categories, row, strict=True) if best - share <= TIE]
    return tops[0] if len(tops) == 1 else None


def _silence(categories: tuple[Hashable, ...], raters: int, items: int) -> CrowdConsensus:
    """What nobody's votes say."""
    width = len(categories)
    return CrowdConsensus(
        categories=categories,
        posteriors=(None,) * items,
        labels=(None,) * items,
        priors=(1 / width,) * width if width else (),
        confusions=((None,) * width,) * raters,
        rounds=0,
        converged=True,
        log_likelihood=0.0,
    )
