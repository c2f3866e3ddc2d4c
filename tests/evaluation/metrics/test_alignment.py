import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation._labels import Label
from evaluation.errors import InvalidLabel, InvalidPercent
from evaluation.metrics._alignment import alignment, factual_alignment

SHARES = st.floats(0, 1)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["yes", "no"], 0.5),
        (["yes", "unsure", "no", None], 1 / 3),
        (["yes", None, None, None, None], 1.0),  # four missing verdicts are not four passes: 1 of 1 scored
        ([], None),
        ([None], None),
    ],
)
def test_alignment(labels: list[Label | None], expected: float | None) -> None:
    assert alignment(labels) == expected


def test_alignment_refuses_other_labels() -> None:
    with pytest.raises(InvalidLabel):
        alignment("yes")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("coverage", "consistency", "expected"),
    [
        (0.5, 1.0, 2 / 3),  # 2 * .5 * 1 / 1.5
        (0.6, 0.9, 0.72),  # 2 * .54 / 1.5
        (0.0, 0.0, 0.0),
        (0.0, 1.0, 0.0),
        (1.0, 1.0, 1.0),
        (None, 1.0, None),
        (1.0, None, None),
    ],
)
def test_factual_alignment(coverage: float | None, consistency: float | None, expected: float | None) -> None:
    assert factual_alignment(coverage, consistency) == pytest.approx(expected)


def test_factual_alignment_refuses_percents() -> None:
    with pytest.raises(InvalidPercent, match="Consistency must lie in 0 to 1, got 50"):
        factual_alignment(0.5, 50)


@given(SHARES, SHARES)
def test_factual_alignment_is_symmetric_and_between_its_parts(one: float, other: float) -> None:
    both = factual_alignment(one, other)
    assert both == factual_alignment(other, one)
    assert min(one, other) * (1 - 1e-12) <= both <= min(1, max(one, other) * (1 + 1e-12))
