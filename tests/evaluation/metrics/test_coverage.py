import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation._labels import Label
from evaluation.errors import EvaluationError, InvalidLabel, InvalidPercent, InvalidWeight, LengthMismatch
from evaluation.metrics._coverage import (
    claim_coverage,
    mean_coverage,
)

PERCENTS = st.lists(st.none() | st.floats(0, 100), max_size=12)
LABELS = st.lists(st.sampled_from(["yes", "no", "unsure", None]), max_size=12)

# Summary 19 of set D061, target 50, has the published mean 0.400, median 0.600 and standard deviation 0.400. Only these
# seven of DUC's percents give all three numbers.
D061 = [0, 0, 0, 60, 60, 60, 100]


@pytest.mark.parametrize(
    ("percents", "weights", "coverage"),
    [
        (D061, None, 0.4),  # 280 / 7
        ([100, None, 0], None, 0.5),  # a unit without a value is ignored
        ([100, 0], [3, 1], 0.75),  # (3*100 + 1*0) / 4
        ([100, 0, None], [3, 1, 100], 0.75),
        ([100, 0], [0, 1], 0.0),
        ([100, 100, 100], [0.1, 0.1, 0.1], 1.0),  # rounding must not give more than 1
        ([100, 0], [1e308, 1e308], 0.5),
        ([], None, None),
        ([None, None], None, None),
        ([80], [0], None),
    ],
)
def test_mean_coverage(
    percents: list[float | None], weights: list[float] | None, coverage: float | None
) -> None:
    assert mean_coverage(percents, weights) == pytest.approx(coverage, abs=1e-12)


@pytest.mark.parametrize(
    ("percents", "weights", "error"),
    [
        ([101], None, InvalidPercent),
        ([-1], None, InvalidPercent),
        ([math.nan], None, InvalidPercent),
        ([50], [-1], InvalidWeight),
        ([50], [math.nan], InvalidWeight),
        ([50], [math.inf], InvalidWeight),
        ([50], [1, 1], LengthMismatch),
    ],
)
def test_mean_coverage_refuses(
    percents: list[float | None], weights: list[float] | None, error: type[EvaluationError]
) -> None:
    with pytest.raises(error):
        mean_coverage(percents, weights)


@given(PERCENTS, st.data())
def test_mean_coverage_is_bounded_and_ignores_the_order(
    percents: list[float | None], data: st.DataObject
) -> None:
    weights = data.draw(
        st.lists(st.floats(0, 1e6), min_size=len(percents), max_size=len(percents)), label="weights"
    )
    coverage = mean_coverage(percents, weights)
    assert coverage is None or 0 <= coverage <= 1
    order = data.draw(st.permutations(range(len(percents))), label="order")
    assert mean_coverage([percents[i] for i in order], [weights[i] for i in order]) == coverage


@given(PERCENTS.filter(any), st.data())
def test_raising_a_percent_never_lowers_coverage(percents: list[float | None], data: st.DataObject) -> None:
    position = data.draw(st.sampled_from([i for i, p in enumerate(percents) if p is not None]))
    raised = list(percents)
    raised[position] = data.draw(st.floats(percents[position] or 0, 100))
    before, after = mean_coverage(percents), mean_coverage(raised)
    assert after >= before


def test_duc_2001_scores_of_four_as_percents() -> None:
    # Set D04, target 50: two units with the scores 0 and 2 of 4 have the published mean 1.0 of 4, which is .25.
    assert mean_coverage([0, 50]) == 0.25


@pytest.mark.parametrize(
    ("labels", "coverage"),
    [
        (["yes", "yes", "no", "no"], 0.5),  # the worked example of the coverage metric: 2 of 4
        (["yes", "unsure", None], 0.5),  # unsure is not yes, and unscored claims are ignored
        (["yes"], 1.0),
        (["unsure"], 0.0),
        ([], 1.0),
        ([None, None], None),
    ],
)
def test_claim_coverage(labels: list[Label | None], coverage: float | None) -> None:
    assert claim_coverage(labels) == coverage


def test_claim_coverage_names_the_label_it_refuses() -> None:
    with pytest.raises(InvalidLabel, match="Label 1 is 'Yes'"):
        claim_coverage(["yes", "Yes"])  # type: ignore[list-item]


@given(LABELS, st.integers(0, 11))
def test_a_no_turned_yes_never_lowers_claim_coverage(labels: list[Label | None], position: int) -> None:
    changed: list[Label | None] = [*labels]
    if position < len(labels) and labels[position] in ("no", "unsure"):
        changed[position] = "yes"
    before, after = claim_coverage(labels), claim_coverage(changed)
    assert (before is None) == (after is None)
    assert before is None or after is None or 0 <= before <= after <= 1
