from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from annotation.models import Job, Run, Worker
from annotation.watching.queries import failed_jobs, open_jobs, workers
from tests.annotation.exports.doing import export_with_job

if TYPE_CHECKING:
    from tests.annotation.cast import World


def export_job(world: World, **columns: Any) -> Job:
    return export_with_job(world.project, **columns).job


def test_each_kind_tells_what_waits_and_how_long(world: World) -> None:
    now = timezone.now()
    export_job(world, queued_at=now - timedelta(seconds=90))
    export_job(world, queued_at=now - timedelta(seconds=30))
    # The job waits for another attempt and cannot be taken yet.
    export_job(world, queued_at=now + timedelta(seconds=40), attempt=1)
    export_job(world, state="done", queued_at=now - timedelta(days=1))
    export_job(world, state="working", token="t", lease_until=now)
    run = Run.objects.create(project=world.project, judge=world.judge)
    for document_set in world.sets.values():
        Job.objects.create(kind="run", project=world.project, run=run, document_set=document_set)
    by_kind = {each.kind: each for each in open_jobs()}
    exports, runs = by_kind[Job.Kind.EXPORT], by_kind[Job.Kind.RUN]
    assert (exports.waiting, exports.working, exports.runs) == (3, 1, 0)
    assert 90 <= exports.oldest_seconds < 150
    assert (runs.waiting, runs.runs) == (len(world.sets), 1)
    assert set(by_kind) == set(Job.Kind)


def test_failures_of_the_last_days_count(world: World) -> None:
    now = timezone.now()
    export_job(world, state="failed", finished_at=now - timedelta(days=6))
    export_job(world, state="failed", finished_at=now - timedelta(days=8))
    assert failed_jobs(days=7) == {Job.Kind.EXPORT: 1}


def test_a_worker_is_alive_or_silent_and_of_some_version(db: None) -> None:
    now = timezone.now()
    Worker.objects.create(name="a", started_at=now, seen_at=now, version="0.0")
    Worker.objects.create(name="b", started_at=now, seen_at=now - timedelta(minutes=5))
    assert [(each.name, each.is_alive, each.is_other_version) for each in workers()] == [
        ("a", True, True),
        ("b", False, True),
    ]
