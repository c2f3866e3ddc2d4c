"""Statements that PostgreSQL plans once a connection."""

from __future__ import annotations

from django.db import connection
from django.db.backends.utils import CursorWrapper


def prepared_cursor() -> CursorWrapper:
    """A cursor that sends values beside its statements, so that PostgreSQL keeps their plans.

    For statements that take longer to plan than to answer. On SQLite, and where statements are logged to be read, a
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
