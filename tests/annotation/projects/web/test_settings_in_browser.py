from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.accessibility import violations
from tests.annotation.web.test_flow_in_browser import sign_in

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_refused_save_takes_one_to_what_is_wrong(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "mona")
    page.goto("/p/harbour/settings/")
    page.get_by_text("Advanced").click()
    page.get_by_label("Answers differ beyond").fill("2")
    page.get_by_role("button", name="Save").click()
    faults = page.get_by_role("alert").filter(has_text="Not saved.")
    faults.wait_for()
    assert faults.evaluate("element => element === document.activeElement")
    box = faults.bounding_box()
    assert 0 <= box["y"] < 900 - box["height"]
    assert violations(page) == []
    faults.get_by_role("link", name="Answers differ beyond").click()
    assert page.get_by_label("Answers differ beyond").evaluate(
        "element => element === document.activeElement"
    )
