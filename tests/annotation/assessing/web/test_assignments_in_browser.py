"""A manager looks at a plan before it is done, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import Sitting
from tests.accessibility import violations
from tests.annotation.laying import add_sets
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.browser import DESKTOP, PHONE

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)

ROOM = "/p/harbour/assignments/"


def test_a_plan_is_previewed_and_done(world: World, desk: Desk) -> None:
    add_sets(world, ["quay", "mole"])
    page = sign_in(desk(viewport=PHONE), "mona")
    page.goto(ROOM)
    assert not page.get_by_label("Assessors per set", exact=True).is_visible()
    page.get_by_role("radio", name="A plan").check()
    assert not page.get_by_label("Number of additional sets", exact=True).is_visible()
    page.get_by_role("checkbox", name="ana").check()
    page.get_by_role("checkbox", name="ben").check()
    page.get_by_label("Assessors per set", exact=True).fill("1")
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("4 assignments for 2 people, 2 each; 8 summaries; every set by 1.").wait_for()
    assert page.evaluate("document.activeElement.id") == "preview"
    assert violations(page, DESKTOP) == []
    assert not Sitting.objects.exists()
    page.get_by_role("button", name="Assign", exact=True).click()
    page.get_by_text("4 assignments created.").wait_for()
    assert Sitting.objects.count() == 4


def test_nothing_on_the_page_breaks_its_content_policy(world: World, desk: Desk) -> None:
    # The desk counts every report of the policy as a complaint; here they are counted once more, to be told apart.
    page = sign_in(desk(), "mona")
    page.add_init_script(
        "addEventListener('securitypolicyviolation', () => { window.reports = (window.reports || 0) + 1 })"
    )
    page.goto(ROOM)
    page.get_by_role("radio", name="The queue").check()
    page.get_by_label("Assessors per set", exact=True).fill("4")
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("2 assignments will have no eligible assessor").wait_for()
    page.get_by_role("button", name="Add to the queue").click()
    page.get_by_text("2 of 8 waiting assignments have no eligible assessor.").wait_for()
    assert violations(page) == []
    page.get_by_role("button", name="Remove 2 from the queue").click()
    page.get_by_text("2 assignments were removed from the queue.").wait_for()
    for name in ("In the queue 6", "Closed 0", "Withdrawn 2", "Open 0"):
        page.get_by_role("link", name=name).click()
        page.locator(f"a[aria-current=true]:has-text('{name}')").wait_for()
    page.get_by_role("link", name="In the queue 6").click()
    page.locator("details.change summary").first.click()
    assert page.locator("[style]").count() == 0
    assert page.evaluate("window.reports || 0") == 0
    page.get_by_role("link", name="random samples", exact=True).click()
    page.get_by_role("heading", name="Random samples").wait_for()
    assert violations(page) == []
    assert page.evaluate("window.reports || 0") == 0


def test_a_sitting_is_given_to_somebody_else(world: World, desk: Desk) -> None:
    from annotation.assessing.services.assign import assign

    assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    page = sign_in(desk(), "mona")
    page.goto(ROOM)
    page.locator("details.change summary").click()
    page.get_by_label("Assign to").fill("ben")
    page.get_by_role("button", name="Assign", exact=True).click()
    page.get_by_text("ben has port to judge.").wait_for()
    assert violations(page) == []
    assert Sitting.objects.get(recalled_at__isnull=True).assessor == world.ben
