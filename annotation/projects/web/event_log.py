"""The log of a project: who did what to which row, filtered, and as a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.core.event_words import facts_of, in_words
from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid
from annotation.core.tables.answer import streamed_file
from annotation.projects.event_table import EVENT_CONTENT_TYPES, as_bytes
from annotation.projects.queries.event_log import (
    ON_A_PAGE,
    PROGRAM,
    LogFilter,
    ids_by_kind,
    oldest_first,
    page_of,
    places_of,
    words_of,
)
from annotation.web.htmx import Request
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from annotation.models import Event

HERE = "log"
LONGEST_WORD = 150


class Page(NamedTuple):
    """Where a row is seen: the name of the address, and what opens it. Without `needs_id` it is one page for all."""

    url_name: str
    verb: Verb
    needs_id: bool = True


PAGES: Mapping[str, Page] = {
    "check": Page("check", Verb.REVIEW),
    "comparison": Page("summary", Verb.VIEW_SCORES),
    "document set": Page("questions", Verb.VIEW_SCORES),
    "draw": Page("check-draws", Verb.ASSIGN, needs_id=False),
    "random sample of checks": Page("check-draws", Verb.ASSIGN, needs_id=False),
    "export": Page("exports", Verb.EXPORT, needs_id=False),
    "claim": Page("claims", Verb.CHANGE_CLAIMS),
    "comment on claim": Page("claim-comments", Verb.COMMENT),
    "comment on unit": Page("unit-comments", Verb.COMMENT),
    "guideline": Page("guideline", Verb.VIEW_PROJECT),
    "invitation": Page("people", Verb.MANAGE_MEMBERS, needs_id=False),
    "membership": Page("people", Verb.MANAGE_MEMBERS, needs_id=False),
    "model summary": Page("units", Verb.CHANGE_UNITS),
    "project": Page("project", Verb.VIEW_PROJECT, needs_id=False),
    "prompt version": Page("prompt", Verb.VIEW_RUNS),
    "question": Page("questions", Verb.VIEW_SCORES),
    "run": Page("run", Verb.VIEW_RUNS),
    "sitting": Page("assignments", Verb.ASSIGN, needs_id=False),
    "summary": Page("summary", Verb.VIEW_SCORES),
    "system": Page("system", Verb.VIEW_SCORES),
}
"""By the kind of place, as `places_of` names it."""


@dataclass(frozen=True, slots=True)
class Line:
    """An event on the page: `facts` are what it holds, in words; `address` is empty where no page shows its row."""

    event: Event
    person: str
    what: str
    facts: list[tuple[str, str]]
    address: str


@screen("GET")
def event_log(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_EVENTS, here=HERE)
    wanted = _wanted(request)
    page = page_of(room.project, wanted, after=request.GET.get("after", ""))
    query, words = _query(wanted), words_of(room.project)
    context = {
        "room": room,
        "lines": _lines(room, page.events),
        "older": urlencode({**query, "after": page.older}) if page.older else "",
        "is_first": not request.GET.get("after"),
        "wanted": wanted,
        "words": words,
        "verbs": _verbs(words.verbs, wanted.verb),
        "program": PROGRAM,
        "query": urlencode(query),
        "on_a_page": ON_A_PAGE,
    }
    return render(request, "projects/event_log/page.html", context)


@screen("GET")
def log_file(request: Request, slug: str) -> StreamingHttpResponse:
    """The events that the filter lets through, oldest first, as CSV or JSONL."""
    room = enter(request, slug, Verb.VIEW_EVENTS, here=HERE)
    name = request.GET.get("format", "csv")
    if name not in EVENT_CONTENT_TYPES:
        raise Invalid(
            f"The log comes as {' or '.join(EVENT_CONTENT_TYPES)}, not as {name!r}.", field="format"
        )
    events = oldest_first(room.project, _wanted(request))
    answer = streamed_file(
        as_bytes(events, name), content_type=EVENT_CONTENT_TYPES[name], name=f"{room.project.slug}-log.{name}"
    )
    answer["Cache-Control"] = "private, no-store"
    return answer


def _wanted(request: Request) -> LogFilter:
    words = {name: request.GET.get(name, "").strip() for name in ("verb", "person", "kind", "row")}
    for name, word in words.items():
        if len(word) > LONGEST_WORD or "\0" in word:
            raise Invalid(f"The log has no such kind: {word[:40]!r}.", field=name)
    return LogFilter(**words, first=_day(request, "first"), last=_day(request, "last"))


def _verbs(verbs: Sequence[str], wanted: str) -> list[tuple[str, str]]:
    """What can be filtered by: the verb as it is kept and what it is called, in the order of the alphabet."""
    return sorted({(verb, in_words(verb)) for verb in (*verbs, wanted) if verb}, key=lambda each: each[1])


def _day(request: Request, name: str) -> date | None:
    given = request.GET.get(name, "").strip()
    if not given:
        return None
    try:
        found = date.fromisoformat(given)
    except ValueError:
        raise Invalid(f"A day is written as 2026-01-31, not as {given[:40]!r}.", field=name) from None
    if found == date.max:
        raise Invalid("That day is too far off.", field=name)
    return found


def _query(wanted: LogFilter) -> dict[str, str]:
    return {name: str(value) for name, value in asdict(wanted).items() if value}


def _lines(room: Room, events: Sequence[Event]) -> list[Line]:
    places = places_of(room.project, ids_by_kind(events))
    return [
        Line(
            event=event,
            person=event.actor.username if event.actor else "",
            what=in_words(event.verb),
            facts=facts_of(event.data, kind=event.target_kind),
            address=_address(room, *places.get((event.target_kind, event.target_id), ("", ""))),
        )
        for event in events
    ]


def _address(room: Room, place: str, named: str) -> str:
    page = PAGES.get(place)
    if page is None or page.verb not in room.verbs:
        return ""
    return reverse(page.url_name, args=[room.project.slug, *([named] if page.needs_id else [])])
