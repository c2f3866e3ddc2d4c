"""Files brought in through the API, and the published figures read from it."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import Event, PublishedScore, Score, Summary
from tests.annotation.cast import World
from tests.annotation.imports.duc.packages import (
    PEER_UNITS,
    ROW_2001,
    ROW_2002,
    pan,
    row_2002,
    see_page,
    zipped,
)
from tests.annotation.imports.files import LAYOUTS, jsonl, row

if TYPE_CHECKING:
    from tests.annotation.conftest import ApiDoor

ADDRESS = "/api/v1/projects/harbour/imports/"
PUBLISHED = "/api/v1/projects/harbour/published-scores/"


def upload(client: Any, files: dict[str, bytes], **choices: Any) -> Any:
    given = [SimpleUploadedFile(name, content) for name, content in files.items()]
    return client.post(ADDRESS, {"files": given, **choices}, format="multipart")


def inline(client: Any, files: dict[str, str], **choices: Any) -> Any:
    given = [{"name": name, "content": content} for name, content in files.items()]
    return client.post(ADDRESS, {"files": given, **choices}, format="json")


def test_uploaded_files_are_imported_and_reported(world: World, client_of: ApiDoor, tmp_path: Path) -> None:
    files = {"peers/D04.M.050.A.1.html": see_page(*PEER_UNITS), "results1_table.txt": ROW_2001 + "\n"}
    archive = zipped(tmp_path, files).path.read_bytes()
    answer = upload(client_of("mona"), {"duc.zip": archive})
    assert answer.status_code == 200
    report = answer.json()
    assert (report["file"], report["format"]) == ("duc.zip", "files of several formats")
    assert report["counts"]["peer_summaries"] == {"created": 1, "changed": 0, "unchanged": 0, "removed": 0}
    assert report["counts"]["published_scores"]["created"] == 1
    assert any("0, 25, 50, 75 and 100 %" in warning for warning in report["warnings"])
    assert Summary.objects.filter(
        document_set__external_id="D04", document_set__project=world.project
    ).exists()
    assert Event.objects.get(verb="import").actor == world.mona


def test_several_uploaded_files_are_one_import(world: World, client_of: ApiDoor) -> None:
    pages = {f"D9.M.050.A.{number}.html": see_page("One.").encode() for number in (1, 2)}
    assert upload(client_of("mona"), pages).json()["counts"]["peer_summaries"]["created"] == 2
    assert Event.objects.filter(verb="import").count() == 1


def test_a_file_of_rows_is_imported_by_the_same_door(
    world: World, client_of: ApiDoor, tmp_path: Path
) -> None:
    content = jsonl(tmp_path, row()).read_bytes()
    report = upload(client_of("olga"), {"data.jsonl": content}).json()
    assert (report["format"], report["counts"]["peer_summaries"]["created"]) == ("JSONL", 1)


def test_a_dry_run_writes_nothing(world: World, client_of: ApiDoor) -> None:
    report = upload(client_of("mona"), {"t": ROW_2002.encode()}, dry_run="true").json()
    assert report["dry_run"] is True
    assert report["counts"]["published_scores"]["created"] == 1
    assert not PublishedScore.objects.exists()


def test_problems_are_named_by_file_line_and_column(world: World, client_of: ApiDoor) -> None:
    answer = inline(client_of("mona"), {"t": row_2002(c27="7"), "u": ROW_2002})
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert (error["code"], error["field"]) == ("import_refused", "file")
    (problem,) = error["details"]["problems"]
    assert (problem["file"], problem["line"], problem["column"]) == ("t", 1, "column 27")
    assert not PublishedScore.objects.exists()


def test_a_refusal_says_what_helps_in_the_words_of_this_door(world: World, client_of: ApiDoor) -> None:
    error = inline(client_of("mona"), {"t": f"{ROW_2002}\n{row_2002(c27='7')}"}).json()["error"]
    assert error["details"]["remedies"] == ["skip_invalid"]
    assert error["message"].endswith("`skip_invalid` skips and lists invalid rows.")
    assert "--" not in error["message"]


def test_columns_of_other_names_are_mapped(world: World, client_of: ApiDoor) -> None:
    table = "document_id,document,reference,system,my output\nd1,A text.,,alder,Two.\n"
    refused = inline(client_of("mona"), {"a.csv": table}).json()["error"]
    assert refused["message"].endswith('Give other column names in `mapping`, such as ["summary=COLUMN"].')
    report = inline(client_of("mona"), {"a.csv": table}, mapping=["summary=my output"]).json()
    assert report["counts"]["peer_summaries"]["created"] == 1


def test_a_mapping_without_a_column_is_refused(world: World, client_of: ApiDoor) -> None:
    error = inline(client_of("mona"), {"t": ROW_2002}, mapping=["summary"]).json()["error"]
    assert error["field"] == "mapping"


def test_a_warning_says_what_helps(world: World, client_of: ApiDoor) -> None:
    table = "document_id,document,gold,system,summary\nd1,A text.,A.,alder,Two.\n"
    report = inline(client_of("mona"), {"a.csv": table}, dry_run=True).json()
    assert any("No row has a `reference`" in warning for warning in report["warnings"])
    assert report["ways"] == ['Give other column names in `mapping`, such as ["summary=output"].']


def test_what_is_left_out_is_told(world: World, client_of: ApiDoor) -> None:
    report = inline(client_of("mona"), {"t": f"{ROW_2002}\n{row_2002(c27='7')}"}, skip_invalid=True).json()
    assert report["rows_left_out"] == 1
    assert report["problems"][0]["line"] == 2
    assert report["counts"]["published_scores"]["created"] == 1


def test_a_request_without_files_is_not_of_the_shape(world: World, client_of: ApiDoor) -> None:
    client = client_of("mona")
    assert client.post(ADDRESS, {}, format="json").status_code == 400
    assert client.post(ADDRESS, {}, format="multipart").status_code == 400
    assert client.post(ADDRESS, BytesIO(b"x").read(), content_type="text/csv").status_code == 415


def test_published_figures_and_means_are_listed(world: World, client_of: ApiDoor) -> None:
    table = f"{ROW_2002}\n{row_2002(c0='port', c8='alder', c3='20', c27='0.200')}\n"
    inline(client_of("mona"), {"t": table})
    lines = client_of("vic").get(PUBLISHED).json()["results"]
    assert [(line["system"], line["line"], line["mean"]) for line in lines] == [
        ("19", 1, 0.4),
        ("alder", 2, 0.2),
    ]
    assert lines[0]["summary"] is None
    assert lines[1]["summary"] == world.peers["port", "alder"].public_id
    assert lines[0]["figures"]["adjusted_mean"] == 0.287
    assert lines[0]["cells"] == ROW_2002.split()
    means = client_of("vic").get(f"{PUBLISHED}systems/").json()
    assert [(row["system"], row["target_words"], row["mean"], row["sets"]) for row in means] == [
        ("alder", 20, 0.2, 1),
        ("19", 50, 0.4, 1),
    ]


def test_reviewers_do_not_see_published_figures(world: World, client_of: ApiDoor) -> None:
    assert client_of("rex").get(PUBLISHED).status_code == 403


def test_scores_follow_an_import(world: World, client_of: ApiDoor) -> None:
    files = {
        "models/D04.M.050.A.A.html": see_page("It rained.", "Trams stopped."),
        "peers/D04.M.050.A.1.html": see_page("Rain fell.", "Nothing moved."),
        "results1_table.txt": ROW_2001,
    }
    assert inline(client_of("mona"), files).status_code == 200
    assert Score.objects.get(summary__document_set__external_id="D04").coverage == 0.25


def test_what_people_answered_in_a_file_is_no_metadata_for_reviewers(
    world: World, client_of: ApiDoor
) -> None:
    upload(client_of("mona"), {"D0901-A.M.100.F.12.pan": pan().encode()})
    for summary in Summary.objects.filter(document_set__external_id="D0901-A"):
        answer = client_of("rex").get(f"/api/v1/projects/harbour/summaries/{summary.public_id}/")
        assert answer.json()["metadata"] == {}


def test_a_layout_in_wide_use_is_read_by_its_preset(world: World, client_of: ApiDoor) -> None:
    files = {"odd.csv": (LAYOUTS / "cnn_dailymail_ids.csv").read_text()}
    choices = {"preset": "cnn-dailymail", "system": "elm", "target_length": "30"}
    report = inline(client_of("mona"), files, **choices).json()
    assert report["counts"]["peer_summaries"]["created"] == 3
    assert report["warnings"][0].startswith(
        "Columns are read as CNN/DailyMail: document_id=id, document=article"
    )
    peer = Summary.objects.get(document_set__external_id="7f3a", is_peer=True)
    assert (peer.system.name, peer.target_words) == ("elm", 30)


def test_choices_that_make_no_layout_are_refused_by_their_fields(world: World, client_of: ApiDoor) -> None:
    files = {"t": ROW_2002}
    error = inline(client_of("mona"), files, target_length="long").json()["error"]
    assert error["field"] == "target_length"
    assert inline(client_of("mona"), files, preset="xsam").status_code == 400
