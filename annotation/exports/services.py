"""Export a project's data: at once to a path, or by a worker to a file for download."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction

from annotation.analysis.leaderboard.table import SYSTEMS_LEVEL
from annotation.analysis.slices.split import chosen_split, splits
from annotation.core.events import log
from annotation.core.jobs import OPEN, Claimed, Lease, StoppedJob, cancel, enqueue, finish, hold
from annotation.core.permissions import Verb, require, roles_in
from annotation.core.refusals import Conflict, Invalid, NotAllowed, NotFound
from annotation.core.shared.kept_files import forget, keep, opened
from annotation.core.tables.formats import FORMAT_NAMES
from annotation.core.tables.pseudonyms import People
from annotation.exports.levels import BUNDLE, LEVEL_NAMES, NESTED, PAIRS
from annotation.exports.pairs import MARGIN, SCORE, pair_options
from annotation.exports.write import OPTIONS, Manifest, as_json, write_file
from annotation.models import Export, Job, Role, Summary

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.core.files import File

    from annotation.models import Project

EXPORT_CONTENT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
    "zip": "application/zip",
}


def write_export(
    *,
    project: Project,
    level: str,
    path: Path,
    by: User | None,
    named_people: bool = False,
    plain: bool = False,
    **choices: Any,
) -> Manifest:
    """Write one level, or the bundle of all tables, to `path`, and its manifest beside it. Return the manifest.

    `plain` leaves texts of a CSV unchanged, even if a spreadsheet would run them as formulas. `by` is None for the
    operator at the shell. `choices` are the `format`, the options `score` and `margin` of the level `pairs`, and `key`
    of the level `systems`. Raises Invalid for unusable choices and for an unusable path. Raises NotAllowed if `by` may
    not export, or requests names without being an owner.
    """
    _authorise(project, by, named_people=named_people)
    format_name, options = _checked(project, level, **choices)
    if path.is_dir() or not path.name or not path.parent.is_dir():
        raise Invalid(f"No file can be put at {path}. Name a file in a folder that exists.", field="path")
    people = People(project, named=named_people)
    with TemporaryDirectory(dir=path.parent, prefix=".coverdict-") as folder:
        whole = Path(folder) / path.name
        asked: Any = {"level": level, "format_name": format_name, "plain": plain, "options": options}
        manifest = write_file(project=project, people=people, path=whole, **asked)
        whole.replace(path)
    manifest_path(path).write_text(as_json(manifest), encoding="utf-8")
    log(project=project, actor=by, verb="export", target=project, data=_summary(manifest))
    return manifest


def manifest_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.manifest.json")


@transaction.atomic
def request_export(
    *,
    project: Project,
    level: str,
    by: User | None,
    named_people: bool = False,
    **choices: Any,
) -> Export:
    """Queue an export for a worker.

    Raises Invalid for unusable choices. Raises NotAllowed if `by` may not export, or requests names without being an
    owner.
    """
    _authorise(project, by, named_people=named_people)
    format_name, options = _checked(project, level, **choices)
    asked = {"level": level, "format": format_name, "named_people": named_people}
    size = Summary.objects.filter(document_set__project=project).count()
    job = Job.objects.create(kind=Job.Kind.EXPORT, project=project, total=size)
    manifest = {OPTIONS: options} if options else {}
    export = Export.objects.create(project=project, requested_by=by, job=job, manifest=manifest, **asked)
    log(project=project, actor=by, verb="request export", target=export, data=asked | options)
    enqueue([job])
    return export


@transaction.atomic
def cancel_export(*, export: Export, by: User | None) -> Export:
    """Cancel an export. Raises Conflict (code `over`) if it has ended."""
    require(by, export.project, Verb.EXPORT)
    if not cancel(Job.objects.filter(export=export)):
        raise Conflict("This export has ended.", code="over")
    log(project=export.project, actor=by, verb="cancel export", target=export)
    export.job.refresh_from_db()
    return export


def perform(claimed: Claimed, lease: Lease) -> None:
    """Write a requested export. Raises StoppedJob if it was cancelled or if another worker has it."""

    def step(rows: int) -> None:
        lease.progress["done"] = lease.progress.get("done", 0) + rows
        lease.require()

    export = claimed.job.export
    project, by, name = export.project, export.requested_by, _file_of(export)
    # Check the permission again, because the person may have lost the role since the request.
    _authorise(project, by, named_people=export.named_people)
    scratch = Path(settings.VAR_DIR) / "tmp"
    scratch.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=scratch) as folder:
        path, people = Path(folder) / name.name, People(project, named=export.named_people)
        asked: Any = {"level": export.level, "format_name": export.format, "path": path}
        options = export.manifest.get(OPTIONS, {})
        manifest = write_file(project=project, people=people, options=options, step=step, **asked)
        # A worker that has lost the job must not replace the file of the worker that has it now.
        with transaction.atomic():
            if not hold([claimed]):
                raise StoppedJob
        keep(str(name), path, moved=True)
    with transaction.atomic():
        if not finish(claimed, progress={"done": manifest["rows"]}):
            # After a lost lease, the stored file may be another worker's.
            if Job.objects.filter(pk=claimed.job.pk, state=Job.State.CANCELLED).exists():
                remove_file(export)
            raise StoppedJob
        export.path, export.manifest = f"{export.public_id}/{name.name}", manifest
        export.save(update_fields=["path", "manifest"])
        log(project=project, actor=by, verb="export", target=export, data=_summary(manifest))


def open_export(export: Export, *, by: User | None) -> tuple[File[bytes], str]:
    """Open the file of a finished export. Return the stream, which the caller must close, and the file's name.

    Raises NotFound (code `gone`) if the file was removed, and Conflict (code `unfinished`, or `over` if the export
    failed or was cancelled). Raises NotAllowed for the same reasons as `write_export`.
    """
    _authorise(export.project, by, named_people=export.named_people)
    manifest_of(export)
    name = _file_of(export)
    try:
        return opened(str(name)), name.name
    except FileNotFoundError as error:
        raise NotFound("This export's file has been removed. Export again.", code="gone") from error


def remove_file(export: Export) -> None:
    """Delete the stored file of an export; its row and manifest stay."""
    forget(f"exports/{export.public_id}")
    Export.objects.filter(pk=export.pk).update(path="")


def manifest_of(export: Export) -> Manifest:
    """Return the manifest of a finished export. Raises Conflict (code `unfinished` or `over`) for other exports."""
    state, made = export.job.state, export.manifest
    if state in OPEN:
        raise Conflict("This export is still being written. Try again in a moment.", code="unfinished")
    if state != Job.State.DONE:
        raise Conflict(f"This export has no file: it is {state}. Export again.", code="over")
    return dict(made)


def _authorise(project: Project, by: User | None, *, named_people: bool) -> None:
    require(by, project, Verb.EXPORT)
    if named_people and by is not None and Role.OWNER not in roles_in(by, project):
        told = f"Only an owner of {project.name} may export people's names. Without names, the export uses"
        raise NotAllowed(f"{told} stable pseudonyms.", code="names_for_owners")


def _checked(
    project: Project,
    level: str,
    *,
    format: str,  # noqa: A002 - the word that the command line, the API and the row use
    score: str = SCORE,
    margin: float | str = MARGIN,
    key: str = "",
) -> tuple[str, dict[str, Any]]:
    if level not in LEVEL_NAMES:
        raise Invalid(f"There is no level {level!r}. Take one of {', '.join(LEVEL_NAMES)}.", field="level")
    names = ("jsonl",) if level == NESTED else FORMAT_NAMES
    if format not in names:
        raise Invalid(f"{level} has no format {format!r}. Take {' or '.join(names)}.", field="format")
    if key and level != SYSTEMS_LEVEL.name:
        raise Invalid(f"The level {level} has no slices. Take {SYSTEMS_LEVEL.name}.", field="key")
    if level == PAIRS:
        return format, pair_options(project, score, margin)
    if key:
        chosen_split(splits(project), key)
    return format, {"key": key} if key else {}


def _file_of(export: Export) -> PurePosixPath:
    suffix = "zip" if export.level == BUNDLE else export.format
    return PurePosixPath("exports", export.public_id, f"{export.project.slug}-{export.level}.{suffix}")


def _summary(manifest: Manifest) -> dict[str, object]:
    return {name: manifest[name] for name in ("level", "format", "people", "file", "rows", "sha256")}
