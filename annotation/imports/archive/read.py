"""An archive as a file: is it whole, is it as it was written, and what stands in its lines."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from annotation.exports.archive.kinds import FORMAT, KINDS, MANIFEST, PEOPLE, README, VERSION
from annotation.imports.formats import MAX_LINE_BYTES
from annotation.imports.packages import DAMAGED_ZIP
from annotation.imports.planned import ImportCounts
from annotation.imports.problems import ImportRefused, unreadable

_BYTES_AT_ONCE = 1024 * 1024
_MOST_MANIFEST_BYTES = 1024 * 1024
_HEAD_BYTES = 100
_ZIP = b"PK\x03\x04"
_FIRST = KINDS[0].file.encode()
"""The name of an archive's first file, which stands at the beginning of the zip."""
_FILES = {
    README,
    *(file for kind in KINDS for file in (kind.file, kind.schema_file)),
    f"{PEOPLE}.jsonl",
    f"schemas/{PEOPLE}.schema.json",
}
_MOST_SWOLLEN = 500
"""Rows hold random ids, so that they never pack as closely as what is made to fill a disk or a day."""


class ArchiveLine(NamedTuple):
    number: int
    row: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Archive:
    """An open archive whose files are all there and as its manifest says."""

    path: Path
    manifest: dict[str, Any]
    packed: zipfile.ZipFile

    @property
    def version(self) -> int:
        version: int = self.manifest["version"]
        return version

    def lines(self, file: str) -> Iterator[ArchiveLine]:
        """The rows of a file, one at a time. Raises ImportRefused with file and line."""
        with _whole(file), self.packed.open(file) as stream:
            number = 0
            while line := stream.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(line) > MAX_LINE_BYTES:
                    raise unreadable("is longer than any line may be.", file=file, line=number)
                yield ArchiveLine(number, _row(line, file, number))


def is_archive(path: Path) -> bool:
    """Whether a file is a zip with an archive's manifest in it, of whichever version, or the beginning of one."""
    with path.open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
    if not head.startswith(_ZIP):
        return False
    if _FIRST in head:
        return True
    try:
        with zipfile.ZipFile(path) as packed:
            return FORMAT.encode() in _read_manifest(packed)
    except (*DAMAGED_ZIP, KeyError, ValueError):
        return False


def rows_by_kind(archive: Archive) -> ImportCounts:
    """The rows of an archive as an import counts them."""
    counts = ImportCounts()
    rows = {each["file"]: each.get("rows", 0) for each in archive.manifest["files"]}
    for kind, count in counts.by_kind.items():
        count.created = rows.get(f"{kind}.jsonl", 0)
    for line in archive.lines("summaries.jsonl"):
        counts.model_summaries.created += bool(line.row.get("is_model"))
        counts.peer_summaries.created += bool(line.row.get("is_peer"))
    return counts


@contextmanager
def open_archive(path: Path, *, name: str) -> Iterator[Archive]:
    """The archive, once every file in it was found to be as it was written.

    Raises ImportRefused, with the file that is meant, for what is no archive, is cut, edited or of a newer version.
    """
    try:
        packed = zipfile.ZipFile(path)
    except DAMAGED_ZIP as error:
        raise unreadable(
            "is no whole zip file: it is cut short or damaged. Fetch the archive again.", file=name
        ) from error
    with packed:
        manifest = _manifest(packed, name)
        _check_files(packed, manifest)
        yield Archive(path, manifest, packed)


def _manifest(packed: zipfile.ZipFile, name: str) -> dict[str, Any]:
    try:
        with _whole(MANIFEST):
            found = json.loads(_read_manifest(packed))
    except KeyError as error:
        raise unreadable(f"has no {MANIFEST}: it is no archive of Coverdict.", file=name) from error
    except ValueError as error:
        raise unreadable("is not JSON. Fetch the archive again.", file=MANIFEST) from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise unreadable(f"does not say that this is an archive (format {FORMAT}).", file=MANIFEST)
    version = found.get("version")
    if not isinstance(version, int) or version < 1:
        raise unreadable("names no version.", file=MANIFEST, column="version")
    if version > VERSION:
        raise unreadable(
            f"The archive is of version {version}, written by Coverdict {found.get('product_version')}; this "
            f"installation reads versions up to {VERSION}. Restore it with a newer Coverdict.",
            file=MANIFEST,
            column="version",
        )
    return found


def _check_files(packed: zipfile.ZipFile, manifest: dict[str, Any]) -> None:
    """Every file is listed, there, and has the size and checksum that it was written with."""
    listed = manifest.get("files")
    if not isinstance(listed, list) or not all(
        isinstance(each, dict) and isinstance(each.get("file"), str) for each in listed
    ):
        raise unreadable("lists no files.", file=MANIFEST, column="files")
    by_name = {each["file"]: each for each in listed}
    names = Counter(packed.namelist())
    needed = [kind.file for kind in KINDS if kind.since <= manifest["version"]]
    for file in (*by_name, *needed, f"{PEOPLE}.jsonl"):
        if file not in names:
            raise unreadable("is missing. Fetch the archive again.", file=file)
    for info in packed.infolist():
        _check_place(info, by_name, names)
    for file, told in by_name.items():
        digest, rows = _digest(packed, file)
        if digest != told.get("sha256"):
            raise unreadable(
                f"has another SHA-256 than {MANIFEST} says: it was edited or damaged. Fetch the archive again.",
                file=file,
            )
        if told.get("rows", rows) != rows:
            raise unreadable(f"has {rows} rows and not as many as {MANIFEST} says.", file=file)


def _check_place(
    info: zipfile.ZipInfo, by_name: Mapping[str, Mapping[str, Any]], names: Mapping[str, int]
) -> None:
    """A file belongs to an archive and is as large as it was: nothing swells that is not one."""
    file = info.filename
    if names[file] > 1:
        raise unreadable("stands in the archive twice.", file=file)
    if file == MANIFEST:
        return
    if file not in by_name:
        raise unreadable(f"is not in {MANIFEST}: it was added later.", file=file)
    if file not in _FILES:
        raise unreadable("is no file of an archive.", file=file)
    if info.file_size != by_name[file].get("bytes"):
        raise unreadable(
            f"has {info.file_size} bytes, and not as many as {MANIFEST} says: it was edited or damaged. "
            "Fetch the archive again.",
            file=file,
        )
    if info.file_size > _MOST_SWOLLEN * max(info.compress_size, _BYTES_AT_ONCE):
        raise unreadable(
            f"swells to more than {_MOST_SWOLLEN} times its size, as no file of an archive does.", file=file
        )


def _digest(packed: zipfile.ZipFile, file: str) -> tuple[str, int]:
    digest, rows = hashlib.sha256(), 0
    with _whole(file), packed.open(file) as stream:
        while part := stream.read(_BYTES_AT_ONCE):
            digest.update(part)
            rows += part.count(b"\n")
    return digest.hexdigest(), rows


def _read_manifest(packed: zipfile.ZipFile) -> bytes:
    with packed.open(MANIFEST) as stream:
        return stream.read(_MOST_MANIFEST_BYTES)


@contextmanager
def _whole(file: str) -> Iterator[None]:
    try:
        yield
    except ImportRefused:
        raise
    except DAMAGED_ZIP as error:
        raise unreadable("is damaged in the archive. Fetch the archive again.", file=file) from error


def _row(line: bytes, file: str, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise unreadable("is not JSON.", file=file, line=number) from error
    if not isinstance(row, dict):
        raise unreadable("is not a JSON object.", file=file, line=number)
    return row


def _no_number(word: str) -> None:
    raise ValueError(word)
