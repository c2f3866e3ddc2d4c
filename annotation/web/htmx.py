"""Responses with a page or a fragment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django_htmx.middleware import HtmxDetails

VARIES_BY = ("HX-Request", "HX-History-Restore-Request")
"""Request headers that decide between page and fragment."""


class Request(HttpRequest):
    """A request by a signed-in person. The class only declares types."""

    user: User
    htmx: HtmxDetails


def wants_fragment(request: HttpRequest) -> bool:
    """Return True if htmx inserts the response into an existing page.

    If htmx restores a page from the history, the result is False, because htmx needs the whole page.
    """
    details: HtmxDetails | None = getattr(request, "htmx", None)
    return bool(details) and details is not None and not details.history_restore_request


def page_or_fragment(
    request: HttpRequest,
    *,
    page: str,
    fragment: str,
    context: Mapping[str, object],
    status: int = 200,
) -> HttpResponse:
    """Render the fragment for htmx, otherwise the page that includes it."""
    template = fragment if wants_fragment(request) else page
    return render(request, template, dict(context), status=status)
