"""A download that breaks off goes on where it stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.exports.services import open_export, request_export
from annotation.models import Export
from tests.annotation.exports.doing import perform

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

DOORS = ("/p/harbour/exports/{}/download/", "/api/v1/projects/harbour/exports/{}/file/")


@pytest.fixture
def export(world: World) -> Export:
    made = request_export(project=world.project, level="scores", format="csv", by=world.olga)
    perform(made)
    return made


@pytest.fixture
def content(export: Export) -> bytes:
    with open_export(export, by=None).stream as stream:
        return stream.read()


@pytest.fixture(params=DOORS, ids=["web", "api"])
def get(
    request: pytest.FixtureRequest,
    world: World,
    export: Export,
    signed_in: Callable[[User], Client],
    client_of: ApiDoor,
) -> Callable[..., Any]:
    client = client_of("olga") if "/api/" in request.param else signed_in(world.olga)
    address = request.param.format(export.public_id)
    return lambda **headers: client.get(
        address, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )


def body(answer: Any) -> bytes:
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


def test_the_whole_file_says_that_parts_may_be_asked_for(get: Any, export: Export, content: bytes) -> None:
    answer = get()
    assert (answer.status_code, answer["Accept-Ranges"], body(answer)) == (200, "bytes", content)
    assert answer["ETag"] == '"{}"'.format(export.manifest["sha256"])
    assert int(answer["Content-Length"]) == len(content)


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=10-", 10, None),
        ("bytes=10-19", 10, 20),
        ("bytes=10-99999999", 10, None),
        ("bytes=-7", -7, None),
        ("bytes=-99999999", 0, None),
    ],
)
def test_a_part_is_those_bytes_and_says_which(
    get: Any, content: bytes, asked: str, start: int, end: int | None
) -> None:
    answer = get(Range=asked)
    part = content[start:end]
    first = len(content) + start if start < 0 else start
    assert (answer.status_code, body(answer)) == (206, part)
    assert answer["Content-Range"] == f"bytes {first}-{first + len(part) - 1}/{len(content)}"
    assert int(answer["Content-Length"]) == len(part)
    assert "attachment" in answer["Content-Disposition"]


@pytest.mark.parametrize("asked", ["bytes=99999999-", "bytes=-0"])
def test_what_lies_behind_the_end_is_refused_with_the_size(get: Any, content: bytes, asked: str) -> None:
    answer = get(Range=asked)
    assert (answer.status_code, answer["Content-Range"]) == (416, f"bytes */{len(content)}")


@pytest.mark.parametrize(
    "asked", ["", "bytes=", "bytes=-", "bytes=9-3", "bytes=1-2,4-5", "lines=1-2", "bytes=x-", "1-2"]
)
def test_what_is_no_range_gets_the_whole(get: Any, content: bytes, asked: str) -> None:
    answer = get(Range=asked)
    assert (answer.status_code, body(answer)) == (200, content)


def test_a_part_is_for_whoever_has_the_same_file(get: Any, export: Export, content: bytes) -> None:
    tag = get()["ETag"]
    same = get(Range="bytes=10-", If_Range=tag)
    assert (same.status_code, body(same)) == (206, content[10:])
    for other in ('"another"', f"W/{tag}", "Wed, 21 Oct 2026 07:28:00 GMT"):
        answer = get(Range="bytes=10-", If_Range=other)
        assert (answer.status_code, body(answer)) == (200, content)


def test_conditions_come_before_ranges(get: Any) -> None:
    tag = get()["ETag"]
    known = get(If_None_Match=tag, Range="bytes=10-")
    assert (known.status_code, known["ETag"], body(known)) == (304, tag, b"")
    assert get(If_Match='"another"').status_code == 412


def test_the_api_refuses_in_its_envelope(export: Export, client_of: ApiDoor) -> None:
    address = DOORS[1].format(export.public_id)
    answer = client_of("olga").get(address, headers={"Range": "bytes=99999999-"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (416, "no_such_part")
