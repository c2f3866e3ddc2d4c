"""Where an order of systems turns over, when their means are straight lines in a weight that somebody chose."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise

from evaluation._guards import checked_share
from evaluation.errors import EvaluationError
from evaluation.statistics._resampling import checked_finite
from evaluation.statistics.systems._correlation import SAME


@dataclass(frozen=True, slots=True)
class Crossing:
    """Two systems that change places: `before` is ahead at weights below this one and `after` at those above."""

    weight: float
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Lead:
    """The systems with the highest mean at every weight between `low` and `high`; several where they are level."""

    low: float
    high: float
    systems: tuple[str, ...]


def crossings(at_zero: Mapping[str, float], at_one: Mapping[str, float]) -> tuple[Crossing, ...]:
    """The weights strictly between 0 and 1 at which two systems change places, in their order.

    Means at a weight are those of `means_between`. Systems that only meet, at an end or
    everywhere, change no places.
    Raises EvaluationError for systems that are not the same on both sides, or a value that is not finite.
    Example: with .6 and .2 at 0 and .4 and .5 at 1, differences of .4 and -.1, the two cross at .4 / .5 = .8.
    """
    _check(at_zero, at_one)
    found = []
    for one, other in combinations(at_zero, 2):
        first, last = at_zero[one] - at_zero[other], at_one[one] - at_one[other]
        if min(abs(first), abs(last)) > SAME and (first > 0) != (last > 0):
            before, after = (one, other) if first > 0 else (other, one)
            found.append(Crossing(weight=first / (first - last), before=before, after=after))
    return tuple(sorted(found, key=lambda crossing: (crossing.weight, crossing.before, crossing.after)))


def leads(at_zero: Mapping[str, float], at_one: Mapping[str, float]) -> tuple[Lead, ...]:
    """Who is ahead at which weights: stretches that together cover 0 to 1, in their order; nothing of no systems.

    Means are as in `crossings`, and so are errors.
    Example: with .6 and .2 at 0 and .4 and .5 at 1 the first leads from 0 to .8 and the second from there to 1.
    """
    turns = [0.0, *dict.fromkeys(crossing.weight for crossing in crossings(at_zero, at_one)), 1.0]
    stretches: list[Lead] = []
    for low, high in pairwise(turns):
        ahead = _ahead(at_zero, at_one, (low + high) / 2)
        if stretches and stretches[-1].systems == ahead:
            stretches[-1] = Lead(stretches[-1].low, high, ahead)
        elif ahead:
            stretches.append(Lead(low, high, ahead))
    return tuple(stretches)


def means_between(
    at_zero: Mapping[str, float], at_one: Mapping[str, float], weight: float
) -> dict[str, float]:
    """The means at a weight in 0 to 1: (1 - weight) * at_zero + weight * at_one.

    Raises InvalidPercent for another weight, else as `crossings`.
    Example: .6 at 0 and .4 at 1 give .5 halfway.
    """
    _check(at_zero, at_one)
    checked_share("A weight", weight)
    return {name: (1 - weight) * at_zero[name] + weight * at_one[name] for name in at_zero}


def _ahead(at_zero: Mapping[str, float], at_one: Mapping[str, float], weight: float) -> tuple[str, ...]:
    means = means_between(at_zero, at_one, weight)
    best = max(means.values(), default=0.0)
    return tuple(name for name, mean in means.items() if mean >= best - SAME)


def _check(at_zero: Mapping[str, float], at_one: Mapping[str, float]) -> None:
    if at_zero.keys() != at_one.keys():
        raise EvaluationError("The same systems must have a mean at both ends.")
    for value in (*at_zero.values(), *at_one.values()):
        checked_finite(value)
