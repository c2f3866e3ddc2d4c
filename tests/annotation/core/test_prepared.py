"""PostgreSQL keeps the plan of a statement that was asked a few times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connection

from annotation.config.environment import USES_BEFORE_PREPARED
from annotation.core.prepared import prepared_cursor

if TYPE_CHECKING:
    from tests.annotation.cast import World


@pytest.mark.skipif(connection.vendor != "postgresql", reason="this run of the tests is on SQLite")
def test_a_statement_is_planned_once(world: World) -> None:
    statement = "SELECT name FROM annotation_project project WHERE project.slug = %s"
    with prepared_cursor() as cursor:
        for slug in (*["nowhere"] * USES_BEFORE_PREPARED, world.project.slug):
            cursor.execute(statement, [slug])
        assert cursor.fetchall() == [(world.project.name,)]
        cursor.execute("SELECT statement FROM pg_prepared_statements")
        assert (statement.replace("%s", "$1"),) in cursor.fetchall()
