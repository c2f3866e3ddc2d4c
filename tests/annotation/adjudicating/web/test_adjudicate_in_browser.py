from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import TYPE_CHECKING

import pytest
from django.core.management import call_command

from annotation.models import Dispute
from annotation.reviewing.services.review import override
from tests.accessibility import violations
from tests.annotation.answering import decisions
from tests.annotation.cast import add_imported_verdict
from tests.annotation.exports.acts import assess_and_close
from tests.annotation.web.test_flow_in_browser import sign_in

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db(transaction=True)

CALM_MS = 450
"""The digits of a burst do not answer the next dispute within this time."""


def disagree(world: World) -> None:
    world.project.percent_scale = "free"
    world.project.save()
    units = [("alder", 1), ("alder", 2), ("birch", 1), ("birch", 2)]
    for person, name, percents in (
        (world.ana, "port", (20, 80, 0, 0)),
        (world.ana, "bridge", (0, 10, 0, 40)),
        (world.ben, "port", (60, 20, 0, 0)),
        (world.ben, "bridge", (100, 60, 80, 40)),
    ):
        assess_and_close(world, person, dict(zip(units, percents, strict=True)), document_set=name)
    for place, (system, number, rex, gold) in enumerate(
        (
            ("birch", 1, "yes", "no"),
            ("birch", 2, "no", "yes"),
            ("alder", 1, "no", "yes"),
            ("birch", 3, "unsure", "no"),
            ("alder", 2, "yes", "unsure"),
        )
    ):
        override(check=world.check(system, number), by=world.rex, label=rex)
        add_imported_verdict(world.check(system, number), gold)
        # Ties are in a stored random order. Set it to the order of this list.
        Dispute.objects.filter(check_row=world.check(system, number)).update(queue_key=place)


def press(page: Page, *keys: str) -> None:
    before = page.locator("#dispute-room").get_attribute("data-dispute")
    for key in keys:
        page.keyboard.press(key)
    page.wait_for_function(
        "(before) => document.querySelector('#dispute-room')?.dataset.dispute !== before", arg=before
    )


def take_the_next(page: Page) -> None:
    page.keyboard.press("n")
    page.locator("#dispute-room").wait_for()
    # The scripts must be loaded before they can receive keys.
    page.wait_for_load_state("networkidle")


def told(page: Page) -> str:
    page.wait_for_timeout(CALM_MS)
    return page.locator("#last").inner_text()


def test_units_and_claims_by_keyboard_alone(world: World, desk: Callable[[], Page]) -> None:
    disagree(world)
    page = sign_in(desk(), "cleo")
    page.goto("/p/harbour/adjudicate/")
    page.get_by_text("10 disagreements need your decision").wait_for()
    take_the_next(page)
    assert violations(page) == []
    decided = 0
    while page.locator("#dispute-room").count():
        is_unit = page.locator("#own-percent").count() == 1
        last = decided == 9
        if is_unit and decided % 2:
            page.keyboard.press("p")
            page.keyboard.type("45")
            keys = ("Enter",)
        else:
            keys = ("2",)
        if last:
            page.keyboard.press(keys[0])
            page.get_by_text("No disputes to resolve.").wait_for()
        else:
            press(page, *keys)
            assert "Resolved" in told(page)
        decided += 1
    assert (decided, len(decisions()), Dispute.objects.filter(state="open").count()) == (10, 10, 0)
    page.go_back()
    page.wait_for_load_state("networkidle")
    page.keyboard.press("u")
    page.get_by_text("Decision withdrawn.").wait_for()
    assert Dispute.objects.filter(state="open").count() == 1
    call_command("verify_scores", "harbour", stdout=StringIO())
