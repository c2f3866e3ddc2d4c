"""A manager looks at a plan before it is done, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.models import Sitting
from tests.accessibility import violations
from tests.annotation.services.laying import add_sets
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.browser import PHONE

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)

ROOM = "/p/harbour/assignments/"


@pytest.mark.parametrize("viewport", [None, PHONE], ids=["desktop", "phone"])
def test_a_plan_is_previewed_and_done(world: World, desk: Desk, viewport: Any) -> None:
    add_sets(world, ["quay", "mole"])
    page = sign_in(desk(viewport=viewport) if viewport else desk(), "mona")
    page.goto(ROOM)
    assert not page.get_by_label("Assessors for each set", exact=True).is_visible()
    page.get_by_role("radio", name="A plan").check()
    assert not page.get_by_label("How many more sets", exact=True).is_visible()
    page.get_by_role("checkbox", name="ana").check()
    page.get_by_role("checkbox", name="ben").check()
    page.get_by_label("Assessors for each set", exact=True).fill("1")
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("4 sittings for 2 people, 2 each; 8 summaries; every set by 1.").wait_for()
    assert page.evaluate("document.activeElement.id") == "preview"
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert not Sitting.objects.exists()
    page.get_by_role("button", name="Assign", exact=True).click()
    page.get_by_text("4 sittings given out.").wait_for()
    assert Sitting.objects.count() == 4


def test_a_sitting_is_given_to_somebody_else(world: World, desk: Desk) -> None:
    from annotation.services.assign import assign

    assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    page = sign_in(desk(), "mona")
    page.goto(ROOM)
    page.locator("details.change summary").click()
    page.get_by_label("Give it to").fill("ben")
    page.get_by_role("button", name="Give", exact=True).click()
    page.get_by_text("ben has port to judge.").wait_for()
    assert violations(page) == []
    assert Sitting.objects.get(recalled_at__isnull=True).assessor == world.ben
