from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from annotation.core.permissions import Verb, deleted_projects, visible_projects
from annotation.core.refusals import Conflict, Invalid, NotFound
from annotation.projects.services.close_project import (
    archive_project,
    delete_project,
    removed_at,
    restore_project,
    unarchive_project,
)
from annotation.web.htmx import Request
from annotation.web.rooms import enter
from annotation.web.screen import screen


@screen("GET", "POST")
def close_project(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.CLOSE_PROJECT, here="project-settings")
    project, status, fault = room.project, 200, ""
    if request.method == "POST":
        try:
            match request.POST.get("act"):
                case "delete":
                    delete_project(project=project, name=request.POST.get("name", ""), by=request.user)
                    messages.success(request, f"{project.name} is deleted. It can be restored for 30 days.")
                    return redirect("closed-projects")
                case "unarchive":
                    unarchive_project(project=project, by=request.user)
                    messages.success(request, f"{project.name} is open again.")
                case _:
                    archive_project(project=project, by=request.user)
                    messages.success(request, f"{project.name} is archived.")
            return redirect("close-project", slug=slug)
        except (Conflict, Invalid) as refusal:
            status, fault = 422, refusal.message
    context = {"room": room, "fault": fault, "days": 30}
    return render(request, "projects/close/page.html", context, status=status)


@screen("GET")
def closed_projects(request: Request) -> HttpResponse:
    archived = visible_projects(request.user).filter(archived_at__isnull=False)
    context = {
        "archived": archived.order_by("name"),
        "deleted": [
            (project, removed_at(project.deleted_at))
            for project in deleted_projects(request.user).order_by("name")
            if project.deleted_at is not None
        ],
    }
    return render(request, "projects/close/list.html", context)


@screen("POST")
def restore(request: Request, public_id: str) -> HttpResponse:
    project = deleted_projects(request.user).filter(public_id=public_id).first()
    if project is None:
        raise NotFound("There is no such deleted project.")
    restore_project(project=project, by=request.user)
    messages.success(request, f"{project.name} is restored.")
    return redirect("project", slug=project.slug)
