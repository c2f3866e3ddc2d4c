"""Sample projects to look at: added and removed by a click."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from annotation.core.permissions import Verb, may_create_projects, roles_in, verbs_of
from annotation.core.refusals import NotAllowed
from annotation.models import Project
from annotation.sample.sample_projects import (
    SAMPLE_PROJECTS,
    ask_for_sample,
    is_sample,
    remove_sample_project,
    sample_project,
)
from annotation.web.confirm import ask_to_confirm, is_confirmed
from annotation.web.htmx import Request
from annotation.web.rooms import enter
from annotation.web.screen import screen


@screen("GET")
def samples(request: Request) -> HttpResponse:
    if not may_create_projects(request.user):
        raise NotAllowed("Sample projects are for people who may make projects here.")
    there = {each.slug: each for each in Project.objects.filter(slug__in=SAMPLE_PROJECTS)}
    shown = [
        {
            "sample": sample,
            "project": project,
            "roles": roles_in(request.user, project) if project else (),
            "is_ready": bool(project and sample.is_answered(project)),
            "is_taken": bool(project and not is_sample(project)),
            "may_remove": bool(project and Verb.MANAGE_MEMBERS in verbs_of(roles_in(request.user, project))),
        }
        for slug, sample in SAMPLE_PROJECTS.items()
        for project in [there.get(slug)]
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
                "Its texts, answers, scores and log go for good. You can add the sample project anew afterwards."
            ],
            act="Remove it",
            back="/samples/",
            fields={},
        )
    name = room.project.name
    remove_sample_project(project=room.project, by=request.user)
    messages.success(request, f"{name} is removed.")
    return redirect("samples")
