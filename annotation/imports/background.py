"""Large files that a worker checks or brings in, while whoever sent them sees how far it is."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import Prefetch
from django.utils import timezone

from annotation.core.events import log
from annotation.core.jobs import OPEN, Claimed, StoppedJob, enqueue, hold
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Refusal
from annotation.imports.packages import NamedFile
from annotation.imports.planned import Count, ImportCounts
from annotation.imports.problems import ImportRefused, Problem, Remedy
from annotation.imports.progress import Progress
from annotation.imports.services import ImportReport, import_files
from annotation.models import Import, Job

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.imports.dataset import Side
    from annotation.models import Project

REPORT_SECONDS = 0.5


def is_for_a_worker(files: Sequence[NamedFile]) -> bool:
    """Whether these files take longer than somebody may be kept waiting."""
    return sum(file.path.stat().st_size for file in files) > int(settings.IMPORT_BACKGROUND_BYTES)


def request_import(
    *,
    project: Project,
    files: Sequence[NamedFile],
    by: User | None,
    mapping: Mapping[str, str] | None = None,
    claims_side: Side | None = None,
    dry_run: bool = False,
    skip_invalid: bool = False,
) -> Import:
    """Keep the files and have a worker import them, as `import_files`; the row tells how far it is.

    Managers and owners may.
    """
    require(by, project, Verb.IMPORT)
    asked = Import(
        project=project,
        files=[file.name for file in files],
        choices={"mapping": dict(mapping or {}), "claims_side": claims_side, "skip_invalid": skip_invalid},
        dry_run=dry_run,
        requested_by=by,
    )
    for kept, file in zip(_kept(asked), files, strict=True):
        kept.path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file.path, kept.path)
    with transaction.atomic():
        asked.save()
        _begin(asked, by)
    return asked


@transaction.atomic
def import_checked(*, asked: Import, by: User | None) -> Import:
    """Bring in files that were checked. Raises Conflict (code `unchecked`) where none of them wait."""
    require(by, asked.project, Verb.IMPORT)
    checked = Import.objects.filter(
        pk=asked.pk, dry_run=True, report__isnull=False, finished_at__isnull=False
    )
    begun = {
        "dry_run": False,
        "report": None,
        "finished_at": None,
        "rows_read": 0,
        "sets_written": 0,
        "sets": 0,
    }
    if not checked.update(**begun, requested_by=by):
        raise Conflict("These files are not waiting to be imported. Send them again.", code="unchecked")
    asked.refresh_from_db()
    _begin(asked, by)
    return asked


@transaction.atomic
def cancel_import(*, asked: Import, by: User | None) -> Import:
    """End an import of which then nothing is left. Raises Conflict (code `over`) where it is over."""
    require(by, asked.project, Verb.IMPORT)
    open_jobs = Job.objects.filter(import_row=asked, state__in=OPEN)
    if not open_jobs.exists():
        raise Conflict("This import is over.", code="over")
    now = timezone.now()
    Import.objects.filter(pk=asked.pk).update(cancelled_at=now)
    # One that is worked on ends by itself, when it has taken away what it wrote.
    if open_jobs.filter(state=Job.State.WAITING).update(state=Job.State.CANCELLED, finished_at=now):
        transaction.on_commit(lambda: _forget_files(asked))
    log(project=asked.project, actor=by, verb="cancel import", target=asked)
    asked.refresh_from_db()
    return asked


def imports_of(project: Project) -> QuerySet[Import]:
    """Newest first, each with its jobs, of which the last counts."""
    jobs = Prefetch("jobs", Job.objects.order_by("pk"))
    return project.imports.select_related("project", "requested_by").prefetch_related(jobs).order_by("-pk")


def state_of(asked: Import) -> str:
    """The state of its job; done where the row says so."""
    job = _job_of(asked)
    if asked.finished_at is not None:
        return Job.State.DONE if asked.refusal is None else Job.State.FAILED
    return job.state if job else Job.State.FAILED


def error_of(asked: Import) -> str:
    """Why the job failed, or waits for another attempt; empty otherwise."""
    job = _job_of(asked)
    return job.error if job else "The import is gone."


def time_left(asked: Import) -> timedelta | None:
    """About how long the rest takes, going by the sets so far; None before any is written."""
    job = _job_of(asked)
    if not (asked.sets and asked.sets_written and job and job.started_at):
        return None
    return (timezone.now() - job.started_at) * (asked.sets / asked.sets_written - 1)


def report_of(asked: Import) -> ImportReport | None:
    """What the import did, or would do; None while it is not over, or where it was refused."""
    if asked.report is None:
        return None
    told: dict[str, Any] = dict(asked.report)
    told["counts"] = ImportCounts(**{kind: Count(**count) for kind, count in told["counts"].items()})
    told["problems"] = tuple(Problem(**problem) for problem in told["problems"])
    told["remedies"] = tuple(map(Remedy, told["remedies"]))
    told["warnings"] = tuple(told["warnings"])
    return ImportReport(**told)


def refusal_of(asked: Import) -> ImportRefused | None:
    """Why the files were refused; None where they were not."""
    if asked.refusal is None:
        return None
    told: dict[str, Any] = dict(asked.refusal)
    told["problems"] = [Problem(**problem) for problem in told["problems"]]
    return ImportRefused(told.pop("message"), **told)


def perform(claimed: Claimed) -> None:
    """Check or bring in the files. Whoever takes a job over begins anew: what was written before was never seen.

    Raises StoppedJob where it was cancelled; Refusal where it cannot be done.
    """
    asked = claimed.job.import_row
    assert asked is not None, "a job of an import"
    asked.refresh_from_db()
    if asked.finished_at is not None:
        return
    report, refusal, progress = None, None, _Told(asked, claimed)
    try:
        with progress:
            report = import_files(
                project=asked.project,
                files=_kept(asked),
                by=asked.requested_by,
                dry_run=asked.dry_run,
                progress=progress,
                **asked.choices,
            )
    except ImportRefused as refused:
        refusal = refused
    except (StoppedJob, Refusal) as end:
        if getattr(end, "code", "") != "busy":
            _forget_files(asked)
        raise
    Import.objects.filter(pk=asked.pk).update(
        rows_read=progress.rows_read,
        sets_written=progress.sets_written,
        sets=progress.sets,
        report=report and asdict(report),
        refusal=refusal and _told_refusal(refusal),
        finished_at=timezone.now(),
    )
    if refusal is not None or not asked.dry_run:
        _forget_files(asked)


class _Told(Progress, AbstractContextManager["_Told"]):
    """Writes how far it is into the row, and learns there of a cancellation, from a thread and connection of its own:
    what the import's own transaction writes is seen by nobody.
    """

    def __init__(self, asked: Import, claimed: Claimed) -> None:
        super().__init__()
        self._row = Import.objects.filter(pk=asked.pk)
        self._claimed = claimed
        self._is_cancelled = asked.cancelled_at is not None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tell_on, name="import progress", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def step(self) -> None:
        if self._is_cancelled:
            raise StoppedJob

    def hold(self) -> None:
        if self._is_cancelled or not hold([self._claimed]):
            raise StoppedJob

    def _tell_on(self) -> None:
        try:
            while not self._ended.wait(REPORT_SECONDS):
                self._tell()
        finally:
            connection.close()

    def _tell(self) -> None:
        try:
            self._row.update(rows_read=self.rows_read, sets_written=self.sets_written, sets=self.sets)
            self._is_cancelled = self._row.filter(cancelled_at__isnull=False).exists()
        except DatabaseError:
            # The next turn tries again.
            connection.close()


def _begin(asked: Import, by: User | None) -> None:
    job = Job.objects.create(import_row=asked)
    facts = {"files": asked.files, "dry_run": asked.dry_run}
    log(project=asked.project, actor=by, verb="request import", target=asked, data=facts)
    enqueue([job])


def _kept(asked: Import) -> list[NamedFile]:
    folder = Path(settings.VAR_DIR) / "imports" / asked.public_id
    return [NamedFile(name, folder / str(number)) for number, name in enumerate(asked.files, start=1)]


def _forget_files(asked: Import) -> None:
    shutil.rmtree(Path(settings.VAR_DIR) / "imports" / asked.public_id, ignore_errors=True)


def _job_of(asked: Import) -> Job | None:
    return next(reversed(asked.jobs.all()), None)


def _told_refusal(refusal: ImportRefused) -> dict[str, Any]:
    return {
        "message": refusal.message,
        "problems": [asdict(problem) for problem in refusal.problems],
        "problem_count": refusal.problem_count,
        "word": refusal.word,
        "remedies": refusal.remedies,
    }
