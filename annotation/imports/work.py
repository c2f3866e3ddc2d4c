"""Store uploaded files, and check or import them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from annotation.core import jobs
from annotation.core.events import log
from annotation.core.facts import read
from annotation.core.lists import Choices, Column, Kind, List
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Invalid, NotFound, Refusal
from annotation.core.shared.kept_files import at_hand, folders_in, forget, keep, size_of
from annotation.exports.services import remove_file
from annotation.imports.containers import NamedFile, is_parquet
from annotation.imports.layout import Layout
from annotation.imports.problems import ImportRefused, Problem
from annotation.imports.read import Progress
from annotation.imports.services import ImportReport, import_files
from annotation.models import Import, Job

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.models import Project

FOLDER = "imports"
"""The folder of uploads in the storage."""
KEPT_FOR = timedelta(hours=24)
"""The age at which uploads may be deleted."""
MOST_FILES = 100
"""The limit of files in one request."""


def staged(uploads: Sequence[Any], *, most_mb: int) -> tuple[NamedFile, ...]:
    """Return uploads as files, which exist until the request ends.

    Raises Invalid (field `files`) for too many files, and if they are larger than `most_mb` MB together.
    """
    files = tuple(NamedFile(one.name, Path(one.temporary_file_path())) for one in uploads)
    if len(files) > MOST_FILES or sum(file.path.stat().st_size for file in files) > most_mb * 1024**2:
        raise Invalid(f"Send at most {MOST_FILES} files and {most_mb} MB at once.", field="files")
    return files


def keep_upload(*, project: Project, files: Sequence[NamedFile], by: User | None) -> Import:
    """Store files, and return the import, which has no job yet."""
    require(by, project, Verb.IMPORT)
    drop_stale_uploads()
    asked = Import(project=project, files=[file.name for file in files], requested_by=by)
    try:
        for name, file in zip(_names_of(asked), files, strict=True):
            keep(name, file.path)
    except OSError:
        forget_files(asked)
        raise
    asked.save()
    return asked


def import_kept(*, asked: Import, by: User | None, **choices: Any) -> Import:
    """Check or import stored files; large files and Parquet are left to a worker.

    `choices` are `layout`, `dry_run` and `skip_invalid` of `import_files`. The import has the report or the refusal.
    Raises Conflict (code `unkept`) if the files do not wait to be imported, or belong to another person, and NotFound
    if the project is removed during the import.
    """
    require(by, asked.project, Verb.IMPORT)
    with transaction.atomic():
        # Lock the row, so that the second of two simultaneous requests finds the job of the first.
        held = Import.objects.select_for_update().filter(pk=asked.pk).first()
        if held is None or not is_kept(held) or held.requested_by != by:
            told = "These files are being imported, or no longer waiting for import."
            raise Conflict(f"{told} Reload the page, or upload them again.", code="unkept")
        job = _begin(held, **choices)
        if is_large(held):
            return held
        [claimed] = jobs.take(Job.objects.filter(pk=job.pk))
    jobs.carry_out(claimed, perform)
    try:
        held.refresh_from_db()
    except Import.DoesNotExist as error:
        raise NotFound("There is no such project.") from error
    return held


def is_kept(asked: Import) -> bool:
    """Return True if the files of the import wait to be checked or imported."""
    return not is_open(asked) and None not in map(size_of, _names_of(asked))


def is_large(asked: Import) -> bool:
    """Return True if the files are left to a worker: large files, and Parquet, which unpacks to any size."""
    with files_of(asked) as files:
        size = sum(file.path.stat().st_size for file in files)
        is_packed = any(is_parquet(file.path) for file in files)
    return is_packed or size > int(settings.IMPORT_BACKGROUND_BYTES)


def _begin(
    asked: Import, *, layout: Layout | None = None, dry_run: bool = False, skip_invalid: bool = False
) -> Job:
    """Queue the import; the caller has locked its row."""
    asked.choices = {"layout": asdict(layout) if layout else None, "skip_invalid": skip_invalid}
    asked.dry_run = dry_run
    asked.report = asked.refusal = None
    before, asked.job = asked.job, Job.objects.create(kind=Job.Kind.IMPORT, project=asked.project)
    jobs.enqueue([asked.job])
    asked.save()
    if before:
        before.delete()
    return asked.job


@transaction.atomic
def cancel_import(*, asked: Import, by: User | None) -> Import:
    """Cancel an import. Raises Conflict (code `over`) if it cannot be cancelled."""
    require(by, asked.project, Verb.IMPORT)
    # Let the import end if all sets are written.
    is_written = Q(state=Job.State.WORKING, total__gt=0, done=F("total"))
    if not jobs.cancel(Job.objects.filter(~is_written, import_row=asked)):
        raise Conflict("This import has ended.", code="over")
    transaction.on_commit(lambda: forget_files(asked))
    log(project=asked.project, actor=by, verb="cancel import", target=asked)
    asked.refresh_from_db()
    return asked


def imports_of(project: Project, person: User) -> QuerySet[Import]:
    """Return the imports of a project with their jobs, newest first.

    Other people's uploads without a job are omitted.
    """
    seen = Q(job__isnull=False) | Q(requested_by=person)
    return project.imports.filter(seen).select_related("project", "requested_by", "job").order_by("-pk")


def state_of(asked: Import) -> str:
    """Return the state of the import's job; *waiting* if there is no job yet."""
    return asked.job.state if asked.job else Job.State.WAITING


