"""A backup: one zip with the database, the files that rows name, and a manifest that tells what must be in it."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader

import annotation
from annotation.core.shared.kept_files import kept_folder
from annotation.imports.packages import DAMAGED_ZIP
from annotation.operator_commands import as_typed
from annotation.privacy.apply_erasures import ErasuresMade, apply_erasures
from annotation.privacy.journal import noted_erasures
from annotation.watching.queries import BACKUP_STAMP

MANIFEST = "manifest.json"
FORMAT = 1
FOLDERS = ("exports", "imports")
"""What rows name in the folder of kept files; object storage has backups of its own."""
_DUMPS = {"postgresql": "database.dump", "sqlite": "database.sqlite3"}
_BLOCK = 1024 * 1024


class BackupError(Exception):
    """A backup cannot be made or restored; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """What a backup is of, when it was made, by which version, and the SHA-256 of every file in it.

    `migrations` are the newest of each app: a version that does not know them must not restore it.
    """

    format: int
    version: str
    made_at: str
    database: str
    migrations: dict[str, str]
    files: dict[str, str]


def write_backup(path: Path) -> BackupManifest:
    """Write a backup of the whole installation while it runs. Raises BackupError; a file that is there stays."""
    if path.exists():
        raise BackupError(f"{path} exists already. Name another file; a backup does not overwrite files.")
    if not path.parent.is_dir():
        raise BackupError(f"The folder {path.parent} does not exist.")
    made_at = datetime.now(UTC).isoformat(timespec="seconds")
    # Beside the backup, where there is room for it: a copy of the database may be large. Nobody else may look inside.
    with TemporaryDirectory(prefix=f".{path.name[:100]}.", dir=path.parent) as folder:
        dump, part = (Path(folder).absolute() / name for name in (_DUMPS[connection.vendor], "backup.part"))
        _dump_database(dump)
        with zipfile.ZipFile(part, "x") as target:
            files = {name: _put(target, name, source) for name, source in _sources(dump)}
            manifest = BackupManifest(
                FORMAT, annotation.__version__, made_at, connection.vendor, _newest_migrations(), files
            )
            target.writestr(MANIFEST, json.dumps(asdict(manifest), indent=1))
        # It holds texts and the hashes of passwords.
        part.chmod(0o600)
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.rename(path)
    return manifest


def name_by_time() -> str:
    """The name of a backup that is made now: names are in the order of their times."""
    return f"coverdict-{datetime.now(UTC):%Y-%m-%d-%H%M%S}.zip"


def remove_older(folder: Path, *, keep: int) -> list[Path]:
    """Remove all but the newest backups that are named by their time; those that were removed."""
    dated = re.compile(r"coverdict-\d{4}-\d\d-\d\d-\d{6}\.zip")
    older = sorted(path for path in folder.iterdir() if dated.fullmatch(path.name))[:-keep]
    for path in older:
        path.unlink()
    return older


def note_backup(path: Path) -> None:
    """Write down that this backup was finished now, for the page Status and the figures."""
    stamp = {
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "file": path.name,
        "bytes": path.stat().st_size,
    }
    (Path(settings.VAR_DIR) / BACKUP_STAMP).write_text(json.dumps(stamp))


def restore_backup(path: Path) -> tuple[BackupManifest, ErasuresMade]:
    """Fill an empty installation from a backup, bring its tables up to date, and erase again what was erased since.

    Everything in the file is checked before anything is written, and the journal of erasures read. Files come first:
    where the disk is full, no database is left that holds erased people. Raises BackupError where the file is damaged
    or of a newer version, the journal cannot be read, or the database or the folders hold anything.
    """
    try:
        noted_erasures()
    except ValueError as error:
        raise BackupError(str(error)) from error
    with ExitStack() as until_filled:
        try:
            with zipfile.ZipFile(path) as source:
                manifest = _manifest(source)
                _check_files(source, manifest)
                _check_version(manifest)
                _check_emptiness(manifest)
                settings.VAR_DIR.mkdir(parents=True, exist_ok=True)
                folder = until_filled.enter_context(
                    TemporaryDirectory(prefix="coverdict-restore-", dir=settings.VAR_DIR)
                )
                until_filled.enter_context(_files_taken_back())
                dump = source.extract(_DUMPS[manifest.database], folder)
                for name in manifest.files:
                    if name.startswith(FOLDERS) and (root := kept_folder()) is not None:
                        source.extract(name, root)
        except DAMAGED_ZIP as error:
            # A damaged zip may lead to a place that no file has.
            if getattr(error, "errno", errno.EINVAL) != errno.EINVAL:
                raise
            raise BackupError(f"{path} cannot be read as a backup: {error}") from error
        _fill_database(Path(dump))
    call_command("migrate", interactive=False, verbosity=0)
    return manifest, apply_erasures()


# Writing


def _sources(dump: Path) -> Iterator[tuple[str, Path]]:
    """What goes into the zip, by its name there."""
    yield dump.name, dump
    if (root := kept_folder()) is None:
        return
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file():
                yield path.relative_to(root).as_posix(), path


def _put(target: zipfile.ZipFile, name: str, source: Path) -> str:
    """Store the file and return its SHA-256."""
    # What comes out of pg_dump is compressed; the rest is worth it.
    packed = zipfile.ZIP_STORED if name == _DUMPS["postgresql"] else zipfile.ZIP_DEFLATED
    info = zipfile.ZipInfo.from_file(source, name)
    info.compress_type = packed
    with source.open("rb") as stream, target.open(info, "w", force_zip64=True) as stored:
        return _copied(stream, stored)


