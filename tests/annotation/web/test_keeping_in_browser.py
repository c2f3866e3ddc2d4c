from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from django.conf import settings
from playwright.sync_api import Error

from annotation.assessing.services.acts import UnitAct
from annotation.assessing.services.close_assignment import close_assignment
from annotation.assessing.services.save_acts import save_acts
from annotation.models import Assignment, CoverageJudgment
from tests.accessibility import violations
from tests.annotation.assessing.web.see_sets import (
    OTHER_SUMMARY,
    SECOND_REFERENCE,
    SUMMARY,
    lay_set,
    open_set,
    saved,
)
from tests.annotation.gunicorn_server import Server
from tests.annotation.web.test_flow_in_browser import sign_in, sign_in_by_form
from tests.browser import Desk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Dialog, Page, Route

    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db(transaction=True)

WAITING = re.compile(r"Not saved yet: \d+")
NOT_THERE = "This set is not there for the person who is signed in now"


def ana(desk: Desk) -> Page:
    return sign_in(desk(), "ana")


def press(page: Page, keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def sign_out(page: Page) -> None:
    """The CSRF cookie stays."""
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)


def come_back(page: Page) -> None:
    page.evaluate("dispatchEvent(new Event('focus'))")


def cut_off(page: Page) -> None:
    """Requests that a page sends while it is left ignore Playwright's routes and its offline mode."""
    page.evaluate("() => { window.fetch = () => Promise.reject(new TypeError('cut off')) }")


def leave_unheard(page: Page, assignment: Assignment, keys: str) -> None:
    open_set(page, assignment)
    cut_off(page)
    press(page, keys)
    page.locator("#saved", has_text=WAITING).wait_for()
    page.goto("about:blank")


def told(assignment: Assignment) -> list[tuple[int, int | None, list[int]]]:
    rows = CoverageJudgment.objects.filter(reading__assignment=assignment).order_by("pk")
    return [
        (position or 0, percent, marks)
        for position, percent, marks in rows.values_list("unit__position", "percent", "evidence")
    ]


def standing(assignment: Assignment) -> dict[int, int | None]:
    rows = CoverageJudgment.objects.filter(reading__assignment=assignment, is_current=True)
    return {position or 0: percent for position, percent in rows.values_list("unit__position", "percent")}


def judge(assignment: Assignment, world: World, unit: int, percent: int) -> None:
    reading = assignment.readings.select_related("comparison__reference").order_by("position")[0]
    place = reading.comparison.reference.units.get(position=unit)
    act = UnitAct(reading.public_id, place.public_id, percent)
    save_acts(assignment=assignment, by=world.ana, acts=[act], all_or_none=True)


