"""What people would say of all documents, from a recorded draw of items and a judge's answers to all of them."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation._guards import check_confidence
from evaluation.errors import EvaluationError, InvalidPercent, InvalidWeight
from evaluation.statistics.estimates._claim_effect import AskedItems, expected_by_fold
from evaluation.statistics.estimates._prediction_powered import (
    FEWEST_ANSWERS,
    saved_labels,
)
from evaluation.statistics.estimates._ranges import Precision, interval_within_range
from evaluation.statistics.estimates._tuning import moments, slopes

Array = NDArray[np.float64]

FEW_DOCUMENTS = 20
"""Answered documents below which a page that shows the estimate should warn."""
TOO_FEW_DOCUMENTS = 15
"""Answered documents below which a page should show people alone instead."""

HARMFUL = 1.2
"""Variance over that of people alone beyond which a judge is not used for a system.

Choosing between two intervals by their estimated widths leans towards whichever happens to look narrow, which biases
the mean where answers are skewed. On real judgments (10 of 30 documents, 25 systems) choosing at 1 biased a system's
mean by up to .15 of its error, at 1.2 by .12, and the true error fell from 83 % to 80 % of that of people alone.
"""

_FOLDS = 30
_SHARES_APART = 1e-6


@dataclass(frozen=True, slots=True)
class SampledItem:
    """One item of the frame of a draw: what is asked at once, of which a person answers all or nothing.

    `document` is what the item belongs to, the unit that intervals are about. `share` is the item's part in its
    document's coverage; the shares of a document add up to 1. A document that is drawn as a whole is one item of share
    1. `probability` is the recorded chance to be drawn. `answer` is the person's, in [0, 1] and blind, of an item that
    `is_sampled`; None while it is awaited. `judge` is the judge's answer alone, fixed before the draw, None where it
    gave none. `is_settled` tells that its answer was known without asking anybody.

    `claim` names what is asked, the same where another system's item of the document asks it too: answers there then
    sharpen what is expected here. Only of systems that were drawn each by itself; None is sharpened by nothing.

    """

    document: Hashable
    share: float
    judge: float | None
    probability: float
    is_sampled: bool
    answer: float | None = None
    is_settled: bool = False
    claim: Hashable | None = None


@dataclass(frozen=True, slots=True)
class SampleEstimate:
    """A system's mean over document sets from a draw, with its interval, and what people alone give of that draw.

    Estimates and bounds are None until all that was drawn is answered (`answered` of `drawn`), bounds also where
    fewer than two documents hold an answer. Bounds lie in [0, 1]. `error` is the standard error of the
    estimate and `degrees` the degrees of freedom of what documents show of it. `tuning` is the mean slope on the
    judge's answers, 0 where the judge does harm and people alone stand. `labels_saved` is how many
    more answers people alone would need in a simple random sample for the same error, below 0 where judge and draw
    widen it. `parts` is what each document adds to the error: their squares add up to that of `error`.
    """

    estimate: float | None
    low: float | None
    high: float | None
    error: float | None
    degrees: int
    tuning: float
    classical_estimate: float | None
    classical_low: float | None
    classical_high: float | None
    labels_saved: float | None
    answered: int
    drawn: int
    documents: int
    answered_documents: int
    parts: Mapping[Hashable, float] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether all that was drawn is answered."""
        return 0 < self.answered == self.drawn


