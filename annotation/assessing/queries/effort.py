"""How much assessors have worked, and how fast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count, Q, Sum

from annotation.models import SummaryJudgment, UnitJudgment
from annotation.models.judgment import ASKED_AT_PRESENT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import QuerySet

    from annotation.models import Sitting

MS_PER_HOUR = 3_600_000
MS_PER_MINUTE = 60_000
MS_PER_SECOND = 1000


@dataclass(frozen=True, slots=True)
class Effort:
    """Time at work, and what was done in it.

    `judged_units` counts the units in force with a percent, `active_ms` is the time at units and questions, idle time
    left out. `timed_units` are for the pace: those whose judgment came with a time.
    """

    judged_units: int = 0
    timed_units: int = 0
    active_ms: int = 0

    def __add__(self, other: Effort) -> Effort:
        return Effort(
            judged_units=self.judged_units + other.judged_units,
            timed_units=self.timed_units + other.timed_units,
            active_ms=self.active_ms + other.active_ms,
        )

    @property
    def hours(self) -> float:
        return self.active_ms / MS_PER_HOUR

    @property
    def minutes(self) -> float:
        return self.active_ms / MS_PER_MINUTE

    @property
    def units_per_hour(self) -> float | None:
        """Timed units by the hour of all work, questions included; None without any time."""
        return self.timed_units / self.hours if self.timed_units and self.active_ms else None

    @property
    def seconds_per_unit(self) -> float | None:
        """All work, questions included, by timed unit; None where no unit has a time."""
        return self.active_ms / MS_PER_SECOND / self.timed_units if self.timed_units else None


def effort_by_person(sittings: QuerySet[Sitting]) -> dict[int, Effort]:
    """The effort in these sittings by the key of the assessor. Two queries.

    What was taken away is no result any more, so its units are not among the judged ones; it took its time all the
    same, so it counts for hours and pace.
    """
    return _efforts(sittings, "assessor_id", Q(assignment__sitting__recalled_at__isnull=True))


def effort_by_sitting(sittings: QuerySet[Sitting]) -> dict[int, Effort]:
    """The effort in each of these sittings by its key, in those that were taken away, too. Two queries."""
    return _efforts(sittings, "pk", Q())


def total_effort(efforts: Iterable[Effort]) -> Effort:
    """All of them together."""
    return sum(efforts, start=Effort())


def _efforts(sittings: QuerySet[Sitting], key: str, counts: Q) -> dict[int, Effort]:
    chosen = sittings.order_by().values("pk")
    given = Q(is_current=True, percent__isnull=False)
    at_units = (
        UnitJudgment.objects.filter(assignment__sitting__in=chosen)
        .values_list(f"assignment__sitting__{key}")
        .annotate(
            judged=Count("pk", filter=given & counts & ASKED_AT_PRESENT),
            timed=Count("pk", filter=given & Q(active_ms__gt=0)),
            ms=Sum("active_ms"),
        )
        .order_by()
    )
    at_questions = (
        SummaryJudgment.objects.filter(sitting__in=chosen)
        .values_list(f"sitting__{key}")
        .annotate(ms=Sum("active_ms"))
        .order_by()
    )
    efforts = {who: Effort(judged, timed, ms or 0) for who, judged, timed, ms in at_units}
    for who, ms in at_questions:
        efforts[who] = efforts.get(who, Effort()) + Effort(active_ms=ms or 0)
    return efforts
