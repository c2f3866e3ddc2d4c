"""How often nominal 95 % intervals hold the truth: 2,000 simulated studies of 60 document sets, 4 systems.

A study draws its document sets from a population whose mean coverage is known by integration. Claims of a set are
harder or easier together; the judge's probabilities are noisy, biased, and for one system nearly worthless. People
answer the sets that were drawn: all claims of all systems, once. A study counts by the share of its systems whose
interval holds the population's mean.

Means near 0 and 1 are simulated by themselves: single claims are drawn within each of four systems with the same mean,
two for every document set.
"""

from collections.abc import Container
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray

from evaluation.statistics._intervals import IntervalMethod, bootstrap_interval
from evaluation.statistics.estimates._draw_estimates import (
    DrawEstimate,
    DrawnItem,
    estimate_systems_from_draw,
)
from evaluation.statistics.estimates._ranges import FEWEST_EXPECTED
from evaluation.statistics.estimates._sampling import fixed_size_draw, inclusion_probabilities
from tests.bench import Row

NAME = "intervals"
STUDIES = 2_000
DRAWS = 1_000
SETS = 60
LABELLED = 30
FEWER = (20, 10)
Bars = tuple[float | None, float | None]
BARS: Bars = (93.0, 97.0)
NO_BARS: Bars = (None, None)
EXTREMES = (0.03, 0.07, 0.1, 0.9, 0.95, 0.97)
SETS_OF_EXTREMES = (30, 60)
STUDIES_OF_EXTREMES = 1_000
CLAIMS_A_SET = 2
"""Answers to each system for every document set, where means are near 0 or 1."""
LEAST_OF_EXTREMES, MOST_OF_EXTREMES = 94.0, 97.0
SHOWN_BESIDE = {"bootstrap of people, percentile"}
"""Too narrow of few document sets: shown beside the one that is used."""

SYSTEMS = {"a": 0.6, "b": 0.2, "c": -0.1, "d": -0.5}
"""Log odds that a claim of middling difficulty is covered."""
JUDGE_NOISE = {"a": 0.5, "b": 0.8, "c": 1.2, "d": 4.0}
JUDGE_BIAS = 0.4
SPREAD_OF_SETS, SPREAD_OF_SUMMARIES, SPREAD_OF_CLAIMS = 0.8, 0.7, 1.2
FEWEST_CLAIMS, MOST_CLAIMS = 5, 14

Array = NDArray[np.float64]
Bounds = dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Study:
    """Coverage by people and by the judge, shape (sets, systems), and how much the judge doubts each set."""

    people: Array
    judge: Array
    doubt: Array
    claims: NDArray[np.int64]


def run() -> list[Row]:
    studies = [_study(np.random.default_rng([17, number])) for number in range(STUDIES)]
    judged = [{"judge": _bootstrapped(one.judge, number, "expanded")} for number, one in enumerate(studies)]
    rows = [
        _row(
            "judge",
            f"bootstrap of the judge's own mean, {SETS} sets",
            judged,
            _truth(JUDGE_BIAS, JUDGE_NOISE),
        )
    ]
    truth = _truth()
    for labelled in (LABELLED, *FEWER):
        found = [_intervals(study, number, labelled) for number, study in enumerate(studies)]
        rows += [
            _row(
                what,
                f"{what}, {labelled} of {SETS}",
                found,
                truth,
                bars=BARS if labelled == LABELLED and what not in SHOWN_BESIDE else NO_BARS,
            )
            for what in found[0]
        ]
    return [
        *rows,
        *(row for sets in SETS_OF_EXTREMES for share in EXTREMES for row in _extremes(share, sets)),
    ]


def _extremes(share: float, sets: int) -> list[Row]:
    """Of systems whose mean is near 0 or 1. Exact intervals of very few answers of a kind may hold more often."""
    level = _level(share)
    drawn = CLAIMS_A_SET * sets
    found = [
        _of_claims(level, sets, drawn, np.random.default_rng([19, sets, number]))
        for number in range(STUDIES_OF_EXTREMES)
    ]
    truth = dict.fromkeys(SYSTEMS, share)
    is_exact = min(share, 1 - share) * drawn < FEWEST_EXPECTED
    return [
        _row(
            what,
            f"{what}, mean {share:.2f}, {drawn} claims of {sets} sets",
            found,
            truth,
            bars=(LEAST_OF_EXTREMES, None if is_exact else MOST_OF_EXTREMES),
        )
        for what in ("people alone", "PPI++")
    ]


def _of_claims(level: float, sets: int, drawn: int, random: np.random.Generator) -> dict[str, Bounds]:
    """Intervals from claims that were drawn within each system."""
    study = _claims(np.full(len(SYSTEMS), level), sets, random)
    places = np.argwhere(study.is_there[:, 0])
    items = {}
    for place, system in enumerate(SYSTEMS):
        chosen = np.zeros(len(places), dtype=np.bool_)
        chosen[random.choice(len(places), drawn, replace=False)] = True
        items[system] = [
            DrawnItem(
                document=int(row),
                share=1 / study.counts[row],
                judge=float(study.said[row, place, claim]),
                probability=drawn / len(places),
                is_drawn=bool(is_drawn),
                answer=float(study.answers[row, place, claim]) if is_drawn else None,
            )
            for (row, claim), is_drawn in zip(places, chosen, strict=True)
        ]
    found = estimate_systems_from_draw(items)
    return {
        "people alone": {
            system: _ends(one.classical_low, one.classical_high) for system, one in found.items()
        },
        "PPI++": {system: _ends(one.low, one.high) for system, one in found.items()},
    }


