"""Long lists in a real browser: searched as one types, and ticked at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.accessibility import violations
from tests.annotation.web.test_flow_in_browser import sign_in

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_list_follows_what_is_typed_and_the_field_keeps_the_focus(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "olga")
    page.goto("/p/harbour/review/?sort=uncertainty")
    page.get_by_role("searchbox").press_sequentially("WALL")
    page.wait_for_url("**/review/?q=WALL&sort=uncertainty*")
    page.locator("tbody tr").nth(2).wait_for(state="detached")
    assert page.locator("tbody tr").count() == 2
    page.keyboard.type("zz")
    page.get_by_role("status").filter(has_text="Nothing found for “WALLzz”").wait_for()
    assert page.get_by_role("searchbox").evaluate("(field) => field.matches(':focus')")
    assert violations(page) == []
    page.get_by_role("link", name="Show all").click()
    page.locator("tbody tr").nth(5).wait_for()
    assert page.url.endswith("/review/")


def test_a_head_sorts_and_all_boxes_are_ticked_at_once(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "olga")
    page.goto("/p/harbour/settings/people/")
    page.get_by_role("link", name="Name").click()
    page.locator("th[aria-sort=descending]").wait_for()
    first = page.locator("tbody tr").first
    assert first.inner_text().startswith(
        max(member.user.username for member in world.project.memberships.all())
    )
    assert violations(page) == []
    page.goto("/p/harbour/assignments/")
    boxes, ticked = page.locator("input[name=people]"), page.locator("input[name=people]:checked")
    people = page.get_by_role("group", name="All document sets to")
    people.get_by_role("button", name="Select all").click()
    assert ticked.count() == boxes.count() == 3
    people.get_by_role("button", name="Select none").click()
    assert ticked.count() == 0
