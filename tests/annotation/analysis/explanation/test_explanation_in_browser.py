from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.reviewing.services.review import override, withdraw_answer
from tests.accessibility import runs_off, violations
from tests.annotation.cast import add_imported_verdict
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.browser import PHONE

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)

UNFOLD = "document.querySelectorAll('main details').forEach((each) => { each.open = true })"


def tell_a_story(world: World) -> str:
    check = world.check("alder", 1)
    first = override(check=check, by=world.rex, label="no", reason="Not in so many words.").verdict
    override(check=check, by=world.rex, label="yes", evidence=[1], confidence=0.8)
    withdraw_answer(answer=first, by=world.rex)
    add_imported_verdict(check, "no")
    decide_check(check=check, by=world.cleo, label="unsure", reason="It does not say when.")
    override(check=world.check("alder", 3), by=world.rex, label="no", error_type="wrong_entity")
    return f"/p/harbour/scores/summaries/{world.summaries['port', 'alder'].public_id}/"


def test_axe_finds_nothing_and_nothing_runs_off_a_phone(world: World, desk: Desk) -> None:
    story = tell_a_story(world)
    page = sign_in(desk(), "olga")
    page.goto(story)
    page.evaluate(UNFOLD)
    assert violations(page) == []
    page.set_viewport_size(PHONE)
    page.goto(story)
    assert runs_off(page) == []


def test_the_texts_of_a_set_work_without_scripts_and_on_a_phone(world: World, desk: Desk) -> None:
    override(check=world.check("alder", 3), by=world.rex, label="no")
    address = f"/p/harbour/scores/sets/{world.sets['port'].public_id}/"
    page = sign_in(desk(), "olga")
    page.goto(address)
    page.evaluate(UNFOLD)
    assert violations(page) == []
    page.set_viewport_size(PHONE)
    assert runs_off(page) == []
    plain = sign_in(desk(java_script_enabled=False), "vic")
    plain.goto(address)
    first, second = plain.locator("details.panel").all()
    assert first.locator(".text").is_visible()
    assert not second.locator(".text").is_visible()
    second.locator("summary").click()
    assert second.get_by_role("heading", name="Missed: 3 of 3 reference claims").is_visible()
