"""An adjudicator settles five units and five claims without a mouse; every score on the way was worked out by hand.

"port", alder: 13 of 20 words, so b = .35. "bridge" has the same texts: alder b = .35, birch 11 words, b = .45.
X = 2/3 * c + 1/3 * b.
"""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import TYPE_CHECKING

import pytest
from django.core.management import call_command

from annotation.assessing.services.save_acts import judge_unit
from annotation.models import Adjudication, Dispute, Event, Score, Summary, Unit, UnitJudgment
from annotation.reviewing.services.review import override
from annotation.scoring.rescore import rescore
from tests.accessibility import violations
from tests.annotation.cast import add_imported_verdict, finish
from tests.annotation.laying import assign_part
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.browser import PHONE

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from playwright.sync_api import Page, ViewportSize

    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)

LONG_TEXT = "The wall is named, but neither that it is weak nor that the port closes because of it. "
LAPTOPS: tuple[ViewportSize, ...] = ({"width": 1280, "height": 800}, {"width": 1366, "height": 768})
CALM_MS = 450
"""So long the digits of a burst are not taken for answers to the next dispute."""


def assess(world: World, person: User, document_set: str, percents: dict[tuple[str, int], int]) -> None:
    systems = sorted({system for system, _ in percents})
    sitting = assign_part(world, document_set, person, *systems)
    for (system, number), percent in percents.items():
        judge_unit(
            assignment=sitting.assignments.get(comparison=world.comparison(document_set, system)),
            by=person,
            unit_id=world.units(document_set)[number - 1].public_id,
            percent=percent,
            marks=[1],
        )
    finish(sitting)


def disagree(world: World) -> None:
    world.project.audit_share = 0
    world.project.percent_scale = "free"
    world.project.save()
    alder = [("alder", 1), ("alder", 2)]
    both = [*alder, ("birch", 1), ("birch", 2)]
    for person, port, bridge in (
        (world.ana, (20, 80), (0, 10, 0, 40)),
        (world.ben, (60, 20), (100, 60, 80, 40)),
    ):
        assess(world, person, "port", dict(zip(alder, port, strict=True)))
        assess(world, person, "bridge", dict(zip(both, bridge, strict=True)))
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
        # Ties are broken at random, once and for all: here in the order of this list.
        Dispute.objects.filter(check_row=world.check(system, number)).update(queue_key=place)


def lengthen(model: Summary) -> None:
    """Make each unit two sentences of more words, and the model summary that much longer."""
    for place, unit in enumerate(model.units.order_by("position")):
        start = place * len(LONG_TEXT) * 2
        Unit.objects.filter(pk=unit.pk).update(start=start, end=start + len(LONG_TEXT) * 2 - 1)
    Summary.objects.filter(pk=model.pk).update(text=LONG_TEXT * 2 * model.units.count())


def coverage(world: World, document_set: str, system: str) -> float | None:
    return Score.objects.get(summary=world.peers[document_set, system]).coverage


def letter_of(page: Page, answer: str) -> str:
    """The key of the voice that gave this answer."""
    row = page.locator(".voice, .voices-table tbody tr").filter(has_text=answer).first
    key = row.locator("[data-key]").get_attribute("data-key")
    assert key is not None
    return key


def press(page: Page, *keys: str, reason: str = "") -> None:
    before = page.locator("#dispute-room").get_attribute("data-dispute")
    for key in keys:
        page.keyboard.press(key)
    if reason:
        page.locator("#reason:focus").wait_for()
        page.keyboard.type(reason)
        page.keyboard.press("Enter")
    page.wait_for_function(
        "(before) => document.querySelector('#dispute-room')?.dataset.dispute !== before", arg=before
    )


def take_the_next(page: Page) -> None:
    page.keyboard.press("n")
    page.locator("#dispute-room").wait_for()
    # Its scripts listen to keys once they have come.
    page.wait_for_load_state("networkidle")


def told(page: Page) -> str:
    page.wait_for_timeout(CALM_MS)
    return page.locator("#last").inner_text()


