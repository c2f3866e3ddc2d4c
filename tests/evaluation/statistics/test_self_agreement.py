import pytest

from evaluation.errors import LengthMismatch
from evaluation.statistics import self_agreement


def test_flips_by_label_and_length() -> None:
    found = self_agreement(
        ["yes", "yes", "no", "no"], ["yes", "no", "no", "no"], [5, 20, 5, 9], ["a", "a", "b", "b"]
    )
    assert (found.checks, found.flips.value) == (4, 0.25)
    assert found.flips.low is not None
    assert {name: part.value for name, part in found.by_label.items()} == {"yes": 0.5, "no": 0.0}
    assert {name: part.value for name, part in found.by_length.items()} == {
        "up to 8 words": 0.0,
        "9 to 16 words": 0.0,
        "more than 16 words": 1.0,
    }
    # Observed 3/4, by chance 1/2 x 1/4 + 1/2 x 3/4 = 1/2: kappa 1/2.
    assert found.kappa_ceiling == pytest.approx(0.5**0.5)


def test_a_judge_that_never_says_anything_else_has_no_ceiling() -> None:
    found = self_agreement(["yes", "yes"], ["yes", "yes"], [3, 3], ["a", "b"])
    assert (found.flips.value, found.kappa_ceiling) == (0.0, None)


def test_columns_of_other_lengths_are_refused() -> None:
    with pytest.raises(LengthMismatch):
        self_agreement(["yes"], ["yes", "no"], [1], ["a"])
