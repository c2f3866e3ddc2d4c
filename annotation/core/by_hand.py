"""Hand-written statements whose rows become model instances.

Example:

    _SUMMARY = Part(Summary, "summary", ("id", "text"))
    cursor.execute(f"SELECT check_row.label, {_SUMMARY.columns} FROM ... annotation_summary summary ...")
    label, *values = cursor.fetchone()
    summary = _SUMMARY.read(iter(values))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.models import DateTimeField, Field, JSONField, Model
from django.utils import timezone

from annotation.models.base import new_public_ids

Row = TypeVar("Row", bound=Model)


class Part(Generic[Row]):
    """The columns of one table in a hand-written statement. `name` is the alias of the table in the statement.

    The columns are those in `only`, by default all columns. A column that is left out is loaded when it is first
    read.
    """

    def __init__(self, row: type[Row], name: str, only: Sequence[str] = ()) -> None:
        self._row = row
        self._name = name
        self._only = only

    @property
    def table(self) -> str:
        """Return the name of the table in the database."""
        return self._row._meta.db_table

    @cached_property
    def columns(self) -> str:
        """Return the columns for the SELECT clause."""
        return ", ".join(f'{self._name}."{field.column}"' for field in self._fields)

    def read(self, values: Iterator[object]) -> Row:
        """Build a row from the next values of the iterator, one for each of `columns`."""
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
        return [
            (place, _converting(convert, column))
            for place, column in enumerate(field.get_col(self._name) for field in self._fields)
            for convert in (
                *connection.ops.get_db_converters(column),
                *column.get_db_converters(connection),
            )
        ]


def named(kind: type[Row], **columns: object) -> Row:
    """Build a row with only these columns. Any other column is loaded when it is first read."""
    return kind.from_db(connection.alias, list(columns), list(columns.values()))


def rows(statement: str, values: Sequence[Any] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Run a statement with placeholders for `values`, and return its rows."""
    with kept_plans(), connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


@contextmanager
def kept_plans() -> Iterator[None]:
    """Let PostgreSQL plan each statement of the block only once per connection, because planning can take longer than
    running.

    The values are sent separately from the statements. Other databases, and connections that log queries, do not
    change.
    """
    if connection.vendor != "postgresql" or connection.queries_logged:
        yield
        return
    # Import here, because this module needs psycopg, which installations with SQLite lack.
    from django.db.backends.postgresql.base import ServerBindingCursor  # noqa: PLC0415

    connection.ensure_connection()
    line = connection.connection
    of_others, line.cursor_factory = line.cursor_factory, ServerBindingCursor
    try:
        yield
    finally:
        line.cursor_factory = of_others


def places(values: Sized) -> str:
    """Write a placeholder for each of the values, separated by commas."""
    return ", ".join(["%s"] * len(values))


def copy_rows(kind: type[Model], names: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """Store rows of values for the named attributes: by COPY on PostgreSQL, by one prepared statement on SQLite.

    Other columns get their default, if there is one, which is computed once for all rows; a `public_id` that is not
    named is new for each row. The caller must be in a transaction. `tests/bench/files.py` measures this function.
    """
    quote = connection.ops.quote_name
    fields = _stored(kind)
    given = [str(fields.pop(name).column) for name in names]
    fields.pop(kind._meta.pk.attname, None)
    own = ["public_id"] if fields.pop("public_id", None) else []
    rest = {str(field.column): field.get_default() for field in fields.values() if field.has_default()}
    columns = [*given, *rest, *own]
    into = f"{quote(kind._meta.db_table)} ({', '.join(map(quote, columns))})"
    last = tuple(rest.values())
    whole: Iterable[tuple[Any, ...]] = ((*row, *last) for row in rows) if last else rows
    if own:
        whole = ((*row, key) for row, key in zip(whole, new_public_ids(), strict=False))
    with connection.wrap_database_errors, connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {into} FROM STDIN") as copy:
                for row in whole:
                    copy.write_row(row)
        else:
            # The statement is safe: it contains only names of our own tables and columns.
            cursor.executemany(f"INSERT INTO {into} VALUES ({places(columns)})", whole)  # type: ignore[arg-type]  # noqa: S608


def new_keys(kind: type[Model], count: int) -> list[int]:
    """Take primary keys for rows that `copy_rows` is about to store. The caller must be in a transaction."""
    table = kind._meta.db_table
    if connection.vendor == "postgresql":
        sequence = "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)"
        return [key for (key,) in rows(sequence, [table, count])]
    last = rows("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
    first = (last[0][0] if last else 0) + 1
    return list(range(first, first + count))


def insert(made: Sequence[Model]) -> None:
    """Store new instances of one model with `copy_rows`, and give them their keys.

    Instances that the new rows refer to must be stored. The caller must be in a transaction.
    """
    if not made:
        return
    kind = type(made[0])
    for row, key in zip(made, new_keys(kind, len(made)), strict=True):
        row.pk, row._state.adding, row._state.db = key, False, connection.alias
    columns = []
    for name, field in _stored(kind).items():
        if isinstance(field, DateTimeField) and (field.auto_now or field.auto_now_add):
            now = timezone.now()
            for row in made:
                setattr(row, name, now)
        column = [getattr(row, name) for row in made]
        if isinstance(field, DateTimeField | JSONField):
            column = [field.get_db_prep_save(value, connection) for value in column]
        columns.append(column)
    copy_rows(kind, list(_stored(kind)), zip(*columns, strict=True))


def _stored(kind: type[Model]) -> dict[str, Field[Any, Any]]:
    return {field.attname: field for field in kind._meta.local_concrete_fields if not field.generated}


def _converting(convert: Callable[..., object], column: object) -> Callable[[object], object]:
    return lambda value: convert(value, column, connection)
