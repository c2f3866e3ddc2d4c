"""Random choices whose chances are known: which items people are asked to judge."""

import math
import random
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from evaluation._guards import checked_weight
from evaluation.errors import EvaluationError, InvalidPercent

Item = TypeVar("Item", bound=Hashable)
Stratum = TypeVar("Stratum", bound=Hashable)

UNIFORM_FLOOR = 0.5
"""The least share of the work that every item gets alike. A judge's doubt is a poor guide to its errors more often
than not, and then drawing by doubt alone is worse than drawing by lot (arXiv 2511.08991)."""
FEWEST_OF_STRATUM = 2
"""Items of a stratum below which its spread cannot be told."""

_ALL_BUT_WHOLE = 1e-9


def uniform_draw(items: Sequence[Item], *, share: float, seed: int) -> dict[Item, float]:
    """The items of a simple random sample without replacement, each with its inclusion probability.

    n of N items are drawn, n being share * N rounded half up and at least 1, and every item had the chance n/N
    exactly. In the order of the frame; the same for the same frame, share and seed. Nothing of nothing.
    Raises InvalidPercent unless 0 < share <= 1.
    Source: Cochran, Sampling Techniques, 1977, chapter 2.
    Example: `uniform_draw(["a", "b", "c", "d"], share=0.5, seed=1)` holds two of the four, each at 0.5.
    """
    _check_share(share)
    return _drawn(items, share=share, chance=random.Random(f"uniform:{seed}"))


def stratified_draw(strata: Mapping[Item, Stratum], *, share: float, seed: int) -> dict[Item, float]:
    """The items of simple random samples within each stratum, with their inclusion probabilities n_h/N_h.

    `strata` says which stratum each item of the frame lies in. The share is taken of every stratum by itself,
    rounded half up and at least one item, so that no stratum stays unseen; chances differ between strata
    where rounding does. In the order of the frame; the same for the same frame, share and seed.
    Raises InvalidPercent unless 0 < share <= 1.
    Source: Cochran, Sampling Techniques, 1977, chapter 5.
    Example: four items of "x" and one of "y" at share 0.5 give two of "x" at 0.5 and the one of "y" at 1.
    """
    _check_share(share)
    members: dict[Stratum, list[Item]] = defaultdict(list)
    for item, stratum in strata.items():
        members[stratum].append(item)
    chance = random.Random(f"stratified:{seed}")
    probabilities: dict[Item, float] = {}
    for items in members.values():
        probabilities |= _drawn(items, share=share, chance=chance)
    return {item: probabilities[item] for item in strata if item in probabilities}


def active_probabilities(
    spreads: Mapping[Item, float], *, size: int, floor: float = UNIFORM_FLOOR
) -> dict[Item, float]:
    """Inclusion probabilities that ask people where the judge is expected to err most.

    `spreads` holds for each item of the frame the expected size of the judge's error times the item's share: of
    a calibrated probability p, share * sqrt(p (1 - p)); anything that is proportional to it does. The
    probabilities add up to `size`. A share `floor` of them is the same for all; the rest is proportional to the
    spreads, which makes the variance of the estimate least. Where that would pass 1, the item is drawn for sure and
    the others share what is left. If all spreads are 0 the draw is uniform.
    Raises InvalidPercent unless 0 <= floor <= 1, InvalidWeight for a spread that is negative or not finite,
    EvaluationError unless size lies in 0 to the number of items, or with a floor of 0 and fewer items of spread
    above 0 than asked for.
    Source: Zrnic and Candes, Active statistical inference, arXiv 2403.03208; the floor follows arXiv 2511.08991.
    Example: spreads .3 and .1 at size 1 and floor .5 give .5 * .75 + .25 = .625 and .5 * .25 + .25 = .375.
    """
    _check_size(size, len(spreads))
    if not 0 <= floor <= 1:
        raise InvalidPercent(f"The uniform floor must lie in 0 to 1, got {floor!r}.")
    weights = {item: checked_weight(f"The spread of {item!r}", spread) for item, spread in spreads.items()}
    if not weights or not any(weights.values()):
        return {item: size / len(weights) for item in weights}
    if floor == 0 and sum(weight > 0 for weight in weights.values()) < size:
        raise EvaluationError("Fewer items may err than are asked for: take a uniform floor above 0.")
    even, largest = floor * size / len(weights), max(weights.values())
    # Dividing by the largest first keeps huge spreads from overflowing.
    parts = {item: weight / largest for item, weight in weights.items()}
    return _proportional(parts, even=even, left=(1 - floor) * size)


def _proportional(weights: Mapping[Item, float], *, even: float, left: float) -> dict[Item, float]:
    """`even` for each, and `left` shared out by weight; what passes 1 is cut there and shared out among the rest."""
    found: dict[Item, float] = {}
    open_items = dict(weights)
    while True:
        total = math.fsum(open_items.values())
        if total <= 0:
            rest = {item: even + left / len(open_items) for item in open_items}
        else:
            rest = {item: even + left * (weight / total) for item, weight in open_items.items()}
        full = [item for item, probability in rest.items() if probability > 1]
        if not full:
            return {item: found[item] if item in found else rest[item] for item in weights}
        for item in full:
            found[item] = 1.0
            left -= 1 - even
            del open_items[item]


