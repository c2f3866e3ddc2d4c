"""An assessor takes sets from the project's queue, takes one up again, or gives one back."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from annotation.permissions import Verb
from annotation.queries.assignments import own_sitting_whatever
from annotation.services import pull_sitting, recall_sitting
from annotation.web.htmx import Request
from annotation.web.rooms import enter
from annotation.web.screen import screen


@screen("POST")
def pull(request: Request, slug: str) -> HttpResponse:
    """The next set of the queue. A refusal says why there is none."""
    room = enter(request, slug, Verb.ASSESS, here="work")
    sitting = pull_sitting.pull(project=room.project, by=request.user)
    messages.success(request, f"You have {sitting.document_set.external_id} to judge.")
    return redirect("work", slug=slug)


@screen("POST")
def take_up(request: Request, slug: str, sitting_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSESS, here="work")
    lost = own_sitting_whatever(room.project, request.user, sitting_id)
    sitting = pull_sitting.take_up(sitting=lost, by=request.user)
    messages.success(request, f"You have {sitting.document_set.external_id} again, with all that you said.")
    return redirect("work", slug=slug)


@screen("POST")
def give_back(request: Request, slug: str, sitting_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSESS, here="work")
    sitting = own_sitting_whatever(room.project, request.user, sitting_id)
    recall_sitting.give_back(sitting=sitting, by=request.user)
    messages.success(request, f"{sitting.document_set.external_id} is back in the queue.")
    return redirect("work", slug=slug)
