from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404
from rest_framework import exceptions

from annotation.api.errors import envelope
from annotation.core.refusals import Conflict, Invalid, NotAllowed, NotFound
from tests.annotation.cast import World

if TYPE_CHECKING:
    from tests.annotation.conftest import ApiDoor


@pytest.mark.parametrize(
    ("error", "status", "code", "field"),
    [
        (NotFound("There is none."), 404, "not_found", None),
        (NotAllowed("No.", code="blind"), 403, "blind", None),
        (Conflict("Too late.", code="newer_verdict"), 409, "newer_verdict", None),
        (Invalid("Not that.", field="label"), 422, "invalid", "label"),
        (exceptions.ParseError(), 400, "parse_error", None),
        (exceptions.NotAuthenticated(), 401, "not_authenticated", None),
        (exceptions.PermissionDenied(), 403, "permission_denied", None),
        (exceptions.MethodNotAllowed("PUT"), 405, "method_not_allowed", None),
        (exceptions.NotAcceptable(), 406, "not_acceptable", None),
        (exceptions.UnsupportedMediaType("text/csv"), 415, "unsupported_media_type", None),
        (exceptions.Throttled(wait=7), 429, "throttled", None),
        (Http404("no such row 17"), 404, "not_found", None),
        (PermissionDenied("secret"), 403, "not_allowed", None),
        (RequestDataTooBig("inside"), 413, "too_large", None),
        (SuspiciousOperation("inside"), 400, "bad_request", None),
    ],
)
def test_each_kind_has_its_status_and_code(
    error: Exception, status: int, code: str, field: str | None
) -> None:
    answer = envelope(error, {})
    body = answer.data["error"]
    assert set(body) == {"code", "message", "field", "details"}
    assert (answer.status_code, body["code"], body["field"]) == (status, code, field)
    assert body["message"]


def test_details_of_a_refusal_travel_along() -> None:
    refusal = Conflict("Too late.", details={"yours": {"label": "yes"}})
    assert envelope(refusal, {}).data["error"]["details"] == {"yours": {"label": "yes"}}


def test_every_wrong_input_is_named_with_its_path() -> None:
    error = exceptions.ValidationError({"evidence": {2: ["A number."]}, "label": ["Missing."]})
    body = envelope(error, {}).data["error"]
    assert body["field"] == "evidence.2"
    assert body["details"] == {"fields": {"evidence.2": ["A number."], "label": ["Missing."]}}


def test_a_throttled_client_is_told_how_long_to_wait() -> None:
    answer = envelope(exceptions.Throttled(wait=7), {})
    assert answer.headers["Retry-After"] == "7"


@pytest.mark.parametrize("error", [ValueError("SELECT secret"), KeyError("secret")])
def test_an_unexpected_error_tells_nothing_and_is_logged(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    answer = envelope(error, {})
    assert answer.status_code == 500
    assert "secret" not in str(answer.data)
    assert any(record.exc_info and record.exc_info[1] is error for record in caplog.records)


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":' * 3000 + b"1" + b"}" * 3000,
        b"[" * 51 + b"]" * 51,
        b'{"reveal": NaN}',
        b'{"reveal": -Infinity}',
        b'{"audit_share": 1e999}',
        b'{"\\ud800": 1}',
        b'{"name": ["\\udc00"]}',
        b'{"name": ' + b"9" * 5000 + b"}",
    ],
)
def test_json_that_nothing_could_hold_is_refused(world: World, client_of: ApiDoor, body: bytes) -> None:
    answer = client_of("mona").patch("/api/v1/projects/harbour/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "parse_error")


def test_fifty_levels_of_json_are_read(world: World, client_of: ApiDoor) -> None:
    # The object and the 49 lists are fifty levels: the body can be parsed, but a list is no name.
    body = b'{"name": ' + b"[" * 49 + b"]" * 49 + b"}"
    answer = client_of("mona").patch("/api/v1/projects/harbour/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid")


def test_a_body_too_deep_does_not_tell_an_outsider_of_the_project(world: World, client_of: ApiDoor) -> None:
    body = b"[" * 3000
    answer = client_of("dan").patch("/api/v1/projects/harbour/", body, content_type="application/json")
    assert answer.status_code == 404


HERE = "/api/v1/projects/harbour/"


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("patch", HERE, b"{", 400, "parse_error"),
        ("patch", HERE, b"[1]", 400, "invalid"),
        ("patch", HERE, b'{"nmae": "x"}', 400, "invalid"),
        ("patch", HERE, b'{"reveal": "never"}', 400, "invalid"),
        ("patch", HERE, b'{"composite_weight": "nan"}', 400, "invalid"),
        ("patch", HERE, b'{"deciding_judge": "x"}', 422, "invalid"),
        ("patch", HERE, b'{"name": "a\\u0000"}', 400, "invalid"),
        ("put", HERE, b"{}", 405, "method_not_allowed"),
        ("get", f"{HERE}checks/?limit=501", b"", 422, "invalid"),
        ("get", f"{HERE}checks/?after=nonsense", b"", 422, "invalid"),
        ("get", f"{HERE}checks/nothere/", b"", 404, "not_found"),
        ("get", f"{HERE}checks/%00/", b"", 404, "not_found"),
        ("get", "/api/v1/nowhere/", b"", 404, "not_found"),
        ("post", "/api/v1/projects", b"{}", 404, "not_found"),
    ],
)
def test_requests_get_the_envelope(
    world: World, client_of: ApiDoor, method: str, path: str, body: bytes, status: int, code: str
) -> None:
    answer = client_of("mona").generic(method.upper(), path, body, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_a_body_that_is_no_json_gets_it_too(world: World, client_of: ApiDoor) -> None:
    answer = client_of("mona").patch(HERE, "a=1", content_type="text/plain")
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "unsupported_media_type")