def is_open(asked: Import) -> bool:
    """Return True if the import's job is waiting or running."""
    return asked.job is not None and asked.job.state in jobs.OPEN


STATES = Choices("JobState", Job.State.choices)
IMPORTS = List(
    name="imports",
    verbs=(Verb.IMPORT,),
    rows=lambda viewer: imports_of(viewer.project, viewer.person),
    order=("-pk",),
    title="Past imports",
    polls=lambda rows: 2 if any(is_open(asked) for asked in rows) else 0,
    columns=(
        Column("created_at", kind=Kind.MOMENT, head="Sent", order="pk", link="import-progress"),
        Column("id", "public_id"),
        Column("files", kind=Kind.TEXTS, head="Files"),
        Column("requested_by", "requested_by.username", nullable=True, head="By", missing="the operator"),
        Column("state", "job.state", choices=STATES, nullable=True, head="State", missing="not started"),
        Column("dry_run", kind=Kind.FLAG, head="Check only"),
        Column("rows_read", "job.rows_read", kind=Kind.COUNT, nullable=True, head="Rows"),
        Column("sets_written", "job.done", kind=Kind.COUNT, nullable=True, head="Document sets"),
        Column("sets", "job.total", kind=Kind.COUNT, nullable=True, help="0 until all rows are read."),
        Column("error", "job.error", nullable=True),
        Column("finished_at", "job.finished_at", kind=Kind.MOMENT, nullable=True),
    ),
)


def report_of(asked: Import) -> ImportReport | None:
    """Return the report of the import or check; None if there is none."""
    return None if asked.report is None else read(ImportReport, asked.report)


def refusal_of(asked: Import) -> ImportRefused | None:
    """Return the refusal; None if the import was not refused."""
    if asked.refusal is None:
        return None
    problems = [read(Problem, problem) for problem in asked.refusal["problems"]]
    return ImportRefused(**asked.refusal | {"problems": problems})


def choices_of(asked: Import) -> dict[str, Any]:
    """Return the stored choices, as arguments of `import_files`."""
    layout = asked.choices.get("layout")
    return {**asked.choices, "layout": read(Layout, layout) if layout else None}


def perform(claimed: jobs.Claimed, lease: jobs.Lease) -> None:
    """Check or import the files, and store the report, or the problems in the files, with the end of the job.

    The files are deleted after an import, but not after a check. Raises StoppedJob if the job was cancelled, Conflict
    (code `busy`), and other refusals, after which the files are deleted, too.
    """
    asked = claimed.job.import_row
    progress = _JobProgress(claimed=claimed, lease=lease)
    state, error = Job.State.DONE, ""
    try:
        with files_of(asked) as files:
            choices = choices_of(asked) | {"files": files, "dry_run": asked.dry_run, "progress": progress}
            asked.report = asdict(import_files(project=asked.project, by=asked.requested_by, **choices))
    except ImportRefused as refused:
        asked.refusal = {"message": refused.message, "word": refused.word, **refused.details}
        state, error = Job.State.FAILED, refused.message
    except Refusal as refusal:
        if refusal.code != "busy":
            forget_files(asked)
        raise
    with transaction.atomic():
        if not jobs.finish(claimed, state=state, error=error, progress=progress.columns):
            raise jobs.StoppedJob
        asked.save(update_fields=["report", "refusal"])
    if asked.report and not asked.dry_run:
        forget_files(asked)


def drop_stale_uploads() -> None:
    """Delete files that were stored more than 24 hours ago and have no open job.

    Rows of that age without a job are deleted, too.
    """
    before = timezone.now() - KEPT_FOR
    for public_id, kept_at in list(folders_in(FOLDER)):
        open_jobs = Job.objects.filter(import_row__public_id=public_id, state__in=jobs.OPEN)
        if kept_at < before and not open_jobs.exists():
            forget(f"{FOLDER}/{public_id}")
    Import.objects.filter(job=None, created_at__lt=before).delete()


@dataclass(kw_only=True)
class _JobProgress(Progress):
    claimed: jobs.Claimed
    lease: jobs.Lease

    @property
    def columns(self) -> dict[str, int]:
        return {"rows_read": self.rows_read, "done": self.sets_written, "total": self.sets}

    def step(self) -> None:
        self.lease.progress = self.columns
        self.lease.require()

    def hold(self) -> None:
        if not jobs.hold([self.claimed]):
            raise jobs.StoppedJob
        Job.objects.filter(pk=self.claimed.job.pk).update(**self.columns)


@contextmanager
def files_of(asked: Import) -> Iterator[list[NamedFile]]:
    """Yield the files on the local disk, which exist within the with block."""
    with at_hand(_names_of(asked)) as paths:
        yield [NamedFile(name, path) for name, path in zip(asked.files, paths, strict=True)]


def _names_of(asked: Import) -> list[str]:
    return [f"{FOLDER}/{asked.public_id}/{number}" for number, _ in enumerate(asked.files, start=1)]


def forget_files(asked: Import) -> None:
    forget(f"{FOLDER}/{asked.public_id}")


def forget_files_of(project: Project) -> None:
    """Delete the files of a project's exports and uploads."""
    for export in project.exports.all():
        remove_file(export)
    for asked in project.imports.all():
        forget_files(asked)
