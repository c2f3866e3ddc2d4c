"""Estimates from samples that are still being answered: when they are made, and how sure each of them may be.

Whoever looks again and again and stops once an interval is narrow, or samples anew until one is, chooses among
intervals, of which more than 5 in 100 then miss. So the looks are declared beforehand, and each spends a part of what
may be missed: all intervals of all looks hold together as often as one of them promises. A further sample of a frame
goes on where the one before it ended: the answers of both are one sample, and its looks follow in the same sequence.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import scipy

from evaluation._guards import check_confidence, check_same_length
from evaluation.errors import EvaluationError
from evaluation.statistics.estimates._draw_estimates import DrawnItem

LEAST_BETWEEN_LOOKS = 20
"""Answers between two looks, at least."""
MOST_LOOKS = 10

SPENT_OF_THE_REST = 1 / 2
"""The share that a sample spends of what the samples of its frame before it have left.

More of it would make the first sample's intervals narrower and those of further ones wider. Of four samples of 80 out
of 180 items the last look is then 1.16, 1.18, 1.20 and 1.22 times as wide as an interval of the same answers that
nobody looked at before and nobody repeats.
"""

_SURE_ENOUGH = 1e-9
_POINTS, _MOST_POINTS = 401, 4001
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


def look_confidence(
    look: int, looks: Sequence[int], *, before: Sequence[Sequence[int]] = (), confidence: float = 0.95
) -> float:
    """The confidence of an interval at a declared look with which all looks together keep `confidence`.

    `looks` are those of the latest sample of a frame, `before` those of each sample before it: after how many answers
    in all, each once. An empty one of `before` is not pooled with the latest: what it may have spent is gone. Each
    sample spends half of what those before it left, within it as O'Brien and Fleming's boundaries do: little early on.
    A look that adds no answer to the one before it is that look.
    Raises EvaluationError for a look that was not declared or numbers of answers that fall, InvalidPercent for a
    confidence outside 0 to 1.
    Source: Lan and DeMets, 1983; boundaries by Armitage, McPherson and Rowe's recursion, 1969. Estimates vary together
    at least as much as the numbers of their answers say, since they rest on the same documents.
    Example: of 20 answers there is one look, at half of 5 %: a confidence of .975.
    """
    check_confidence(confidence)
    if look not in looks:
        raise EvaluationError(f"This sample is looked at after {tuple(looks)} answers, not after {look}.")
    declared = (*map(tuple, before), tuple(looks))
    counts = [count for each in declared for count in each]
    if counts[0] < 1 or counts != sorted(counts):
        raise EvaluationError(
            f"Answers at successive looks are at least 1 and never become fewer, got {counts}."
        )
    path = dict(_spendings(declared, 1 - confidence))
    return 1 - _levels(tuple(path), tuple(path.values()))[list(path).index(look)]


def _spendings(samples: Sequence[tuple[int, ...]], may_miss: float) -> Iterator[tuple[int, float]]:
    """Of each look that adds an answer, how many there are then, and what all looks so far may have spent."""
    left, spent, answers = may_miss, 0.0, 0
    for looks in samples:
        part, begun = SPENT_OF_THE_REST * left, answers
        for look in looks:
            if look > answers:
                yield look, spent + _spending((look - begun) / (looks[-1] - begun), part)
                answers = look
        left -= part
        spent += part if looks else 0.0


@dataclass(frozen=True, slots=True)
class SampleSoFar:
    """What a sample has of a system's frame once its first `look` items, in sampled order, are answered.

    Of each item of the frame: `chances` are its inclusion probabilities, 0 where the sample could not hold it, and
    `turns` its place in the sample's random order over all systems, from 0, None where it was not drawn.
    """

    chances: Sequence[float]
    turns: Sequence[int | None]
    look: int

    @property
    def share(self) -> float:
        """The share of the system's drawn items that are among the first."""
        asked = [turn for turn in self.turns if turn is not None]
        return sum(turn < self.look for turn in asked) / len(asked) if asked else 1.0


def pooled_items(items: Sequence[DrawnItem], samples: Sequence[SampleSoFar]) -> list[DrawnItem]:
    """A system's items as one sample that holds what any of several independent samples of them has so far.

    `items` is the whole frame with the answers that there are; whatever no sample has reached yet waits. Of a sample's
    n drawn items of the system k are among the first: given their number each item is so with its chance times k/n.
    An item is in one sample or another with the probability 1 - (1 - p1)(1 - p2)...; what is settled stays.
    Raises LengthMismatch.
    Example: of four items drawn at .5 with the turns 0, 3, 1 and 2, a look at 2 has the first and the third, at .25;
    with another sample that holds the fourth, all at .5, three are drawn, at 1 - .75 * .5 = .625.
    """
    for each in samples:
        check_same_length("items", items, "chances", each.chances)
        check_same_length("items", items, "turns", each.turns)
    shares = [each.share for each in samples]
    found = []
    for place, item in enumerate(items):
        if item.is_settled:
            found.append(item)
            continue
        chance = 0.0
        for each, share in zip(samples, shares, strict=True):
            chance += (1 - chance) * each.chances[place] * share
        held = any((turn := each.turns[place]) is not None and turn < each.look for each in samples)
        # What could not be reached yet counts for nothing, whatever its chance.
        found.append(
            replace(item, probability=chance or 1.0, is_drawn=held, answer=item.answer if held else None)
        )
    return found


@cache
def _levels(answers: tuple[int, ...], spendings: tuple[float, ...]) -> tuple[float, ...]:
    """The two-sided level of each look after so many answers, with which all up to it spend so much."""
    # Scores of a Brownian motion that has not left the boundaries yet: their density on a grid, look by look.
    points, weights, density = np.zeros(1), np.ones(1), np.ones(1)
    before, spent_before, levels = 0.0, 0.0, []
    for place, (count, may_spend) in enumerate(zip(answers, spendings, strict=True)):
        fraction = count / answers[-1]
        step = math.sqrt(fraction - before)
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
        following = answers[min(place + 1, len(answers) - 1)] / answers[-1]
        # No coarser than the next step, which may be short where a further sample adds few answers.
        finest = math.ceil(2 * high / math.sqrt(following - fraction)) if following > fraction else 0
        size = min(_MOST_POINTS, max(_POINTS, finest))
        grid = np.linspace(-high, high, size)
        moved = np.exp(-(((grid[:, np.newaxis] - points) / step) ** 2) / 2) / (step * math.sqrt(2 * math.pi))
        density = moved @ (weights * density)
        weights = np.full(size, grid[1] - grid[0])
        weights[[0, -1]] /= 2
        points, before, spent_before = grid, fraction, may_spend
        # Sooner than a level that no floating confidence tells from none, a billionth is spent beside the rest.
        levels.append(max(_SURE_ENOUGH, 2 * float(scipy.special.ndtr(-high / math.sqrt(fraction)))))
    return tuple(levels)


def _spending(fraction: float, spent: float) -> float:
    """What may have been spent on both sides at this share of the answers: O'Brien and Fleming's way."""
    return 4 * float(scipy.special.ndtr(scipy.special.ndtri(spent / 4) / math.sqrt(fraction)))
