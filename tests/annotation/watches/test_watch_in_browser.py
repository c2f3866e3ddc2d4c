from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from annotation.accounts.tokens import make_token
from annotation.models import Summary, Watch
from evaluation.client import Coverdict
from tests.accessibility import violations
from tests.annotation.watches.streams import SENTENCES, days_ago, work_off
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.browser import PHONE

if TYPE_CHECKING:
    from evaluation.client import Project
    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)


def push(project: Project, *, ago: int, kept: int) -> None:
    rows = []
    for number in range(12):
        sentences = [f"Tram{ago}x{number} reached stop{place}." for place in range(SENTENCES)]
        short = kept - number % 2
        rows.append(
            {
                "document_id": f"tram {ago} {number}",
                "document": " ".join(sentences),
                "reference": " ".join(sentences),
                "system": "alder",
                "summary": " ".join(sentences[:short]),
            }
        )
    project.push(rows)
    moment = datetime.combine(days_ago(ago), datetime.min.time(), tzinfo=UTC) + timedelta(hours=9)
    pushed = Summary.objects.filter(document_set__external_id__startswith=f"tram {ago} ")
    pushed.update(created_at=moment)


def test_from_push_to_alarm(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "mona")
    page.goto("/p/harbour/watches/")
    page.get_by_role("link", name="Watch a stream of summaries").click()
    page.get_by_label("Name").fill("Trams")
    page.get_by_label("Period", exact=True).select_option("Day")
    page.get_by_label("Claims for people").fill("0")
    page.get_by_text("More: first day").click()
    page.get_by_label("Periods of the reference").fill("3")
    page.get_by_label("First day").fill(days_ago(6).isoformat())
    page.get_by_role("button", name="Watch").click()
    page.get_by_role("heading", name="Trams: cannot tell yet").wait_for()
    watch = Watch.objects.get()
    with Coverdict(desk.address, make_token(person=world.mona)[1], frames="rows", progress=False) as server:
        project = server.project("harbour")
        for ago in (6, 5, 4, 3):
            push(project, ago=ago, kept=4 if ago == 3 else 9)
        work_off(watch)
        assert project.watch(watch.public_id)["state"] == "worse"
        assert [row["state"] for row in project.watches()] == ["worse"]
    page.reload()
    page.get_by_role("heading", name="Trams: worse").wait_for()
    page.get_by_text("Either the summaries or the judge changed.").first.wait_for()
    page.locator(".plot canvas").wait_for()
    assert violations(page, PHONE) == []
