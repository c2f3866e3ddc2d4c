from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.core.permissions import Verb, verbs_in
from annotation.core.refusals import NotAllowed
from annotation.judging.services.start_run import start_run
from annotation.models import Project, Run
from annotation.projects.queries.guide import guide_steps
from annotation.projects.services.change_project import create_project, new_slug

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor, SignIn

NEW = "/projects/new/"
AT = "/api/v1/projects/"


@pytest.fixture
def everybody(settings: Any) -> None:
    settings.COVERDICT_NEW_PROJECTS = "everybody"


def test_staff_make_projects_and_others_where_the_operator_says_so(
    world: World, signed_in: SignIn, client_of: ApiDoor, settings: Any
) -> None:
    rex = signed_in(world.rex)
    assert "New project" not in rex.get("/").content.decode()
    assert rex.get(NEW).status_code == 403
    assert rex.post(NEW, {"name": "Mill", "compares": "source"}).status_code == 403
    assert client_of("rex").post(AT, {"name": "Mill"}).json()["error"]["code"] == "no_new_projects"
    with pytest.raises(NotAllowed):
        create_project(name="Mill", by=world.rex)
    assert not Project.objects.filter(name="Mill").exists()
    settings.COVERDICT_NEW_PROJECTS = "everybody"
    assert "New project" in rex.get("/").content.decode()
    location = rex.post(NEW, {"name": "Mill", "compares": "source"})["Location"]
    assert re.fullmatch(r"/p/mill-[a-z2-9]{4}/import/", location)
    settings.COVERDICT_NEW_PROJECTS = "staff"
    world.vic.is_staff = True
    world.vic.save()
    made = client_of("vic").post(AT, {"name": "Mill"})
    assert (made.status_code, made.json()["roles"]) == (201, ["owner"])
    assert Project.objects.filter(name="Mill").count() == 2


@pytest.mark.usefixtures("everybody")
def test_a_second_request_returns_the_callers_own_project(world: World, client_of: ApiDoor) -> None:
    first = client_of("rex").post(AT, {"name": "Mill", "compares": "source"})
    again = client_of("rex").post(AT, {"name": " Mill", "compares": "claims"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert (again.json()["slug"], again.json()["compares"]) == (first.json()["slug"], "source")
    # A project of another owner may have the same name, also if the person is a member of it.
    assert client_of("vic").post(AT, {"name": "Mill"}).status_code == 201
    assert client_of("rex").post(AT, {"name": world.project.name}).status_code == 201


@pytest.mark.usefixtures("everybody")
@pytest.mark.parametrize(
    ("given", "told"), [({"name": ""}, "required"), ({"compares": "everything"}, "valid choice")]
)
def test_what_makes_no_sense_is_refused_and_kept_in_the_form(
    world: World, signed_in: SignIn, given: dict[str, str], told: str
) -> None:
    answer = signed_in(world.rex).post(NEW, {"name": "Mill", "compares": "source", **given})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert told in page
    assert f'value="{given.get("name", "Mill")}"' in page
    assert Project.objects.count() == 2


@pytest.mark.parametrize(
    ("name", "slug"),
    [("Harbour", "harbour"), ("Größe & Maß", "groe-ma"), ("夏の調査", "project"), ("x" * 120, "x" * 55)],
)
def test_a_slug_is_made_from_the_name_and_ends_in_random_letters(name: str, slug: str) -> None:
    assert re.fullmatch(rf"{slug}-[a-z2-9]{{4}}", new_slug(name))
    assert new_slug(name) != new_slug(name)


def steps(project: Project, person: User) -> dict[str, bool]:
    return {step.url_name: step.is_done for step in guide_steps(project, verbs_in(person, project))}


@pytest.mark.usefixtures("everybody")
def test_the_steps_follow_what_is_there_until_a_run_has_finished(world: World, signed_in: SignIn) -> None:
    client = signed_in(world.rex)
    client.post(NEW, {"name": "Mill", "compares": "reference"})
    mill = Project.objects.get(name="Mill")
    assert steps(mill, world.rex) == {"import": False, "judges": False, "runs": False}
    rows = b"document_id,document,reference,system,summary\n1,It rains.,It rains.,alder,It rains.\n"
    kept = client.post(f"/p/{mill.slug}/import/upload/", {"files": SimpleUploadedFile("rows.csv", rows)})
    fields = ("document_id", "document", "reference", "system", "summary")
    holds = {f"column-{place}": name for place, name in enumerate(fields)}
    client.post(f"{kept['Location']}begin/", {**holds, "act": "import"})
    assert steps(mill, world.rex)["import"] is True
    assert "Next: Judge" in client.get(f"/p/{mill.slug}/import/").content.decode()
    chosen = client.post(f"/p/{mill.slug}/settings/judges/decide/", {"judge": "lexical"})
    # The project has texts and a judge, so only the start is left.
    assert chosen["Location"] == f"/p/{mill.slug}/runs/"
    assert steps(mill, world.rex)["judges"] is True
    assert "Next: Start" in client.get(f"/p/{mill.slug}/settings/judges/").content.decode()
    mill.refresh_from_db()
    run = start_run(project=mill, judge=mill.deciding_judge, by=world.rex)
    assert steps(mill, world.rex)["runs"] is True
    Run.objects.filter(pk=run.pk).update(state="finished")
    assert steps(mill, world.rex) == {}
    assert "Steps to a first ranking" not in client.get(f"/p/{mill.slug}/").content.decode()


def test_the_steps_are_for_those_who_may_take_them(world: World) -> None:
    assert steps(world.project, world.mona)
    assert not steps(world.project, world.rex)
    assert not guide_steps(world.project, [Verb.IMPORT, Verb.RUN])
