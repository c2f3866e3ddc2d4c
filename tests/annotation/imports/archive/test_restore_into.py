"""An archive that is sent over the web or the API takes the place of a project with nothing in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation import perform_job
from annotation.core import jobs
from annotation.core.refusals import Conflict
from annotation.imports.archive.restore import restore_into
from annotation.imports.packages import NamedFile
from annotation.imports.progress import Progress
from annotation.imports.services import import_files
from annotation.management.commands.verify_scores import differences
from annotation.models import Event, Import, Invitation, Project, System, Verdict
from annotation.projects.services.change_project import create_project
from annotation.projects.services.invite import invite
from tests.annotation.conftest import HTMX
from tests.annotation.imports.archive.round_trip import archived, files_of, filled, packed_again, same_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/p/twin/import/"
API = "/api/v1/projects/twin/imports/"


@pytest.fixture
def full(transactional_db: None, world: World, settings: Any, tmp_path: Path) -> World:
    settings.VAR_DIR = tmp_path / "var"
    return filled(world)


@pytest.fixture
def twin(full: World) -> Project:
    """A new project of Olga's with nobody else in it."""
    full.olga.is_staff = True
    full.olga.save()
    return create_project(slug="twin", name="Twin", by=full.olga)


def test_it_takes_the_place_and_keeps_address_and_people(full: World, twin: Project, tmp_path: Path) -> None:
    path = archived(full.project, tmp_path / "a.zip")
    invite(project=twin, roles=["viewer"], by=full.olga)
    before = Project.all_projects.count()
    checked = import_files(project=twin, files=[NamedFile("a.zip", path)], by=full.olga, dry_run=True)
    assert (checked.format, checked.dry_run) == ("archive", True)
    assert not System.objects.filter(project=twin).exists()

    report = import_files(project=twin, files=[NamedFile("a.zip", path)], by=full.olga)

    came = Project.objects.get(slug="twin")
    assert Project.all_projects.count() == before
    assert (came.name, came.licence) == (full.project.name, "CC-BY-4.0")
    assert [(each.user, each.roles) for each in came.memberships.all()] == [(full.olga, ["owner"])]
    assert Invitation.objects.filter(project=came).count() == 1
    assert Event.objects.filter(project=came).order_by("-pk")[0].verb == "import"
    assert list(differences(came)) == []
    same_rows(full.project, came, tmp_path)
    assert report.counts == checked.counts
    said = Verdict.objects.filter(check_row__project=came).count()
    assert (report.counts.verdicts.created, report.counts.systems.created) == (said, came.systems.count())
    peers, models = (
        full.project.document_sets.filter(**{f"summaries__{kind}": True}).values("summaries").count()
        for kind in ("is_peer", "is_model")
    )
    assert (report.counts.peer_summaries.created, report.counts.model_summaries.created) == (peers, models)


def test_a_project_with_anything_in_it_stays(full: World, twin: Project, tmp_path: Path) -> None:
    path = archived(full.project, tmp_path / "a.zip")
    System.objects.create(project=twin, name="alder")
    with pytest.raises(Conflict, match="An archive needs an empty project"):
        restore_into(project=twin, path=path, by=full.olga, file_name="a.zip", progress=Progress())
    assert Project.objects.get(slug="twin").pk == twin.pk


def test_one_that_is_filled_meanwhile_stays(full: World, twin: Project, tmp_path: Path) -> None:
    """Between the check and the moment at which everything is shown."""

    class Meanwhile(Progress):
        def step(self) -> None:
            System.objects.get_or_create(project=twin, name="alder")

    path = archived(full.project, tmp_path / "a.zip")
    before = Project.all_projects.count()
    with pytest.raises(Conflict, match="An archive needs an empty project"):
        restore_into(project=twin, path=path, by=full.olga, file_name="a.zip", progress=Meanwhile())
    assert Project.objects.get(slug="twin").pk == twin.pk
    assert Project.all_projects.count() == before


def test_the_page_leads_to_it(
    full: World, twin: Project, tmp_path: Path, signed_in: Callable[[User], Client]
) -> None:
    content = archived(full.project, tmp_path / "a.zip").read_bytes()
    olga = signed_in(full.olga)
    address = olga.post(f"{PAGE}upload/", {"files": [SimpleUploadedFile("a.zip", content)]})["Location"]
    assert "An archive of a whole project." in olga.get(address).content.decode()
    # By a worker though it is small: it is packed.
    assert olga.post(f"{address}begin/", {"act": "import"})["Location"] == address
    assert not System.objects.filter(project=twin).exists()
    perform_job.pull(jobs.Lane.IMPORTS)
    assert "Imported" in olga.get(address, headers=HTMX).content.decode()
    came = Project.objects.get(slug="twin")
    assert Import.objects.filter(project=came).count() == 1
    assert Event.objects.get(project=came, verb="import").actor == full.olga
    same_rows(full.project, came, tmp_path)
    # Once more there is something in it.
    again = olga.post(f"{PAGE}upload/", {"files": [SimpleUploadedFile("a.zip", content)]})
    assert (again.status_code, "An archive needs an empty project." in again.content.decode()) == (409, True)


def test_the_api_replies_at_once_and_says_what_is_wrong_with_an_archive(
    full: World, twin: Project, tmp_path: Path, client_of: ApiDoor
) -> None:
    path = archived(full.project, tmp_path / "a.zip")
    files = files_of(path)
    edited = packed_again(path, files | {"claims.jsonl": files["claims.jsonl"] + b"{}\n"}, signed=False)
    client = client_of("olga")

    def sent(file: Path) -> Any:
        given = {"files": [SimpleUploadedFile("a.zip", file.read_bytes())]}
        return client.post(API, given, format="multipart")

    refused = sent(edited)
    assert refused.status_code == 202
    perform_job.pull(jobs.Lane.IMPORTS)
    told = client.get(refused.json()["url"]).json()
    assert (told["state"], told["problems"][0]["file"]) == ("failed", "claims.jsonl")
    accepted = sent(path)
    perform_job.pull(jobs.Lane.IMPORTS)
    told = client.get(accepted.json()["url"]).json()
    assert (told["state"], told["report"]["format"]) == ("done", "archive")
    assert sent(path).status_code == 409
