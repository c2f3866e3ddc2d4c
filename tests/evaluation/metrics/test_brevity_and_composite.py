import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import InvalidBudget, InvalidPercent, InvalidWeight
from evaluation.metrics._brevity import brevity
from evaluation.metrics._composite import composite, weighted_composite

SHARES = st.floats(0, 1)

# coverage, words, target -> brevity, composite at a = 2/3. The first row is set D061 of DUC 2002.
DUC_TABLE = [
    (0.4, 47, 50, 0.06, 0.286667),
    (0.0, 0, 100, 1.0, 0.333333),
    (0.4, 120, 100, 0.0, 0.266667),
    (0.5, 25, 50, 0.5, 0.5),
    (0.5, 200, 400, 0.5, 0.5),
    (1.0, 100, 100, 0.0, 0.666667),
    (0.2, 8, 10, 0.2, 0.2),
    # WSJ880912-0064, summary 16, published adjusted median 0.007: (1/3) * 2/100.
    (0.0, 98, 100, 0.02, 0.006667),
]


@pytest.mark.parametrize(("coverage", "words", "target", "saved", "both"), DUC_TABLE)
def test_duc_2002_length_adjusted_coverage(
    coverage: float, words: int, target: int, saved: float, both: float
) -> None:
    assert brevity(words, target) == pytest.approx(saved, abs=1e-12)
    assert composite(coverage, brevity(words, target)) == pytest.approx(both, abs=5e-7)


def test_no_target_gives_no_brevity() -> None:
    assert brevity(10, None) is None


@pytest.mark.parametrize(("words", "target"), [(5, 0), (5, -3), (-1, 10), (-1, None)])
def test_brevity_refuses_lengths_that_cannot_be(words: int, target: int | None) -> None:
    with pytest.raises(InvalidBudget):
        brevity(words, target)


@given(st.integers(0, 10**6), st.integers(1, 10**6))
def test_brevity_is_bounded_and_falls_with_length(words: int, target: int) -> None:
    shorter, longer = brevity(words, target), brevity(words + 1, target)
    assert 0 <= longer <= shorter <= 1


@pytest.mark.parametrize(
    ("coverage", "saved", "a", "expected"),
    [
        (0.4, None, 1, 0.4),
        (None, 0.5, 0, 0.5),
        (0.4, None, 2 / 3, None),
        (None, 0.5, 2 / 3, None),
        (None, None, 1, None),
    ],
)
def test_composite_needs_only_the_parts_that_weigh(
    coverage: float | None, saved: float | None, a: float, expected: float | None
) -> None:
    assert composite(coverage, saved, a) == expected


@pytest.mark.parametrize("a", [-0.1, 1.1, float("nan")])
def test_composite_refuses_a_weight_outside_0_to_1(a: float) -> None:
    with pytest.raises(InvalidWeight):
        composite(0.5, 0.5, a)


@pytest.mark.parametrize(("coverage", "saved"), [(1.5, 0.5), (0.5, -0.1), (40, 0.06)])
def test_composite_refuses_parts_outside_0_to_1(coverage: float, saved: float) -> None:
    with pytest.raises(InvalidPercent):
        composite(coverage, saved)


@given(SHARES, SHARES, SHARES)
def test_composite_lies_between_its_parts(coverage: float, saved: float, a: float) -> None:
    both = composite(coverage, saved, a)
    assert min(coverage, saved) - 1e-12 <= both <= min(1, max(coverage, saved) + 1e-12)


def test_any_values_have_a_composite() -> None:
    # (2 * .8 + .5) / 3 = .7; a value without a weight is not used.
    values = {"coverage": 0.8, "tone": 0.5, "brevity": None}
    assert weighted_composite(values, {"coverage": 2, "tone": 1}) == pytest.approx(0.7)
    assert weighted_composite(values, {"coverage": 2, "brevity": 0}) == 0.8
    assert weighted_composite(values, {"coverage": 2, "brevity": 1}) is None
    assert weighted_composite(values, {"coverage": 2, "missing": 1}) is None


@pytest.mark.parametrize("weights", [{}, {"coverage": 0}, {"coverage": -1}, {"coverage": float("nan")}])
def test_weights_of_a_composite_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(InvalidWeight):
        weighted_composite({"coverage": 0.5}, weights)
