"""The state of an installation: jobs, workers, disk, versions."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Count, F, Min, Q, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

import annotation
from annotation.core.jobs import OPEN
from annotation.core.shared.clock import shared_now
from annotation.core.shared.kept_files import kept_folder
from annotation.models import Job, Run, Watch, Worker
from annotation.operator_commands import own_user


@dataclass(frozen=True, slots=True)
class KindState:
    """The open jobs of a kind.

    `oldest_seconds` is the longest wait of a job that can be taken; 0 if there is none. Jobs that wait for another
    attempt count as waiting, but their time starts after their pause.
    """

    kind: Job.Kind
    waiting: int = 0
    working: int = 0
    runs: int = 0
    oldest_seconds: float = 0.0


def open_jobs() -> list[KindState]:
    """Load the state of every kind of job."""
    now = timezone.now()
    waits = Q(state=Job.State.WAITING)
    found = (
        Job.objects.filter(state__in=OPEN)
        .order_by()
        .values("kind")
        .annotate(
            waiting=Count("pk", filter=waits),
            working=Count("pk", filter=~waits),
            runs=Count("run", distinct=True),
            oldest=Min("queued_at", filter=waits & Q(queued_at__lte=now)),
        )
    )
    rows = {row["kind"]: row for row in found}
    return [_state(kind, rows.get(kind.value), now) for kind in Job.Kind]


def _state(kind: Job.Kind, row: Mapping[str, Any] | None, now: datetime) -> KindState:
    if row is None:
        return KindState(kind)
    age = (now - row["oldest"]).total_seconds() if row["oldest"] else 0.0
    return KindState(kind, row["waiting"], row["working"], row["runs"], age)


@dataclass(frozen=True, slots=True)
class Spent:
    """The calls and tokens of a run, and its `Run.cost`."""

    calls: int
    tokens: int
    cost: float


def spent_by_active_runs() -> dict[str, Spent]:
    """Load the calls, tokens and cost of every active run so far, by its public id."""
    tokens = F("calls__prompt_tokens") + F("calls__completion_tokens")
    runs = Run.objects.filter(state=Run.State.ACTIVE).order_by()
    counted = runs.annotate(asked=Count("calls"), tokens=Coalesce(Sum(tokens), 0))
    return {run.public_id: Spent(run.asked, run.tokens, run.cost or 0.0) for run in counted}


def watches() -> dict[tuple[str, str], dict[str, Any]]:
    """Load the last reports of the watches that are not archived, by slug of the project and public id."""
    rows = Watch.objects.filter(archived_at=None, project__deleted_at=None)
    return {
        (slug, name): latest
        for slug, name, latest in rows.values_list("project__slug", "public_id", "latest")
    }


def failed_jobs(*, days: int = 7) -> dict[Job.Kind, int]:
    """Count the failed jobs of each kind in the last `days`; kinds without failed jobs are missing."""
    since = timezone.now() - timedelta(days=days)
    failed = Job.objects.filter(state=Job.State.FAILED, finished_at__gte=since)
    counts = failed.order_by().values_list("kind").annotate(Count("pk"))
    return {Job.Kind(kind): number for kind, number in counts}


@dataclass(frozen=True, slots=True)
class WorkerState:
    name: str
    version: str
    started_at: datetime
    seen_at: datetime
    is_alive: bool
    is_other_version: bool


def workers() -> list[WorkerState]:
    """Load the state of every stored worker, sorted by name."""
    lately = shared_now() - timedelta(seconds=settings.WORKER_SILENT_SECONDS)
    return [
        WorkerState(
            name=row.name,
            version=row.version,
            started_at=row.started_at,
            seen_at=row.seen_at,
            is_alive=row.seen_at >= lately,
            is_other_version=row.version != annotation.__version__,
        )
        for row in Worker.objects.order_by("name")
    ]


@dataclass(frozen=True, slots=True)
class Disk:
    """The file system of COVERDICT_VAR, in bytes."""

    total: int
    free: int

    @property
    def share_free(self) -> float:
        return self.free / self.total if self.total else 0.0


def disk() -> Disk:
    usage = shutil.disk_usage(_existing(settings.VAR_DIR))
    return Disk(usage.total, usage.free)


def files_fault() -> str | None:
    """Return a sentence about a folder for files to which this process cannot write; None if all are writable."""
    for folder in filter(None, (settings.VAR_DIR, kept_folder())):
        if not os.access(_existing(folder), os.W_OK | os.X_OK):
            return f"{folder} is not writable by the user {own_user()}"
    return None


def _existing(folder: Path) -> Path:
    # Folders are created on demand, so take the nearest parent that exists.
    return next(each for each in (folder, *folder.parents) if os.access(each, os.F_OK))


def missing_migrations() -> int:
    """Count the migrations that the database lacks."""
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def versions() -> dict[str, str]:
    """Return the versions of the running software, by name."""
    if connection.vendor == "postgresql":
        number = int(getattr(connection, "pg_version"))  # noqa: B009 - other databases have none
        database = f"PostgreSQL {number // 10_000}.{number % 10_000}"
    else:
        import sqlite3  # noqa: PLC0415 - of no interest elsewhere

        database = f"SQLite {sqlite3.sqlite_version}"
    return {
        "Coverdict": annotation.__version__,
        "Database": database,
        "Django": django.get_version(),
        "Python": platform.python_version(),
    }
