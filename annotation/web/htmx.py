"""Page or fragment: one view and one context, and two templates of which the page includes the fragment."""

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
    """A request of somebody signed in, as the middleware leaves it. For types alone."""

    user: User
    htmx: HtmxDetails


def wants_fragment(request: HttpRequest) -> bool:
    """Whether htmx will put the answer into a page that is there; a restored history needs the whole page."""
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
    """The fragment for htmx, the page that includes it for everybody else."""
    template = fragment if wants_fragment(request) else page
    return render(request, template, dict(context), status=status)
