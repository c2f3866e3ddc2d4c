"""Rows out of statements that are written by hand, where every request asks and building a query takes longer than
its answer.

```
_PEER = Part(Summary, "peer", ("id", "text"))
cursor.execute(f"SELECT check_row.label, {_PEER.columns} FROM ... annotation_summary peer ...")
label, *values = cursor.fetchone()
peer = _PEER.read(iter(values))
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Generic, TypeVar

from django.db import connection
from django.db.models import Field, Model

Row = TypeVar("Row", bound=Model)


class Part(Generic[Row]):
    """The columns of one table in such a statement, where the table goes by `name`.

    Without `only` they are all there; columns that are left out are asked for when they are first read.
    """

    def __init__(self, row: type[Row], name: str, only: Sequence[str] = ()) -> None:
        self._row = row
        self._name = name
        self._only = only

    @cached_property
    def columns(self) -> str:
        """What to select."""
        return ", ".join(f'{self._name}."{field.column}"' for field in self._fields)

    def read(self, values: Iterator[object]) -> Row:
        """The row; takes its values from the front of those that are left."""
        given = list(islice(values, len(self._fields)))
        for place, convert in self._conversions:
            given[place] = convert(given[place])
        return self._row.from_db(connection.alias, self._attributes, given)

    @cached_property
    def _fields(self) -> list[Field[object, object]]:
        fields = self._row._meta.concrete_fields
        return [field for field in fields if not self._only or field.attname in self._only]

    @cached_property
    def _attributes(self) -> list[str]:
        return [field.attname for field in self._fields]

    @cached_property
    def _conversions(self) -> list[tuple[int, Callable[[object], object]]]:
        """What the database, or the field, keeps otherwise than Python does: SQLite's dates, JSON."""
        return [
            (place, _converting(convert, column))
            for place, column in enumerate(field.get_col(self._name) for field in self._fields)
            for convert in (
                *connection.ops.get_db_converters(column),
                *column.get_db_converters(connection),
            )
        ]


def _converting(convert: Callable[..., object], column: object) -> Callable[[object], object]:
    return lambda value: convert(value, column, connection)
