from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation import perform_job
from annotation.core import jobs
from annotation.core.refusals import Conflict
from annotation.imports import work as background
from annotation.imports.containers import NamedFile
from annotation.imports.services import import_files
from annotation.imports.work import cancel_import, import_kept, keep_upload, perform, state_of
from annotation.models import DocumentSet, Event, Import, Job, Membership, Project
from tests.annotation.conftest import HTMX
from tests.annotation.imports.files import jsonl, nested

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

PAGE = "/p/harbour/import/"
API = "/api/v1/projects/harbour/imports/"
LINES = [nested(doc_id=f"new-{number}") for number in range(12)]


@pytest.fixture(autouse=True)
def every_file_is_large(transactional_db: None, settings: Any, kept_here: None) -> None:
    settings.IMPORT_BACKGROUND_BYTES = 100


def asked_for(world: World, tmp_path: Path, *lines: Any) -> Import:
    file = NamedFile("sets.jsonl", jsonl(tmp_path, *lines))
    asked = keep_upload(project=world.project, files=[file], by=world.mona)
    return import_kept(asked=asked, by=world.mona)


def new_sets(world: World) -> int:
    return DocumentSet.objects.filter(project=world.project, external_id__startswith="new-").count()


def work() -> None:
    perform_job.work_on(Job.Kind.IMPORT)


def perform_claimed(claimed: jobs.Claimed) -> None:
    perform(claimed, jobs.Lease(claimed.token))


def state() -> str:
    return state_of(Import.objects.get())


def kept(settings: Any) -> list[Path]:
    return [path for path in (Path(settings.VAR_DIR) / "imports").rglob("*") if path.is_file()]


def test_the_page_leads_from_the_check_to_the_import(
    world: World, mona: Client, tmp_path: Path, settings: Any
) -> None:
    sent = SimpleUploadedFile("sets.jsonl", jsonl(tmp_path, *LINES).read_bytes())
    address = mona.post(f"{PAGE}upload/", {"files": [sent]})["Location"]
    answer = mona.post(f"{address}begin/", {"act": "check"}, headers=HTMX)
    assert answer["HX-Redirect"] == address
    waiting = mona.get(address).content.decode()
    assert "every 1s" in waiting
    assert "Waiting for a worker." in waiting
    assert address in mona.get(PAGE).content.decode()
    work()
    checked = mona.get(address, headers=HTMX).content.decode()
    assert "Checked: changes on import" in checked
    assert "every 1s" not in checked
    assert new_sets(world) == 0
    # The same job checks the files again.
    assert mona.post(f"{address}begin/", {"act": "check"}, headers=HTMX)["HX-Redirect"] == address
    assert (state(), Job.objects.get().total) == ("waiting", 0)
    work()
    assert mona.post(f"{address}begin/", {"act": "import"})["Location"] == address
    work()
    assert "Imported" in mona.get(address).content.decode()
    assert new_sets(world) == len(LINES)
    assert kept(settings) == []
    assert mona.post(f"{address}begin/").status_code == 409


def test_the_api_replies_at_once_and_tells_the_same_report(
    world: World, client_of: ApiDoor, tmp_path: Path
) -> None:
    twin = Project.objects.create(slug="twin", name="Twin")
    path = jsonl(tmp_path, *LINES)
    at_once = import_files(project=twin, files=[NamedFile("sets.jsonl", path)], by=None)
    client = client_of("mona")
    given = {"files": [SimpleUploadedFile("sets.jsonl", path.read_bytes())]}
    accepted = client.post(API, given, format="multipart")
    assert accepted.status_code == 202
    assert (accepted.json()["state"], accepted.json()["report"]) == ("waiting", None)
    work()
    told = client.get(accepted.json()["url"]).json()
    assert (told["state"], told["rows_read"], told["sets_written"], told["sets"]) == ("done", 12, 12, 12)
    created = {kind: count["created"] for kind, count in told["report"]["counts"].items()}
    wanted = {kind: count.created for kind, count in at_once.counts.items()}
    # The project has both systems already.
    assert created == wanted | {"systems": 0}
    assert Event.objects.get(verb="import", project=world.project).actor == world.mona


def test_the_log_names_files_and_counts_in_words(world: World, mona: Client, tmp_path: Path) -> None:
    asked_for(world, tmp_path, *LINES)
    work()
    page = mona.get("/p/harbour/settings/log/").content.decode()
    assert "sets.jsonl" in page
    assert "document sets 12" in page
    assert "[&#x27;" not in page


