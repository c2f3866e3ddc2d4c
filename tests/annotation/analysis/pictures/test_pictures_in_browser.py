"""Pictures in a real browser: readable for everybody, and no wider than they were laid out to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.analysis.pictures.charts.layout import text_width
from annotation.analysis.pictures.web import PICTURES
from annotation.reviewing.services.review import override
from tests.accessibility import violations
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.browser import PHONE

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
    for name in PICTURES:
        page.goto(f"/p/harbour/scores/pictures/?show={name}")
        faults[name] = violations(page)
        for text, size, width in page.evaluate(TEXTS):
            seen += 1
            assert width <= text_width(text, size), text
    assert {name: found for name, found in faults.items() if found} == {}
    assert seen > 60


def test_on_a_phone_a_picture_says_that_it_goes_on_and_scrolls_by_keys(world: World, desk: Desk) -> None:
    page = sign_in(desk(viewport=PHONE), "vic")
    page.goto("/p/harbour/scores/pictures/?show=weight")
    frame = page.get_by_role("region", name="Composite by the weight of coverage, chart")
    assert frame.evaluate("of => of.scrollWidth > of.clientWidth")
    assert page.get_by_text("Scroll sideways to see the whole chart.").is_visible()
    frame.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("of => of.scrollLeft > 0", arg=frame.element_handle())
    assert violations(page) == []


def test_where_a_picture_is_whole_nothing_is_said_of_scrolling(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "vic")
    page.goto("/p/harbour/scores/pictures/?show=weight")
    frame = page.get_by_role("region", name="Composite by the weight of coverage, chart")
    assert frame.evaluate("of => of.scrollWidth <= of.clientWidth")
    assert page.get_by_text("Scroll sideways to see the whole chart.").is_hidden()
