from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotation import tasks
from annotation.models import Membership, Project, Worker


@pytest.fixture
def editor(transactional_db: None) -> User:
    return User.objects.create_user("editor", password="editor-secret", is_staff=True)


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def a_worker_is_alive() -> None:
    Worker.objects.create(name="w", started_at=timezone.now(), seen_at=timezone.now())


def test_without_a_worker_nothing_is_begun(editor: User) -> None:
    answer = signed_in(editor).post("/sample/add/")
    assert answer.status_code == 409
    assert b"No worker is running" in answer.content
    assert not Project.objects.exists()


def test_who_may_make_no_projects_adds_none(editor: User) -> None:
    a_worker_is_alive()
    reader = signed_in(User.objects.create_user("reader"))
    assert reader.get("/sample/").status_code == 403
    assert reader.post("/sample/add/").status_code == 403


def test_a_project_of_ones_own_is_never_taken_for_a_sample(editor: User) -> None:
    a_worker_is_alive()
    Project.objects.create(slug="harbour", name="Our harbour")
    client = signed_in(editor)
    assert b"cannot be added because a project named harbour exists" in client.get("/sample/").content
    assert client.post("/sample/add/").status_code == 409


@pytest.mark.slow
def test_a_sample_is_asked_for_made_and_removed(editor: User) -> None:
    client = signed_in(editor)
    a_worker_is_alive()
    assert client.post("/sample/add/", follow=True).status_code == 200
    # No other worker is alive, so the process itself judges.
    Worker.objects.all().delete()
    tasks.add_sample(by_id=editor.pk)
    project = Project.objects.get(slug="harbour")
    assert Membership.objects.get(project=project, user=editor).roles == ["owner"]
    page = client.get("/sample/").content.decode()
    assert 'href="/p/harbour/"' in page
    assert ">Remove</button>" in page
    # Two requests create one project.
    tasks.add_sample(by_id=editor.pk)
    stranger = signed_in(User.objects.create_user("other", is_staff=True))
    assert "Ask an owner for access." in stranger.get("/sample/").content.decode()
    assert stranger.post("/sample/remove/").status_code == 404
    assert b"are deleted permanently" in client.post("/sample/remove/").content
    assert Project.objects.filter(slug="harbour").exists()
    client.post("/sample/remove/", {"confirmed": "1"})
    assert not Project.objects.filter(slug="harbour").exists()