def test_a_refused_file_shows_its_problems(
    world: World, mona: Client, client_of: ApiDoor, tmp_path: Path, settings: Any
) -> None:
    asked = asked_for(world, tmp_path, *LINES, nested(doc_id="new-x", systems=[], claims=[]))
    work()
    told = client_of("mona").get(f"{API}{asked.public_id}/").json()
    assert told["state"] == "failed"
    assert [problem["line"] for problem in told["problems"]] == [13]
    page = mona.get(f"{PAGE}{asked.public_id}/").content.decode()
    assert "Nothing was imported" in page
    assert re.search(r'<td dir="auto"[^>]*>\s*13\s*</td>', page)
    assert new_sets(world) == 0
    # The files are kept, because another option may accept them.
    assert len(kept(settings)) == 1
    answer = mona.post(f"{PAGE}{asked.public_id}/begin/", {"act": "import", "skip_invalid": "on"})
    assert answer.status_code == 302
    work()
    assert (state(), new_sets(world)) == ("done", 12)


def test_one_that_waits_is_cancelled_at_once(
    world: World, mona: Client, tmp_path: Path, settings: Any
) -> None:
    asked = asked_for(world, tmp_path, *LINES)
    mona.post(f"{PAGE}{asked.public_id}/cancel/")
    work()
    assert state() == "cancelled"
    assert "Cancelled. Nothing was imported." in mona.get(f"{PAGE}{asked.public_id}/").content.decode()
    assert new_sets(world) == 0
    assert kept(settings) == []
    with pytest.raises(Conflict):
        cancel_import(asked=asked, by=world.mona)


@pytest.mark.parametrize("is_noticed", [True, False], ids=["at the next beat", "when it is all written"])
def test_one_under_way_leaves_nothing_when_it_is_cancelled(
    is_noticed: bool, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    asked = asked_for(world, tmp_path, *LINES)
    monkeypatch.setattr("annotation.imports.read.ROWS_BETWEEN_STEPS", 1)
    step, steps = background._JobProgress.step, []

    def cancel_amid(progress: Any) -> None:
        steps.append(progress.rows_read)
        if steps == [1, 2, 3]:
            cancel_import(asked=asked, by=world.mona)
            if is_noticed:
                progress.lease.beat()
        step(progress)

    monkeypatch.setattr(background._JobProgress, "step", cancel_amid)
    work()
    assert (len(steps) == 3) is is_noticed
    assert state() == "cancelled"
    assert new_sets(world) == 0
    assert kept(settings) == []


def test_what_is_all_written_is_not_cancelled(world: World, tmp_path: Path) -> None:
    asked = asked_for(world, tmp_path, *LINES)
    jobs.take(jobs.due(Job.Kind.IMPORT))
    Job.objects.update(done=12, total=12)
    with pytest.raises(Conflict):
        cancel_import(asked=asked, by=world.mona)


def test_what_a_killed_request_was_at_is_brought_in_by_a_worker(
    world: World, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.IMPORT_BACKGROUND_BYTES = 10**6
    file = NamedFile("sets.jsonl", jsonl(tmp_path, *LINES))
    asked = background.keep_upload(project=world.project, files=[file], by=world.mona)

    def killed(**_: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(background, "import_files", killed)
        with pytest.raises(SystemExit):
            background.import_kept(asked=asked, by=world.mona)
    assert (state(), new_sets(world)) == ("working", 0)
    Job.objects.update(lease_until="2020-01-01T00:00Z")
    jobs.reap()
    work()
    assert (state(), new_sets(world)) == ("done", 12)


def test_whoever_takes_over_from_a_dead_worker_begins_anew(world: World, tmp_path: Path) -> None:
    asked_for(world, tmp_path, *LINES)
    [dead] = jobs.take(jobs.due(Job.Kind.IMPORT))
    Job.objects.update(lease_until="2020-01-01T00:00Z")
    jobs.reap()
    work()
    assert (state(), new_sets(world)) == ("done", 12)
    # The first worker continues after the second has finished.
    with pytest.raises(jobs.StoppedJob):
        perform_claimed(dead)
    assert Event.objects.filter(verb="import").count() == 1


def test_who_lost_the_right_meanwhile_brings_nothing_in(world: World, tmp_path: Path, settings: Any) -> None:
    asked_for(world, tmp_path, *LINES)
    Membership.objects.filter(user=world.mona).update(roles=["viewer"])
    work()
    assert state() == "failed"
    assert new_sets(world) == 0
    assert kept(settings) == []