def estimate_systems_from_sample(
    systems: Mapping[str, Sequence[SampledItem]],
    *,
    covariates: Mapping[Any, Sequence[float]] | None = None,
    confidence: float = 0.95,
    tuning: float | None = None,
    centre: bool = True,
) -> dict[str, SampleEstimate]:
    """Mean over document sets of what people would say, of each system, from recorded draws.

    `systems` holds each system's whole frame, sampled or not. Answers to a claim that items of other systems name too
    sharpen the judge's, which are then probabilities. `covariates` are numbers of every document. `tuning` fixes the
    slope on the judge, without covariates and claims; `centre=False` has no intercept. Degenerate: see
    `SampleEstimate`; what the judge left unscored counts as the mean of what it scored; if all was sampled for
    sure, the estimate is the mean of the answers.
    Raises InvalidPercent for a probability outside (0, 1], answer outside [0, 1] or confidence outside 0 to 1, and
    EvaluationError for answers that were not drawn, shares that do not add up to 1, missing or infinite numbers.
    Source: arXiv 2403.03208 (active inference), arXiv 2311.01453 (PPI++); docs/intervals.md has the whole of it.
    Example: of documents with Y 1, 0 drawn at π .5 out of four with f .8, .2, .6, .4 and tuning 1 uncentred: z is
    .8 + .2/.5 = 1.2, .2 - .2/.5 = -.2, .6, .4, so the estimate is 0.5.
    """
    # The sum z_d = sum of w (g + (xi / pi)(Y - g)) over a document's items has the population's mean, whatever
    # g is, as long as it does not look at the document's own answers: xi says whether an item was drawn, pi is
    # its chance, Y the answer, w the share. The estimate is the mean of z_d, its error sd(z_d, n - 1) /
    # sqrt(D), and its interval lies on the scale of log odds (`_ranges`), with quantiles of Student's t; degrees
    # of freedom: the documents with an answer, less 1 (all of the frame, where items were drawn within all).
    # g is what the judge's answer and the covariates foretell. Where claims are known, answers on other systems'
    # summaries sharpen the judge's (`_claim_effect`): those were drawn without regard to this system's. Slopes
    # are tuned without the document that they serve (a thirtieth of the documents where there are more) and
    # shrunk across systems (`_tuning`), so the more systems, the better; a slope may exceed 1, for a judge's
    # answers may be drawn in. The intercept is the weighted mean of what is left, so for equal chances z_d is
    # centred and a useless judge leaves exactly what people alone give. Uncentred and with a fixed tuning, z_d is
    # word for word w (λ f + (xi / pi)(Y - λ f)): unbiased in any sample, but wide where whole documents are drawn.
    # Several predictors make it the difference estimator of Särndal, Swensson and Wretman, Model Assisted Survey
    # Sampling, 1992, ch. 6. Beyond `HARMFUL` times their variance, or outside the range, people alone stand
    # (`tuning` 0).
    check_confidence(confidence)
    if tuning is not None and covariates:
        raise EvaluationError("A fixed tuning leaves no room for covariates: give one or the other.")
    frames = {name: frame_of(name, items, covariates or {}) for name, items in systems.items()}
    open_frames = {name: frame for name, frame in frames.items() if frame.can_be_tuned}
    tuned = {} if tuning is not None else sharpened_and_tuned(open_frames)
    return {
        name: _estimate(*tuned.get(name, (frame, None)), confidence=confidence, fixed=tuning, centre=centre)
        for name, frame in frames.items()
    }


