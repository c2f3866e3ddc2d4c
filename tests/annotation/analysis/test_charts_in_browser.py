"""Charts in a real browser: drawn under the page's policy, saved as files, and replaced by their table without scripts.

The desk fails a test whose page breaks its policy.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from annotation.models import Verdict
from tests.accessibility import violations
from tests.annotation.answering import answer_fourteen
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.browser import PHONE

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)

CHARTS = {
    "scores/": "alder",
    "scores/agreement/": "cleo and rex",
}
"""Pages with a chart, each with a name that the chart shows. *Judge* has one from 20 answers on."""

CORNER = """(wanted) => {
  const canvas = document.querySelector(".plot canvas");
  return `${canvas.getContext("2d").getImageData(3, 3, 1, 1).data}` === wanted;
}"""


@pytest.fixture
def charted(world: World) -> World:
    """Rex and Cleo answered fourteen checks that the judge had answered, too."""
    Verdict.objects.bulk_create(
        Verdict(check_row=check, role="judge", judge=world.judge, origin_name="lexical|v:1", label="no")
        for check in answer_fourteen(world)
    )
    return world


def drawn(page: Page, address: str) -> Page:
    """The page with its chart in view."""
    page.goto(f"/p/harbour/{address}")
    for fold in page.locator("details.of-chart > summary").all():
        fold.click()
    page.locator(".plot canvas").wait_for()
    return page


def saved(page: Page, kind: str) -> bytes:
    with page.expect_download() as asked:
        page.get_by_role("button", name=f"Download chart as {kind.upper()}").click()
    assert asked.value.suggested_filename.endswith(f".{kind}")
    return Path(asked.value.path()).read_bytes()


@pytest.mark.parametrize(("address", "name"), CHARTS.items())
def test_a_chart_is_drawn_and_saved_as_picture_and_drawing(
    charted: World, desk: Desk, address: str, name: str
) -> None:
    page = drawn(sign_in(desk(), "olga"), address)
    assert saved(page, "png").startswith(b"\x89PNG")
    drawing = saved(page, "svg").decode()
    assert drawing.startswith("<svg")
    assert name in drawing
    assert violations(page, PHONE) == []


@pytest.mark.parametrize("address", CHARTS)
def test_without_scripts_the_table_remains(charted: World, desk: Desk, address: str) -> None:
    page = sign_in(desk(java_script_enabled=False), "olga")
    page.goto(f"/p/harbour/{address}")
    assert not page.locator("figure.chart").is_visible()
    assert page.get_by_role("rowheader").first.is_visible()


def size_of(page: Page) -> tuple[float, float]:
    box = page.locator(".plot").bounding_box()
    assert box is not None
    return box["width"], box["height"]


def test_a_chart_follows_theme_and_width_and_moves_nothing(charted: World, desk: Desk) -> None:
    page = sign_in(desk(), "olga")
    page.route("**/api/**", lambda route: None)
    page.goto("/p/harbour/scores/agreement/")
    page.locator("details.of-chart > summary").click()
    empty = size_of(page)
    page.unroute_all()
    drawn(page, "scores/agreement/")
    assert size_of(page) == empty
    # The panel of base.css, light and dark: #ffffff and #1c1f23.
    for scheme, colour in (("light", "255,255,255,255"), ("dark", "28,31,35,255")):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(CORNER, arg=colour)
    page.set_viewport_size(PHONE)
    page.wait_for_function("() => document.querySelector('.plot canvas').getBoundingClientRect().width < 390")


def test_a_chart_that_cannot_be_drawn_points_to_the_table(charted: World, desk: Desk) -> None:
    page = sign_in(desk(), "olga")
    page.route("**/api/**", lambda route: route.fulfill(status=503, json={"error": {}}))
    page.goto("/p/harbour/scores/agreement/")
    page.locator("details.of-chart > summary").click()
    page.get_by_text("The chart is not available now. The table has the same values.").wait_for()
    assert page.get_by_role("button", name="Download chart as PNG").is_disabled()
    desk.watch.expect("503")
