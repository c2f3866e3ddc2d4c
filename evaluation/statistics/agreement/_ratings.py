"""Ratings as arrays: raters by items, with gaps."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation._guards import check_same_length
from evaluation.errors import EvaluationError

MISSING = -1


@dataclass(frozen=True, slots=True)
class RatingTable:
    """Who rated what how: `codes` are positions in `categories`, shape (raters, items), -1 where none was given."""

    codes: NDArray[np.int64]
    categories: tuple[Hashable, ...]

    @property
    def values(self) -> NDArray[np.float64]:
        """The categories as numbers, which they must be."""
        return np.array(self.categories, dtype=np.float64)

    def counts(self, codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """How many raters gave each item each category, shape (items, categories), for some items' codes."""
        items, width = codes.shape[1], len(self.categories)
        given = codes != MISSING
        places = (np.arange(items) * width + codes)[given]
        return np.bincount(places, minlength=items * width).reshape(items, width).astype(np.float64)


def rating_table(
    ratings: Sequence[Sequence[Hashable | None]],
    *,
    categories: Sequence[Hashable] | None = None,
    is_numeric: bool = False,
) -> RatingTable:
    """The ratings, raters x items with None where one is missing, as a table of codes.

    Categories are those given, in their order; else those that occur: by size where they are numbers, else in
    order of first occurrence.
    Raises LengthMismatch where raters have lists of different lengths; EvaluationError for a rating that is not
    a number equal to itself, where numbers are wanted not finite, or not one of the given categories.
    """
    for rater, row in enumerate(ratings):
        check_same_length("The first rater's ratings", ratings[0], f"those of rater {rater}", row)
    occurring = dict.fromkeys(rating for row in ratings for rating in row if rating is not None)
    for rating in occurring:
        _check_rating(rating, ratings, is_numeric)
    known = _ordered(occurring, is_numeric) if categories is None else tuple(dict.fromkeys(categories))
    places: dict[Hashable | None, int] = {category: place for place, category in enumerate(known)}
    for rating in occurring:
        if rating not in places:
            raise EvaluationError(f"The rating {rating!r} is not one of the categories {list(known)!r}.")
    places[None] = MISSING
    shape = (len(ratings), len(ratings[0]) if ratings else 0)
    codes = np.fromiter((places[rating] for row in ratings for rating in row), np.int64, shape[0] * shape[1])
    return RatingTable(codes=codes.reshape(shape), categories=known)


def _ordered(categories: Sequence[Hashable] | dict[Hashable, None], is_numeric: bool) -> tuple[Hashable, ...]:
    if is_numeric:
        return tuple(sorted(categories, key=_number))
    return tuple(categories)


def _number(value: Hashable) -> float:
    assert isinstance(value, (int, float, np.number))
    return float(value)


def _check_rating(rating: Hashable, ratings: Sequence[Sequence[Hashable | None]], is_numeric: bool) -> None:
    is_number = isinstance(rating, (int, float, np.number))
    if is_number and math.isfinite(_number(rating)):
        return
    if is_number or is_numeric:
        rater = next(place for place, row in enumerate(ratings) if rating in row)
        item = list(ratings[rater]).index(rating)
        raise EvaluationError(
            f"The rating of item {item} by rater {rater} is {rating!r}; "
            "it must be a finite number, or None where there is none."
        )
