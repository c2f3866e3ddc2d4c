"""How many human answers a wanted interval takes, and what more of them would bring, going by a pilot.

The variance of a prediction-powered estimate has two parts. Documents differ: only more documents help against that.
And where no person was asked the judge may err: that part is the sum over items of share^2 (1/π - 1) σ^2, with σ^2
the judge's expected squared error, and it is what the choice of items, and of how many, can lower.
"""

import math
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation._guards import (
    check_choice,
    check_confidence,
    check_same_length,
    checked_share,
    checked_weight,
)
from evaluation.errors import EvaluationError
from evaluation.statistics.estimates._draw_estimates import (
    HARMFUL,
    DrawnItem,
    Frame,
    foretold_and_left,
    frame_of,
    mean_and_variance,
    tuned_slopes,
)
from evaluation.statistics.estimates._planner_extremes import degrees_behind, median_widest
from evaluation.statistics.estimates._prediction_powered import FEWEST_ANSWERS, quantile
from evaluation.statistics.estimates._ranges import Precision, interval_within_range
from evaluation.statistics.estimates._sampling import UNIFORM_FLOOR, active_probabilities, neyman_allocation

Array = NDArray[np.float64]
Name = TypeVar("Name", bound=Hashable)

Design = Literal["people", "uniform", "stratified", "active"]
"""How answers are asked for. people: by lot, and the judge not used. uniform: by lot. stratified: by lot within strata,
most where the judge errs most (Neyman). active: each item by how much the judge is expected to err on it."""

# Answers that all strata together count as, beside a stratum's own, when its errors are compared to theirs.
_COMMON_ANSWERS = 4.0

UNDECIDED = 0.5
"""What stands for the probability of an item that the judge said nothing of: it may go either way."""


