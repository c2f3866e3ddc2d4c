from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import User

from annotation.judging.services.judges import judge_by_name
from annotation.management.setup_link import setup_words
from annotation.models import Project, Run
from tests.annotation.judging.processes import workers
from tests.llm_server import llm_server

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Locator, Page

    from tests.llm_server import LLMServer

__all__ = ["llm_server"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.slow]

MOST_CLICKS = 12
PLACES = [
    f"{kind} {number}" for number in range(5) for kind in ("mill", "barn", "school", "bridge", "church")
]


class Clicks:
    def __init__(self) -> None:
        self.count = 0

    def on(self, target: Locator) -> None:
        target.click()
        self.count += 1


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    with path.open("w", newline="") as file:
        write = csv.writer(file)
        write.writerow(("article", "highlights", "model", "output"))
        for place in PLACES:
            text = f"The {place} burned down at night. Nobody was hurt."
            for system, summary in (
                ("alder", f"The {place} burned down at night."),
                ("birch", "It rained in spring."),
            ):
                write.writerow((text, f"The {place} burned down at night.", system, summary))
    return path


def first_account(page: Page, clicks: Clicks) -> None:
    found = re.search(r"http://example(/setup/\S+)", setup_words("http://example"))
    assert found
    page.goto(found[1])
    page.locator("#username").fill("nora")
    page.get_by_label("Password", exact=True).fill("six tall harbours")
    page.get_by_label("Repeat password").fill("six tall harbours")
    clicks.on(page.get_by_role("button", name="Create account"))


def project_with(page: Page, clicks: Clicks, rows: Path) -> None:
    clicks.on(page.get_by_role("link", name="New project"))
    page.get_by_label("Name", exact=True).fill("Fire study")
    clicks.on(page.get_by_role("button", name="Create project"))
    page.get_by_label("Choose files").set_input_files(rows)
    clicks.on(page.get_by_role("button", name="Continue"))
    clicks.on(page.get_by_role("button", name="Import", exact=True))
    clicks.on(page.get_by_role("link", name="Next: Judge"))


def test_from_the_setup_link_to_a_ranking_with_a_judge_that_is_made_in_the_app(
    desk: Callable[[], Page], rows: Path, llm_server: LLMServer, subprocess_env: dict[str, str]
) -> None:
    page, clicks = desk(), Clicks()
    first_account(page, clicks)
    project_with(page, clicks, rows)
    page.get_by_role("button", name="Use lexical").click()
    page.get_by_role("button", name="Start", exact=True).wait_for()
    assert Project.objects.get().deciding_judge == judge_by_name("lexical")
    # The built-in judge is not chosen, so the next judge that is created decides.
    Project.objects.update(deciding_judge=None)
    page.go_back()
    clicks.on(page.get_by_role("link", name="Add a language model"))
    page.get_by_label("Name", exact=True).fill("scripted")
    page.get_by_label("Model", exact=True).fill("scripted")
    page.get_by_label("Base URL").fill(llm_server.base_url)
    with workers(subprocess_env):
        clicks.on(page.get_by_role("button", name="Test connection"))
        page.get_by_text("The server answers.").wait_for()
        clicks.on(page.get_by_role("button", name="Save"))
        clicks.on(page.get_by_role("button", name="Start", exact=True))
        page.get_by_role("link", name="View ranking").wait_for()
        assert Run.objects.get().state == "finished"
        clicks.on(page.get_by_role("link", name="View ranking"))
        # A worker computes the ranking.
        page.get_by_role("link", name="alder").first.wait_for()
    names = page.locator("main table").first.locator("tbody th").all_inner_texts()
    assert [word for name in names for word in ("alder", "birch") if word in name] == ["alder", "birch"]
    assert User.objects.get().is_superuser
    assert clicks.count <= MOST_CLICKS, clicks.count
