"""How judges rated a summary."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q

from annotation.models import Project, Rating, Summary


@dataclass(frozen=True, slots=True)
class GivenRating:
    """A number for a summary, who gave it (empty: it was computed), and the reason where there is one."""

    name: str
    value: float | None
    judge: str
    reason: str


def ratings_of(project: Project, summary: Summary) -> tuple[GivenRating, ...]:
    """The latest usable rating of each name, else the latest failure: the deciding judge's, or computed."""
    counts = Q(judge__isnull=True) | Q(judge_id=project.deciding_judge_id)
    latest: dict[str, GivenRating] = {}
    rows = Rating.objects.filter(counts, summary=summary).order_by("pk")
    for name, value, judge, reason in rows.values_list("name", "value", "judge__name", "reason"):
        before = latest.get(name)
        if value is None and before is not None and before.value is not None:
            continue
        latest[name] = GivenRating(name, value, judge or "", reason)
    return tuple(latest[name] for name in sorted(latest))