class AnsweredDocuments(NamedTuple):
    """How many documents hold an answer: what is expected over draws, and the standard deviation over them."""

    expected: float
    spread: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """What intervals a number of human answers would give, by design. Made by `forecast_widths`.

    All widths are full widths, high minus low, of Student's plain interval; `now` is that of the pilot's own, None
    without a pilot (`forecast_without_pilot`).
    `variance_of_documents` is the variance of a document's mean over the population. `errors` are the judge's
    expected squared errors of each item times its share squared, and `people_errors` the same if nothing is foretold.
    `is_open` tells which items can be drawn, None that all can; the others are settled and cost no answer.
    Where new answers join the pilot's, `held` are the chances that items had to be in that, and `seen` tells which
    documents hold an answer already.
    """

    now: float | None
    confidence: float
    floor: float
    answered: int
    documents: NDArray[np.int64]
    strata: tuple[Hashable, ...]
    errors: Array
    people_errors: Array
    variance_of_documents: float
    is_open: NDArray[np.bool_] | None = None
    held: Array | None = None
    seen: NDArray[np.bool_] | None = None

    @property
    def open_places(self) -> NDArray[np.intp]:
        """The places of the items that can be drawn."""
        count = len(self.strata)
        return np.arange(count) if self.is_open is None else np.flatnonzero(self.is_open)

    @property
    def document_count(self) -> int:
        """How many documents the frame holds."""
        return int(self.documents.max()) + 1

    @property
    def knows_documents(self) -> bool:
        """Whether it is known how much documents differ; else no width is told, for it would be too narrow.

        Found to be 0, that is hidden behind the noise of the answers, or all documents of a few came out alike.
        """
        return self.variance_of_documents > 0

    @property
    def least(self) -> float | None:
        """Width that is left if all items of the frame are answered: below it only more documents lead.

        None where it is not known how much documents differ (`knows_documents`).
        """
        return self.width_of_all(self.document_count) if self.knows_documents else None

    def probabilities(self, labels: int, design: Design) -> list[float]:
        """Inclusion probabilities of every item of the frame, in its order.

        Those of the items that can be drawn add up to `labels`; what is settled has 1, for it is known without asking.
        Raises EvaluationError unless labels lie in 0 to the number of items that can be drawn, or for an unknown
        design.
        """
        check_choice("The design", design, get_args(Design))
        found = np.ones(len(self.strata))
        found[self.open_places] = self._chances(labels, design)
        return found.tolist()

    def _chances(self, labels: int, design: Design) -> list[float]:
        """Of the items that can be drawn."""
        places = self.open_places
        if design == "active":
            spreads = dict(enumerate(np.sqrt(self.errors[places]).tolist()))
            return list(active_probabilities(spreads, size=labels, floor=self.floor).values())
        if design == "stratified":
            counts, sizes = self.allocation(labels), self._sizes()
            return [counts[self.strata[place]] / sizes[self.strata[place]] for place in places]
        if not 0 <= labels <= len(places):
            raise EvaluationError(f"Between 0 and {len(places)} items can be drawn, not {labels}.")
        return [labels / len(places)] * len(places) if len(places) else []

    def allocation(self, labels: int) -> dict[Hashable, int]:
        """How many of the answers to ask for in each stratum (Neyman). Errors as `probabilities`."""
        members: dict[Hashable, list[float]] = {}
        for place in self.open_places:
            members.setdefault(self.strata[place], []).append(float(self.errors[place]))
        spreads = {stratum: math.sqrt(math.fsum(own) / len(own)) for stratum, own in members.items()}
        return neyman_allocation(self._sizes(), spreads, size=labels)

    def width(self, labels: int, design: Design) -> float | None:
        """Width that is expected of an interval from a sample of so many; of several systems see `median_widest`.

        None where fewer than two documents would hold an answer, the design would leave out items that may err, or it
        is not known how much documents differ. Errors as `probabilities`.
        """
        chances = np.array(self.probabilities(labels, design), dtype=np.float64)
        errors = self.people_errors if design == "people" else self.errors
        if bool(((chances <= 0) & (errors > 0)).any()):
            return None
        answered = self._answered(self._unseen(chances))
        if self.held is not None:
            chances = chances + (1 - chances) * self.held
        if answered < FEWEST_ANSWERS or not self.knows_documents:
            return None
        count = self.document_count
        drawn = chances > 0
        sampling = float((errors[drawn] * (1 / chances[drawn] - 1)).sum()) / count
        variance = (self.variance_of_documents + sampling) / count
        return 2 * quantile(self.confidence, degrees_behind(answered)) * math.sqrt(variance)

    def answered_documents(self, labels: int, design: Design) -> AnsweredDocuments:
        """How many documents hold an answer among so many answers, over draws. Errors as `probabilities`.

        The number of answers is fixed, in a stratified draw of each stratum: that takes from the spread what follows
        from it. With u the chance of a document to hold no answer and μ its expected answers, the variance is the sum
        of u (1 - u), less (sum of u μ)^2 / sum of π (1 - π) for each of the groups whose number is fixed.
        Source: a draw of fixed size as one of independent chances given its size, Hájek, Annals of Mathematical
        Statistics 35, 1964.
        Example: one of two documents of one item each is drawn: 1 of them, spread sqrt(.5 - .5^2 / .5) = 0.
        """
        chances = np.array(self.probabilities(labels, design), dtype=np.float64)
        unseen = self._unseen(chances)
        variance = float((unseen * (1 - unseen)).sum())
        for places in self._fixed_groups(design):
            own = chances[places]
            of_size = float((own * (1 - own)).sum())
            if of_size > 0:
                variance -= float((unseen[self.documents[places]] * own).sum()) ** 2 / of_size
        return AnsweredDocuments(self._answered(unseen), math.sqrt(max(0.0, variance)))

    def labels_for(self, width: float, design: Design) -> int | None:
        """The fewest answers in all that give an interval at most so wide; None where not even all items do.

        Raises EvaluationError unless the width is above 0, or for an unknown design.
        """
        if not width > 0:
            raise EvaluationError(f"A width must be above 0, got {width!r}.")
        low, high = 0, len(self.open_places)
        if not self._reaches(high, width, design):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            if self._reaches(middle, width, design):
                high = middle
            else:
                low = middle
        return high

    def documents_for(self, width: float) -> int | None:
        """How many documents it takes, all of them answered, for an interval at most so wide; may exceed the frame.

        None where it is not known how much documents differ. Raises EvaluationError unless the width is above 0.
        """
        return documents_for_all([self], width)

    def _unseen(self, chances: Array) -> Array:
        """Of each document the chance to hold no answer."""
        unseen = np.ones(self.document_count)
        np.multiply.at(unseen, self.documents, 1 - chances)
        if self.seen is not None:
            unseen[self.seen] = 0.0
        return unseen

    def _answered(self, unseen: Array) -> float:
        return float(len(unseen) - unseen.sum())

    def _fixed_groups(self, design: Design) -> list[NDArray[np.intp]]:
        """The items that can be drawn, in the groups of each of which a fixed number is."""
        if design != "stratified":
            return [self.open_places]
        groups: dict[Hashable, list[int]] = {}
        for place in self.open_places:
            groups.setdefault(self.strata[place], []).append(int(place))
        return [np.array(places, dtype=np.intp) for places in groups.values()]

    def width_of_all(self, documents: int) -> float:
        """Width that is expected where so many documents, at least two, are answered in full.

        0 where it is not known how much documents differ, which is no width to tell (`knows_documents`).
        """
        reach = quantile(self.confidence, documents - 1)
        return 2 * reach * math.sqrt(self.variance_of_documents / documents)

    def _reaches(self, labels: int, width: float, design: Design) -> bool:
        found = self.width(labels, design)
        return found is not None and found <= width

    def _sizes(self) -> dict[Hashable, int]:
        return dict(Counter(self.strata[place] for place in self.open_places))


