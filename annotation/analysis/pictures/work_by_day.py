"""How much people judged and answered on each day, beside all there is to judge and to answer.

Counts alone, which tell nobody what was said. Sets that the viewer has open are left out: how long a model summary is
shows only after the quality questions.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Exists, Min, OuterRef, Q
from django.db.models.functions import TruncDate

from annotation.assessing.queries.progress import AssessingProgress
from annotation.models import Sitting, UnitJudgment, Verdict
from annotation.models.judgment import ASKED_AT_PRESENT
from annotation.sampling.queries.check_samples import drawable

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project


@dataclass(frozen=True, slots=True)
class DayCounts:
    """One kind of work: `scope` is all there is of it, `by_day` what was done on each day with any."""

    scope: int
    by_day: dict[date, int]

    @property
    def done(self) -> int:
        return sum(self.by_day.values())


def judged_by_day(project: Project, *, viewer: User) -> DayCounts:
    """Percents of model units in all sittings, waiting ones and repeats included, by the day they were last changed."""
    own = Sitting.objects.filter(
        document_set=OuterRef("document_set"),
        assessor=viewer,
        closed_at__isnull=True,
        recalled_at__isnull=True,
    )
    sittings = Sitting.objects.filter(~Exists(own), document_set__project=project, recalled_at__isnull=True)
    keys = list(sittings.values_list("pk", flat=True))
    progress = AssessingProgress.read(project, keys)
    judged = (
        UnitJudgment.objects.filter(
            ASKED_AT_PRESENT,
            assignment__sitting__in=sittings,
            is_current=True,
            percent__isnull=False,
        )
        .order_by()
        .values_list(TruncDate("created_at"))
        .annotate(Count("pk"))
    )
    scope = sum(sum(piece.total for piece in progress.of(key).pieces.values()) for key in keys)
    return DayCounts(scope=scope, by_day=dict(judged))


def answered_by_day(project: Project) -> DayCounts:
    """Claims that reviewers answered here, by the day of the first answer that was not taken back.

    Claims whose answers all came with a file, which nobody gave on the day of the import, are no work of this project.
    Neither are those that need no answer, since the summary is empty.
    """
    checks = drawable(project)
    first_here = Min("created_at", filter=Q(person__isnull=False))
    first = (
        Verdict.objects.filter(
            check_row__in=checks,
            source=Verdict.Source.REVIEWER,
            withdrawn_at__isnull=True,
            label__isnull=False,
        )
        .order_by()
        .values("check_row")
        .annotate(day=TruncDate(first_here))
    )
    by_day: Counter[date | None] = Counter(first.values_list("day", flat=True))
    brought = by_day.pop(None, 0)
    return DayCounts(
        scope=checks.count() - brought,
        by_day={day: count for day, count in by_day.items() if day is not None},
    )


def payload(project: Project) -> dict[str, Any]:
    """What reviewers answered by day as plain values, to be stored."""
    counts = answered_by_day(project)
    return {"scope": counts.scope, "by_day": {day.isoformat(): n for day, n in sorted(counts.by_day.items())}}
