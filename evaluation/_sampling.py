"""Random choices whose chances are known: which items people are asked to judge."""

import math
import random
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from evaluation.errors import InvalidPercent

Item = TypeVar("Item", bound=Hashable)
Stratum = TypeVar("Stratum", bound=Hashable)


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


def _check_share(share: float) -> None:
    if not 0 < share <= 1:
        raise InvalidPercent(f"The share to draw lies above 0 and goes up to 1, got {share!r}.")


def _drawn(items: Sequence[Item], *, share: float, chance: random.Random) -> dict[Item, float]:
    if not items:
        return {}
    size = min(len(items), max(1, math.floor(share * len(items) + 0.5)))
    places = sorted(chance.sample(range(len(items)), size))
    return {items[place]: size / len(items) for place in places}
