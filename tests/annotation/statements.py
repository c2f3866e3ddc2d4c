"""Recording the database statements of an act, without those that open and close transactions."""

from __future__ import annotations

from collections.abc import Callable

from django.db import connection
from django.test.utils import CaptureQueriesContext

ASKS = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")


def statements_of(act: Callable[[], object]) -> list[str]:
    with CaptureQueriesContext(connection) as asked:
        act()
    said = (each["sql"].strip() for each in asked.captured_queries)
    return [statement for statement in said if statement.upper().startswith(ASKS)]
