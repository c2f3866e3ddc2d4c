"""Criteria that people answer, and their answers."""

from __future__ import annotations

from annotation.assessing.services.acts import RatingAct
from annotation.core.criteria import criterion_of
from annotation.models import Criterion as Row
from annotation.models import Judge, Project, Rating, Reading, Summary
from annotation.projects.services.set_criteria import set_criteria
from evaluation.metrics import JUDGED, UNMARKED, Criterion


def ask(project: Project, *criteria: Criterion) -> None:
    set_criteria(project, [*criteria, UNMARKED])


def criterion(reading_id: str, name: str) -> Row:
    project = Reading.objects.get(public_id=reading_id).assignment.document_set.project
    return project.criteria.filter(name=name).latest("version")


def on(
    reading_id: str, name: str, value: int | None, active_ms: int = 0, *, follows: int | None = None
) -> RatingAct:
    public_id = criterion(reading_id, name).public_id
    return RatingAct(reading_id, public_id, value, active_ms, follows=follows)


def answers() -> dict[str, int]:
    rows = Rating.objects.filter(judge=None).order_by("pk").values_list("criterion__name", "value")
    return {name: int(value) for name, value in dict(rows).items() if value is not None}


def judge_rates(
    summary: Summary, judge: Judge, value: float | None, *, name: str = "conciseness", reason: str = ""
) -> Rating:
    return Rating.objects.create(
        criterion=criterion_of(summary.document_set.project, JUDGED[name]),
        summary=summary,
        role=Rating.Role.JUDGE,
        judge=judge,
        origin_name="lexical",
        value=value,
        reason=reason,
    )


def computed(summary: Summary, name: str, value: float, reason: str = "") -> None:
    summary.computed[name] = {"value": value, "reason": reason, "version": f"{name}:1"}
    summary.save(update_fields=["computed"])
