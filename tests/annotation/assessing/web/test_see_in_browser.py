from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from annotation.assessing.services.acts import UnitAct
from annotation.assessing.services.save_acts import save_acts
from annotation.models import CoverageJudgment
from tests.accessibility import violations
from tests.annotation.assessing.web.see_sets import (
    OTHER_SUMMARY,
    QUESTIONS,
    REFERENCE,
    SECOND_REFERENCE,
    SUMMARY,
    lay_set,
    open_set,
    saved,
)
from tests.annotation.cast import finish
from tests.annotation.judging.processes import wait_until
from tests.annotation.rated import answers
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.annotation.web.test_haste_in_browser import slowly
from tests.browser import PHONE, standing_still

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from annotation.models import Assignment
    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)

CALM_MS = 600
"""Longer than the form ignores digits after it shows the reference."""
MANY_PRESSES = 500
TWICE = {"width": 640, "height": 400}
"""1280 by 800 at 200 %."""
FOUR_TIMES = {"width": 320, "height": 256}
"""1280 by 1024 at 400 %, the size at which WCAG requires reflow."""
PARTS_OF_THE_WORK = (".unit.now .t", ".unit.now .scale", "[data-summary='1'] .text", "#bar [data-undo]")


def ana(desk: Desk, **options: object) -> Page:
    return sign_in(desk(**options), "ana")  # type: ignore[arg-type]


