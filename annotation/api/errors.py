"""The error responses of the API.

    {"error": {"code": "newer_verdict", "message": "Somebody answered ...", "field": null, "details": {}}}

400  unreadable, or does not match the schema (`details.fields`); 401  missing or wrong credentials
403  the person's roles lack the verb (`not_allowed`), or open assessor work forbids it (`blind`)
404  does not exist for this person
409  in conflict with the present state; `details` may have more
412  the file has changed; 416  the file ends before the range
422  matches the schema, but breaks a rule of the project; `field` names the input
429  too many requests; Retry-After gives the pause
503  a worker is still computing it (`not_ready`), or the database is unavailable (`database_away`); see Retry-After
507  the server's disk is full (`no_space`)
"""

from __future__ import annotations

import dataclasses
import errno
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.core.signals import got_request_exception
from django.db import InterfaceError, OperationalError
from django.http import Http404
from rest_framework import exceptions, serializers, status
from rest_framework.response import Response

from annotation.core.refusals import (
    Conflict,
    Invalid,
    NoSpace,
    NotAllowed,
    NotFound,
    NotReady,
    Refusal,
    TooMany,
)

AWAY_SECONDS = 5.0
"""The suggested pause if the database is unavailable."""
FULL = ("disk is full", "No space left")
"""Error texts of SQLite and PostgreSQL for a full disk."""

logger = logging.getLogger(__name__)

ENVELOPE_STATUS: dict[type[Refusal], int] = {
    NotFound: status.HTTP_404_NOT_FOUND,
    NotAllowed: status.HTTP_403_FORBIDDEN,
    Conflict: status.HTTP_409_CONFLICT,
    Invalid: status.HTTP_422_UNPROCESSABLE_ENTITY,
    NotReady: status.HTTP_503_SERVICE_UNAVAILABLE,
    TooMany: status.HTTP_429_TOO_MANY_REQUESTS,
    NoSpace: status.HTTP_507_INSUFFICIENT_STORAGE,
}


class ErrorBody(serializers.Serializer[Any]):
    code = serializers.CharField(help_text="Stable, for programs.")
    message = serializers.CharField(help_text="For people: the fault, its place and the remedy.")
    field = serializers.CharField(allow_null=True, help_text="The invalid input, if there is one.")
    details = serializers.DictField(help_text="Further details for programs.")


class Error(serializers.Serializer[Any]):
    """The body of an error response."""

    error = ErrorBody()


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    code: str
    message: str
    field: str | None = None
    details: Mapping[str, object] = dataclasses.field(default_factory=dict)


class BadCredentials(exceptions.APIException):
    status_code = status.HTTP_401_UNAUTHORIZED
    default_code = "bad_credentials"
    default_detail = "Wrong username or password."


def error_of(error: Exception) -> dict[str, Any]:
    """Build the error of one item of a response with several results."""
    return dataclasses.asdict(_fault(error)[1])


def body_of(error: Exception) -> dict[str, Any]:
    """Build the body of the response to an error outside of the API's own views."""
    return {"error": error_of(error)}


def envelope(error: Exception, context: Mapping[str, Any]) -> Response:
    """Build the response to an exception. Internal details go to the log and not into the response."""
    if refusal := outage(error):
        logger.error("%s", refusal.code, exc_info=error)
        error = refusal
    code, fault = _fault(error)
    headers = _headers(error)
    if code == status.HTTP_500_INTERNAL_SERVER_ERROR:
        request = context.get("request")
        logger.error("An API request failed.", exc_info=error)
        got_request_exception.send(sender=type(context.get("view")), request=request)
    return Response({"error": dataclasses.asdict(fault)}, status=code, headers=headers)


def _fault(error: Exception) -> tuple[int, Fault]:
    match error:
        case Refusal():
            return _of_refusal(error)
        case exceptions.ValidationError():
            return error.status_code, _of_validation(error.detail)
        case exceptions.APIException():
            return error.status_code, _of_api_exception(error)
        case Http404():
            return status.HTTP_404_NOT_FOUND, Fault("not_found", "Not found.")
        case PermissionDenied():
            return status.HTTP_403_FORBIDDEN, Fault("not_allowed", "You are not allowed to do this.")
        case RequestDataTooBig():
            return status.HTTP_413_REQUEST_ENTITY_TOO_LARGE, Fault(
                "too_large", "The body of the request is too large. Send less at a time."
            )
        case SuspiciousOperation() | BadRequest():
            return status.HTTP_400_BAD_REQUEST, Fault("bad_request", "The request is invalid.")
        case _:
            return status.HTTP_500_INTERNAL_SERVER_ERROR, Fault(
                "internal", "Something went wrong. The server's log has the details."
            )


def _of_refusal(refusal: Refusal) -> tuple[int, Fault]:
    code = next((code for kind, code in ENVELOPE_STATUS.items() if isinstance(refusal, kind)), 400)
    where = refusal.field if isinstance(refusal, Invalid) else None
    return code, Fault(refusal.code, refusal.message, where, refusal.details)


def _of_api_exception(error: exceptions.APIException) -> Fault:
    detail: Any = error.detail
    if not isinstance(detail, exceptions.ErrorDetail):
        return Fault("invalid", "The request was refused.", details={"reasons": detail})
    code = detail.code or error.default_code
    if isinstance(error, exceptions.NotAuthenticated):
        return Fault(code, "Nobody is signed in. Send a token of your account page: Authorization: Token ….")
    if isinstance(error, exceptions.Throttled):
        return Fault(code, str(detail), details={"wait_seconds": getattr(error, "wait", None)})
    return Fault(code, str(detail))


def _of_validation(detail: Any) -> Fault:
    wrong = list(_wrong_inputs(detail, ""))
    by_field: dict[str, list[str]] = {}
    for where, message in wrong:
        by_field.setdefault(where, []).append(str(message))
    where, message = wrong[0] if wrong else ("", exceptions.ErrorDetail("The request is not valid."))
    text = f"{where}: {message}" if where else str(message)
    return Fault("invalid", text, where or None, {"fields": by_field})


def _wrong_inputs(detail: Any, path: str) -> Iterator[tuple[str, exceptions.ErrorDetail]]:
    """Yield every message with the dotted path of its input, which is "" for the request as a whole."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            here = path if name == "non_field_errors" else f"{path}.{name}".lstrip(".")
            yield from _wrong_inputs(inner, here)
    elif isinstance(detail, Sequence) and not isinstance(detail, str):
        for inner in detail:
            yield from _wrong_inputs(inner, path)
    else:
        yield path, detail


def _headers(error: Exception) -> dict[str, str]:
    headers: dict[str, str] = dict(getattr(error, "headers", {}))
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(math.ceil(wait))
    return headers


def outage(error: BaseException | None) -> Refusal | None:
    """Build the refusal for an error of the database or disk; None for any other error.

    If the error occurred during a commit, it is unknown whether the transaction was written.
    """
    is_full = isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}
    is_database = isinstance(error, OperationalError | InterfaceError)
    if is_full or (is_database and any(word in str(error) for word in FULL)):
        return NoSpace("The server's disk is full. Nothing was saved. Ask the operator to free some space.")
    if is_database:
        return NotReady(
            "The database is not responding. Try again in a few seconds. Your input is still in your browser.",
            seconds=AWAY_SECONDS,
            code="database_away",
        )
    return None
