"""The sample projects as somebody gets them: judged, answered, and gone again without a trace."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client, override_settings

from annotation.analysis.estimates.estimates import EstimateState, EstimateTable, estimates
from annotation.analysis.judge.judge_quality import judge_quality
from annotation.analysis.judge.words import told
from annotation.core.refusals import Conflict, NotAllowed, NotFound
from annotation.exports.services import perform, request_export
from annotation.models import Check, Dispute, Event, Project, Verdict
from annotation.projects.services.change_project import create_project
from annotation.sample.newsroom_texts import TARGET_WORDS
from annotation.sample.sample_projects import add_sample_project, remove_sample_project
from annotation.sampling.queries.check_samples import check_samples

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow
SYSTEMS = ("herald-2", "courier-1", "tribune-1", "lead", "bulletin-xs")


@pytest.fixture
def demo(transactional_db: None) -> Iterator[None]:
    with override_settings(DEMO_SIGN_IN=True):
        yield


def widths(table: EstimateTable) -> dict[str, float]:
    shown = {system: table.average(system) for system in SYSTEMS}
    return {
        name: each.high - each.low
        for name, each in shown.items()
        if each.low is not None and each.high is not None
    }


def test_ten_answers_finish_the_second_sample_of_newsroom(demo: None) -> None:
    project = add_sample_project(name="newsroom", by=None)
    with pytest.raises(Conflict):
        add_sample_project(name="newsroom", by=None)
    second, alignment, first = check_samples(project)
    assert (alignment.drawn, alignment.answered) == (120, 120)
    assert (first.drawn, first.answered, second.drawn - second.answered) == (150, 150, 10)

    table = estimates(project).at(TARGET_WORDS)
    # Ten answers of the second sample are missing, so the first one is the newest that is finished.
    assert table.sample is not None
    assert (table.draw_id, table.sample.is_complete) == (first.draw_id, True)
    assert table.state in (EstimateState.FEW, EstimateState.FINE)
    before = widths(table)
    assert before.keys() == set(SYSTEMS)

    # The summaries of one system tell much wrong, the baseline's nothing: so say the people, and not the judge.
    aligned = estimates(project, Check.Side.PEER).at(TARGET_WORDS)
    supported = {system: aligned.average(system).mean or 0.0 for system in SYSTEMS}
    assert min(supported, key=supported.__getitem__) == "bulletin-xs"
    assert supported["lead"] > 0.9

    quality = told(judge_quality(project))
    [version] = quality["versions"]
    assert quality["basis"]["kind"] == "drawn"
    # Two people agree as real ones do, and the judge is less often right on what somebody picked.
    assert 0.8 < quality["people_agree"]["value"] < 0.93
    assert version["picked"]["value"] < version["report"]["accuracy"]["value"] - 0.1
    assert "Hand-picked claims" in version["contrast"]
    assert Dispute.objects.filter(project=project).exists()
    answered = Verdict.objects.filter(check_row__project=project, source=Verdict.Source.REVIEWER)
    assert answered.dates("created_at", "day").count() >= 5

    browser = Client()
    browser.force_login(User.objects.get(username="cleo"))
    page = " ".join(browser.get("/p/newsroom/review/").content.decode().split())
    assert "10 claims in the random sample are left" in page
    handed = browser.post(f"/p/newsroom/review/next/?draw={second.draw_id}")
    for _ in range(10):
        address = handed.headers["Location"]
        check = re.search(r"/review/(\w+)/", address)
        assert check is not None
        handed = browser.post(
            f"/p/newsroom/review/{check[1]}/answer/?draw={second.draw_id}", {"label": "yes"}
        )
        handed = browser.post(f"/p/newsroom/review/next/?draw={second.draw_id}")
    page = browser.get(handed.headers["Location"]).content.decode()
    assert "random sample is complete" in page

    finished = estimates(project).at(TARGET_WORDS)
    assert finished.sample is not None
    assert (finished.draw_id, finished.sample.is_complete) == (second.draw_id, True)
    assert widths(finished).keys() == before.keys()
    call_command("verify_scores", "newsroom", stdout=io.StringIO())


def test_harbour_holds_five_disputes_one_of_them_on_a_claim_and_can_be_removed(demo: None) -> None:
    maker = User.objects.create(username="maker", is_staff=True)
    project = add_sample_project(name="harbour", by=maker)
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
    assert left == {"Project": 1, "Membership": 1, "Event": 1, "Judge": 1}
    # And it comes again as it was.
    add_sample_project(name="harbour", by=maker)


def test_outside_of_the_demo_nobody_can_be_its_people(transactional_db: None) -> None:
    User.objects.create(username="cleo")
    add_sample_project(name="harbour", by=None)
    people = User.objects.exclude(username="cleo")
    assert all(person.username.startswith("sample-") and not person.is_active for person in people)
    assert not any(person.has_usable_password() for person in people)
    assert not User.objects.get(username="cleo").memberships.exists()


@pytest.mark.django_db
def test_a_project_that_only_has_the_name_is_left_alone() -> None:
    create_project(slug="newsroom", by=None)
    with pytest.raises(Conflict, match="no sample"):
        add_sample_project(name="newsroom", by=None)
    with pytest.raises(NotFound, match="harbour, newsroom"):
        add_sample_project(name="nowhere", by=None)
    assert not Project.objects.get().document_sets.exists()
