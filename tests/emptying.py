"""Emptying the database after a test that commits.

Only tables with rows are emptied, and rows of migrations stay.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from django.db import connection, transaction
from django.test import TransactionTestCase

FILLED_BY_MIGRATIONS = {"django_migrations", "django_content_type", "auth_permission"}
APPEND_ONLY = "annotation_event"
"""Refuses DELETE on PostgreSQL; no other table refers to it, so it can be truncated alone."""


@contextmanager
def only_what_is_filled() -> Iterator[None]:
    with patch.object(TransactionTestCase, "_fixture_teardown", lambda _: empty()):
        yield


def empty() -> None:
    tables = sorted(set(connection.introspection.django_table_names()) - FILLED_BY_MIGRATIONS)
    questions = (f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {table})" for table in tables)
    # Foreign keys are checked at the end of the transaction, so the order of tables does not matter.
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(questions))
        for (table,) in cursor.fetchall():
            is_guarded = table == APPEND_ONLY and connection.vendor == "postgresql"
            cursor.execute(f"TRUNCATE {table}" if is_guarded else f"DELETE FROM {table}")
