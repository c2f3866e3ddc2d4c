from __future__ import annotations

import ast
import threading
from typing import TYPE_CHECKING

import pytest
from celery import current_app
from django.utils import timezone

from annotation import perform_job, tasks
from annotation.accounts.adapters import MAIL
from annotation.core import jobs
from annotation.demo.project import ADD_SAMPLE
from annotation.judging.services.start_run import start_run
from annotation.models import Analysis, Job, Judge, Run, Worker
from annotation.privacy.retention import APPLY_RETENTION
from annotation.projects.services.invite import MAIL_INVITATION
from tests.annotation.judging.processes import wait_until
from tests.sources import modules, named_by

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.annotation.cast import World


def calls(*names: str) -> Iterator[tuple[str, ast.Call]]:
    for place, tree in modules("annotation", holding=rf"\b({'|'.join(names)})\b"):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and named_by(node) in names:
                yield place, node


def test_jobs_alone_speaks_to_the_queue() -> None:
    assert {place for place, _ in calls("signature", "send_task")} == {"annotation/core/jobs.py"}


def test_every_queued_name_is_registered() -> None:
    current_app.loader.import_default_modules()
    hinted = {ast.unparse(call.args[0]) for _, call in calls("hint")}
    assert hinted == {
        "WORK",
        "ADD_SAMPLE",
        "MAIL",
        "MAIL_INVITATION",
        "APPLY_RETENTION",
    }
    assert {
        jobs.WORK,
        ADD_SAMPLE,
        MAIL,
        MAIL_INVITATION,
        APPLY_RETENTION,
    } <= set(current_app.tasks)


def test_one_message_is_enough_for_all_that_waits(transactional_db: None, world: World) -> None:
    runs = [
        start_run(project=world.project, judge=judge, by=None)
        for judge in (world.judge, Judge.objects.create(name="other", kind="lexical"))
    ]
    Worker.objects.create(name="worker", started_at=timezone.now(), seen_at=timezone.now())
    tasks.work("run")
    assert {Run.objects.get(pk=run.pk).state for run in runs} == {"finished"}
    # The leaderboard is requested before anybody opens it.
    assert Analysis.objects.filter(project=world.project, kind=Analysis.Kind.LEADERBOARD).exists()


def test_a_run_of_few_summaries_asks_for_no_leaderboard(transactional_db: None, world: World) -> None:
    summary = world.check("alder", 1).summary_id or 0
    run = start_run(project=world.project, judge=world.judge, trial_of=[summary], by=None)
    Worker.objects.create(name="worker", started_at=timezone.now(), seen_at=timezone.now())
    tasks.work("run")
    assert Run.objects.get(pk=run.pk).state == "finished"
    assert not Analysis.objects.exists()


@pytest.mark.parametrize("kind", list(Job.Kind))
def test_a_message_about_nothing_is_ignored(db: None, kind: str) -> None:
    tasks.work(kind)
    assert not Job.objects.exists()


def test_a_message_to_a_worker_that_is_at_it_is_ignored(world: World) -> None:
    run = start_run(project=world.project, judge=world.judge, by=None)
    with perform_job.at_work_on(Job.Kind.RUN):
        tasks.work("run")
    assert set(run.jobs.values_list("state", flat=True)) == {"waiting"}


def test_a_worker_finds_work_without_any_message(transactional_db: None, world: World) -> None:
    run = start_run(project=world.project, judge=world.judge, by=None)
    perform_job.start_missing_threads()
    wait_until(lambda: Run.objects.get(pk=run.pk).state == "finished")
    wait_until(lambda: not any(thread.name.startswith("jobs-") for thread in threading.enumerate()))
