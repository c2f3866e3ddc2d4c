"""One export, written: the rows of a level in a format, or all levels in a zip, and the manifest beside."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from django.db import connection, transaction

from annotation.core.tables.formats import writer
from annotation.exports.atomic_file import atomic_file, member_of_zip
from annotation.exports.levels import BUNDLE, LEVELS
from annotation.exports.manifest import Manifest, about, about_columns
from annotation.exports.progress import ExportProgress

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

MANIFEST_SUFFIX = ".manifest.json"
MANIFEST_IN_BUNDLE = "manifest.json"


def manifest_path(path: Path) -> Path:
    return path.with_name(path.name + MANIFEST_SUFFIX)


def write_file(
    *,
    project: Project,
    people: People,
    level: str,
    format_name: str,
    path: Path,
    progress: ExportProgress | None = None,
) -> Manifest:
    """Write the file and its manifest; returns the manifest. The same data give the same bytes: the manifest beside the
    file alone holds when it was made.

    The memory it takes does not grow with the rows, nor does the number of queries for each batch
    of them. Both files appear when they are whole.
    """
    progress = progress or ExportProgress()
    with snapshot():
        made = about(project=project, people=people, level=level, format_name=format_name)
        with atomic_file(path, progress.step) as stream:
            if level == BUNDLE:
                made["members"] = _write_bundle(made, project, people, stream, progress, beside=path)
                made["rows"] = sum(member["rows"] for member in made["members"])
            else:
                made["columns"] = about_columns(level)
                made["rows"] = _write_level(level, format_name, project, people, stream, progress)
    made |= _fingerprint(path)
    with atomic_file(manifest_path(path)) as stream:
        stream.write(_as_json(made))
    return made


def _write_level(
    level: str,
    format_name: str,
    project: Project,
    people: People,
    stream: BinaryIO,
    progress: ExportProgress,
    **part: int,
) -> int:
    chosen = LEVELS[level]
    sets = project.document_sets.count()
    rows = progress.counted(chosen.rows(project, people), sets=sets, **part)
    return writer(format_name)(rows, chosen.columns, stream)


def _write_bundle(
    made: Manifest,
    project: Project,
    people: People,
    stream: BinaryIO,
    progress: ExportProgress,
    *,
    beside: Path,
) -> list[Manifest]:
    """Write every level into a zip, with a manifest of all of them; returns what each member is."""
    members: list[Manifest] = []
    # On the file system of the target: there is room for the bundle, perhaps not for it in memory.
    with (
        tempfile.TemporaryDirectory(dir=beside.parent, prefix=f".{beside.name[:100]}.") as folder,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as bundle,
    ):
        for part, level in enumerate(LEVELS):
            member = Path(folder) / f"{level}.{made['format']}"
            with atomic_file(member, progress.step) as out:
                rows = _write_level(
                    level, made["format"], project, people, out, progress, part=part, parts=len(LEVELS)
                )
            members.append(
                {"level": level, "columns": about_columns(level), "rows": rows, **_fingerprint(member)}
            )
            with (
                member.open("rb") as source,
                bundle.open(member_of_zip(member.name), "w", force_zip64=True) as packed,
            ):
                shutil.copyfileobj(source, packed)
            member.unlink()
        timeless = {name: value for name, value in made.items() if name != "created_at"}
        bundle.writestr(member_of_zip(MANIFEST_IN_BUNDLE), _as_json({**timeless, "members": members}))
    return members


def _fingerprint(path: Path) -> Manifest:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"file": path.name, "bytes": path.stat().st_size, "sha256": digest}


def _as_json(manifest: Manifest) -> bytes:
    return (json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


@contextmanager
def snapshot() -> Iterator[None]:
    """Read from one snapshot of the database, without any lock that a writer would wait for.

    Inside a transaction of the caller's it is that transaction that decides what is seen.
    """
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "sqlite":
        with _deferred():
            yield
    else:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield


@contextmanager
def _deferred() -> Iterator[None]:
    """Django's own transactions are opened for writing here (BEGIN IMMEDIATE) and would lock people out."""
    with connection.cursor() as cursor:
        cursor.execute("BEGIN DEFERRED")
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")
