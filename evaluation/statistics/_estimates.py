"""Estimates of means of people's answers from a random sample of items and a judge's answers."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation._guards import check_confidence
from evaluation.errors import EvaluationError, InvalidPercent, InvalidWeight
from evaluation.statistics._prediction_powered import (
    FEWEST_ANSWERS,
    AskedItems,
    expected_by_fold,
    moments,
    slopes,
)
from evaluation.statistics._ranges import Precision, interval_within_range, stringer_bound
from evaluation.statistics._systems import PairComparison, holm

Array = NDArray[np.float64]

FEW_DOCUMENTS = 20
"""Below this number of answered documents, a page that shows the estimate should warn."""
TOO_FEW_DOCUMENTS = 15
"""Below this number of answered documents, a page should show people's answers alone."""

HARMFUL = 1.2
"""A judge is not used for a system if the variance exceeds that of people alone by this factor.

With the factor 1, the choice would more often go to the interval that only happens to look narrow.
"""

FEWEST_OFF_THE_END = 10
"""With fewer ratings than this below the top (or above the bottom), Stringer's bound is used; docs/intervals.md has
the simulations.
"""

_FOLDS = 30
_SHARES_APART = 1e-6
_NO_ERROR = 1e-12


@dataclass(frozen=True, slots=True)
class SampledItem:
    """An item that can be sampled.

    - `document`: the document of the item; intervals treat documents as independent.
    - `share`: the item's weight in the coverage of its document. The shares of a document add up to 1. If whole
      documents are sampled, each document is one item.
    - `probability`: the recorded inclusion probability.
    - `answer`: a person's blind answer to a sampled item, in [0, 1]; None until the person answers.
    - `judge`: the judge's own answer, fixed before the sample; None if there is none.
    - `is_settled`: the answer was known without asking a person, for example for an empty summary.
    - `claim`: identifies the checked claim. Answers to the same claim in items of other systems enter this item's
      prediction. It must be None if the systems were not sampled independently.
    """

    document: Hashable
    share: float
    judge: float | None
    probability: float
    is_sampled: bool
    answer: float | None = None
    is_settled: bool = False
    claim: Hashable | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleEstimate:
    """The estimate of a system's mean over document sets, with its interval, and the result of people alone.

    Estimates and bounds are None until all sampled items are answered (`answered` of `sampled`). Bounds are also None
    with fewer than two answered documents; they are in [0, 1]. `error` is the standard error and `degrees` its degrees
    of freedom. `tuning` is the mean slope on the judge's answers; it is 0 if only people's answers are used. `parts`
    has each document's contribution to the error: the squares of `parts` add up to the square of `error`. `judge_mean`
    is the judge's own mean over document sets; None if the judge answered no item.
    """

    answered: int
    sampled: int
    documents: int
    answered_documents: int
    degrees: int
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    error: float | None = None
    tuning: float = 0.0
    classical_estimate: float | None = None
    classical_low: float | None = None
    classical_high: float | None = None
    parts: Mapping[Hashable, float] = field(default_factory=dict)
    judge_mean: float | None = None

    @property
    def is_complete(self) -> bool:
        """Return True if there are sampled items and all of them are answered."""
        return 0 < self.answered == self.sampled


