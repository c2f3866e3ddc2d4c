"""Forecasts: the variance by hand, what more labels bring, and that later draws keep what was forecast."""

import math
from dataclasses import replace
from statistics import mean

import numpy as np
import pytest
from scipy.stats import t as student

from evaluation.errors import EvaluationError, InvalidPercent, InvalidWeight, LengthMismatch
from evaluation.statistics.estimates._draw_estimates import DrawnItem, estimate_from_draw
from evaluation.statistics.estimates._planner import (
    Design,
    Forecast,
    documents_for_all,
    forecast_widths,
    forecast_without_pilot,
    with_pooled_variance,
)
from evaluation.statistics.estimates._sampling import fixed_size_draw, uniform_draw

DESIGNS: list[Design] = ["people", "uniform", "stratified", "active"]


def forecast(
    errors: list[float], documents: list[int], *, between: float = 0.04, strata: list[str] | None = None
) -> Forecast:
    return Forecast(
        now=0.5,
        confidence=0.95,
        floor=0.5,
        answered=2,
        documents=np.array(documents),
        strata=tuple(strata or [""] * len(errors)),
        errors=np.array(errors),
        people_errors=np.array(errors) * 2,
        variance_of_documents=between,
    )


class World:
    """40 documents of 8 claims, a calibrated judge that doubts some claims more than others, and a pilot."""

    def __init__(self, seed: int = 2) -> None:
        random = np.random.default_rng(seed)
        odds = random.normal(0, 0.8, (40, 1)) + random.normal(0, 2.5, (40, 8))
        said = 1 / (1 + np.exp(-odds))
        self.judged = said.ravel().tolist()
        self.truth = (random.random((40, 8)) < said).astype(float).ravel().tolist()
        self.spreads = np.sqrt(said * (1 - said)).ravel().tolist()
        self.strata = ["sure" if spread < 0.3 else "unsure" for spread in self.spreads]

    def items(self, drawn: dict[int, float], chances: list[float]) -> list[DrawnItem]:
        return [
            DrawnItem(
                number // 8,
                1 / 8,
                self.judged[number],
                chances[number],
                number in drawn,
                self.truth[number] if number in drawn else None,
            )
            for number in range(320)
        ]

    def pilot(self, size: int = 96) -> list[DrawnItem]:
        return self.items(uniform_draw(range(320), share=size / 320, seed=5), [size / 320] * 320)


WORLD = World()


def test_the_width_is_that_of_the_two_variances() -> None:
    # Two documents of two claims, each of error .01: half drawn, so each adds .01 (2 - 1), .02 a document. Variance
    # (.04 + .02) / 2 = .03; expected documents with an answer 2 (1 - .25) = 1.5, rounded to 2, so one degree.
    found = forecast([0.01] * 4, [0, 0, 1, 1]).width(2, "uniform")
    assert found is None
    found = forecast([0.01] * 8, [0, 0, 1, 1, 2, 2, 3, 3]).width(4, "uniform")
    # Four documents: (.04 + .02) / 4 = .015, 4 (1 - .25) = 3 documents, two degrees.
    assert found == pytest.approx(2 * student.ppf(0.975, 2) * math.sqrt(0.015))


def test_people_alone_err_by_all_that_is_not_foretold() -> None:
    found = forecast([0.01] * 8, [0, 0, 1, 1, 2, 2, 3, 3]).width(4, "people")
    assert found == pytest.approx(2 * student.ppf(0.975, 2) * math.sqrt((0.04 + 0.04) / 4))


def test_with_every_item_answered_only_documents_differ() -> None:
    made = forecast([0.01] * 8, [0, 0, 1, 1, 2, 2, 3, 3])
    widths = [made.width(8, design) for design in DESIGNS]
    assert widths == pytest.approx([2 * student.ppf(0.975, 3) * math.sqrt(0.04 / 4)] * 4)


def test_strata_get_labels_by_size_and_error() -> None:
    # Spreads .3 and .1, sizes 4 and 4: 3 to 1 of six would be 4.5 and 1.5, but no more than four and two at least.
    made = forecast([0.09] * 4 + [0.01] * 4, [0, 0, 1, 1, 2, 2, 3, 3], strata=["a"] * 4 + ["b"] * 4)
    assert made.allocation(6) == {"a": 4, "b": 2}
    assert made.probabilities(6, "stratified") == [1.0] * 4 + [0.5] * 4


