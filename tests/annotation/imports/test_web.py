from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.imports import web as imports
from annotation.imports import work as background
from annotation.models import DocumentSet, Event, Import, Summary
from annotation.privacy.project_rows import remove_in_steps
from tests.annotation.conftest import HTMX
from tests.annotation.imports.files import DOCUMENT, jsonl, nested, row

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from django.contrib.auth.models import User

    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

pytestmark = pytest.mark.usefixtures("kept_here")

PAGE = "/p/harbour/import/"
UPLOAD = f"{PAGE}upload/"


ODD = ["article,highlights,model,output"] + [
    f"{DOCUMENT} Part {number}.,Rain stopped the trams.,alder,Trams stopped {number}." for number in range(3)
]


def table(*lines: str) -> dict[str, bytes]:
    return {"odd.csv": "\n".join(lines).encode()}


def send(client: Client, files: dict[str, bytes]) -> Any:
    given = [SimpleUploadedFile(name, content) for name, content in files.items()]
    return client.post(UPLOAD, {"files": given})


def sent(client: Client, files: dict[str, bytes]) -> str:
    answer = send(client, files)
    assert answer.status_code == 302, answer.content.decode()
    return str(answer["Location"])


def chosen(page: str) -> dict[str, str]:
    found = {}
    for name, options in re.findall(r'<select name="(column-[0-9]+)".*?>(.*?)</select>', page, re.DOTALL):
        selected = re.search(r'value="([a-z_]*)" selected', options)
        found[name] = selected[1] if selected else ""
    return found


def act(client: Client, address: str, *, act: str = "check", htmx: bool = True, **fields: str) -> Any:
    fields = {**chosen(client.get(address).content.decode()), **fields, "act": act}
    return client.post(f"{address}begin/", fields, headers=HTMX if htmx else {})


def test_a_check_tells_what_would_come_and_writes_nothing(mona: Client) -> None:
    answer = act(mona, sent(mona, table(*ODD)))
    assert answer.status_code == 200
    assert answer.content.decode().lstrip().startswith('<div id="report"')
    assert b"Checked: changes on import" in answer.content
    assert not Summary.objects.filter(text="Trams stopped 2.").exists()


def test_files_are_imported_and_the_page_says_so(world: World, mona: Client) -> None:
    address = sent(mona, table(*ODD))
    assert act(mona, address, act="import")["HX-Redirect"] == address
    assert b"Imported" in mona.get(address).content
    assert Summary.objects.filter(text="Trams stopped 2.").exists()
    assert Event.objects.get(verb="import").actor == world.mona


def test_it_works_without_scripts(mona: Client) -> None:
    address = sent(mona, table(*ODD))
    checked = act(mona, address, htmx=False)
    assert b"<h1>Import</h1>" in checked.content
    assert b"Checked: changes on import" in checked.content
    assert act(mona, address, act="import", htmx=False)["Location"] == address
    assert Summary.objects.filter(text="Trams stopped 2.").exists()


def test_the_odd_csv_comes_in_as_it_was_guessed(world: World, mona: Client) -> None:
    address = sent(mona, table(*ODD))
    page = mona.get(address).content.decode()
    assert "The columns look like CNN/DailyMail" in page
    assert list(chosen(page).values()) == ["document", "reference", "system", "summary"]
    assert "Trams stopped 2." in page
    report = act(mona, address).content.decode()
    assert "is made from a hash of the document" in report
    act(mona, address, act="import")
    assert DocumentSet.objects.filter(project=world.project, external_id__startswith="doc-").count() == 3


def test_a_file_without_a_reference_is_told_before_it_comes_in(world: World, mona: Client) -> None:
    address = sent(mona, table(*ODD))
    left_out = {"column-1": ""}
    checked = act(mona, address, **left_out).content.decode()
    assert "3 of 3 document sets have no reference here." in checked
    assert not Summary.objects.filter(text="Trams stopped 1.").exists()
    act(mona, address, act="import", **left_out)
    assert Summary.objects.get(text="Trams stopped 1.").target_words is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"column-0": "system"}, "The field system is given two columns"),
        ({"column-3": ""}, "No column is set to “Summary to evaluate”. Set it above"),
        ({"target": "0"}, "The target length is a whole number of at least 1"),
    ],
)
def test_a_choice_that_cannot_be_is_refused(mona: Client, fields: dict[str, str], message: str) -> None:
    answer = act(mona, sent(mona, table(*ODD)), act="import", **fields)
    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert not DocumentSet.objects.filter(external_id__startswith="doc-").exists()