def estimate_systems_from_sample(
    systems: Mapping[str, Sequence[SampledItem]],
    *,
    covariates: Mapping[Any, Sequence[float]] | None = None,
    confidence: float = 0.95,
    people_alone: bool = False,
    these_documents: bool = False,
    ratings: bool = False,
) -> dict[str, SampleEstimate]:
    """Estimate each system's mean over document sets of people's answers, from recorded samples.

    `systems` has all items of each system, sampled or not. If items name their claims, answers to the same claim in
    other systems' summaries correct the judge's answers, which must be probabilities then. `covariates` has numbers for
    every document. `people_alone` ignores the judge and the covariates. With `these_documents`, the target is the mean
    over exactly these documents, not over their population. Then errors come only from the choice of items, `parts` has
    answers in place of documents, and degrees of freedom are the answers less 1. Items must then be sampled one by one;
    without any choice, the bounds equal the estimate. An item without a judge's answer counts as the mean of the other
    items. If every item was sampled with certainty, the estimate is the mean of the answers. Results can be missing,
    see `SampleEstimate`.

    `ratings` is for answers on a scale of several points, of which few may be far from the usual ones. With fewer than
    10 answers below the top, the lower bound is at least as far away as Stringer's bound of the answers, averaged by
    document. The upper bound and answers above the bottom have the same rule. Otherwise the degrees of freedom are at
    most those of the documents' variance, 2 / (kurtosis - 1) times the number of documents (Satterthwaite, 1946).
    Raises InvalidPercent for a probability outside (0, 1], or an answer or confidence outside 0 to 1. Raises
    EvaluationError for unsampled answers, shares that do not add up to 1, missing or infinite numbers.
    Source: arXiv 2403.03208 (active inference), arXiv 2311.01453 (PPI++); docs/intervals.md describes the method.
    Example: of four documents of one item each, sampled at .5, the answers 1 and 0 give people alone the mean .5.
    """
    # z_d is the sum of w (g + (xi / pi)(Y - g)) over the items of document d. Here w is the item's share, pi the
    # inclusion probability, Y the answer, g a prediction, and xi is 1 if the item is sampled, otherwise 0. The expected
    # mean of z_d is the population's mean for any g that does not use the document's own answers. The estimate is the
    # mean of z_d; its error is sd(z_d, n - 1) / sqrt(D). The interval is computed on the logit scale (`_ranges`) with
    # Student's t. The degrees of freedom are the number of answered documents less 1. g is fitted to the judge's answer
    # and the covariates. If claims are known, answers on other systems' summaries improve the judge's answers
    # (`expected_by_fold`), because they were sampled independently. The slopes for a document are tuned without its
    # answers, in at most thirty folds. They are shrunk across systems (`slopes`). A slope may exceed 1. The intercept
    # is the weighted mean of the residuals. With several predictors, this is the difference estimator of Särndal,
    # Swensson and Wretman, Model Assisted Survey Sampling, 1992, ch. 6. People alone are used (`tuning` 0) if the
    # variance with the judge exceeds `HARMFUL` times theirs, or if the estimate is outside the range.
    check_confidence(confidence)
    frames = {name: frame_of(name, items, covariates or {}) for name, items in systems.items()}
    known = {name: frame for name, frame in frames.items() if frame.can_be_tuned}
    tuned = (
        {name: (frame, frame.no_slopes) for name, frame in known.items()}
        if people_alone
        else sharpened_and_tuned(known)
    )
    return {
        name: replace(
            _estimate(*tuned[name], confidence, name if these_documents else None, is_rated=ratings)
            if name in tuned
            else _without_interval(frame),
            judge_mean=frame.judge_mean,
        )
        for name, frame in frames.items()
    }


def compare_estimates(found: Mapping[str, SampleEstimate]) -> list[PairComparison]:
    """Compare every pair of systems by a t test, with Holm's correction.

    Systems without an estimate are left out. If document d contributes u_d to one error and v_d to the other (`parts`),
    the standard error of the difference is sqrt(sum((u_d - v_d)^2)). The test has the smaller of the two estimates'
    degrees of freedom. A pair is not tested if an estimate has no standard error or if all contributions are equal.
    `sets` is the number of answered documents of the system that has fewer. The result is in the order of the systems.
    Example: estimates of .6 and .4 over two documents. With u = (.1, -.1) and v = (.1, -.1) the difference has no
    error, so the pair is not tested. With u = (.1, -.1) and v = (-.1, .1) the error is sqrt(.04 + .04) = .28.
    """
    names = [name for name, each in found.items() if each.estimate is not None]
    documents = dict.fromkeys(document for name in names for document in found[name].parts)
    parts = np.array([[found[name].parts.get(document, 0.0) for document in documents] for name in names])
    tested: list[PairComparison] = []
    for one, other in combinations(range(len(names)), 2):
        first, second = found[names[one]], found[names[other]]
        apart = (first.estimate or 0.0) - (second.estimate or 0.0)
        error = float(np.linalg.norm(parts[one] - parts[other]))
        is_tested = first.error is not None and second.error is not None and error > _NO_ERROR
        degrees = min(first.degrees, second.degrees)
        p = 2 * float(scipy.special.stdtr(degrees, -abs(apart) / error)) if is_tested else None
        sets = min(first.answered_documents, second.answered_documents)
        tested.append(PairComparison(names[one], names[other], apart, sets, p, None, is_exact=False))
    adjusted = holm([pair.p for pair in tested])
    return [replace(pair, adjusted_p=p) for pair, p in zip(tested, adjusted, strict=True)]


