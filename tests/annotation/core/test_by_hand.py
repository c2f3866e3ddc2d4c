from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connection

from annotation.config.environment import USES_BEFORE_PREPARED
from annotation.core.by_hand import Part, rows
from annotation.models import Check, Project, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tests.annotation.cast import World

CHECK, VERDICT = Part(Check, "checked"), Part(Verdict, "said")
BOTH = """
SELECT {check}, {verdict} FROM annotation_check checked JOIN annotation_verdict said ON said.check_row_id = checked.id
WHERE checked.id = %s
"""


def asked(statement: str, key: int) -> list[object]:
    with connection.cursor() as cursor:
        cursor.execute(statement, [key])
        return list(cursor.fetchone())


def values(row: Check | Verdict) -> dict[str, object]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def test_the_rows_of_a_statement_are_read_one_after_the_other(world: World) -> None:
    check = world.check("alder", 1)
    read = iter(asked(BOTH.format(check=CHECK.columns, verdict=VERDICT.columns), check.pk))
    # The rows include lists in JSON, dates and booleans, which SQLite stores as texts and numbers.
    assert values(CHECK.read(read)) == values(check)
    assert values(VERDICT.read(read)) == values(Verdict.objects.get(check_row=check))


def test_a_column_that_was_left_out_is_asked_for_when_it_is_read(
    world: World, django_assert_num_queries: Callable[[int], AbstractContextManager[object]]
) -> None:
    part = Part(Project, "project", ("id", "name"))
    read = asked(f"SELECT {part.columns} FROM annotation_project project WHERE id = %s", world.project.pk)
    project = part.read(iter(read))
    with django_assert_num_queries(1):
        assert (project.name, project.slug) == (world.project.name, world.project.slug)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="this run of the tests is on SQLite")
def test_a_statement_by_hand_is_planned_once(world: World) -> None:
    statement = "SELECT name FROM annotation_project project WHERE project.slug = %s"
    for slug in (*["nowhere"] * USES_BEFORE_PREPARED, world.project.slug):
        found = rows(statement, [slug])
    assert found == [(world.project.name,)]
    kept = rows("SELECT statement FROM pg_prepared_statements", [])
    assert (statement.replace("%s", "$1"),) in kept
