"""Celery tasks and the worker's signals."""

from __future__ import annotations

import logging
import os
from typing import Any

from celery import shared_task
from celery.signals import celeryd_init, worker_ready, worker_shutdown, worker_shutting_down
from django.contrib.auth.models import User
from django.core.mail import send_mail
from django.db import connection

from annotation import perform_job
from annotation.core import jobs
from annotation.core.refusals import Refusal
from annotation.core.shared.limits import count
from annotation.demo.project import ADD_SAMPLE, add_sample_project
from annotation.models import Job
from annotation.privacy.retention import APPLY_RETENTION
from annotation.privacy.retention import apply_retention as remove_what_is_due
from annotation.projects.services.invite import MAIL_INVITATION, ask_again_to_mail, mail_invitation
from annotation.watches.work import ask_for_watches
from annotation.workers import HOUR_SECONDS, Heartbeat, new_worker_name

NICENESS = 5
TRIED_AGAIN: dict[str, Any] = {"autoretry_for": (OSError,), "retry_backoff": 30, "max_retries": 4}
"""Options of a task that is tried again, such as when a mail server is unavailable."""

logger = logging.getLogger(__name__)

_heartbeats: list[Heartbeat] = []


@shared_task(name=jobs.WORK)
def work(kind: str) -> None:
    """Work on waiting jobs of a kind, unless enough threads of this worker already do."""
    perform_job.work_on(Job.Kind(kind))


@shared_task(name=APPLY_RETENTION)
def apply_retention() -> None:
    """Remove data and projects that are due to be removed."""
    remove_what_is_due()


def look() -> None:
    """Queue due watches, and start work on waiting jobs and mails."""
    ask_for_watches()
    perform_job.start_missing_threads()
    ask_again_to_mail()


def ask_for_retention() -> None:
    """Ask a worker to apply retention, unless the cache counts a request in this hour."""
    if count("retention", seconds=HOUR_SECONDS) == 1:
        jobs.hint(APPLY_RETENTION, waits="what is due to be removed")


@shared_task(name=ADD_SAMPLE)
def add_sample(by_id: int) -> None:
    """Create the sample project that a person has requested. A refusal is only logged."""
    person = User.objects.filter(pk=by_id).first()
    try:
        add_sample_project(by=person)
    except Refusal:
        logger.warning("The sample project was not made", exc_info=True)


@shared_task(name=jobs.MAIL, **TRIED_AGAIN)
def mail(to: str, subject: str, body: str) -> None:
    """Send a mail. Nothing is sent to an empty address."""
    if to:
        send_mail(subject, body, None, [to])


@shared_task(name=MAIL_INVITATION)
def mail_an_invitation(invitation_id: str, address: str) -> None:
    """Mail an invitation's link if `mail_invitation` finds it due."""
    mail_invitation(invitation_id=invitation_id, address=address)


@celeryd_init.connect
def let_people_go_first(**_: Any) -> None:
    """Lower the worker's priority, unless the database is SQLite, where a slow writer delays all other writers."""
    if connection.vendor != "sqlite":
        os.nice(NICENESS)


@worker_ready.connect
def report_alive(**_: Any) -> None:
    heartbeat = Heartbeat(new_worker_name(), look=look, hourly=ask_for_retention)
    _heartbeats.append(heartbeat)
    heartbeat.start()


@worker_shutting_down.connect
def take_nothing_more(**_: Any) -> None:
    perform_job.stopping.set()


@worker_shutdown.connect
def report_gone(**_: Any) -> None:
    while _heartbeats:
        _heartbeats.pop().stop()
