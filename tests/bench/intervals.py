"""The share of nominal 95 % intervals that contain the true mean, in simulated studies of four systems."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray

from evaluation.statistics._estimates import (
    SampledItem,
    estimate_systems_from_sample,
)
from evaluation.statistics._ranges import FEWEST_EXPECTED
from evaluation.statistics._resampling import bootstrap_interval
from evaluation.statistics._sampling import fixed_size_sample, inclusion_probabilities
from tests.bench import Row

STUDIES = 2_000
DRAWS = 1_000
SETS = 60
STUDIES_OF_SAMPLES = 1_000
MEANS = (0.03, 0.1, 0.5, 0.9, 0.97)
SETS_OF_SAMPLES = (30, 60)
CLAIMS_A_SET = 2
"""The number of answers about each system and document set."""
LEAST, MOST = 94.0, 96.5

SYSTEMS = {"a": 0.6, "b": 0.2, "c": -0.1, "d": -0.5}
"""Log odds that a claim of middling difficulty is covered."""
JUDGE_NOISE = {"a": 0.5, "b": 0.8, "c": 1.2, "d": 4.0}
JUDGE_BIAS = 0.4
SPREAD_OF_SETS, SPREAD_OF_SUMMARIES, SPREAD_OF_CLAIMS = 0.8, 0.7, 1.2
FEWEST_CLAIMS, MOST_CLAIMS = 5, 14

Array = NDArray[np.float64]
Bounds = dict[str, tuple[float, float]]
Samples = dict[str, list[SampledItem]]


@dataclass(frozen=True)
class Claims:
    """Answers and the judge's probabilities, of shape (sets, systems, claims), valid where `is_there` is True. `counts`
    has the number of claims of each set.
    """

    counts: NDArray[np.int64]
    is_there: NDArray[np.bool_]
    said: Array
    answers: NDArray[np.bool_]


def run() -> list[Row]:
    studies = [_judged(np.random.default_rng([17, number])) for number in range(STUDIES)]
    bootstrapped = [_bootstrapped(judged, number) for number, judged in enumerate(studies)]
    truth = {system: _mean(level + JUDGE_BIAS, JUDGE_NOISE[system]) for system, level in SYSTEMS.items()}
    return [
        _row(f"bootstrap of the judge's own mean, {SETS} sets", bootstrapped, truth, MOST),
        *(row for sets in SETS_OF_SAMPLES for mean in MEANS for row in _samples(mean, sets)),
    ]


def _samples(mean: float, sets: int) -> list[Row]:
    """`MOST` is no bar if few answers of one kind are expected."""
    level, size = _level(mean), CLAIMS_A_SET * sets
    found: dict[str, list[Bounds]] = {}
    for number in range(STUDIES_OF_SAMPLES):
        claims = _claims(np.full(len(SYSTEMS), level), sets, np.random.default_rng([19, sets, number]))
        for what, bounds in _of_sample(claims, size, number).items():
            found.setdefault(what, []).append(bounds)
    most = None if min(mean, 1 - mean) * size < FEWEST_EXPECTED else MOST
    return [
        _row(
            f"{what}, mean {mean:.2f}, {size} claims of {sets} sets",
            bounds,
            dict.fromkeys(SYSTEMS, mean),
            most,
        )
        for what, bounds in found.items()
    ]


def _of_sample(claims: Claims, size: int, seed: int) -> dict[str, Bounds]:
    uniform: Samples = {}
    unsure: Samples = {}
    for place, system in enumerate(SYSTEMS):
        places = [(int(row), int(claim)) for row, claim in np.argwhere(claims.is_there[:, place])]
        even = dict.fromkeys(places, size / len(places))
        said = {(row, claim): float(claims.said[row, place, claim]) for row, claim in places}
        spreads = {key: (said[key] * (1 - said[key])) ** 0.5 / claims.counts[key[0]] for key in places}
        chances = inclusion_probabilities(spreads, dict.fromkeys(spreads, ""), size=size, design="active")
        for items, probabilities in ((uniform, even), (unsure, chances)):
            chosen = fixed_size_sample(probabilities, seed=4 * seed + place)
            items[system] = [
                SampledItem(
                    document=row,
                    share=1 / claims.counts[row],
                    judge=said[row, claim],
                    probability=probabilities[row, claim],
                    is_sampled=(row, claim) in chosen,
                    answer=float(claims.answers[row, place, claim]) if (row, claim) in chosen else None,
                )
                for row, claim in places
            ]
    evenly, unsurely = estimate_systems_from_sample(uniform), estimate_systems_from_sample(unsure)
    return {
        "people alone": {
            system: _ends(one.classical_low, one.classical_high) for system, one in evenly.items()
        },
        "PPI++, uniform": {system: _ends(one.low, one.high) for system, one in evenly.items()},
        "PPI++, more where unsure": {system: _ends(one.low, one.high) for system, one in unsurely.items()},
    }


def _row(what: str, found: list[Bounds], truth: dict[str, float], at_most: float | None) -> Row:
    ends = [(truth[system], *bounds) for of_study in found for system, bounds in of_study.items()]
    held = 100 * sum(low <= value <= high for value, low, high in ends) / len(ends)
    note = f"mean width {sum(high - low for _, low, high in ends) / len(ends):.4f}"
    return Row(what, held, "%", at_most=at_most, at_least=LEAST, note=note)


def _bootstrapped(values: Array, seed: int) -> Bounds:
    found = {
        system: bootstrap_interval(values[:, place].tolist(), draws=DRAWS, seed=seed, method="expanded")
        for place, system in enumerate(SYSTEMS)
    }
    return {system: _ends(interval.low, interval.high) for system, interval in found.items()}


def _ends(low: float | None, high: float | None) -> tuple[float, float]:
    assert low is not None
    assert high is not None
    return low, high


def _judged(random: np.random.Generator) -> Array:
    claims = _claims(np.array([*SYSTEMS.values()]), SETS, random)
    found: Array = (claims.said * claims.is_there).sum(axis=2) / claims.counts[:, None]
    return found


def _claims(levels: Array, sets: int, random: np.random.Generator) -> Claims:
    noise = np.array([JUDGE_NOISE[system] for system in SYSTEMS])
    shape = (sets, len(SYSTEMS), MOST_CLAIMS)
    counts = random.integers(FEWEST_CLAIMS, MOST_CLAIMS + 1, size=sets)
    is_there = np.broadcast_to(np.arange(MOST_CLAIMS) < counts[:, None, None], shape)
    odds = levels[:, None] + random.normal(0, SPREAD_OF_SETS, size=(sets, 1, 1))
    odds = odds + random.normal(0, SPREAD_OF_SUMMARIES, size=(*shape[:2], 1))
    odds = odds + random.normal(0, SPREAD_OF_CLAIMS, size=shape)
    said = _logistic(odds + JUDGE_BIAS + random.normal(0, 1, size=shape) * noise[:, None])
    answers = random.random(shape) < _logistic(odds)
    return Claims(counts, is_there, said, answers)


def _mean(level: float, noise: float = 0.0) -> float:
    """Compute the population's mean, a logistic of a normal variable, by Gauss-Hermite quadrature."""
    points, weights = hermegauss(60)
    spread = np.sqrt(SPREAD_OF_SETS**2 + SPREAD_OF_SUMMARIES**2 + SPREAD_OF_CLAIMS**2 + noise**2)
    return float(weights @ _logistic(level + spread * points) / weights.sum())


def _level(share: float) -> float:
    return float(scipy.optimize.brentq(lambda level: _mean(level) - share, -20, 20))


def _logistic(odds: Array) -> Array:
    shares: Array = 1 / (1 + np.exp(-odds))
    return shares