@pytest.fixture
def server(subprocess_env: dict[str, str]) -> Iterator[Server]:
    collect = [sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity=0"]
    subprocess.run(collect, env=subprocess_env, cwd=settings.BASE_DIR, check=True)
    made = Server(subprocess_env)
    made.start()
    yield made
    made.kill()


def test_nothing_is_lost_when_the_server_dies_in_mid_form(
    world: World, browser: Browser, server: Server
) -> None:
    assignment = lay_set(world, summaries=[SUMMARY, OTHER_SUMMARY])
    desk = Desk(browser=browser, address=server.address)
    page = ana(desk)
    open_set(page, assignment)
    press(page, "4")
    saved(page)
    # Wait for the next summary.
    page.wait_for_load_state("networkidle")
    server.kill()
    press(page, "b")
    page.locator("#saved", has_text="Not saved yet: 1 (offline)").wait_for()
    press(page, "6" + "1")
    page.locator("#saved", has_text="Not saved yet: 3 (offline)").wait_for()
    assert page.locator(".unit.unsaved").count() == 2
    press(page, "n")
    page.locator("#trail", has_text="Summary 2 of 2").wait_for()
    press(page, "2")
    page.locator("#saved", has_text="Not saved yet: 4 (offline)").wait_for()
    assert told(assignment) == [(1, 60, [])]
    server.start()
    saved(page)
    assert told(assignment) == [(1, 60, []), (2, None, [2]), (2, 100, [2]), (3, 0, []), (1, 20, [])]
    press(page, "p")
    page.locator("#trail", has_text="Summary 1 of 2").wait_for()
    page.locator("#progress", has_text="3 of 6").wait_for()
    assert page.locator(".unsaved").count() == 0
    desk.close()


def test_what_waits_outlives_the_page(world: World, desk: Desk) -> None:
    assignment = lay_set(world)
    page = ana(desk)
    open_set(page, assignment)
    cut_off(page)
    press(page, "a")
    page.locator("#saved", has_text="Not saved yet: 1").wait_for()
    press(page, "411")
    page.locator("#saved", has_text="Not saved yet: 4").wait_for()
    page.route("**/acts/", lambda route: route.abort())
    page.reload()
    # The form shows the acts again that the server has not received.
    page.locator("#progress", has_text="3 of 6").wait_for()
    page.locator("#saved", has_text=WAITING).wait_for()
    assert page.locator("[data-summary='1'] .chip").count() == 1
    assert violations(page) == []
    page.unroute("**/acts/")
    saved(page)
    assert told(assignment) == [(1, None, [1]), (1, 60, [1]), (2, 0, []), (3, 0, [])]


def test_an_answer_that_got_lost_is_no_second_judgment(world: World, desk: Desk) -> None:
    assignment = lay_set(world)
    page = ana(desk)
    open_set(page, assignment)
    lost: list[int] = []

    def lose_the_answer(route: Route) -> None:
        lost.append(route.fetch().status)
        route.abort()

    page.route("**/acts/", lose_the_answer, times=2)
    press(page, "4")
    saved(page)
    assert (lost, told(assignment)) == ([200, 200], [(1, 60, [])])


def test_acts_wait_for_a_new_sign_in(world: World, desk: Desk) -> None:
    assignment = lay_set(world)
    page = ana(desk)
    open_set(page, assignment)
    page.context.clear_cookies()
    press(page, "4")
    page.locator("#saved", has_text="Not saved yet: 1 (signed out)").wait_for()
    press(page, "1")
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Sign in in a new tab").click()
    other = popup.value
    other.get_by_label("Name").fill("ana")
    other.get_by_label("Password").fill("ana-secret")
    other.get_by_role("button", name="Sign in").click()
    other.get_by_role("heading", name="My work").wait_for()
    other.close()
    page.bring_to_front()
    saved(page)
    assert page.locator("#keeping").is_hidden()
    assert told(assignment) == [(1, 60, []), (2, 0, [])]


def test_acts_of_one_person_are_not_sent_as_another(world: World, desk: Desk) -> None:
    assignment = lay_set(world)
    page = ana(desk)
    open_set(page, assignment)
    sign_out(page)
    press(page, "4")
    page.locator("#keeping", has_text="You are signed out").wait_for()
    other = page.context.new_page()
    sign_in_by_form(other, "ben")
    page.bring_to_front()
    come_back(page)
    page.locator("#keeping", has_text=NOT_THERE).wait_for()
    # Another person sees nothing of the form, and has no button that would discard the acts.
    assert page.locator("#see, #bar, #trail, #saved, [data-sheet]").filter(visible=True).count() == 0
    assert page.locator("#keeping button").count() == 0
    press(page, "6su")
    sign_out(other)
    sign_in_by_form(other, "ana")
    page.bring_to_front()
    come_back(page)
    saved(page)
    assert page.locator("#keeping").is_hidden()
    assert page.locator("#see").is_visible()
    assert told(assignment) == [(1, 60, [])]


def test_what_was_on_its_way_when_the_page_was_left_arrives(world: World, desk: Desk) -> None:
    assignment = lay_set(world, references=[SECOND_REFERENCE])
    page = ana(desk)
    open_set(page, assignment)
    press(page, "111")
    saved(page)
    leave_unheard(page, assignment, "2")
    held: list[Route] = []
    page.route("**/acts/", lambda route: held.append(route), times=1)  # noqa: PLW0108 - a bound method is refused
    page.goto("/p/harbour/work/")
    close = page.get_by_role("button", name="Close the set")
    # Closing at once would submit the set without the unsaved act.
    close.and_(page.locator(":disabled")).wait_for()
    assert told(assignment) == [(1, 0, []), (2, 0, [])]
    held.pop().continue_()
    close.and_(page.locator(":enabled")).wait_for()
    assert page.get_by_text("not saved yet").count() == 0
    assert told(assignment) == [(1, 0, []), (2, 0, []), (1, 20, [])]


def test_what_is_refused_after_the_page_was_left_is_told(world: World, desk: Desk) -> None:
    assignment = lay_set(world)
    page = ana(desk)
    leave_unheard(page, assignment, "4")

    def refuse(route: Route) -> None:
        result = {"status": 404, "version": 0, "code": "not_found", "message": "That unit was cut again."}
        route.fulfill(json={"results": [result], "slips": {}, "gates": {}, "lease_until": None})

    page.route("**/acts/", refuse)
    page.goto("/p/harbour/work/")
    page.locator(".set .notice", has_text="refused and not saved: That unit was cut again.").wait_for()
    page.wait_for_timeout(500)
    assert page.locator(".set .notice").count() == 1


def test_two_browsers_equal_acts_once_and_a_newer_version_with_both_values(world: World, desk: Desk) -> None:
    assignment = lay_set(world)
    laptop, phone = ana(desk), ana(desk)
    for page in (laptop, phone):
        open_set(page, assignment)
    for page in (laptop, phone):
        press(page, "4")
        saved(page)
    # Both browsers sent this answer, and it is saved once.
    assert told(assignment) == [(1, 60, [])]
    press(phone, "c5")
    saved(phone)
    laptop.keyboard.press("a")
    row = laptop.locator("table.both tbody tr")
    row.wait_for()
    assert [cell.locator("p").inner_text() for cell in row.locator("td:has(p)").all()] == [
        "80 % · marked: c",
        "no answer · marked: a",
    ]
    assert row.locator("td").first.inner_text() == "Summary 1: Its wall is weak."
    assert violations(laptop) == []
    # Work can continue meanwhile, also on the same unit.
    press(laptop, "2")
    row.locator("p", has_text="20 % · marked: a").wait_for()
    assert standing(assignment) == {1: 60, 2: 80}
    laptop.get_by_role("button", name="Keep this").click()
    saved(laptop)
    assert laptop.locator("#keeping").is_hidden()
    press(phone, "k6")
    phone.get_by_role("button", name="Keep that").click()
    phone.locator(".unit output", has_text="20 %").wait_for()
    saved(phone)
    assert standing(assignment) == {1: 60, 2: 20}
    # The next change follows the current value.
    press(phone, "kk6")
    saved(phone)
    assert standing(assignment) == {1: 100, 2: 20}


def test_two_tabs_send_what_either_of_them_holds_once(world: World, desk: Desk) -> None:
    assignment = lay_set(world)
    page = ana(desk)
    open_set(page, assignment)
    page.route("**/acts/", lambda route: route.abort())
    press(page, "4")
    page.locator("#saved", has_text=WAITING).wait_for()
    newer = page.context.new_page()
    open_set(newer, assignment)
    newer.locator(".unit output", has_text="60 %").wait_for()
    saved(newer)
    press(newer, "6")
    saved(newer)
    page.unroute("**/acts/")
    come_back(page)
    saved(page)
    press(page, "j1")
    saved(page)
    assert told(assignment) == [(1, 60, []), (2, 100, []), (3, 0, [])]


def test_a_choice_between_two_values_outlives_the_page(world: World, desk: Desk) -> None:
    assignment = lay_set(world)
    page = ana(desk)
    open_set(page, assignment)
    judge(assignment, world, 1, 80)
    press(page, "2")
    page.locator("table.both").wait_for()
    page.reload()
    page.locator("table.both", has_text="80 %").wait_for()
    page.locator(".unit.unsaved output", has_text="20 %").wait_for()
    page.get_by_role("button", name="Keep that").click()
    page.locator(".unit output", has_text="80 %").wait_for()
    saved(page)
    assert told(assignment) == [(1, 80, [])]


def test_old_acts_that_nobody_contradicts_go_out_unasked(world: World, desk: Desk) -> None:
    assignment = lay_set(world)
    page = ana(desk)
    leave_unheard(page, assignment, "4")
    judge(assignment, world, 2, 80)
    open_set(page, assignment)
    saved(page)
    assert standing(assignment) == {1: 60, 2: 80}


def test_old_acts_that_were_contradicted_since_are_not_sent_unasked(world: World, desk: Desk) -> None:
    assignment = lay_set(world)
    page = ana(desk)
    leave_unheard(page, assignment, "4")
    judge(assignment, world, 1, 80)
    open_set(page, assignment)
    page.locator("table.both", has_text="80 %").wait_for()
    assert told(assignment) == [(1, 80, [])]


def test_what_was_typed_is_there_after_back(world: World, desk: Desk) -> None:
    assignment = lay_set(world)
    page = ana(desk)
    open_set(page, assignment)
    cut_off(page)
    press(page, "a4")
    page.locator("#saved", has_text=WAITING).wait_for()
    page.goto("/guidelines-are-not-here/")
    page.go_back()
    page.locator("#progress", has_text="1 of 6").wait_for()
    saved(page)
    assert standing(assignment) == {1: 60}


def test_a_refused_act_says_why_and_holds_nothing_up(world: World, desk: Desk) -> None:
    assignment = lay_set(world)
    page = ana(desk)
    open_set(page, assignment)
    comparison = assignment.readings.get().comparison
    gone = comparison.reference.units.get(position=1)
    before, gone.public_id = gone.public_id, "replaced"
    gone.save(update_fields=["public_id"])
    press(page, "41")
    page.locator(".slip.refused", has_text="Not saved: This reference unit is no longer in this").wait_for()
    saved(page)
    assert told(assignment) == [(2, 0, [])]
    # A refused value can be given again.
    gone.public_id = before
    gone.save(update_fields=["public_id"])
    press(page, "kk4")
    saved(page)
    assert told(assignment) == [(2, 0, []), (1, 60, [])]
    assert page.locator(".slip.refused").count() == 0


def test_a_set_that_ended_meanwhile_says_so(world: World, desk: Desk) -> None:
    assignment = lay_set(world, references=[SECOND_REFERENCE])
    page = ana(desk)
    open_set(page, assignment)
    press(page, "111")
    page.locator("#ahead a", has_text="Set complete").wait_for()
    saved(page)
    close_assignment(assignment=assignment, by=world.ana)
    press(page, "k6")
    page.locator("#keeping", has_text="This document set is closed").wait_for()
    assert violations(page) == []
    assert standing(assignment) == {1: 0, 2: 0}
    page.get_by_role("button", name="Discard changes").click()
    page.get_by_text("cannot be changed").wait_for()


def test_whoever_keeps_nothing_is_warned_before_leaving(world: World, desk: Desk) -> None:
    assignment = lay_set(world)
    page = ana(desk)
    page.add_init_script("Storage.prototype.setItem = () => { throw new Error('full') }")
    open_set(page, assignment)
    page.context.set_offline(True)
    press(page, "4")
    page.locator("#saved", has_text=WAITING).wait_for()
    warned: list[str] = []

    def go_all_the_same(dialog: Dialog) -> None:
        warned.append(dialog.type)
        dialog.accept()

    page.on("dialog", go_all_the_same)
    with pytest.raises(Error, match="ERR_INTERNET_DISCONNECTED"):
        page.goto("/accounts/login/")
    assert warned == ["beforeunload"]


def test_a_set_is_not_closed_over_what_waits_in_the_browser(world: World, desk: Desk) -> None:
    assignment = lay_set(world, references=[SECOND_REFERENCE])
    page = ana(desk)
    open_set(page, assignment)
    press(page, "111")
    saved(page)
    cut_off(page)
    press(page, "k6")
    page.locator("#saved", has_text=WAITING).wait_for()
    page.route("**/acts/", lambda route: route.abort())
    page.goto("/p/harbour/work/")
    page.get_by_text("1 change is kept in this browser and not saved yet.").wait_for()
    assert page.get_by_role("button", name="Close the set").is_disabled()
    page.unroute("**/acts/")
    page.get_by_role("link", name="Open the set").click()
    saved(page)
    page.goto("/p/harbour/work/")
    assert page.get_by_role("button", name="Close the set").is_enabled()
    assert standing(assignment) == {1: 0, 2: 100}
