import math
from dataclasses import replace
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest
import scipy
from scipy.stats import t as student

from evaluation.errors import EvaluationError, InvalidPercent
from evaluation.statistics._estimates import (
    SampledItem,
    SampleEstimate,
    best_estimates,
    compare_estimates,
    estimate_systems_from_sample,
    frame_of,
    sharpened_and_tuned,
)
from evaluation.statistics._sampling import Design, fixed_size_sample, inclusion_probabilities
from evaluation.statistics._systems import PairComparison


def estimate_from_sample(items: list[SampledItem], **options: Any) -> SampleEstimate:
    return estimate_systems_from_sample({"": items}, **options)[""]


def whole(
    judged: list[float], answers: list[float | None], probabilities: float | list[float] = 0.5
) -> list[SampledItem]:
    chances = [probabilities] * len(judged) if isinstance(probabilities, float) else probabilities
    return [
        SampledItem(place, 1.0, judge, chance, answer is not None, answer)
        for place, (judge, answer, chance) in enumerate(zip(judged, answers, chances, strict=True))
    ]


def claims(answers: list[list[float | None]], chance: float, judged: float | None = 0.5) -> list[SampledItem]:
    return [
        SampledItem(document, 1 / len(row), judged, chance, answer is not None, answer)
        for document, row in enumerate(answers)
        for answer in row
    ]


def test_claims_are_weighed_by_their_share_and_their_chance() -> None:
    # Document a has items with the shares .25 and .75, both with the probability 1/4; only the second was sampled, with
    # the answer 1. Document b has one item with the probability 1/2 and the answer 0. Share / probability weighs the
    # answers 3 and 2, so the intercept is 3 / (3 + 2) = .6. The values of the documents are .6 + 3 * (1 - .6) = 1.8 and
    # .6 + 2 * (0 - .6) = -.6. Their mean is .6 and their standard deviation 1.2 sqrt(2), so the error is 1.2.
    items = [
        SampledItem("a", 0.25, None, 0.25, False),
        SampledItem("a", 0.75, None, 0.25, True, 1.0),
        SampledItem("b", 1.0, None, 0.5, True, 0.0),
    ]
    found = estimate_from_sample(items)
    assert (found.estimate, found.error) == (pytest.approx(0.6), pytest.approx(1.2))


def test_with_a_useless_judge_people_alone_stand_with_students_interval_of_log_odds() -> None:
    # The squared deviations from the mean .5 add up to .02, so the error is sqrt(.02 / 4 / 5) = sqrt(.001). On the
    # scale of log odds, half the interval is Student's quantile times the error / (.5 * .5).
    answers = [0.4, 0.5, 0.6, 0.5, 0.5]
    found = estimate_from_sample(whole([0.5] * 10, [*answers, *[None] * 5]))
    half = student.ppf(0.975, 4) * math.sqrt(0.001) / 0.25
    assert found.estimate == pytest.approx(0.5)
    assert (found.low, found.high) == pytest.approx((1 / (1 + math.exp(half)), 1 / (1 + math.exp(-half))))
    assert (found.low, found.high) == (found.classical_low, found.classical_high)
    assert found.tuning == 0


@pytest.mark.parametrize("answer", [0.0, 1.0])
def test_of_answers_that_are_all_alike_the_interval_is_exact_and_the_mean_in_range(answer: float) -> None:
    # Shares of a third add up to 1 except for rounding. For ten documents, 1 - .025^(1/10) = .308498.
    found = estimate_from_sample(claims([[answer, None, None]] * 10, 1 / 3))
    assert (found.estimate, found.tuning) == (answer, 0)
    assert (found.low, found.high) == pytest.approx((0.691502, 1) if answer else (0, 0.308498), abs=1e-6)


