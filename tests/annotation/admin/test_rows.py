from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.contrib import admin

from annotation.admin.rows import COLUMNS
from annotation.models import Dispute, Invitation, Job, Judge, Summary
from annotation.projects.services.invite import invite
from tests.annotation.admin.rows import address, fill

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import StaffDoor

PROFILE = {
    "name": "remote",
    "kind": "openai",
    "model": "some-model",
    "base_url": "http://127.0.0.1:9000/v1",
    "api_key_env": "REMOTE_KEY",
    "temperature": "0",
    "concurrency": "8",
    "timeout_seconds": "60",
    "max_tokens": "4000",
    "prompt_price": "0.15",
    "completion_price": "0.6",
}


def test_no_answer_score_or_call_of_a_judge_is_registered() -> None:
    ours = {model for model in admin.site._registry if model._meta.app_label == "annotation"}
    assert ours == {*COLUMNS, Judge, Dispute}
    telling = ("Verdict", "Judgment", "Rating", "Score", "Call", "Check", "Look", "Analysis")
    assert [model for model in ours if any(word in model.__name__ for word in telling)] == []


def test_a_superuser_opens_every_list_and_row_and_changes_none(world: World, staff: StaffDoor) -> None:
    fill(world)
    client = staff("root")
    for model in COLUMNS:
        row = model._default_manager.first()
        assert row is not None, model
        assert client.get(address(model), {"q": "word"}).status_code == 200, model
        for page in ("change", "history"):
            assert client.get(address(model, f"{row.pk}/{page}/")).status_code == 200, model
        for page in ("change", "delete"):
            sent = client.post(address(model, f"{row.pk}/{page}/"), {"post": "yes"})
            assert sent.status_code == 403, (model, page)
        assert client.get(address(model, "add/")).status_code == 403, model


def test_secrets_and_answers_of_imports_are_not_shown(world: World, staff: StaffDoor) -> None:
    fill(world)
    invitation = invite(project=world.project, roles=["viewer"], by=world.olga).invitation
    summary = world.summaries["port", "alder"]
    Summary.objects.filter(pk=summary.pk).update(metadata={"pyramid": "expressed"})
    client = staff("root")
    for row, secret in (
        (invitation, invitation.secret_hash),
        (Job.objects.get(kind="run"), "secret-token"),
        (summary, "expressed"),
    ):
        assert secret not in client.get(address(type(row), f"{row.pk}/change/")).content.decode()
    assert Invitation.objects.exists()


def test_a_superuser_adds_a_judge_that_all_projects_share(world: World, staff: StaffDoor) -> None:
    client = staff("root")
    assert client.post(address(Judge, "add/"), PROFILE).status_code == 302
    made = Judge.objects.get(name="remote")
    assert (made.project, made.api_key_env) == (None, "REMOTE_KEY")
    panel = {**PROFILE, "name": "three", "kind": "panel", "base_url": "", "api_key_env": "", "model": ""}
    assert client.post(address(Judge, "add/"), {**panel, "members": [made.pk]}).status_code == 302
    assert list(Judge.objects.get(name="three").members.all()) == [made]


def test_the_stored_key_of_a_judge_is_on_no_page(world: World, staff: StaffDoor) -> None:
    made = Judge.objects.create(
        project=world.project, name="own", kind="openai", model="m", sealed_key="gAAAsealed"
    )
    page = staff("root").get(address(Judge, f"{made.pk}/change/"))
    assert page.status_code == 200
    assert "gAAAsealed" not in page.content.decode()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"base_url": "http://169.254.169.254/latest"}, "COVERDICT_JUDGE_URLS"),
        ({"concurrency": "0"}, "Enter at least 1."),
        ({"kind": "panel", "base_url": "", "api_key_env": ""}, "Choose the panel"),
    ],
)
def test_a_judge_that_would_leak_or_fail_is_refused(
    world: World, staff: StaffDoor, changes: dict[str, str], told: str
) -> None:
    answer = staff("root").post(address(Judge, "add/"), {**PROFILE, **changes})
    assert told in answer.content.decode()
    assert not Judge.objects.filter(name="remote").exists()
