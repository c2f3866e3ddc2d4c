"""Responses to requests that failed with an exception: a page, notice, JSON, API error or text."""

from __future__ import annotations

import math
import sys

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve

from annotation.api.errors import body_of, outage
from annotation.core.refusals import NotNow
from annotation.web.htmx import wants_fragment
from annotation.web.refusals import status_of, to_notices

HEADINGS = {503: "Database unavailable", 507: "The server's disk is full"}
BROKE = "Something went wrong. The server's log has the details."


def broken(request: HttpRequest) -> HttpResponse:
    """Respond to a failed request: 503 if the database is unavailable, 507 if the disk is full, otherwise 500."""
    error = sys.exc_info()[1]
    refusal = outage(error)
    response = _answer(request, refusal or Exception(BROKE), status=status_of(refusal) if refusal else 500)
    response["Cache-Control"] = "no-store"
    if isinstance(refusal, NotNow):
        response["Retry-After"] = math.ceil(refusal.wait)
    return response


def _answer(request: HttpRequest, error: Exception, *, status: int) -> HttpResponse:
    if request.path.startswith("/api/"):
        return JsonResponse(body_of(error), status=status)
    code, message = getattr(error, "code", "internal"), str(error)
    if _speaks_json(request):
        return JsonResponse({"code": code, "message": message}, status=status)
    heading = HEADINGS.get(status, "Something went wrong")
    if wants_fragment(request):
        notice = render_to_string("_refusal.html", {"heading": heading, "refusal": {"message": message}})
        return to_notices(HttpResponse(notice, status=status))
    if request.accepts("text/html"):
        page = "500.html" if status == 500 else "503.html"
        return HttpResponse(render_to_string(page, {"message": message, "heading": heading}), status=status)
    return HttpResponse(message, content_type="text/plain; charset=utf-8", status=status)


def _speaks_json(request: HttpRequest) -> bool:
    try:
        view = resolve(request.path_info).func
    except Resolver404:
        return False
    return bool(getattr(view, "speaks_json", False))