def forecast_widths(
    pilot: Sequence[DrawnItem],
    spreads: Sequence[float],
    *,
    strata: Sequence[Hashable] | None = None,
    settled: Sequence[bool] | None = None,
    covariates: Mapping[Any, Sequence[float]] | None = None,
    confidence: float = 0.95,
    floor: float = UNIFORM_FLOOR,
    joins: bool = False,
) -> Forecast:
    """What intervals more human answers would give, going by those of a pilot, of one system.

    - `pilot`: the whole frame with a completed draw, as for `estimate_from_draw`; a new one `joins` it or stands alone.
    - `spreads`, item by item: how far the judge is expected to be off, sqrt(p (1 - p)) of a calibrated p. The pilot
      checks them: squared errors are fitted as a + b spread^2, a and b not below 0.
    - `strata`: groups of items; errors beyond what was fitted count, the less the fewer answers a group holds.
    - `settled`: whether an item's answer is known without asking; it is never drawn and errs by nothing.
    Raises EvaluationError where the draw is not complete or fewer than two documents hold answers, LengthMismatch,
    InvalidWeight for a spread that is negative or not finite, and what `estimate_from_draw` raises.
    Source: Särndal, Swensson and Wretman 1992, section 3.5 (Poisson draws); Cochran 1977, 5.5; arXiv 2403.03208.
    Example: `forecast_widths(pilot, spreads).labels_for(.06, "active")`.
    """
    check_confidence(confidence)
    check_same_length("pilot", pilot, "spreads", spreads)
    groups: tuple[Hashable, ...] = ("",) * len(pilot) if strata is None else tuple(strata)
    check_same_length("pilot", pilot, "strata", groups)
    is_open = _open("pilot", pilot, settled)
    for spread in spreads:
        checked_weight("A spread", spread)
    frame = frame_of("", pilot, covariates or {})
    if not frame.can_be_tuned:
        raise EvaluationError(
            f"A forecast needs a pilot whose draw is all answered, in at least {FEWEST_ANSWERS} documents; "
            f"{frame.answered} of {frame.drawn} items are answered."
        )
    none = np.zeros((len(frame.names), frame.predictors.shape[1]))
    tuned = tuned_slopes({"": frame})[""]
    (mean, now), (of_people, people) = (
        mean_and_variance(frame, these, centre=True) for these in (tuned, none)
    )
    assert now is not None
    assert people is not None
    if not 0 <= mean <= 1 or now > HARMFUL * people:
        tuned, mean, now = none, of_people, people
    errors = _expected_errors(frame, tuned, np.array(spreads, dtype=np.float64), groups)
    between = max(0.0, now * len(frame.names) - _variance_of_drawing(frame, tuned))
    known = Precision.of_answers(of_people, people, frame.answered_documents - 1)
    low, high = interval_within_range(mean, known.at(now), confidence)
    return Forecast(
        now=high - low,
        confidence=confidence,
        floor=floor,
        answered=frame.answered,
        documents=frame.documents,
        strata=groups,
        errors=np.where(is_open, errors * frame.shares**2, 0.0),
        people_errors=np.where(is_open, _mean_square(frame, none) * frame.shares**2, 0.0),
        variance_of_documents=between,
        is_open=is_open,
        # What is not drawn at 1 could not be drawn.
        held=np.where(frame.is_drawn | (frame.probabilities < 1), frame.probabilities, 0.0)
        if joins
        else None,
        seen=np.isin(np.arange(len(frame.names)), frame.documents[frame.is_drawn]) if joins else None,
    )


