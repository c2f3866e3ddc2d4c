"""Long lists in a real browser: searched as one types, and ticked at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.annotation.web.test_flow_in_browser import sign_in

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)


def test_all_boxes_are_ticked_at_once(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "olga")
    page.goto("/p/harbour/assignments/")
    boxes, ticked = page.locator("input[name=people]"), page.locator("input[name=people]:checked")
    people = page.get_by_role("group", name="All document sets to")
    people.get_by_role("button", name="Select all").click()
    assert ticked.count() == boxes.count() == 3
    people.get_by_role("button", name="Select none").click()
    assert ticked.count() == 0
