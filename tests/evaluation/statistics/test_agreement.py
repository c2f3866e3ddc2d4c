import random
import warnings
from typing import Any, get_args

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from evaluation import cohen_kappa, krippendorff_alpha
from evaluation.errors import EvaluationError, InvalidPercent, LengthMismatch
from evaluation.statistics import (
    KappaWeights,
    Level,
    alpha_interval,
    kappa_interval,
    observed_agreement,
    observed_agreement_interval,
)

LEVELS: tuple[Level, ...] = get_args(Level)
Table = list[list[int | None]]


def numbers(*rows: str) -> Table:
    return [[None if sign == "." else int(sign) for sign in row.split()] for row in rows]


# Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011, examples C to E.
FOUR_RATERS = numbers(
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
# The example in Wikipedia's article on Krippendorff's alpha.
THREE_RATERS = numbers(
    ". . . . . 3 4 1 2 1 1 3 3 . 3",
    "1 . 2 1 3 3 4 3 . . . . . . .",
    ". . 2 1 3 4 4 . 2 1 1 3 3 . 4",
)


@pytest.mark.parametrize(
    ("table", "level", "published"),
    [
        (FOUR_RATERS, "nominal", 0.743421),
        (FOUR_RATERS, "ordinal", 0.815388),
        (FOUR_RATERS, "interval", 0.849107),
        (FOUR_RATERS, "ratio", 0.797403),
        (THREE_RATERS, "nominal", 0.691358),
        (THREE_RATERS, "interval", 0.810845),
    ],
)
def test_published_values(table: Table, level: Level, published: float) -> None:
    assert krippendorff_alpha(table, level) == pytest.approx(published, abs=5e-7)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "table",
    [[], [[], []], [[1, 2]], [[1, None], [None, 2]], [[3, 3], [3, 3]], [[None], [None]]],
    ids=["no rater", "no item", "one rater", "no overlap", "all equal", "nothing"],
)
def test_without_pairs_or_variation_there_is_none(table: Table, level: Level) -> None:
    assert krippendorff_alpha(table, level) is None
    interval = alpha_interval(table, level, draws=20)
    assert (interval.value, interval.low, interval.high) == (None, None, None)


def test_equal_ratings_of_any_size_are_not_taken_for_variation() -> None:
    # The mean is not a binary fraction, so sums of squares have a rounding error.
    assert krippendorff_alpha([[0.1] * 7, [0.1] * 7], "interval") is None


def test_categories_are_anything_hashable() -> None:
    ratings = [["yes", ("a", 1), None], ["yes", ("a", 1), "no"]]
    assert krippendorff_alpha(ratings, "nominal") == pytest.approx(1)


@pytest.mark.parametrize("level", LEVELS)
def test_clusters_are_drawn_whole(level: Level) -> None:
    # All agree in document a, and all disagree in b. The resamples are aa, ab or ba, and bb, so the interval extends
    # from the alpha of b to the alpha of a.
    table = numbers("1 2 3 1 1 1", "1 2 3 2 2 2")
    interval = alpha_interval(table, level, list("aaabbb"))
    alone = krippendorff_alpha(numbers("1 1 1 1 1 1", "2 2 2 2 2 2"), level)
    assert interval.low == pytest.approx(alone)
    assert interval.high == pytest.approx(1)
    assert interval.clusters == 2


def test_the_order_of_rows_does_not_move_a_clustered_interval() -> None:
    table, documents = numbers("1 2 3 1 2 3", "1 2 3 2 2 1"), list("aabbcc")
    turned = alpha_interval([row[::-1] for row in table], "nominal", documents[::-1])
    assert turned == alpha_interval(table, "nominal", documents)


def test_draws_without_variation_are_left_out_and_counted() -> None:
    # Of the four resamples of two items, one has the first item twice and one the second item twice; both are
    # constant.
    interval = alpha_interval([[1, 2], [1, 2]], "nominal", draws=1000)
    assert (interval.low, interval.high) == (1, 1)
    assert 400 < interval.undefined < 600


def test_draws_that_vary_by_rounding_alone_are_left_out_too() -> None:
    # Resamples of three items without the third are constant, with a probability of 8/27.
    interval = alpha_interval([[0.1, 0.1, 0.7], [0.1, 0.1, 0.3]], "interval", draws=2700)
    assert interval.undefined == pytest.approx(800, abs=110)


def test_a_document_without_any_pair_is_no_cluster() -> None:
    table = numbers("1 2 3 1 .", "1 2 3 2 4")
    interval = alpha_interval(table, "nominal", list("aabbc"))
    assert interval == alpha_interval([row[:4] for row in table], "nominal", list("aabb"))
    assert interval.clusters == 2