def test_an_estimate_that_leaves_the_range_gives_way_to_people_alone() -> None:
    # The judge's answers are much lower on unanswered documents than on others.
    random = np.random.default_rng(3)
    truth = np.concatenate([random.random(20) * 0.1 + 0.02, np.zeros(60)])
    judged = np.concatenate([truth[:20], np.zeros(60)]) + random.normal(0, 0.001, 80)
    found = estimate_from_sample(whole(judged.tolist(), [*truth[:20].tolist(), *[None] * 60], 0.25))
    assert 0 <= found.low <= found.estimate <= found.high <= 1


def test_a_good_judge_narrows_the_interval_and_saves_labels() -> None:
    random = np.random.default_rng(4)
    truth = random.random(40)
    judged = (0.2 + 0.6 * truth + random.normal(0, 0.03, 40)).tolist()
    found = estimate_from_sample(whole(judged, [*truth[:20].tolist(), *[None] * 20]))
    # Half of the variance remains, from sampling documents, so the width falls to about .71.
    assert 0.6 < (found.high - found.low) / (found.classical_high - found.classical_low) < 0.8
    # The judge's answers are shrunk by the factor .6, so the slope compensates for that.
    assert found.tuning == pytest.approx(1 / 0.6, rel=0.1)


def test_a_covariate_of_documents_helps_where_the_judge_does_not() -> None:
    random = np.random.default_rng(5)
    truth = random.random(40)
    items = whole(random.random(40).tolist(), [*truth[:20].tolist(), *[None] * 20])
    alone = estimate_from_sample(items)
    helped = estimate_from_sample(items, covariates={place: (float(truth[place]),) for place in range(40)})
    assert helped.error < 0.8 * alone.error


def test_people_alone_are_what_stands_beside_the_judge() -> None:
    items = whole([0.9, 0.2, 0.7, 0.3, 0.8, 0.1, 0.5, 0.4], [1, 0, 1, 0, 1, 0, None, None])
    both, alone = estimate_from_sample(items), estimate_from_sample(items, people_alone=True)
    assert both.estimate != both.classical_estimate
    assert (alone.estimate, alone.low, alone.tuning) == (both.classical_estimate, both.classical_low, 0)


def test_degrees_of_freedom_are_those_of_the_answered_documents() -> None:
    drawn_within_all = claims([[1, None], [None, 0], [1, None], [0, None]], 0.5)
    assert estimate_from_sample(drawn_within_all).degrees == 3
    assert estimate_from_sample(whole([0.5] * 6, [1, 0, 1, None, None, None])).degrees == 2


def test_until_all_is_answered_there_is_no_estimate_but_a_count() -> None:
    items = whole([0.5, 0.4, 0.6, 0.7], [1, 0, 1, None])
    waiting = [*items[:2], replace(items[2], answer=None), items[3]]
    found = estimate_from_sample(waiting)
    assert (found.answered, found.sampled, found.is_complete) == (2, 3, False)
    assert (found.estimate, found.low, found.classical_estimate) == (None,) * 3


def test_nothing_drawn_is_no_estimate() -> None:
    found = estimate_from_sample(whole([0.5, 0.4], [None, None]))
    assert (found.estimate, found.is_complete, found.documents) == (None, False, 2)


def test_one_answered_document_has_no_interval() -> None:
    found = estimate_from_sample(whole([0.5, 0.4, 0.3], [1, None, None]))
    assert found.estimate == 1
    assert (found.low, found.error) == (None, None)


def test_of_what_was_sampled_for_sure_the_judge_counts_for_nothing() -> None:
    answers: list[float | None] = [0.0, 0.5, 1.0, 0.5]
    found = estimate_from_sample(whole([0.9, 0.1, 0.2, 0.3], answers, 1.0))
    assert found.estimate == pytest.approx(0.5)
    # The squared deviations add up to .5, so the variance is .5 / 3, and that of the mean of four documents is .5 / 3 /
    # 4.
    assert found.error == pytest.approx(math.sqrt(0.5 / 3 / 4))