@dataclass(frozen=True, slots=True)
class Frame:
    """Columns of a system's items.

    `predictors` has shape (items, 1 + covariates) and is centred at the frame's mean; `level` is what was taken off
    the judge's column, `claims` what each item asks.
    """

    documents: NDArray[np.int64]
    names: tuple[Hashable, ...]
    shares: Array
    predictors: Array
    level: float
    probabilities: Array
    is_sampled: NDArray[np.bool_]
    is_settled: NDArray[np.bool_]
    answers: Array
    is_answered: NDArray[np.bool_]
    claims: tuple[Hashable | None, ...]

    @property
    def judge(self) -> Array:
        """What the judge answers to each item, or is expected in its place."""
        answers: Array = self.predictors[:, 0] + self.level
        return answers

    def with_judge(self, answers: Array) -> "Frame":
        """The same items with other answers in the judge's place, which are centred at the frame's mean too."""
        total = self.shares.sum()
        centred = answers - (self.shares @ answers / total if total else 0.0)
        return replace(self, predictors=np.column_stack([centred, self.predictors[:, 1:]]))

    @property
    def answered(self) -> int:
        """How many items people answered."""
        return int(self.is_answered.sum())

    @property
    def drawn(self) -> int:
        """How many items were drawn."""
        return int(self.is_sampled.sum())

    @property
    def is_complete(self) -> bool:
        """Whether all that was drawn is answered."""
        return 0 < self.drawn == self.answered

    @property
    def can_be_tuned(self) -> bool:
        """Whether slopes can be fitted: only complete draws, of two documents or more."""
        return self.is_complete and self.answered_documents >= FEWEST_ANSWERS

    @property
    def answered_documents(self) -> int:
        """Documents with an answer; 0 until the draw is complete."""
        return len(np.unique(self.documents[self.is_sampled])) if self.answered == self.drawn else 0

    @property
    def expansion(self) -> Array:
        """1 / π of what was drawn, else 0."""
        expansion: Array = self.is_sampled / self.probabilities
        return expansion


def frame_of(name: str, items: Sequence[SampledItem], covariates: Mapping[Any, Sequence[float]]) -> Frame:
    """A system's items as columns, checked; errors as `estimate_systems_from_sample`."""
    _check_items(name, items)
    places: dict[Hashable, int] = {}
    documents = np.array([places.setdefault(item.document, len(places)) for item in items], dtype=np.int64)
    shares = np.array([item.share for item in items], dtype=np.float64)
    sums = np.bincount(documents, weights=shares, minlength=len(places))
    for place in np.flatnonzero(np.abs(sums - 1) > _SHARES_APART)[:1]:
        raise EvaluationError(
            f"The shares of {_of(name)}document {tuple(places)[place]!r} add up to {sums[place]}: "
            f"they must add up to 1, over all items of the frame."
        )
    level, predictors = _predictors(name, items, shares, covariates)
    return Frame(
        documents=documents,
        names=tuple(places),
        shares=shares,
        predictors=predictors,
        level=level,
        probabilities=np.array([item.probability for item in items], dtype=np.float64),
        is_sampled=np.array([item.is_sampled for item in items], dtype=np.bool_),
        is_settled=np.array([item.is_settled for item in items], dtype=np.bool_),
        answers=np.array([item.answer or 0.0 for item in items], dtype=np.float64),
        is_answered=np.array([item.answer is not None for item in items], dtype=np.bool_),
        claims=tuple(item.claim for item in items),
    )


def _predictors(
    name: str, items: Sequence[SampledItem], shares: Array, covariates: Mapping[Any, Sequence[float]]
) -> tuple[float, Array]:
    scored = [(item.judge, item.share) for item in items if item.judge is not None]
    weight = math.fsum(share for _, share in scored)
    level = math.fsum(judge * share for judge, share in scored) / weight if weight else 0.0
    judged = [level if item.judge is None else item.judge for item in items]
    if missing := [item.document for item in items if covariates and item.document not in covariates]:
        raise EvaluationError(f"No covariates are given for {_of(name)}document {missing[0]!r}.")
    if len({len(row) for row in covariates.values()}) > 1:
        raise EvaluationError("Every document must have the same number of covariates.")
    rows = [[value, *covariates.get(item.document, ())] for value, item in zip(judged, items, strict=True)]
    columns = np.array(rows, dtype=np.float64).reshape(len(items), -1)
    if not np.isfinite(columns).all():
        raise EvaluationError(f"A covariate of {_of(name)}a document is not finite.")
    total = shares.sum()
    return level, columns - (shares @ columns / total if total else 0.0)


