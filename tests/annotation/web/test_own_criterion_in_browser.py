from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import Membership, Project, Rating
from tests.annotation.judging.processes import workers
from tests.annotation.web.test_first_steps_in_browser import Clicks, rows
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.llm_server import llm_server

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page

    from tests.annotation.cast import World
    from tests.llm_server import LLMServer

__all__ = ["llm_server", "rows"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.slow]

MOST_CLICKS = 25
RATED = 3
"""The number of summaries that each person rates by keyboard."""


def through(page: Page, clicks: Clicks, group: str, door: str) -> None:
    clicks.on(page.locator("details.drop > summary", has_text=group))
    clicks.on(page.locator("details.drop[open] a", has_text=door))


def rates(page: Page, clicks: Clicks, keys: str) -> None:
    clicks.on(page.get_by_role("link", name="Ratings"))
    for left in range(50, 50 - RATED, -1):
        page.get_by_text(f"{left} summaries to rate").wait_for()
        for key in (*keys, "Enter"):
            page.keyboard.press(key)


def test_from_an_empty_project_to_a_ranking_by_an_own_criterion(
    world: World,
    desk: Callable[[], Page],
    rows: Path,
    llm_server: LLMServer,
    subprocess_env: dict[str, str],
) -> None:
    project = Project.objects.create(slug="fires", name="Fire study")
    for who, role in ((world.olga, "owner"), (world.rex, "reviewer"), (world.cleo, "reviewer")):
        Membership.objects.create(project=project, user=who, roles=[role])
    page, clicks = sign_in(desk(), "olga"), Clicks()
    with workers(subprocess_env):
        page.goto("/p/fires/import/")
        page.get_by_label("Choose files").set_input_files(rows)
        clicks.on(page.get_by_role("button", name="Continue"))
        clicks.on(page.get_by_role("button", name="Import", exact=True))
        page.get_by_role("link", name="Next: Judge").wait_for()
        through(page, clicks, "Settings", "Guidelines and criteria")
        clicks.on(page.get_by_role("link", name="criteria", exact=True))
        clicks.on(page.get_by_role("button", name="Add 3 questions of Teams"))
        clicks.on(page.locator("nav.pages a", has_text="Judges"))
        clicks.on(page.get_by_role("link", name="Add a language model"))
        page.get_by_label("Name", exact=True).fill("scripted")
        page.get_by_label("Model", exact=True).fill("scripted")
        page.get_by_label("Base URL").fill(llm_server.base_url)
        clicks.on(page.get_by_role("button", name="Test connection"))
        page.get_by_text("The server answers.").wait_for()
        clicks.on(page.get_by_role("button", name="Save"))
        clicks.on(page.get_by_role("button", name="Start", exact=True))
        page.get_by_role("link", name="View ranking").wait_for()
        # There are three answers for each of the 50 summaries.
        assert Rating.objects.filter(role="judge", value__isnull=False).count() == 150
        for name, keys in (("rex", "523"), ("cleo", "422")):
            own = sign_in(desk(), name)
            own.goto("/p/fires/review/")
            rates(own, clicks, keys)
            own.get_by_text(f"{50 - RATED} summaries to rate").wait_for()
        clicks.on(page.get_by_role("link", name="View ranking"))
        page.get_by_role("link", name="alder").first.wait_for()
        clicks.on(page.locator("summary", has_text="olumns").first)
        clicks.on(page.get_by_label("Neutral tone"))
        clicks.on(page.get_by_role("button", name="Show these columns"))
        clicks.on(page.locator("#by-neutral_tone"))
        page.get_by_role("heading", name="Which system is best by neutral tone?").wait_for()
        clicks.on(page.locator("nav.pages a", has_text="Agreement"))
        page.get_by_text("Neutral tone").first.wait_for()
    assert clicks.count <= MOST_CLICKS, clicks.count