def test_what_the_judge_left_unscored_counts_as_its_mean() -> None:
    judged = [0.8, 0.2, 0.5, 0.4, 0.9, 0.3]
    items = whole(judged, [1, 0, 1, 0, 1, None])
    unscored = [*items[:2], replace(items[2], judge=None), *items[3:]]
    # The mean of the other items is 2.6 / 5.
    filled = [*items[:2], replace(items[2], judge=0.52), *items[3:]]
    one, other = (estimate_from_sample(frame) for frame in (unscored, filled))
    assert one.tuning > 0
    assert one.estimate == pytest.approx(other.estimate)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"probability": 0.0}, InvalidPercent, "above 0"),
        ({"probability": 1.5}, InvalidPercent, "above 0"),
        ({"is_sampled": False}, EvaluationError, "volunteered"),
        ({"share": 0.5}, EvaluationError, "add up to 1"),
        ({"share": -1.0}, EvaluationError, "at least 0"),
        ({"answer": math.nan}, EvaluationError, "nan"),
        ({"answer": 1.5}, InvalidPercent, "0 to 1"),
        ({"judge": math.inf}, EvaluationError, "inf"),
    ],
)
def test_refuses_an_item(change: dict[str, float], error: type[EvaluationError], words: str) -> None:
    items = whole([0.8, 0.2, 0.6], [1, 0, None])
    with pytest.raises(error, match=words):
        estimate_from_sample([replace(items[0], **change), *items[1:]])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("covariates", "words"),
    [
        ({0: (1.0,)}, "No covariates"),
        ({0: (1.0,), 1: (1.0, 2.0)}, "same number"),
        ({0: (1.0,), 1: (math.inf,)}, "finite"),
    ],
)
def test_refuses_covariates(covariates: dict[int, tuple[float, ...]], words: str) -> None:
    with pytest.raises(EvaluationError, match=words):
        estimate_from_sample(whole([0.8, 0.2], [1, 0]), covariates=covariates)


def test_each_system_may_have_its_own_frame_and_wait_on_its_own() -> None:
    done = whole([0.5, 0.4, 0.9, 0.2, 0.1], [1, 0, 1, None, None])
    found = estimate_systems_from_sample({"x": done, "y": [replace(done[0], answer=None), *done[1:3]]})
    assert found["x"].is_complete
    assert (found["y"].answered, found["y"].sampled, found["y"].documents) == (2, 3, 3)


def test_the_judges_mean_is_its_own_whatever_the_sample_corrects() -> None:
    # Document 0 has (.2 + .4) / 2 = .3 and document 1 .6, so the mean over documents is .45, and .1 more for the
    # second.
    items = [
        SampledItem(document=0, share=0.5, judge=0.2, probability=1, is_sampled=True, answer=1.0, claim="a"),
        SampledItem(document=0, share=0.5, judge=0.4, probability=1, is_sampled=True, answer=0.0, claim="b"),
        SampledItem(document=1, share=1.0, judge=0.6, probability=1, is_sampled=True, answer=1.0, claim="a"),
    ]
    higher = [replace(item, judge=item.judge + 0.1) for item in items if item.judge is not None]
    found = estimate_systems_from_sample({"first": items, "second": higher})
    assert found["first"].judge_mean == pytest.approx(0.45)
    assert found["second"].judge_mean == pytest.approx(0.55)


def test_no_systems_no_estimates() -> None:
    assert estimate_systems_from_sample({}) == {}


def asked_of_all(
    seed: int, *, systems: int = 8, documents: int = 40, each: int = 6, share: float = 1 / 3
) -> dict[str, list[SampledItem]]:
    random = np.random.default_rng(seed)
    odds = random.normal(0, 2, (documents, each))
    places = [(document, claim) for document in range(documents) for claim in range(each)]
    found = {}
    for number in range(systems):
        said = random.random((documents, each)) < 1 / (1 + np.exp(-odds))
        drawn = fixed_size_sample(dict.fromkeys(places, share), seed=100 * seed + number)
        found[f"system {number}"] = [
            SampledItem(
                document=document,
                share=1 / each,
                judge=float(np.clip(0.5 + random.normal(0, 0.1), 0.01, 0.99)),
                probability=drawn.get((document, claim), share),
                is_sampled=(document, claim) in drawn,
                answer=float(said[document, claim]) if (document, claim) in drawn else None,
                claim=claim,
            )
            for document, claim in places
        ]
    return found


