"""The draws for reviewers as their manager follows them: how far each is, who made it, who answers, at which chances.

Counts and names alone, which tell nobody what was said: open to the blind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Count, Max, Min, OuterRef, Subquery

from annotation.models import Draw, DrawnCheck, Event, Verdict
from annotation.queries.check_draws import CheckDraw, check_draws

if TYPE_CHECKING:
    from annotation.models import Project

DRAWN = "draw checks"
"""The verb in the log under which checks are drawn."""
METHODS: dict[str, str] = {
    Draw.Method.UNIFORM: "by lot",
    Draw.Method.STRATIFIED: "by lot within each system and length",
    Draw.Method.ACTIVE: "the doubtful more often",
}
PLANNED_STRATA = "by lot within each system, length and doubt of the judge"
"""What a stratified draw of the plan is: its strata are finer than those of others."""


class Answered(NamedTuple):
    """How many of a draw's checks a person answered."""

    person: str
    checks: int


@dataclass(frozen=True, slots=True)
class DrawWork:
    """One draw of checks. `least` and `most` are the chances of what was drawn, None where nothing was.

    `made_by` is None where the program made it. `people` gave the answers that it has, most first; answers that
    were there before the draw are theirs who gave them.
    """

    draw: CheckDraw
    method: str
    made_by: str | None
    least: float | None
    most: float | None
    people: tuple[Answered, ...]

    @property
    def open(self) -> int:
        """How many of its checks lack an answer."""
        return self.draw.drawn - self.draw.answered

    @property
    def chances_in_words(self) -> str:
        """The chance of the drawn checks, or the least and the greatest, to four digits; empty without any."""
        if self.least is None or self.most is None:
            return ""
        least, most = f"{self.least:.4g}", f"{self.most:.4g}"
        return least if least == most else f"{least} to {most}"


def draw_works(project: Project) -> list[DrawWork]:
    """The latest draws of checks, the newest first, as the plan and the overview know them.

    Four queries more than theirs, however many draws there are.
    """
    draws = check_draws(project)
    ids = [draw.draw_id for draw in draws]
    keys = dict(Draw.objects.filter(project=project, public_id__in=ids).values_list("pk", "public_id"))
    chances, people, events = _chances(keys), _people(keys), _events(project, ids)
    return [
        DrawWork(
            draw=draw,
            method=method_in_words(draw.method, events.get(draw.draw_id)),
            made_by=_name_of(events.get(draw.draw_id)),
            least=chances.get(draw.draw_id, (None, None))[0],
            most=chances.get(draw.draw_id, (None, None))[1],
            people=tuple(people[draw.draw_id]),
        )
        for draw in draws
    ]


def method_in_words(method: str, event: Event | None) -> str:
    """How checks were drawn; `event` is the log's line about the draw, which knows whether the plan made it."""
    if method == Draw.Method.STRATIFIED and event is not None and "planned" in event.data:
        return PLANNED_STRATA
    return METHODS[method]


def event_of(draw: Draw) -> Event | None:
    """The log's line about a draw of checks; None where there is none."""
    return Event.objects.filter(project=draw.project_id, verb=DRAWN, target_id=draw.public_id).first()


def _chances(keys: Mapping[int, str]) -> dict[str, tuple[float, float]]:
    found = DrawnCheck.objects.filter(draw__in=keys).order_by().values_list("draw_id")
    ranges = found.annotate(Min("inclusion_probability"), Max("inclusion_probability"))
    return {keys[draw]: (least, most) for draw, least, most in ranges}


def _people(keys: Mapping[int, str]) -> dict[str, list[Answered]]:
    # Looked up answer by answer: joined, PostgreSQL begins with everything that people ever answered.
    giver = Verdict.objects.filter(pk=OuterRef("verdict_id")).values("person__username")
    rows = DrawnCheck.objects.filter(draw__in=keys, verdict__isnull=False).annotate(giver=Subquery(giver))
    counted = rows.order_by().values_list("draw_id", "giver").annotate(Count("pk"))
    found: dict[str, list[Answered]] = defaultdict(list)
    for draw, person, checks in sorted(counted, key=lambda row: (-row[2], row[1] or "")):
        if person is not None:
            found[keys[draw]].append(Answered(person, checks))
    return found


def _events(project: Project, ids: Collection[str]) -> dict[str, Event]:
    events = Event.objects.filter(project=project, verb=DRAWN, target_id__in=ids).select_related("actor")
    return {event.target_id: event for event in events}


def _name_of(event: Event | None) -> str | None:
    return event.actor.username if event is not None and event.actor is not None else None
