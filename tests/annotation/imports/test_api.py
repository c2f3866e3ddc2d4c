from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import Event
from tests.annotation.cast import World
from tests.annotation.imports.files import DOCUMENT, HEADER
from tests.annotation.imports.tools.packages import see_page

if TYPE_CHECKING:
    from tests.annotation.conftest import ApiDoor

ADDRESS = "/api/v1/projects/harbour/imports/"
GOOD = f"{HEADER}d1,{DOCUMENT},,alder,Two.,10\n"
BAD = f"{HEADER}d1,{DOCUMENT},,alder,Two.,ten\n"
MIXED = f"{GOOD}d2,{DOCUMENT},,alder,Two.,ten\n"


def upload(client: Any, files: dict[str, bytes], **choices: Any) -> Any:
    given = [SimpleUploadedFile(name, content) for name, content in files.items()]
    return client.post(ADDRESS, {"files": given, **choices}, format="multipart")


def inline(client: Any, files: dict[str, str], **choices: Any) -> Any:
    return upload(client, {name: content.encode() for name, content in files.items()}, **choices)


def test_several_uploaded_files_are_one_import(world: World, client_of: ApiDoor) -> None:
    pages = {f"D9.M.050.A.{number}.html": see_page("One.").encode() for number in (1, 2)}
    report = upload(client_of("mona"), pages).json()["report"]
    assert report["counts"]["summaries"] == {"created": 2, "changed": 0, "unchanged": 0}
    assert Event.objects.get(verb="import").actor == world.mona


def test_problems_are_named_by_line_and_column(world: World, client_of: ApiDoor) -> None:
    answer = inline(client_of("mona"), {"a.csv": BAD})
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert (error["code"], error["field"]) == ("import_refused", "file")
    (problem,) = error["details"]["problems"]
    assert (problem["line"], problem["column"]) == (2, "target_words")


def test_a_refusal_says_what_helps_in_the_words_of_this_door(world: World, client_of: ApiDoor) -> None:
    error = inline(client_of("mona"), {"a.csv": MIXED}).json()["error"]
    assert error["message"].endswith("or skip invalid rows.")


def test_columns_of_other_names_are_mapped(world: World, client_of: ApiDoor) -> None:
    table = "document_id,document,reference,system,my output\nd1,A text.,,alder,Two.\n"
    refused = inline(client_of("mona"), {"a.csv": table}).json()["error"]
    assert refused["message"].endswith(
        'Name the columns in `mapping`: ["document=document", "summary=COLUMN"].'
    )
    report = inline(client_of("mona"), {"a.csv": table}, mapping=["summary=my output"]).json()["report"]
    assert report["counts"]["summaries"]["created"] == 1


def test_what_is_left_out_is_told(world: World, client_of: ApiDoor) -> None:
    report = inline(client_of("mona"), {"a.csv": MIXED}, skip_invalid=True).json()["report"]
    assert report["rows_left_out"] == 1
    assert report["problems"][0]["line"] == 3
    assert report["counts"]["summaries"]["created"] == 1


def test_a_request_without_files_is_not_of_the_shape(world: World, client_of: ApiDoor) -> None:
    client = client_of("mona")
    assert client.post(ADDRESS, {}, format="multipart").status_code == 400
    assert client.post(ADDRESS, {"files": []}, format="json").status_code == 415
    assert client.post(ADDRESS, b"x", content_type="text/csv").status_code == 415


def test_choices_that_make_no_layout_are_refused_by_their_fields(world: World, client_of: ApiDoor) -> None:
    for choices in ({"target_length": "long"}, {"mapping": ["summary"]}):
        error = inline(client_of("mona"), {"a.csv": GOOD}, **choices).json()["error"]
        assert error["field"] in choices
    assert inline(client_of("mona"), {"a.csv": GOOD}, encoding="utf-9").status_code == 400
