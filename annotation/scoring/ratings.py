from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Project, Rating, Summary


@dataclass(frozen=True, slots=True)
class GivenRating:
    """A rating or score of a summary, its judge ("" if it was computed) and the reason."""

    name: str
    value: float | None
    judge: str
    reason: str


def ratings_of(project: Project, summary: Summary) -> tuple[GivenRating, ...]:
    """The ratings of a summary: those of the deciding judge, and computed scores.

    For each criterion it is the judge's latest usable rating; if there is none, the judge's latest failure.
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
