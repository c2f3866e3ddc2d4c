"""Backup and restore: an empty installation at another place becomes the same one, and damaged files change nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection

from annotation.backups import (
    MANIFEST,
    BackupError,
    restore_backup,
    run_on_database,
    write_backup,
)
from annotation.models import Project
from tests import postgres
from tests.annotation.cast import World
from tests.annotation.exports.acts import assess_and_close

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

ROOT = Path(settings.BASE_DIR)
PROGRAMS = postgres.binaries()


def manage(env: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *words], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )


def scores(env: dict[str, str], path: Path) -> bytes:
    done = manage(env, "export_dataset", "harbour", "--level", "scores", "--format", "csv", "-o", str(path))
    assert done.returncode == 0, done.stderr
    return path.read_bytes()


def test_a_restored_installation_is_the_same(
    world: World, installation: dict[str, str], empty: dict[str, str], tmp_path: Path
) -> None:
    assess_and_close(
        world, world.ana, {("alder", 1): 60, ("alder", 2): 80, ("birch", 1): 0, ("birch", 2): 20}
    )
    exported = Path(installation["COVERDICT_VAR"]) / "exports" / "one" / "file.csv"
    exported.parent.mkdir(parents=True)
    exported.write_text("kept\n")
    backup = tmp_path / "coverdict.zip"
    done = manage(installation, "backup", str(backup))
    assert (done.returncode, done.stderr) == (0, "")
    stamp = json.loads((Path(installation["COVERDICT_VAR"]) / "last-backup.json").read_text())
    assert (stamp["file"], stamp["bytes"]) == ("coverdict.zip", backup.stat().st_size)
    # It holds texts and the hashes of passwords.
    assert backup.stat().st_mode & 0o777 == 0o600
    # A backup replaces nothing, and leaves nothing half written beside it.
    again = manage(installation, "backup", str(backup))
    assert "exists already" in again.stderr
    assert sorted(path.name for path in tmp_path.glob("*coverdict*")) == ["coverdict.zip"]

    if connection.vendor == "postgresql":
        # What fails leaves nothing behind, so that it can be tried again.
        failing = tmp_path / "failing" / "pg_restore"
        failing.parent.mkdir()
        failing.write_text("#!/bin/sh\necho 'no such server' >&2; exit 1\n")
        failing.chmod(0o755)
        path = f"{failing.parent}{os.pathsep}{empty['PATH']}"
        assert "pg_restore failed" in manage(empty | {"PATH": path}, "restore", str(backup)).stderr
        assert not list(Path(empty["COVERDICT_VAR"]).rglob("exports"))
    # The folder is made by the first who needs it.
    shutil.rmtree(empty["COVERDICT_VAR"])
    done = manage(empty, "restore", str(backup))
    assert done.returncode == 0, done.stderr
    # Nothing was erased here ever, or the journal was left behind: that is for the operator to know.
    assert "There is no journal of erasures at" in done.stderr
    assert f"Restored {Project.objects.count()} projects" in done.stdout
    assert (Path(empty["COVERDICT_VAR"]) / "exports" / "one" / "file.csv").read_text() == "kept\n"
    proved = manage(empty, "verify_scores", "harbour")
    assert proved.stdout == "The scores of harbour follow from its statements.\n"
    assert scores(empty, tmp_path / "new.csv") == scores(installation, tmp_path / "old.csv")
    # Not twice into the same place.
    assert (
        " already contains tables. Restore into an empty one." in manage(empty, "restore", str(backup)).stderr
    )


def test_a_restored_backup_holds_nobody_erased_since(
    world: World, installation: dict[str, str], empty: dict[str, str], tmp_path: Path
) -> None:
    backup, journal = tmp_path / "coverdict.zip", tmp_path / "erasures.jsonl"
    assert manage(installation, "backup", str(backup)).returncode == 0
    erased = manage(installation | {"COVERDICT_ERASURES": str(journal)}, "erase_person", "rex")
    assert erased.returncode == 0, erased.stderr
    names = (
        "from django.contrib.auth.models import User; print(*User.objects.values_list('username', flat=True))"
    )

    restored = empty | {"COVERDICT_ERASURES": str(journal)}
    done = manage(restored, "restore", str(backup))
    assert done.returncode == 0, done.stderr
    there = manage(restored, "shell", "-c", names).stdout.split()
    assert {"mona", "ana"} < set(there)
    assert "rex" not in there
    assert sum(name.startswith("erased-") for name in there) == 1


@pytest.mark.django_db(transaction=True)
def test_what_is_no_sound_backup_is_refused(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}")
    # Other tests leave exports behind.
    monkeypatch.setattr("annotation.backups.kept_folder", lambda: tmp_path / "kept")
    backup = tmp_path / "coverdict.zip"
    write_backup(backup)
    whole = backup.read_bytes()
    with zipfile.ZipFile(backup) as source:
        held = {name: source.read(name) for name in source.namelist()}
    manifest = json.loads(held[MANIFEST])
    (dump,) = (name for name in held if name.startswith("database"))

    def refused(changed: dict[str, bytes | None]) -> str:
        with zipfile.ZipFile(backup, "w") as target:
            for name, content in (held | changed).items():
                if content is not None:
                    target.writestr(name, content)
        with pytest.raises(BackupError) as refusal:
            restore_backup(backup)
        return str(refusal.value)

    def with_manifest(**changed: object) -> dict[str, bytes | None]:
        return {MANIFEST: json.dumps(manifest | changed).encode()}

    # All is looked at before the database, which is not empty here.
    assert f"The database {connection.settings_dict['NAME']}" in (told := refused({}))
    assert " already contains tables." in told
    flipped = bytearray(held[dump])
    flipped[len(flipped) // 2] ^= 1
    assert "its SHA-256 differs" in refused({dump: bytes(flipped)})
    assert f"does not hold what its manifest.json lists: {dump}" in refused({dump: None})
    assert "is not a Coverdict backup" in refused({MANIFEST: None})
    assert "is not a Coverdict backup" in refused({MANIFEST: b"[1]"})
    assert "does not know annotation.9999" in refused(with_manifest(migrations={"annotation": "9999_later"}))
    assert "in a form that version" in refused(with_manifest(format=2))
    stray = manifest["files"] | {"../stray": "0" * 64}
    assert "which no backup has" in refused({"../stray": b"x"} | with_manifest(files=stray))
    other = "sqlite" if connection.vendor == "postgresql" else "postgresql"
    moved = {{"sqlite": "database.sqlite3", "postgresql": "database.dump"}[other]: manifest["files"][dump]}
    mixed = {dump: None, next(iter(moved)): held[dump]}
    assert f"The backup is of a {other} database" in refused(
        mixed | with_manifest(database=other, files=moved)
    )
    with zipfile.ZipFile(backup, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr(MANIFEST, held[MANIFEST])
        target.writestr(dump, held[dump])
    packed = bytearray(backup.read_bytes())
    # The first byte of its data: a kind of block that there is none of.
    packed[packed.index(dump.encode()) + len(dump)] = 0xFF
    backup.write_bytes(packed)
    with pytest.raises(BackupError, match="cannot be read as a backup"):
        restore_backup(backup)
    backup.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BackupError, match="cannot be read as a backup"):
        restore_backup(backup)


def test_a_program_that_fails_is_told_in_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = tmp_path / "pg_dump"
    failing.write_text("#!/bin/sh\npwd >&2; echo 'No space left on device' >&2; exit 1\n")
    failing.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    # Whoever may not enter this folder would be told of it first.
    with pytest.raises(BackupError, match=r"^pg_dump failed: /\nNo space left on device$"):
        run_on_database("pg_dump")


@pytest.mark.django_db(transaction=True)
def test_a_backup_that_cannot_be_noted_is_made_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: SettingsWrapper
) -> None:
    monkeypatch.setenv("PATH", f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}")
    settings.VAR_DIR = tmp_path / "gone"
    out, warned = StringIO(), StringIO()
    call_command("backup", str(tmp_path / "b.zip"), stdout=out, stderr=warned, skip_checks=True)
    assert out.getvalue().startswith("Wrote ")
    assert "last-backup.json could not be written (No such file or directory)" in warned.getvalue()


@pytest.mark.django_db(transaction=True)
def test_a_folder_keeps_the_newest_backups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: SettingsWrapper
) -> None:
    monkeypatch.setenv("PATH", f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}")
    settings.VAR_DIR = tmp_path
    folder = tmp_path / "backups"
    folder.mkdir()
    for day in (1, 2, 3):
        (folder / f"coverdict-2026-01-0{day}-000000.zip").touch()
    # What has another name was put there by somebody.
    (folder / "before-update.zip").touch()
    out = StringIO()
    call_command("backup", str(folder), keep=2, stdout=out, skip_checks=True)
    *others, newest = sorted(path.name for path in folder.iterdir())
    assert others == ["before-update.zip", "coverdict-2026-01-03-000000.zip"]
    assert zipfile.is_zipfile(folder / newest)
    assert json.loads((tmp_path / "last-backup.json").read_text())["file"] == newest
    assert out.getvalue().count("Removed ") == 2


@pytest.mark.django_db
@pytest.mark.parametrize(("name", "keep"), [("b.zip", 2), (".", 0)])
def test_what_to_keep_is_told_of_a_folder(tmp_path: Path, name: str, keep: int) -> None:
    with pytest.raises(CommandError, match="--keep takes a number from 1 on"):
        call_command("backup", str(tmp_path / name), keep=keep, skip_checks=True)
    assert not list(tmp_path.iterdir())


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(
        BackupError, match=r"pg_dump is not installed\. On Debian: apt install postgresql-client"
    ):
        run_on_database("pg_dump")
