import math
from collections import Counter
from dataclasses import replace
from itertools import combinations
from statistics import mean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from evaluation.errors import EvaluationError, InvalidPercent, InvalidWeight
from evaluation.statistics import (
    Design,
    SampledItem,
    estimate_systems_from_sample,
    fixed_size_sample,
    forecast_intervals,
    inclusion_probabilities,
)


def active(spreads: dict[str, float], size: int) -> dict[str, float]:
    return inclusion_probabilities(spreads, dict.fromkeys(spreads, ""), size=size, design="active")


def test_active_probabilities_follow_the_spread_above_a_uniform_floor() -> None:
    # Half of the size 1 is spread evenly, .25 for each. The other half is divided in the ratio .3 to .1, into .375 and
    # .125.
    assert active({"a": 0.3, "b": 0.1}, size=1) == pytest.approx({"a": 0.625, "b": 0.375})


def test_what_would_pass_one_is_sampled_for_sure_and_the_rest_is_shared() -> None:
    # Half of the size 2 is spread evenly, 1/3 for each of three. a would get 1/3 + 8/10 > 1, so a gets 1. Of the size,
    # 2 - 1 - 2/3 = 1/3 is left, half for b and half for c.
    found = active({"b": 1.0, "a": 8.0, "c": 1.0}, size=2)
    assert found == pytest.approx({"b": 0.5, "a": 1.0, "c": 0.5})
    assert list(found) == ["b", "a", "c"]


def test_without_any_spread_the_sample_is_uniform() -> None:
    assert active({"a": 0.0, "b": 0.0}, size=1) == {"a": 0.5, "b": 0.5}


def test_every_stratum_gets_its_share() -> None:
    # 3 of 6 items are sampled. 2 of these are among the four items of "x": half is spread evenly, 1/4 each, and 1 by
    # the spreads, 1/2 and 1/6 each. 1 is among the two items of "y", spread evenly.
    spreads = {"a": 3.0, "b": 1.0, "c": 1.0, "d": 1.0, "e": 0.0, "f": 0.0}
    strata = dict.fromkeys("abcd", "x") | dict.fromkeys("ef", "y")
    found = inclusion_probabilities(spreads, strata, size=3, design="active")
    assert found == pytest.approx({"a": 0.75, "b": 5 / 12, "c": 5 / 12, "d": 5 / 12, "e": 0.5, "f": 0.5})


def test_probabilities_that_cannot_be_are_refused() -> None:
    for size in (0, 3):
        with pytest.raises(EvaluationError, match="Between 1 and 2"):
            active({"a": 1.0, "b": 0.0}, size)
    with pytest.raises(InvalidWeight):
        active({"a": -1.0}, size=1)


@pytest.mark.parametrize("design", ["uniform", "active"])
@given(
    frame=st.dictionaries(
        st.integers(), st.tuples(st.floats(0, 100), st.integers(0, 3)), min_size=1, max_size=30
    ),
    part=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_a_sample_keeps_its_size_its_strata_and_its_floor(
    design: Design, frame: dict[int, tuple[float, int]], part: float, seed: int
) -> None:
    strata = {item: stratum for item, (_, stratum) in frame.items()}
    size = max(1, round(part * len(frame)))
    spreads = {item: spread for item, (spread, _) in frame.items()}
    found = inclusion_probabilities(spreads, strata, size=size, design=design)
    assert all(0.5 * size / len(frame) - 1e-9 <= chance <= 1 + 1e-9 for chance in found.values())
    drawn = fixed_size_sample(
        {item: min(1.0, chance) for item, chance in found.items()}, strata=strata, seed=seed
    )
    assert len(drawn) == size
    for stratum, held in Counter(strata.values()).items():
        assert abs(sum(strata[item] == stratum for item in drawn) - size * held / len(frame)) < 1


CHANCES = {"a": 0.9, "b": 0.15, "c": 0.5, "d": 0.25, "e": 0.7, "f": 1.0, "g": 0.5, "h": 0.0}


def test_a_fixed_size_sample_has_the_sum_of_its_probabilities_as_its_size() -> None:
    for seed in range(50):
        drawn = fixed_size_sample(CHANCES, seed=seed)
        assert len(drawn) == 4
        assert "f" in drawn
        assert "h" not in drawn
        assert drawn == {item: CHANCES[item] for item in CHANCES if item in drawn}


def test_every_item_of_a_fixed_size_sample_has_exactly_its_probability() -> None:
    # In 4000 samples, the standard deviation of a count is at most sqrt(4000 / 4) = 31.6.
    counts = Counter(item for seed in range(4000) for item in fixed_size_sample(CHANCES, seed=seed))
    assert all(abs(counts[item] - 4000 * chance) < 5 * 31.6 for item, chance in CHANCES.items())


def test_any_two_items_may_be_drawn_together() -> None:
    draws = [fixed_size_sample(CHANCES, seed=seed) for seed in range(2000)]
    pairs = {pair for drawn in draws for pair in combinations(drawn, 2)}
    assert pairs >= set(combinations("abcdefg", 2))


def test_a_size_that_is_no_whole_number_varies_by_one() -> None:
    sizes = Counter(len(fixed_size_sample({"a": 0.5, "b": 0.5, "c": 0.5}, seed=seed)) for seed in range(2000))
    assert set(sizes) == {1, 2}
    assert abs(sizes[2] - 1000) < 5 * 22.4


def test_a_probability_outside_0_to_1_is_refused() -> None:
    with pytest.raises(InvalidPercent, match="'a'"):
        fixed_size_sample({"a": 1.2}, seed=1)


DESIGNS: list[Design] = ["uniform", "active"]
DOCUMENTS, CLAIMS = 40, 8
PLACES = range(DOCUMENTS * CLAIMS)


class World:
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
    # Each of 16 documents has two items with the probabilities .5 and .9 and the shares .5. Their expected squared
    # errors are .5^2 * .5 * .5 = .0625 and .5^2 * .9 * .1 = .0225, .085 in all. All document means are .7, so documents
    # differ only by these errors. If half of the items are answered, each document adds .085 * (2 - 1) and has an
    # answer with the probability 1 - .5 * .5, so 12 of 16 documents have one. That is fewer than 15, so people's
    # answers count alone, and each document adds 2 * .5^2 * .7 * .3 = .105 instead.
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
    # All 16 documents are known, and half of the open items add .25 * .25 = .0625.
    assert made.margin(8) == pytest.approx(student.ppf(0.975, 15) * math.sqrt((0.0625 + 0.0625) / 16))


def test_one_variance_of_documents_stands_for_all_systems() -> None:
    # The judge gives the documents of a 0 and 1 in turn, with the variance 16 * .25 / 15, and those of b always 1. The
    # mean of both variances counts for each system.
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
