"""Krippendorff's alpha: published answers, a slow second form, what cannot be said, and its interval."""

import json
import random
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import EvaluationError, InvalidPercent, LengthMismatch
from evaluation.statistics.agreement._alpha import (
    Level,
    alpha_interval,
    krippendorff_alpha,
)

LEVELS: tuple[Level, ...] = get_args(Level)
Table = list[list[int | None]]
TABLES = st.integers(2, 4).flatmap(
    lambda items: st.lists(
        st.lists(st.none() | st.integers(0, 4), min_size=items, max_size=items), min_size=2, max_size=4
    )
)


def numbers(*rows: str) -> Table:
    return [[None if sign == "." else int(sign) for sign in row.split()] for row in rows]


# Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011, example C to E.
FOUR_RATERS = numbers(
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
# The example of the encyclopedia's article on alpha.
THREE_RATERS = numbers(
    ". . . . . 3 4 1 2 1 1 3 3 . 3",
    "1 . 2 1 3 3 4 3 . . . . . . .",
    ". . 2 1 3 4 4 . 2 1 1 3 3 . 4",
)


def slow_distance(level: Level, one: int, other: int, used: Counter[int]) -> float:
    if level == "nominal":
        return float(one != other)
    if level == "interval":
        return float((one - other) ** 2)
    if level == "ratio":
        return ((one - other) / (one + other)) ** 2 if one + other else 0.0
    low, high = sorted((one, other))
    between = sum(count for value, count in used.items() if low <= value <= high)
    return (between - (used[one] + used[other]) / 2) ** 2


def slow_alpha(table: Table, level: Level) -> float | None:
    """Mean disagreement of pairs within items over that of all pairs: no coincidences, no sums of squares."""
    items = [[rating for rating in item if rating is not None] for item in zip(*table, strict=True)]
    items = [item for item in items if len(item) > 1]
    ratings = [rating for item in items for rating in item]
    used = Counter(ratings)
    seen = sum(
        slow_distance(level, one, other, used) / (len(item) - 1)
        for item in items
        for one, other in permutations(item, 2)
    )
    by_chance = sum(slow_distance(level, one, other, used) for one, other in permutations(ratings, 2))
    return (
        1 - (seen / len(ratings)) / (by_chance / (len(ratings) * (len(ratings) - 1))) if by_chance else None
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


def test_a_table_worked_out() -> None:
    # Observed: 2 of 8 ordered pairs within items differ. Five 1 and three 2: 2 * 5 * 3 = 30 of 8 * 7 pairs differ.
    assert krippendorff_alpha([[1, 1, 2, 2], [1, 1, 2, 1]], "nominal") == pytest.approx(
        1 - (2 / 8) / (30 / 56)
    )


@pytest.mark.parametrize("level", LEVELS)
def test_it_equals_a_slow_form_on_random_tables_with_gaps(level: Level) -> None:
    chance = random.Random(7)
    for _ in range(200):
        raters, items = chance.randint(2, 5), chance.randint(1, 12)
        table: Table = [[chance.choice([None, 0, 1, 2, 5, 20]) for _ in range(items)] for _ in range(raters)]
        assert krippendorff_alpha(table, level) == pytest.approx(slow_alpha(table, level), abs=1e-12)


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
    # Their mean is no binary fraction, so sums of squares leave a crumb.
    assert krippendorff_alpha([[0.1] * 7, [0.1] * 7], "interval") is None


def test_one_item_can_disagree() -> None:
    # Both ordered pairs within the item differ, and so do both of all ratings: 1 - 1 / 1.
    assert krippendorff_alpha([["a"], ["b"]], "nominal") == pytest.approx(0)


def test_categories_are_anything_hashable() -> None:
    ratings = [["yes", ("a", 1), None], ["yes", ("a", 1), "no"]]
    assert krippendorff_alpha(ratings, "nominal") == pytest.approx(1)


@given(TABLES, st.sampled_from(LEVELS))
def test_neither_the_order_of_raters_nor_that_of_items_matters(table: Table, level: Level) -> None:
    turned = [row[::-1] for row in table[::-1]]
    assert krippendorff_alpha(turned, level) == pytest.approx(krippendorff_alpha(table, level))


@given(TABLES)
def test_the_interval_level_knows_no_zero_and_no_unit(table: Table) -> None:
    moved = [[None if rating is None else 1000 + 20 * rating for rating in row] for row in table]
    assert krippendorff_alpha(moved, "interval") == pytest.approx(krippendorff_alpha(table, "interval"))


@given(TABLES)
def test_the_ordinal_level_knows_order_alone(table: Table) -> None:
    moved = [[None if rating is None else 3**rating for rating in row] for row in table]
    assert krippendorff_alpha(moved, "ordinal") == pytest.approx(krippendorff_alpha(table, "ordinal"))


@pytest.mark.parametrize("level", LEVELS)
def test_the_interval_is_that_of_drawing_items_one_by_one(level: Level) -> None:
    # 40 items of three raters, drawn by hand and put through alpha again. At 80 % of 40, the
    # expanded tail is P(Z < sqrt(40 / 39) * -1.3036) = .0934, which is the 37th of 400.
    chance = random.Random(3)
    items = [(base, base, chance.choice([base, chance.randint(0, 3)])) for base in [0, 1, 2, 3] * 10]
    table: Table = [list(row) for row in zip(*items, strict=True)]
    drawn = []
    for _ in range(400):
        picked = chance.choices(items, k=len(items))
        alpha = krippendorff_alpha(list(zip(*picked, strict=True)), level)
        assert alpha is not None
        drawn.append(alpha)
    drawn.sort()
    interval = alpha_interval(table, level, draws=4000, confidence=0.8)
    assert interval.low == pytest.approx(drawn[37], abs=0.04)
    assert interval.high == pytest.approx(drawn[362], abs=0.04)


@pytest.mark.parametrize("level", LEVELS)
def test_clusters_are_drawn_whole(level: Level) -> None:
    # In document a all agree, in b all disagree. Draws are aa, ab or ba, and bb: their alphas are the whole range.
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
    # Of the four draws of two items, one holds the first twice and one the second twice: both are constant.
    interval = alpha_interval([[1, 2], [1, 2]], "nominal", draws=1000)
    assert (interval.low, interval.high) == (1, 1)
    assert 400 < interval.undefined < 600


def test_draws_that_vary_by_rounding_alone_are_left_out_too() -> None:
    # Draws of three items without the third hold .1 alone, and have the probability 8/27.
    interval = alpha_interval([[0.1, 0.1, 0.7], [0.1, 0.1, 0.3]], "interval", draws=2700)
    assert interval.undefined == pytest.approx(800, abs=110)


def test_a_document_without_any_pair_is_no_cluster() -> None:
    table = numbers("1 2 3 1 .", "1 2 3 2 4")
    interval = alpha_interval(table, "nominal", list("aabbc"))
    assert interval == alpha_interval([row[:4] for row in table], "nominal", list("aabb"))
    assert interval.clusters == 2


def test_continuous_ratings_have_an_interval() -> None:
    chance = random.Random(5)
    table = [[item + chance.random() for item in range(30)] for _ in range(2)]
    interval = alpha_interval(table, "interval", draws=200)
    assert interval.low is not None
    assert interval.value is not None
    assert interval.high is not None
    assert interval.low < interval.value < interval.high < 1


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


def votes(lines: list[str]) -> list[list[Any]]:
    cells = [
        cell for line in lines for claim in json.loads(line)["claims"] for cell in claim["raw_votes"].values()
    ]
    cast = [[vote["vote"] if isinstance(vote, dict) else vote for vote in cell] for cell in cells]
    most = max(map(len, cast))
    return [list(row) for row in zip(*(cell + [None] * (most - len(cell)) for cell in cast), strict=True)]


@pytest.mark.parametrize(
    ("name", "number", "alpha"),
    [("realsumm_dev.jsonl", 23_125, 0.710409), ("qags_factual_dev.jsonl", 243, 0.416867)],
)
def test_real_votes(judged_data: Path, name: str, number: int, alpha: float) -> None:
    table = votes((judged_data / name).read_text(encoding="utf-8").splitlines())
    assert sum(vote is not None for row in table for vote in row) == number
    assert krippendorff_alpha(table, "nominal") == pytest.approx(alpha, abs=5e-7)
