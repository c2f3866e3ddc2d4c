"""How often nominal 95 % intervals hold the truth: 2,000 simulated studies of 60 document sets, 4 systems.

A study draws its document sets from a population whose mean coverage is known by integration. Claims of a set are
harder or easier together; the judge's probabilities are noisy, biased, and for one system nearly worthless. People
answer the sets that were drawn: all claims of all systems, once. A study counts by the share of its systems whose
interval holds the population's mean.
"""

from collections.abc import Container
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray

from evaluation.statistics._intervals import IntervalMethod, system_intervals
from evaluation.statistics.estimates._draw_estimates import (
    DrawEstimate,
    DrawnItem,
    estimate_systems_from_draw,
)
from evaluation.statistics.estimates._sampling import active_probabilities, fixed_size_draw, uniform_draw
from tests.bench import Row

NAME = "intervals"
STUDIES = 2_000
DRAWS = 1_000
SETS = 60
LABELLED = 30
FEWER = (20, 10)
LEAST, MOST = 93.0, 97.0
SHOWN_BESIDE = {"bootstrap of people, percentile", "bootstrap of people, BCa"}
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
                has_bar=labelled == LABELLED and what not in SHOWN_BESIDE,
            )
            for what in found[0]
        ]
    return rows


def _row(
    key: str, what: str, found: list[dict[str, Bounds]], truth: dict[str, float], *, has_bar: bool = True
) -> Row:
    """Share of intervals that hold the truth, and their mean width."""
    ends = [(truth[system], *bounds) for of_study in found for system, bounds in of_study[key].items()]
    held = 100 * sum(low <= value <= high for value, low, high in ends) / len(ends)
    note = f"mean width {sum(high - low for _, low, high in ends) / len(ends):.4f}"
    most, least = (MOST, LEAST) if has_bar else (None, None)
    return Row(what, held, "%", at_most=most, at_least=least, note=note)


def _intervals(study: Study, number: int, labelled: int) -> dict[str, Bounds]:
    drawn = uniform_draw(range(SETS), share=labelled / SETS, seed=number)
    people = study.people[list(drawn)]
    uniform = _estimates(study, drawn, dict.fromkeys(range(SETS), labelled / SETS))
    chances = active_probabilities(dict(enumerate(study.doubt)), size=labelled)
    active = _estimates(study, fixed_size_draw(chances, seed=number), chances)
    return {
        "bootstrap of people, percentile": _bootstrapped(people, number, "percentile"),
        "bootstrap of people, BCa": _bootstrapped(people, number, "bca"),
        "bootstrap of people, expanded": _bootstrapped(people, number, "expanded"),
        "people alone, Student's t": {
            system: _ends(one.classical_low, one.classical_high) for system, one in uniform.items()
        },
        "PPI++, uniform draw": {system: _ends(one.low, one.high) for system, one in uniform.items()},
        "PPI++, active draw": {system: _ends(one.low, one.high) for system, one in active.items()},
    }


def _bootstrapped(values: Array, seed: int, kind: IntervalMethod) -> Bounds:
    columns = {
        system: {f"{row:02}": float(value) for row, value in enumerate(values[:, place])}
        for place, system in enumerate(SYSTEMS)
    }
    found = system_intervals(columns, draws=DRAWS, seed=seed, method=kind)
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


def _study(random: np.random.Generator) -> Study:
    levels, noise = np.array([*SYSTEMS.values()]), np.array([JUDGE_NOISE[system] for system in SYSTEMS])
    shape = (SETS, len(SYSTEMS), MOST_CLAIMS)
    counts = random.integers(FEWEST_CLAIMS, MOST_CLAIMS + 1, size=SETS)
    is_there = np.arange(MOST_CLAIMS) < counts[:, None, None]
    odds = levels[:, None] + random.normal(0, SPREAD_OF_SETS, size=(SETS, 1, 1))
    odds = odds + random.normal(0, SPREAD_OF_SUMMARIES, size=(*shape[:2], 1))
    odds = odds + random.normal(0, SPREAD_OF_CLAIMS, size=shape)
    said = _logistic(odds + JUDGE_BIAS + random.normal(0, 1, size=shape) * noise[:, None])
    answers = random.random(shape) < _logistic(odds)
    spread = np.sqrt((said * (1 - said) * is_there).sum(axis=2)) / counts[:, None]
    return Study(
        people=(answers * is_there).sum(axis=2) / counts[:, None],
        judge=(said * is_there).sum(axis=2) / counts[:, None],
        doubt=spread.sum(axis=1),
        claims=counts,
    )


def _truth(bias: float = 0.0, noise: dict[str, float] | None = None) -> dict[str, float]:
    """The population's mean of each system: a logistic of a normal, by Gauss-Hermite quadrature."""
    points, weights = hermegauss(60)
    common = SPREAD_OF_SETS**2 + SPREAD_OF_SUMMARIES**2 + SPREAD_OF_CLAIMS**2
    spreads = {system: np.sqrt(common + (noise or {}).get(system, 0.0) ** 2) for system in SYSTEMS}
    return {
        system: float(weights @ _logistic(level + bias + spreads[system] * points) / weights.sum())
        for system, level in SYSTEMS.items()
    }


def _logistic(odds: Array) -> Array:
    shares: Array = 1 / (1 + np.exp(-odds))
    return shares
