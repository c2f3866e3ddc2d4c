from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

import pytest

from tests.accessibility import violations
from tests.annotation.assessing.web.long_set import THINGS
from tests.annotation.reviewing.web.test_review_in_browser import at_claim, begin
from tests.annotation.web.test_flow_in_browser import sign_in

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)

SCREENS: dict[str, ViewportSize] = {
    "phone": {"width": 390, "height": 844},
    "desktop at 200 %": {"width": 640, "height": 400},
    "desktop at 400 %": {"width": 320, "height": 256},
}
IN_SIGHT = """() => {
  const box = (selector) => document.querySelector(selector).getBoundingClientRect();
  const top = (element, {left, top, width, height}) =>
    element.contains(document.elementFromPoint(left + width / 2, top + Math.min(height, 20) / 2));
  const found = document.querySelector("#claim-room [data-found]");
  const claim = document.querySelector("#claim");
  const answers = box("#answer .verdicts");
  const text = box("#claim-room .text");
  return {
    evidence: found.getBoundingClientRect().top >= text.top - 1
      && found.getBoundingClientRect().top + 20 <= Math.min(answers.top, text.bottom)
      && top(found, found.getBoundingClientRect()),
    claim: box("#claim").top >= 0 && top(claim, box("#claim")),
    answers: answers.bottom <= innerHeight + 1,
    width: document.documentElement.scrollWidth <= innerWidth,
  };
}"""


def in_sight(page: Page) -> list[str]:
    return [name for name, is_seen in page.evaluate(IN_SIGHT).items() if not is_seen]


def resize(page: Page, size: ViewportSize, thing: str) -> None:
    page.set_viewport_size(size)
    page.goto(page.url)
    at_claim(page, thing)


def answer(page: Page, key: str, following: str) -> None:
    page.keyboard.press(key)
    page.locator("#strip .moved").wait_for()
    at_claim(page, following)


def test_claim_text_and_answers_are_in_sight_at_every_claim(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "rex")
    begin(page, world)
    things = cycle(THINGS)
    thing = next(things)
    hidden = {}
    for name, screen in SCREENS.items():
        resize(page, screen, thing)
        hidden[name, thing] = in_sight(page)
        for key, thing in zip("1211", things, strict=False):
            answer(page, key, thing)
            hidden[name, thing] = in_sight(page)
        assert violations(page) == []
    assert {place: what for place, what in hidden.items() if what} == {}
