"""Making and archiving watches."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain
from typing import TYPE_CHECKING, Any

from django.db import transaction

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid
from annotation.core.shared.clock import shared_now
from annotation.models import SCORE_SIDES, DocumentSet, Job, Project, System, Watch
from annotation.watches.periods import LANGUAGE

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@transaction.atomic
def make_watch(
    *, project: Project, by: User | None, systems: Collection[System] = (), **settings: Any
) -> Watch:
    """Make a watch with these columns, whose ranges are not checked. No `systems` means all systems of the project.

    Raises Invalid with the `field`, and the errors of `require`.
    """
    require(by, project, Verb.RUN)
    row = Watch(project=project, **{"scores": list(SCORE_SIDES), **settings})
    if Watch.objects.filter(project=project, name=row.name).exists():
        raise Invalid("Another watch has this name.", field="name")
    if row.checks and set(row.scores) - set(SCORE_SIDES):
        told = "People's answers correct coverage and alignment. Enter 0: the judge alone rates by criteria."
        raise Invalid(told, field="checks")
    metadata = DocumentSet.objects.filter(project=project).values_list("metadata", flat=True)
    if row.group_by and row.group_by not in (keys := {LANGUAGE, *chain.from_iterable(metadata.iterator())}):
        told = f"No document set has {row.group_by!r} in its metadata. Known: {', '.join(sorted(keys))}."
        raise Invalid(told, field="group_by")
    row.job = Job.objects.create(kind=Job.Kind.WATCH, project=project, state=Job.State.DONE)
    row.save()
    row.systems.set(systems)
    data = {**settings, "starts_on": str(row.starts_on), "systems": sorted(each.name for each in systems)}
    log(project=project, actor=by, verb="make watch", target=row, data=data)
    return row


@transaction.atomic
def archive_watch(*, watch: Watch, by: User | None) -> Watch:
    """Archive a watch. A second call changes nothing. Raises the errors of `require`."""
    require(by, watch.project, Verb.RUN)
    if watch.archived_at is None:
        watch.archived_at = shared_now()
        watch.save(update_fields=["archived_at"])
        log(project=watch.project, actor=by, verb="archive watch", target=watch)
    return watch
