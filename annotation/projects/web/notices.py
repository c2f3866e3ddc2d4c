"""Notices: what waits for the person, in all their projects."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme

from annotation.projects.queries.notices import SHOWN, latest, notices_of
from annotation.projects.services.read_notices import mark_all_read, mark_read
from annotation.web.htmx import Request
from annotation.web.rooms import found
from annotation.web.screen import screen


@screen("GET")
def notices(request: Request) -> HttpResponse:
    rows = latest(request.user)
    context = {"notices": rows, "unread": sum(row.read_at is None for row in rows), "shown": SHOWN}
    return render(request, "projects/notices/page.html", context)


@screen("POST")
def open_notice(request: Request, notice_id: str) -> HttpResponse:
    """To the page that a notice speaks of; it counts as read then."""
    notice = mark_read(notice=found(notices_of(request.user), notice_id, "notice"), by=request.user)
    is_ours = url_has_allowed_host_and_scheme(notice.address, allowed_hosts=None)
    return redirect(notice.address if is_ours else "notices")


@screen("POST")
def read_notice(request: Request, notice_id: str) -> HttpResponse:
    mark_read(notice=found(notices_of(request.user), notice_id, "notice"), by=request.user)
    return redirect("notices")


@screen("POST")
def read_notices(request: Request) -> HttpResponse:
    count = mark_all_read(by=request.user, up_to=request.POST.get("up_to", ""))
    messages.success(request, f"{count} marked as read." if count else "There were no unread notices.")
    return redirect("notices")
