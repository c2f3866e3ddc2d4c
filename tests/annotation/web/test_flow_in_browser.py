"""From sign-in to the exported row, in a real browser, with its numbers derived by hand.

In the set "port", alder has 13 of 20 words, so its brevity is 7/20 = .35; birch has 11, so its brevity is 9/20 = .45.
The judge says yes, no and yes for alder's claims (two in unit 1, one in unit 2), and no to all for birch.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from annotation.exports.services import write_export
from annotation.models import Event
from tests.annotation.assessing.web.see_sets import saved
from tests.annotation.cast import World
from tests.annotation.laying import assign_part

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.django_db(transaction=True)

UNREAD_MS = 350
"""A claim takes no answer before this time has passed."""


def sign_in(page: Page, name: str) -> Page:
    client = Client()
    client.force_login(User.objects.get(username=name))
    name, session = settings.SESSION_COOKIE_NAME, client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies(
        [{"name": name, "value": session, "domain": host, "path": "/"} for host in ("localhost", "127.0.0.1")]
    )
    return page


def sign_in_by_form(page: Page, name: str) -> Page:
    page.goto("/accounts/login/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(f"{name}-secret")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Harbour study").first.wait_for()
    return page


def judge_alder(page: Page) -> None:
    page.goto("/p/harbour/work/")
    page.get_by_role("link", name="Start", exact=True).click()
    page.locator("#see").wait_for()
    page.keyboard.press("a")
    page.keyboard.press("4")
    page.locator("#progress", has_text="1 of 2 judged").wait_for()
    for key in ("b", "6"):
        page.keyboard.press(key)
    page.locator("#progress", has_text="2 of 2 judged").wait_for()
    saved(page)
    page.goto("/p/harbour/work/")
    page.get_by_role("button", name="Close the set").click()
    page.get_by_text("Your judgments now count").wait_for()


def let_view_scores(world: World) -> None:
    world.rex.memberships.update(roles=["reviewer", "viewer"])


def answer(page: Page, world: World, system: str, claim: int, label: str, reason: str) -> str:
    page.goto(f"/p/harbour/review/{world.check(system, claim).public_id}/")
    page.wait_for_timeout(UNREAD_MS)
    page.locator("#reason").fill(reason)
    page.locator(f"#answer-{label}").click()
    moved = page.locator(".moved")
    moved.wait_for()
    return moved.inner_text()


def scores(page: Page, world: World, system: str) -> dict[str, str]:
    page.goto(f"/p/harbour/scores/summaries/{world.summaries['port', system].public_id}/")
    page.get_by_text("All scores and formulas").click()
    return {
        row.locator("th").inner_text().splitlines()[0].strip(): row.locator("td").inner_text()
        for row in page.locator("table.formulas tr").all()
    }


def test_the_whole_way_from_a_judgment_to_the_exported_row(
    world: World, desk: Callable[[], Page], tmp_path: Path
) -> None:
    assign_part(world, "port", world.ana, "alder")
    let_view_scores(world)
    ana, rex, cleo, olga = desk(), desk(), desk(), desk()
    for page, name in ((ana, "ana"), (rex, "rex"), (cleo, "cleo"), (olga, "olga")):
        sign_in_by_form(page, name)

    judge_alder(ana)
    shown = scores(cleo, world, "alder")
    # People's percents come first: coverage is (.6 + 1) / 2 = .8, and the composite is 2/3 * .8 + 1/3 * .35 = .65.
    assert (shown["Coverage"], shown["Composite, a = ⅔"]) == ("80 %", "65 %")

    # Birch's unit 1 has no percents and now has yes and no, which is .5: (.5 + 0) / 2 = .25, and the composite is 2/3
    # * .25 + 1/3 * .45 = .316667.
    moved = answer(rex, world, "birch", 1, "yes", "Closing is planned.")
    assert "Coverage 0.000 → 0.250" in moved
    shown = scores(cleo, world, "birch")
    assert (shown["Coverage"], shown["Composite, a = ⅔"]) == ("25 %", "32 %")

    # The unit has percents, which come first: the answer changes claim coverage (2/3 to 1), not coverage.
    moved = answer(rex, world, "alder", 2, "yes", "It implies the wall.")
    assert "Claim coverage 0.667 → 1.000" in moved
    assert "Coverage does not change because assessors' percents come first." in moved
    assert scores(cleo, world, "alder")["Coverage"] == "80 %"

    olga.goto("/p/harbour/settings/")
    olga.get_by_text("Advanced").click()
    olga.get_by_label("Blend", exact=True).select_option("weighted")
    olga.get_by_role("button", name="Save").click()
    olga.get_by_role("status").get_by_text("Saved").wait_for()
    # Weighted with w = .5: unit 1 has .5 * .6 + .5 * 1 = .8, unit 2 has .5 * 1 + .5 * 1 = 1; the mean is .9.
    assert scores(cleo, world, "alder")["Coverage"] == "90 %"

    # Now the answer changes coverage: unit 1 has .5 * .6 + .5 * 1/2 = .55; (.55 + 1) / 2 = .775, and the composite is
    # 2/3 * .775 + 1/3 * .35 = .633333.
    moved = answer(rex, world, "alder", 2, "no", "On second thoughts it does not.")
    assert "Coverage 0.900 → 0.775" in moved
    shown = scores(cleo, world, "alder")
    assert (shown["Coverage"], shown["Composite, a = ⅔"]) == ("78 %", "63 %")

    rows = exported(world, tmp_path / "claims.jsonl")
    decided = {(row["system"], row["claim"]): row for row in rows if row["final_source"] == "reviewer"}
    assert set(decided) == {("birch", "The harbour closes in April"), ("alder", "its wall is weak")}
    alder = decided["alder", "its wall is weak"]
    assert (alder["judge_label"], alder["human_label"], alder["final_label"]) == ("no", "no", "no")
    assert (alder["human_reason"], alder["decided_by"]) == ("On second thoughts it does not.", "rex")
    assert list(
        Event.objects.filter(verb="override").order_by("pk").values_list("data__label", flat=True)
    ) == [
        "yes",
        "yes",
        "no",
    ]


def exported(world: World, path: Path) -> list[dict[str, object]]:
    owner: User = world.olga
    write_export(
        project=world.project, level="claims", format="jsonl", path=path, by=owner, named_people=True
    )
    return [json.loads(line) for line in path.read_text().splitlines()]
