from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import Export
from tests.annotation.conftest import HTMX
from tests.annotation.exports.doing import perform

if TYPE_CHECKING:
    from django.test import Client


ROOM = "/p/harbour/exports/"
ASKED = {"level": "scores", "format": "csv"}


def test_a_plain_form_asks_and_comes_back(mona: Client) -> None:
    assert mona.post(f"{ROOM}request/", ASKED)["Location"] == ROOM
    export = Export.objects.get()
    assert (export.level, export.format, export.named_people) == ("scores", "csv", False)


def test_htmx_gets_the_room_with_a_list_that_asks_again(mona: Client) -> None:
    page = mona.post(f"{ROOM}request/", ASKED, headers=HTMX).content.decode()
    assert page.lstrip().startswith('<div id="exports"')
    assert "every 2s" in page
    assert "waiting" in page


def test_the_list_stops_asking_when_all_is_written(mona: Client) -> None:
    mona.post(f"{ROOM}request/", ASKED)
    perform(Export.objects.get())
    fragment = mona.get(ROOM, headers=HTMX).content.decode()
    assert fragment.lstrip().startswith('<section id="list-exports"')
    assert "every 2s" not in fragment
    assert "Download" in fragment


def test_the_file_and_its_manifest_come_as_attachments(mona: Client) -> None:
    mona.post(f"{ROOM}request/", ASKED)
    export = Export.objects.get()
    perform(export)
    file = mona.get(f"{ROOM}{export.public_id}/download/")
    manifest = mona.get(f"{ROOM}{export.public_id}/manifest/")
    content = b"".join(file.streaming_content)
    assert content.startswith(b"project,document_id,system,target_words")
    assert (int(file["Content-Length"]), file["ETag"]) == (len(content), f'"{export.manifest["sha256"]}"')
    assert "attachment" in file["Content-Disposition"]
    assert file["X-Content-Type-Options"] == "nosniff"
    assert manifest.json()["level"] == "scores"


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "htmx"])
def test_an_unknown_level_is_refused_on_the_form(mona: Client, headers: dict[str, str]) -> None:
    answer = mona.post(f"{ROOM}request/", {"level": "secrets", "format": "csv"}, headers=headers)
    assert answer.status_code == 422
    assert b"There is no level" in answer.content
    assert (b"<html" in answer.content) is not bool(headers)
