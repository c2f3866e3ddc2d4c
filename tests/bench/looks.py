"""How often an interval holds that somebody stopped at: 10,000 simulated studies of 30 document sets of 6 claims.

People answer a random sample of 80 claims in its order. After every 20 answers somebody looks at the interval, stops
once it is as narrow as wished, and else samples 80 claims anew, up to three times; the answers of all samples are one.
The claims of a document set are harder or easier together, and the judge's probabilities are noisy and biased.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray

from evaluation.statistics.estimates._draw_estimates import DrawnItem, estimate_from_draw
from evaluation.statistics.estimates._looks import (
    SampleSoFar,
    declared_looks,
    look_confidence,
    pooled_items,
)
from evaluation.statistics.estimates._sampling import uniform_draw
from tests.bench import Row

NAME = "looks"
STUDIES = 10_000
LOOKED_THROUGH = 2_000
"""Studies of which every look at every sample is gone through, whatever somebody wished for."""
SETS, CLAIMS, SIZE, SAMPLES = 30, 6, 80, 4
WISHES = (0.22, 0.26, 0.3, 0.36, 0.44)
FEWEST_DOCUMENTS = 5
"""Answered document sets below which no page shows an interval."""
PLAIN = 0.95
WIDEST = 1.25
"""How wide the last look at a sample may be, times the interval of its answers that nobody looked at before."""
LEVELS = (-2.0, -0.5, 0.0, 0.7)
"""Log odds that a claim of middling difficulty is covered, of one study after the other."""
SPREAD_OF_SETS, SPREAD_OF_CLAIMS, JUDGE_NOISE, JUDGE_BIAS = 0.9, 1.2, 1.0, 0.4

Array = NDArray[np.float64]
Bounds = tuple[float, float]


@dataclass(frozen=True)
class Study:
    """A judge's probabilities and people's answers to every claim, and what all sets of the population would give."""

    judge: Array
    answers: Array
    truth: float
    wish: float
    seed: int


def run() -> list[Row]:
    studies = [_study(number) for number in range(STUDIES)]
    spent = [_stopped_at(study, is_spent=True) for study in studies]
    plain = [_stopped_at(study, is_spent=False) for study in studies[:LOOKED_THROUGH]]
    every = [
        all(_holds(study, ends) for ends in _looks(study, is_spent=True))
        for study in studies[:LOOKED_THROUGH]
    ]
    looks = sum(count for _, count in spent) / STUDIES
    return [
        Row(
            "stopped when narrow, up to 4 samples: holds",
            _share([_holds(study, ends) for study, (ends, _) in zip(studies, spent, strict=True)]),
            "%",
            at_least=94.5,
            note=f"{looks:.1f} looks on average",
        ),
        Row(
            "  the same at 95 % each time",
            _share([_holds(study, ends) for study, (ends, _) in zip(studies, plain, strict=False)]),
            "%",
        ),
        Row("all looks at all 4 samples hold together", _share(every), "%", at_least=94.5),
        *_widths(studies[:LOOKED_THROUGH]),
    ]


def _widths(studies: list[Study]) -> Iterator[Row]:
    """How wide the last look at a sample is, beside the interval of the same answers that nobody looked at before."""
    for sample in range(1, SAMPLES + 1):
        ratios = []
        for study in studies[:: 4 if sample > 1 else 1]:
            samples = _samples(study, sample)
            (low, high), (plain_low, plain_high) = (
                _interval(study, samples, SIZE, is_spent=is_spent) or (0.0, 1.0) for is_spent in (True, False)
            )
            ratios.append((high - low) / (plain_high - plain_low))
        yield Row(
            f"width of the last look at sample {sample}", float(np.mean(ratios)), "x fixed", at_most=WIDEST
        )


def _share(held: list[bool]) -> float:
    return 100 * sum(held) / len(held)


def _holds(study: Study, ends: Bounds) -> bool:
    return ends[0] <= study.truth <= ends[1]


def _stopped_at(study: Study, *, is_spent: bool) -> tuple[Bounds, int]:
    """The interval that somebody is content with, or the last one, and how many were looked at."""
    ends, count = (0.0, 1.0), 0
    for ends in _looks(study, is_spent=is_spent):
        count += 1
        if ends[1] - ends[0] <= study.wish:
            break
    return ends, count


def _looks(study: Study, *, is_spent: bool) -> Iterator[Bounds]:
    for sample in range(1, SAMPLES + 1):
        samples = _samples(study, sample)
        for look in declared_looks(SIZE):
            ends = _interval(study, samples, look, is_spent=is_spent)
            if ends is not None:
                yield ends


def _samples(study: Study, count: int) -> list[list[int]]:
    """The first samples of the study, each in its order."""
    orders = []
    for seed in range(SAMPLES * study.seed, SAMPLES * study.seed + count):
        order = list(uniform_draw(range(SETS * CLAIMS), share=SIZE / SETS / CLAIMS, seed=seed))
        random.Random(seed).shuffle(order)
        orders.append(order)
    return orders


def _interval(study: Study, samples: list[list[int]], look: int, *, is_spent: bool) -> Bounds | None:
    """The interval at a look at the last of these samples, with all answers of those before it."""
    chances = [SIZE / SETS / CLAIMS] * (SETS * CLAIMS)
    parts, answers, held = [], list[tuple[int, ...]](), set[int]()
    for order in samples:
        turns = {item: turn for turn, item in enumerate(order)}
        at = look if order is samples[-1] else SIZE
        parts.append(SampleSoFar(chances, [turns.get(number) for number in range(len(chances))], at))
        answers.append(tuple(len(held.union(order[:count])) for count in declared_looks(SIZE)))
        held.update(order)
    items = [
        DrawnItem(
            document=number // CLAIMS,
            share=1 / CLAIMS,
            judge=float(study.judge[number]),
            probability=chances[number],
            is_drawn=True,
            answer=float(study.answers[number]),
        )
        for number in range(len(chances))
    ]
    *before, latest = answers
    now = latest[declared_looks(SIZE).index(look)]
    found = estimate_from_draw(
        pooled_items(items, parts),
        confidence=look_confidence(now, latest, before=before) if is_spent else PLAIN,
    )
    if found.low is None or found.high is None or found.answered_documents < FEWEST_DOCUMENTS:
        return None
    return found.low, found.high


def _study(number: int) -> Study:
    chance = np.random.default_rng([29, number])
    level = LEVELS[number % len(LEVELS)]
    odds = level + np.repeat(chance.normal(0, SPREAD_OF_SETS, size=SETS), CLAIMS)
    odds = odds + chance.normal(0, SPREAD_OF_CLAIMS, size=SETS * CLAIMS)
    said = _logistic(odds + JUDGE_BIAS + chance.normal(0, JUDGE_NOISE, size=len(odds)))
    answers = (chance.random(len(odds)) < _logistic(odds)).astype(np.float64)
    return Study(said, answers, _truth(level), float(chance.choice(WISHES)), number)


def _truth(level: float) -> float:
    """The population's mean: a logistic of a normal, by Gauss-Hermite quadrature."""
    points, weights = hermegauss(60)
    spread = np.hypot(SPREAD_OF_SETS, SPREAD_OF_CLAIMS)
    return float(weights @ _logistic(level + spread * points) / weights.sum())


def _logistic(odds: Array) -> Array:
    shares: Array = 1 / (1 + np.exp(-odds))
    return shares