def test_a_file_is_read_in_the_chosen_encoding(mona: Client) -> None:
    rows = "id,źródło,reference,system,summary\nd,Łódź rośnie.,Łódź rośnie.,m,Łódź maleje.\n"
    address = sent(mona, {"a.csv": rows.encode("windows-1250")})
    act(
        mona,
        address,
        act="import",
        encoding="windows-1250",
        **{"column-0": "document_id", "column-1": "document"},
    )
    assert Summary.objects.filter(text="Łódź maleje.").exists()


def test_a_nested_file_has_no_columns(mona: Client, tmp_path: Path) -> None:
    address = sent(mona, {"n.jsonl": jsonl(tmp_path, nested(doc_id="n1")).read_bytes()})
    page = mona.get(address).content.decode()
    assert chosen(page) == {}
    act(mona, address, act="import")
    assert DocumentSet.objects.filter(external_id="n1").exists()


def test_problems_are_a_table(mona: Client) -> None:
    bad = f"{DOCUMENT},,birch,\x00"
    address = sent(mona, table(*ODD, bad, "x,y"))
    answer = act(mona, address).content.decode()
    assert '<th scope="col">Problem</th>' in answer
    assert "or skip invalid rows." in answer
    assert "--skip-invalid" not in answer


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.csv": "a,b".encode("utf-16")}, "is UTF-16, not UTF-8"),
        ({"a.csv": b"<!DOCTYPE html><p>Sign in</p>"}, "a.csv is a web page. Download the file itself."),
        ({"a.csv": b"a,b", "b.csv": b"a,b"}, "2 files: holds no SEE HTML"),
    ],
)
def test_files_that_cannot_be_read_are_not_kept(mona: Client, files: dict[str, bytes], message: str) -> None:
    answer = send(mona, files)
    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert not Import.objects.exists()


def test_a_second_click_does_not_import_again(
    mona: Client, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    address = sent(mona, table(*ODD))
    import_files, again = background.import_files, []

    def clicked_twice(**given: Any) -> Any:
        if not again:
            again.append(0)
            again[0] = act(mona, address, act="import").status_code
        return import_files(**given)

    monkeypatch.setattr(background, "import_files", clicked_twice)
    act(mona, address, act="import")
    assert again == [409]
    assert Event.objects.filter(verb="import").count() == 1
    assert "Imported" in mona.get(address).content.decode()


def test_a_project_that_is_removed_during_its_import_is_not_found(
    mona: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, import_files = sent(mona, table(*ODD)), background.import_files

    def removed_first(**given: Any) -> Any:
        remove_in_steps(given["project"])
        return import_files(**given)

    monkeypatch.setattr(background, "import_files", removed_first)
    assert act(mona, address, act="import").status_code == 404
    assert not Import.objects.exists()
    assert not Summary.objects.filter(text="Trams stopped 2.").exists()


def test_what_somebody_sent_is_nobody_else_s(
    world: World, mona: Client, signed_in: Callable[[User], Client], client_of: ApiDoor
) -> None:
    address = sent(mona, table(*ODD))
    olga = signed_in(world.users["olga"])
    assert olga.get(address).status_code == 404
    assert olga.post(f"{address}begin/", {"act": "import"}).status_code == 404
    in_api = f"/api/v1/projects/harbour/imports/{Import.objects.get().public_id}/"
    assert client_of("mona").get(in_api).status_code == 200
    assert client_of("olga").get(in_api).status_code == 404
    assert client_of("olga").post(f"{in_api}cancel/").status_code == 404


def test_files_are_gone_when_they_are_imported_or_too_old(
    mona: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = sent(mona, table(*ODD))
    kept = list((settings.VAR_DIR / "imports").iterdir())
    assert len(kept) == 1
    act(mona, address, act="import")
    assert not kept[0].exists()
    again = mona.post(f"{address}begin/", {"act": "import"})
    assert again.status_code == 409
    assert b"upload them again" in again.content
    forgotten = sent(mona, table(*ODD))
    monkeypatch.setattr(background, "KEPT_FOR", -background.KEPT_FOR)
    background.drop_stale_uploads()
    assert list((settings.VAR_DIR / "imports").iterdir()) == []
    assert mona.get(forgotten).status_code == 404


def test_too_much_at_once_is_refused(mona: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(imports, "MOST_MB", 1)
    answer = send(mona, {"data.jsonl": jsonl(tmp_path, row()).read_bytes() + b" " * 1024**2})
    assert answer.status_code == 422
    assert b"Send at most 100 files and 1 MB at once." in answer.content


def test_no_file_is_refused(mona: Client) -> None:
    answer = mona.post(UPLOAD, {})
    assert answer.status_code == 422
    assert b"There is no file to import." in answer.content
