"""Level `archive`: a whole project in one zip, a JSONL file for each kind of rows, from which it can be restored."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, BinaryIO

import annotation
from annotation.exports.archive.card import data_card
from annotation.exports.archive.kinds import FORMAT, KINDS, MANIFEST, PEOPLE, README, VERSION
from annotation.exports.archive.names import Names
from annotation.exports.archive.rows import as_json, lines, rows_of
from annotation.exports.archive.schema import people_schema, schema_of
from annotation.exports.atomic_file import member_of_zip
from annotation.exports.duc.duc_files import LeftOut, OwnFormat, Written
from annotation.scoring.records import score_rules

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.exports.progress import ExportProgress
    from annotation.models import Project


def write(project: Project, people: People, stream: BinaryIO, progress: ExportProgress) -> Written:
    """Write the archive into a stream. The memory it takes does not grow with the rows."""
    names = Names(people)
    files: list[dict[str, Any]] = []
    progress.expected = sum(rows_of(kind, project).values("pk").count() for kind in KINDS)

    def together(batch: list[str]) -> str:
        progress.rows += len(batch)
        return "".join(f"{line}\n" for line in batch)

    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for kind in KINDS:
            of_kind = map(together, lines(kind, project, names))
            files.append(_add(archive, kind.file, of_kind, kind.what))
        named = together([as_json({"name": name}) for name in sorted(names.seen)])
        files.append(_add(archive, f"{PEOPLE}.jsonl", [named], people_schema()["title"]))
        files += [_add(archive, kind.schema_file, [_pretty(schema_of(kind))]) for kind in KINDS]
        files.append(_add(archive, f"schemas/{PEOPLE}.schema.json", [_pretty(people_schema())]))
        files.append(_add(archive, README, [data_card(project, people, files)]))
        made = {
            "format": FORMAT,
            "version": VERSION,
            "product": "coverdict",
            "product_version": annotation.__version__,
            "project": project.slug,
            "project_name": project.name,
            "people": "names" if people.named else "pseudonyms",
            "signature": score_rules(project).signature,
            "files": [{name: value for name, value in each.items() if name != "what"} for each in files],
        }
        _add(archive, MANIFEST, [_pretty(made)])
    return Written(rows=sum(each.get("rows", 0) for each in files), left_out=LeftOut(), renamed=[])


def _add(archive: zipfile.ZipFile, name: str, parts: Iterable[str], what: str = "") -> dict[str, Any]:
    """Write one file part by part; its name, size and checksum, and of rows their number."""
    digest, size, rows = hashlib.sha256(), 0, 0
    with archive.open(member_of_zip(name), "w", force_zip64=True) as out:
        for part in parts:
            content = part.encode()
            out.write(content)
            digest.update(content)
            size += len(content)
            rows += content.count(b"\n")
    about = {"file": name, "bytes": size, "sha256": digest.hexdigest()}
    return {**about, "rows": rows, "what": what} if what else about


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


FORMAT_OF_ARCHIVES = OwnFormat(level="archive", format="archive", suffix="zip", write=write)
