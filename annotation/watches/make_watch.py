"""Making and archiving watches."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from django.db import transaction

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid
from annotation.core.shared.clock import shared_now
from annotation.models import SCORE_SIDES, DocumentSet, Job, Project, System, Watch

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LANGUAGE = "language"
"""The name by which a watch groups documents by their language instead of by a metadata key."""
SETTINGS = (
    *("name", "length", "scores", "summaries", "checks", "smallest_drop"),
    *("reference_periods", "starts_on", "yearly_rate", "group_by"),
)
"""The columns of a watch that people set. They are fixed, because alarms keep their rate only then."""


@transaction.atomic
def make_watch(*, project: Project, by: User | None, systems: Collection[str] = (), **settings: Any) -> Watch:
    """Make a watch with these SETTINGS, whose ranges the form checks; omitted ones have the model's defaults.

    `systems` has names; empty means all systems. Raises Invalid with the `field`, and the errors of `require`.
    """
    require(by, project, Verb.RUN)
    row = Watch(project=project, **{"scores": list(SCORE_SIDES), **settings})
    if Watch.objects.filter(project=project, name=row.name).exists():
        raise Invalid("Another watch has this name.", field="name")
    rows = list(System.objects.filter(project=project, name__in=systems))
    if missing := set(systems) - {each.name for each in rows}:
        raise Invalid(f"There is no system {min(missing)!r}.", field="systems")
    if row.group_by and row.group_by not in (known := _known_keys(project)):
        told = f"No document set has {row.group_by!r} in its metadata. Known: {', '.join(known)}."
        raise Invalid(told, field="group_by")
    row.job = Job.objects.create(kind=Job.Kind.WATCH, project=project, state=Job.State.DONE)
    row.save()
    row.systems.set(rows)
    data: dict[str, object] = {name: str(getattr(row, name)) for name in settings}
    data["systems"] = sorted(systems)
    log(project=project, actor=by, verb="make watch", target=row, data=data)
    return row


def _known_keys(project: Project) -> list[str]:
    rows = DocumentSet.objects.filter(project=project).values_list("metadata", flat=True)
    return [LANGUAGE, *sorted({key for metadata in rows.iterator() for key in metadata})]


@transaction.atomic
def archive_watch(*, watch: Watch, by: User | None) -> Watch:
    """End a watch. Its periods stay readable; nothing is judged or mailed any more. A second call changes nothing."""
    require(by, watch.project, Verb.RUN)
    if watch.archived_at is None:
        watch.archived_at = shared_now()
        watch.save(update_fields=["archived_at"])
        log(project=watch.project, actor=by, verb="archive watch", target=watch)
    return watch
