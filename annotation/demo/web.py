from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from annotation.core.permissions import Verb, roles_in, verbs_of
from annotation.demo.harbour import DESCRIPTION, NAME, SLUG, is_harbour_answered
from annotation.demo.project import ask_for_sample, is_sample, remove_sample_project, sample_for
from annotation.web.confirm import ask_to_confirm, is_confirmed
from annotation.web.htmx import Request
from annotation.web.rooms import enter
from annotation.web.screen import screen


@screen("GET")
def sample(request: Request) -> HttpResponse:
    project = sample_for(request.user)
    roles = roles_in(request.user, project) if project else ()
    is_ready = bool(project and is_harbour_answered(project))
    context = {
        "name": NAME,
        "about": DESCRIPTION,
        "slug": SLUG,
        "project": project,
        "roles": roles,
        "is_ready": is_ready,
        "is_taken": bool(project and not is_sample(project)),
        "may_remove": Verb.MANAGE_MEMBERS in verbs_of(roles),
    }
    return render(request, "demo/sample.html", context)


@screen("POST")
def add(request: Request) -> HttpResponse:
    ask_for_sample(by=request.user)
    messages.success(request, f"{NAME} is being made. It takes up to a minute.")
    return redirect("sample")


@screen("POST")
def remove(request: Request) -> HttpResponse:
    room = enter(request, SLUG, Verb.MANAGE_MEMBERS, here="project")
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
            back="/sample/",
            fields={},
        )
    name = room.project.name
    remove_sample_project(project=room.project, by=request.user)
    messages.success(request, f"{name} is removed.")
    return redirect("sample")
