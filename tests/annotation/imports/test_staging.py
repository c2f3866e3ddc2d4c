"""A large import keeps nobody waiting, and is seen whole or not at all, whatever becomes of it."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from annotation.core.refusals import Conflict
from annotation.imports import staging
from annotation.imports.problems import ImportRefused
from annotation.imports.progress import Progress
from annotation.imports.services import import_new_project
from annotation.models import Check, DocumentSet, Project, Score, Summary, System
from tests.annotation.imports.files import DOCUMENT, import_dataset, jsonl, nested
from tests.annotation.judging.processes import wait_until

Made = TypeVar("Made")

ROOT = Path(__file__).parents[3]
# Planned in parts of 200 sets at most.
SETS, PARTS = 225, 2
TEXT = f"{DOCUMENT} " * 24
LONGEST_SECONDS = 0.25
VISIBLE = (DocumentSet, System, Check, Score)
ALL = [SETS, 2, 4 * SETS, 2 * SETS]
NOTHING = [0, 0, 0, 0]


@pytest.fixture
def project(transactional_db: None) -> Project:
    return Project.objects.create(slug="trams", name="Trams")


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = jsonl(tmp_path, *(nested(doc_id=f"d{number}", source_text=TEXT) for number in range(SETS)))
    assert path.stat().st_size > 256 * 1024
    return path


def elsewhere(act: Callable[[], Made]) -> Made:
    """What an act gives on a connection of its own, which waits for no lock."""
    made: list[Made] = []

    def carry_out() -> None:
        try:
            with connection.cursor() as cursor:
                waits_not = (
                    "SET lock_timeout = 1" if connection.vendor == "postgresql" else "PRAGMA busy_timeout = 0"
                )
                cursor.execute(waits_not)
            made.append(act())
        finally:
            connection.close()

    thread = threading.Thread(target=carry_out)
    thread.start()
    thread.join()
    assert made, "the other connection had to wait, or failed"
    return made[0]


def seen(project: Project) -> list[int]:
    return [kind._default_manager.filter(project=project).count() for kind in VISIBLE]


def hidden() -> list[Project]:
    return list(Project.all_projects.filter(staged_until__isnull=False))


class Acting(Progress):
    """Keeps what an act gives elsewhere at every step of an import."""

    def __init__(self, act: Callable[[], Any]) -> None:
        super().__init__()
        self.act = act
        self.given: list[Any] = []

    def step(self) -> None:
        self.given.append(elsewhere(self.act))


def test_others_write_meanwhile_and_see_all_of_it_or_nothing(project: Project, large: Path) -> None:
    def write_and_look() -> list[int]:
        Project.objects.filter(pk=project.pk).update(description="changed")
        return seen(project)

    acting = Acting(write_and_look)
    import_dataset(project=project, path=large, by=None, progress=acting)
    assert len(acting.given) >= PARTS
    assert all(look == NOTHING for look in acting.given)
    assert seen(project) == ALL
    assert hidden() == []
    call_command("verify_scores", project.slug, stdout=StringIO())


def test_no_write_takes_long(project: Project, large: Path) -> None:
    """By the processor's time of the statements, which other work on the machine does not lengthen."""
    if not staging.is_needed():
        pytest.skip("PostgreSQL lets others write during the one transaction")
    writes: list[float] = []

    def clocked(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("BEGIN"):
            writes.append(0.0)
        began = time.thread_time()
        try:
            return execute(sql, params, many, context)
        finally:
            if writes:
                writes[-1] += time.thread_time() - began

    with connection.execute_wrapper(clocked):
        import_dataset(project=project, path=large, by=None)
    assert len(writes) > PARTS
    assert max(writes) < LONGEST_SECONDS


def test_a_project_that_is_removed_meanwhile_takes_nothing_in(project: Project, large: Path) -> None:
    acting = Acting(lambda: Project.objects.filter(pk=project.pk).delete())
    with pytest.raises(Conflict, match="was removed or its rules changed"):
        import_dataset(project=project, path=large, by=None, progress=acting)
    assert [kind._default_manager.count() for kind in VISIBLE] == NOTHING
    assert hidden() == []


def test_what_is_stored_in_one_go_stands_together_in_the_index(project: Project, large: Path) -> None:
    """A part of SETS sets begins alike, and no two ids are one: 4 of 16 characters are shared."""
    import_dataset(project=project, path=large, by=None)
    ids = Summary.objects.values_list("public_id", flat=True)
    assert {len(each) for each in ids} == {16}
    assert len(set(ids)) == len(ids) > SETS
    assert len({each[:4] for each in ids}) < SETS // 20
    assert len({each[4:8] for each in ids}) > SETS


def test_a_new_project_appears_with_all_that_is_in_it(transactional_db: None, large: Path) -> None:
    acting = Acting(Project.objects.count)
    import_new_project(slug="trams", by=None, path=large, progress=acting)
    assert set(acting.given) == {0}
    project = Project.objects.get(slug="trams")
    assert seen(project) == ALL
    assert project.events.filter(verb="import").count() == 1
    call_command("verify_scores", project.slug, stdout=StringIO())
    with pytest.raises(Conflict, match="trams"):
        import_new_project(slug="trams", by=None, path=large)
    assert hidden() == []


def test_sets_that_are_there_are_left_or_changed_beside_new_ones(
    project: Project, large: Path, tmp_path: Path
) -> None:
    import_dataset(project=project, path=large, by=None)
    again = import_dataset(project=project, path=large, by=None)
    assert not again.counts.has_changes
    assert again.counts.document_sets.unchanged == SETS
    third = {"system": "cedar", "summary_text": "Nothing happened."}
    changed = nested(doc_id="d1", source_text=TEXT, systems=[*nested()["systems"], third])
    new = [nested(doc_id=f"e{number}", source_text=TEXT) for number in range(SETS)]
    report = import_dataset(project=project, path=jsonl(tmp_path, changed, *new, name="b.jsonl"), by=None)
    assert (report.counts.document_sets.created, report.counts.document_sets.unchanged) == (SETS, 1)
    assert (report.counts.systems.created, report.counts.peer_summaries.created) == (1, 2 * SETS + 1)
    assert Summary.objects.filter(document_set__external_id="d1", is_peer=True).count() == 3
    assert Score.objects.filter(project=project).count() == 4 * SETS + 1
    call_command("verify_scores", project.slug, stdout=StringIO())


def test_what_contradicts_the_project_leaves_nothing(project: Project, tmp_path: Path) -> None:
    import_dataset(project=project, path=jsonl(tmp_path, nested(language="de"), name="a.jsonl"), by=None)
    before = seen(project)
    lines = [nested(doc_id=f"d{number}", source_text=TEXT, language="en") for number in range(SETS)]
    with pytest.raises(ImportRefused):
        import_dataset(project=project, path=jsonl(tmp_path, *lines, name="b.jsonl"), by=None)
    assert (seen(project), hidden()) == (before, [])


def test_rules_that_change_meanwhile_end_it(project: Project, large: Path) -> None:
    acting = Acting(lambda: Project.objects.update(over_length="truncate"))
    with pytest.raises(Conflict, match="its rules changed"):
        import_dataset(project=project, path=large, by=None, progress=acting)
    assert (seen(project), hidden()) == (NOTHING, [])


def test_a_killed_import_is_never_seen_and_is_cleaned_up(
    project: Project, large: Path, subprocess_env: dict[str, str]
) -> None:
    command = [sys.executable, "manage.py", "import_dataset", "trams", str(large)]
    process = subprocess.Popen(command, cwd=ROOT, env=subprocess_env, stdout=subprocess.DEVNULL)
    try:
        if staging.is_needed():
            wait_until(lambda: DocumentSet.objects.exists() or process.poll() is not None)
    finally:
        process.kill()
        process.wait()
    assert seen(project) == NOTHING
    assert list(Project.objects.all()) == [project]
    assert DocumentSet.objects.exists() is bool(hidden()) is staging.is_needed()
    # It might still be alive.
    staging.drop_abandoned()
    assert bool(hidden()) is staging.is_needed()
    Project.all_projects.exclude(staged_until=None).update(staged_until=timezone.now() - timedelta(seconds=1))
    assert staging.is_abandoned() is staging.is_needed()
    staging.drop_abandoned()
    assert (DocumentSet.objects.count(), hidden()) == (0, [])
    import_dataset(project=project, path=large, by=None)
    assert seen(project) == ALL


def test_one_that_was_given_up_writes_nothing_more(project: Project) -> None:
    staged = Project.all_projects.create(slug="x", name="x", staged_until=timezone.now())
    with pytest.raises(Conflict):
        staging.keep(staged)
