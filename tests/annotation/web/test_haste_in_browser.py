from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from annotation.assessing.services.assign import assign
from annotation.models import CoverageJudgment, Export
from tests.annotation.laying import assign_part
from tests.annotation.web.test_flow_in_browser import UNREAD_MS, sign_in
from tests.browser import PHONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page, Route

    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)

SLOW_S = 0.3


def slowly(route: Route) -> None:
    time.sleep(SLOW_S)
    route.continue_()


def open_check(page: Page, world: World, system: str = "alder", claim: int = 2) -> str:
    address = f"/p/harbour/review/{world.check(system, claim).public_id}/"
    page.goto(address)
    page.wait_for_timeout(UNREAD_MS)
    return address


def open_form(page: Page, world: World) -> None:
    assign_part(world, "port", world.ana, "alder")
    sign_in(page, "ana")
    page.goto("/p/harbour/work/")
    page.get_by_role("link", name="Start", exact=True).click()
    page.locator("[data-see]").wait_for()


def percents() -> dict[int, int | None]:
    rows = CoverageJudgment.objects.filter(is_current=True).values_list("unit__position", "percent")
    return {position: percent for position, percent in rows if position is not None}


def test_the_next_page_waits_until_all_is_saved(world: World, desk: Desk) -> None:
    page = desk()
    open_form(page, world)
    page.route("**/acts/", slowly)
    for key in ("a", "1", "b", "6", "n"):
        page.keyboard.press(key)
    page.get_by_role("button", name="Close the set").wait_for()
    assert percents() == {1: 0, 2: 100}


def test_what_looks_like_a_slip_is_said_beside_the_unit(world: World, desk: Desk) -> None:
    page = desk()
    open_form(page, world)
    page.keyboard.press("4")
    page.locator(
        ".slip", has_text="Reference unit 1 has 60 % but no summary unit is marked for it."
    ).wait_for()
    page.keyboard.press("k")
    page.keyboard.press("a")
    page.locator(".slip", has_text="Reference unit 1").wait_for(state="hidden")
    page.keyboard.press("1")
    page.locator(".slip", has_text="Reference unit 1 has marked summary units but 0 %.").wait_for()
    page.reload()
    page.locator(".slip", has_text="Reference unit 1 has marked summary units but 0 %.").wait_for()


def test_a_double_click_makes_one_export(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "olga")
    page.goto("/p/harbour/exports/")
    page.get_by_role("button", name="Export").dblclick()
    page.get_by_role("region", name="Past exports").first.wait_for()
    page.wait_for_timeout(500)
    assert Export.objects.count() == 1


def test_a_phone_cuts_no_column_off(world: World, desk: Desk) -> None:
    assign(document_set=world.sets["port"], assessor=world.ana, by=world.mona)
    page = desk(viewport=PHONE)
    for person, place in (("rex", "review"), ("olga", "assignments")):
        sign_in(page, person).goto(f"/p/harbour/{place}/")
        width = "element => element.scrollWidth - element.clientWidth"
        assert page.locator(".panel .scroll, .panel.scroll").first.evaluate(width) == 0, place
        assert page.locator("tbody tr").first.evaluate("row => row.offsetHeight") < 120, place


def test_keys_are_not_spoken_of_where_there_are_none(world: World, desk: Callable[..., Page]) -> None:
    page = sign_in(desk(viewport=PHONE, has_touch=True, is_mobile=True), "rex")
    open_check(page, world)
    assert [key for key in page.locator("kbd").all() if key.is_visible()] == []
    assert page.get_by_text("press a number").count() == 0
