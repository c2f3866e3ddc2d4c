from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import Job, Run
from tests.annotation.web.test_flow_in_browser import sign_in

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)


def test_news_of_a_run_takes_away_neither_a_complaint_nor_the_focus(world: World, desk: Desk) -> None:
    page = desk()
    run = Run.objects.create(project=world.project, judge=world.judge)
    Job.objects.create(kind="run", project=run.project, run=run, document_set=world.sets["port"])
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