def _check_items(name: str, items: Sequence[SampledItem]) -> None:
    for item in items:
        if not 0 < item.probability <= 1:
            raise InvalidPercent(
                f"The probability of an item of {_of(name)}document {item.document!r} must lie above 0 and go up to "
                f"1, got {item.probability!r}."
            )
        if not (item.share >= 0 and math.isfinite(item.share)):
            raise InvalidWeight(
                f"The share of an item of {_of(name)}document {item.document!r} must be a finite number of at least "
                f"0, got {item.share!r}."
            )
        if not math.isfinite(item.judge or 0.0) or not math.isfinite(item.answer or 0.0):
            raise EvaluationError(
                f"The judge's or the person's answer to an item of {_of(name)}document {item.document!r} is not "
                f"finite: {item.judge!r}, {item.answer!r}."
            )
        if item.answer is not None and not 0 <= item.answer <= 1:
            raise InvalidPercent(
                f"The answer to an item of {_of(name)}document {item.document!r} must lie in 0 to 1, got "
                f"{item.answer!r}."
            )
        if item.answer is not None and not item.is_sampled:
            raise EvaluationError(
                f"An item of {_of(name)}document {item.document!r} has an answer but was not drawn: "
                f"volunteered answers are no random sample and must be left out."
            )


def _of(name: str) -> str:
    return f"{name!r}, " if name else ""


def tuned_slopes(frames: Mapping[str, Frame]) -> dict[str, Array]:
    """Slopes that each document of each system is served with, shape (documents, predictors)."""
    if not frames:
        return {}
    folds = _folds(frames)
    return _by_document(frames, folds, slopes(_seen(frames, folds)))


def sharpened_and_tuned(frames: Mapping[str, Frame]) -> dict[str, tuple[Frame, Array]]:
    """The frames with what is expected of each item in the judge's place, and the slopes that serve their documents."""
    folds = _folds(frames)
    items = _asked(frames, folds)
    is_census = all((frame.probabilities[frame.is_sampled] >= 1).all() for frame in frames.values())
    if items is None or is_census:
        return {name: (frames[name], found) for name, found in tuned_slopes(frames).items()}
    expected, seen = np.empty(len(items.judge)), []
    for fold, found in enumerate(expected_by_fold(items)):
        known = _with_judge(frames, found)
        of_fold = items.folds == fold
        # Centred fold by fold: an intercept that has not seen a document's answers errs away from them.
        expected[of_fold] = np.concatenate([frame.predictors[:, 0] for frame in known.values()])[of_fold]
        if fold < items.last:
            # A fold's slopes are tuned on what it may expect of the others: nothing there has seen its answers.
            seen.append(_seen(known, folds)[fold])
    sharpened = _with_judge(frames, expected)
    tuned = _by_document(sharpened, folds, slopes(np.array(seen)))
    return {name: (frame, tuned[name]) for name, frame in sharpened.items()}


def _asked(frames: Mapping[str, Frame], folds: Mapping[Hashable, int]) -> AskedItems | None:
    """The items of all systems; None of a single system, or where nothing is known of what they ask.

    Documents without an answer come after all folds.
    """
    if len(frames) < 2:
        return None
    numbers: dict[Hashable, int] = {}
    claims = [
        -1 if claim is None else numbers.setdefault((frame.names[place], claim), len(numbers))
        for frame in frames.values()
        for place, claim in zip(frame.documents, frame.claims, strict=True)
    ]
    asked = np.array(claims, dtype=np.int64)
    is_answered = np.concatenate([frame.is_answered for frame in frames.values()]) & (asked >= 0)
    if not is_answered.any():
        return None
    last = max(folds.values()) + 1
    return AskedItems(
        judge=np.clip(np.concatenate([frame.judge for frame in frames.values()]), 0, 1),
        claims=asked,
        systems=np.repeat(np.arange(len(frames)), [len(frame.claims) for frame in frames.values()]),
        folds=np.concatenate(
            [
                np.array([folds.get(name, last) for name in frame.names], dtype=np.int64)[frame.documents]
                for frame in frames.values()
            ]
        ),
        is_answered=is_answered,
        last=last,
        answers=np.concatenate([frame.answers for frame in frames.values()]),
    )


