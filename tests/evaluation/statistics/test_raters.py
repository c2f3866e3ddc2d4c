"""How far raters differ, and what that adds to an estimate."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import pytest

from evaluation.errors import EvaluationError
from evaluation.statistics import (
    DrawnItem,
    RaterSpread,
    Rating,
    compare_estimates,
    estimate_from_draw,
    estimate_systems_from_draw,
    rater_spread,
)
from evaluation.statistics.estimates._ranges import Precision

KNOWN = RaterSpread(items=200, raters=5, documents=40, noise=0.1, leniency=0.01, error=0.0, degrees=4.0)


def ratings(*rows: tuple[str, str, dict[str, float]]) -> list[Rating]:
    return [
        Rating(document, item, rater, value)
        for document, item, given in rows
        for rater, value in given.items()
    ]


def test_two_raters_who_differ_in_both_documents() -> None:
    # Deviations of .5 and -.5 in each, C = (.5, -.5; -.5, .5) in each, so q = (1, -1) and C_jj = 1. Products over the
    # two documents: 2 * (1 - .25 - .25) = 1; squares 4 * (1 - .25 - .25) = 2. Noise: (.25 + .25) / (2 - 1).
    found = rater_spread(ratings(("d", "i", {"a": 1, "b": 0}), ("e", "k", {"a": 1, "b": 0})))
    assert (found.items, found.raters, found.documents) == (2, 2, 2)
    assert (found.leniency, found.noise, found.degrees) == pytest.approx((0.5, 0.5, 1.0))
    # If they were alike: noise * sqrt(2 * pairs) / squares, with pairs 4 * (1 - .25 - .25) = 2.
    assert found.error == pytest.approx(0.5 * sqrt(4) / 2)


def test_who_is_strict_here_and_mild_there_is_neither() -> None:
    # Products over the two documents: 2 * (.5 * -.5) * 2 = -1, over squares 2: below 0, as by chance half of them are.
    found = rater_spread(ratings(("d", "i", {"a": 1, "b": 0}), ("e", "k", {"a": 0, "b": 1})))
    assert found.leniency == pytest.approx(-0.5)
    assert found.variance == pytest.approx(0.5 * found.error)


def test_what_two_think_of_one_document_is_no_leniency() -> None:
    alike = [("e", f"k{place}", {"a": 1.0, "b": 1.0}) for place in range(4)]
    apart = [("d", f"i{place}", {"a": 1.0, "b": 0.0}) for place in range(4)]
    assert rater_spread(ratings(*apart, *alike)).leniency == pytest.approx(0)


def test_noise_is_p_times_one_less_p_without_bias() -> None:
    # Of 0 0 1 and 1 1 1: 1/3 * 2/3 * 3/2 = 1/3, and 0.
    votes = ratings(("d", "i", {"a": 0, "b": 0, "c": 1}), ("e", "k", {"a": 1, "b": 1, "c": 1}))
    assert rater_spread(votes).noise == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    "given",
    [
        [],
        [Rating("d", "i", "a", 1)],
        # Twice by one rater: the first counts.
        [Rating("d", "i", "a", 1), Rating("d", "i", "a", 0)],
        # One document.
        [Rating("d", "i", "a", 1), Rating("d", "i", "b", 0)],
    ],
)
def test_too_little_is_known_as_nothing(given: list[Rating]) -> None:
    found = rater_spread(given)
    assert (found.leniency, found.variance, found.is_enough) == (None, 0.0, False)


def test_ratings_lie_in_their_range() -> None:
    with pytest.raises(EvaluationError, match="must lie in 0 to 1, got 2"):
        rater_spread([Rating("d", "i", "a", 2)])


@pytest.mark.parametrize(
    ("changes", "enough"),
    [
        ({}, True),
        ({"raters": 2}, False),
        ({"documents": 9}, False),
        # Half the error over 5 raters is the square of .0255 and of .0245.
        ({"error": 0.0065}, False),
        ({"error": 0.006}, True),
    ],
)
def test_few_raters_documents_or_checks_are_not_enough(changes: dict[str, float], enough: bool) -> None:
    assert replace(KNOWN, **changes).is_enough is enough  # type: ignore[arg-type]


def answered(raters: list[str], answers: list[int], system: str = "") -> list[DrawnItem]:
    return [
        DrawnItem(f"d{place}", 1.0, None, 1.0, is_drawn=True, answer=float(answer), rater=rater)
        for place, (rater, answer) in enumerate(zip(raters, answers, strict=True))
    ]


ANSWERS = [1, 0] * 20


def test_what_one_rater_answers_errs_by_all_of_their_leniency() -> None:
    plain = estimate_from_draw(answered(["a"] * 40, ANSWERS))
    found = estimate_from_draw(answered(["a"] * 40, ANSWERS), raters=KNOWN)
    assert (plain.rater_error, plain.rater_parts) == (0.0, {})
    assert found.rater_error == pytest.approx(0.1)
    assert plain.error is not None
    assert found.error == pytest.approx(sqrt(plain.error**2 + 0.01))
    assert sum(part**2 for part in found.parts.values()) == pytest.approx(plain.error**2)
    assert (found.estimate, found.degrees, found.labels_saved) == (plain.estimate, 39, plain.labels_saved)


def test_raters_with_documents_of_their_own_add_nothing_that_documents_do_not_show() -> None:
    own = [f"r{place}" for place in range(40)]
    assert estimate_from_draw(answered(own, ANSWERS), raters=KNOWN).rater_error == pytest.approx(0, abs=1e-6)


def test_raters_who_share_documents_add_less_the_more_they_are() -> None:
    # Each of 4 raters has 10 of 40 documents: the weight .25 in all, 1/40 in each of these. Documents show
    # 40/39 * (10 * (1/40 - 1/160)^2 + 30 * (1/160)^2) = .0048077 of the .0625 that each adds.
    found = estimate_from_draw(answered(["a", "b", "c", "d"] * 10, ANSWERS), raters=KNOWN)
    assert found.rater_parts == pytest.approx(dict.fromkeys("abcd", 0.1 * sqrt(0.0625 - 0.0048077)), rel=1e-4)


def test_an_interval_reaches_as_far_as_both_errors_do_together() -> None:
    # t of 39 and 4 degrees are 2.0227 and 2.7764; with the errors .08 and .1: sqrt(.16182^2 + .27764^2) = .32136.
    both = Precision(0.0064, 40.0, 39).with_raters(0.01, 4.0)
    assert both.error == pytest.approx(sqrt(0.0164))
    assert both.reach(0.95) * both.error == pytest.approx(0.32136, abs=1e-5)
    assert both.answers == pytest.approx(40 * 0.64 / 1.64)


@pytest.mark.parametrize("raters", [None, replace(KNOWN, raters=2)])
def test_without_a_spread_that_is_known_the_interval_is_these_raters(raters: RaterSpread | None) -> None:
    found = estimate_from_draw(answered(["a"] * 40, ANSWERS), raters=raters)
    assert found == estimate_from_draw(answered(["a"] * 40, ANSWERS))


def test_who_rated_both_systems_alike_does_not_tell_them_apart() -> None:
    raters, other = ["a", "b"] * 20, [*([1] * 12), *([0] * 28)]
    systems = {"alder": answered(raters, ANSWERS), "birch": answered(raters, other)}
    plain = compare_estimates(estimate_systems_from_draw(systems))
    assert compare_estimates(estimate_systems_from_draw(systems, raters=KNOWN)) == plain
    # Where each system has a rater of its own, that rater's leniency stands between them.
    systems["birch"] = answered(["c", "d"] * 20, other)
    [apart] = compare_estimates(estimate_systems_from_draw(systems, raters=KNOWN))
    assert apart.p is not None
    assert plain[0].p is not None
    assert apart.p > plain[0].p
    assert apart.sets == 40
