"""The queue of checks as a filtered list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from django.http import HttpResponse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache

from annotation.core.permissions import Verb
from annotation.core.readers import CheckReader
from annotation.models import DocumentSet, Project, System
from annotation.reviewing.queries.review_queue import (
    Filter,
    Only,
    has_panel,
    is_finished_sample,
    queue,
    reviewers,
    sample_first,
    sampled_scores,
    waiting_checks,
)
from annotation.reviewing.queries.sight import keeps_back
from annotation.reviewing.web.review import filters_of, reader_of
from annotation.reviewing.words import OPTIONS, TITLES
from annotation.sampling.queries.check_samples import HeldChecks, held_by_others, open_samples
from annotation.sampling.words import held_in_words
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.listing import listing_of
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen

SWITCHES = ("order", "only")
"""The filters that are one press away; the others are fields of a form."""


class Choice(NamedTuple):
    """One value of a filter: its words, itself, the address's query, and whether it is on."""

    words: str
    value: str
    query: str
    is_on: bool


class Settable(NamedTuple):
    """A filter with what it can be put to, as a switch or as a field of a form."""

    name: str
    title: str
    choices: list[Choice]


class Chosen(NamedTuple):
    """A filter that is on and has no switch: its name, its words, and the query without it."""

    name: str
    words: str
    query: str


@screen("GET")
@never_cache
def review(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.REVIEW, here="review")
    filters = filters_of(request)
    reader = reader_of(request, room)
    after = request.GET.get("after", "")
    hides_judge = keeps_back(room.project, reader)
    context = {
        "room": room,
        "filters": filters,
        "order": OPTIONS["order"][filters.order],
        "hides_judge": hides_judge,
        "has_panel": has_panel(room.project),
        "is_kept_back": filters.is_of_answers and room.project.reveal != Project.Reveal.SHOWN,
        "query": urlencode(filters.as_query()),
        "page": queue(room.project, reader, filters, after=after),
    }
    if not after:
        said = filters.as_query()
        settable = [] if filters.sample else _settable(room.project, filters, reader)
        fields = [each for each in settable if each.name not in SWITCHES]
        context |= {
            "listing": listing_of(
                request,
                what="claims and document sets",
                target="#queue",
                keep={name: word for name, word in said.items() if name != "q"},
            ),
            "switches": [each for each in settable if each.name in SWITCHES],
            "fields": fields,
            "chosen": list(_chosen(room.project, filters)),
            "hidden": {
                name: word for name, word in said.items() if name not in {each.name for each in fields}
            },
            "samples": open_samples(room.project, but=request.user),
            "sample": sample_first(room.project, reader) if filters == Filter() else None,
            "is_finished": is_finished_sample(room.project, filters),
            "sampled_scores": sampled_scores(filters),
            "held": held_in_words(_held(room, reader, filters)),
        }
    fragment = "reviewing/_rows.html" if after else "reviewing/_queue.html"
    return page_or_fragment(request, page="reviewing/queue.html", fragment=fragment, context=context)


def _held(room: Room, reader: CheckReader, filters: Filter) -> HeldChecks | None:
    """What of a sample is with somebody else; of other queues it is told at their end."""
    if not filters.sample:
        return None
    return held_by_others(waiting_checks(room.project, reader, filters), reader.person)


def _settable(project: Project, filters: Filter, reader: CheckReader) -> list[Settable]:
    """What the queue can be put to, in the order of the screen."""
    options = {name: dict(words) for name, words in OPTIONS.items()}
    if not has_panel(project):
        del options["only"][Only.SPLIT]
    if reader.may_see_all:
        rows = System.objects.filter(project=project).order_by("name")
        options["system"] = {"": "All", **dict(rows.values_list("public_id", "name"))}
    if filters.only in (Only.WAITING, Only.SPLIT):
        del options["label"]
    else:
        mine = {reader.person.username: "Me"}
        everybody = {name: name for name in reviewers(project)} if reader.may_see_all else mine
        options["reviewer"] = {"": "Anybody", **everybody}
    return [
        Settable(
            name,
            TITLES[name],
            [
                Choice(words, value, _with(filters, name, value), getattr(filters, name) == value)
                for value, words in choices.items()
            ],
        )
        for name, choices in options.items()
    ]


def _with(filters: Filter, name: str, value: str) -> str:
    changed = {**filters.as_query(), name: value}
    if changed.get("only", Only.WAITING) in (Only.WAITING, Only.SPLIT):
        changed |= {"label": "", "reviewer": ""}
    return urlencode(Filter.read(changed).as_query())


def _chosen(project: Project, filters: Filter) -> Iterator[Chosen]:
    if filters.document_set:
        rows = DocumentSet.objects.filter(project=project, public_id=filters.document_set)
        name = rows.values_list("external_id", flat=True).first() or "unknown"
        yield Chosen("Document set", name, _with(filters, "document_set", ""))
    if filters.q:
        yield Chosen("Search", filters.q, _with(filters, "q", ""))
