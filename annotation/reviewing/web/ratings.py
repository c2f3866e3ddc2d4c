"""The page on which reviewers rate summaries by own criteria."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache

from annotation.core.criteria import asked_of_reviewers
from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid
from annotation.models import Summary
from annotation.reviewing.queries.ratings import next_to_rate
from annotation.reviewing.services.rate_summary import rate_summary as rate
from annotation.web.htmx import Request
from annotation.web.numbers import whole_number
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen

if TYPE_CHECKING:
    from django.http import QueryDict

PREFIX = "value-"


@screen("GET")
@never_cache
def rate_summaries(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.REVIEW, here="review")
    return _show(request, room, after=request.GET.get("after", ""))


@screen("POST")
def rate_summary(request: Request, slug: str, summary_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.REVIEW, here="review")
    summaries = Summary.objects.filter(document_set__project=room.project, is_summary=True)
    summary = found(summaries.select_related("document_set__project"), summary_id, "summary")
    try:
        rate(
            summary=summary,
            by=request.user,
            values=_values(request.POST),
            active_ms=whole_number(request.POST.get("active_ms", "")) or 0,
        )
    except Invalid as refusal:
        return _show(request, room, refusal=refusal)
    messages.success(request, "Saved.")
    return redirect("rate-summaries", slug=slug)


def _values(form: QueryDict) -> dict[str, int]:
    values: dict[str, int] = {}
    for name, typed in form.items():
        if name.startswith(PREFIX) and str(typed).strip():
            number = whole_number(str(typed))
            if number is None:
                raise Invalid(f"“{typed}” is no whole number.")
            values[name.removeprefix(PREFIX)] = number
    if not values:
        raise Invalid("Answer at least one question.")
    return values


def _show(request: Request, room: Room, *, after: str = "", refusal: Invalid | None = None) -> HttpResponse:
    shown = next_to_rate(room.project, request.user, after=after)
    is_asked = asked_of_reviewers(room.project).exists()
    context = {"room": room, "shown": shown, "refusal": refusal, "has_ratings": True, "is_asked": is_asked}
    return render(request, "reviewing/rate/page.html", context, status=status_of(refusal) if refusal else 200)
