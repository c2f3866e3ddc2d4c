"""Operations for migrations that run while the version before serves, on PostgreSQL: none holds a table for long.

A migration with one of them says `atomic = False`. Each can be repeated after it broke off. Elsewhere than on
PostgreSQL they do the same in the plain way.
"""

from collections.abc import Callable
from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import transaction
from django.db.migrations import AddConstraint, AddIndex, RunPython

BATCH = 500
"""Whoever answers a check of a batch waits for the whole batch."""


class AddIndexWhileServing(AddIndexConcurrently):
    """AddIndex that lets others write meanwhile."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        if schema_editor.connection.vendor != "postgresql":
            AddIndex.database_forwards(self, app_label, schema_editor, from_state, to_state)
            return
        with schema_editor.connection.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            (patience,) = cursor.fetchone()
        # It waits for every transaction that was open before, which holds up nobody.
        schema_editor.execute("SET lock_timeout = 0", params=None)
        schema_editor.execute(f'DROP INDEX CONCURRENTLY IF EXISTS "{self.index.name}"', params=None)
        super().database_forwards(app_label, schema_editor, from_state, to_state)
        schema_editor.execute(f"SET lock_timeout = '{patience}'", params=None)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        if schema_editor.connection.vendor != "postgresql":
            AddIndex.database_backwards(self, app_label, schema_editor, from_state, to_state)
            return
        super().database_backwards(app_label, schema_editor, from_state, to_state)


class AddConstraintWhileServing(AddConstraint):
    """AddConstraint of a CheckConstraint that is there at once for new rows, and then compared with those that stand."""

    atomic = False

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        if schema_editor.connection.vendor != "postgresql":
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        model = to_state.apps.get_model(app_label, self.model_name)
        table, name = model._meta.db_table, self.constraint.name
        create = self.constraint.create_sql(model, schema_editor)
        schema_editor.execute(f'ALTER TABLE "{table}" DROP CONSTRAINT IF EXISTS "{name}"', params=None)
        schema_editor.execute(f"{create} NOT VALID", params=None)
        schema_editor.execute(f'ALTER TABLE "{table}" VALIDATE CONSTRAINT "{name}"', params=None)


class FillInBatches(RunPython):
    """RunPython for the rows of one table, some thousand at a time, each batch a transaction of its own.

    `fill` is given a query of the rows of one batch, and must not mind rows that it has filled before. There is
    nothing to take back: what it filled goes with its column.
    """

    def __init__(self, model_name: str, fill: Callable[[Any], object], *, batch: int = BATCH) -> None:
        def fill_all(apps: Any, schema_editor: Any) -> None:
            alias = schema_editor.connection.alias
            rows = apps.get_model("annotation", model_name)._base_manager.using(alias).order_by("pk")
            waiting = rows
            while keys := list(waiting.values_list("pk", flat=True)[:batch]):
                with transaction.atomic(alias):
                    fill(rows.filter(pk__range=(keys[0], keys[-1])))
                waiting = rows.filter(pk__gt=keys[-1])

        super().__init__(fill_all, RunPython.noop, atomic=False)
