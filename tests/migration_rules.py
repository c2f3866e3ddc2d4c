"""What a migration must not do, since the version before serves while it runs and afterwards.

Read from the SQL that Django makes of it for PostgreSQL: what changes nothing in the database is free.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from django.db import connection
from django.db.migrations import Migration, RunPython, RunSQL
from django.db.migrations.state import ProjectState

from annotation.migrations._while_serving import (
    AddConstraintWhileServing,
    AddIndexWhileServing,
    FillInBatches,
)

BASELINE = "0076_account_factors"
"""The newest migration of the version before. What came later is held to these rules; raised with each version."""

Tables = dict[str, dict[str, Any]]
"""What the version before knows: fields by column by table."""
Rule = tuple[str, str, Callable[[re.Match[str], dict[str, Any]], bool]]

REPEATABLE = (AddIndexWhileServing, AddConstraintWhileServing, FillInBatches)
TABLE = re.compile(r'^(?:ALTER TABLE|DROP TABLE|CREATE (?:UNIQUE )?INDEX .*? ON) "(\w+)"')


def _always(_found: re.Match[str], _columns: dict[str, Any]) -> bool:
    return True


def _is_known(found: re.Match[str], columns: dict[str, Any]) -> bool:
    return found["column"] in columns


RULES: tuple[Rule, ...] = (
    (r"^DROP TABLE", "drops a table that the version before uses: drop it one version later", _always),
    (
        r'DROP COLUMN "(?P<column>\w+)"',
        "drops {column}, which the version before uses: take it out of the state alone"
        " (SeparateDatabaseAndState), and drop it one version later",
        _is_known,
    ),
    (r'RENAME COLUMN "(?P<column>\w+)"', "renames {column}, which the version before uses", _is_known),
    (r" RENAME TO ", "renames a table that the version before uses", _always),
    (
        r'ADD COLUMN "(?P<column>\w+)" (?!.* DEFAULT ).* NOT NULL',
        "adds {column} without a default, so that the version before can insert nothing: give it db_default or null",
        _always,
    ),
    (r'ALTER COLUMN "(?P<column>\w+)" SET NOT NULL', "reads the whole table under a lock for {column}", _always),
    (
        r'ALTER COLUMN "(?P<column>\w+)" TYPE ',
        "gives {column} another type: what the version before has prepared fails (cached plan must not change result"
        " type), even where it is only wider: fill a new column in batches",
        _is_known,
    ),
    (
        r"^CREATE (UNIQUE )?INDEX (?!CONCURRENTLY)",
        "makes an index while nobody can write: AddIndexWhileServing, for a foreign key beside db_index=False",
        _always,
    ),
    (
        r"ADD CONSTRAINT (?!.*(NOT VALID|USING INDEX)).*",
        "reads the whole table under a lock for a constraint: AddConstraintWhileServing",
        _always,
    ),
)  # fmt: skip


def tables(state: ProjectState) -> Tables:
    """Tables, columns and fields of a version."""
    rows = state.apps.get_models(include_auto_created=True)
    return {row._meta.db_table: {field.column: field for field in row._meta.concrete_fields} for row in rows}


def objections(migration: Migration, state: ProjectState, before: Tables) -> list[str]:
    """What is wrong with a migration that starts from this state; nothing where it may run while others work."""
    if found := list(_of_operations(migration)):
        return found
    with connection.schema_editor(collect_sql=True, atomic=migration.atomic) as editor:
        migration.apply(state.clone(), editor, collect_sql=True)
    statements = [sql for sql in editor.collected_sql if not sql.startswith("--")]
    found = [words for statement in statements for words in _of_statement(statement, before)]
    for statement in statements:
        # Django gives a column its default for the time of the statement alone, unless it is db_default.
        dropped = re.search(r'^ALTER TABLE "(\w+)" ALTER COLUMN "(\w+)" DROP DEFAULT', statement)
        if dropped and any(
            re.search(rf'^ALTER TABLE "{dropped[1]}" ADD COLUMN "{dropped[2]}" .* NOT NULL', each)
            for each in statements
            if dropped[1] in before
        ):
            found.append(
                f"{dropped[1]}: adds {dropped[2]} without a default that stays, so that the version before can insert "
                "nothing: give it db_default or null"
            )
    return found


def _of_operations(migration: Migration) -> Iterator[str]:
    for operation in migration.operations:
        name = type(operation).__name__
        if not operation.reversible and not getattr(migration, "irreversible", ""):
            yield f"{name} cannot be reversed: give it a reverse, or the migration `irreversible = 'why'`"
        if isinstance(operation, RunPython) and not isinstance(operation, FillInBatches):
            yield "RunPython changes rows in one go: FillInBatches"
        if isinstance(operation, RunSQL) and re.search(r"\b(UPDATE|DELETE|INSERT)\b", str(operation.sql)):
            yield "RunSQL changes rows in one go: FillInBatches"
        if migration.atomic and isinstance(operation, REPEATABLE):
            yield f"{name} needs `atomic = False`"
        if not migration.atomic and not isinstance(operation, REPEATABLE):
            yield f"{name} cannot be repeated after it broke off: put it into a migration of its own, an atomic one"


def _of_statement(statement: str, before: Tables) -> Iterator[str]:
    table = TABLE.search(statement)
    if table is None or table[1] not in before:
        return
    for pattern, words, applies in RULES:
        found = re.search(pattern, statement)
        if found and applies(found, before[table[1]]):
            yield f"{table[1]}: {words.format(**found.groupdict())}"
