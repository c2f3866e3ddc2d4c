"""Making, changing and archiving watches."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid
from annotation.core.shared.clock import shared_now
from annotation.models import SCORE_SIDES, Job, Project, System, Watch

if TYPE_CHECKING:
    from django.contrib.auth.models import User

CHANGEABLE = ("name", "summaries", "checks", "smallest_drop")
SETTINGS = (*CHANGEABLE, "length", "scores", "reference_periods", "starts_on", "yearly_rate", "group_by")
"""The columns of a watch that people set. The CHANGEABLE ones can be changed later."""
LONGEST = timedelta(days=2 * 366)
"""The first day of a watch is at most this long before or after today: each period since then is closed one by one."""


@transaction.atomic
def save_watch(
    *,
    project: Project,
    by: User | None,
    watch: Watch | None = None,
    systems: Collection[str] = (),
    **settings: Any,
) -> Watch:
    """Make a watch with these SETTINGS, or change those of `watch` that are CHANGEABLE.

    Everything else is fixed, because alarms keep their rate only then. Omitted settings have the model's defaults.
    `systems` has names; empty means all systems. Raises Invalid with the `field`, and the errors of `require`.
    """
    require(by, project, Verb.RUN)
    now = shared_now()
    if watch is None:
        row = Watch(project=project, due_at=now)
        settings.setdefault("scores", list(SCORE_SIDES))
    else:
        row = Watch.objects.get(pk=watch.pk)
        if bool(settings["checks"]) != bool(row.checks):
            raise Invalid("Make another watch to begin or end people's answers.", field="checks")
        settings = {name: settings[name] for name in CHANGEABLE}
    for name, value in settings.items():
        setattr(row, name, value)
    if watch is None and abs(row.starts_on - now.date()) > LONGEST:
        raise Invalid("Choose a first day at most two years from today.", field="starts_on")
    unknown = set(row.scores) - SCORE_SIDES.keys()
    if unknown or not row.scores:
        raise Invalid(f"Choose scores among {' and '.join(SCORE_SIDES)}.", field="scores")
    try:
        row.full_clean(exclude={"job"})
    except ValidationError as fault:
        field, (message, *_) = next(iter(fault.message_dict.items()))
        raise Invalid(message, field=field if field in SETTINGS else "name") from fault
    rows = list(System.objects.filter(project=project, name__in=systems))
    if missing := set(systems) - {each.name for each in rows}:
        raise Invalid(f"There is no system {min(missing)!r}.", field="systems")
    if watch is None:
        row.job = Job.objects.create(kind=Job.Kind.WATCH, project=project, state=Job.State.DONE)
        row.save()
        row.systems.set(rows)
    else:
        # An empty report makes the worker write a new one.
        row.latest, row.due_at = {}, now
        row.save(update_fields=[*CHANGEABLE, "latest", "due_at"])
    data: dict[str, object] = {name: str(getattr(row, name)) for name in settings}
    data |= {} if watch else {"systems": sorted(systems)}
    log(project=project, actor=by, verb="change watch" if watch else "make watch", target=row, data=data)
    return row


@transaction.atomic
def archive_watch(*, watch: Watch, by: User | None) -> Watch:
    """End a watch. Its periods stay readable; nothing is judged or mailed any more. A second call changes nothing."""
    require(by, watch.project, Verb.RUN)
    if watch.archived_at is None:
        watch.archived_at = shared_now()
        watch.save(update_fields=["archived_at"])
        log(project=watch.project, actor=by, verb="archive watch", target=watch)
    return watch
