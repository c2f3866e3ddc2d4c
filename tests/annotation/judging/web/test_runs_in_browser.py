"""Starting a paid run of a judge that nobody has permitted yet, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import Judge, Run, TextPermission
from tests.annotation.web.test_flow_in_browser import sign_in

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.annotation.cast import World

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
