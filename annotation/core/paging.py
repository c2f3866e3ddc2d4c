"""Pages that start after a given row."""

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
MOST_PARTS = 2


def beyond(order: Sequence[str], place: Sequence[Any]) -> Q:
    """Build the condition for rows after `place`, the values of the columns in this order.

    The columns must be unique together, and no column null.
    """
    following, level = Q(), Q()
    for name, value in zip(order, place, strict=True):
        column, is_down = name.removeprefix("-"), name.startswith("-")
        following |= level & Q(**{f"{column}__{'lt' if is_down else 'gt'}": value})
        level &= Q(**{column: value})
    if len(order) == 1:
        return following
    # This condition is redundant, but it lets the database use an index.
    first = order[0].removeprefix("-")
    return following & Q(**{f"{first}__{'lte' if order[0].startswith('-') else 'gte'}": place[0]})


class NoSuchPage(Invalid):
    """The row after which the requested page starts does not exist."""


def place_of(
    rows: QuerySet[Any], public_id: str, order: Sequence[str], *, id_path: str = "public_id", of: str = "list"
) -> tuple[Any, ...]:
    """Load the values of the order's columns from the row with this public id. `of` names the list in the message of
    NoSuchPage, which is raised if there is no such row.
    """
    columns = [name.removeprefix("-") for name in order]
    place = rows.order_by().filter(**{id_path: public_id}).values_list(*columns).first()
    if place is None:
        raise NoSuchPage(f"This page of the {of} does not exist. Start from the first page.", field="after")
    return tuple(place)


def parts_after(
    rows: QuerySet[Listed], order: Sequence[str], place: Sequence[Any]
) -> Iterator[QuerySet[Listed]]:
    """Split the rows after `place`, the values of the columns in `order`, into at most MOST_PARTS consecutive parts."""
    columns = [name.removeprefix("-") for name in order]
    last = min(max(len(order) - 2, 0), MOST_PARTS - 1)
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
    """Load a page of rows, and the public id after which the next page starts, which is "" at the end.

    The default `size` is ROWS_ON_A_PAGE. `id_path` is the lookup of the public id. The row `after` is looked up in
    `scope`, because `rows` may no longer contain it. The columns of the order must not be null. Raises NoSuchPage if
    the row does not exist.
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
    """Yield the items in lists of this size; the last list may be shorter."""
    left = iter(items)
    while some := list(islice(left, size)):
        yield some
