"""Sample projects to look at: added and removed by a click."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from annotation.core.permissions import Verb, roles_in, verbs_of
from annotation.sample.sample_projects import (
    ask_for_sample,
    is_sample,
    remove_sample_project,
    sample_project,
    samples_for,
)
from annotation.web.confirm import ask_to_confirm, is_confirmed
from annotation.web.htmx import Request
from annotation.web.rooms import enter
from annotation.web.screen import screen


@screen("GET")
def samples(request: Request) -> HttpResponse:
    shown = [
        {
            "sample": sample,
            "project": project,
            "roles": roles_in(request.user, project) if project else (),
            "is_ready": bool(project and sample.is_answered(project)),
            "is_taken": bool(project and not is_sample(project)),
            "may_remove": bool(project and Verb.MANAGE_MEMBERS in verbs_of(roles_in(request.user, project))),
        }
        for slug, sample, project in samples_for(request.user)
    ]
    context = {"samples": shown, "is_making": any(each["project"] and not each["is_ready"] for each in shown)}
    return render(request, "sample/list.html", context)


@screen("POST")
def add(request: Request, slug: str) -> HttpResponse:
    ask_for_sample(name=slug, by=request.user)
    messages.success(request, f"{sample_project(slug).name} is being made. It takes up to a minute.")
    return redirect("samples")


@screen("POST")
def remove(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.MANAGE_MEMBERS, here="project")
    if not is_confirmed(request):
        return ask_to_confirm(
            request,
            room,
            title=f"Remove {room.project.name}?",
            says=[
                "Its texts, answers, scores and log are deleted permanently. You can add the sample project again "
                "afterwards."
            ],
            act="Remove it",
            back="/samples/",
            fields={},
        )
    name = room.project.name
    remove_sample_project(project=room.project, by=request.user)
    messages.success(request, f"{name} is removed.")
    return redirect("samples")