def fixed_size_draw(probabilities: Mapping[Item, float], *, seed: int) -> dict[Item, float]:
    """The items of a draw with these inclusion probabilities, each exactly, and a size that does not vary.

    As many items are drawn as the probabilities add up to; where that is no whole number, one more or fewer.
    Systematic: the items stand in random order along a line, each as long as its probability, and a comb of teeth 1
    apart is laid on it at random. In the order of the frame; the same for the same frame, probabilities and seed.
    Raises InvalidPercent for a probability outside 0 to 1. What has probability 0 is never drawn.
    Source: Madow, On the theory of systematic sampling II, 1949; in random order Goodman and Kish, 1950.
    Example: probabilities .5, .5, 1 always draw the third and one of the others.
    """
    for item, probability in probabilities.items():
        if not 0 <= probability <= 1:
            raise InvalidPercent(f"The probability of {item!r} must lie in 0 to 1, got {probability!r}.")
    chance = random.Random(f"systematic:{seed}")
    order = [item for item, probability in probabilities.items() if probability < 1]
    chance.shuffle(order)
    drawn = {item for item, probability in probabilities.items() if probability >= 1}
    ends = list(_running_sums([probabilities[item] for item in order]))
    start = chance.random()
    for item, begin, end in zip(order, [0.0, *ends], ends, strict=False):
        # A tooth stands at start, start + 1, ...: how many of them lie before each end?
        if math.ceil(end - start) > math.ceil(begin - start):
            drawn.add(item)
    return {item: probability for item, probability in probabilities.items() if item in drawn}


def _running_sums(values: Sequence[float]) -> list[float]:
    """Sums of the first 1, 2, ... values, with the last rounded to a whole number that it all but is."""
    sums, total = [], 0.0
    for value in values:
        total += value
        sums.append(total)
    if sums and abs(sums[-1] - round(sums[-1])) < _ALL_BUT_WHOLE:
        sums[-1] = float(round(sums[-1]))
    return sums


def neyman_allocation(
    sizes: Mapping[Stratum, int], spreads: Mapping[Stratum, float], *, size: int
) -> dict[Stratum, int]:
    """How many items to draw of each stratum so that the mean over all is estimated best.

    In proportion to the stratum's size times the spread of what is estimated in it: for a prediction-powered
    estimate, the standard deviation of answer minus judge. No more than a stratum holds and, as far as `size` goes,
    at least two of each, for its spread to be told. Rounded by largest remainders; adds up to `size`.
    If all spreads are 0, in proportion to the sizes.
    Raises EvaluationError unless size lies in 0 to the number of items and every stratum has a spread,
    InvalidWeight for a spread that is negative or not finite.
    Source: Neyman, 1934; Cochran, Sampling Techniques, 1977, section 5.5; for judges StratPPI, arXiv 2406.04291.
    Example: sizes 30 and 30 with spreads .1 and .3 at size 20 give 5 and 15.
    """
    _check_size(size, sum(sizes.values()))
    if missing := [stratum for stratum in sizes if stratum not in spreads]:
        raise EvaluationError(f"No spread is given for stratum {missing[0]!r}.")
    for stratum in sizes:
        checked_weight(f"The spread of stratum {stratum!r}", spreads[stratum])
    weights = {stratum: count * spreads[stratum] for stratum, count in sizes.items()}
    if not any(weights.values()):
        weights = {stratum: float(count) for stratum, count in sizes.items()}
    allocated = _least_of_each(sizes, size)
    for _ in range(size - sum(allocated.values())):
        room = [stratum for stratum, count in sizes.items() if allocated[stratum] < count]
        allocated[max(room, key=lambda stratum: _owed(weights, allocated, stratum, size))] += 1
    return allocated


def _least_of_each(sizes: Mapping[Stratum, int], size: int) -> dict[Stratum, int]:
    """Up to two of each stratum, in turns while they last."""
    allocated = dict.fromkeys(sizes, 0)
    for turn in range(FEWEST_OF_STRATUM):
        for stratum, count in sizes.items():
            if count > turn and sum(allocated.values()) < size:
                allocated[stratum] += 1
    return allocated


def _owed(
    weights: Mapping[Stratum, float], allocated: Mapping[Stratum, int], stratum: Stratum, size: int
) -> float:
    total = math.fsum(weights.values())
    return weights[stratum] * size / total - allocated[stratum]


def neyman_draw(
    strata: Mapping[Item, Stratum], spreads: Mapping[Stratum, float], *, size: int, seed: int
) -> dict[Item, float]:
    """The items of simple random samples within strata, sized by `neyman_allocation`, with their probabilities n_h/N_h.

    A stratum that is given none (`size` is smaller than the number of strata) leaves the estimate without part of its
    frame: take larger strata. In the order of the frame; the same for the same frame, spreads, size and seed.
    Errors as `neyman_allocation`.
    Example: `neyman_draw({1: "a", 2: "a", 3: "b", 4: "b"}, {"a": 1, "b": 1}, size=4, seed=1)` holds all four at 1.
    """
    members: dict[Stratum, list[Item]] = defaultdict(list)
    for item, stratum in strata.items():
        members[stratum].append(item)
    counts = neyman_allocation({name: len(items) for name, items in members.items()}, spreads, size=size)
    chance = random.Random(f"neyman:{seed}")
    probabilities: dict[Item, float] = {}
    for stratum, items in members.items():
        if counts[stratum]:
            chosen = chance.sample(range(len(items)), counts[stratum])
            probabilities |= {items[place]: counts[stratum] / len(items) for place in chosen}
    return {item: probabilities[item] for item in strata if item in probabilities}


def _check_size(size: int, items: int) -> None:
    if not 0 <= size <= items:
        raise EvaluationError(f"Between 0 and {items} items can be drawn, not {size}.")


def _check_share(share: float) -> None:
    if not 0 < share <= 1:
        raise InvalidPercent(f"The share to draw lies above 0 and goes up to 1, got {share!r}.")


def _drawn(items: Sequence[Item], *, share: float, chance: random.Random) -> dict[Item, float]:
    if not items:
        return {}
    size = min(len(items), max(1, math.floor(share * len(items) + 0.5)))
    places = sorted(chance.sample(range(len(items)), size))
    return {items[place]: size / len(items) for place in places}
