"""Simulated studies in which raters differ: one answers each check, and a second one some of them."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from evaluation.statistics import DrawnItem, RaterSpread, Rating, estimate_from_draw, rater_spread

MEAN = 0.5
CHECKS = 4


@dataclass(frozen=True)
class RatedStudy:
    """What is drawn anew in each study: documents, raters whose leniency has this standard deviation, answers.

    `by_document` gives every rater document sets of their own; else chance says who answers what.
    """

    raters: int
    leniency: float
    doubles: int
    documents: int = 60
    by_document: bool = False

    def drawn(self, rng: random.Random) -> tuple[list[DrawnItem], RaterSpread]:
        half = math.sqrt(3) * self.leniency
        lenient = [rng.uniform(-half, half) for _ in range(self.raters)]
        items, ratings, asked = [], [], []
        for document in range(self.documents):
            middle = MEAN + rng.uniform(-0.15, 0.15)
            for check in range(CHECKS):
                chance = min(1 - half, max(half, middle + rng.uniform(-0.15, 0.15)))
                rater = document * self.raters // self.documents if self.by_document else None
                rater = rng.randrange(self.raters) if rater is None else rater
                answer = float(rng.random() < chance + lenient[rater])
                asked.append((document, check, chance, rater))
                items.append(
                    DrawnItem(document, 1 / CHECKS, None, 1.0, is_drawn=True, answer=answer, rater=rater)
                )
                ratings.append(Rating(document, check, rater, answer))
        for document, check, chance, rater in rng.sample(asked, self.doubles):
            second = (rater + rng.randrange(1, self.raters)) % self.raters
            ratings.append(Rating(document, check, second, float(rng.random() < chance + lenient[second])))
        return items, rater_spread(ratings)


@dataclass(frozen=True)
class Held:
    """How often intervals hold the mean over documents and raters, and how wide they are on average."""

    share: float
    width: float


def holds(study: RatedStudy, *, studies: int, seed: int) -> tuple[Held, Held]:
    """Of intervals for these raters, and of those for the population of raters."""
    rng = random.Random(seed)
    found: tuple[list[tuple[float, float]], list[tuple[float, float]]] = ([], [])
    for _ in range(studies):
        items, spread = study.drawn(rng)
        for bounds, raters in zip(found, (None, spread), strict=True):
            estimate = estimate_from_draw(items, raters=raters)
            assert estimate.low is not None
            assert estimate.high is not None
            bounds.append((estimate.low, estimate.high))
    plain, with_raters = (
        Held(
            sum(low <= MEAN <= high for low, high in bounds) / studies,
            math.fsum(high - low for low, high in bounds) / studies,
        )
        for bounds in found
    )
    return plain, with_raters
