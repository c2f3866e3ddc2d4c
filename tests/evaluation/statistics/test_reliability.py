"""Raw agreement, AC1 and intraclass correlations: known answers and slow second forms."""

import random
from collections.abc import Sequence
from itertools import combinations
from typing import Any, get_args

import numpy as np
import pytest

from evaluation.errors import EvaluationError, LengthMismatch
from evaluation.statistics.agreement._reliability import (
    IntraclassForm,
    gwet_ac1,
    gwet_ac1_interval,
    intraclass_correlation,
    intraclass_interval,
    observed_agreement,
    observed_agreement_interval,
)

FORMS: tuple[IntraclassForm, ...] = get_args(IntraclassForm)
# Shrout and Fleiss, Intraclass correlations, 1979, table 2: six targets, four judges.
TARGETS = [(9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7)]
JUDGES = [list(row) for row in zip(*TARGETS, strict=True)]
DEGENERATE: list[list[list[int | None]]] = [[], [[], []], [[1, 2]], [[1, None], [None, 2]]]


def random_tables(number: int) -> list[list[list[int | None]]]:
    chance = random.Random(13)
    return [
        [[chance.choice([None, 1, 2, 3, 8]) for _ in range(items)] for _ in range(raters)]
        for raters, items in ((chance.randint(2, 5), chance.randint(1, 12)) for _ in range(number))
    ]


def items_of(table: list[list[int | None]]) -> list[list[int]]:
    return [[rating for rating in item if rating is not None] for item in zip(*table, strict=True)]


def slow_agreement(table: list[list[int | None]]) -> float | None:
    shares = []
    for item in items_of(table):
        pairs = [one == other for one, other in combinations(item, 2)]
        if pairs:
            shares.append(sum(pairs) / len(pairs))
    return sum(shares) / len(shares) if shares else None


def slow_ac1(table: list[list[int | None]]) -> float | None:
    agreement, rated = slow_agreement(table), [item for item in items_of(table) if item]
    categories = {rating for item in rated for rating in item}
    if agreement is None or len(categories) == 1:
        return None
    use = [sum(item.count(category) / len(item) for item in rated) / len(rated) for category in categories]
    chance = sum(share * (1 - share) for share in use) / (len(categories) - 1)
    return (agreement - chance) / (1 - chance)


def residual(y: Any, factors: Sequence[Sequence[int]]) -> float:
    """Sum of squares that a least-squares fit of the factors leaves."""
    columns = [np.ones(len(y))]
    columns += [np.array(factor) == level for factor in factors for level in sorted(set(factor))[1:]]
    design = np.column_stack(columns).astype(float)
    fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return float(((y - fitted) ** 2).sum())


def slow_intraclass(table: list[list[int | None]], form: IntraclassForm) -> float | None:
    """Mean squares from nested regressions instead of sums."""
    complete = [item for item in items_of(table) if len(item) == len(table)]
    n, k = len(complete), len(table)
    if n < 2:
        return None
    y = np.array([rating for item in complete for rating in item], dtype=float)
    item = [i for i in range(n) for _ in range(k)]
    rater = [r for _ in range(n) for r in range(k)]
    none, by_item, both = residual(y, []), residual(y, [item]), residual(y, [item, rater])
    b, w = (none - by_item) / (n - 1), by_item / (n * (k - 1))
    j, e = (by_item - both) / (k - 1), both / ((n - 1) * (k - 1))
    above, below = {
        "1": (b - w, b + (k - 1) * w),
        "A,1": (b - e, b + (k - 1) * e + k * (j - e) / n),
        "C,1": (b - e, b + (k - 1) * e),
        "1,k": (b - w, b),
        "A,k": (b - e, b + (j - e) / n),
        "C,k": (b - e, b),
    }[form]
    return above / below if below > 1e-9 else None


def test_agreement_by_hand() -> None:
    # Item 1: yes yes no, one of three pairs. Item 2: no no, one of one. Item 3: one rating, left out.
    table = [["yes", "no", None], ["yes", "no", None], ["no", None, "yes"]]
    assert observed_agreement(table) == pytest.approx((1 / 3 + 1) / 2)


def test_ac1_by_hand() -> None:
    # Agreement .9; yes .95 of all ratings; chance 2 * .95 * .05 = .095; (.9 - .095) / (1 - .095).
    table = [["yes"] * 10, ["yes"] * 9 + ["no"]]
    assert gwet_ac1(table) == pytest.approx(0.805 / 0.905)


def test_ac1_of_three_raters_with_a_gap_by_hand() -> None:
    # Items a a b | a a . | b b b | . . a. Agreement over the first three: (1/3 + 1 + 1) / 3 = 7/9.
    # Use of a over all four: (2/3 + 1 + 0 + 1) / 4 = 2/3, so chance is 2 * 2/3 * 1/3 = 4/9; (7/9 - 4/9) / (5/9) = .6.
    table = [["a", "a", "b", None], ["a", "a", "b", None], ["b", None, "b", "a"]]
    assert gwet_ac1(table) == pytest.approx(0.6)


