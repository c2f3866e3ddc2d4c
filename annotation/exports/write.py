"""One export, written: the rows of a level in a format, or all levels in a zip, and the manifest beside."""

from __future__ import annotations

import hashlib
import json
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from django.db import connection, transaction

from annotation.core.tables.formats import writer
from annotation.exports.atomic_file import atomic_file
from annotation.exports.levels import BUNDLE, LEVELS, OWN_FORMATS
from annotation.exports.manifest import Manifest, about, about_columns

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

MANIFEST_SUFFIX = ".manifest.json"
MANIFEST_IN_BUNDLE = "manifest.json"


def manifest_path(path: Path) -> Path:
    return path.with_name(path.name + MANIFEST_SUFFIX)


def write_file(*, project: Project, people: People, level: str, format_name: str, path: Path) -> Manifest:
    """Write the file and its manifest; returns the manifest.

    The memory it takes does not grow with the rows, nor does the number of queries for each batch
    of them. Both files appear when they are whole.
    """
    with snapshot():
        made = about(project=project, people=people, level=level, format_name=format_name)
        with atomic_file(path) as stream:
            if level in OWN_FORMATS:
                written = OWN_FORMATS[level].write(project, people, stream)
                made |= {
                    "rows": written.rows,
                    "left_out": written.left_out.told(),
                    "renamed": written.renamed,
                }
            elif level == BUNDLE:
                made["members"] = _write_bundle(made, project, people, stream, beside=path)
                made["rows"] = sum(member["rows"] for member in made["members"])
            else:
                made["columns"] = about_columns(level)
                made["rows"] = _write_level(level, format_name, project, people, stream)
    made |= _fingerprint(path)
    with atomic_file(manifest_path(path)) as stream:
        stream.write(_as_json(made))
    return made


def _write_level(level: str, format_name: str, project: Project, people: People, stream: BinaryIO) -> int:
    chosen = LEVELS[level]
    return writer(format_name)(chosen.rows(project, people), chosen.columns, stream)


def _write_bundle(
    made: Manifest, project: Project, people: People, stream: BinaryIO, *, beside: Path
) -> list[Manifest]:
    """Write every level into a zip, with a manifest of all of them; returns what each member is."""
    members: list[Manifest] = []
    # On the file system of the target: there is room for the bundle, perhaps not for it in memory.
    with (
        tempfile.TemporaryDirectory(dir=beside.parent, prefix=f".{beside.name[:100]}.") as folder,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as bundle,
    ):
        for level in LEVELS:
            member = Path(folder) / f"{level}.{made['format']}"
            with member.open("wb") as out:
                rows = _write_level(level, made["format"], project, people, out)
            members.append(
                {"level": level, "columns": about_columns(level), "rows": rows, **_fingerprint(member)}
            )
            bundle.write(member, member.name)
            member.unlink()
        bundle.writestr(MANIFEST_IN_BUNDLE, _as_json({**made, "members": members}))
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