def best_estimates(compared: Sequence[PairComparison], *, level: float = 0.05) -> frozenset[str]:
    """Return the systems that may be best, at the confidence 1 - `level`.

    `compared` has every pair of k systems. A system is left out if another is ahead with a one-sided p of at most
    `level` / (k - 1), by Bonferroni's correction. A pair without a p has no effect.
    Source: Hsu, Constrained simultaneous confidence intervals for multiple comparisons with the best, 1984.
    Example: of three systems, one is behind another with a two-sided p of .05. It is left out, because its one-sided p
    of .05 / 2 is not above .05 / (3 - 1).
    """
    systems = {name for pair in compared for name in (pair.first, pair.second)}
    return frozenset(
        systems
        - {
            pair.second if (pair.difference or 0.0) > 0 else pair.first
            for pair in compared
            if pair.p is not None and pair.p / 2 * (len(systems) - 1) <= level
        }
    )


@dataclass(frozen=True, slots=True)
class Frame:
    """The items of a system as columns.

    `documents` has the index in `names` of each item's document. `predictors` has the shape (items, 1 + covariates):
    the judge's answers, and the covariates of the items' documents. `claims` identifies the checked claim of each
    item.
    """

    documents: NDArray[np.int64]
    names: tuple[Hashable, ...]
    shares: Array
    predictors: Array
    probabilities: Array
    is_sampled: NDArray[np.bool_]
    is_settled: NDArray[np.bool_]
    answers: Array
    is_answered: NDArray[np.bool_]
    claims: tuple[Hashable | None, ...]
    is_judged: bool

    @property
    def is_complete(self) -> bool:
        """Return True if there are sampled items and all of them are answered."""
        return 0 < int(self.is_sampled.sum()) == int(self.is_answered.sum())

    @property
    def can_be_tuned(self) -> bool:
        """Return True if slopes can be fitted: the sample is complete and has two documents or more."""
        return self.is_complete and self.answered_documents >= FEWEST_ANSWERS

    @property
    def answered_documents(self) -> int:
        """Return the number of documents with answers; 0 until the sample is complete."""
        return len(np.unique(self.documents[self.is_sampled])) if self.is_complete else 0

    @property
    def judge_mean(self) -> float | None:
        """Return the mean over documents of the judge's answers; None if there are none. The result has no meaning
        after `centred`.
        """
        return float(self.sums(self.predictors[:, 0]).mean()) if self.is_judged else None

    @property
    def no_slopes(self) -> Array:
        """Return slopes of 0 for each document."""
        return np.zeros((len(self.names), self.predictors.shape[1]))

    @property
    def expansion(self) -> Array:
        """Return 1 / π for sampled items, otherwise 0."""
        expansion: Array = self.is_sampled / self.probabilities
        return expansion

    @property
    def means_of_documents(self) -> Array:
        """Return the mean answer of each answered document."""
        documents, answers = self.documents[self.is_answered], self.answers[self.is_answered]
        counts = np.bincount(documents, minlength=len(self.names))
        means: Array = np.bincount(documents, answers, len(self.names))[counts > 0] / counts[counts > 0]
        return means

    def centred(self, values: Array) -> Array:
        """Subtract from the values their mean over the frame, weighted by the items' shares."""
        total = self.shares.sum()
        return values - (self.shares @ values / total if total else 0.0)

    def sums(self, values: Array) -> Array:
        """Sum the items' values by document, weighted by the items' shares."""
        sums: Array = np.bincount(self.documents, self.shares * values, len(self.names)).astype(np.float64)
        return sums


