"""Making, changing and archiving watches."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date
from typing import TYPE_CHECKING

from django.db import transaction

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid
from annotation.core.shared.clock import shared_now
from annotation.core.text_faults import checked_note
from annotation.models import SCORE_SIDES, Job, Project, System, Watch

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LONGEST_NAME = 60
BOUNDS = {"summaries": (1, 2000), "checks": (0, 2000), "reference_periods": (1, 60)}
"""The smallest and largest numbers of a watch."""


@transaction.atomic
def save_watch(
    *,
    project: Project,
    by: User | None,
    name: str,
    watch: Watch | None = None,
    systems: Collection[str] = (),
    scores: Sequence[str] = ("coverage", "alignment"),
    length: str = Watch.Length.WEEK,
    summaries: int = 100,
    checks: int = 100,
    reference_periods: int = 13,
    smallest_drop: float = 0.05,
    yearly_rate: float = 0.05,
    group_by: str = "",
    starts_on: date | None = None,
) -> Watch:
    """Make a watch, or change `watch`: its name, numbers of summaries and checks, and smallest drop.

    Everything else of a watch is fixed, because its alarms keep their rate only then. `systems` has names; empty means
    all systems. `starts_on` may be in the past, so that summaries that are here make the reference; today by default.
    Raises Invalid with the `field`, and the errors of `require`.
    """
    require(by, project, Verb.RUN)
    name = checked_note(name, most=LONGEST_NAME, if_long=f"A name has at most {LONGEST_NAME} characters.")
    numbers = {"summaries": summaries, "checks": checks, "reference_periods": reference_periods}
    for field, number in numbers.items():
        least, most = BOUNDS[field]
        if not least <= number <= most:
            raise Invalid(f"Enter between {least:,} and {most:,}.", field=field)
    for field, share in (("smallest_drop", smallest_drop), ("yearly_rate", yearly_rate)):
        if not 0 < share < 1:
            raise Invalid("Enter a number above 0 and below 1.", field=field)
    others = Watch.objects.filter(project=project, name=name)
    others = others.exclude(pk=watch.pk) if watch else others
    if not name or others.exists():
        message = "Another watch has this name." if name else "Give the watch a name."
        raise Invalid(message, field="name")
    now = shared_now()
    changed = {"name": name, "summaries": summaries, "checks": checks, "smallest_drop": smallest_drop}
    if watch is not None:
        if bool(checks) != bool(watch.checks):
            raise Invalid("Make another watch to begin or end people's answers.", field="checks")
        Watch.objects.filter(pk=watch.pk).update(**changed, latest={}, due_at=now)
        log(project=project, actor=by, verb="change watch", target=watch, data=changed)
        return Watch.objects.get(pk=watch.pk)
    unknown = [each for each in scores if each not in SCORE_SIDES]
    if unknown or not scores:
        raise Invalid(f"Choose scores among {' and '.join(SCORE_SIDES)}.", field="scores")
    if length not in Watch.Length.values:
        raise Invalid(f"A period is a {' or a '.join(Watch.Length.values)}.", field="length")
    rows = list(System.objects.filter(project=project, name__in=systems))
    if missing := set(systems) - {row.name for row in rows}:
        raise Invalid(f"There is no system {min(missing)!r}.", field="systems")
    made = Watch.objects.create(
        project=project,
        scores=list(dict.fromkeys(scores)),
        length=length,
        reference_periods=reference_periods,
        yearly_rate=yearly_rate,
        group_by=group_by.strip(),
        starts_on=starts_on or now.date(),
        job=Job.objects.create(kind=Job.Kind.WATCH, project=project, state=Job.State.DONE),
        due_at=now,
        **changed,
    )
    made.systems.set(rows)
    data = {**changed, "systems": sorted(systems), "scores": made.scores, "length": length}
    log(project=project, actor=by, verb="make watch", target=made, data=data)
    return made


@transaction.atomic
def archive_watch(*, watch: Watch, by: User | None) -> Watch:
    """End a watch. Its periods stay readable; nothing is judged or mailed any more. A second call changes nothing."""
    require(by, watch.project, Verb.RUN)
    if watch.archived_at is None:
        watch.archived_at = shared_now()
        watch.save(update_fields=["archived_at"])
        log(project=watch.project, actor=by, verb="archive watch", target=watch)
    return watch
