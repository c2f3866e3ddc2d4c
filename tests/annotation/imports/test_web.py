"""Files are checked on a page, and what was checked is imported."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.imports import web as imports
from annotation.models import Event, PublishedScore, Summary
from tests.annotation.conftest import HTMX
from tests.annotation.imports.duc.packages import PEER_UNITS, ROW_2001, ROW_2002, row_2002, see_page, zipped
from tests.annotation.imports.files import DOCUMENT, HEADER, jsonl, row

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from django.contrib.auth.models import User

    from tests.annotation.cast import World

PAGE = "/p/harbour/import/"
UPLOAD = f"{PAGE}upload/"


@pytest.fixture
def mona(world: World, signed_in: Callable[[User], Client]) -> Client:
    return signed_in(world.mona)


def send(client: Client, files: dict[str, bytes], *, htmx: bool = True, **fields: str) -> Any:
    given = [SimpleUploadedFile(name, content) for name, content in files.items()]
    return client.post(UPLOAD, {"files": given, **fields}, headers=HTMX if htmx else {})


def seal(answer: Any) -> str:
    found = re.search(r'name="checked" value="([^"]+)"', answer.content.decode())
    return found[1] if found else ""


def test_a_check_tells_what_would_come_and_writes_nothing(mona: Client) -> None:
    answer = send(mona, {"t": ROW_2002.encode()}, act="check")
    assert answer.status_code == 200
    assert answer.content.decode().lstrip().startswith('<div id="report"')
    assert b"Checked: an import would bring this" in answer.content
    assert not PublishedScore.objects.exists()


def test_what_was_checked_is_imported(world: World, mona: Client) -> None:
    files = {"t": ROW_2002.encode()}
    answer = send(mona, files, act="import", checked=seal(send(mona, files, act="check")))
    assert b"Imported" in answer.content
    assert PublishedScore.objects.get().system == "19"
    assert Event.objects.get(verb="import").actor == world.mona


def test_without_scripts_the_whole_page_comes_back_with_the_report(mona: Client) -> None:
    files = {"t": ROW_2002.encode()}
    checked = send(mona, files, htmx=False, act="check")
    assert b"<h1>Import</h1>" in checked.content
    assert b"Choose the same files once more" in checked.content
    send(mona, files, htmx=False, act="import", checked=seal(checked))
    assert PublishedScore.objects.exists()


@pytest.mark.parametrize("change", [{"files": {"t": b"x"}}, {"skip_invalid": "on"}, {"checked": ""}])
def test_what_was_not_checked_is_not_imported(mona: Client, change: dict[str, Any]) -> None:
    files = {"t": ROW_2002.encode()}
    fields = {"act": "import", "checked": seal(send(mona, files, act="check")), **change}
    if files_now := fields.pop("files", None):
        files = {"t": row_2002(c8="20").encode(), **({} if files_now == {"t": b"x"} else files_now)}
    answer = send(mona, files, **fields)
    assert b"that were checked. This is what these come to." in answer.content
    assert not PublishedScore.objects.exists()


def test_problems_are_listed_by_file_and_line_with_what_to_do(mona: Client) -> None:
    files = {"t": f"{ROW_2002}\n{row_2002(c27='7')}".encode(), "u": row_2002(c8="20").encode()}
    answer = send(mona, files, act="check")
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "t, line 2, column 27: " in page
    assert "Or tick “Leave bad rows out, and name them”, and check again." in page
    assert "--skip-invalid" not in page
    assert seal(answer) == ""


def test_rows_that_are_left_out_are_named(mona: Client) -> None:
    files = {"t": f"{ROW_2002}\n{row_2002(c27='7')}".encode()}
    checked = send(mona, files, act="check", skip_invalid="on")
    assert b"Left out: 1 line" in checked.content
    send(mona, files, act="import", skip_invalid="on", checked=seal(checked))
    assert PublishedScore.objects.count() == 1


def test_a_package_brings_texts_and_what_was_mended_is_told(
    world: World, mona: Client, tmp_path: Path
) -> None:
    pages = {"peers/D04.M.050.A.1.html": see_page(*PEER_UNITS), "results1_table.txt": ROW_2001 + "\n"}
    files = {"duc.zip": zipped(tmp_path, pages).path.read_bytes()}
    checked = send(mona, files, act="check")
    assert "0, 25, 50, 75 and 100 %" in checked.content.decode()
    send(mona, files, act="import", checked=seal(checked))
    assert Summary.objects.filter(
        document_set__external_id="D04", document_set__project=world.project
    ).exists()


def test_columns_of_other_names_are_said_on_the_page(mona: Client) -> None:
    table = (HEADER.replace("summary", "my output") + f"d1,{DOCUMENT},,alder,Two.,10\n").encode()
    refused = send(mona, {"a.csv": table}, act="check")
    assert "type which column a field has, such as summary=output" in refused.content.decode()
    checked = send(mona, {"a.csv": table}, act="check", mapping="summary=my output\n")
    send(mona, {"a.csv": table}, act="import", mapping="summary=my output", checked=seal(checked))
    assert Summary.objects.filter(is_peer=True, document_set__external_id="d1", text="Two.").exists()


def test_what_a_table_no_longer_holds_is_shown_before_it_goes(mona: Client) -> None:
    whole, short = {"t": f"{ROW_2002}\n{row_2002(c8='20')}".encode()}, {"t": ROW_2002.encode()}
    send(mona, whole, act="import", checked=seal(send(mona, whole, act="check")))
    checked = send(mona, short, act="check")
    assert b"Taken away" in checked.content
    assert PublishedScore.objects.count() == 2
    send(mona, short, act="import", checked=seal(checked))
    assert PublishedScore.objects.count() == 1


def test_too_much_at_once_is_refused(mona: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(imports, "MOST_BYTES", 1024**2)
    answer = send(mona, {"data.jsonl": jsonl(tmp_path, row()).read_bytes() + b" " * 1024**2}, act="check")
    assert answer.status_code == 422
    assert b"more than 1 MB together. Import a part at a time" in answer.content


def test_no_file_is_refused(mona: Client) -> None:
    answer = mona.post(UPLOAD, {"act": "check"}, headers=HTMX)
    assert answer.status_code == 422
    assert b"Choose the files to import." in answer.content


def test_a_form_of_another_site_is_refused(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.mona, backend="django.contrib.auth.backends.ModelBackend")
    assert send(client, {"t": ROW_2002.encode()}, act="check").status_code == 403


def test_nothing_stays_on_the_disk(mona: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    send(mona, {"t": ROW_2002.encode()}, act="check")
    assert list(tmp_path.iterdir()) == []
