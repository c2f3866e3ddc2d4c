from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from django.conf import settings


@pytest.mark.process
@pytest.mark.parametrize("command", ["migrate", "serve", "worker", "demo --empty --no-browser"])
def test_a_database_of_an_earlier_version_is_refused_and_left_as_it_is(tmp_path: Path, command: str) -> None:
    file = tmp_path / "coverdict.sqlite3"
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute(
            "CREATE TABLE django_migrations (id integer primary key, app text, name text, applied datetime)"
        )
        database.execute("CREATE TABLE annotation_project (id integer primary key, name text)")
        database.execute(
            "INSERT INTO django_migrations VALUES (1, 'annotation', '0078_due_work', '2026-11-20')"
        )
    before = file.read_bytes()
    said = subprocess.run(
        [sys.executable, "manage.py", *command.split()],
        cwd=settings.BASE_DIR,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "annotation.config.settings.local",
            "COVERDICT_VAR": str(tmp_path),
            "DATABASE_URL": f"sqlite:///{file}",
        },
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert said.returncode != 0
    assert "another version of Coverdict" in said.stderr + said.stdout
    assert "Traceback" not in said.stderr + said.stdout
    assert file.read_bytes() == before
