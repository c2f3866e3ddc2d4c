"""Rows stored many at a time, by hand: COPY on PostgreSQL, one prepared statement on SQLite.

`tests/bench/files.py` and `runs.py` defend it: to make instances and statements of rows took ten times as
long as to store them. The caller owns the transaction.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, TypeVar, cast

from django.db import connection, models
from django.utils import timezone

from annotation.models.base import new_public_ids

Row = TypeVar("Row", bound=models.Model)

_NEXT_KEYS = "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)"
_LAST_KEY = "SELECT seq FROM sqlite_sequence WHERE name = %s"


def reserve(kind: type[models.Model], count: int) -> Sequence[int]:
    """Keys for so many new rows that nobody else is given. On SQLite nobody else writes meanwhile."""
    meta = kind._meta
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_NEXT_KEYS, [meta.db_table, meta.pk.column, count])
            return [key for (key,) in cursor.fetchall()]
        cursor.execute(_LAST_KEY, [meta.db_table])
        (last,) = cursor.fetchone() or (0,)
    return range(last + 1, last + 1 + count)


def insert(kind: type[models.Model], names: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """Store rows of values for these columns, named as a model's attributes are; one statement.

    The other columns hold their default, the same in every row, but for `public_id`, which is drawn for each.
    """
    fields = {field.attname: field for field in kind._meta.local_concrete_fields}
    given = [fields.pop(name) for name in names]
    fields.pop(kind._meta.pk.attname, None)
    is_named = fields.pop("public_id", None) is None
    rest = {field.column: value for field in fields.values() if (value := _default(field)) is not None}
    columns = [*(field.column for field in given), *rest, *(() if is_named else ("public_id",))]
    constants = tuple(rest.values())
    whole = _prepared(given, rows)
    if is_named:
        _store(kind, columns, ((*row, *constants) for row in whole))
    else:
        _store(
            kind,
            columns,
            ((*row, *constants, key) for row, key in zip(whole, new_public_ids(), strict=False)),
        )


def create(rows: Sequence[Row]) -> None:
    """Store instances whose relations are stored already, and give each its key and a public id beside the others'."""
    if not rows:
        return
    kind = type(rows[0])
    relations = [field for field in kind._meta.local_concrete_fields if isinstance(field, models.ForeignKey)]
    for row, key in zip(rows, reserve(kind, len(rows)), strict=True):
        row.pk = key
        row._state.adding, row._state.db = False, connection.alias
        values, related = vars(row), row._state.fields_cache
        for field in relations:
            # Set as an attribute it would have the relation forgotten, and read again.
            if values[field.attname] is None and related.get(field.name) is not None:
                values[field.attname] = related[field.name].pk
    names = [field.attname for field in kind._meta.local_concrete_fields if not _is_stamp(field)]
    if "public_id" in names:
        for row, public_id in zip(rows, new_public_ids(), strict=False):
            vars(row)["public_id"] = public_id
    insert(kind, names, map(itemgetter(*names), map(vars, rows)))


def _default(field: models.Field[Any, Any]) -> object:
    value = _to_store(field)(timezone.now() if _is_stamp(field) else field.get_default())
    return None if value == "null" else value


def _is_stamp(field: models.Field[Any, Any]) -> bool:
    """Whether the column holds when its row was written."""
    return isinstance(field, models.DateTimeField) and (field.auto_now or field.auto_now_add)


def _to_store(field: models.Field[Any, Any]) -> Callable[[Any], Any]:
    """How a value of the column is handed to the database; for the rest as it is."""
    if isinstance(field, models.JSONField):
        return json.dumps
    if isinstance(field, models.DateTimeField):
        return lambda moment: moment and str(connection.ops.adapt_datetimefield_value(moment))
    return lambda value: value


def _prepared(
    fields: Sequence[models.Field[Any, Any]], rows: Iterable[tuple[Any, ...]]
) -> Iterable[tuple[Any, ...]]:
    special = [
        (place, _to_store(field))
        for place, field in enumerate(fields)
        if isinstance(field, models.JSONField | models.DateTimeField)
    ]
    return _with(special, rows) if special else rows


def _with(
    special: Sequence[tuple[int, Callable[[Any], Any]]], rows: Iterable[tuple[Any, ...]]
) -> Iterator[tuple[Any, ...]]:
    for row in rows:
        values = list(row)
        for place, to_store in special:
            values[place] = to_store(values[place])
        yield tuple(values)


def _store(kind: type[models.Model], columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    quote = connection.ops.quote_name
    into = f"{quote(kind._meta.db_table)} ({', '.join(map(quote, columns))})"
    with connection.wrap_database_errors, connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {into} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            places = ", ".join(["%s"] * len(columns))
            # Names of our own tables and columns alone.
            statement = f"INSERT INTO {into} VALUES ({places})"  # noqa: S608
            cursor.executemany(statement, cast("Sequence[Any]", rows))
