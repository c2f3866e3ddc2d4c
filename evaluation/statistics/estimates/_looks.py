"""Estimates from a sample that is still being answered: when they are made, and how sure each of them may be.

Whoever looks again and again and stops once an interval is narrow, or samples anew until one is, chooses among
intervals, of which more than 5 in 100 then miss. So the looks are declared beforehand, and each spends a part of what
may be missed: all intervals of all looks at all samples of a frame hold together as often as one of them promises.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import scipy

from evaluation._guards import check_same_length
from evaluation.errors import EvaluationError
from evaluation.statistics.estimates._draw_estimates import DrawnItem
from evaluation.statistics.estimates._prediction_powered import check_confidence

LEAST_BETWEEN_LOOKS = 20
"""Answers between two looks, at least."""
MOST_LOOKS = 10

SPENT_OF_THE_REST = 2 / 3
"""The share that a sample spends of what the samples of its frame before it have left.

The last look of the first sample is then 1.09 to 1.18 times as wide as an interval that nobody looked at before and
nobody repeats (Student's t, 10 to 60 documents).
"""

_SURE_ENOUGH = 1e-9
_POINTS = 401
_FURTHEST = 12.0
_HALVINGS = 60


def declared_looks(size: int) -> tuple[int, ...]:
    """After how many answers, in sampled order, a sample of this size is looked at; the last look is at all of it.

    Every 20 answers, or at most ten times. No looks at nothing.
    Example: 50 answers are looked at after 20, 40 and 50.
    """
    if size < 1:
        return ()
    step = max(LEAST_BETWEEN_LOOKS, math.ceil(size / MOST_LOOKS))
    return (*range(step, size, step), size)


def look_confidence(look: int, size: int, *, sample: int = 1, confidence: float = 0.95) -> float:
    """The confidence of an interval at a declared look with which all looks together keep `confidence`.

    `sample` counts the samples of the frame, 1 being the first: each spends two thirds of what those before it left, so
    that sampling until an interval is narrow is paid for too. Within a sample looks spend as O'Brien and Fleming's
    boundaries do: little early on, so that the last one is hardly wider for the others.
    Raises EvaluationError for a look that was not declared or a sample before the first, InvalidPercent for a
    confidence outside 0 to 1.
    Source: Lan and DeMets, Discrete sequential boundaries for clinical trials, 1983; boundaries by Armitage, McPherson
    and Rowe's recursion, 1969. Estimates at successive looks vary together at least as much as the numbers of their
    answers say, since they rest on the same documents: taking it by the numbers is on the safe side.
    Example: of 20 answers there is one look, at two thirds of 5 %: a confidence of .9667.
    """
    check_confidence(confidence)
    looks = declared_looks(size)
    if look not in looks:
        raise EvaluationError(f"A sample of {size} is looked at after {looks} answers, not after {look}.")
    if sample < 1:
        raise EvaluationError(f"Samples of a frame are counted from 1, got {sample}.")
    spent = (1 - confidence) * SPENT_OF_THE_REST * (1 - SPENT_OF_THE_REST) ** (sample - 1)
    return 1 - _levels(tuple(each / size for each in looks), spent)[looks.index(look)]


def as_of_look(items: Sequence[DrawnItem], turns: Sequence[int | None], look: int) -> list[DrawnItem]:
    """A system's items as they stood when the first `look` of the sample were answered, and no more.

    `turns` is the place of each item in the sample's random order, from 0, None where it was not drawn or is known
    without asking. Whatever was answered out of turn waits. Of the system's n drawn items k are among the first: given
    their number each was so with the chance k/n, and its probability becomes π k/n.
    Raises LengthMismatch.
    Example: of four items drawn at .5 with the turns 0, 3, 1 and 2, a look at 2 has the first and the third, at .25.
    """
    check_same_length("items", items, "turns", turns)
    asked = [turn for turn in turns if turn is not None]
    share = sum(turn < look for turn in asked) / len(asked) if asked else 1.0
    return [
        item
        if turn is None
        else replace(item, probability=item.probability * share)
        if turn < look
        else replace(item, is_drawn=False, answer=None)
        for item, turn in zip(items, turns, strict=True)
    ]


@cache
def _levels(fractions: tuple[float, ...], spent: float) -> tuple[float, ...]:
    """The two-sided level of each look at these shares of the answers, which all together spend so much."""
    # Scores of a Brownian motion that has not left the boundaries yet: their density on a grid, look by look.
    points, weights, density = np.zeros(1), np.ones(1), np.ones(1)
    before, spent_before, levels = 0.0, 0.0, []
    for fraction in fractions:
        step, may_spend = math.sqrt(fraction - before), _spending(fraction, spent)
        low, high = 0.0, _FURTHEST * math.sqrt(fraction)
        for _ in range(_HALVINGS):
            bound = (low + high) / 2
            leaving = scipy.special.ndtr((points - bound) / step) + scipy.special.ndtr(
                (-points - bound) / step
            )
            if float((weights * density * leaving).sum()) > may_spend - spent_before:
                low = bound
            else:
                high = bound
        grid = np.linspace(-high, high, _POINTS)
        moved = np.exp(-(((grid[:, np.newaxis] - points) / step) ** 2) / 2) / (step * math.sqrt(2 * math.pi))
        density = moved @ (weights * density)
        weights = np.full(_POINTS, grid[1] - grid[0])
        weights[[0, -1]] /= 2
        points, before, spent_before = grid, fraction, may_spend
        # Sooner than a level that no floating confidence tells from none, a billionth is spent beside the rest.
        levels.append(max(_SURE_ENOUGH, 2 * float(scipy.special.ndtr(-high / math.sqrt(fraction)))))
    return tuple(levels)


def _spending(fraction: float, spent: float) -> float:
    """What may have been spent on both sides at this share of the answers: O'Brien and Fleming's way."""
    return 4 * float(scipy.special.ndtr(scipy.special.ndtri(spent / 4) / math.sqrt(fraction)))