@pytest.mark.parametrize("design", DESIGNS)
def test_probabilities_add_up_to_the_labels(design: Design) -> None:
    made = forecast_widths(WORLD.pilot(), WORLD.spreads, strata=WORLD.strata)
    assert sum(made.probabilities(100, design)) == pytest.approx(100)


def test_a_forecast_knows_the_pilots_own_width() -> None:
    found = estimate_from_draw(WORLD.pilot())
    made = forecast_widths(WORLD.pilot(), WORLD.spreads)
    assert found.high is not None
    assert found.low is not None
    assert made.now == pytest.approx(found.high - found.low)
    assert made.answered == 96


@pytest.mark.parametrize("design", DESIGNS)
def test_more_labels_never_widen(design: Design) -> None:
    made = forecast_widths(WORLD.pilot(), WORLD.spreads, strata=WORLD.strata)
    widths = [made.width(labels, design) for labels in range(80, 321, 40)]
    assert None not in widths
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == pytest.approx(made.least)


def test_doubt_that_foretells_errors_makes_active_draws_cheaper() -> None:
    made = forecast_widths(WORLD.pilot(), WORLD.spreads, strata=WORLD.strata)
    widths = {design: made.width(96, design) or 0.0 for design in DESIGNS}
    assert max(widths["active"], widths["stratified"]) < widths["uniform"] < widths["people"]


def test_doubt_that_foretells_nothing_counts_for_nothing() -> None:
    random = np.random.default_rng(0)
    shuffled = random.permutation(WORLD.spreads).tolist()
    made, misled = (forecast_widths(WORLD.pilot(), spreads) for spreads in (WORLD.spreads, shuffled))
    gains = [(one.width(96, "uniform") or 0) - (one.width(96, "active") or 0) for one in (made, misled)]
    assert gains[1] < gains[0] / 3


def test_the_fewest_labels_for_a_width_are_found() -> None:
    made = forecast_widths(WORLD.pilot(), WORLD.spreads)
    for design in DESIGNS:
        labels = made.labels_for(0.16, design)
        assert labels is not None
        assert (made.width(labels, design) or 1) <= 0.16 < (made.width(labels - 1, design) or 1)


def test_a_width_below_what_documents_differ_by_takes_more_documents() -> None:
    made = forecast_widths(WORLD.pilot(), WORLD.spreads)
    least = made.least
    assert least is not None
    assert made.labels_for(least * 0.9, "active") is None
    assert (made.documents_for(least * 0.9) or 0) > 40
    assert (made.documents_for(least * 1.01) or 99) <= 40


def test_documents_for_a_width_by_hand() -> None:
    # Variance .04: of 18 documents 2 * t(17) * sqrt(.04 / 18) = .19892, of 17 2 * t(16) * sqrt(.04 / 17) = .20566.
    assert forecast([0.0], [0]).documents_for(0.2) == 18


def test_of_documents_that_seem_not_to_differ_nothing_is_foretold() -> None:
    made = forecast([0.01] * 8, [0, 0, 1, 1, 2, 2, 3, 3], between=0.0)
    assert (made.least, made.width(4, "uniform"), made.documents_for(0.2)) == (None, None, None)
    assert made.labels_for(0.2, "uniform") is None


def test_the_variance_of_documents_is_the_mean_over_systems_by_their_documents() -> None:
    # One document at 0 and three at .04: (1 * 0 + 3 * .04) / 4 = .03, for both.
    pooled = with_pooled_variance(
        {"a": forecast([0.01], [0], between=0.0), "b": forecast([0.02] * 3, [0, 1, 2], between=0.04)}
    )
    assert [each.variance_of_documents for each in pooled.values()] == pytest.approx([0.03, 0.03])
    # All three of b answered: 2 t(2) sqrt(.03 / 3).
    assert pooled["b"].least == pytest.approx(2 * student.ppf(0.975, 2) * 0.1)
    assert pooled["b"].errors.tolist() == [0.02] * 3


