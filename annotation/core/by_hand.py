"""What the statements of `assessing` are carried out with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from functools import cache
from typing import Any

from django.db import connection
from django.db.models import Model

from annotation.core.prepared import prepared_cursor

kept_plan = prepared_cursor


def rows(statement: str, values: Sequence[Any] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """What a statement finds."""
    with prepared_cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


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
    with prepared_cursor() as cursor:
        cursor.executemany(statement, [tuple(row.values()) for row in new])


@cache
def _inserting(kind: type[Model], attributes: tuple[str, ...]) -> str:
    quote = connection.ops.quote_name
    column_of = {field.attname: str(field.column) for field in kind._meta.concrete_fields}
    columns = ", ".join(quote(column_of[name]) for name in attributes)
    return f"INSERT INTO {quote(kind._meta.db_table)} ({columns}) VALUES ({places(attributes)})"  # noqa: S608 - no input in it
