"""The samples for reviewers as their manager follows them: how far each is, who made it, who answers, at which chances.

Counts and names alone, which tell nobody what was said: open to the blind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Count, Max, Min, OuterRef, Subquery

from annotation.models import Draw, DrawnCheck, Event, Verdict
from annotation.sampling.queries.check_samples import CheckSample, check_samples

if TYPE_CHECKING:
    from annotation.models import Project

SAMPLE_VERB = "draw checks"
"""The verb in the log under which checks are drawn."""


class AnsweredBy(NamedTuple):
    """How many of a sample's checks a person answered."""

    person: str
    checks: int


@dataclass(frozen=True, slots=True)
class SampleWork:
    """One sample of checks. `least` and `most` are the chances of what was drawn, None where nothing was.

    `event` is the log's line about it, which knows who made it and how. `people` gave the answers that it has, most
    first; answers that were there before the sample are theirs who gave them.
    """

    draw: CheckSample
    event: Event | None
    least: float | None
    most: float | None
    people: tuple[AnsweredBy, ...]

    @property
    def made_by(self) -> str | None:
        """None where the program made it."""
        return self.event.actor.username if self.event is not None and self.event.actor is not None else None

    @property
    def open(self) -> int:
        """How many of its checks lack an answer."""
        return self.draw.drawn - self.draw.answered


def sample_works(project: Project) -> list[SampleWork]:
    """The latest samples of checks, the newest first, as the plan and the overview know them.

    Four queries more than theirs, however many samples there are.
    """
    draws = check_samples(project)
    ids = [draw.draw_id for draw in draws]
    keys = dict(Draw.objects.filter(project=project, public_id__in=ids).values_list("pk", "public_id"))
    chances, people, events = _chances(keys), _people(keys), _events(project, ids)
    return [
        SampleWork(
            draw=draw,
            event=events.get(draw.draw_id),
            least=chances.get(draw.draw_id, (None, None))[0],
            most=chances.get(draw.draw_id, (None, None))[1],
            people=tuple(people[draw.draw_id]),
        )
        for draw in draws
    ]


def _chances(keys: Mapping[int, str]) -> dict[str, tuple[float, float]]:
    found = DrawnCheck.objects.filter(draw__in=keys).order_by().values_list("draw_id")
    ranges = found.annotate(Min("inclusion_probability"), Max("inclusion_probability"))
    return {keys[draw]: (least, most) for draw, least, most in ranges}


def _people(keys: Mapping[int, str]) -> dict[str, list[AnsweredBy]]:
    # Looked up answer by answer: joined, PostgreSQL begins with everything that people ever answered.
    giver = Verdict.objects.filter(pk=OuterRef("verdict_id")).values("person__username")
    rows = DrawnCheck.objects.filter(draw__in=keys, verdict__isnull=False).annotate(giver=Subquery(giver))
    counted = rows.order_by().values_list("draw_id", "giver").annotate(Count("pk"))
    found: dict[str, list[AnsweredBy]] = defaultdict(list)
    for draw, person, checks in sorted(counted, key=lambda row: (-row[2], row[1] or "")):
        if person is not None:
            found[keys[draw]].append(AnsweredBy(person, checks))
    return found


def _events(project: Project, ids: Collection[str]) -> dict[str, Event]:
    events = Event.objects.filter(project=project, verb=SAMPLE_VERB, target_id__in=ids).select_related(
        "actor"
    )
    return {event.target_id: event for event in events}