def _copied(source: IO[bytes], target: IO[bytes] | None = None) -> str:
    found = hashlib.sha256()
    while block := source.read(_BLOCK):
        found.update(block)
        if target is not None:
            target.write(block)
    return found.hexdigest()


def _dump_database(path: Path) -> None:
    """One consistent state of the database, without holding up whoever works."""
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(connection.settings_dict["NAME"])) as database:
            database.execute("VACUUM INTO ?", [str(path)])
        return
    run_on_database("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={path}")


def _newest_migrations() -> dict[str, str]:
    loader = MigrationLoader(connection)
    applied = dict(sorted(loader.applied_migrations or {}))
    return {app: name for app, name in applied.items() if app in loader.migrated_apps}


# Restoring


def _manifest(source: zipfile.ZipFile) -> BackupManifest:
    try:
        read: dict[str, Any] = json.loads(source.read(MANIFEST))
        manifest = BackupManifest(**read)
    except (KeyError, ValueError, TypeError) as error:
        raise BackupError(f"{source.filename} is not a Coverdict backup: it has no {MANIFEST}.") from error
    if manifest.format > FORMAT:
        raise BackupError(
            f"{source.filename} was made by version {manifest.version}, in a form that version "
            f"{annotation.__version__} does not read. Install that version first."
        )
    return manifest


def _check_files(source: zipfile.ZipFile, manifest: BackupManifest) -> None:
    held = set(source.namelist()) - {MANIFEST}
    if held != set(manifest.files):
        missing = ", ".join(sorted(set(manifest.files) ^ held)[:3])
        raise BackupError(f"{source.filename} does not hold what its {MANIFEST} lists: {missing}.")
    for name, expected in manifest.files.items():
        if name != _DUMPS.get(manifest.database) and not name.startswith(
            tuple(f"{each}/" for each in FOLDERS)
        ):
            raise BackupError(f"{source.filename} holds {name}, which no backup has.")
        with source.open(name) as stream:
            if _copied(stream) != expected:
                raise BackupError(
                    f"{name} in {source.filename} does not match the backup: its SHA-256 differs."
                )


def _check_version(manifest: BackupManifest) -> None:
    known = MigrationLoader(None).disk_migrations
    newer = [f"{app}.{name}" for app, name in manifest.migrations.items() if (app, name) not in known]
    if newer:
        raise BackupError(
            f"The backup was made by version {manifest.version}, and this is {annotation.__version__}, which does not "
            f"know {newer[0]}. Install that version or a newer one first."
        )


def _check_emptiness(manifest: BackupManifest) -> None:
    if manifest.database != connection.vendor:
        raise BackupError(
            f"The backup is of a {manifest.database} database, and DATABASE_URL names a {connection.vendor} one. "
            "Restore it into its own kind. An archive takes a project from one kind to another: "
            f"{as_typed('export_dataset', 'PROJECT', '--level', 'archive', '-o', 'FILE')}"
        )
    if connection.introspection.table_names():
        database = connection.settings_dict
        place = f" on {database['HOST']}" if database["HOST"] else ""
        raise BackupError(
            f"The database {database['NAME']}{place} already contains tables. Restore into an empty one."
        )
    for folder in FOLDERS:
        held = (kept_folder() or Path(settings.VAR_DIR)) / folder
        if held.is_dir() and any(held.iterdir()):
            raise BackupError(f"{held} already contains files. Move them away first.")


@contextmanager
def _files_taken_back() -> Iterator[None]:
    """Where the block fails, the folders are as empty as they were, so that it can be tried again."""
    try:
        yield
    except BaseException:
        for folder in FOLDERS:
            shutil.rmtree((kept_folder() or Path(settings.VAR_DIR)) / folder, ignore_errors=True)
        raise


def _fill_database(dump: Path) -> None:
    if connection.vendor == "sqlite":
        path = Path(connection.settings_dict["NAME"])
        connection.close()
        for beside in ("-wal", "-shm"):
            path.with_name(path.name + beside).unlink(missing_ok=True)
        shutil.move(dump, path)
        return
    connection.close()
    name = str(connection.settings_dict["NAME"])
    run_on_database(
        "pg_restore", "--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error",
        f"--dbname={name}", str(dump),
    )  # fmt: skip


def run_on_database(program: str, *arguments: str) -> None:
    """Run a program of PostgreSQL's on the database of the settings; its password is on no command line."""
    found = shutil.which(program)
    if found is None:
        raise BackupError(f"{program} is not installed. On Debian: apt install postgresql-client.")
    # In a folder that every user can enter: else they complain of this one's first.
    done = subprocess.run(
        [found, "--no-password", *arguments],
        cwd="/",
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BackupError(f"{program} failed: {done.stderr.strip() or f'it ended with {done.returncode}'}")


def _environment() -> Mapping[str, str]:
    """This process's own, with what libpq reads of the database."""
    database = connection.settings_dict
    named = {
        "PGHOST": database["HOST"],
        "PGPORT": database["PORT"],
        "PGUSER": database["USER"],
        "PGPASSWORD": database["PASSWORD"],
        "PGDATABASE": database["NAME"],
        "PGSSLMODE": database["OPTIONS"].get("sslmode"),
        "PGSSLROOTCERT": database["OPTIONS"].get("sslrootcert"),
    }
    return {**os.environ, **{name: str(value) for name, value in named.items() if value}}
