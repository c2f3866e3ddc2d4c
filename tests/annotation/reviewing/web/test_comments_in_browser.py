from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from annotation.models import Comment, Dispute
from annotation.reviewing.services.comment import comment_on_claim
from annotation.reviewing.services.review import override
from tests.accessibility import violations
from tests.annotation.cast import add_imported_verdict
from tests.annotation.web.test_flow_in_browser import sign_in

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_thread_opens_where_one_is_and_each_place_has_its_own(world: World, desk: Desk) -> None:
    check = world.check("alder", 1)
    override(check=check, by=world.rex, label="no")
    add_imported_verdict(check, "yes")
    comment_on_claim(project=world.project, claim=check.claim, by=world.rex, text="Which April?")
    dispute = Dispute.objects.get(check_row=check)
    page = sign_in(desk(), "cleo")
    page.goto(f"/p/harbour/adjudicate/{dispute.public_id}/")
    page.get_by_role("link", name="1 comment on this claim").wait_for()
    page.keyboard.press("m")
    sheet = page.locator("#comments")
    expect(sheet.locator(".words")).to_have_text("Which April?")
    # While a person types, the letters are not keys of the page.
    sheet.get_by_role("textbox", name="Comment").fill("a b, see 1")
    sheet.get_by_role("button", name="Post").click()
    expect(sheet.locator("[role=status] .success")).to_have_text("Posted.")
    assert violations(page) == []
    assert Dispute.objects.get(pk=dispute.pk).state == Dispute.State.OPEN
    assert Comment.objects.count() == 2

    page.goto(f"/p/harbour/scores/summaries/{world.summaries['port', 'alder'].public_id}/")
    page.get_by_role("link", name="2 comments on").click()
    expect(sheet.locator(".words")).to_have_text(["Which April?", "a b, see 1"])
    assert violations(page) == []
