"""Refusing unreadable forms and addresses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.template.defaultfilters import filesizeformat

from annotation.core.refusals import Refusal
from annotation.web.refusals import TooLarge, Unreadable, refused

NOTHING_SAVED = "Nothing was saved. Your input is still in your browser: go back to the form"


class ReadableRequests:
    """Middleware that answers unreadable requests with a page or notice: 413 if too large, otherwise 400.

    It must run before the CSRF check, which would read the form first. Views without the CSRF check, such as those of
    the API, read their bodies themselves.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: Any
    ) -> HttpResponse | None:
        if getattr(view, "csrf_exempt", False):
            return None
        fault = _fault_of_address(request) or (_fault_of_form(request) if request.method == "POST" else None)
        return refused(request, fault) if fault else None


def too_large() -> TooLarge:
    """Build the refusal of a body that exceeds the server's limit."""
    limit = filesizeformat(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    return TooLarge(f"This is more than the limit of {limit}. {NOTHING_SAVED} and send less.")


def _fault_of_address(request: HttpRequest) -> Refusal | None:
    if not _holds_nul(request.GET):
        return None
    return Unreadable("This address contains an invalid character (NUL, U+0000).")


def _fault_of_form(request: HttpRequest) -> Refusal | None:
    try:
        if _holds_nul(request.POST):
            fault = "This form contains an invalid character (NUL, U+0000)."
            return Unreadable(f"{fault} {NOTHING_SAVED} and remove it.")
    except RequestDataTooBig:
        return too_large()
    except TooManyFieldsSent:
        most = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
        return TooLarge(
            f"This form has more than the limit of {most:,} inputs. {NOTHING_SAVED} and send less."
        )
    except TooManyFilesSent:
        most = settings.DATA_UPLOAD_MAX_NUMBER_FILES
        return TooLarge(f"These are more than the limit of {most:,} files: send them in parts.")
    except (MultiPartParserError, BadRequest):
        return Unreadable(
            f"The form arrived incomplete, perhaps because the connection broke. {NOTHING_SAVED} and send it "
            "again."
        )
    return None


def _holds_nul(given: QueryDict) -> bool:
    # PostgreSQL can neither store nor search NUL.
    return any("\0" in value for _, values in given.lists() for value in values)
