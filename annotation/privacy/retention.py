"""Removing data that is older than its retention period."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from allauth.usersessions.models import UserSession
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import F, Q, Value
from django.db.models.functions import Concat

from annotation.core.shared.clock import shared_now
from annotation.exports.services import remove_file
from annotation.models import AccountEvent, Event, Export, JudgeCall, Project, Run
from annotation.privacy.project_rows import in_steps, unlock_log
from annotation.privacy.purge_project import overdue, purge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.db.models import QuerySet

APPLY_RETENTION = "annotation.apply_retention"
"""The name of the task that applies retention periods."""
FOUNDING = Q(target_kind__in=("sample", "project")) | Q(verb="start run")
"""Log entries that retention keeps."""


def apply_retention() -> Mapping[str, int]:
    """Remove overdue projects, ended sessions and data that is older than its retention period. Returns the counts by
    kind.

    An erased call keeps its tokens and duration, but its request and reply are gone.
    """
    now, removed = shared_now(), Counter[str]()
    for project in overdue():
        removed["projects"] += bool(purge(project))
    removed["sessions"] = Session.objects.filter(expire_date__lt=now).delete()[0]
    UserSession.objects.exclude(session_key__in=Session.objects.values("session_key")).delete()
    AccessAttempt.objects.filter(attempt_time__lt=now - settings.AXES_COOLOFF_TIME).delete()
    if (cut := _cut(settings.COVERDICT_KEEP_CALLS_DAYS, now)) is not None:
        # Keep calls of active runs, so that nothing is paid for twice after a worker dies.
        calls = JudgeCall.objects.filter(erased_at__isnull=True, created_at__lt=cut)
        removed["calls"] = _erase_calls(calls.exclude(run__state=Run.State.ACTIVE), now)
    if (cut := _cut(settings.COVERDICT_KEEP_EXPORTS_DAYS, now)) is not None:
        for export in Export.objects.filter(job__finished_at__lt=cut).exclude(path=""):
            removed["exports"] += 1
            remove_file(export)
    if (cut := _cut(settings.COVERDICT_KEEP_LOG_DAYS, now)) is not None:
        removed["log"] = sum(_shorten_log(project, cut) for project in Project.objects.all())
        removed["sign-ins"] = AccountEvent.objects.filter(at__lt=cut).delete()[0]
    return {kind: count for kind, count in removed.items() if count}


def _shorten_log(project: Project, cut: datetime) -> int:
    entries = Event.objects.filter(project=project, created_at__lt=cut).exclude(FOUNDING)
    keys = list(entries.order_by("-pk").values_list("pk", flat=True))
    for step in in_steps(keys):
        with transaction.atomic():
            unlock_log(project)
            Event.objects.filter(pk__in=step)._raw_delete(using=entries.db)
    return len(keys)


def _erase_calls(calls: QuerySet[JudgeCall], now: datetime) -> int:
    keys = list(calls.order_by("pk").values_list("pk", flat=True))
    for step in in_steps(keys):
        JudgeCall.objects.filter(pk__in=step).update(
            request="", reply="", key=Concat(Value("erased-"), F("public_id")), erased_at=now
        )
    return len(keys)


def _cut(days: int | None, now: datetime) -> datetime | None:
    return None if days is None else now - timedelta(days=days)