def _row(
    key: str,
    what: str,
    found: list[dict[str, Bounds]],
    truth: dict[str, float],
    *,
    bars: Bars = BARS,
) -> Row:
    """Share of intervals that hold the truth, and their mean width."""
    ends = [(truth[system], *bounds) for of_study in found for system, bounds in of_study[key].items()]
    held = 100 * sum(low <= value <= high for value, low, high in ends) / len(ends)
    note = f"mean width {sum(high - low for _, low, high in ends) / len(ends):.4f}"
    least, most = bars
    return Row(what, held, "%", at_most=most, at_least=least, note=note)


def _intervals(study: Study, number: int, labelled: int) -> dict[str, Bounds]:
    drawn = fixed_size_draw(dict.fromkeys(range(SETS), labelled / SETS), seed=number)
    people = study.people[list(drawn)]
    uniform = _estimates(study, drawn, dict.fromkeys(range(SETS), labelled / SETS))
    spreads = dict(enumerate(study.doubt))
    chances = inclusion_probabilities(spreads, dict.fromkeys(spreads), size=labelled, design="active")
    active = _estimates(study, fixed_size_draw(chances, seed=number), chances)
    return {
        "bootstrap of people, percentile": _bootstrapped(people, number, "percentile"),
        "bootstrap of people, expanded": _bootstrapped(people, number, "expanded"),
        "people alone, Student's t": {
            system: _ends(one.classical_low, one.classical_high) for system, one in uniform.items()
        },
        "PPI++, uniform draw": {system: _ends(one.low, one.high) for system, one in uniform.items()},
        "PPI++, active draw": {system: _ends(one.low, one.high) for system, one in active.items()},
    }


def _bootstrapped(values: Array, seed: int, kind: IntervalMethod) -> Bounds:
    found = {
        system: bootstrap_interval(values[:, place].tolist(), draws=DRAWS, seed=seed, method=kind)
        for place, system in enumerate(SYSTEMS)
    }
    return {system: _ends(interval.low, interval.high) for system, interval in found.items()}


def _estimates(
    study: Study, drawn: Container[int], probabilities: dict[int, float]
) -> dict[str, DrawEstimate]:
    items = {
        system: [
            DrawnItem(
                document=row,
                share=1.0,
                judge=float(study.judge[row, place]),
                probability=probabilities[row],
                is_drawn=row in drawn,
                answer=float(study.people[row, place]) if row in drawn else None,
            )
            for row in range(SETS)
        ]
        for place, system in enumerate(SYSTEMS)
    }
    covariates = {row: (float(np.log(count)),) for row, count in enumerate(study.claims)}
    return estimate_systems_from_draw(items, covariates=covariates)


def _ends(low: float | None, high: float | None) -> tuple[float, float]:
    assert low is not None
    assert high is not None
    return low, high


@dataclass(frozen=True)
class Claims:
    """Answers and the judge's probabilities, shape (sets, systems, claims), where `is_there`; `counts` of each set."""

    counts: NDArray[np.int64]
    is_there: NDArray[np.bool_]
    said: Array
    answers: NDArray[np.bool_]


def _study(random: np.random.Generator) -> Study:
    claims = _claims(np.array([*SYSTEMS.values()]), SETS, random)
    said, counts = claims.said, claims.counts[:, None]
    spread = np.sqrt((said * (1 - said) * claims.is_there).sum(axis=2)) / counts
    return Study(
        people=(claims.answers * claims.is_there).sum(axis=2) / counts,
        judge=(said * claims.is_there).sum(axis=2) / counts,
        doubt=spread.sum(axis=1),
        claims=claims.counts,
    )


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


def _truth(bias: float = 0.0, noise: dict[str, float] | None = None) -> dict[str, float]:
    """The population's mean of each system: a logistic of a normal, by Gauss-Hermite quadrature."""
    return {system: _mean(level + bias, (noise or {}).get(system, 0.0)) for system, level in SYSTEMS.items()}


def _mean(level: float, noise: float = 0.0) -> float:
    points, weights = hermegauss(60)
    spread = np.sqrt(SPREAD_OF_SETS**2 + SPREAD_OF_SUMMARIES**2 + SPREAD_OF_CLAIMS**2 + noise**2)
    return float(weights @ _logistic(level + spread * points) / weights.sum())


def _level(share: float) -> float:
    """The log odds at which the population's mean is this share."""
    return float(scipy.optimize.brentq(lambda level: _mean(level) - share, -20, 20))


def _logistic(odds: Array) -> Array:
    shares: Array = 1 / (1 + np.exp(-odds))
    return shares
