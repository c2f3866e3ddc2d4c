import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, norm
from scipy.stats import t as student

from evaluation.statistics._ranges import Precision, interval_within_range

SHARES = st.floats(0, 1)


def test_in_the_middle_it_is_students_on_the_logit_scale() -> None:
    # Half the interval is .05 * 2.09302 / .25 = .418605 around 0: 1 / (1 + exp(.418605)) = .396851.
    known = Precision.of_answers(0.5, 0.05**2, 19)
    assert known.answers == pytest.approx(100)
    assert interval_within_range(0.5, known, 0.95) == pytest.approx((0.396851, 0.603149), abs=1e-6)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_of_documents_that_are_all_alike_at_an_end_one_bound_is_exact(share: float) -> None:
    # Twenty documents have no yes: 1 - .025^(1/20) = .168433.
    low, high = interval_within_range(share, Precision.of_answers(share, 0.0, 19), 0.95)
    assert (low, high) == pytest.approx((0, 0.168433) if share == 0 else (0.831567, 1), abs=1e-6)


def test_documents_that_are_all_alike_in_the_middle_are_not_known_for_sure() -> None:
    low, high = interval_within_range(0.5, Precision.of_answers(0.5, 0.0, 9), 0.95)
    # Clopper and Pearson's interval of 5 in 10.
    assert (low, high) == pytest.approx((beta.ppf(0.025, 5, 6), beta.ppf(0.975, 6, 5)))


def test_with_few_of_a_kind_expected_it_is_the_exact_one_of_what_they_are_worth() -> None:
    # .1 with a variance of .1 * .9 / 36 counts as 36 answers, 3.6 of them yes, and (z / t)^2 of these are used.
    low, high = interval_within_range(0.1, Precision.of_answers(0.1, 0.0025, 35), 0.95)
    count = 36 * (norm.ppf(0.975) / student.ppf(0.975, 35)) ** 2
    yes = 0.1 * count
    assert low == pytest.approx(beta.ppf(0.025, yes, count - yes + 1))
    assert high == pytest.approx(beta.ppf(0.975, yes + 1, count - yes))


def test_an_estimate_with_half_the_variance_is_worth_twice_the_answers() -> None:
    people = Precision.of_answers(0.05, 0.002, 29)
    assert people.at(0.001).answers == pytest.approx(2 * people.answers)
    wide, narrow = (interval_within_range(0.05, each, 0.95) for each in (people, people.at(0.001)))
    assert narrow[1] - narrow[0] < wide[1] - wide[0]


@given(
    share=SHARES,
    people=SHARES,
    variance=st.floats(0, 0.25),
    gain=st.floats(0.2, 1.2),
    degrees=st.integers(1, 90),
)
def test_bounds_lie_in_the_range_and_around_the_mean(
    share: float, people: float, variance: float, gain: float, degrees: int
) -> None:
    known = Precision.of_answers(people, variance, degrees).at(variance * gain)
    low, high = interval_within_range(share, known, 0.95)
    assert 0 <= low <= share + 1e-9
    assert share - 1e-9 <= high <= 1


@given(share=SHARES, variance=st.floats(0, 0.1), degrees=st.integers(1, 90))
def test_yes_and_no_are_treated_alike(share: float, variance: float, degrees: int) -> None:
    one, other = (
        interval_within_range(each, Precision.of_answers(each, variance, degrees), 0.95)
        for each in (share, 1 - share)
    )
    assert one == pytest.approx((1 - other[1], 1 - other[0]), abs=1e-6)
