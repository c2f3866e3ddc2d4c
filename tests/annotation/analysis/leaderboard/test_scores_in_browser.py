from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from annotation.models import Score, System
from tests.accessibility import runs_off, violations
from tests.annotation.mixing import mix_summarization
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.browser import DESKTOP, PHONE

if TYPE_CHECKING:
    from playwright.sync_api import ViewportSize

    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)

SHEET: ViewportSize = {"width": 680, "height": 1000}
"""A4 upright less margins of 15 mm: 180 mm are 680 px."""


@pytest.fixture
def places(world: World) -> list[str]:
    mix_summarization(world)
    Score.objects.update(conciseness=0.4, completeness=0.6, factual_alignment=0.5)
    return [
        "/p/harbour/scores/?by=summarization",
        f"/p/harbour/scores/systems/{world.systems['alder'].public_id}/",
    ]


def test_axe_finds_nothing_and_nothing_runs_off_a_phone_or_sheet(places: list[str], desk: Desk) -> None:
    page = sign_in(desk(), "vic")
    found = {}
    for place in places:
        page.set_viewport_size(DESKTOP)
        page.emulate_media(media="screen")
        page.goto(place)
        found[place] = violations(page) + runs_off(page, PHONE)
        page.emulate_media(media="print")
        found[place] += runs_off(page, SHEET)
    assert {place: faults for place, faults in found.items() if faults} == {}


def test_a_system_on_a_phone_is_a_card_with_all_its_figures(world: World, desk: Desk) -> None:
    System.objects.filter(name="alder").update(name="abs_pointer_generator_with_coverage_out")
    page = sign_in(desk(viewport=PHONE), "vic")
    page.goto("/p/harbour/scores/?by=coverage")
    for name in ("coverage", "length"):
        figure = page.locator(f'tbody [data-name="{name}"]').first.bounding_box()
        assert figure["x"] + figure["width"] <= PHONE["width"]


def test_a_menu_opens_and_closes_by_keys_and_one_at_a_time(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "olga")
    page.goto("/p/harbour/scores/")
    results = page.locator(".doors summary", has_text="Results")
    results.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    current = page.locator(".doors .menu :focus")
    assert (current.inner_text(), current.get_attribute("aria-current")) == ("Leaderboard", "page")
    page.keyboard.press("Escape")
    assert page.locator(".drop[open]").count() == 0
    assert results.evaluate("each => each === document.activeElement")
    results.click()
    page.locator(".doors summary", has_text="Data").click()
    assert page.locator(".drop[open] summary").all_inner_texts() == ["Data"]
    page.get_by_role("link", name="Runs").click()
    pages = page.get_by_role("navigation", name="Data", exact=True)
    expect(pages.locator("[aria-current=page]")).to_have_text(["Runs"])
