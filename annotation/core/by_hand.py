"""Rows out of statements that are written by hand, and into them, where every request asks or thousands are written
and building a query takes longer than carrying it out.

```
_PEER = Part(Summary, "peer", ("id", "text"))
cursor.execute(f"SELECT check_row.label, {_PEER.columns} FROM ... annotation_summary peer ...")
label, *values = cursor.fetchone()
peer = _PEER.read(iter(values))
insert(Assignment, [{"assignment_id": 1, "position": 1}, {"assignment_id": 1, "position": 2}], {"state": "assigned"})
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from functools import cache, cached_property
from itertools import islice
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.backends.utils import CursorWrapper
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

    @property
    def table(self) -> str:
        """The table's own name."""
        return self._row._meta.db_table

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


def named(kind: type[Row], **columns: object) -> Row:
    """A row of which only these columns are at hand; the others are asked for when they are first read."""
    return kind.from_db(connection.alias, list(columns), list(columns.values()))


def rows(statement: str, values: Sequence[Any] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """What a statement finds."""
    with kept_plan() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def kept_plan() -> CursorWrapper:
    """A cursor whose statements PostgreSQL plans once a connection, which takes it longer than to answer some.

    Their values are sent beside them instead of in them. Elsewhere, and where statements are logged to be read, a
    cursor like any other.
    """
    if connection.vendor != "postgresql" or connection.queries_logged:
        return connection.cursor()
    # Needs psycopg, which SQLite does without.
    from django.db.backends.postgresql.base import ServerBindingCursor  # noqa: PLC0415

    connection.ensure_connection()
    line = connection.connection
    of_others, line.cursor_factory = line.cursor_factory, ServerBindingCursor
    try:
        return connection.cursor()
    finally:
        line.cursor_factory = of_others


def places(values: Sized) -> str:
    """A place for each value of a list in a statement."""
    return ", ".join(["%s"] * len(values))


def saved(row: Model) -> dict[str, Any]:
    """What the columns of a new row hold once saved, by attribute and as the database takes them; without its key."""
    return {
        field.attname: field.get_db_prep_save(field.pre_save(row, add=True), connection)
        for field in row._meta.concrete_fields
        if not field.primary_key
    }


def insert(kind: type[Model], new: Sequence[Mapping[str, Any]]) -> None:
    """Write new rows of a table, in their order; nothing is asked for none.

    Each names the same attributes in the same order, with values as the database takes them. The caller's rows are not
    told their keys.
    """
    if not new:
        return
    statement = _inserting(kind, tuple(new[0]))
    with kept_plan() as cursor:
        cursor.executemany(statement, [tuple(row.values()) for row in new])


@cache
def _inserting(kind: type[Model], attributes: tuple[str, ...]) -> str:
    quote = connection.ops.quote_name
    column_of = {field.attname: str(field.column) for field in kind._meta.concrete_fields}
    columns = ", ".join(quote(column_of[name]) for name in attributes)
    return f"INSERT INTO {quote(kind._meta.db_table)} ({columns}) VALUES ({places(attributes)})"  # noqa: S608 - no input in it


def _converting(convert: Callable[..., object], column: object) -> Callable[[object], object]:
    return lambda value: convert(value, column, connection)
