from __future__ import annotations

from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache

from annotation.core.criteria import asked_of_reviewers
from annotation.core.lists import Listing
from annotation.core.permissions import Verb
from annotation.models import DocumentSet
from annotation.reviewing.queries.again import waiting_again
from annotation.reviewing.queries.review_queue import (
    counts_down,
    goes_by_answers,
    queue_of,
    sample_first,
    sample_left,
)
from annotation.reviewing.queries.sight import hides_answers
from annotation.sampling.queries.check_samples import held_by_others, open_samples
from annotation.web.htmx import Request
from annotation.web.lists import list_page
from annotation.web.rooms import enter
from annotation.web.screen import screen


@screen("GET")
@never_cache
def review(request: Request, slug: str) -> HttpResponseBase:
    room = enter(request, slug, Verb.REVIEW, here="review")
    return list_page(
        request,
        room,
        queue_of(request.GET),
        page="reviewing/queue.html",
        fragment="reviewing/_queue.html",
        context=_beside,
    )


def _beside(queue: Listing) -> dict[str, object]:
    viewer = queue.viewer
    is_sample = "sample" in queue.chosen
    # For a sample, count the checks that other people hold, because a sample must be completed.
    held = held_by_others(queue.found, viewer.person) if is_sample else None
    return {
        "has_ratings": asked_of_reviewers(viewer.project).exists(),
        "again": waiting_again(viewer.project, viewer.person).count(),
        "counted": queue.found.order_by().count(),
        "counts_down": counts_down(queue),
        "hides_judge": hides_answers(viewer),
        "is_kept_back": goes_by_answers(queue),
        "samples": open_samples(viewer.project, but=viewer.person),
        "sample": None if is_sample or queue.is_narrowed or queue.sort else sample_first(viewer),
        "part": sample_left(queue),
        "held": held.sentence if held else "",
        "set_name": _set_name(queue),
        "without_set": queue.query(document_set=""),
    }


def _set_name(queue: Listing) -> str:
    chosen = queue.chosen.get("document_set")
    found = DocumentSet.objects.filter(project=queue.viewer.project, public_id=chosen) if chosen else None
    return (found.values_list("external_id", flat=True).first() or "unknown") if found is not None else ""