def test_pooled_least_widths_are_nearer_to_the_true_ones() -> None:
    # Twelve systems over the same documents, which differ alike; of each a twentieth is asked.
    worlds = [World(seed) for seed in range(12)]
    pilots = [world.items(uniform_draw(range(320), share=0.2, seed=7), [0.2] * 320) for world in worlds]
    own = {
        str(number): forecast_widths(pilot, world.spreads)
        for number, (world, pilot) in enumerate(zip(worlds, pilots, strict=True))
    }
    # Answered in full: the variance of the documents' means is the one there is.
    means = [np.array(world.truth).reshape(40, 8).mean(axis=1) for world in worlds]
    true = [2 * student.ppf(0.975, 39) * each.std(ddof=1) / math.sqrt(40) for each in means]

    def error(made: dict[str, Forecast]) -> float:
        misses = [(each.least or 0.0) - goal for each, goal in zip(made.values(), true, strict=True)]
        return math.sqrt(mean(miss**2 for miss in misses))

    assert error(with_pooled_variance(own)) < error(own) / 1.5


@pytest.mark.parametrize("design", ["uniform", "active"])
def test_later_draws_are_as_wide_as_forecast(design: Design) -> None:
    made = forecast_widths(WORLD.pilot(), WORLD.spreads)
    chances = made.probabilities(160, design)
    widths = []
    for seed in range(30):
        found = estimate_from_draw(WORLD.items(fixed_size_draw(dict(enumerate(chances)), seed=seed), chances))
        assert found.high is not None
        assert found.low is not None
        widths.append(found.high - found.low)
    assert mean(widths) == pytest.approx(made.width(160, design), rel=0.1)


def test_answers_that_join_the_pilots_are_as_good_as_their_union() -> None:
    pilot = WORLD.pilot(160)
    alone = forecast_widths(pilot, WORLD.spreads)
    joined = forecast_widths(pilot, WORLD.spreads, joins=True)
    # Of 320 items half was drawn; of 160 more half each: in either with 1 - 1/4, as 240 at once.
    assert joined.width(160, "uniform") == pytest.approx(alone.width(240, "uniform"), rel=1e-3)
    # Documents that hold an answer go on holding it.
    answered = {item.document for item in pilot if item.is_drawn}
    assert joined.answered_documents(0, "uniform").expected == len(answered)


def test_labels_of_too_few_documents_give_no_width() -> None:
    made = forecast_widths(WORLD.pilot(), WORLD.spreads)
    assert made.width(0, "uniform") is None
    assert made.width(1, "active") is None


def test_refuses_a_pilot_that_is_not_done() -> None:
    pilot = WORLD.pilot()
    place = next(number for number, item in enumerate(pilot) if item.is_drawn)
    pilot[place] = replace(pilot[place], answer=None)
    with pytest.raises(EvaluationError, match="95 of 96"):
        forecast_widths(pilot, WORLD.spreads)


def test_refuses_what_cannot_be() -> None:
    with pytest.raises(LengthMismatch):
        forecast_widths(WORLD.pilot(), [0.1])
    with pytest.raises(LengthMismatch):
        forecast_widths(WORLD.pilot(), WORLD.spreads, strata=["a"])
    with pytest.raises(InvalidWeight):
        forecast_widths(WORLD.pilot(), [-1.0] * 320)
    made = forecast_widths(WORLD.pilot(), WORLD.spreads)
    with pytest.raises(EvaluationError, match="Between 0 and 320"):
        made.width(321, "uniform")
    with pytest.raises(EvaluationError, match="one of people"):
        made.width(10, "snowball")  # type: ignore[arg-type]
    with pytest.raises(EvaluationError, match="above 0"):
        made.labels_for(0, "uniform")
    with pytest.raises(EvaluationError, match="above 0"):
        made.documents_for(-1)


