"""Claims are corrected by keys alone, with a mouse, and on a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import ClaimSet
from annotation.texts.queries.claims import claims_of
from tests.accessibility import violations
from tests.annotation.web.test_flow_in_browser import sign_in

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def send(page: Page) -> None:
    """Press the key that sends a form, and wait for the page after it."""
    page.evaluate("window.isBefore = true")
    page.keyboard.press("Enter")
    page.wait_for_function("() => !window.isBefore && document.readyState === 'complete'")


def texts(world: World) -> list[str]:
    return [claim.text for claim in claims_of(ClaimSet.objects.get(summary=world.references["port"]))]


def test_by_keys_alone(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "rex")
    page.goto(f"/p/harbour/claims/{world.references['port'].public_id}/")
    press(page, "j", "j", "r")
    page.keyboard.type("The harbour's wall is weak")
    send(page)
    # The hand is on the new claim.
    press(page, "a")
    page.keyboard.type("The wall costs money")
    send(page)
    press(page, "d")
    send(page)
    assert texts(world) == [
        "The harbour closes in April",
        "The harbour's wall is weak",
        "Ferries move to the southern quay",
    ]
    assert violations(page) == []