def without_claims(systems: dict[str, list[SampledItem]]) -> dict[str, list[SampledItem]]:
    return {name: [replace(item, claim=None) for item in items] for name, items in systems.items()}


def test_answers_on_other_systems_narrow_the_interval() -> None:
    systems = asked_of_all(3)
    across, alone = (
        estimate_systems_from_sample(systems),
        estimate_systems_from_sample(without_claims(systems)),
    )
    errors = [(one.error, other.error) for one, other in zip(across.values(), alone.values(), strict=True)]
    assert mean(one / other for one, other in errors if one and other) < 0.95


def test_one_system_alone_learns_from_nobody() -> None:
    items = next(iter(asked_of_all(2).values()))
    alone = [replace(item, claim=None) for item in items]
    assert estimate_from_sample(items) == estimate_from_sample(alone)


def test_claims_of_two_documents_are_never_one() -> None:
    systems = asked_of_all(2)
    renamed = {
        name: [replace(item, claim=(item.document, item.claim)) for item in items]
        for name, items in systems.items()
    }
    assert estimate_systems_from_sample(systems) == estimate_systems_from_sample(renamed)


def with_other_answers(systems: dict[str, list[SampledItem]], name: str) -> dict[str, list[SampledItem]]:
    items = systems[name]
    document = next(item.document for item in items if item.is_sampled)
    turned = [
        replace(item, answer=1 - item.answer)
        if item.document == document and item.answer is not None
        else item
        for item in items
    ]
    return {**systems, name: turned}


def test_neither_line_nor_slopes_of_a_document_have_seen_its_answers() -> None:
    systems = asked_of_all(5)
    name = next(iter(systems))
    document = next(item.document for item in systems[name] if item.is_sampled)
    both = []
    for each in (systems, with_other_answers(systems, name)):
        frames = {system: frame_of(system, items, {}) for system, items in each.items()}
        frame, slopes_of = sharpened_and_tuned(frames)[name]
        place = frame.names.index(document)
        expected = frame.predictors[frame.documents == place, 0]
        # Predictions are centred at the mean of the frame, which includes other documents; differences within a
        # document do not change.
        both.append([*np.diff(expected), *slopes_of[place]])
    assert both[0] == pytest.approx(both[1], rel=1e-12)


@pytest.mark.parametrize("is_active", [False, True], ids=["uniform", "active"])
def test_over_many_draws_of_claims_the_mean_is_right_and_the_error_honest(is_active: bool) -> None:
    # One frame has 24 documents of 6 claims with a biased judge, and a third of the claims is sampled 400 times. The
    # spread of the estimates must equal the error without the variance between documents, which one frame does not
    # show.
    random = np.random.default_rng(8)
    odds = random.normal(0, 1, 24)[:, None] + random.normal(0, 1.5, (24, 6))
    truth = (random.random((24, 6)) < 1 / (1 + np.exp(-odds))).astype(float)
    judged = 1 / (1 + np.exp(-odds - 0.8))
    places = [(d, c) for d in range(24) for c in range(6)]
    spreads = {place: float(np.sqrt(judged[place] * (1 - judged[place]))) for place in places}
    design: Design = "active" if is_active else "uniform"
    chances = inclusion_probabilities(spreads, dict.fromkeys(places), size=48, design=design)
    estimates, variances = [], []
    for seed in range(400):
        drawn = fixed_size_sample(chances, seed=seed)
        items = [
            SampledItem(
                p[0], 1 / 6, float(judged[p]), chances[p], p in drawn, float(truth[p]) if p in drawn else None
            )
            for p in places
        ]
        found = estimate_from_sample(items)
        estimates.append(found.estimate)
        variances.append(found.error**2)
    spread = stdev(estimates)
    assert abs(mean(estimates) - truth.mean()) < 4 * spread / math.sqrt(400)
    of_documents = float(truth.mean(axis=1).var(ddof=1)) / 24
    assert mean(variances) == pytest.approx(spread**2 + of_documents, rel=0.2)


