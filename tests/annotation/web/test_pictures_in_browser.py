"""Pictures in a real browser: readable for everybody, and no wider than they were laid out to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.services.review import override
from annotation.web.charts.layout import text_width
from annotation.web.pictures import SHOWN
from tests.accessibility import violations
from tests.annotation.web.test_flow_in_browser import sign_in

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)

TEXTS = """() => [...document.querySelectorAll("svg.picture text")].map(
  (each) => [each.lastChild.textContent, parseFloat(each.getAttribute("font-size")), each.getComputedTextLength()])"""


def test_every_picture_is_open_to_everybody_and_its_texts_keep_to_their_room(
    world: World, desk: Desk
) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="no")
    page = sign_in(desk(), "vic")
    faults, seen = {}, 0
    for name in SHOWN:
        page.goto(f"/p/harbour/scores/pictures/?show={name}")
        faults[name] = violations(page)
        for text, size, width in page.evaluate(TEXTS):
            seen += 1
            assert width <= text_width(text, size), text
    assert {name: found for name, found in faults.items() if found} == {}
    assert seen > 60
