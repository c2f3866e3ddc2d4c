"""One export, written: the rows of a level in a format, or all levels in a zip."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from django.db import connection, transaction

from annotation.core.tables.formats import writer
from annotation.exports.levels import BUNDLE, LEVELS, TABLES
from annotation.exports.manifest import Manifest, about, about_columns

if TYPE_CHECKING:
    from annotation.core.tables.columns import TableRow
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

ROWS_A_STEP = 100

Step = Callable[[int], None]
"""Called with the number of rows that were written since the call before; what it raises ends the export."""


def write_file(
    *,
    project: Project,
    people: People,
    level: str,
    format_name: str,
    path: Path,
    plain: bool = False,
    step: Step = lambda rows: None,
) -> Manifest:
    """Write the file; returns its manifest. The same data give the same bytes.

    `plain` leaves texts of a CSV as they are, even those that a spreadsheet would run as formulas.

    The memory it takes does not grow with the rows, nor does the number of queries for each batch of them.
    """
    with snapshot():
        made = about(project=project, people=people, level=level, format_name=format_name, plain=plain)

        def write_level(name: str, stream: BinaryIO) -> Manifest:
            chosen, write = LEVELS[name], writer(format_name, plain=plain)
            rows = write(_stepped(chosen.rows(project, people), step), chosen.columns, stream)
            return {"columns": about_columns(name), "rows": rows}

        with path.open("wb") as stream:
            if level == BUNDLE:
                made["members"] = _write_bundle(made, write_level, stream, beside=path)
                made["rows"] = sum(member["rows"] for member in made["members"])
            else:
                made |= write_level(level, stream)
    return made | _fingerprint(path)


def as_json(manifest: Manifest) -> str:
    return json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _stepped(rows: Iterable[TableRow], step: Step) -> Iterator[TableRow]:
    count = 0
    for row in rows:
        yield row
        count += 1
        if count == ROWS_A_STEP:
            step(count)
            count = 0
    step(count)


def _write_bundle(
    made: Manifest, write_level: Callable[[str, BinaryIO], Manifest], stream: BinaryIO, *, beside: Path
) -> list[Manifest]:
    """Write every table into a zip, with a manifest of all of them; returns that of each member."""
    members: list[Manifest] = []
    # On the file system of the target: there is room for the bundle, perhaps not for it in memory.
    with (
        tempfile.TemporaryDirectory(dir=beside.parent) as folder,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as bundle,
    ):
        for level in TABLES:
            member = Path(folder) / f"{level}.{made['format']}"
            with member.open("wb") as out:
                written = write_level(level, out)
            members.append({"level": level, **written, **_fingerprint(member)})
            with (
                member.open("rb") as source,
                bundle.open(_timeless(member.name), "w", force_zip64=True) as packed,
            ):
                shutil.copyfileobj(source, packed)
            member.unlink()
        told = {name: value for name, value in made.items() if name != "created_at"}
        bundle.writestr(_timeless("manifest.json"), as_json({**told, "members": members}))
    return members


def _timeless(name: str) -> zipfile.ZipInfo:
    """A compressed member without a time: the same whenever the same is written."""
    member = zipfile.ZipInfo(name)
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def _fingerprint(path: Path) -> Manifest:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"file": path.name, "bytes": path.stat().st_size, "sha256": digest}


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
