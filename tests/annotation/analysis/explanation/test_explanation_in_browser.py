"""Why a number is what it is, in a real browser: from the leaderboard down to a verdict, and on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.models import Claim
from annotation.reviewing.services.review import override, withdraw_verdict
from annotation.texts.services.change_claims import delete_claim, split_claim
from tests.accessibility import runs_off, violations
from tests.annotation.answering import answer_fourteen
from tests.annotation.cast import add_imported_verdict
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.browser import PHONE

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)

UNFOLD = "document.querySelectorAll('main details').forEach((each) => { each.open = true })"
BIAS = "/p/harbour/settings/bias/"


def tell_a_story(world: World) -> str:
    """Verdicts, one taken back, a decision, a claim split and another deleted; the address that tells of them."""
    check = world.check("alder", 1)
    first = override(check=check, by=world.rex, label="no", reason="Not in so many words.").verdict
    override(check=check, by=world.rex, label="yes", evidence=[1], confidence=0.8)
    withdraw_verdict(verdict=first, by=world.rex)
    add_imported_verdict(check, "no")
    decide_check(check=check, by=world.cleo, label="unsure", reason="It does not say when.")
    override(check=world.check("alder", 3), by=world.rex, label="no", error_type="wrong_entity")
    split_claim(
        claim=Claim.objects.get(text="Ferries move to the southern quay"),
        by=world.cleo,
        texts=["Ferries move", "The southern quay is used"],
        reason="Two facts",
    )
    delete_claim(claim=Claim.objects.get(text="its wall is weak"), by=world.cleo, reason="Not checkable")
    return f"/p/harbour/scores/summaries/{world.peers['port', 'alder'].public_id}/"


def test_from_the_leaderboard_to_the_formula(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "vic")
    page.goto("/p/harbour/scores/?by=coverage&target=20")
    page.locator("tr", has_text="alder").get_by_role("link", name="0.750").first.click()
    page.get_by_text("Summaries with the lowest coverage come first").wait_for()
    page.locator("tr", has_text="port").get_by_role("link", name="0.350").click()
    assert page.url.endswith("#brevity")
    assert "(20 − 13) / 20" in page.locator(":target").inner_text()


def test_on_paper_everything_is_unfolded_and_ways_elsewhere_are_gone(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "cleo")
    address = tell_a_story(world)
    page.goto(address)
    earlier = page.get_by_text("Not checkable")
    assert not earlier.is_visible()
    assert not page.locator(".printed").is_visible()
    page.emulate_media(media="print")
    assert earlier.is_visible()
    assert page.get_by_text("Two facts").first.is_visible()
    assert page.locator(":is(.top, .trail, .screen-only):visible").count() == 0
    assert address in page.locator(".printed").inner_text()
    assert "printed by cleo on" in page.locator(".printed").inner_text()
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")


def test_axe_finds_nothing_and_nothing_runs_off_a_phone_where_too_few_is_said_too(
    world: World, desk: Desk
) -> None:
    story = tell_a_story(world)
    answer_fourteen(world)
    page = sign_in(desk(), "olga")
    for place in (BIAS, story):
        page.goto(place)
        page.evaluate(UNFOLD)
        assert (place, violations(page)) == (place, [])
    page.set_viewport_size(PHONE)
    for place in (story, BIAS):
        page.goto(place)
        assert (place, runs_off(page)) == (place, [])
    # Cleo differed at 4 and 7 to 12, and changed nothing.
    assert page.get_by_text("too few (0 of 7)").is_visible()