def test_what_was_filled_in_is_there_again_until_it_is_decided(
    world: World, desk: Callable[[], Page]
) -> None:
    disagree(world)
    page = sign_in(desk(), "cleo")
    page.goto("/p/harbour/adjudicate/")
    take_the_next(page)
    here = page.url
    for key in ("w", "S", "o", "Escape", "l"):
        page.keyboard.press(key)
    press(page, "n")
    assert page.locator("#reason").input_value() == ""
    page.goto(here)
    page.locator("#dispute-room").wait_for()
    assert page.locator("#reason").input_value() == "So"
    assert page.locator("[name=is_guideline_gap]").is_checked()
    press(page, "a")
    page.goto(here)
    decision = Adjudication.objects.get()
    assert (decision.reason, decision.is_guideline_gap) == ("So", True)
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.includes('draft'))") == []


def test_what_is_decided_with_is_in_sight_with_the_last_decision_above_it(world: World, desk: Desk) -> None:
    disagree(world)
    page = sign_in(desk(), "cleo")
    page.goto("/p/harbour/adjudicate/?kind=unit")
    take_the_next(page)
    for screen in LAPTOPS:
        page.set_viewport_size(screen)
        press(page, "a")
        assert "Resolved" in told(page)
        keys = page.locator(".bar").bounding_box()
        assert keys is not None
        for name in ("#typed", "#reason", "#error-type", "[name=is_guideline_gap]", "#next"):
            box = page.locator(name).bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= keys["y"], (screen, name)
        assert violations(page) == []


def test_both_answers_on_a_unit_are_in_sight_with_their_notes(world: World, desk: Desk) -> None:
    disagree(world)
    # Each unit takes several lines, and so does each note.
    for model in world.models.values():
        lengthen(model)
    UnitJudgment.objects.update(note=LONG_TEXT * 2)
    page = sign_in(desk(), "cleo")
    page.goto("/p/harbour/adjudicate/?kind=unit")
    take_the_next(page)
    for screen in LAPTOPS:
        page.set_viewport_size(screen)
        press(page, "a")
        assert "Resolved" in told(page)
        bar = page.locator(".deciding").bounding_box()
        assert bar is not None
        ends = []
        for row in page.locator(".voices-table tbody tr").all():
            box = row.bounding_box()
            assert box is not None
            ends.append(box["y"] + box["height"])
        assert len(ends) == 4
        assert [end for end in ends if end > bar["y"]] == [], screen
        assert violations(page) == []


def test_on_a_phone_the_answers_on_a_unit_come_before_the_model_summary(world: World, desk: Desk) -> None:
    disagree(world)
    UnitJudgment.objects.update(note=LONG_TEXT * 2)
    page = sign_in(desk(viewport=PHONE), "cleo")
    page.goto("/p/harbour/adjudicate/?kind=unit")
    page.get_by_role("button", name="Start").click()
    page.locator("#dispute-room").wait_for()
    notes = page.locator(".voices-table .said")
    assert notes.count() == 2
    last, around = notes.last.bounding_box(), page.locator(".around").bounding_box()
    assert last is not None
    assert around is not None
    assert last["y"] + last["height"] <= around["y"]
    assert violations(page) == []


