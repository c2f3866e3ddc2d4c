"""Migrations run while the version before serves, and lead back: rules for new ones, and the newest back and forth."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.db import connection, models
from django.db.migrations import (
    AddConstraint,
    AddField,
    AddIndex,
    AlterField,
    CreateModel,
    DeleteModel,
    Migration,
    RemoveField,
    RenameField,
    RenameModel,
    RunPython,
    RunSQL,
    SeparateDatabaseAndState,
)
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from annotation.migrations._while_serving import (
    AddConstraintWhileServing,
    AddIndexWhileServing,
    FillInBatches,
)
from annotation.models import Check
from tests.annotation.cast import World
from tests.migration_rules import BASELINE, objections, tables

LEAF = "annotation"
REACH = 8
"""So many of the newest are taken back, with rows in the tables; those before were when they were the newest."""
CERTAIN = models.CheckConstraint(condition=models.Q(doubt__lte=1), name="check_doubt_most_1")
BY_LABEL = models.Index(fields=["final_label"], name="check_by_label")
KEY = models.BigAutoField(primary_key=True)


@pytest.fixture(scope="module")
def loader() -> MigrationLoader:
    return MigrationLoader(None)


@pytest.fixture(scope="module")
def before(loader: MigrationLoader) -> ProjectState:
    """The version before."""
    state = loader.project_state((LEAF, BASELINE))
    assert state.apps
    return state


def newer(loader: MigrationLoader) -> list[tuple[str, str]]:
    """Migrations after the baseline, in their order."""
    target = loader.graph.leaf_nodes(LEAF)[0]
    plan = loader.graph.forwards_plan(target)
    known = set(loader.graph.forwards_plan((LEAF, BASELINE)))
    return [key for key in plan if key not in known and key[0] == LEAF]


def manage(env: dict[str, str], *words: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=settings.BASE_DIR,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def laid_out(url: str) -> set[tuple[str, ...]]:
    """Columns, indexes, constraints and triggers of a database on PostgreSQL; statements that make those of SQLite."""
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as opened:
            # Tables are written anew, and columns then stand in another order.
            return {
                (kind, name, *sorted(re.split(r",|(?<=\))", sql or "")))
                for kind, name, sql in opened.execute("SELECT type, name, sql FROM sqlite_master")
            }
    with psycopg.connect(url) as opened:
        return {tuple(map(str, row)) for statement in LAID_OUT for row in opened.execute(statement)}


LAID_OUT = (
    "SELECT table_name, column_name, data_type, is_nullable, column_default, character_maximum_length"
    " FROM information_schema.columns WHERE table_schema = 'public'",
    "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "SELECT conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated FROM pg_constraint",
    "SELECT tgrelid::regclass, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
)


def made(*operations: Operation, atomic: bool = True, irreversible: str = "") -> Migration:
    migration = Migration("9999_made", LEAF)
    migration.operations, migration.atomic = list(operations), atomic
    vars(migration)["irreversible"] = irreversible
    return migration


def on_postgresql() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("rules for migrations are those of PostgreSQL")


@pytest.mark.django_db(transaction=True)
def test_migrations_of_this_version_run_while_the_one_before_serves(
    loader: MigrationLoader, before: ProjectState
) -> None:
    on_postgresql()
    known = tables(before)
    found = {
        name: said
        for app, name in newer(loader)
        if (
            said := objections(
                loader.graph.nodes[app, name], loader.project_state((app, name), at_end=False), known
            )
        )
    }
    assert not found


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("migration", "words"),
    [
        (made(AddField("check", "x", models.BooleanField(default=False))), "adds x without a default"),
        (made(AddField("check", "x", models.TextField(null=True)), RunSQL("UPDATE a SET b = 1", "")), "one go"),
        (made(AlterField("check", "suggested_probability", models.FloatField(default=0.0))), "lock for suggested"),
        (made(AlterField("check", "doubt", models.IntegerField(null=True))), "another type"),
        # Wider alone: no lock, but what a connection has prepared fails from then on.
        (made(AlterField("judge", "model", models.CharField(max_length=4000))), "another type"),
        (made(RemoveField("check", "doubt")), "drops doubt"),
        (made(RenameField("check", "doubt", "uncertainty")), "renames doubt"),
        (made(RenameModel("CheckLook", "Glance")), "renames a table"),
        (made(DeleteModel("MailTurn")), "drops a table"),
        (made(AddIndex("check", BY_LABEL)), "nobody can write"),
        (made(AddConstraint("check", CERTAIN)), "whole table under a lock for a constraint"),
        (
            made(AddField("verdict", "x", models.ForeignKey("annotation.judge", models.CASCADE, null=True))),
            "nobody can write",
        ),
        (made(RunPython(print, print)), "one go"),
        (made(RunSQL("SELECT 1")), "cannot be reversed"),
        (made(AddIndexWhileServing("check", BY_LABEL)), "atomic = False"),
        (made(AddField("check", "x", models.TextField(null=True)), atomic=False), "cannot be repeated"),
    ],
)  # fmt: skip
def test_an_unsafe_migration_is_refused(migration: Migration, words: str, before: ProjectState) -> None:
    on_postgresql()
    assert words in "\n".join(objections(migration, before, tables(before)))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "migration",
    [
        made(AddField("check", "x", models.BooleanField(default=False, db_default=False))),
        made(AddField("check", "x", models.FloatField(null=True))),
        made(AddField("check", "x", models.ForeignKey("annotation.judge", models.CASCADE, null=True, db_index=False))),
        made(CreateModel("Made", [("id", KEY), ("check_row", models.ForeignKey("annotation.check", models.CASCADE))])),
        made(AddIndexWhileServing("check", BY_LABEL), atomic=False),
        made(AddConstraintWhileServing("check", CERTAIN), atomic=False),
        made(FillInBatches("check", lambda rows: rows.update(doubt=None)), atomic=False),
        made(RunSQL("SELECT 1"), irreversible="nothing was there before"),
        made(SeparateDatabaseAndState(state_operations=[RemoveField("check", "doubt")])),
    ],
)  # fmt: skip
def test_a_safe_migration_is_let_through(migration: Migration, before: ProjectState) -> None:
    on_postgresql()
    assert objections(migration, before, tables(before)) == []


def state_of_now(loader: MigrationLoader) -> ProjectState:
    state = loader.project_state(loader.graph.leaf_nodes(LEAF))
    assert state.apps
    return state


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("operation", "name"),
    [
        (AddIndexWhileServing("check", BY_LABEL), BY_LABEL.name),
        (AddConstraintWhileServing("check", CERTAIN), CERTAIN.name),
    ],
)
def test_what_is_added_while_serving_is_there_and_goes_again(
    operation: Operation, name: str, world: World, loader: MigrationLoader
) -> None:
    def constraints() -> dict[str, object]:
        with connection.cursor() as cursor:
            return connection.introspection.get_constraints(cursor, Check._meta.db_table)

    migration = made(operation, atomic=False)
    state = state_of_now(loader)
    # Twice, as where it broke off before it was recorded.
    times = 2 if connection.vendor == "postgresql" else 1
    for _ in range(times):
        with connection.schema_editor(atomic=False) as editor:
            migration.apply(state.clone(), editor)
    assert name in constraints()
    with connection.schema_editor(atomic=False) as editor:
        migration.unapply(state.clone(), editor)
    assert name not in constraints()


@pytest.mark.django_db(transaction=True)
def test_rows_are_filled_in_batches_each_in_its_transaction(world: World, loader: MigrationLoader) -> None:
    filled: list[int] = []

    def fill(rows: models.QuerySet[models.Model]) -> None:
        assert connection.in_atomic_block
        filled.append(rows.update(effect=0.25))

    migration = made(FillInBatches("check", fill, batch=5), atomic=False)
    with connection.schema_editor(atomic=False) as editor:
        migration.apply(state_of_now(loader), editor)
    assert sum(filled) == Check.objects.filter(effect=0.25).count() == Check.objects.count()
    assert max(filled) == 5
    assert len(filled) > 1


@pytest.mark.slow
def test_migrations_lead_back_and_forth_and_wait_for_whoever_reads(
    world: World, installation: dict[str, str], empty: dict[str, str], tmp_path: Path, loader: MigrationLoader
) -> None:
    (leaf,) = loader.graph.leaf_nodes(LEAF)
    plan = [name for app, name in loader.graph.forwards_plan(leaf) if app == LEAF]
    target = plan[min(len(plan) - 1 - REACH, plan.index(BASELINE))]
    manage(installation, "backup", str(tmp_path / "coverdict.zip"))
    manage(empty, "restore", str(tmp_path / "coverdict.zip"))
    before = laid_out(empty["DATABASE_URL"])
    manage(empty, "migrate", LEAF, target)
    assert before - laid_out(empty["DATABASE_URL"])
    if connection.vendor != "postgresql":
        manage(empty, "migrate")
    else:
        # As pg_dump does: whoever would wait behind a change of a table waits for a second at most.
        with psycopg.connect(empty["DATABASE_URL"]) as reader:
            reader.execute(
                f"LOCK TABLE {', '.join(tables(loader.project_state((LEAF, target))))} IN ACCESS SHARE MODE"
            )
            with subprocess.Popen(
                [sys.executable, "manage.py", "migrate"], cwd=settings.BASE_DIR, env=empty,
                stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
            ) as process:  # fmt: skip
                assert process.stderr
                assert any("A table is in use" in line for line in process.stderr)
                reader.rollback()
                assert "Traceback" not in process.stderr.read()
            assert process.returncode == 0
    assert laid_out(empty["DATABASE_URL"]) == before
