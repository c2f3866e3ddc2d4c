"""The door for the queue: what workers are asked to do, and how they report."""

from __future__ import annotations

import logging
import os
from typing import Any

from celery import shared_task
from celery.signals import celeryd_init, worker_ready, worker_shutdown, worker_shutting_down
from django.contrib.auth.models import User
from django.db import connection

from annotation import perform_job
from annotation.accounts.own_account import MAIL_RESET, mail_reset_links
from annotation.accounts.verified_email import MAIL_VERIFICATION, mail_verification
from annotation.core import jobs
from annotation.core.refusals import Refusal
from annotation.core.shared.limits import count
from annotation.demo.project import ADD_SAMPLE, add_sample_project
from annotation.models import Job
from annotation.privacy.retention import APPLY_RETENTION
from annotation.privacy.retention import apply_retention as remove_what_is_due
from annotation.projects.services.invite import MAIL_INVITATION, ask_again_to_mail, mail_invitation
from annotation.workers import HOUR_SECONDS, Heartbeat, new_worker_name

NICENESS = 5
TRIED_AGAIN: dict[str, Any] = {"autoretry_for": (OSError,), "retry_backoff": 30, "max_retries": 4}
"""Mail that nothing but its message asks for: a mail server may be away for some minutes."""

logger = logging.getLogger(__name__)

_heartbeats: list[Heartbeat] = []


@shared_task(name=jobs.WORK)
def work(kind: str) -> None:
    """Do what waits of a kind, if this worker is not at it already."""
    perform_job.pull(Job.Kind(kind))


@shared_task(name=APPLY_RETENTION)
def apply_retention() -> None:
    """Remove what has been kept for as long as it was to be, and deleted projects after 30 days."""
    remove_what_is_due()


def look() -> None:
    """Look for work that no message told of."""
    perform_job.look()
    ask_again_to_mail()


def ask_for_retention() -> None:
    """Have one worker apply retention, whichever of them asks first in this hour."""
    if count("retention", seconds=HOUR_SECONDS) == 1:
        jobs.hint(APPLY_RETENTION, waits="what is due to be removed")


@shared_task(name=ADD_SAMPLE)
def add_sample(by_id: int) -> None:
    """Make the sample project that somebody asked for; nothing where it has been made meanwhile."""
    person = User.objects.filter(pk=by_id).first()
    try:
        add_sample_project(by=person)
    except Refusal:
        logger.warning("The sample project was not made", exc_info=True)


@shared_task(name=MAIL_RESET, **TRIED_AGAIN)
def mail_reset(email: str, address: str) -> None:
    """Mail a link for a new password to the accounts of an address; nothing where there are none."""
    mail_reset_links(email=email, address=address)


@shared_task(name=MAIL_VERIFICATION, **TRIED_AGAIN)
def mail_a_verification(person_id: int, email: str, address: str) -> None:
    """Mail the link by which somebody shows that an e-mail address is theirs."""
    mail_verification(person_id=person_id, email=email, address=address)


@shared_task(name=MAIL_INVITATION)
def mail_an_invitation(invitation_id: str, address: str) -> None:
    """Mail the link of an invitation; nothing where it was mailed, used or taken back meanwhile."""
    mail_invitation(invitation_id=invitation_id, address=address)


@celeryd_init.connect
def let_people_go_first(**_: Any) -> None:
    """On a machine that also serves people, a worker takes what they leave of the processors.

    Not on SQLite, where anyone who writes keeps all others waiting, and must not be slow at it.
    """
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
