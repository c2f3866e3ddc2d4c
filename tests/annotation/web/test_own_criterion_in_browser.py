from __future__ import annotations

import re
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
SAMPLED, COMPARED = 34, 10
"""The number of sampled summaries, which one person rates by keyboard, and the number that the other person rates."""


def through(page: Page, clicks: Clicks, group: str, door: str) -> None:
    clicks.on(page.locator("details.drop > summary", has_text=group))
    clicks.on(page.locator("details.drop[open] a", has_text=door))


def rates(page: Page, clicks: Clicks, count: int) -> None:
    clicks.on(page.get_by_role("link", name="Ratings"))
    for number in range(count):
        page.get_by_text(f"{50 - number} summaries to rate").wait_for()
        page.keyboard.press("52"[number % 2])
        page.keyboard.press("Enter")
    page.get_by_text(f"{50 - count} summaries to rate").wait_for()


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
        page.goto("/p/fires/")
        clicks.on(page.get_by_role("link", name="Import").first)
        page.get_by_label("Choose files").set_input_files(rows)
        clicks.on(page.get_by_role("button", name="Continue"))
        clicks.on(page.get_by_role("button", name="Import", exact=True))
        page.get_by_role("link", name="Next: Judge").wait_for()
        through(page, clicks, "Settings", "Guidelines and criteria")
        clicks.on(page.get_by_role("link", name="Criteria", exact=True))
        page.get_by_label("Question", exact=True).fill("Is the tone neutral?")
        page.get_by_label("Name", exact=True).fill("tone")
        clicks.on(page.get_by_role("button", name="Add the question"))
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
        # Each of the 50 summaries has an answer.
        assert Rating.objects.filter(role="judge", value__isnull=False).count() == 50
        through(page, clicks, "Work", "Assignments")
        clicks.on(page.get_by_role("link", name="random samples of claims"))
        page.get_by_label("Summaries, of 50").fill(str(SAMPLED))
        clicks.on(page.get_by_role("button", name="Create the random sample"))
        page.get_by_text(f"{SAMPLED} summaries sampled").wait_for()
        for name, count in (("rex", SAMPLED), ("cleo", COMPARED)):
            own = sign_in(desk(), name)
            own.goto("/p/fires/review/")
            rates(own, clicks, count)
        through(page, clicks, "Results", "Leaderboard")
        page.get_by_role("link", name="alder").first.wait_for()
        clicks.on(page.locator("summary", has_text="olumns").first)
        clicks.on(page.get_by_label("Tone", exact=True))
        clicks.on(page.get_by_role("button", name="Show these columns"))
        clicks.on(page.locator("#by-tone"))
        page.get_by_role("heading", name="Which system is best by tone?").wait_for()
        page.get_by_text(f"estimated from {SAMPLED} ratings").first.wait_for()
        clicks.on(page.locator("nav.pages a", has_text="Agreement"))
        page.get_by_text("Tone").first.wait_for()
        assert re.search(r"alpha:\s+−?[.0-9]+", page.locator("main").text_content() or "")
    assert clicks.count <= MOST_CLICKS, clicks.count
