"""Starting a paid run of a judge that nobody has permitted yet, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import Job, Judge, Run, TextPermission
from tests.annotation.web.test_flow_in_browser import sign_in

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)


def test_choose_tick_start_and_start_at_this_cost(world: World, page: Page) -> None:
    address = "http://127.0.0.1:9/v1"
    Judge.objects.create(name="priced", kind="openai", model="m", base_url=address, prompt_price=2.0)
    sign_in(page, "mona")
    page.goto("/p/harbour/runs/")
    box = page.get_by_label("Allow sending this project's texts there")
    judge = page.get_by_label("Judge", exact=True)
    judge.select_option("priced")
    box.check()
    # A tick for one judge is none for another.
    judge.select_option("lexical")
    box.wait_for(state="detached")
    judge.select_option("priced")
    box.wait_for()
    assert not box.is_checked()
    box.check()
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("button", name="Start at this cost").wait_for()
    # A second press within a second counts as a slip (once.js).
    page.wait_for_timeout(1100)
    page.get_by_role("button", name="Start at this cost").click()
    page.locator("#run-progress").wait_for()
    assert Run.objects.get().judge.name == "priced"
    assert TextPermission.objects.get().address == address


def test_news_of_a_run_takes_away_neither_a_complaint_nor_the_focus(world: World, desk: Desk) -> None:
    page = desk()
    run = Run.objects.create(project=world.project, judge=world.judge)
    Job.objects.create(run=run, document_set=world.sets["port"])
    sign_in(page, "mona")
    address = f"/p/harbour/runs/{run.public_id}/"
    page.goto(address)
    page.route("**/cancel/", lambda route: route.fulfill(status=500))
    cancel = page.get_by_role("button", name="Cancel", exact=True)
    cancel.click()
    page.locator("#notices .notice").wait_for()
    with page.expect_response(f"**{address}"):
        pass
    page.wait_for_timeout(300)
    assert page.locator("#notices .notice").is_visible()
    desk.watch.expect("500 for POST")
    assert cancel.evaluate("button => button === document.activeElement")