@pytest.mark.parametrize(
    ("table", "level", "message"),
    [
        ([[1], ["high"]], "ordinal", "item 0 by rater 1 is 'high'"),
        ([[1], [float("nan")]], "nominal", "item 0 by rater 1 is nan"),
        ([[1], [-1]], "ratio", "-1; at the ratio level"),
        ([[1], [1]], "cardinal", "must be one of nominal"),
    ],
)
def test_ratings_that_do_not_fit_their_level_are_refused(table: Any, level: Any, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        krippendorff_alpha(table, level)


def test_raters_have_equally_many_places() -> None:
    with pytest.raises(LengthMismatch, match="rater 1"):
        krippendorff_alpha([[1, 2], [1]], "nominal")


def test_each_item_has_a_cluster() -> None:
    with pytest.raises(LengthMismatch, match="2 and 1"):
        alpha_interval([[1, 2], [1, 2]], "nominal", ["a"])


def test_the_confidence_is_a_share() -> None:
    with pytest.raises(InvalidPercent, match="95"):
        alpha_interval([[1, 2], [1, 2]], "nominal", confidence=95)


def rated(yes_yes: int, yes_no: int, no_yes: int, no_no: int) -> tuple[list[str], list[str]]:
    first = ["yes"] * (yes_yes + yes_no) + ["no"] * (no_yes + no_no)
    second = ["yes"] * yes_yes + ["no"] * yes_no + ["yes"] * no_yes + ["no"] * no_no
    return first, second


def test_the_textbook_table() -> None:
    # Agreement is 35/50 = .7 and chance .5 * .6 + .5 * .4 = .5, so kappa is (.7 - .5) / (1 - .5) = .4.
    assert cohen_kappa(*rated(20, 5, 10, 15)) == pytest.approx(0.4)


def test_weights_worked_out() -> None:
    # The items are (1,1) (1,2) (3,1) (3,3) on the scale 1 2 3. The observed linear disagreement is 0 + 1 + 2 + 0 = 3 in
    # 4 items. By chance, 16 pairs of {1,1,3,3} and {1,2,1,3} are possible. Each 1 gives 0+1+0+2 = 3 and each 3 gives
    # 2+1+2+0 = 5, in sum 2 * 3 + 2 * 5 = 16. Kappa is 1 - (3 / 4) / (16 / 16) = .25. With squares, the observed
    # disagreement is 5; each 1 gives 0+1+0+4 = 5 and each 3 gives 4+1+4+0 = 9, in sum 28. Kappa is 1 - (5 / 4) / (28 /
    # 16) = 1 - 20 / 28.
    a, b = [1, 1, 3, 3], [1, 2, 1, 3]
    assert cohen_kappa(a, b, "linear") == pytest.approx(0.25)
    assert cohen_kappa(a, b, "quadratic") == pytest.approx(1 - 20 / 28)


def test_a_named_scale_keeps_steps_that_nobody_used() -> None:
    # On the scale 0 20 40 60 80 100, the ratings 0 and 100 differ by five steps, 0 and 20 by one.
    a, b = [0, 0, 100, 100], [0, 20, 100, 100]
    scale = [0, 20, 40, 60, 80, 100]
    # The observed disagreement is 1 step in 4 items. In the 16 possible pairs, each 0 gives 0+1+5+5 = 11 and each 100
    # gives 5+4+0+0 = 9, in sum 40. Kappa is 1 - (1 / 4) / (40 / 16) = .9.
    assert cohen_kappa(a, b, "linear", categories=scale) == pytest.approx(0.9)
    # Without the scale there are three steps, 0 20 100: each 0 gives 0+1+2+2 = 5 and each 100 gives 2+1+0+0 = 3, in sum
    # 16. Kappa is 1 - (1 / 4) / (16 / 16) = .75.
    assert cohen_kappa(a, b, "linear") == pytest.approx(0.75)


@pytest.mark.parametrize(("a", "b"), [([], []), ([1, None], [None, 1]), (["x", "x"], ["x", "x"])])
def test_without_pairs_or_variation_there_is_no_kappa(a: list[Any], b: list[Any]) -> None:
    assert cohen_kappa(a, b) is None
    assert kappa_interval(a, b, draws=20).value is None


def test_two_constants_that_differ_agree_no_better_than_by_chance() -> None:
    assert cohen_kappa(["x", "x"], ["y", "y"]) == 0


def test_kappa_draws_documents_whole() -> None:
    # In a all items agree (kappa 1), in b all are opposite (kappa -1). The resamples are aa, ab, ba and bb.
    one, other = list("ynynynyn"), list("ynynnyny")
    interval = kappa_interval(one, other, clusters=list("aaaabbbb"))
    assert (interval.value, interval.clusters) == (0, 2)
    assert (interval.low, interval.high) == (-1, 1)


def test_kappa_refuses_what_cannot_be() -> None:
    with pytest.raises(LengthMismatch):
        cohen_kappa([1], [1, 2])
    with pytest.raises(EvaluationError, match="linear, quadratic"):
        cohen_kappa([1], [1], "cubic")  # type: ignore[arg-type]
    with pytest.raises(EvaluationError, match="categories"):
        cohen_kappa([1, "a"], [1, "a"], "linear")
    with pytest.raises(EvaluationError, match="'c' is not one of"):
        cohen_kappa(["c"], ["a"], categories=["a", "b"])


DEGENERATE: list[list[list[int | None]]] = [[], [[], []], [[1, 2]], [[1, None], [None, 2]]]


def test_agreement_worked_out() -> None:
    # Item 1 has yes, yes, no: one of three pairs agrees. Item 2 has no, no: its pair agrees. Item 3 has one rating.
    table = [["yes", "no", None], ["yes", "no", None], ["no", None, "yes"]]
    assert observed_agreement(table) == pytest.approx((1 / 3 + 1) / 2)


@pytest.mark.parametrize("table", DEGENERATE)
def test_without_pairs_there_is_no_agreement(table: list[list[int | None]]) -> None:
    assert observed_agreement(table) is None
    interval = observed_agreement_interval(table)
    assert interval.value is interval.low is interval.high is None


def test_documents_are_resampled_whole() -> None:
    # Agreement is 1 in a and 0 in b. The resamples are aa, ab, ba and bb.
    table = [list("xyxy"), list("xyyx")]
    interval = observed_agreement_interval(table, list("aabb"))
    assert (interval.value, interval.low, interval.high, interval.clusters) == (0.5, 0, 1, 2)


def test_full_agreement_of_few_items_is_no_certainty() -> None:
    # For four of four, Clopper and Pearson's lower bound is .025 ** (1 / 4) = .3976.
    interval = observed_agreement_interval([list("xyxy"), list("xyxy")])
    assert interval.low == pytest.approx(0.3976, abs=5e-5)
    assert interval.high == 1


def test_agreement_of_raters_of_unequal_length_is_refused() -> None:
    with pytest.raises(LengthMismatch):
        observed_agreement([[1], []])


RANDOM_TABLES = 200


def tables(*, raters: tuple[int, int], share_missing: float) -> list[list[list[int | None]]]:
    chance = random.Random(20_231)
    made = []
    for _ in range(RANDOM_TABLES):
        items, width = chance.randint(4, 40), chance.randint(2, 6)
        truth = [chance.randint(1, 1 + width) for _ in range(items)]
        made.append(
            [
                [
                    None
                    if chance.random() < share_missing
                    else (value if chance.random() < 0.6 else chance.randint(1, 1 + width))
                    for value in truth
                ]
                for _ in range(chance.randint(*raters))
            ]
        )
    return made


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_equals_the_library_named_after_it(level: Level) -> None:
    said = 0
    for table in tables(raters=(2, 5), share_missing=0.25):
        ours = krippendorff_alpha(table, level)
        if ours is None:
            continue
        said += 1
        with_gaps = np.array([[np.nan if one is None else one for one in row] for row in table], dtype=float)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            theirs = krippendorff.alpha(reliability_data=with_gaps, level_of_measurement=level)
        assert ours == pytest.approx(theirs, abs=1e-9)
    assert said > RANDOM_TABLES * 0.95


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_equals_that_of_a_machine_learning_library(weights: KappaWeights | None) -> None:
    said = 0
    for first, second in tables(raters=(2, 2), share_missing=0.2):
        both = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
        scale = list(range(1, 10))
        ours = cohen_kappa(first, second, weights=weights, categories=scale)
        if ours is None:
            continue
        said += 1
        theirs = cohen_kappa_score(*zip(*both, strict=True), weights=weights, labels=scale)
        assert ours == pytest.approx(theirs, abs=1e-9)
        mine, yours = zip(*both, strict=True)
        of_what_occurs = cohen_kappa_score(mine, yours, weights=weights)
        assert cohen_kappa(mine, yours, weights=weights) == pytest.approx(of_what_occurs, abs=1e-9)
    assert said > RANDOM_TABLES * 0.95