def frame_of(name: str, items: Sequence[SampledItem], covariates: Mapping[Any, Sequence[float]]) -> Frame:
    """Check a system's items and turn them into columns. Raises the errors of `estimate_systems_from_sample`."""
    whose = f"{name!r}, " if name else ""
    for item in items:
        _check_item(item, f"an item of {whose}document {item.document!r}")
        if covariates and item.document not in covariates:
            raise EvaluationError(f"No covariates are given for {whose}document {item.document!r}.")
    if len({len(row) for row in covariates.values()}) > 1:
        raise EvaluationError("Every document must have the same number of covariates.")
    places: dict[Hashable, int] = {}
    documents = np.array([places.setdefault(item.document, len(places)) for item in items], dtype=np.int64)
    shares = np.array([item.share for item in items], dtype=np.float64)
    sums = np.bincount(documents, weights=shares, minlength=len(places))
    for place in np.flatnonzero(np.abs(sums - 1) > _SHARES_APART)[:1]:
        raise EvaluationError(
            f"The shares of {whose}document {tuple(places)[place]!r} add up to {sums[place]}: "
            f"they must add up to 1, over all items of the frame."
        )
    scored = [(item.judge, item.share) for item in items if item.judge is not None]
    weight = math.fsum(share for _, share in scored)
    level = math.fsum(judge * share for judge, share in scored) / weight if weight else 0.0
    rows = [
        [level if item.judge is None else item.judge, *covariates.get(item.document, ())] for item in items
    ]
    predictors = np.array(rows, dtype=np.float64).reshape(len(items), -1)
    if not np.isfinite(predictors).all():
        raise EvaluationError(f"A covariate of {whose}a document is not finite.")
    return Frame(
        documents=documents,
        names=tuple(places),
        shares=shares,
        predictors=predictors,
        probabilities=np.array([item.probability for item in items], dtype=np.float64),
        is_sampled=np.array([item.is_sampled for item in items], dtype=np.bool_),
        is_settled=np.array([item.is_settled for item in items], dtype=np.bool_),
        answers=np.array([item.answer or 0.0 for item in items], dtype=np.float64),
        is_answered=np.array([item.answer is not None for item in items], dtype=np.bool_),
        claims=tuple(item.claim for item in items),
        is_judged=bool(scored),
    )


def _check_item(item: SampledItem, what: str) -> None:
    if not 0 < item.probability <= 1:
        raise InvalidPercent(
            f"The probability of {what} must lie above 0 and go up to 1, got {item.probability!r}."
        )
    if not 0 <= item.share < math.inf:
        raise InvalidWeight(f"The share of {what} must be a finite number of at least 0, got {item.share!r}.")
    if not math.isfinite((item.judge or 0.0) + (item.answer or 0.0)):
        raise EvaluationError(
            f"The judge's or the person's answer to {what} is not finite: {item.judge!r}, {item.answer!r}."
        )
    if not 0 <= (item.answer or 0) <= 1:
        raise InvalidPercent(f"The answer to {what} must lie in 0 to 1, got {item.answer!r}.")
    if item.answer is not None and not item.is_sampled:
        raise EvaluationError(
            f"There is an answer to {what}, which was not sampled: "
            f"volunteered answers are no random sample and must be left out."
        )


def sharpened_and_tuned(frames: Mapping[str, Frame]) -> dict[str, tuple[Frame, Array]]:
    """Return the frames with centred predictions in place of the judge's answers, and slopes for each document.

    Slopes have the shape (documents, predictors).
    """
    if not frames:
        return {}
    folds = _folds(frames)
    items = _asked(frames, folds)
    judge = np.concatenate([frame.predictors[:, 0] for frame in frames.values()])
    known = _with_judge(frames, judge)
    seen = _seen(known, folds)
    if items is not None:
        expected = np.empty(len(judge))
        for fold, found in enumerate(expected_by_fold(items)):
            known = _with_judge(frames, found)
            of_fold = items.folds == fold
            # Use only the centred predictions of this fold. `_with_judge` subtracts their mean, because an intercept
            # that is fitted without a document's answers errs in the direction opposite to these answers.
            expected[of_fold] = np.concatenate([frame.predictors[:, 0] for frame in known.values()])[of_fold]
            if fold < items.last:
                # Tune a fold's slopes on predictions that were made without the fold's answers.
                seen[fold] = _seen(known, folds)[fold]
        known = _with_judge(frames, expected)
    tuned = slopes(seen)
    # Documents without an answer get the mean of all folds.
    tuned = np.concatenate([tuned, tuned.mean(axis=0, keepdims=True)])
    return {
        name: (frame, tuned[[folds.get(document, -1) for document in frame.names], column])
        for column, (name, frame) in enumerate(known.items())
    }


def _folds(frames: Mapping[str, Frame]) -> dict[Hashable, int]:
    answered = dict.fromkeys(
        frame.names[place]
        for frame in frames.values()
        for place in np.unique(frame.documents[frame.is_sampled])
    )
    return {document: number % _FOLDS for number, document in enumerate(answered)}


