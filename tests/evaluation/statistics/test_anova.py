"""Two-way analysis of variance and Tukey's differences: by hand, by regression, and against SciPy's range."""

import numpy as np
import pytest
from scipy import stats

from evaluation.errors import EvaluationError, InvalidPercent
from evaluation.statistics.systems._anova import studentized_range_ppf, studentized_range_sf, system_anova


def test_a_table_by_hand() -> None:
    # a 1 2 3, b 2 4 3; means 2, 3; sets 1.5, 3, 3; grand 2.5. Systems: 3 * (.25 + .25) = 1.5 on 1.
    # Sets: 2 * (1 + .25 + .25) = 3 on 2. All: 2.25 + .25 + .25 + .25 + 2.25 + .25 = 5.5, so 1 is left on 2: F = 3, 3.
    result = system_anova({"a": {"x": 1, "y": 2, "z": 3}, "b": {"x": 2, "y": 4, "z": 3}})
    assert result is not None
    rows = (result.systems, result.documents, result.error)
    assert [row.squares for row in rows] == pytest.approx([1.5, 3, 1])
    assert [row.freedom for row in rows] == [1, 2, 2]
    assert [row.f for row in rows] == [pytest.approx(3), pytest.approx(3), None]
    # Of two systems, Tukey's p is that of the paired t test: differences -1 -2 0.
    (pair,) = result.pairs
    assert pair.p == pytest.approx(stats.ttest_rel([1, 2, 3], [2, 4, 3]).pvalue)
    assert result.systems.p == pytest.approx(pair.p)


def test_it_equals_a_regression_and_scipys_range() -> None:
    rng = np.random.default_rng(4)
    table = rng.normal(size=(5, 12)) + np.arange(5)[:, np.newaxis] / 2 + rng.normal(size=12)
    result = system_anova(
        {f"s{i}": {f"d{j}": float(v) for j, v in enumerate(row)} for i, row in enumerate(table)}
    )
    assert result is not None
    system, document = np.divmod(np.arange(60), 12)
    dummies = [np.ones(60), *(system == i for i in range(1, 5)), *(document == j for j in range(1, 12))]
    design = np.column_stack(dummies).astype(float)
    left = table.ravel() - design @ np.linalg.lstsq(design, table.ravel(), rcond=None)[0]
    assert result.error.squares == pytest.approx(float((left**2).sum()))
    error = float((left**2).sum()) / 44
    for pair in result.pairs[:3]:
        one, other = (table[int(name[1:])].mean() for name in (pair.first, pair.second))
        assert pair.difference == pytest.approx(one - other)
        q = abs(one - other) / np.sqrt(error / 12)
        assert pair.p == pytest.approx(stats.studentized_range.sf(q, 5, 44), abs=1e-8)
    half = stats.studentized_range.ppf(0.95, 5, 44) * np.sqrt(error / 12)
    assert (result.pairs[0].high - result.pairs[0].low) / 2 == pytest.approx(half, rel=1e-6)


@pytest.mark.parametrize(("groups", "freedom"), [(2, 1), (3, 10), (25, 100), (25, 60_000)])
def test_the_studentised_range_equals_scipys(groups: int, freedom: int) -> None:
    q = np.array([0.0, 0.5, 2.0, 3.7, 5.0, 9.0])
    assert studentized_range_sf(q, groups, freedom) == pytest.approx(
        stats.studentized_range.sf(q, groups, freedom), abs=1e-9
    )


def test_the_studentised_range_of_the_tables() -> None:
    # Printed tables: q at 95 % of 3 means and 10 degrees of freedom is 3.88, of 10 means and 20 is 5.01.
    assert studentized_range_ppf(0.95, 3, 10) == pytest.approx(3.88, abs=0.005)
    assert studentized_range_ppf(0.95, 10, 20) == pytest.approx(5.01, abs=0.005)


def test_sets_that_a_system_lacks_are_left_out() -> None:
    whole = {"a": {"x": 1.0, "y": 2.0, "z": 3.0}, "b": {"x": 2.0, "y": 4.0, "z": 3.0}}
    more = {"a": whole["a"] | {"w": 5.0}, "b": whole["b"] | {"v": 0.0}}
    result, plain = system_anova(more), system_anova(whole)
    assert result is not None
    assert plain is not None
    assert (result.sets, result.left_out) == (3, 2)
    assert result.pairs == plain.pairs


@pytest.mark.parametrize("values", [{}, {"a": {"x": 1.0, "y": 2.0}}, {"a": {"x": 1.0}, "b": {"x": 2.0}}])
def test_too_few_systems_or_sets_say_nothing(values: dict[str, dict[str, float]]) -> None:
    assert system_anova(values) is None


def test_without_error_nothing_is_tested() -> None:
    # b is a plus .1 throughout: the two factors explain all, save for what rounding leaves.
    result = system_anova({"a": {"x": 0.1, "y": 0.3, "z": 0.7}, "b": {"x": 0.2, "y": 0.4, "z": 0.8}})
    assert result is not None
    assert result.error.mean_square == 0
    assert (result.systems.f, result.systems.p, result.pairs) == (None, None, ())


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidPercent):
        system_anova({}, confidence=95)
    with pytest.raises(EvaluationError, match="finite"):
        system_anova({"a": {"x": 1, "y": float("inf")}, "b": {"x": 1, "y": 2}})