def forecast_without_pilot(
    items: Sequence[DrawnItem],
    *,
    strata: Sequence[Hashable] | None = None,
    settled: Sequence[bool] | None = None,
    confidence: float = 0.95,
    floor: float = UNIFORM_FLOOR,
) -> Forecast:
    """What intervals human answers would give if the judge's probabilities were right, of one system.

    `items` are the whole frame, of which nothing needs to be answered; `judge` of each is the probability that a
    person says yes. It is taken at its word: of the items with probability p people are assumed to say yes to a share
    p, each by itself, so that the judge is expected to be off by p (1 - p) on each, and people alone by m (1 - m) at a
    mean of m. An item without a probability counts as undecided, p = .5. No check of any of that: where the
    judge is surer than it is right, intervals will come out wider than told here. `now` is None;
    `settled` is as in `forecast_widths`.
    Raises EvaluationError for fewer than two documents, InvalidPercent for a probability outside 0 to 1,
    LengthMismatch.
    Example: two documents of one item at .5 each differ by chance alone: a document's mean has a variance of .25.
    """
    check_confidence(confidence)
    groups: tuple[Hashable, ...] = ("",) * len(items) if strata is None else tuple(strata)
    check_same_length("items", items, "strata", groups)
    is_open = _open("items", items, settled)
    frame = frame_of("", items, {})
    if len(frame.names) < FEWEST_ANSWERS:
        raise EvaluationError(
            f"A forecast needs at least {FEWEST_ANSWERS} documents, there are {len(frame.names)}."
        )
    chances = np.array(
        [UNDECIDED if item.judge is None else checked_share("A probability", item.judge) for item in items],
        dtype=np.float64,
    )
    errors = frame.shares**2 * chances * (1 - chances)
    count = len(frame.names)
    foretold = np.bincount(frame.documents, weights=frame.shares * chances, minlength=count)
    between = float(foretold.var(ddof=1)) + float(errors.sum()) / count
    level = float(frame.shares @ chances) / float(frame.shares.sum())
    return Forecast(
        now=None,
        confidence=confidence,
        floor=floor,
        answered=0,
        documents=frame.documents,
        strata=groups,
        errors=np.where(is_open, errors, 0.0),
        people_errors=np.where(is_open, frame.shares**2 * level * (1 - level), 0.0),
        variance_of_documents=between,
        is_open=is_open,
    )


