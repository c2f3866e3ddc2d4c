from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Project, Rating, Summary


@dataclass(frozen=True, slots=True)
class GivenRating:
    """A rating, on the scale of its criterion, or a computed score of a summary, with its reason.

    `judge` is "" if a formula computed the score. `value` is None if there is no usable rating; `reason` is then the
    cause.
    """

    name: str
    value: float | None
    judge: str
    reason: str


def ratings_of(project: Project, summary: Summary) -> tuple[GivenRating, ...]:
    """Load the deciding judge's ratings of a summary, and its computed scores, sorted by name.

    The rating of a criterion is the judge's latest usable one. Without a usable rating, it is the latest failure,
    with the value None.
    """
    latest = {
        name: GivenRating(name, made["value"], "", made["reason"]) for name, made in summary.computed.items()
    }
    rows = Rating.objects.filter(judge=project.deciding_judge_id, summary=summary, criterion__retired_at=None)
    columns = ("criterion__name", "value", "judge__name", "reason")
    for name, value, judge, reason in rows.exclude(judge=None).order_by("pk").values_list(*columns):
        before = latest.get(name)
        if value is None and before is not None and before.value is not None:
            continue
        latest[name] = GivenRating(name, value, judge or "", reason)
    return tuple(latest[name] for name in sorted(latest))
