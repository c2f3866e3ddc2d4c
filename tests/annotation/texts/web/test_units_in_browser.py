"""Units are joined and split by keys, by a mouse, by a finger and without scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.assessing.services.assign import assign
from annotation.assessing.services.save_acts import judge_unit
from annotation.texts.queries.unit_texts import current_units
from annotation.texts.services.change_units import join_units
from tests.accessibility import runs_off, violations
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.browser import DESKTOP, PHONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from annotation.models import Summary
    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db(transaction=True)

FIRST, SECOND = "The harbour closes in April because its wall is weak.", "Ferries move to the southern quay."


@pytest.fixture
def opened(world: World, desk: Callable[..., Page]) -> Callable[..., Page]:
    def at(summary: Summary, name: str = "mona", **options: Any) -> Page:
        page = sign_in(desk(**options), name)
        page.goto(f"/p/harbour/units/{summary.public_id}/")
        return page

    return at


def expect_units(page: Page, *texts: str) -> None:
    """Wait until the page shows these units, and no others."""
    page.wait_for_function(
        """(wanted) => {
          const words = (unit) => [...unit.querySelectorAll("[data-at]")].map((word) => word.textContent);
          const shown = [...document.querySelectorAll("#units [data-unit] .t")];
          return JSON.stringify(shown.map((unit) => words(unit).join(" "))) === JSON.stringify(wanted);
        }""",
        arg=list(texts),
    )


def test_by_keys_alone_as_fast_as_they_are_pressed(world: World, opened: Callable[..., Page]) -> None:
    reference = world.references["bridge"]
    page = opened(reference)
    # Four words on, the cursor stands before "April": j and k only move the hand, and away from the cursor.
    for key in ("j", "k", *["ArrowRight"] * 4, "s"):
        page.keyboard.press(key)
    expect_units(page, "The harbour closes in", "April because its wall is weak.", SECOND)
    page.locator("#said", has_text="Split. 3 units.").wait_for()
    # Nothing is waited for: what comes while a form is on its way is done after it.
    for key in ("m", "m"):
        page.keyboard.press(key)
    expect_units(page, f"{FIRST} {SECOND}")
    assert [unit.position for unit in current_units(reference)] == [1]


def test_a_click_on_the_border_joins_and_one_into_the_text_splits(
    world: World, opened: Callable[..., Page]
) -> None:
    page = opened(world.references["bridge"])
    # At the left edge of "because": nearer to the gap before it than to the one after it.
    page.locator("#unit-1 [data-at]", has_text="because").click(position={"x": 3, "y": 8})
    expect_units(page, "The harbour closes in April", "because its wall is weak.", SECOND)
    page.get_by_role("button", name="Join 2 and 3").click()
    expect_units(page, "The harbour closes in April", f"because its wall is weak. {SECOND}")


def test_a_double_click_splits_once(world: World, opened: Callable[..., Page]) -> None:
    page = opened(world.references["bridge"])
    page.locator("#unit-1 [data-at]", has_text="because").dblclick(position={"x": 3, "y": 8})
    expect_units(page, "The harbour closes in April", "because its wall is weak.", SECOND)


def test_a_finger_sets_the_cursor_and_the_button_splits(world: World, opened: Callable[..., Page]) -> None:
    page = opened(world.references["bridge"], viewport=PHONE, has_touch=True, is_mobile=True)
    page.locator("#unit-2 [data-at]", has_text="southern").tap(position={"x": 3, "y": 8})
    page.get_by_role("button", name="Split unit 2").tap()
    expect_units(page, FIRST, "Ferries move to the", "southern quay.")
    page.get_by_role("button", name="Join 2 and 3").tap()
    expect_units(page, FIRST, SECOND)


def test_without_scripts_the_forms_do_it(world: World, opened: Callable[..., Page]) -> None:
    page = opened(world.references["bridge"], java_script_enabled=False)
    page.locator("#unit-1 summary").click()
    page.locator("#unit-1").get_by_label("before").select_option(label="6. because")
    page.get_by_role("button", name="Split unit 1").click()
    page.get_by_role("button", name="Join 2 and 3").click()
    assert [unit.position for unit in current_units(world.references["bridge"])] == [1, 2]


def test_whoever_is_later_sees_what_the_other_did_and_goes_on(
    world: World, opened: Callable[..., Page]
) -> None:
    reference = world.references["bridge"]
    page = opened(reference)
    join_units(summary=reference, by=world.olga, unit_id=current_units(reference)[0].public_id)
    page.keyboard.press("m")
    page.get_by_text("Someone changed the units of this summary").wait_for()
    expect_units(page, f"{FIRST} {SECOND}")


def judge(world: World, reference: Summary) -> None:
    assignment = assign(document_set=reference.document_set, assessor=world.ana, by=None, seed=1)
    reading = assignment.readings.earliest("position")
    judge_unit(
        reading=reading, by=world.ana, unit_id=current_units(reference)[0].public_id, percent=40, marks=[1]
    )


def test_axe_finds_nothing_wrong(world: World, opened: Callable[..., Page]) -> None:
    page = opened(world.references["bridge"], "olga")
    page.keyboard.press("ArrowRight")
    page.locator("#unit-1 summary").click()
    found = violations(page)
    judge(world, world.references["bridge"])
    page.reload()
    found += violations(page) + runs_off(page, PHONE)
    page.set_viewport_size(DESKTOP)
    page.goto("/p/harbour/units/")
    assert found + violations(page) + runs_off(page, PHONE) == []
