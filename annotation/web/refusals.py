"""Refusals as a page, or as a notice on the current page."""

from __future__ import annotations

import math
from urllib.parse import urlsplit

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.csrf import csrf_failure

from annotation.core.refusals import (
    Conflict,
    Invalid,
    NoSpace,
    NotAllowed,
    NotFound,
    NotNow,
    NotReady,
    Refusal,
    TooMany,
)
from annotation.web.htmx import wants_fragment


class Unreadable(Refusal):
    """The request is not a readable form."""

    default_code = "unreadable"


class TooLarge(Refusal):
    """The request exceeds the server's limit."""

    default_code = "too_large"


PAGE_STATUS: dict[type[Refusal], int] = {
    NotFound: 404,
    NotAllowed: 403,
    Conflict: 409,
    Invalid: 422,
    TooLarge: 413,
    Unreadable: 400,
    NotReady: 503,
    TooMany: 429,
    NoSpace: 507,
}

HEADINGS = {
    400: "Invalid input",
    413: "Too much data",
    404: "Page not found",
    403: "No access",
    409: "Something changed in the meantime",
    422: "This is not possible now",
    429: "Too many requests",
    503: "Not ready yet",
    507: "The disk is full",
}

NOTICES = "#notices"
"""The part of a page that shows refusals."""


def status_of(refusal: Refusal) -> int:
    return next((status for kind, status in PAGE_STATUS.items() if isinstance(refusal, kind)), 400)


def refused(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    """Render the refusal as a page or, for htmx, as a notice."""
    status = status_of(refusal)
    context = {
        "refusal": refusal,
        "heading": HEADINGS.get(status, "Request refused"),
        "slug": request.resolver_match.kwargs.get("slug") if request.resolver_match else None,
        "back": page_before(request),
    }
    if wants_fragment(request):
        return to_notices(render(request, "_refusal.html", context, status=status))
    response = render(request, "refusal.html", context, status=status)
    if isinstance(refusal, NotNow):
        response["Retry-After"] = math.ceil(refusal.wait)
    return response


def to_notices(response: HttpResponse) -> HttpResponse:
    """Make htmx put a fragment into the page's notices, and not into the element that sent the request."""
    response["HX-Retarget"] = NOTICES
    response["HX-Reswap"] = "innerHTML"
    return response


def sign_in_first(request: HttpRequest) -> HttpResponse:
    """Redirect to the sign-in page. htmx gets 401 and a notice instead."""
    after = request.get_full_path() if request.method in ("GET", "HEAD") else page_before(request)
    if wants_fragment(request):
        return to_notices(render(request, "_signed_out.html", {"after": after}, status=401))
    return redirect_to_login(after)


def form_expired(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Respond to a form without a valid CSRF token. If nobody is signed in, htmx gets the notice to sign in."""
    if wants_fragment(request) and not request.user.is_authenticated:
        return sign_in_first(request)
    return csrf_failure(request, reason)


def page_before(request: HttpRequest) -> str:
    """Return the path of the page that sent the request; "/" if it is no page of ours."""
    referer = request.headers.get("Referer", "")
    if not referer or not url_has_allowed_host_and_scheme(referer, allowed_hosts={request.get_host()}):
        return "/"
    parts = urlsplit(referer)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path or "/"
