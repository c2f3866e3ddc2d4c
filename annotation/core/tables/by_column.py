"""Converting the values of rows column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from annotation.core.paging import batches
from annotation.core.tables.columns import TableRow

ROWS_AT_ONCE = 1000

Spell = Callable[[Any], Any]


def spelled(
    rows: Iterable[TableRow], columns: Iterable[Callable[[], Spell] | None]
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows in groups, with each value converted by the function of its column.

    `columns` has one entry for each column: a factory that makes the function, or None to leave the column unchanged.
    The factory is called for each group.
    """
    columns = list(columns)
    for group in batches(rows, ROWS_AT_ONCE):
        values = zip(*group, strict=True)
        yield list(
            zip(
                *(map(make(), some) if make else some for make, some in zip(columns, values, strict=True)),
                strict=True,
            )
        )


class Remembered(dict[Any, Any]):
    """A cache of a function's results, for columns in which a few values repeat."""

    def __init__(self, make: Spell) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, value: Any) -> Any:
        made = self[value] = self._make(value)
        return made
