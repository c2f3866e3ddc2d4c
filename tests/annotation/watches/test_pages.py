from __future__ import annotations

from datetime import UTC, datetime, time
from html import unescape
from io import StringIO
from typing import TYPE_CHECKING

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.models import Event, Look, Watch, WatchPeriod
from annotation.projects.services.set_criteria import set_criteria
from annotation.watching.figures import as_text
from evaluation.metrics import Criterion
from tests.annotation.watches.streams import days_ago, pushed, watched, work_off

if TYPE_CHECKING:
    from django.test import Client

    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

FORM = {
    "name": "News",
    "length": "week",
    "scores": ["coverage", "alignment"],
    "summaries": "50",
    "checks": "0",
    "smallest_drop": "0.05",
    "reference_periods": "8",
    "yearly_rate": "0.05",
    "starts_on": f"{days_ago(300)}",
}
PLACE = "/p/harbour/watches/"


def command(*arguments: str) -> tuple[str, int]:
    out = StringIO()
    try:
        call_command("watch", "harbour", *arguments, stdout=out)
    except SystemExit as ended:
        return out.getvalue(), int(ended.code or 0)
    return out.getvalue(), 0


def test_a_watch_is_made_and_archived(world: World, mona: Client) -> None:
    alder = world.systems["alder"]
    page = mona.post(f"{PLACE}new/", {**FORM, "systems": [alder.pk]}, follow=True)
    watch = Watch.objects.get()
    assert watch.systems.get() == alder
    assert "Nothing to compare yet: 0 of 8 weeks of the reference are complete." in page.content.decode()
    assert (watch.starts_on, watch.reference_periods) == (days_ago(300), 8)
    mona.post(f"{PLACE}{watch.public_id}/archive/")
    assert "Stopped" in mona.get(PLACE).content.decode()
    assert list(Event.objects.filter(target_kind="watch").order_by("pk").values_list("verb", flat=True)) == [
        "make watch",
        "archive watch",
    ]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", "", "This field is required."),
        ("summaries", "0", "Ensure this value is greater than or equal to 1."),
        ("smallest_drop", "1.5", "Ensure this value is less than or equal to 1."),
        ("scores", [], "This field is required."),
        ("starts_on", "soon", "Enter a valid date."),
        ("starts_on", "9999-12-31", "Choose a first day at most two years from today."),
        ("starts_on", "0001-01-01", "Choose a first day at most two years from today."),
    ],
)
def test_a_form_says_which_field_is_wrong(
    world: World, mona: Client, field: str, value: object, said: str
) -> None:
    refused = mona.post(f"{PLACE}new/", {**FORM, field: value})
    assert refused.status_code == 422
    assert said in refused.content.decode()
    assert not Watch.objects.exists()


def test_a_key_that_no_document_set_has_is_refused_with_the_known_ones(world: World, mona: Client) -> None:
    pushed(world.project, ago=2, kept=0.8, count=1, kind="port")
    refused = mona.post(f"{PLACE}new/", {**FORM, "group_by": "knd"})
    assert refused.status_code == 422
    told = unescape(refused.content.decode())
    assert "No document set has 'knd' in its metadata. Known: kind, language." in told
    assert not Watch.objects.exists()


def test_a_criterion_is_watched_without_peoples_answers_only(world: World, mona: Client) -> None:
    set_criteria(world.project, [Criterion("tone", "Is it neutral?", (1, 5), answered_by="judge")])
    refused = mona.post(f"{PLACE}new/", {**FORM, "scores": ["tone"], "checks": "50"})
    assert refused.status_code == 422
    assert "Enter 0: the judge alone rates by criteria." in refused.content.decode()
    assert mona.post(f"{PLACE}new/", {**FORM, "scores": ["tone"]}).status_code == 302
    assert Watch.objects.get().scores == ["tone"]


def test_a_name_is_used_once(world: World, mona: Client, client_of: ApiDoor) -> None:
    mona.post(f"{PLACE}new/", FORM)
    again = mona.post(f"{PLACE}new/", FORM)
    assert again.status_code == 422
    assert "Another watch has this name." in again.content.decode()
    [row] = client_of("mona").get("/api/v1/projects/harbour/watches/").json()["results"]
    assert (row["name"], row["state"]) == ("News", "unknown")


@pytest.mark.parametrize("door", ["page", "api"])
def test_who_sees_changed_answers_is_not_blind_to_them_any_more(
    world: World, mona: Client, client_of: ApiDoor, door: str
) -> None:
    world.project.memberships.filter(user=world.mona).update(roles=["manager", "reviewer"])
    watch = watched(world.project, ago=2, reference_periods=1)
    check = world.check("alder", 1)
    # 30 of 150 known checks changed, after none of 150.
    changed = {check.public_id: "no", **{f"gone{number}": "no" for number in range(29)}}
    for ago, found in ((2, {}), (1, changed)):
        start = datetime.combine(days_ago(ago), time(), tzinfo=UTC)
        asked = [{"model": "", "count": 150, "changed": found}]
        WatchPeriod.objects.create(watch=watch, start=start, basis="0|judge", asked=asked)
    if door == "page":
        shown = mona.get(f"{PLACE}{watch.public_id}/").content.decode()
        assert "<h1>live: judge changed</h1>" in shown
    else:
        shown = client_of("mona").get(f"/api/v1/projects/harbour/watches/{watch.public_id}/").json()
        assert shown["state"] == "judge_changed"
    assert [look.check_row for look in Look.objects.filter(revealed_at__isnull=False)] == [check]


def test_the_command_without_a_watch_names_the_page(world: World) -> None:
    with pytest.raises(CommandError, match="Make one on its page Watch"):
        command()


@pytest.mark.django_db(transaction=True)
def test_page_api_command_and_metrics_say_the_same(world: World, mona: Client, client_of: ApiDoor) -> None:
    for ago in (6, 5):
        pushed(world.project, ago=ago, kept=0.8, kind="port")
    pushed(world.project, ago=4, kept=0.4, kind="port")
    watch = work_off(watched(world.project, ago=6, reference_periods=2, group_by="kind"))
    page = mona.get(f"{PLACE}{watch.public_id}/").content.decode()
    assert "<h1>live: worse</h1>" in page
    assert "The judge&#x27;s coverage fell by" in page
    assert "By kind, the largest drop first: <bdi>port</bdi>" in page
    assert "Does the judge still answer as before?" in page
    report = client_of("vic").get(f"/api/v1/projects/harbour/watches/{watch.public_id}/").json()
    assert (report["state"], report["scores"][0]["window"]) == ("worse", 1)
    said, code = command("--check")
    assert code == 3
    assert said.startswith(f"live: {report['sentence']}")
    # The mean is that of the newest period with a mean.
    mean = next(each["mean"] for each in reversed(report["scores"][0]["points"]) if each["mean"] is not None)
    figures = as_text().decode()
    assert (
        f'coverdict_watch_state{{project="harbour",state="worse",watch="{watch.public_id}"}} 1.0' in figures
    )
    assert (
        f'coverdict_watch_mean{{project="harbour",score="coverage",watch="{watch.public_id}"}} {mean}'
        in figures
    )