def test_ac1_of_one_category_depends_on_the_scale() -> None:
    # On the scale yes and no, chance is 0 where all is yes, and agreement complete.
    table = [["yes", "yes"], ["yes", "yes"]]
    assert gwet_ac1(table) is None
    assert gwet_ac1(table, categories=["yes", "no"]) == 1


@pytest.mark.parametrize(
    ("form", "published"),
    [("1", 0.1657), ("A,1", 0.2898), ("C,1", 0.7148), ("1,k", 0.4428), ("A,k", 0.6201), ("C,k", 0.9093)],
)
def test_the_six_forms_of_shrout_and_fleiss(form: IntraclassForm, published: float) -> None:
    assert intraclass_correlation(JUDGES, form) == pytest.approx(published, abs=5e-5)


def test_a_stricter_rater_is_forgiven_by_consistency_alone() -> None:
    # Squares: items 4, raters 1.5, error 0. A,1 = 2 / (2 + 2 * 1.5 / 3) = 2/3.
    table = [[1, 2, 3], [2, 3, 4]]
    assert intraclass_correlation(table, "C,1") == pytest.approx(1)
    assert intraclass_correlation(table, "A,1") == pytest.approx(2 / 3)


def test_agreement_and_ac1_equal_slow_forms_on_random_tables_with_gaps() -> None:
    for table in random_tables(200):
        assert observed_agreement(table) == pytest.approx(slow_agreement(table))
        assert gwet_ac1(table) == pytest.approx(slow_ac1(table))


@pytest.mark.parametrize("form", FORMS)
def test_intraclass_correlations_equal_regressions_on_random_tables_with_gaps(form: IntraclassForm) -> None:
    for table in random_tables(200):
        assert intraclass_correlation(table, form) == pytest.approx(slow_intraclass(table, form), abs=1e-7)


@pytest.mark.parametrize("table", DEGENERATE)
def test_without_pairs_there_is_none(table: list[list[int | None]]) -> None:
    assert observed_agreement(table) is None
    assert gwet_ac1(table) is None
    assert [intraclass_correlation(table, form) for form in FORMS] == [None] * 6
    intervals = (observed_agreement_interval(table), gwet_ac1_interval(table), intraclass_interval(table))
    assert all(interval.value is interval.low is interval.high is None for interval in intervals)


@pytest.mark.parametrize("form", FORMS)
def test_equal_numbers_have_no_variance_to_share(form: IntraclassForm) -> None:
    assert intraclass_correlation([[0.1] * 5, [0.1] * 5, [0.1] * 5], form) is None


def test_items_that_lack_a_rating_do_not_enter_an_intraclass_correlation() -> None:
    longer = [[*row, extra] for row, extra in zip(JUDGES, [1, None, 9, 9], strict=True)]
    assert intraclass_correlation(longer) == pytest.approx(intraclass_correlation(JUDGES))
    assert intraclass_interval(longer).clusters == 6


def test_a_scale_far_from_zero_loses_no_digits() -> None:
    far = [[1e8 + rating for rating in row] for row in JUDGES]
    assert intraclass_correlation(far) == pytest.approx(intraclass_correlation(JUDGES))


def test_documents_are_drawn_whole() -> None:
    # a: agreement 1; b: agreement 0. Draws aa, ab, ba, bb.
    table = [list("xyxy"), list("xyyx")]
    interval = observed_agreement_interval(table, list("aabb"))
    assert (interval.value, interval.low, interval.high, interval.clusters) == (0.5, 0, 1, 2)


def test_full_agreement_of_few_items_is_no_certainty() -> None:
    # Four of four: Clopper and Pearson's lower bound is .025 ** (1 / 4) = .3976.
    interval = observed_agreement_interval([list("xyxy"), list("xyxy")])
    assert interval.low == pytest.approx(0.3976, abs=5e-5)
    assert interval.high == 1


def test_intervals_hold_the_value() -> None:
    for interval in (intraclass_interval(JUDGES, "C,1"), gwet_ac1_interval(JUDGES)):
        assert interval.value is not None
        assert interval.low is not None
        assert interval.high is not None
        assert interval.low <= interval.value <= interval.high


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(EvaluationError, match="A,1"):
        intraclass_correlation(JUDGES, "2,1")  # type: ignore[arg-type]
    with pytest.raises(EvaluationError, match="finite number"):
        intraclass_correlation([[1.0], [float("inf")]])
    with pytest.raises(EvaluationError, match="'c' is not one of"):
        gwet_ac1([["c"], ["a"]], categories=["a", "b"])
    with pytest.raises(LengthMismatch):
        observed_agreement([[1], []])
