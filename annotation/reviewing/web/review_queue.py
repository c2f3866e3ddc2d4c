"""The queues of checks: a filtered list, and random draws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache

from annotation.core.permissions import Verb
from annotation.core.readers import CheckReader
from annotation.core.refusals import Conflict, Invalid
from annotation.models import DocumentSet, Draw, Project, System
from annotation.models.base import SEED_BITS, new_seed
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
from annotation.sampling.queries.check_samples import HeldChecks, check_samples, held_by_others, open_samples
from annotation.sampling.queries.pace import seconds_per_check
from annotation.sampling.services.cancel_sample import cancel_sample
from annotation.sampling.services.sample_checks import sample_checks as draw
from annotation.sampling.services.sample_checks import sample_size
from annotation.sampling.words import SAMPLE_TERMS, held_in_words, method_in_words, work_in_words
from annotation.web.confirm import ask_to_confirm, is_confirmed
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.listing import listing_of
from annotation.web.numbers import whole_number
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen

SWITCHES = ("order", "only")
"""The filters that are one press away; the others are fields of a form."""
METHODS = (
    (Draw.Method.UNIFORM, "simple random sample"),
    (Draw.Method.STRATIFIED, "the same share of each system and length"),
    (Draw.Method.ACTIVE, "more checks where the judge is uncertain"),
)


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
        "is_kept_back": filters.is_of_answers and hides_judge,
        "query": urlencode(filters.as_query()),
        "page": queue(room.project, reader, filters, after=after),
    }
    if not after:
        said = filters.as_query()
        settable = [] if filters.draw else _settable(room.project, filters, reader)
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
            "draws": open_samples(room.project, but=request.user),
            "sample": sample_first(room.project, reader) if filters == Filter() else None,
            "is_finished": is_finished_sample(room.project, filters),
            "sampled_scores": sampled_scores(filters),
            "held": held_in_words(_held(room, reader, filters)),
        }
    fragment = "reviewing/_rows.html" if after else "reviewing/_queue.html"
    return page_or_fragment(request, page="reviewing/queue.html", fragment=fragment, context=context)


@screen("GET")
def check_samples_page(request: Request, slug: str) -> HttpResponse:
    return _draws(request, enter(request, slug, Verb.ASSIGN, here="assignments"))


@screen("POST")
def sample_checks(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSIGN, here="assignments")
    try:
        asked: Any = {
            "project": room.project,
            "by": request.user,
            "method": request.POST.get("method", ""),
            "share": _share(request.POST.get("share", "")),
            "side": request.POST.get("side", ""),
            "seed": _seed(request.POST.get("seed", "")),
        }
        if not is_confirmed(request):
            return ask_to_confirm(
                request,
                room,
                title="Create this random sample?",
                says=(work_in_words(sample_size(**asked), *seconds_per_check(room.project)), SAMPLE_TERMS),
                act="Create the random sample",
                back=reverse("check-draws", args=[slug]),
                fields={"seed": asked["seed"]},
            )
        drawn = draw(**asked)
    except Invalid as refusal:
        return _draws(request, room, refusal=refusal)
    messages.success(request, f"{drawn.drawn_checks.count():,} claims sampled for review.")
    return redirect("check-draws", slug)


@screen("POST")
def cancel_check_sample(request: Request, slug: str, draw_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSIGN, here="assignments")
    rows = Draw.objects.filter(project=room.project).select_related("project").defer("frame")
    try:
        cancel_sample(draw=found(rows, draw_id, "random sample"), by=request.user)
    except (Conflict, Invalid) as refusal:
        return _draws(request, room, refusal=refusal)
    messages.success(
        request, "Random sample cancelled. Its answers still count in scores, but no estimate uses them."
    )
    return redirect("check-draws", slug)


def _draws(request: Request, room: Room, *, refusal: Conflict | Invalid | None = None) -> HttpResponse:
    context = {
        "room": room,
        "draws": [(sample, method_in_words(sample.method, None)) for sample in check_samples(room.project)],
        "methods": METHODS,
        "sides": OPTIONS["side"].items(),
        "refusal": refusal,
        "form": request.POST,
    }
    return render(request, "reviewing/draws.html", context, status=status_of(refusal) if refusal else 200)


def _held(room: Room, reader: CheckReader, filters: Filter) -> HeldChecks | None:
    """What of a draw is with somebody else; of other queues it is told at their end."""
    if not filters.draw:
        return None
    return held_by_others(waiting_checks(room.project, reader, filters), reader.person)


def _share(percent: str) -> float:
    try:
        return float(percent) / 100
    except ValueError as error:
        raise Invalid("The share must be a percentage.", field="share") from error


def _seed(words: str) -> int:
    """The seed that the form carries from its first page to the second, so that what is confirmed is what is made."""
    seed = whole_number(words, most=2**SEED_BITS - 1)
    return new_seed() if seed is None else seed


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
