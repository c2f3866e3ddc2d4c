"""Decorators for views."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_cache_control, patch_vary_headers

from annotation.core.refusals import Invalid, NotFound, Refusal
from annotation.web.bodies import too_large
from annotation.web.htmx import VARIES_BY, Request
from annotation.web.refusals import refused, sign_in_first, status_of

Arguments = ParamSpec("Arguments")


def screen(
    *methods: str,
) -> Callable[
    [Callable[Concatenate[Request, Arguments], HttpResponseBase]],
    Callable[Concatenate[HttpRequest, Arguments], HttpResponseBase],
]:
    """Make a view for signed-in people that allows these methods (HEAD with GET) and shows refusals as pages."""
    allowed = [*methods, "HEAD"] if "GET" in methods else list(methods)

    def decorate(
        view: Callable[Concatenate[Request, Arguments], HttpResponseBase],
    ) -> Callable[Concatenate[HttpRequest, Arguments], HttpResponseBase]:
        @wraps(view)
        def answer(
            request: HttpRequest, *args: Arguments.args, **kwargs: Arguments.kwargs
        ) -> HttpResponseBase:
            return _with_headers(_answer(request, view, allowed, *args, **kwargs))

        return cast("Callable[Concatenate[HttpRequest, Arguments], HttpResponseBase]", answer)

    return decorate


def json_screen(
    view: Callable[Concatenate[Request, Arguments], HttpResponse],
) -> Callable[Concatenate[HttpRequest, Arguments], HttpResponse]:
    """Make a view for POST requests of our own scripts. Refusals are JSON.

    The attribute `speaks_json` of the view makes the error handler respond in JSON.
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: Arguments.args, **kwargs: Arguments.kwargs) -> HttpResponse:
        response = _json_answer(request, view, *args, **kwargs)
        patch_cache_control(response, private=True, no_store=True)
        return response

    vars(answer)["speaks_json"] = True
    return cast("Callable[Concatenate[HttpRequest, Arguments], HttpResponse]", answer)


def _json_answer(
    request: HttpRequest, view: Callable[..., HttpResponse], *args: Any, **kwargs: Any
) -> HttpResponse:
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    if not request.user.is_authenticated:
        body = {"code": "signed_out", "message": "You are signed out. Sign in again; your input is not lost."}
        return JsonResponse(body, status=401)
    try:
        return view(cast("Request", request), *args, **kwargs)
    except RequestDataTooBig:
        return _refused(too_large())
    except Refusal as refusal:
        return _refused(refusal)


def _refused(refusal: Refusal) -> JsonResponse:
    field = {"field": refusal.field} if isinstance(refusal, Invalid) else {}
    body = {"code": refusal.code, "message": refusal.message, **field, **refusal.details}
    return JsonResponse(body, status=status_of(refusal))


def _answer(
    request: HttpRequest,
    view: Callable[..., HttpResponseBase],
    allowed: list[str],
    *args: Any,
    **kwargs: Any,
) -> HttpResponseBase:
    if request.method not in allowed:
        told = "This address receives a form and shows nothing. Open the page with the form again."
        return HttpResponseNotAllowed(allowed, refused(request, NotFound(told, code="no_page")).content)
    if not request.user.is_authenticated:
        return sign_in_first(request)
    try:
        return view(cast("Request", request), *args, **kwargs)
    except Refusal as refusal:
        return refused(request, refusal)


def _with_headers(response: HttpResponseBase) -> HttpResponseBase:
    if isinstance(response, HttpResponse):
        patch_vary_headers(response, VARIES_BY)
        patch_cache_control(response, private=True, no_cache=True)
    return response