def sure(answers: list[float]) -> list[SampledItem]:
    return [replace(item, judge=None) for item in whole(answers, [*answers], 1.0)]


def test_of_whole_documents_it_is_the_paired_t_test() -> None:
    first, second = [0.9, 0.8, 0.4, 0.7, 0.6], [0.7, 0.7, 0.3, 0.4, 0.5]
    found = compare_estimates(estimate_systems_from_sample({"a": sure(first), "b": sure(second)}))
    (pair,) = found
    assert (pair.first, pair.second, pair.sets) == ("a", "b", 5)
    # The differences are .2, .1, .1, .3, .1: mean .16, standard deviation .0894, error .04, t = 4.
    assert pair.difference == pytest.approx(0.16)
    assert pair.p == pytest.approx(2 * scipy.special.stdtr(4, -4))
    assert pair.adjusted_p == pair.p


def test_the_parts_of_documents_add_up_to_the_error() -> None:
    found = estimate_systems_from_sample({"a": sure([0.9, 0.8, 0.4, 0.7])})["a"]
    # The mean is .7 with deviations .2, .1, -.3, 0: variance .14 / 3, error sqrt(.14 / 3 / 4).
    assert found.error == pytest.approx((0.14 / 12) ** 0.5)
    assert sum(part**2 for part in found.parts.values()) == pytest.approx(0.14 / 12)


def test_what_is_alike_in_all_documents_is_not_tested() -> None:
    found = estimate_systems_from_sample({"a": sure([0.9, 0.8, 0.4]), "b": sure([0.8, 0.7, 0.3])})
    assert compare_estimates(found)[0].p is None
    assert compare_estimates(estimate_systems_from_sample({"a": sure([0.9])})) == []


def test_the_best_estimate_by_hand() -> None:
    # The one-sided p, which is half of p, is multiplied by the two rivals: c is behind a with .05 / 2 * 2 = .05, and b
    # with .06 / 2 * 2 = .06.
    compared = [
        PairComparison(first, second, difference, 9, p, None, is_exact=False)
        for first, second, difference, p in (
            ("a", "b", 0.1, 0.06),
            ("c", "a", -0.2, 0.05),
            ("b", "c", 0.1, None),
        )
    ]
    assert best_estimates(compared) == {"a", "b"}
    assert best_estimates(compared, level=0.06) == {"a"}
    assert best_estimates([]) == frozenset()


def test_of_these_documents_only_the_choice_of_items_is_uncertain() -> None:
    # Simple random sampling of 2 of 4 has (1 - 1/2) / 2 times the variance of 1 and 0, which is .5.
    items = whole([0.5] * 4, [1, 0, None, None])
    these = estimate_from_sample(items, these_documents=True)
    assert (these.estimate, these.degrees) == (pytest.approx(0.5), 1)
    assert these.error == pytest.approx(math.sqrt(0.125))
    assert sum(part**2 for part in these.parts.values()) == pytest.approx(0.125)
    assert these.error < estimate_from_sample(items).error


def test_of_these_documents_a_census_leaves_nothing_uncertain() -> None:
    found = estimate_from_sample(whole([0.5] * 4, [1, 0, 1, 1], 1.0), these_documents=True)
    assert (found.low, found.estimate, found.high, found.error) == (0.75, 0.75, 0.75, 0.0)


