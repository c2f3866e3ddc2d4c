from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.config.web_urls import project_urls
from annotation.core.permissions import ARCHIVED_VERBS, deleted_projects, verbs_in
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.exports.services import request_export
from annotation.models import JudgeCall, Membership, Project, Role, Run
from annotation.privacy.purge_project import overdue, purge
from annotation.privacy.retention import apply_retention
from annotation.projects.services.close_project import (
    archive_project,
    delete_project,
    restore_project,
    unarchive_project,
)
from tests.annotation.admin.rows import fill
from tests.annotation.exports.doing import perform
from tests.annotation.route_verbs import POSTED, WEB
from tests.annotation.web.places import Ids

if TYPE_CHECKING:
    from pathlib import Path

    from tests.annotation.cast import World


def client_as(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def long_deleted(project: Project, days: int = 31) -> Project:
    Project.all_projects.filter(pk=project.pk).update(deleted_at=timezone.now() - timedelta(days=days))
    return Project.all_projects.get(pk=project.pk)


def test_an_archived_project_can_be_read_and_not_changed(world: World) -> None:
    archive_project(project=world.project, by=world.olga)
    world.project.refresh_from_db()
    assert verbs_in(world.olga, world.project) == ARCHIVED_VERBS
    assert "Harbour study" not in client_as(world.olga).get(reverse("projects")).content.decode()
    assert client_as(world.olga).get(reverse("project", args=["harbour"])).status_code == 200
    listed = client_as(world.olga).get("/api/v1/projects/").json()["results"]
    assert listed == []
    unarchive_project(project=world.project, by=world.olga)
    assert "Harbour study" in client_as(world.olga).get(reverse("projects")).content.decode()


def test_no_page_changes_an_archived_project(world: World) -> None:
    ids = Ids.of(world)
    Membership.objects.filter(user=world.olga).update(roles=list(Role.values))
    Run.objects.update(state=Run.State.FINISHED)
    archive_project(project=world.project, by=world.olga)
    client, open_to = client_as(world.olga), {}
    for route in project_urls:
        if route.name in POSTED and WEB[route.name] not in ARCHIVED_VERBS:
            open_to[route.name] = client.post(ids.address(route)).status_code
    # Routes that need EXPORT or MANAGE_MEMBERS remain open, because they change no row behind a score.
    assert len(open_to) > 38
    assert {name: code for name, code in open_to.items() if code != 403} == {}


def test_a_project_is_not_closed_while_its_summaries_are_judged(world: World) -> None:
    Run.objects.create(project=world.project, judge=world.judge)
    for act in (
        lambda: archive_project(project=world.project, by=world.olga),
        lambda: delete_project(project=world.project, name="Harbour study", by=world.olga),
    ):
        with pytest.raises(Conflict) as refused:
            act()
        assert refused.value.code == "busy"


def test_only_an_owner_deletes_and_by_its_name(world: World) -> None:
    with pytest.raises(NotAllowed):
        delete_project(project=world.project, name="Harbour study", by=world.mona)
    with pytest.raises(Invalid):
        delete_project(project=world.project, name="harbour", by=world.olga)
    assert Project.objects.filter(slug="harbour").exists()


def test_a_deleted_project_is_nowhere_and_comes_back_whole(world: World) -> None:
    page = reverse("close-project", args=["harbour"])
    assert client_as(world.olga).post(page, {"act": "delete", "name": "wrong"}).status_code == 422
    client_as(world.olga).post(page, {"act": "delete", "name": "Harbour study"})
    root = User.objects.create_superuser("root")
    for person in (world.olga, world.ana, root):
        assert client_as(person).get(reverse("project", args=["harbour"])).status_code == 404
        assert client_as(person).get("/api/v1/projects/harbour/").status_code == 404
    listing = reverse("closed-projects")
    assert "Harbour study" in client_as(world.olga).get(listing).content.decode()
    assert "Harbour study" not in client_as(world.mona).get(listing).content.decode()
    public_id = world.project.public_id
    assert client_as(world.mona).post(reverse("restore-project", args=[public_id])).status_code == 404
    client_as(world.olga).post(reverse("restore-project", args=[public_id]))
    assert client_as(world.ana).get(reverse("project", args=["harbour"])).status_code == 200


def test_thirty_days_later_it_is_not_restored_any_more(world: World) -> None:
    project = long_deleted(world.project, days=29)
    assert not overdue().exists()
    assert list(deleted_projects(world.olga)) == [project]
    project = long_deleted(world.project, days=30)
    assert list(overdue()) == [project]
    with pytest.raises(Conflict) as refused:
        restore_project(project=project, by=world.olga)
    assert refused.value.code == "too_late"


def test_a_project_that_was_restored_meanwhile_stays(world: World) -> None:
    due = long_deleted(world.project)
    Project.all_projects.update(deleted_at=None)
    assert purge(due) == {}
    assert Project.objects.filter(pk=due.pk).exists()


def test_a_removed_project_leaves_no_row_and_no_file(world: World, tmp_path: Path) -> None:
    fill(world)
    export = request_export(project=world.project, level="scores", format="csv", by=world.olga)
    perform(export)
    run = Run.objects.create(project=world.project, judge=world.judge)
    own = JudgeCall.objects.create(judge=world.judge, key="own", step="x", run=run)
    accounts_before = User.objects.count()
    folder = settings.VAR_DIR / "exports" / export.public_id
    assert folder.is_dir()
    before = {model: model._base_manager.count() for model in apps.get_models(include_auto_created=True)}
    Run.objects.update(state=Run.State.FINISHED)
    member = Membership.objects.filter(project=world.project).latest("pk")
    LogEntry.objects.create(
        user=world.olga,
        content_type=ContentType.objects.get_for_model(Membership),
        object_id=str(member.pk),
        object_repr=str(member),
        action_flag=CHANGE,
    )
    gone = purge(long_deleted(world.project))
    assert not LogEntry.objects.exists()
    assert not folder.exists()
    assert not JudgeCall.objects.filter(pk=own.pk).exists()
    left = {
        model.__name__: count
        for model in apps.get_app_config("annotation").get_models(include_auto_created=True)
        if (count := model._base_manager.count())
    }
    assert left == LEFT
    assert User.objects.count() == accounts_before
    assert list(Project.objects.values_list("slug", flat=True)) == ["quarry"]
    # The reported numbers are those of the project's rows.
    for model, count in before.items():
        name = model._meta.db_table
        if name in gone:
            assert model._base_manager.count() == count - gone[name], name


LEFT = {
    # The other project and its owner remain.
    "Project": 1,
    "Membership": 1,
    # The shared judge with its calls, and the worker, remain.
    **dict.fromkeys(("Judge", "JudgeCall", "Worker"), 1),
    # Rows of accounts or of the installation remain.
    **dict.fromkeys(("SetupLink", "AccountEvent", "CachedValue"), 1),
}


def test_an_overdue_project_is_removed_by_the_schedule(world: World) -> None:
    long_deleted(world.project)
    assert apply_retention() == {"projects": 1}
    assert apply_retention() == {}
    assert not Project.all_projects.filter(slug="harbour").exists()
