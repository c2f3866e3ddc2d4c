"""The fixture `desk` fails a test whose page violates the content policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.accessibility import violations
from tests.annotation.watches.streams import pushed, watched, work_off
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.browser import PHONE

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)

CORNER = """(wanted) => {
  const canvas = document.querySelector(".plot canvas");
  return `${canvas.getContext("2d").getImageData(3, 3, 1, 1).data}` === wanted;
}"""


@pytest.fixture
def address(world: World) -> str:
    for ago in (4, 3):
        pushed(world.project, ago=ago, kept=0.8, count=5)
    watch = work_off(watched(world.project, ago=4, reference_periods=2))
    return f"/p/harbour/watches/{watch.public_id}/"


def drawn(page: Page, address: str) -> Page:
    page.goto(address)
    page.locator(".plot canvas").wait_for()
    return page


def saved(page: Page, kind: str) -> bytes:
    with page.expect_download() as asked:
        page.get_by_role("button", name=f"Download chart as {kind.upper()}").click()
    assert asked.value.suggested_filename.endswith(f".{kind}")
    return Path(asked.value.path()).read_bytes()


def test_a_chart_is_drawn_and_saved_as_picture_and_drawing(address: str, desk: Desk) -> None:
    page = drawn(sign_in(desk(), "olga"), address)
    assert saved(page, "png").startswith(b"\x89PNG")
    drawing = saved(page, "svg").decode()
    assert drawing.startswith("<svg")
    assert drawing.count("<path") > 2
    assert violations(page, PHONE) == []


def test_without_scripts_the_table_remains(address: str, desk: Desk) -> None:
    page = sign_in(desk(java_script_enabled=False), "olga")
    page.goto(address)
    assert not page.locator("figure.chart").is_visible()
    page.get_by_text("All days").click()
    assert page.get_by_role("rowheader").first.is_visible()


def size_of(page: Page) -> tuple[float, float]:
    box = page.locator(".plot").bounding_box()
    assert box is not None
    return box["width"], box["height"]


def test_a_chart_follows_theme_and_width_and_moves_nothing(address: str, desk: Desk) -> None:
    page = sign_in(desk(), "olga")
    page.route("**/api/**", lambda route: None)
    page.goto(address)
    empty = size_of(page)
    page.unroute_all()
    drawn(page, address)
    assert size_of(page) == empty
    # The colours of the panel in base.css are #ffffff (light) and #1c1f23 (dark).
    for scheme, colour in (("light", "255,255,255,255"), ("dark", "28,31,35,255")):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(CORNER, arg=colour)
    page.set_viewport_size(PHONE)
    page.wait_for_function("() => document.querySelector('.plot canvas').getBoundingClientRect().width < 390")


def test_a_chart_that_cannot_be_drawn_points_to_the_table(address: str, desk: Desk) -> None:
    page = sign_in(desk(), "olga")
    page.route("**/api/**", lambda route: route.fulfill(status=503, json={"error": {}}))
    page.goto(address)
    page.get_by_text("The chart is not available now. The table has the same values.").wait_for()
    assert page.get_by_role("button", name="Download chart as PNG").is_disabled()
    desk.watch.expect("503")