def test_of_these_documents_two_systems_share_no_error() -> None:
    items = whole([0.5] * 4, [1, 0, None, None])
    found = estimate_systems_from_sample({"a": items, "b": items}, these_documents=True)
    (pair,) = compare_estimates(found)
    assert (pair.difference, pair.p) == (0, pytest.approx(1))


def estimated(*answers: float) -> tuple[SampleEstimate, SampleEstimate]:
    items = [SampledItem(n, 1.0, None, 1.0, is_sampled=True, answer=each) for n, each in enumerate(answers)]
    plain, rated = (estimate_systems_from_sample({"alder": items}, ratings=each) for each in (False, True))
    return plain["alder"], rated["alder"]


def test_equal_best_answers_may_hide_as_many_bad_ones_as_chance_allows() -> None:
    _, wide = estimated(*[1.0] * 60)
    # None of 60 answers is below the top, so at most 1 - .025^(1/60) = .0596 of all answers are, by Clopper and
    # Pearson's bound.
    assert wide.low == pytest.approx(0.025 ** (1 / 60))
    assert wide.high == 1


def test_one_bad_answer_among_many_small_losses_can_still_be_compared() -> None:
    # One squared deviation is nearly the whole sum of squares. So (kurtosis - 1) / 60 is nearly 1 - 1/60, which gives 2
    # / (1 - 1/60) = 2.03 degrees of freedom.
    answers = [0.0, *[0.98] * 15, *[1.0] * 44]
    items = [SampledItem(n, 1.0, None, 0.5, is_sampled=True, answer=each) for n, each in enumerate(answers)]
    others = [replace(item, answer=1 - (item.answer or 0.0)) for item in items]
    found = estimate_systems_from_sample({"alder": items, "birch": others}, ratings=True)
    assert found["alder"].degrees == 2
    [pair] = compare_estimates(found)
    assert pair.p is not None
    assert 0 <= pair.p <= 1


def test_the_bound_of_few_small_losses_is_stringer_s() -> None:
    plain, wide = estimated(*[1.0] * 59, 0.75)
    # Clopper and Pearson's upper bounds of 0 and 1 of 60 are .0596 and .0894:
    # .0596 * 1 + (.0894 - .0596) * .25 = .0670.
    assert wide.low == pytest.approx(1 - 0.0670, abs=2e-4)
    assert (plain.low or 0) >= (wide.low or 0)
    assert wide.high == plain.high


def test_ten_answers_off_the_end_need_no_bound_but_lower_the_degrees_of_freedom() -> None:
    plain, wide = estimated(*[1.0] * 50, *[0.75] * 10)
    # A sixth is .75, so kurtosis - 1 is 1 / (1/6 * 5/6) - 4 = 3.2, which gives 2 * 60 / 3.2 = 37.5 instead of 59. The
    # mean is 1 - 10 * .25 / 60 = .95833, its variance (10 * .25^2 - 60 * .041667^2) / 59 / 60 = .00014713. On the
    # logit scale: 3.1355 - 2.0262 * .012130 / (.95833 * .041667) = 2.5200, which is .9256.
    assert (plain.degrees, wide.degrees) == (59, 37)
    assert wide.low == pytest.approx(0.9256, abs=1e-4)
    assert (plain.low or 0) > (wide.low or 0)


def test_one_large_loss_leaves_few_degrees_of_freedom() -> None:
    # The mean is .9. The squared deviations add up to 39 * .01 + 20 * .0225 + .81 = 1.65, and the deviations to the
    # fourth power to .670. So there are 2 / (.670 / 1.65^2 - 1/60) = 8.7 degrees of freedom, rounded down.
    assert estimated(*[1.0] * 39, *[0.75] * 20, 0.0)[1].degrees == 8


def test_the_bottom_mirrors_the_top() -> None:
    _, top = estimated(*[1.0] * 59, 0.5)
    _, bottom = estimated(*[0.0] * 59, 0.5)
    assert bottom.high == pytest.approx(1 - (top.low or 0))
