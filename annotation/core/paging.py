"""Pages of rows that are found by the row they start after, however deep they lie; and rows some at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import islice
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet

from annotation.core.refusals import Invalid

Item = TypeVar("Item")
Listed = TypeVar("Listed", bound=Model)

ROWS_ON_A_PAGE = 50


def beyond(order: Sequence[str], place: Sequence[Any], *, nulls_last: bool = False) -> Q:
    """What follows a row of these values in that order, of which the last column is unique and never null.

    The other columns may be null where `nulls_last` says so, and only upwards.
    """
    following, level = Q(), Q()
    for name, value in zip(order, place, strict=True):
        column, is_down = name.removeprefix("-"), name.startswith("-")
        if value is None:
            level &= Q(**{f"{column}__isnull": True})
            continue
        later = Q(**{f"{column}__{'lt' if is_down else 'gt'}": value})
        if nulls_last and name != order[-1]:
            later |= Q(**{f"{column}__isnull": True})
        following |= level & later
        level &= Q(**{column: value})
    if nulls_last:
        return following
    if len(order) == 1:
        return following
    # Implied by the rest, and the part of it that an index can use.
    first = order[0].removeprefix("-")
    return following & Q(**{f"{first}__{'lte' if order[0].startswith('-') else 'gte'}": place[0]})


class NoSuchPage(Invalid):
    """The row that a page starts after is not there."""


def place_of(
    rows: QuerySet[Any], public_id: str, order: Sequence[str], *, id_path: str = "public_id", of: str = "list"
) -> tuple[Any, ...]:
    """What the row of that public id is ordered by, column by column. Raises NoSuchPage."""
    columns = [name.removeprefix("-") for name in order]
    place = rows.order_by().filter(**{id_path: public_id}).values_list(*columns).first()
    if place is None:
        raise NoSuchPage(f"This page of the {of} does not exist. Start from the first page.", field="after")
    return tuple(place)


def parts_after(
    rows: QuerySet[Listed], order: Sequence[str], place: Sequence[Any]
) -> Iterator[QuerySet[Listed]]:
    """What follows a place in that order, as parts that follow each other.

    Of each part an index gives the first row at once. In one condition, all rows before the place that are level with
    it would be read, too.
    """
    columns = [name.removeprefix("-") for name in order]
    last = max(len(order) - 2, 0)
    for depth in range(last, -1, -1):
        end = len(order) if depth == last else depth + 1
        level = dict(zip(columns[:depth], place, strict=False))
        yield rows.filter(beyond(order[depth:end], place[depth:end]), **level)


def page_after(
    rows: QuerySet[Listed],
    *,
    order: Sequence[str],
    after: str,
    size: int | None = None,
    scope: QuerySet[Listed] | None = None,
    id_path: str = "public_id",
) -> tuple[list[Listed], str]:
    """One page of rows, and the public id that the next page starts after, "" at the end.

    Without a `size` a page has ROWS_ON_A_PAGE.
    `after` is looked up in `scope`, since its row may have left `rows` meanwhile. No column of the order is null.
    Raises NoSuchPage.
    """
    size = ROWS_ON_A_PAGE if size is None else size
    parts: Iterable[QuerySet[Listed]] = (rows,)
    if after:
        parts = parts_after(
            rows, order, place_of(rows if scope is None else scope, after, order, id_path=id_path)
        )
    found: list[Listed] = []
    for part in parts:
        found += part.order_by(*order)[: size + 1 - len(found)]
        if len(found) > size:
            return found[:size], str(reduce(getattr, id_path.split("__"), found[size - 1]))
    return found, ""


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """The items in their order, so many at a time."""
    left = iter(items)
    while some := list(islice(left, size)):
        yield some
