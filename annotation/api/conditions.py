"""Entity tags: which state somebody has read, so that nothing is changed that they have not seen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.utils.http import parse_etags
from rest_framework import status
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.utils.encoders import JSONEncoder

Row = TypeVar("Row")
TAG_CHARACTERS = 32


class Stale(APIException):
    status_code = status.HTTP_412_PRECONDITION_FAILED
    default_code = "stale"
    default_detail = "The object changed after you read it. Read it again and repeat your change."


class NoTag(APIException):
    status_code = status.HTTP_428_PRECONDITION_REQUIRED
    default_code = "if_match_missing"
    default_detail = "If-Match is missing. Send the ETag of what you read, or * to change whatever stands."


def tag_of(shown: Mapping[str, Any]) -> str:
    """The entity tag of what a reply shows."""
    plain = json.dumps(shown, sort_keys=True, cls=JSONEncoder).encode()
    return f'"{hashlib.sha256(plain).hexdigest()[:TAG_CHARACTERS]}"'


def expecting(request: Request, shown: Callable[[Row], Mapping[str, Any]]) -> Callable[[Row], None] | None:
    """What refuses a row that does not read as If-Match says; None where a POST has no such header.

    For a service that calls it with the row that it holds: of two who saw the same state one changes it. Raises NoTag
    where a change in place has none.
    """
    given = request.headers.get("If-Match")
    if given is None and request.method == "PATCH":
        raise NoTag
    if given is None:
        return None
    wanted = parse_etags(given)

    def expect(row: Row) -> None:
        if "*" not in wanted and tag_of(shown(row)) not in wanted:
            raise Stale

    return expect
