"""The door for the queue."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from celery import current_app
from django.conf import settings

import annotation
from annotation import tasks
from annotation.models import Job, Run
from annotation.services import jobs
from annotation.services.make_analysis import MAKE_ANALYSIS
from annotation.services.start_run import start_run

if TYPE_CHECKING:
    from tests.annotation.cast import World

QUEUEING = {"signature", "send_task"}


def queued_names() -> set[str]:
    """Every first argument of a call that queues a task by its name, anywhere in the project."""
    names = set()
    for path in Path(annotation.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                of_the_app = ast.unparse(node.func.value).endswith(("current_app", "app"))
                if node.func.attr in QUEUEING and of_the_app:
                    names.add(ast.unparse(node.args[0]))
    return names


def test_every_queued_name_is_registered() -> None:
    current_app.loader.import_default_modules()
    assert queued_names() == {"RUN_JOB", "MAKE_ANALYSIS"}
    scheduled = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert {jobs.RUN_JOB, MAKE_ANALYSIS, *scheduled} <= set(current_app.tasks)


def test_the_task_does_the_job(world: World) -> None:
    run = start_run(project=world.project, judge=world.judge, by=None)
    for public_id in run.jobs.values_list("public_id", flat=True):
        tasks.run_job(public_id)
    run.refresh_from_db()
    assert run.state == "finished"


@pytest.mark.parametrize("public_id", ["", "nonsense", "a" * 500])
def test_a_message_about_no_job_is_ignored(db: None, public_id: str) -> None:
    tasks.run_job(public_id)
    assert not Job.objects.exists()


def test_the_scheduled_task_reaps(world: World, django_capture_on_commit_callbacks: Any) -> None:
    run = start_run(project=world.project, judge=world.judge, by=None)
    Run.objects.filter(pk=run.pk).update(state="cancelled")
    job = run.jobs.first()
    assert job is not None
    assert jobs.claim(job.public_id)
    run.jobs.filter(pk=job.pk).update(lease_until=job.queued_at)
    tasks.reap_jobs()
    job.refresh_from_db()
    assert job.state == "cancelled"
