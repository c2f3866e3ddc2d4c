import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import EvaluationError, InvalidWeight, LengthMismatch
from evaluation.metrics._pyramid import pyramid_score

# A public TAC pyramid (set D0736-B, 4 references): 18 content units, 4 + 3*3 + 2 + 13 = 28 contributors.
D0736 = [4, 3, 3, 3, 2, *[1] * 13]


def expressed(*places: int) -> list[bool]:
    return [place in places for place in range(len(D0736))]


def test_the_published_pyramid() -> None:
    # 28 / 4 = 7 units per reference; the best 7 weigh 4 + 9 + 2 + 1 + 1 = 17, and the expressed 4 and one 3 weigh 7.
    made = pyramid_score(D0736, expressed(0, 1), references=4)
    assert made.reference_units == 7
    assert made.weight == 7
    assert made.modified_ideal == 17
    assert made.modified == pytest.approx(0.411765, abs=5e-7)
    # The summary has two units; the best two of all weigh 4 + 3 = 7.
    assert made.original == 1


def test_floor_and_ceil_are_one_here() -> None:
    floor, ceil = (
        pyramid_score(D0736, expressed(0, 1), references=4, mean_rounding=rounding)
        for rounding in ("floor", "ceil")
    )
    assert floor == ceil


def test_floor_and_ceil_differ_where_the_mean_is_broken() -> None:
    # 2 + 1 + 1 + 1 = 5 contributors of 2 references are 2.5 units per reference. The best 2 units weigh 2 + 1 = 3, and
    # the best 3 weigh 4. The expressed unit weighs 2, so the score is 2/3 with floor and 2/4 with ceil.
    weights, there = [2, 1, 1, 1], [True, False, False, False]
    assert pyramid_score(weights, there, references=2).modified == pytest.approx(2 / 3)
    assert pyramid_score(weights, there, references=2, mean_rounding="ceil").modified == 0.5


def test_unmatched_units_lower_the_original_score_alone() -> None:
    # The summary has 3 units and expresses the weight 4; the best 3 weigh 4 + 3 + 3 = 10.
    made = pyramid_score(D0736, expressed(0), references=4, unmatched=2)
    assert (made.summary_units, made.original_ideal, made.original) == (3, 10, 0.4)
    assert made.modified == pytest.approx(4 / 17)


def test_contributors_may_outnumber_the_weights() -> None:
    # The unit of weight 1 has two contributors of one reference, so 4 contributors of 2 references are 2 units per
    # reference. The best 2 units weigh 3, and the expressed unit weighs 1.
    made = pyramid_score([2, 1], [False, True], references=2, contributors=4)
    assert (made.reference_units, made.modified) == (2, pytest.approx(1 / 3))


def test_modified_score_never_exceeds_one() -> None:
    # 3 / 3 = 1 unit per reference, with an ideal of 1; the summary expresses all three units.
    assert pyramid_score([1, 1, 1], [True] * 3, references=3).modified == 1


def test_nothing_can_be_said() -> None:
    assert pyramid_score([], [], references=2).modified is None
    assert pyramid_score([], [], references=2).original is None
    assert pyramid_score([1], [False], references=2).modified is None  # 1/2 unit per reference is 0 by floor
    assert pyramid_score([1], [False], references=2, mean_rounding="ceil").modified == 0
    assert pyramid_score([2, 1], [True, False], references=None).modified is None
    assert pyramid_score([2, 1], [True, False], references=None).original == 1


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"expressed": [True, False]}, LengthMismatch),
        ({"weights": [-1]}, InvalidWeight),
        ({"weights": [math.nan]}, InvalidWeight),
        ({"references": 0}, EvaluationError),
        ({"unmatched": -1}, EvaluationError),
        ({"contributors": -1}, EvaluationError),
        ({"mean_rounding": "round"}, EvaluationError),
    ],
)
def test_refuses(changes: dict[str, object], error: type[EvaluationError]) -> None:
    with pytest.raises(error):
        pyramid_score(**{"weights": [1], "expressed": [True], "references": 1, **changes})  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=30), st.integers(1, 9))
def test_scores_are_shares_and_do_not_depend_on_the_order(
    units: list[tuple[int, bool]], references: int
) -> None:
    made = pyramid_score(
        [weight for weight, _ in units], [there for _, there in units], references=references
    )
    turned = units[::-1]
    assert made == pyramid_score(
        [weight for weight, _ in turned], [there for _, there in turned], references=references
    )
    for share in (made.modified, made.original):
        assert share is None or 0 <= share <= 1