def test_five_units_and_five_claims_by_keyboard_alone(world: World, desk: Callable[[], Page]) -> None:
    disagree(world)
    page = sign_in(desk(), "cleo")

    page.goto("/p/harbour/adjudicate/?kind=unit")
    page.get_by_text("5 to resolve").wait_for()
    take_the_next(page)
    # "bridge", alder: unit 1 is 0 or 100 %, unit 2 10 or 60 %: (.5 + .35) / 2 = .425; with 100 % (1 + .35) / 2 =
    # .675. X: 2/3 * .425 + .35/3 = .4, and 2/3 * .675 + .35/3 = .566667.
    press(page, letter_of(page, "100 %"))
    assert "Resolved: 100 %. Coverage 0.425 → 0.675, composite ⅔ 0.400 → 0.567." in told(page)
    # "bridge", birch: unit 1 is 0 or 80 %, unit 2 40 %: .4; nobody said 60 %: (.6 + .4) / 2 = .5.
    press(page, "4", reason="More than half of it.")
    assert "Coverage 0.400 → 0.500" in told(page)
    # "port", alder: unit 1 is 20 or 60 %, unit 2 80 or 20 %: (.4 + .5) / 2 = .45; with 80 % (.4 + .8) / 2 = .6.
    press(page, "5")
    assert "Coverage 0.450 → 0.600" in told(page)
    press(page, "u")
    assert "withdrawn" in told(page)
    assert coverage(world, "port", "alder") == pytest.approx(0.45)
    press(page, "5")
    assert "Coverage 0.450 → 0.600" in told(page)
    # "bridge", alder, unit 2: 45 % is typed: (1 + .45) / 2 = .725.
    page.keyboard.press("p")
    page.keyboard.type("45")
    press(page, "Enter", reason="A little less than half.")
    assert "Coverage 0.675 → 0.725" in told(page)
    # "port", alder, unit 1: 20 %: (.2 + .8) / 2 = .5. It was the last one.
    page.keyboard.press(letter_of(page, "20 %"))
    page.get_by_text("Resolved: 20 %. Coverage 0.600 → 0.500").wait_for()
    page.get_by_text("No disputes to resolve.").wait_for()

    page.goto("/p/harbour/adjudicate/?kind=check")
    page.get_by_text("5 to resolve").wait_for()
    take_the_next(page)
    # "port", birch: no, yes | no by the last reviewer: (.5 + 0) / 2 = .25 and 1 of 3 claims; with yes, yes | no
    # (1 + 0) / 2 = .5 and 2 of 3.
    press(page, letter_of(page, "yes"))
    assert "Resolved: yes. Coverage 0.250 → 0.500, claim coverage 0.333 → 0.667" in told(page)
    # yes, no | no.
    press(page, "2")
    assert "Resolved: no. Coverage 0.500 → 0.250, claim coverage 0.667 → 0.333" in told(page)
    # "port", alder: yes, unsure | yes; its units have percents, so claim coverage alone moves: 2 of 3 to 1 of 3.
    press(page, "p", reason="The text says neither.")
    assert "Resolved: unsure. Claim coverage 0.667 → 0.333." in told(page)
    # "port", birch: yes, no | yes: (.5 + 1) / 2 = .75.
    press(page, "1", reason="Repair implies it.")
    assert "Resolved: yes. Coverage 0.250 → 0.750, claim coverage 0.333 → 0.667" in told(page)
    # "port", alder: unsure, yes | yes.
    page.keyboard.press(letter_of(page, "yes"))
    page.get_by_text("Resolved: yes. Claim coverage 0.333 → 0.667.").wait_for()

    shown = {key: coverage(world, *key) for key in world.peers}
    assert shown == pytest.approx(
        {
            ("port", "alder"): 0.5,
            ("port", "birch"): 0.75,
            ("bridge", "alder"): 0.725,
            ("bridge", "birch"): 0.5,
        }
    )
    the_log_tells_it(world)
    rescore(project=world.project)
    assert {key: coverage(world, *key) for key in world.peers} == shown
    call_command("verify_scores", "harbour", stdout=StringIO())


def the_log_tells_it(world: World) -> None:
    events = Event.objects.filter(actor=world.cleo).order_by("pk")
    answers = [(event.verb, event.data.get("label") or event.data.get("percent")) for event in events]
    decided = [100, 60, 80, None, 80, 45, 20, "yes", "no", "unsure", "yes", "yes"]
    assert [answer for _, answer in answers] == decided
    assert [verb for verb, _ in answers] == [
        "withdraw decision" if answer is None else "adjudicate" for answer in decided
    ]
    against = Adjudication.objects.filter(is_against_all=True, withdrawn_at=None).order_by("pk")
    assert [row.reason for row in against] == [
        "More than half of it.",
        "A little less than half.",
        "The text says neither.",
        "Repair implies it.",
    ]
    assert Adjudication.objects.filter(adopted_judgment__isnull=False, withdrawn_at=None).count() == 2
    assert Adjudication.objects.filter(adopted_verdict__isnull=False).count() == 2
