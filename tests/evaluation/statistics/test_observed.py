"""Observed agreement: known answers and a slow second form."""

import random
from itertools import combinations

import pytest

from evaluation.errors import LengthMismatch
from evaluation.statistics import observed_agreement, observed_agreement_interval

DEGENERATE: list[list[list[int | None]]] = [[], [[], []], [[1, 2]], [[1, None], [None, 2]]]


def slow_agreement(table: list[list[int | None]]) -> float | None:
    shares = []
    for item in zip(*table, strict=True):
        pairs = [one == other for one, other in combinations([r for r in item if r is not None], 2)]
        if pairs:
            shares.append(sum(pairs) / len(pairs))
    return sum(shares) / len(shares) if shares else None


def test_agreement_worked_out() -> None:
    # Item 1: yes yes no, one of three pairs. Item 2: no no, one of one. Item 3: one rating, left out.
    table = [["yes", "no", None], ["yes", "no", None], ["no", None, "yes"]]
    assert observed_agreement(table) == pytest.approx((1 / 3 + 1) / 2)


def test_agreement_equals_the_slow_form_on_random_tables_with_gaps() -> None:
    chance = random.Random(13)
    for _ in range(200):
        raters, items = chance.randint(2, 5), chance.randint(1, 12)
        table = [[chance.choice([None, 1, 2, 3, 8]) for _ in range(items)] for _ in range(raters)]
        assert observed_agreement(table) == pytest.approx(slow_agreement(table))


@pytest.mark.parametrize("table", DEGENERATE)
def test_without_pairs_there_is_none(table: list[list[int | None]]) -> None:
    assert observed_agreement(table) is None
    interval = observed_agreement_interval(table)
    assert interval.value is interval.low is interval.high is None


def test_documents_are_resampled_whole() -> None:
    # a: agreement 1; b: agreement 0. Resamples aa, ab, ba, bb.
    table = [list("xyxy"), list("xyyx")]
    interval = observed_agreement_interval(table, list("aabb"))
    assert (interval.value, interval.low, interval.high, interval.clusters) == (0.5, 0, 1, 2)


def test_full_agreement_of_few_items_is_no_certainty() -> None:
    # Four of four: Clopper and Pearson's lower bound is .025 ** (1 / 4) = .3976.
    interval = observed_agreement_interval([list("xyxy"), list("xyxy")])
    assert interval.low == pytest.approx(0.3976, abs=5e-5)
    assert interval.high == 1


def test_raters_of_unequal_length_are_refused() -> None:
    with pytest.raises(LengthMismatch):
        observed_agreement([[1], []])
