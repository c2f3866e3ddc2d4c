"""An id for each request, and a line in the log."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable

import structlog
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

HEADER = "X-Request-ID"
UNMATCHED = "none"
_SANE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")

logger = structlog.get_logger(__name__)


class KnownRequests:
    """Middleware that logs each request with an id.

    The log has the route and the project but not the address, which may contain the secret of a link.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request_id = _id_of(request)
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            began = time.perf_counter()
            response = self.get_response(request)
            seconds = time.perf_counter() - began
            method, route = request.method or "", route_of(request)
            match = request.resolver_match
            project = {"project": match.kwargs["slug"]} if match and "slug" in match.kwargs else {}
            logger.info(
                "request",
                method=method,
                route=route,
                status=response.status_code,
                seconds=round(seconds, 4),
                **project,
            )
        response[HEADER] = request_id
        return response


def route_of(request: HttpRequest) -> str:
    """Return the URL pattern of the request, without the values; `UNMATCHED` if no pattern matches."""
    match = request.resolver_match
    return match.route if match else UNMATCHED


def _id_of(request: HttpRequest) -> str:
    given = request.headers.get(HEADER, "") if settings.TRUST_REQUEST_ID else ""
    return given if _SANE.fullmatch(given) else secrets.token_hex(16)