def unanswered(judged: list[float | None], per_document: int) -> list[DrawnItem]:
    return [
        DrawnItem(place // per_document, 1 / per_document, said, 1.0, is_drawn=False)
        for place, said in enumerate(judged)
    ]


def test_without_a_pilot_the_judge_is_taken_at_its_word() -> None:
    # Shares of .5. Errors: .25 * .5 * .5 = .0625 and .25 * .9 * .1 = .0225, twice. Documents' means are .7 both, so
    # they differ by answers alone: (.0625 + .0225) of each. Of people alone at a mean of .7: .25 * .21 = .0525.
    made = forecast_without_pilot(unanswered([0.5, 0.9, 0.5, 0.9], 2))
    assert made.errors.tolist() == pytest.approx([0.0625, 0.0225] * 2)
    assert made.people_errors.tolist() == pytest.approx([0.0525] * 4)
    assert made.variance_of_documents == pytest.approx(0.085)
    assert made.least == pytest.approx(2 * student.ppf(0.975, 1) * math.sqrt(0.085 / 2))
    assert (made.now, made.answered) == (None, 0)


def test_without_a_pilot_the_width_of_all_answers_is_the_least() -> None:
    made = forecast_without_pilot(unanswered([0.5, 0.9, 0.2, 0.9, None, 0.1], 2))
    assert [made.width(6, design) for design in DESIGNS] == pytest.approx([made.least] * 4)


def test_an_item_without_a_probability_may_go_either_way() -> None:
    made = forecast_without_pilot(unanswered([None, 1.0], 1))
    assert made.errors.tolist() == [0.25, 0.0]


def test_a_calibrated_judges_word_foretells_what_draws_bring() -> None:
    made = forecast_without_pilot(WORLD.items({}, [1.0] * 320))
    found = forecast_widths(WORLD.pilot(), WORLD.spreads)
    assert made.width(160, "uniform") == pytest.approx(found.width(160, "uniform"), rel=0.15)


def test_without_a_pilot_too_few_documents_and_impossible_probabilities_are_refused() -> None:
    with pytest.raises(EvaluationError, match="at least 2 documents"):
        forecast_without_pilot(unanswered([0.5, 0.5], 2))
    with pytest.raises(InvalidPercent):
        forecast_without_pilot(unanswered([0.5, 1.5], 1))


def test_documents_with_an_answer_are_expected_by_their_chances() -> None:
    # Half of four items in two documents: each document goes without one with a chance of a quarter. The variance is
    # 2 * .25 * .75 = .375, less (2 * .25 * 1)^2 / (4 * .25) = .25 that follows from there being two answers.
    made = forecast([0.01] * 4, [0, 0, 1, 1])
    found = made.answered_documents(2, "uniform")
    assert found.expected == pytest.approx(1.5)
    assert found.spread == pytest.approx(math.sqrt(0.125))
    assert made.document_count == 2


def test_of_documents_of_one_item_as_many_hold_an_answer_as_are_drawn() -> None:
    assert forecast([0.01] * 6, list(range(6))).answered_documents(2, "uniform") == pytest.approx((2, 0))


def test_strata_fix_more_of_the_number_of_documents() -> None:
    # Two documents of one item each are a stratum, two others the other: of each one is drawn.
    made = forecast([0.01] * 4, [0, 1, 2, 3], strata=["a", "a", "b", "b"])
    assert made.answered_documents(2, "stratified").spread == pytest.approx(0)
    # Documents of an item in each stratum: chances .5, u = .25 and four answers in each. Variance 8 * .1875 = 1.5,
    # less (8 * .25 * .5)^2 / (8 * .25) = .5 for each of the strata.
    crossed = forecast([0.01] * 16, [*range(8), *range(8)], strata=["a"] * 8 + ["b"] * 8)
    assert crossed.answered_documents(8, "stratified").spread == pytest.approx(math.sqrt(0.5))


@pytest.mark.parametrize("design", ["uniform", "stratified", "active"])
def test_draws_answer_as_many_documents_as_told(design: Design) -> None:
    made = forecast_widths(WORLD.pilot(), WORLD.spreads, strata=WORLD.strata)
    chances = dict(enumerate(made.probabilities(40, design)))
    groups = [range(320)]
    if design == "stratified":
        groups = [[n for n in range(320) if WORLD.strata[n] == name] for name in ("sure", "unsure")]
    counts = []
    for seed in range(400):
        drawn = [name for own in groups for name in fixed_size_draw({n: chances[n] for n in own}, seed=seed)]
        counts.append(len({name // 8 for name in drawn}))
    found = made.answered_documents(40, design)
    # Errors of the mean and of the deviation of 400: a twentieth and a thirtieth of the spread.
    assert mean(counts) == pytest.approx(found.expected, abs=0.7)
    assert float(np.std(counts)) == pytest.approx(found.spread, rel=0.2)


def test_documents_for_all_of_one_system_are_its_own() -> None:
    made = forecast([0.0], [0])
    assert documents_for_all([made], 0.2) == made.documents_for(0.2) == 18


def test_documents_for_all_of_two_systems_by_hand() -> None:
    # Variance .04, as above. Of two equal systems the widest is wider, by sqrt(q / d) where chi-square of d degrees
    # lies below q with a chance of sqrt(1/2). Of 20 documents q = 21.828: .18721 * sqrt(21.828 / 19) = .20066; of 21
    # q = 22.917: .18208 * sqrt(22.917 / 20) = .19490.
    made = forecast([0.0], [0])
    assert [made.width_of_all(count) for count in (20, 21)] == pytest.approx([0.18721, 0.18208], abs=1e-5)
    assert documents_for_all([made, made], 0.2) == 21


def test_documents_for_all_need_every_variance_and_a_width() -> None:
    known, unknown = forecast([0.0], [0]), forecast([0.0], [0], between=0.0)
    assert documents_for_all([known, unknown], 0.2) is None
    with pytest.raises(EvaluationError, match="above 0"):
        documents_for_all([known], 0)
    with pytest.raises(EvaluationError, match="no forecast"):
        documents_for_all([], 0.2)


def with_a_settled_item(strata: list[str] | None = None) -> Forecast:
    """Two documents of two items at .5, of which the last one's answer is known to be yes."""
    items = [
        DrawnItem(number // 2, 0.5, judge, 1.0, False, None)
        for number, judge in enumerate([0.5, 0.5, 0.5, 1.0])
    ]
    return forecast_without_pilot(items, strata=strata, settled=[False, False, False, True])


@pytest.mark.parametrize("design", DESIGNS)
def test_what_is_settled_costs_no_answer(design: Design) -> None:
    # Two answers for the three items that are open, all alike.
    assert with_a_settled_item().probabilities(2, design) == pytest.approx([2 / 3, 2 / 3, 2 / 3, 1])


def test_what_is_settled_errs_by_nothing() -> None:
    found = with_a_settled_item()
    # A share of 1/2 squared times .5 * .5; people alone go by the mean (3 * .5 + 1) / 4 = .625.
    assert found.errors.tolist() == pytest.approx([0.0625, 0.0625, 0.0625, 0])
    assert found.people_errors.tolist() == pytest.approx([0.25 * 0.625 * 0.375] * 3 + [0])


def test_no_more_can_be_drawn_than_is_open() -> None:
    with pytest.raises(EvaluationError, match="Between 0 and 3 items"):
        with_a_settled_item().probabilities(4, "uniform")


def test_strata_hold_what_is_open() -> None:
    found = with_a_settled_item(["a", "a", "b", "b"])
    assert found.allocation(3) == {"a": 2, "b": 1}
    assert found.probabilities(3, "stratified") == pytest.approx([1, 1, 1, 1])


def test_where_all_is_settled_nothing_is_drawn() -> None:
    items = [DrawnItem(number, 1.0, float(number), 1.0, True, float(number)) for number in range(2)]
    found = forecast_without_pilot(items, settled=[True, True])
    assert [found.probabilities(0, design) for design in DESIGNS] == [[1, 1]] * 4
    # Documents at 0 and 1: variance .5, so 2 t(1) sqrt(.5 / 2).
    assert found.width(0, "active") == pytest.approx(student.ppf(0.975, 1))


def test_settled_goes_item_by_item() -> None:
    with pytest.raises(LengthMismatch):
        forecast_without_pilot([DrawnItem(0, 1.0, 0.5, 1.0, False, None)], settled=[])
