"""What the tests of archives share: an archive of a project, its files, and two projects compared row by row."""

from __future__ import annotations

import hashlib
import json
import zipfile
from typing import TYPE_CHECKING, Any

from annotation.assessing.services.save_acts import judge_unit
from annotation.core.tables.pseudonyms import People, pseudonym
from annotation.exports.levels import LEVELS
from annotation.exports.services import write_export
from annotation.exports.write import write_file
from annotation.imports.archive.cells import Ids
from annotation.models import ImportedPerson, Sitting
from annotation.scoring.rescore import rescore
from tests.annotation.admin.rows import fill
from tests.annotation.cast import World, finish

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from annotation.models import Project

Row = dict[str, Any]
MANIFEST = "manifest.json"


def filled(world: World) -> World:
    """The project with a row of nearly every kind, submitted percents among them."""
    fill(world)
    sitting = Sitting.objects.get()
    for assignment in sitting.assignments.all():
        for unit in world.units("bridge"):
            judge_unit(assignment=assignment, by=world.ana, unit_id=unit.public_id, percent=60)
    finish(sitting)
    world.project.licence, world.project.provenance = "CC-BY-4.0", "Made up for tests."
    world.project.save()
    # Some of these rows were written past the services.
    rescore(project=world.project)
    return world


def archived(project: Project, path: Path, **changes: bool) -> Path:
    write_export(project=project, level="archive", path=path, by=None, **changes)
    return path


def files_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def rows_in(path: Path, kind: str) -> list[Row]:
    return [json.loads(line) for line in files_of(path)[f"{kind}.jsonl"].splitlines()]


def packed_again(path: Path, files: Mapping[str, bytes], *, signed: bool) -> Path:
    """The archive with these files; where `signed`, with checksums as somebody would write who edits with care."""
    files = dict(files)
    if signed:
        manifest = json.loads(files[MANIFEST])
        for each in manifest["files"]:
            content = files[each["file"]]
            each |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            if "rows" in each:
                each["rows"] = content.count(b"\n")
        files[MANIFEST] = json.dumps(manifest).encode()
    made = path.with_name("edited.zip")
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return made


def with_row(path: Path, kind: str, number: int, **changes: Any) -> Path:
    """The archive with fields of one line (from 1) changed, and the checksum with it."""
    files = files_of(path)
    lines = files[f"{kind}.jsonl"].splitlines()
    lines[number - 1] = json.dumps({**json.loads(lines[number - 1]), **changes}).encode()
    files[f"{kind}.jsonl"] = b"".join(line + b"\n" for line in lines)
    return packed_again(path, files, signed=True)


def exported(project: Project, level: str, folder: Path) -> list[Row]:
    path = folder / f"{project.slug}-{level}.jsonl"
    write_file(project=project, people=People(project), level=level, format_name="jsonl", path=path)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def names_after(project: Project) -> dict[str, str]:
    """By the name in the archive, the pseudonym in exports of the restored project."""
    rows = ImportedPerson.objects.filter(project=project)
    return {row.name: pseudonym(project, row.user_id) for row in rows}


def same_rows(
    before: Project,
    after: Project,
    folder: Path,
    *,
    through: Sequence[str] = (),
    people: Mapping[str, str] | None = None,
) -> None:
    """Every row of every level says the same once slug, ids and pseudonyms are mapped.

    `through` are ids of the projects that it was restored as before; `people` maps pseudonyms then.
    """
    people = names_after(after) if people is None else people

    def renamed(value: str) -> str:
        for project in (*through, after.public_id):
            value = Ids(project).inside(value)
        return value

    def mapped(value: Any) -> Any:
        if isinstance(value, list):
            return [mapped(each) for each in value]
        return people.get(value, value) if isinstance(value, str) else value

    for level in LEVELS:
        wanted = exported(before, level, folder)
        for row in wanted:
            for name, value in row.items():
                if name in ("claim_id", "item"):
                    row[name] = value and ":".join(map(renamed, value.split(":")))
                else:
                    row[name] = mapped(value)
            row["project"] = after.slug
        came = exported(after, level, folder)
        assert len(came) == len(wanted) > 0, level
        odd = [pair for pair in zip(came, wanted, strict=True) if pair[0] != pair[1]]
        assert odd == [], f"{level}: {odd[:1]}"
