"""The worst of several systems: known answers by hand, and that half of simulated draws bring no worse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation import median_fewest, median_widest
from evaluation.errors import EvaluationError, InvalidWeight, LengthMismatch

WIDTHS = st.lists(st.tuples(st.floats(0.01, 2), st.integers(2, 60)), min_size=1, max_size=30)


def test_one_system_keeps_its_width() -> None:
    assert median_widest([0.3], [12]) == 0.3


def test_two_equal_systems_of_two_documents_by_hand() -> None:
    # One degree: the chance of chi-square to lie below x is 2 Phi(sqrt x) - 1 and must be sqrt(1/2) = .70711 of each.
    # Phi(z) = .85355 at z = 1.05179; x = (W / w)^2, so W = 1.05179 w.
    assert median_widest([0.2, 0.2], [2, 2]) == pytest.approx(0.2 * 1.05179, rel=1e-4)


def test_two_equal_systems_of_three_documents_by_hand() -> None:
    # Two degrees: 1 - exp(-x / 2) = sqrt(1/2), x = -2 log(1 - .70711) = 2.4559; 2 (W / w)^2 = x, so W = 1.10814 w.
    assert median_widest([1.0, 1.0], [3, 3]) == pytest.approx(math.sqrt(-math.log(1 - math.sqrt(0.5))))
    assert median_widest([1.0, 1.0], [3, 3]) == pytest.approx(1.10814, rel=1e-4)


def test_two_unequal_systems_by_hand() -> None:
    # Two degrees, widths w and w / sqrt 2. With y = exp(-(W / w)^2) the chances are 1 - y and 1 - y^2; of
    # (1 - y)(1 - y^2) = 1/2 the root in 0 to 1 is y = .40303, and W = w sqrt(-log y) = .95331 w: less than w, which
    # stands. Of w = 1 and .9: (1 - y)(1 - y^(1 / .81)) = 1/2 at y = .32966, so W = sqrt 1.10969 = 1.05342.
    assert median_widest([1.0, math.sqrt(0.5)], [3, 3]) == 1.0
    assert median_widest([1.0, 0.9], [3, 3]) == pytest.approx(1.05342, rel=1e-4)


def test_expected_documents_are_rounded_to_degrees() -> None:
    # 2.4 documents are two, with one degree; fewer than two are taken for two.
    assert median_widest([1.0, 1.0], [2.4, 1.0]) == median_widest([1.0, 1.0], [2, 2])


def test_what_has_no_width_is_exceeded_by_nothing() -> None:
    assert median_widest([0.0, 0.4], [9, 9]) == 0.4
    assert median_widest([0.0, 0.0], [9, 9]) == 0.0
    assert median_widest([0.0, 0.4, 0.4], [9, 3, 3]) == median_widest([0.4, 0.4], [3, 3])


@given(WIDTHS)
def test_the_widest_is_no_narrower_than_any_and_grows_with_systems(systems: list[tuple[float, int]]) -> None:
    widths, documents = [width for width, _ in systems], [count for _, count in systems]
    found = median_widest(widths, documents)
    assert found >= max(widths)
    assert median_widest([*widths, widths[0]], [*documents, documents[0]]) >= found - 1e-9


def test_half_of_simulated_draws_stay_within() -> None:
    # 25 systems of 20 normal documents; three in ten of them are half as wide.
    random = np.random.default_rng(4)
    expected = np.where(np.arange(25) % 10 < 3, 0.5, 1.0)
    came = (expected * random.normal(size=(4000, 20, 25)).std(axis=1, ddof=1)).max(axis=1)
    within = float((came <= median_widest(expected.tolist(), [20.0] * 25)).mean())
    # The error of a share of 4,000 is .008.
    assert within == pytest.approx(0.5, abs=0.03)


def test_one_system_keeps_its_documents() -> None:
    assert median_fewest([7.5], [2.0]) == 7.5


def test_of_two_equal_systems_the_fewest_by_hand() -> None:
    # Phi(z) = sqrt(1/2) = .70711 at z = .54495: 10 - 2 * .54495.
    assert median_fewest([10.0, 10.0], [2.0, 2.0]) == pytest.approx(8.9101, abs=1e-4)


def test_a_certain_number_bounds_the_fewest() -> None:
    assert median_fewest([30.0, 30.0], [0.0, 0.0]) == 30.0
    assert median_fewest([30.0, 12.0], [0.1, 0.0]) == 12.0
    assert median_fewest([30.0, 12.0, 12.0], [0.0, 1.0, 1.0]) == pytest.approx(12 - 0.54495, abs=1e-4)
    # Never below nothing.
    assert median_fewest([0.1] * 9, [3.0] * 9) == 0.0


def test_half_of_simulated_draws_fall_no_shorter() -> None:
    random = np.random.default_rng(5)
    means, spreads = np.linspace(18, 20, 25), np.linspace(1, 2, 25)
    came = (means + spreads * random.normal(size=(4000, 25))).min(axis=1)
    assert float((came >= median_fewest(means.tolist(), spreads.tolist())).mean()) == pytest.approx(
        0.5, abs=0.03
    )


def test_refuses_what_cannot_be() -> None:
    for told in (median_widest, median_fewest):
        with pytest.raises(EvaluationError, match="There is no"):
            told([], [])
        with pytest.raises(LengthMismatch):
            told([1.0], [])
        with pytest.raises(InvalidWeight):
            told([-1.0], [5])