def press(page: Page, keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def percents(assignment: Assignment) -> list[int | None]:
    rows = CoverageJudgment.objects.filter(reading__assignment=assignment, is_current=True)
    return list(rows.order_by("reading__position", "unit__position").values_list("percent", flat=True))


def marks(assignment: Assignment) -> list[list[int]]:
    rows = CoverageJudgment.objects.filter(reading__assignment=assignment, is_current=True)
    return list(rows.order_by("reading__position", "unit__position").values_list("evidence", flat=True))


def is_in_sight(page: Page, selector: str) -> bool:
    return bool(
        page.locator(selector).first.evaluate(
            """(element) => {
              const { left, top, right, bottom } = element.getBoundingClientRect();
              const points = [[left + 2, top + 2], [right - 2, bottom - 2], [(left + right) / 2, (top + bottom) / 2]];
              return points.every(([x, y]) => {
                const there = document.elementFromPoint(x, y);
                return there !== null && (element.contains(there) || there.contains(element));
              });
            }"""
        )
    )


def in_hand(page: Page) -> str:
    return page.locator(".unit.now").get_attribute("data-name") or ""


def test_six_units_by_keys_alone(world: World, desk: Desk) -> None:
    assignment = lay_set(world)
    page = ana(desk)
    open_set(page, assignment)
    page.evaluate("window.presses = 0; addEventListener('keydown', () => { window.presses += 1 }, true)")
    keys_of_marks, keys_of_percents, key_of_the_unmarked = "abb", "511136", "1"
    for key in ("a", "5", "1", "1", "1", "b", "3", "b", "6"):
        page.keyboard.press(key)
    page.locator("#progress", has_text="6 of 6 judged").wait_for()
    assert in_hand(page) == "Unmarked summary units"
    page.keyboard.press(key_of_the_unmarked)
    page.locator("#ahead a", has_text="Set complete").wait_for()
    saved(page)
    assert percents(assignment) == [80, 0, 0, 0, 40, 100]
    assert marks(assignment) == [[1], [], [], [], [2], [2]]
    assert answers() == {"unmarked": 0}
    # Each mark, each percent and the last question need one key.
    assert page.evaluate("window.presses") == len(keys_of_marks) + len(keys_of_percents) + len(
        key_of_the_unmarked
    )
    page.keyboard.press("n")
    # Wait for the page to load, because until then Chromium moves the focus to the address's fragment.
    page.wait_for_url("**/#set-*")
    page.get_by_role("button", name="Close the set").focus()
    page.keyboard.press("Enter")
    page.get_by_text("Your judgments now count").wait_for()


def test_a_percent_moves_on_to_the_next_unit_that_has_none(world: World, desk: Desk) -> None:
    assignment = lay_set(world)
    page = ana(desk)
    open_set(page, assignment)
    press(page, "11")
    assert in_hand(page) == "Unit 3"
    press(page, "kk6")
    assert in_hand(page) == "Unit 3"
    saved(page)
    assert percents(assignment) == [100, 0]


def test_arrows_within_the_radios_do_not_move_on(world: World, desk: Desk) -> None:
    assignment = lay_set(world)
    page = ana(desk)
    open_set(page, assignment)
    page.locator(".unit.now input[type=radio][value='0']").focus()
    page.keyboard.press("Space")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    assert in_hand(page) == "Unit 1"
    page.locator("#said", has_text="Unit 1, 40 percent, saved.").wait_for(state="attached")
    assert percents(assignment) == [40]


def test_undo_goes_back_through_the_summaries_of_the_set(world: World, desk: Desk) -> None:
    assignment = lay_set(world, summaries=[SUMMARY, OTHER_SUMMARY])
    page = ana(desk)
    open_set(page, assignment)
    press(page, "a4n")
    page.locator("#trail", has_text="Summary 2 of 2").wait_for()
    press(page, "6")
    saved(page)
    phrase = marks(assignment)[0]
    assert phrase
    steps: list[object] = [([60, None], [phrase, []]), ([None, None], [phrase, []]), ([None, None], [[], []])]
    for left in steps:
        page.keyboard.press("u")
        wait_until(partial(lambda wanted: (percents(assignment), marks(assignment)) == wanted, left))
        saved(page)
    page.locator("#trail", has_text="Summary 1 of 2").wait_for()
    assert page.get_by_role("button", name="Undo").is_disabled()
    assert page.locator("#unit-none, [aria-pressed=true]").count() == 0


def test_keys_that_follow_at_once_are_meant_for_the_next_summary(world: World, desk: Desk) -> None:
    assignment = lay_set(world, summaries=[SUMMARY, OTHER_SUMMARY])
    page = ana(desk)
    page.route("**/work/*/", slowly)
    open_set(page, assignment)
    press(page, "4nb2")
    page.locator("#trail", has_text="Summary 2 of 2").wait_for()
    page.locator("#progress", has_text="1 of 6").wait_for()
    saved(page)
    assert (percents(assignment), marks(assignment)) == ([60, 20], [[], [2]])


def test_back_to_the_first_page_finds_a_form_that_works(world: World, desk: Desk) -> None:
    assignment = lay_set(world, summaries=[SUMMARY, OTHER_SUMMARY])
    page = ana(desk)
    open_set(page, assignment)
    press(page, "a4")
    saved(page)
    press(page, "n")
    page.locator("#trail", has_text="Summary 2 of 2").wait_for()
    page.go_back()
    page.locator("#trail", has_text="Summary 1 of 2").wait_for()
    page.wait_for_timeout(300)
    shown = in_hand(page)
    press(page, "b6")
    page.locator("#progress", has_text="2 of 6").wait_for()
    saved(page)
    # The judged unit is the one that the screen showed as current.
    assert shown == "Unit 2"
    assert (percents(assignment), marks(assignment)) == ([60, 100], [[1], [2]])


def test_a_note_is_saved_while_it_is_written(world: World, desk: Desk) -> None:
    assignment = lay_set(world)
    page = ana(desk)
    open_set(page, assignment)
    page.locator(".unit.now [name=note]").click()
    page.keyboard.type("half a thought")
    wait_until(
        lambda: [row.reason for row in CoverageJudgment.objects.filter(is_current=True)] == ["half a thought"]
    )
    page.keyboard.type(", and a whole one")
    page.reload()
    assert page.locator(".unit [name=note]").first.input_value() == "half a thought, and a whole one"


def test_digits_that_run_over_the_last_answer_are_no_percents(world: World, desk: Desk) -> None:
    assignment = lay_set(world, criteria=QUESTIONS)
    page = desk()
    page.clock.install()
    sign_in(page, "ana")
    open_set(page, assignment)
    reference = page.locator("#reference-title")
    with standing_still(page):
        # Digits are ignored until the server has answered, and for a moment after that.
        for _ in range(MANY_PRESSES):
            page.keyboard.press("2")
            page.clock.run_for(80)
            if reference.is_visible():
                break
        for _ in range(3):
            page.keyboard.press("2")
            page.clock.run_for(80)
    assert reference.is_visible()
    page.wait_for_timeout(CALM_MS)
    assert percents(assignment) == []
    press(page, "a4")
    page.locator("#progress", has_text="1 of 6").wait_for()
    saved(page)
    assert percents(assignment) == [60]


def test_the_model_summary_is_not_told_before_the_answers(world: World, desk: Desk) -> None:
    assignment = lay_set(world, summaries=[SUMMARY, OTHER_SUMMARY], criteria=QUESTIONS)
    page = ana(desk)
    told: list[str] = []
    page.on("response", lambda answer: told.append(answer.text()) if "harbour/work/" in answer.url else None)
    open_set(page, assignment)
    page.wait_for_load_state("networkidle")
    assert told
    assert not [text for text in [*told, page.content()] if "Its wall is weak" in text or "6 units" in text]
    press(page, "3")
    page.locator("#progress", has_text="1 of 2 answered").wait_for()
    press(page, "2")
    page.locator("#reference-title", has_text="6 units").wait_for()
    assert "Its wall is weak." in page.content()
    assert answers() == {"clear": 2, "short": 1}
    # The first stage of the other summary is not skipped.
    press(page, "n")
    page.locator("#before-title").wait_for()
    assert "Its wall is weak" not in page.locator("#see").inner_html()


def test_unmarked_summary_units_are_lit_and_asked_about_once(world: World, desk: Desk) -> None:
    assignment = lay_set(world, references=[REFERENCE, SECOND_REFERENCE])
    page = ana(desk)
    open_set(page, assignment)
    first, second = (
        len(page.locator("[data-item=unit]").all()),
        page.locator(".references a").count(),
    )
    assert second == 2
    assert page.locator("[data-reads=unmarked]").count() == 0
    press(page, "a4" + "1" * (first - 1))
    page.locator("#progress", has_text=f"{first} of {first}").wait_for()
    press(page, "n")
    page.locator(".references a[aria-current]", has_text="Reference 2").wait_for()
    rest = len(page.locator("[data-item=unit]").all())
    page.get_by_text("Available once every reference unit").wait_for()
    press(page, "b4" + "1" * (rest - 1))
    page.locator("[data-reads=unmarked].now").wait_for()
    lit = [summary.get_attribute("data-summary") for summary in page.locator(".pu.lit").all()]
    # The first unit is marked for the other reference, the second for this one.
    assert lit == ["3"]
    press(page, "3")
    page.locator("#ahead a", has_text="Set complete").wait_for()
    assert answers() == {"unmarked": 40}


def test_percents_are_typed_where_the_scale_is_fine(world: World, desk: Desk) -> None:
    assignment = lay_set(world, percent_scale="fives")
    page = ana(desk)
    open_set(page, assignment)
    press(page, "a35")
    page.keyboard.press("Enter")
    assert in_hand(page) == "Unit 2"
    press(page, "b100")
    page.keyboard.press("Enter")
    page.locator(".unit.now .quick button", has_text="70").click()
    page.locator("#progress", has_text="3 of 6").wait_for()
    saved(page)
    assert (percents(assignment), marks(assignment)) == ([35, 100, 70], [[1], [2], []])


def test_time_is_taken_without_pauses(world: World, desk: Desk) -> None:
    assignment = lay_set(world)
    page = ana(desk)
    page.clock.install()
    open_set(page, assignment)
    page.mouse.move(10, 10)
    page.clock.run_for(20_000)
    page.keyboard.press("4")
    page.clock.run_for(10)
    saved(page)
    page.clock.fast_forward(3_600_000)
    page.mouse.move(20, 20)
    page.clock.run_for(5_000)
    page.keyboard.press("4")
    page.clock.run_for(10)
    saved(page)
    spent = list(CoverageJudgment.objects.order_by("pk").values_list("active_ms", flat=True))
    assert [20_000 <= spent[0] < 23_000, 5_000 <= spent[1] < 8_000] == [True, True]


def test_what_was_saved_is_said_for_the_ear(world: World, desk: Desk) -> None:
    assignment = lay_set(world)
    page = ana(desk)
    open_set(page, assignment)
    press(page, "a")
    page.locator("#said", has_text="Unit 1, no percent, saved.").wait_for(state="attached")
    press(page, "4")
    page.locator("#said", has_text="Unit 1, 60 percent, saved. Unit 2.").wait_for(state="attached")
    assert page.evaluate("document.activeElement.textContent") == "Reference unit 2"
    press(page, "6")
    page.locator("#said", has_text="no summary unit is marked for it").wait_for(state="attached")


@pytest.mark.parametrize("viewport", [PHONE, TWICE, FOUR_TIMES], ids=["phone", "200 %", "400 %"])
def test_the_form_fits_and_works_where_room_is_small(
    world: World, desk: Desk, viewport: dict[str, int]
) -> None:
    assignment = lay_set(world, criteria=QUESTIONS)
    page = ana(desk, viewport=viewport, has_touch=True)
    open_set(page, assignment)
    for words in ("yes", "yes"):
        page.locator(".unit.now .words label", has_text=words).tap()
    page.locator("#reference-title").wait_for()
    # A tap fails if another element covers its target.
    page.locator("[data-summary='3']").tap()
    for percent in ("60", "0 %", "0 %", "0 %", "0 %", "0 %", "20"):
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.locator(".unit.now .scale label", has_text=percent).first.tap()
        assert is_in_sight(page, ".unit.now .t")
    page.locator("#ahead a", has_text="Set complete").tap()
    page.get_by_role("button", name="Close the set").wait_for()
    assert (percents(assignment), marks(assignment)[0]) == ([60, 0, 0, 0, 0, 0], [3])


def test_at_twice_the_size_unit_percents_and_summary_are_in_sight_together(world: World, desk: Desk) -> None:
    page = ana(desk, viewport=TWICE)
    open_set(page, lay_set(world))
    for key in "a4b":
        page.keyboard.press(key)
        assert [is_in_sight(page, each) for each in PARTS_OF_THE_WORK] == [True] * len(PARTS_OF_THE_WORK)


def test_all_of_it_works_without_scripts(world: World, desk: Desk) -> None:
    assignment = lay_set(world, references=[SECOND_REFERENCE], criteria=QUESTIONS)
    page = desk(java_script_enabled=False)
    sign_in(page, "ana")
    open_set(page, assignment)
    page.locator("[data-name='Question 1'] label", has_text="yes").click()
    page.locator("[data-name='Question 2'] label", has_text="no").click()
    page.get_by_role("button", name="Save answers").click()
    for number, percent in ((1, "60"), (2, "0 %")):
        unit = page.locator("[data-item=unit]").nth(number - 1)
        unit.locator("[name=marks]").nth(number - 1).check()
        unit.locator(".scale label", has_text=percent).first.click()
        unit.get_by_role("button", name="Save unit").click()
    page.locator("[data-reads=unmarked] .scale label", has_text="20").first.click()
    page.get_by_role("button", name="Save answers").first.click()
    page.get_by_role("link", name="Set complete").click()
    page.get_by_role("button", name="Close the set").click()
    assert percents(assignment) == [60, 0]
    assert answers() == {"clear": 2, "short": 0, "unmarked": 20}


def test_no_stage_has_a_fault_for_assistive_techniques(world: World, desk: Desk) -> None:
    assignment = lay_set(world, references=[REFERENCE, SECOND_REFERENCE], criteria=QUESTIONS)
    page = ana(desk)
    open_set(page, assignment)
    found = {"before": violations(page)}
    press(page, "32")
    page.locator("#reference-title").wait_for()
    press(page, "a4")
    saved(page)
    found["units"] = violations(page)
    press(page, "?")
    found["keys"] = violations(page)
    page.keyboard.press("Escape")
    open_set(page, assignment, 2)
    page.get_by_text("Questions about the summary").click()
    found["second reference, answers open"] = violations(page)
    assert {stage: faults for stage, faults in found.items() if faults} == {}


def test_a_closed_set_is_walked_through_and_not_changed(world: World, desk: Desk) -> None:
    assignment = lay_set(world, references=[SECOND_REFERENCE], summaries=[SUMMARY, OTHER_SUMMARY])
    acts = [
        UnitAct(reading.public_id, unit.public_id, 40, (1,))
        for reading in assignment.readings.select_related("comparison__reference")
        if reading.comparison
        for unit in reading.comparison.reference.units.all()
    ]
    save_acts(assignment=assignment, by=world.ana, acts=acts, all_or_none=True)
    finish(assignment)
    page = ana(desk)
    open_set(page, assignment)
    press(page, "ja6n")
    page.locator("#trail", has_text="Summary 2 of 2").wait_for()
    assert violations(page) == []
    assert percents(assignment) == [40, 40, 40, 40]