def with_pooled_variance(forecasts: Mapping[Name, Forecast]) -> dict[Name, Forecast]:
    """The forecasts of several systems with one variance of documents: their mean, weighted by documents.

    By `forecast_widths` it is what is left of one noisy variance after another is taken off, and never below 0: of few
    answers a system by itself may seem to have next to none, which many systems together do not. The errors
    of the judge stay each system's own.
    Example: of 10 documents at .02 and 30 at .04 it becomes .035.
    """
    documents = sum(each.document_count for each in forecasts.values())
    total = math.fsum(each.variance_of_documents * each.document_count for each in forecasts.values())
    return {name: replace(each, variance_of_documents=total / documents) for name, each in forecasts.items()}


def documents_for_all(forecasts: Collection[Forecast], width: float) -> int | None:
    """How many documents of each system it takes, all of them answered, that in half of cases none is wider.

    As `Forecast.documents_for`, which goes by what is expected of one system, but for the widest of all
    (`median_widest`); of a single system both are the same. At least 2, and may exceed the frames. None where it is
    not known of some system how much its documents differ. Raises EvaluationError unless the width is above 0, and
    without any forecast.
    Example: where documents vary by .04, a width of .2 takes 18 documents for one system and 21 for two.
    """
    if not width > 0:
        raise EvaluationError(f"A width must be above 0, got {width!r}.")
    if not forecasts:
        raise EvaluationError("There is no forecast, so nothing tells how many documents it takes.")
    if not all(each.knows_documents for each in forecasts):
        return None

    def is_enough(documents: int) -> bool:
        widths = [each.width_of_all(documents) for each in forecasts]
        return median_widest(widths, [documents] * len(widths)) <= width

    low, high = FEWEST_ANSWERS - 1, FEWEST_ANSWERS
    while not is_enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _open(name: str, items: Sequence[DrawnItem], settled: Sequence[bool] | None) -> NDArray[np.bool_]:
    """Which items can be drawn."""
    if settled is None:
        return np.ones(len(items), dtype=np.bool_)
    check_same_length(name, items, "settled", settled)
    return ~np.array(settled, dtype=np.bool_).reshape(-1)


def _variance_of_drawing(frame: Frame, tuned: Array) -> float:
    """The part of the variance of z_d that comes from asking of some items only, mean over documents."""
    left = _corrected(frame, tuned)
    chosen = frame.is_drawn
    chance = frame.probabilities[chosen]
    terms = frame.shares[chosen] ** 2 * (1 - chance) / chance**2 * left[chosen] ** 2
    return float(terms.sum()) / len(frame.names)


def _corrected(frame: Frame, tuned: Array) -> Array:
    """What people's answers leave, made up for the intercept's having been fitted to them."""
    _, left = foretold_and_left(frame, tuned, centre=True)
    answered = frame.answered_documents
    return left * math.sqrt(answered / (answered - 1))


def _mean_square(frame: Frame, tuned: Array) -> Array:
    left, weights = _corrected(frame, tuned), frame.shares * frame.expansion
    level = float((weights * left**2).sum() / weights.sum())
    return np.full(len(left), level)


def _expected_errors(frame: Frame, tuned: Array, spreads: Array, strata: Sequence[Hashable]) -> Array:
    """The squared error that is expected of the judge on each item."""
    left = _corrected(frame, tuned)
    chosen = np.flatnonzero(frame.is_drawn)
    weights = (frame.shares * frame.expansion)[chosen]
    squares = left[chosen] ** 2
    columns = np.column_stack([np.ones(len(spreads)), spreads**2])
    found, _ = scipy.optimize.nnls(columns[chosen] * np.sqrt(weights)[:, None], squares * np.sqrt(weights))
    expected: Array = columns @ found
    common = float(weights.sum()) / len(chosen)
    for stratum in dict.fromkeys(strata):
        inside = np.array([other == stratum for other in strata], dtype=np.bool_)
        own = inside[chosen]
        foretold = float((weights * expected[chosen])[own].sum())
        lent = common * _COMMON_ANSWERS * float(expected.mean())
        if foretold + lent > 0:
            expected[inside] *= (float((weights * squares)[own].sum()) + lent) / (foretold + lent)
    return expected
