"""Forecasts: the variance by hand, what more answers bring, and that later samples keep what was forecast."""

import math
from dataclasses import replace
from statistics import mean

import numpy as np
import pytest
from scipy.stats import t as student

from evaluation.errors import EvaluationError
from evaluation.statistics import (
    Design,
    SampledItem,
    estimate_systems_from_sample,
    fixed_size_sample,
    forecast_intervals,
    inclusion_probabilities,
)

DESIGNS: list[Design] = ["uniform", "active"]
DOCUMENTS, CLAIMS = 40, 8
PLACES = range(DOCUMENTS * CLAIMS)


class World:
    """Documents of claims, some of which people deny of every system, and a calibrated judge who is unsure of some."""

    def __init__(self, systems: int = 3, seed: int = 2) -> None:
        random = np.random.default_rng(seed)
        shape = (systems, DOCUMENTS, CLAIMS)
        odds = random.normal(0, 0.8, (1, DOCUMENTS, 1)) + random.normal(0, 2.5, shape)
        said = 1 / (1 + np.exp(-odds))
        hardness = random.normal(0, 1.5, (1, DOCUMENTS, CLAIMS))
        true = random.random(shape) < 1 / (1 + np.exp(-(odds + hardness)))
        self.said = said.reshape(systems, -1).tolist()
        self.true = true.astype(float).reshape(systems, -1).tolist()

    def sample(self, size: int, design: Design, seed: int) -> dict[str, list[SampledItem]]:
        names = [(system, place) for system in range(len(self.said)) for place in PLACES]
        strata = {name: name[0] for name in names}
        spreads = {(s, p): math.sqrt(self.said[s][p] * (1 - self.said[s][p])) for s, p in names}
        chances = inclusion_probabilities(spreads, strata, size=size, design=design)
        drawn = fixed_size_sample(chances, strata=strata, seed=seed)
        return {
            str(system): [
                SampledItem(
                    place // CLAIMS,
                    1 / CLAIMS,
                    self.said[system][place],
                    chances[system, place],
                    (system, place) in drawn,
                    self.true[system][place] if (system, place) in drawn else None,
                    claim=place,
                )
                for place in PLACES
            ]
            for system in range(len(self.said))
        }


WORLD = World()
PILOT = WORLD.sample(300, "uniform", 5)


def unanswered(judged: list[float | None], per_document: int) -> list[SampledItem]:
    return [
        SampledItem(place // per_document, 1 / per_document, said, 1.0, is_sampled=False)
        for place, said in enumerate(judged)
    ]


def test_without_answers_the_judge_is_taken_at_its_word() -> None:
    # 16 documents of two items at .5 and .9, shares .5: errors .0625 and .0225. Documents' means are all .7, so they
    # differ by answers alone: .085 each. Half of the items answered: each document adds .085 * (2 - 1). A document
    # holds an answer with 1 - .25, of 16 that is 12: fewer than 15, so people alone stand, with .25 * .7 * .3 each.
    made = forecast_intervals({"a": unanswered([0.5, 0.9] * 16, 2)}, design="uniform")
    assert made.items == 32
    assert made.margin(32) == pytest.approx(student.ppf(0.975, 15) * math.sqrt(0.085 / 16))
    assert made.margin(16) == pytest.approx(student.ppf(0.975, 11) * math.sqrt((0.085 + 0.105) / 16))


def test_a_settled_item_costs_no_answer_and_answers_its_document() -> None:
    items = unanswered([0.5, 1.0] * 16, 2)
    items = [
        replace(each, is_sampled=True, answer=1.0, is_settled=True) if each.judge == 1 else each
        for each in items
    ]
    made = forecast_intervals({"a": items}, design="active")
    assert made.items == 16
    # All 16 documents are known, half of the open items at .25 * .25 = .0625.
    assert made.margin(8) == pytest.approx(student.ppf(0.975, 15) * math.sqrt((0.0625 + 0.0625) / 16))


def test_one_variance_of_documents_stands_for_all_systems() -> None:
    # Documents of a differ by .25 (judged 0 and 1 in turn: variance 16 * .25 / 15), those of b by nothing.
    a, b = unanswered([0.0, 1.0] * 8, 1), unanswered([1.0] * 16, 1)
    made = forecast_intervals({"a": a, "b": b}, design="uniform")
    assert made.margin(32) == pytest.approx(student.ppf(0.975, 15) * math.sqrt(16 * 0.25 / 15 / 2 / 16))


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("frames", [PILOT, WORLD.sample(1, "uniform", 5)])
def test_more_answers_never_widen(design: Design, frames: dict[str, list[SampledItem]]) -> None:
    made = forecast_intervals(frames, design=design)
    margins = [made.margin(size) for size in range(200, made.items + 1, 80)]
    assert None not in margins
    assert margins == sorted(margins, reverse=True)


def test_uncertainty_that_shows_errors_makes_active_samples_narrower() -> None:
    uniform, active = (forecast_intervals(PILOT, design=design).margin(300) for design in DESIGNS)
    assert (active or 1) < (uniform or 0)


@pytest.mark.parametrize("design", DESIGNS)
def test_later_samples_are_as_wide_as_forecast(design: Design) -> None:
    made = forecast_intervals(PILOT, design=design).margin(480)
    halves = [
        ((found.high or 0) - (found.low or 0)) / 2
        for seed in range(8)
        for found in estimate_systems_from_sample(WORLD.sample(480, design, seed)).values()
    ]
    assert mean(halves) == pytest.approx(made, rel=0.1)


def test_answers_to_the_same_claims_elsewhere_narrow_the_forecast() -> None:
    alone = {name: [replace(item, claim=None) for item in items] for name, items in PILOT.items()}
    with_claims, without = (forecast_intervals(each, design="uniform").margin(480) for each in (PILOT, alone))
    assert (with_claims or 1) < (without or 0)


def test_answers_in_too_few_documents_give_no_margin() -> None:
    assert forecast_intervals(PILOT, design="uniform").margin(3) is None
    few = forecast_intervals({"a": unanswered([0.5] * 8, 2)}, design="uniform")
    assert few.margin(8) is None


def test_refuses_impossible_sizes_and_designs() -> None:
    made = forecast_intervals(PILOT, design="uniform")
    with pytest.raises(EvaluationError, match="Between 1 and 960"):
        made.margin(961)
    with pytest.raises(EvaluationError, match="one of uniform"):
        forecast_intervals(PILOT, design="snowball")  # type: ignore[arg-type]