def _asked(frames: Mapping[str, Frame], folds: Mapping[Hashable, int]) -> AskedItems | None:
    """Collect the items of all systems; None for a single system, a census, or if no answered item names its claim.

    Documents without an answer form an additional fold, which is the last.
    """
    is_census = all((frame.probabilities[frame.is_sampled] >= 1).all() for frame in frames.values())
    numbers: dict[Hashable, int] = {}
    rows = [
        (
            -1 if claim is None else numbers.setdefault((frame.names[place], claim), len(numbers)),
            system,
            folds.get(frame.names[place], _FOLDS),
        )
        for system, frame in enumerate(frames.values())
        for place, claim in zip(frame.documents, frame.claims, strict=True)
    ]
    asked, systems, of_documents = np.array(rows, dtype=np.int64).T
    is_answered = np.concatenate([frame.is_answered for frame in frames.values()]) & (asked >= 0)
    if len(frames) < 2 or is_census or not is_answered.any():
        return None
    last = max(folds.values()) + 1
    return AskedItems(
        judge=np.clip(np.concatenate([frame.predictors[:, 0] for frame in frames.values()]), 0, 1),
        claims=asked,
        systems=systems,
        folds=np.minimum(of_documents, last),
        is_answered=is_answered,
        last=last,
        answers=np.concatenate([frame.answers for frame in frames.values()]),
    )


def _with_judge(frames: Mapping[str, Frame], answers: Array) -> dict[str, Frame]:
    """Replace the judge's answers by `answers`, which has the items of all frames in order; centre the predictions."""
    parts = np.split(answers, np.cumsum([len(frame.claims) for frame in frames.values()])[:-1])
    return {
        name: replace(frame, predictors=frame.centred(np.column_stack([part, frame.predictors[:, 1:]])))
        for (name, frame), part in zip(frames.items(), parts, strict=True)
    }


def _seen(frames: Mapping[str, Frame], folds: Mapping[Hashable, int]) -> Array:
    """Sum for each fold and system the moments of all other folds."""
    size = next(iter(frames.values())).predictors.shape[1] + 2
    summed = np.zeros((max(folds.values()) + 1, len(frames), size, size))
    for column, frame in enumerate(frames.values()):
        chosen = frame.is_sampled
        chance = frame.probabilities[chosen]
        # Weight an item by its contribution to the expected variance of z. Items that were sampled with certainty
        # contribute nothing.
        weights = frame.shares[chosen] ** 2 * (1 - chance) / chance**2
        if weights.sum() > 0:
            of_answers = moments(frame.predictors[chosen], frame.answers[chosen], weights / weights.mean())
            numbers = [folds[frame.names[place]] for place in frame.documents[chosen]]
            np.add.at(summed[:, column], numbers, of_answers)
    seen: Array = summed.sum(axis=0) - summed
    return seen


def _without_interval(frame: Frame) -> SampleEstimate:
    people = _within(mean_and_parts(frame, frame.no_slopes)[0]) if frame.is_complete else None
    return SampleEstimate(
        estimate=people,
        classical_estimate=people,
        answered=int(frame.is_answered.sum()),
        sampled=int(frame.is_sampled.sum()),
        documents=len(frame.names),
        answered_documents=frame.answered_documents,
        degrees=max(0, frame.answered_documents - 1),
    )


