"""The log of a project: filtered, page by page however deep, and as a stream."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Q

from annotation.core.paging import beyond
from annotation.core.refusals import NotFound
from annotation.models import (
    Claim,
    Comment,
    Comparison,
    Draw,
    Event,
    Guideline,
    PromptVersion,
    Question,
    Summary,
)

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project

ON_A_PAGE = 50
LOOKED_AT_FOR_WORDS = 2_000
AT_ONCE = 2_000
PROGRAM = ":program"
"""Stands in the place of a username for what the program did by itself; no username holds a colon."""
ORDER = ("-created_at", "-pk")


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Which events are wanted; what is empty excludes nothing. Days are whole days in UTC, both included."""

    verb: str = ""
    person: str = ""
    kind: str = ""
    row: str = ""
    first: date | None = None
    last: date | None = None

    @property
    def is_empty(self) -> bool:
        return self == LogFilter()


class Page(NamedTuple):
    """Events, newest first, and the public id after which older ones follow; empty on the last page."""

    events: list[Event]
    older: str


class Words(NamedTuple):
    """Verbs, kinds of rows and people in the log's recent events, to choose from."""

    verbs: list[str]
    kinds: list[str]
    people: list[str]


def events_of(project: Project, wanted: LogFilter) -> QuerySet[Event]:
    """The events that a filter lets through, newest first."""
    rows = Event.objects.filter(project=project).select_related("actor").order_by(*ORDER)
    exact = {"verb": wanted.verb, "target_kind": wanted.kind, "target_id": wanted.row}
    rows = rows.filter(**{column: value for column, value in exact.items() if value})
    if wanted.person == PROGRAM:
        rows = rows.filter(actor=None)
    elif wanted.person:
        # By key, so that the index of a person's events is used, also for somebody who has none.
        person = User.objects.filter(username=wanted.person).values_list("pk", flat=True).first()
        rows = rows.filter(actor=person) if person is not None else rows.none()
    if wanted.first is not None:
        rows = rows.filter(created_at__gte=_midnight(wanted.first))
    if wanted.last is not None:
        rows = rows.filter(created_at__lt=_midnight(wanted.last) + timedelta(days=1))
    return rows


def page_of(project: Project, wanted: LogFilter, *, after: str = "") -> Page:
    """One page, from the event after which it begins. Raises NotFound where there is no such event."""
    rows = events_of(project, wanted)
    if after:
        place = Event.objects.filter(project=project, public_id=after).values_list("created_at", "pk").first()
        if place is None:
            raise NotFound("There is no such event in this project.")
        rows = rows.filter(beyond(ORDER, place))
    found = list(rows[: ON_A_PAGE + 1])
    shown = found[:ON_A_PAGE]
    return Page(shown, shown[-1].public_id if len(found) > ON_A_PAGE else "")


def words_of(project: Project) -> Words:
    """What the last 2,000 events speak of, in the order of the alphabet."""
    rows = Event.objects.filter(project=project).order_by(*ORDER)
    found = list(rows.values_list("verb", "target_kind", "actor__username")[:LOOKED_AT_FOR_WORDS])
    verbs, kinds, people = ({row[column] for row in found if row[column]} for column in range(3))
    return Words(sorted(verbs), sorted(kinds), sorted(people))


def oldest_first(project: Project, wanted: LogFilter) -> Iterator[Event]:
    """All events that a filter lets through, read some at a time."""
    order = ("created_at", "pk")
    rows = events_of(project, wanted).order_by(*order)
    place: tuple[datetime, int] | None = None
    while True:
        some = list((rows.filter(beyond(order, place)) if place else rows)[:AT_ONCE])
        yield from some
        if len(some) < AT_ONCE:
            return
        place = some[-1].created_at, some[-1].pk


def places_of(project: Project, ids: Mapping[str, Iterable[str]]) -> dict[tuple[str, str], tuple[str, str]]:
    """Where rows are seen, by kind and public id: the kind of the place, and what its address names it by.

    One query for each kind of which the place does not follow from the row's own id; rows that are gone have none.
    """
    places = {(kind, key): (kind, key) for kind in ids for key in ids[kind] if kind not in _ELSEWHERE}
    for kind, find in _ELSEWHERE.items():
        if wanted := set(ids.get(kind, ())):
            places |= {(kind, key): place for key, place in find(project, wanted)}
    return places


def ids_by_kind(events: Sequence[Event]) -> Mapping[str, set[str]]:
    """The public ids of the rows that some events are about, by the kind of the row."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for event in events:
        found[event.target_kind].add(event.target_id)
    return found


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, tzinfo=UTC)


_Found = Iterator[tuple[str, tuple[str, str]]]


def _summaries(project: Project, ids: set[str]) -> _Found:
    rows = Summary.objects.filter(document_set__project=project, public_id__in=ids).order_by()
    for key, is_peer in rows.values_list("public_id", "is_peer"):
        yield key, ("summary" if is_peer else "model summary", key)


def _comparisons(project: Project, ids: set[str]) -> _Found:
    rows = Comparison.objects.filter(peer__document_set__project=project, public_id__in=ids).order_by()
    for key, peer in rows.values_list("public_id", "peer__public_id"):
        yield key, ("comparison", peer)


def _claims(project: Project, ids: set[str]) -> _Found:
    of_project = Q(claim_set__summary__document_set__project=project) | Q(
        claim_set__document_set__project=project
    )
    rows = Claim.all_claims.filter(of_project, public_id__in=ids).order_by()
    for key, summary, documents in rows.values_list(
        "public_id", "claim_set__summary__public_id", "claim_set__document_set__public_id"
    ):
        yield key, ("claim", summary or documents)


def _draws(project: Project, ids: set[str]) -> _Found:
    for key in (
        Draw.objects.filter(project=project, public_id__in=ids).order_by().values_list("public_id", flat=True)
    ):
        yield key, ("random sample of checks", key)


def _comments(project: Project, ids: set[str]) -> _Found:
    rows = Comment.objects.filter(project=project, public_id__in=ids).order_by()
    for key, claim in rows.values_list("public_id", "claim__public_id"):
        yield key, ("comment", claim)


def _guidelines(project: Project, ids: set[str]) -> _Found:
    rows = Guideline.objects.filter(project=project, public_id__in=ids).order_by()
    for key, version in rows.values_list("public_id", "version"):
        yield key, ("guideline", str(version))


def _prompts(project: Project, ids: set[str]) -> _Found:
    rows = PromptVersion.objects.filter(project=project, public_id__in=ids).order_by()
    for key, step in rows.values_list("public_id", "step"):
        yield key, ("prompt version", step)


def _questions(project: Project, ids: set[str]) -> _Found:
    rows = Question.objects.filter(document_set__project=project, public_id__in=ids).order_by()
    for key, document_set in rows.values_list("public_id", "document_set__public_id"):
        yield key, ("question", document_set)


_ELSEWHERE: Mapping[str, Callable[[Project, set[str]], _Found]] = {
    "summary": _summaries,
    "claim": _claims,
    "draw": _draws,
    "comparison": _comparisons,
    "comment": _comments,
    "guideline": _guidelines,
    "prompt version": _prompts,
    "question": _questions,
}
"""Rows that are seen on the page of another one, or on one page or another."""