def _with_judge(frames: Mapping[str, Frame], answers: Array) -> dict[str, Frame]:
    """The frames with these answers of all their items, one after another, in the judge's place."""
    ends = np.cumsum([len(frame.claims) for frame in frames.values()])
    parts = np.split(answers, ends[:-1])
    return {name: frame.with_judge(part) for (name, frame), part in zip(frames.items(), parts, strict=True)}


def _seen(frames: Mapping[str, Frame], folds: Mapping[Hashable, int]) -> Array:
    """Moments that each fold may see of each system: those of the other folds."""
    size = next(iter(frames.values())).predictors.shape[1] + 2
    summed = np.zeros((max(folds.values(), default=0) + 1, len(frames), size, size))
    for column, frame in enumerate(frames.values()):
        _add_moments(summed[:, column], frame, folds)
    seen: Array = summed.sum(axis=0) - summed
    return seen


def _by_document(
    frames: Mapping[str, Frame], folds: Mapping[Hashable, int], found: Array
) -> dict[str, Array]:
    """Of slopes by fold and system, those of each document; documents without an answer get the mean of all folds."""
    everyone = found.mean(axis=0)
    return {
        name: np.array(
            [
                found[folds[document], column] if document in folds else everyone[column]
                for document in frame.names
            ]
        )
        for column, (name, frame) in enumerate(frames.items())
    }


def _folds(frames: Mapping[str, Frame]) -> dict[Hashable, int]:
    """The fold of every document with an answer, the same for all systems."""
    answered: dict[Hashable, None] = {}
    for frame in frames.values():
        for place in np.unique(frame.documents[frame.is_sampled]):
            answered.setdefault(frame.names[place])
    return {document: number % _FOLDS for number, document in enumerate(answered)}


def _add_moments(summed: Array, frame: Frame, folds: Mapping[Hashable, int]) -> None:
    chosen = frame.is_sampled
    chance = frame.probabilities[chosen]
    # What an item adds to the variance of z, in expectation over draws. What is drawn for sure adds nothing.
    weights = frame.shares[chosen] ** 2 * (1 - chance) / chance**2
    if weights.sum() <= 0:
        return
    of_answers = moments(frame.predictors[chosen], frame.answers[chosen], weights / weights.mean())
    numbers = np.array([folds[frame.names[place]] for place in frame.documents[chosen]], dtype=np.int64)
    np.add.at(summed, numbers, of_answers)


def _estimate(
    frame: Frame,
    tuned: Array | None,
    *,
    confidence: float,
    fixed: float | None,
    centre: bool,
) -> SampleEstimate:
    unfinished = SampleEstimate(
        estimate=None,
        low=None,
        high=None,
        error=None,
        degrees=max(0, frame.answered_documents - 1),
        tuning=0.0,
        classical_estimate=None,
        classical_low=None,
        classical_high=None,
        labels_saved=None,
        answered=frame.answered,
        drawn=frame.drawn,
        documents=len(frame.names),
        answered_documents=frame.answered_documents,
    )
    if not frame.is_complete:
        return unfinished
    none = np.zeros((len(frame.names), frame.predictors.shape[1]))
    people, people_variance = mean_and_variance(frame, none, centre=centre)
    if fixed is not None:
        tuned = none.copy()
        tuned[:, 0] = fixed
    if centre:
        # A weighted mean of answers, but for rounding and shares that add up to nearly 1.
        people = min(max(people, 0.0), 1.0)
    mean, variance = (people, people_variance)
    slope = 0.0
    if tuned is not None:
        mean, variance = mean_and_variance(frame, tuned, centre=centre)
        slope = float(tuned[:, 0].mean())
    if fixed is None and (not 0 <= mean <= 1 or _is_harmful(variance, people_variance)):
        mean, variance, slope, tuned = people, people_variance, 0.0, none
    result = replace(unfinished, estimate=mean, classical_estimate=people, tuning=slope)
    if variance is None or people_variance is None:
        return result
    _, parts = _mean_and_parts(frame, none if tuned is None else tuned, centre=centre)
    asked, simple = _simple_sample(frame, people_variance, none, centre=centre)
    known = Precision.of_answers(people, people_variance, result.degrees)
    low, high = interval_within_range(mean, known.at(variance), confidence)
    people_low, people_high = interval_within_range(people, known, confidence)
    return replace(
        result,
        low=low,
        high=high,
        error=math.sqrt(variance),
        parts=dict(zip(frame.names, parts.tolist(), strict=True)),
        classical_low=people_low,
        classical_high=people_high,
        labels_saved=saved_labels(asked, simple, variance),
    )