def _estimate(
    frame: Frame, tuned: Array, confidence: float, name: str | None, *, is_rated: bool
) -> SampleEstimate:
    """Estimate a system's mean over the population of documents; with `name`, over exactly these documents.

    `name` is the system's name. It makes the keys of `parts` differ between systems.
    """
    found, keys = _without_interval(frame), frame.names
    mean, parts = mean_and_parts(frame, tuned)
    people, people_parts = mean_and_parts(frame, frame.no_slopes)
    if name is not None:
        # Systems are sampled independently, so no two systems share a part.
        parts, people_parts = _parts_of_items(frame, tuned), _parts_of_items(frame, frame.no_slopes)
        keys = tuple((name, place) for place in range(len(parts)))
        found = replace(found, degrees=max(1, len(parts) - 1))
    least, most, degrees = _of_ratings(frame, (1 - confidence) / 2) if is_rated else (1.0, 0.0, math.inf)
    found = replace(found, degrees=max(1, int(min(found.degrees, degrees))))
    people, variance, alone = _within(people), float((parts**2).sum()), float((people_parts**2).sum())
    tuning = float(tuned[:, 0].mean())
    if not 0 <= mean <= 1 or variance > HARMFUL * alone:
        mean, parts, variance, tuning = people, people_parts, alone, 0.0
    known = Precision.of_answers(people, alone, found.degrees)
    low, high = interval_within_range(mean, known.at(variance), confidence)
    people_low, people_high = interval_within_range(people, known, confidence)
    low, high = min(low, least), max(high, most)
    if not len(parts):
        low = high = people_low = people_high = mean
    return replace(
        found,
        estimate=mean,
        low=low,
        high=high,
        error=math.sqrt(variance),
        tuning=tuning,
        parts=dict(zip(keys, parts.tolist(), strict=True)),
        classical_low=people_low,
        classical_high=people_high,
    )


def _of_ratings(frame: Frame, tail: float) -> tuple[float, float, float]:
    """Return the largest lower and the smallest upper bound of the mean rating, and the most degrees of freedom.

    If fewer than `FEWEST_OFF_THE_END` ratings differ from an end of the scale, Stringer's bound limits the bound at
    that end. If neither end has so few, the kurtosis of the documents' means limits the degrees of freedom. Values
    without a limit are 1, 0 and infinite.
    """
    answers, means = frame.answers[frame.is_answered], frame.means_of_documents
    below, above = (
        stringer_bound(off.tolist(), tail) if np.count_nonzero(each) < FEWEST_OFF_THE_END else 0.0
        for off, each in ((1 - means, 1 - answers), (means, answers))
    )
    squares = (means - means.mean()) ** 2
    if below or above or squares.sum() <= _NO_ERROR:
        return 1 - below, above, math.inf
    # (kurtosis - 1) / number of documents
    beyond = (squares**2).sum() / squares.sum() ** 2 - 1 / len(means)
    return 1.0, 0.0, 2 / max(beyond, _NO_ERROR)


def _within(share: float) -> float:
    """Limit a weighted mean of answers to [0, 1]; rounding, or shares that add up to nearly 1, may exceed it."""
    return min(max(share, 0.0), 1.0)


def mean_and_parts(frame: Frame, slopes_of: Array) -> tuple[float, Array]:
    """Return the mean of z_d (see `estimate_systems_from_sample`), and deviations whose squares sum to its variance."""
    expected, left = expected_and_left(frame, slopes_of)
    documents, answered = len(frame.names), frame.answered_documents
    known, found = frame.sums(expected), frame.sums(frame.expansion * left)
    mean = float((known + found).mean())
    if min(answered, documents) >= FEWEST_ANSWERS:
        # The intercept was fitted to the answered documents, which costs one degree of freedom.
        found = found * math.sqrt(answered / (answered - 1) * (documents - 1) / documents)
    apart = known + found
    return mean, (apart - apart.mean()) / math.sqrt(documents * max(1, documents - 1))


def _parts_of_items(frame: Frame, slopes_of: Array) -> Array:
    """Return a part for each answer whose squares add up to the variance of the mean over exactly these documents.

    Items that were sampled with certainty have no part. Source: Hájek, Asymptotic theory of rejective sampling, 1964,
    for samples of fixed size; with equal probabilities it is the variance of a simple random sample.
    """
    _, left = expected_and_left(frame, slopes_of)
    asked = frame.is_sampled & (frame.probabilities < 1)
    count, chance = int(asked.sum()), frame.probabilities[asked]
    added = frame.shares[asked] * left[asked] / chance * np.sqrt(1 - chance) / len(frame.names)
    parts: Array = added * math.sqrt(count / max(1, count - 1))
    return parts


def expected_and_left(frame: Frame, slopes_of: Array) -> tuple[Array, Array]:
    """Return predictions for all items, shifted so that the weighted mean residual is 0, and the residuals.

    The residuals of items without an answer have no meaning.
    """
    expected = (frame.predictors * slopes_of[frame.documents]).sum(axis=1)
    left, weights = frame.answers - expected, frame.shares * frame.expansion
    total = float(weights.sum())
    middle = float(weights @ left) / total if total > 0 else 0.0
    return expected + middle, left - middle
