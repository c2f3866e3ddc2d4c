from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User
from django.test import override_settings

from annotation.core.refusals import Conflict, NotAllowed
from annotation.demo.project import add_sample_project, remove_sample_project
from annotation.exports.services import request_export
from annotation.models import Dispute, Event, Project
from annotation.projects.services.change_project import create_project
from tests.annotation.exports.doing import perform

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow


@pytest.fixture
def demo(transactional_db: None) -> Iterator[None]:
    with override_settings(DEMO_SIGN_IN=True):
        yield


def test_harbour_holds_five_disputes_one_of_them_on_a_claim_and_can_be_removed(demo: None) -> None:
    maker = User.objects.create(username="maker", is_staff=True)
    project = add_sample_project(by=maker)
    differs = Dispute.objects.filter(project=project, state=Dispute.State.OPEN)
    assert differs.count() == 5
    assert differs.filter(check_row__isnull=False).count() == 1
    other = create_project(slug="other", by=maker)
    with pytest.raises(Conflict, match="no sample"):
        remove_sample_project(project=other, by=maker)
    with pytest.raises(NotAllowed):
        remove_sample_project(project=project, by=User.objects.get(username="cleo"))

    export = request_export(project=project, level="scores", format="csv", by=maker)
    perform(export)
    remove_sample_project(project=project, by=maker)
    assert not (settings.VAR_DIR / "exports" / export.public_id).exists()
    assert list(Project.objects.all()) == [other]
    assert list(Event.objects.values_list("verb", flat=True)) == ["create project"]
    left = {
        model.__name__: count
        for model in apps.get_app_config("annotation").get_models()
        if (count := model._base_manager.count())
    }
    assert left == {"Project": 1, "Membership": 1, "Event": 1, "Judge": 1, "Criterion": 1}
    # After its removal it can be created again.
    add_sample_project(by=maker)


def test_outside_of_the_demo_nobody_can_be_its_people(transactional_db: None) -> None:
    User.objects.create(username="cleo")
    add_sample_project(by=None)
    people = User.objects.exclude(username="cleo")
    assert all(person.username.startswith("sample-") and not person.is_active for person in people)
    assert not any(person.has_usable_password() for person in people)
    assert not User.objects.get(username="cleo").memberships.exists()


@pytest.mark.django_db
def test_a_project_that_only_has_the_name_is_left_alone() -> None:
    create_project(slug="harbour", by=None)
    with pytest.raises(Conflict):
        add_sample_project(by=None)
    assert not Project.objects.get().document_sets.exists()
