"""Store many rows from tuples, without an instance of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection, models

from annotation.models.base import new_public_ids


def copy_rows(kind: type[models.Model], names: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
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
