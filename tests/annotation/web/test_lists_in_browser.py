from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from annotation.core.events import log
from tests.accessibility import violations
from tests.annotation.web.test_flow_in_browser import sign_in

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("scripts", [True, False])
def test_a_list_is_sorted_searched_and_continued(world: World, desk: Desk, *, scripts: bool) -> None:
    for number in range(12):
        log(project=world.project, actor=world.mona, verb=f"act {number}", target=world.project)
    page = sign_in(desk(java_script_enabled=scripts), "olga")
    page.goto("/p/harbour/settings/log/?limit=5")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(5)
    page.get_by_role("link", name="When").click()
    expect(rows.first).to_contain_text("Acted 0")
    assert page.locator("th[aria-sort=ascending]").count() == 1
    page.get_by_role("link", name="Show more").click()
    # With scripts, the next five rows follow the first five; without scripts, they replace them.
    expect(rows).to_have_count(10 if scripts else 5)
    expect(rows.last).to_contain_text("Acted 9")
    page.get_by_role("searchbox").fill("act 11")
    if not scripts:
        page.get_by_role("button", name="Search").click()
    expect(rows).to_have_count(1)
    if scripts:
        assert violations(page) == []
