"""The random choices of work: what could have been drawn, what was, with which chances, and how far it is judged.

Open to the blind but for the frame: nothing else here tells a summary or a system.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Count, Q

from annotation.core.paging import page_after
from annotation.models import Assignment, Draw, Event

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project

SAMPLES_ON_A_PAGE = 25
MADE_BY = ("assign", "queue sets")
"""Verbs in the log under which draws are made."""
IS_LIVE = Q(sitting__unassigned_at__isnull=True)
"""Which assignments may be answered or are."""
IS_OVER = Q(sitting__unassigned_at__isnull=False)
"""Which were taken away."""


@dataclass(frozen=True, slots=True)
class Chance:
    """An inclusion probability, above 0 and up to 1, and how many of the drawn items that were handed out had it."""

    probability: float
    items: int


class SampleCounts(NamedTuple):
    """How far a sample for assessors is, in comparisons: hidden repeats count for nothing."""

    given: int = 0
    answered: int = 0
    withdrawn: int = 0


@dataclass(frozen=True, slots=True)
class SetSample:
    """One sample. Items are document sets or single peer summaries, as `item` says.

    `drawn` of `frame` items were drawn. `given` comparisons of them stand before assessors or in the queue, each
    counted for everybody who judges it and hidden repeats for nothing; `answered` of these are submitted. `withdrawn`
    were taken away and are in nobody's hands, so that the chances no longer hold for what is judged.
    `made_by` is None where the program, or somebody who is not told by the log, made it.
    """

    draw_id: str
    method: str
    item: str
    share: float
    seed: int
    frame: int
    drawn: int
    chances: tuple[Chance, ...]
    given: int
    answered: int
    withdrawn: int
    made_by: str | None
    created_at: datetime

    @property
    def is_random(self) -> bool:
        return self.method != Draw.Method.EVERYTHING


@dataclass(frozen=True, slots=True)
class SetSamplePage:
    """Newest first; `after` names the next page, "" at the end."""

    rows: tuple[SetSample, ...]
    after: str


def set_samples(project: Project) -> QuerySet[Draw]:
    """The samples of work for assessors; what is drawn for reviewers is no business of the blind."""
    return Draw.objects.filter(project=project, item__in=(Draw.Item.DOCUMENT_SET, Draw.Item.COMPARISON))


def set_sample_page(project: Project, *, after: str = "") -> SetSamplePage:
    """One page of samples, the newest first. A fixed number of queries. Raises Invalid where its start is not there."""
    shown, after = page_after(set_samples(project), order=("-pk",), after=after, size=SAMPLES_ON_A_PAGE)
    return SetSamplePage(rows=tuple(set_sample_rows(shown)), after=after)


def set_sample_rows(draws: Sequence[Draw]) -> list[SetSample]:
    """These samples, in their order. Three queries, however many."""
    keys = [draw.pk for draw in draws]
    chances, counts, events = _chances(keys), counts_of(keys), _events(draws)
    return [
        SetSample(
            draw_id=draw.public_id,
            method=draw.method,
            item=draw.item,
            share=draw.share,
            seed=draw.seed,
            frame=len(draw.frame),
            drawn=_drawn(events.get(draw.public_id), chances[draw.pk, draw.item]),
            chances=tuple(chances[draw.pk, draw.item]),
            **counts.get(draw.pk, SampleCounts())._asdict(),
            made_by=_name_of(events.get(draw.public_id)),
            created_at=draw.created_at,
        )
        for draw in draws
    ]


def _chances(keys: Sequence[int]) -> dict[tuple[int, str], list[Chance]]:
    """By sample and kind of item the chances of what was handed out, the least first."""
    rows = (
        Assignment.objects.filter(draw__in=keys, inclusion_probability__isnull=False)
        .order_by("inclusion_probability")
        .values_list("draw_id", "inclusion_probability")
        .annotate(
            peers=Count("comparison__peer", distinct=True),
            sets=Count("sitting__document_set", distinct=True),
        )
    )
    found: dict[tuple[int, str], list[Chance]] = defaultdict(list)
    for draw_id, probability, peers, sets in rows:
        assert draw_id is not None, "they were found by their draw"
        assert probability is not None, "those without one were left out"
        found[draw_id, Draw.Item.COMPARISON].append(Chance(probability, peers))
        found[draw_id, Draw.Item.DOCUMENT_SET].append(Chance(probability, sets))
    return found


def counts_of(keys: Sequence[int]) -> dict[int, SampleCounts]:
    """How far these samples for assessors are, by key; without those of which nothing was handed out. One query."""
    rows = (
        Assignment.objects.filter(draw__in=keys)
        .order_by()
        .values_list("draw_id")
        .annotate(
            given=Count("pk", filter=IS_LIVE, distinct=True),
            answered=Count("pk", filter=IS_LIVE & Q(state=Assignment.State.SUBMITTED), distinct=True),
            withdrawn=Count("pk", filter=IS_OVER, distinct=True),
        )
    )
    return {key: SampleCounts(*counts) for key, *counts in rows if key is not None}


def _events(draws: Sequence[Draw]) -> dict[str, Event]:
    found = Event.objects.filter(
        project__in={draw.project_id for draw in draws},
        verb__in=MADE_BY,
        target_id__in=[draw.public_id for draw in draws],
    )
    return {event.target_id: event for event in found.select_related("actor")}


def _drawn(event: Event | None, chances: Sequence[Chance]) -> int:
    """What the log says was drawn; without a log what was handed out of it."""
    told = event.data.get("drawn") if event is not None else None
    return told if isinstance(told, int) else sum(chance.items for chance in chances)


def _name_of(event: Event | None) -> str | None:
    return event.actor.username if event is not None and event.actor is not None else None
