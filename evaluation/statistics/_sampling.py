"""Random samples with known inclusion probabilities, and a forecast of the intervals that a new sample would give.

The variance of a prediction-powered estimate has two parts. The first is the variance between documents; only more
documents reduce it. The second comes from the judge's errors on items without answers; more answers reduce it. This
second part is the sum of share^2 (1/π - 1) σ^2 over the items. π is the inclusion probability, σ^2 the judge's expected
squared error.
"""

import math
import random
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal, TypeVar, get_args

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation._guards import check_choice, check_confidence, checked_weight
from evaluation.errors import EvaluationError, InvalidPercent
from evaluation.statistics._estimates import (
    HARMFUL,
    TOO_FEW_DOCUMENTS,
    Frame,
    SampledItem,
    expected_and_left,
    frame_of,
    mean_and_parts,
    sharpened_and_tuned,
)
from evaluation.statistics._prediction_powered import FEWEST_ANSWERS
from evaluation.statistics._ranges import quantile
from evaluation.statistics._resampling import FEWEST_FOR_INTERVAL

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

UNDECIDED = 0.5
"""The assumed probability of an item without a judge's answer."""


def inclusion_probabilities(
    spreads: Mapping[Item, float], strata: Mapping[Item, Stratum], *, size: int, design: Design
) -> dict[Item, float]:
    """Compute the inclusion probabilities of a sample. Each stratum gets a part of the sample in proportion to its
    size.

    `uniform`: size/N for every item. `active`: within each stratum, the part `UNIFORM_FLOOR` of the sample is spread
    evenly and the rest in proportion to `spreads`. Items whose probability would exceed 1 are sampled with certainty,
    and the other items share the rest. A stratum whose spreads are all 0 is uniform. Raises InvalidWeight for a spread
    that is negative or not finite, EvaluationError unless size is in 1 to the number of items. Source: Zrnic and
    Candes, Active statistical inference, arXiv 2403.03208; the floor follows arXiv 2511.08991. Example: one stratum has
    the spreads .3 and .1, which are .75 and .25 of their sum, and the size is 1. Half of the size is spread evenly, .25
    for each item, so the probabilities are .25 + .5 * .75 = .625 and .25 + .5 * .25 = .375.
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
        shares = np.where(is_open, weights, 0.0)
        total = float(shares.sum())
        parts = shares / total if total > 0 else np.full(len(weights), 1 / max(1, int(is_open.sum())))
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

    The size is the sum of the probabilities, also within each of the `strata`. A sum between two integers gives either
    of them. The method is systematic sampling: the items lie on a line in random order, each as long as its
    probability. Points at distance 1 from each other, with a random start, choose the items. The result has the order
    of `probabilities` and depends only on the arguments.
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
    ends = _running_sums([probabilities[item] for item in order])
    start = chance.random()
    for item, begin, end in zip(order, [0.0, *ends], ends, strict=False):
        # The points are start, start + 1, ... Choose the item if a point is between its begin and its end.
        if math.ceil(end - start) > math.ceil(begin - start):
            sampled.add(item)
    return {item: probability for item, probability in probabilities.items() if item in sampled}


def _running_sums(values: Sequence[float]) -> list[float]:
    """Return cumulative sums; the total is rounded if it is within 1e-9 of an integer."""
    sums = list(accumulate(values))
    if sums and abs(sums[-1] - round(sums[-1])) < _ALL_BUT_WHOLE:
        sums[-1] = float(round(sums[-1]))
    return sums


@dataclass(frozen=True, slots=True)
class _System:
    """The items of a system that can be sampled, as columns; the system has `count` documents.

    `errors` are the judge's expected squared errors times squared shares; `people_errors` are those of people's mean,
    which replaces the judge if few documents are answered. `between` is the variance between documents. `is_known`
    marks documents with an item whose answer is known without asking.
    """

    documents: NDArray[np.int64]
    count: int
    spreads: Array
    errors: Array
    people_errors: Array
    between: float
    is_known: NDArray[np.bool_]

    def margin(self, size: float, between: float, design: Design, confidence: float) -> float | None:
        if design == "active":
            chances = active_chances(self.spreads, size)
        else:
            chances = np.full(len(self.errors), size / max(1, len(self.errors)))
        missed = np.where(self.is_known, 0.0, 1.0)
        np.multiply.at(missed, self.documents, 1 - chances)
        answered = self.count - float(missed.sum())
        if answered < FEWEST_FOR_INTERVAL:
            return None
        errors = self.people_errors if answered < TOO_FEW_DOCUMENTS else self.errors
        sampling = float((errors * (1 / chances - 1)).sum()) / self.count
        return quantile(confidence, answered - 1) * math.sqrt((between + sampling) / self.count)


@dataclass(frozen=True, slots=True)
class Forecast:
    """The expected intervals of a new sample. `forecast_intervals` makes a forecast."""

    systems: tuple[_System, ...]
    design: Design
    confidence: float

    @property
    def items(self) -> int:
        """Return the number of items that can be sampled."""
        return sum(len(system.errors) for system in self.systems)

    def margin(self, size: int) -> float | None:
        """Forecast half the width of a system's interval, averaged over systems, for a total number of answers.

        None if a system would have answers in too few documents for an interval, or if the answers so far do not show
        the variance between documents. Raises EvaluationError unless the size is in 1 to `items`.
        """
        if not 0 < size <= self.items:
            raise EvaluationError(f"Between 1 and {self.items} items can be sampled, not {size}.")
        documents = sum(system.count for system in self.systems)
        # Average the variance between documents over all systems, because with few answers a single system's
        # documents may seem to have almost no variance.
        between = math.fsum(system.between * system.count for system in self.systems) / documents
        if between <= 0:
            return None
        found = [
            system.margin(size * len(system.errors) / self.items, between, self.design, self.confidence)
            for system in self.systems
        ]
        known = [margin for margin in found if margin is not None]
        return math.fsum(known) / len(known) if len(known) == len(found) else None


def forecast_intervals(
    systems: Mapping[str, Sequence[SampledItem]],
    *,
    design: Design,
    covariates: Mapping[Any, Sequence[float]] | None = None,
    confidence: float = 0.95,
) -> Forecast:
    """Forecast the intervals of a new sample from all items of each system.

    p is the judge's probability of yes for an item, .5 if there is none. If every system has a finished sample in at
    least two documents, the judge's answers are corrected as in `estimate_systems_from_sample`. The remaining squared
    errors on the sample are fitted as a + b p (1 - p) with a, b >= 0. Otherwise p counts as correct: the expected
    squared error is p (1 - p) with the judge. Without the judge it is m (1 - m), with m the mean of p. Systems with a
    single document are ignored. Raises the errors of `estimate_systems_from_sample`. Source: Särndal, Swensson and
    Wretman 1992, section 3.5 (Poisson sampling); arXiv 2403.03208. Example: `forecast_intervals(systems,
    design="active").margin(120)`.
    """
    check_confidence(confidence)
    check_choice("The design", design, get_args(Design))
    frames = {name: frame_of(name, items, covariates or {}) for name, items in systems.items()}
    frames = {name: frame for name, frame in frames.items() if len(frame.names) >= FEWEST_ANSWERS}
    said = {
        name: np.clip([UNDECIDED if item.judge is None else item.judge for item in systems[name]], 0.0, 1.0)
        for name in frames
    }
    if frames and all(_is_answered(frame) for frame in frames.values()):
        tuned = sharpened_and_tuned(frames)
        found = tuple(_from_answers(*tuned[name], said[name]) for name in frames)
    else:
        found = tuple(_from_judge(frame, said[name]) for name, frame in frames.items())
    return Forecast(found, design, confidence)


def _is_answered(frame: Frame) -> bool:
    asked = frame.documents[frame.is_sampled & ~frame.is_settled]
    return frame.is_complete and len(np.unique(asked)) >= FEWEST_ANSWERS


def _from_judge(frame: Frame, said: Array) -> _System:
    errors = said * (1 - said)
    count = len(frame.names)
    between = float(frame.sums(said).var(ddof=1)) + float((frame.shares**2 * errors).sum()) / count
    level = float(frame.shares @ said) / float(frame.shares.sum())
    return _system(frame, said, errors, level * (1 - level), between)


def _from_answers(frame: Frame, slopes: Array, said: Array) -> _System:
    none = np.zeros_like(slopes)
    now, people = (float((mean_and_parts(frame, each)[1] ** 2).sum()) for each in (slopes, none))
    if now > HARMFUL * people:
        slopes, now = none, people
    asked = frame.is_sampled & ~frame.is_settled
    weights = (frame.shares * frame.expansion)[asked]
    squares, alone = (_squares(frame, each)[asked] for each in (slopes, none))
    columns = np.column_stack([np.ones(len(said)), said * (1 - said)])
    roots = np.sqrt(weights)
    fitted, _ = scipy.optimize.nnls(columns[asked] * roots[:, None], squares * roots)
    drawing = frame.shares**2 * frame.expansion * np.maximum(frame.expansion - 1, 0) * _squares(frame, slopes)
    between = max(0.0, now * len(frame.names) - float(drawing.sum()) / len(frame.names))
    of_people = float(weights @ alone / weights.sum()) if weights.size else 0.0
    return _system(frame, said, columns @ fitted, of_people, between)


def _squares(frame: Frame, slopes: Array) -> Array:
    _, left = expected_and_left(frame, slopes)
    answered = frame.answered_documents
    squares: Array = left**2 * answered / (answered - 1)
    return squares


def _system(frame: Frame, said: Array, errors: Array, people_error: float, between: float) -> _System:
    is_open = ~frame.is_settled
    squared_shares = frame.shares[is_open] ** 2
    return _System(
        documents=frame.documents[is_open],
        count=len(frame.names),
        spreads=np.sqrt(said * (1 - said))[is_open],
        errors=errors[is_open] * squared_shares,
        people_errors=people_error * squared_shares,
        between=between,
        is_known=np.isin(np.arange(len(frame.names)), frame.documents[frame.is_settled]),
    )
