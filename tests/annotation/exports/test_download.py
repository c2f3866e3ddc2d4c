"""The file of an export, through both doors."""

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


def test_the_whole_file_comes_with_its_checksum(get: Any, export: Export, content: bytes) -> None:
    answer = get(Range="bytes=10-")
    assert (answer.status_code, body(answer)) == (200, content)
    assert answer["ETag"] == '"{}"'.format(export.manifest["sha256"])
    assert int(answer["Content-Length"]) == len(content)
    assert "attachment" in answer["Content-Disposition"]