def _is_harmful(variance: float | None, people_variance: float | None) -> bool:
    return variance is not None and people_variance is not None and variance > HARMFUL * people_variance


def _simple_sample(frame: Frame, people_variance: float, none: Array, *, centre: bool) -> tuple[int, float]:
    """How many items people were asked, and the variance that they alone would have from as many drawn at random.

    What items add to the variance of z is their squared share of the residual times 1 / π - 1, of which what is
    answered stands for 1 / π others. Chances that are alike leave it as it is.
    """
    is_open = ~frame.is_settled
    asked = frame.is_sampled & is_open
    count = int(asked.sum())
    if not count:
        return 0, people_variance
    _, left = foretold_and_left(frame, none, centre=centre)
    chance = frame.probabilities[asked]
    apart = is_open.sum() / count - 1 / chance
    added = float(((frame.shares[asked] * left[asked]) ** 2 / chance * apart).sum()) / len(frame.names) ** 2
    return count, max(0.0, people_variance + added)


def mean_and_variance(frame: Frame, slopes_of: Array, *, centre: bool) -> tuple[float, float | None]:
    """Mean of z_d and its variance, with these slopes for each document; the variance None of a single document."""
    mean, parts = _mean_and_parts(frame, slopes_of, centre=centre)
    if frame.answered_documents < FEWEST_ANSWERS or len(frame.names) < FEWEST_ANSWERS:
        return mean, None
    return mean, float((parts**2).sum())


def _mean_and_parts(frame: Frame, slopes_of: Array, *, centre: bool) -> tuple[float, Array]:
    """Mean of z_d, and how far each lies from it: squared they add up to the mean's variance, of several documents."""
    foretold, left = foretold_and_left(frame, slopes_of, centre=centre)
    documents, answered = len(frame.names), frame.answered_documents
    known = _sums(frame, frame.shares * foretold)
    found = _sums(frame, frame.shares * frame.expansion * left)
    mean = float((known + found).mean())
    if centre and min(answered, documents) >= FEWEST_ANSWERS:
        # The intercept was fitted to the answered documents: one of them tells nothing new.
        found = found * math.sqrt(answered / (answered - 1) * (documents - 1) / documents)
    apart = known + found
    return mean, (apart - apart.mean()) / math.sqrt(documents * max(1, documents - 1))


def foretold_and_left(frame: Frame, slopes_of: Array, *, centre: bool) -> tuple[Array, Array]:
    """What is foretold of every item, and what people's answers leave of it (of use where they answered)."""
    foretold = (frame.predictors * slopes_of[frame.documents]).sum(axis=1)
    if not centre:
        foretold = foretold + frame.level * slopes_of[frame.documents, 0]
    left, weights = frame.answers - foretold, frame.shares * frame.expansion
    total = float(weights.sum())
    middle = float(weights @ left) / total if centre and total > 0 else 0.0
    return foretold + middle, left - middle


def _sums(frame: Frame, values: Array) -> Array:
    """Sums of values of items, of each document."""
    sums: Array = np.bincount(frame.documents, weights=values, minlength=len(frame.names)).astype(np.float64)
    return sums
