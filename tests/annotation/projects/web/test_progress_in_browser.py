"""The pages of progress and of one's own work in a real browser: axe-core finds nothing, nothing runs off a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from annotation.assessing.services.assignment_orders import AssignmentOrder, Way
from annotation.assessing.services.plan_assignments import carry_out
from annotation.assessing.services.pull_sitting import pull
from annotation.models import Project, Sitting, SummaryJudgment, System
from tests.accessibility import runs_off, violations
from tests.annotation.cast import PEERS, finish
from tests.annotation.laying import add_assessors, add_sets, begin
from tests.annotation.sitting import repeat, say, sit
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.browser import DESKTOP, PHONE

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)

VIEWS = [f"/p/harbour/progress/?view={view}" for view in ("sets", "people", "systems", "closed")]
SCORES = "/p/harbour/scores/"
WORK = "/p/harbour/work/"


@pytest.fixture
def busy(world: World) -> World:
    """Ana has a closed set with a repeat, one begun, one from the queue, and more; Ben's lease has run out."""
    System.objects.filter(name="alder").update(kind="person", person=world.ana)
    add_sets(world, [f"news-{number}" for number in range(7)], targets=(100, 10))
    add_assessors(world, ["eve"])
    for name in ("ana", "ben"):
        sitting = sit(world, name, "port")
        repeat(sitting, "alder")
        for system in PEERS:
            say(sitting, system, (60, [1], 40_000), (20, [], 400))
        say(sitting, "alder", (60, [1], 400), (100, [2], 300), again=True)
        finish(sitting)
    for name in ("bridge", "news-0", "news-1"):
        sit(world, "ana", name)
    orders = tuple(world.sets[f"news-{number}"].public_id for number in range(2, 7))
    order = AssignmentOrder(way=Way.QUEUE, seed=1, document_sets=orders)
    carry_out(project=world.project, order=order, by=world.mona)
    for person in (world.ben, world.ana):
        begin(pull(project=world.project, by=person))
    Sitting.objects.filter(assessor=world.ben, closed_at__isnull=True).update(lease_until=timezone.now())
    # Questions that came later: the answers of what is closed, and open ones of what is not.
    Project.objects.update(question_set="summeval")
    SummaryJudgment.objects.update(quality_answers={"coherence": 4, "fluency": 2})
    return world


def test_axe_finds_nothing_and_nothing_runs_off_a_phone(busy: World, desk: Desk) -> None:
    found = {}
    for person, places in (("mona", [*VIEWS, SCORES]), ("ana", [WORK])):
        page = sign_in(desk(), person)
        for place in places:
            page.goto(place)
            if place == SCORES:
                page.get_by_role("heading", name="Quality ratings by people").wait_for()
            if faults := violations(page) + runs_off(page, PHONE):
                found[place] = faults
            page.set_viewport_size(DESKTOP)
    assert found == {}


def test_views_change_in_place_and_the_address_follows(busy: World, desk: Desk) -> None:
    page = sign_in(desk(), "mona")
    page.goto(VIEWS[0])
    page.get_by_role("link", name="Assessors").click()
    page.get_by_role("columnheader", name="Flags").wait_for()
    assert page.url.endswith("?view=people")
    page.get_by_role("row", name="ana").get_by_role("link").click()
    page.get_by_role("heading", name="Closed assignments of ana").wait_for()
