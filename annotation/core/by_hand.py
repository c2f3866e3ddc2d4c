"""Rows out of statements that are written by hand, and into them, where every request asks or thousands are written
and building a query takes longer than carrying it out.

```
_PEER = Part(Summary, "peer", ("id", "text"))
cursor.execute(f"SELECT check_row.label, {_PEER.columns} FROM ... annotation_summary peer ...")
label, *values = cursor.fetchone()
peer = _PEER.read(iter(values))
copy_rows(Unit, ("summary_id", "position", "text"), [(1, 1, "It rains."), (1, 2, "It pours.")])
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from functools import cached_property
from itertools import islice
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.models import Field, Model

from annotation.models.base import new_public_ids

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


def copy_rows(kind: type[Model], names: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """Store rows of values for the attributes named, by COPY on PostgreSQL and one prepared statement on SQLite.

    The other columns hold their default, the same in every row; each row samples its `public_id`. Defended by
    `tests/bench/files.py`: a large file has a million units. The caller owns the transaction.
    """
    quote = connection.ops.quote_name
    fields = {field.attname: field for field in kind._meta.local_concrete_fields if not field.primary_key}
    del fields["public_id"]
    given = [str(fields.pop(name).column) for name in names]
    rest = {str(field.column): field.get_default() for field in fields.values() if field.has_default()}
    columns = ", ".join(map(quote, [*given, *rest, "public_id"]))
    into = f"{quote(kind._meta.db_table)} ({columns})"
    whole = ((*row, *rest.values(), key) for row, key in zip(rows, new_public_ids(), strict=False))
    with connection.wrap_database_errors, connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {into} FROM STDIN") as copy:
                for row in whole:
                    copy.write_row(row)
        else:
            places = ", ".join(["%s"] * (len(given) + len(rest) + 1))
            # Names of our own tables and columns alone.
            cursor.executemany(f"INSERT INTO {into} VALUES ({places})", whole)  # type: ignore[arg-type]  # noqa: S608


def _converting(convert: Callable[..., object], column: object) -> Callable[[object], object]:
    return lambda value: convert(value, column, connection)
