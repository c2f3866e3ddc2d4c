"""The list of projects and the overview of one project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from annotation.analysis.leaderboard.bars import league
from annotation.analysis.leaderboard.leaderboards import opening_board
from annotation.core.permissions import Verb, may_create_projects
from annotation.judging.queries.runs import is_worker_alive, latest_run, run_progress
from annotation.models import Run
from annotation.projects.queries.overview import contents, project_cards
from annotation.projects.web.next_steps import next_steps
from annotation.web.htmx import Request
from annotation.web.rooms import enter
from annotation.web.screen import screen

if TYPE_CHECKING:
    from annotation.web.rooms import Room

EXCERPT = 5


def projects(request: HttpRequest) -> HttpResponseBase:
    if request.user.is_authenticated or request.method not in ("GET", "HEAD"):
        return _projects(request)
    context = {"is_empty": not User.objects.exists()}
    return render(request, "projects/landing.html", context)


@screen("GET")
def _projects(request: Request) -> HttpResponse:
    context = {"cards": project_cards(request.user), "may_create": may_create_projects(request.user)}
    return render(request, "projects/list.html", context)


@screen("GET")
def project(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_PROJECT, here="project")
    size = contents(room.project)
    run = latest_run(room.project) if Verb.VIEW_RUNS in room.verbs else None
    is_active = run is not None and run.state == Run.State.ACTIVE
    context = {
        "room": room,
        "contents": size,
        "run": run,
        "progress": run_progress(run) if run and is_active else None,
        "waits_for_worker": is_active and not is_worker_alive(),
        "steps": list(next_steps(room, request.user, size)),
        **_excerpt(room),
    }
    return render(request, "projects/overview.html", context)


def _excerpt(room: Room) -> dict[str, object]:
    if Verb.VIEW_SCORES not in room.verbs:
        return {"excerpt": None}
    stored, made = opening_board(room.project, wait=False)
    table = stored.foremost if stored else None
    return {"excerpt": league(table, most=EXCERPT) if table else None, "is_old": made.is_stale}
