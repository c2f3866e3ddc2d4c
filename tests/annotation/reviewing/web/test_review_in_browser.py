from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import Check, Event, Look, Score, Verdict
from annotation.reviewing.services.review import override
from annotation.sampling.services.sample_checks import sample_checks
from tests.annotation.assessing.web.long_set import JUDGED, THINGS, add_long_set
from tests.annotation.web.test_flow_in_browser import let_view_scores, sign_in
from tests.browser import standing_still

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)

CALM_MS = 450
"""Digits of a burst do not answer the next claim within this time."""
LABELS = {"1": "yes", "2": "no", "3": "unsure"}


def begin(page: Page, world: World, query: str = "") -> None:
    long_set = add_long_set(world)
    page.goto(f"/p/harbour/review/?sort=document&document_set={long_set.public_id}{query}")
    page.keyboard.press("n")
    at_claim(page, THINGS[0])


def timed(desk: Desk) -> Page:
    page = desk()
    page.clock.install()
    return sign_in(page, "rex")


def at_claim(page: Page, thing: str) -> None:
    page.locator("#claim", has_text=f"The {thing} is old").wait_for()
    # The claim may be on screen before the scripts have run, and the time counts from then on.
    page.wait_for_load_state()
    page.wait_for_timeout(CALM_MS)


def expect_saved(page: Page) -> None:
    page.locator("#strip", has_not_text="Saving…").locator("form.undo").wait_for()


def check_of(world: World, system: str, thing: str) -> Check:
    return Check.objects.get(summary=world.summaries["long", system], claim__text=f"The {thing} is old")


def answers(check: Check) -> list[str | None]:
    rows = Verdict.objects.filter(check_row=check, role="reviewer", withdrawn_at=None).order_by("pk")
    return list(rows.values_list("label", flat=True))


def test_ten_claims_by_one_key_each(world: World, desk: Desk) -> None:
    let_view_scores(world)
    page = sign_in(desk(), "rex")
    begin(page, world)
    for system, label in JUDGED.items():
        for thing in THINGS[5:]:
            override(check=check_of(world, system, thing), by=world.cleo, label=label)
    # The judge says yes to alder's ten claims and no to birch's: coverage is 1 and 0, and changes by tenths.
    for system, keys, tenths in (
        ("alder", "12131", (10, 10, 9, 9, 8, 8)),
        ("birch", "22121", (0, 0, 0, 1, 1, 2)),
    ):
        for thing, key, before, after in zip(THINGS, keys, tenths, tenths[1:], strict=False):
            at_claim(page, thing)
            page.keyboard.press(key)
            moved = f"Coverage {before / 10:.3f} → {after / 10:.3f}"
            told = moved if before != after else f"Saved: {LABELS[key]}."
            page.locator("#strip .moved", has_text=told).wait_for()
            stands = Score.objects.get(summary=world.summaries["long", system]).coverage
            assert stands == pytest.approx(after / 10)
    page.get_by_text("That was the last claim.").wait_for()

    labels = [LABELS[key] for key in "1213122121"]
    events = Event.objects.filter(verb="override", actor=world.rex).order_by("pk")
    assert [(event.data["label"], event.data["had_seen"]) for event in events] == [
        (each, False) for each in labels
    ]
    looks = Look.objects.filter(person=world.rex)
    assert looks.count() == 10
    assert all(look.revealed_at and look.revealed_at > look.opened_at for look in looks)
    assert all(Verdict.objects.filter(person=world.rex).values_list("active_ms", flat=True))


def test_keys_before_the_next_claim_is_there_are_kept_and_used(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "rex")
    begin(page, world)
    # The server answers after 800 ms, so the next claim is missing when a key is pressed.
    page.context.new_cdp_session(page).send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": 800, "downloadThroughput": -1, "uploadThroughput": -1},
    )
    for key in "12121":
        page.keyboard.press(key)
        page.wait_for_timeout(300)
    page.locator("#strip", has_not_text="Saving…").locator(
        ".of", has_text=f"The {THINGS[4]} is old"
    ).wait_for()
    given = [answers(check_of(world, "alder", thing)) for thing in THINGS[:5]]
    assert given == [["yes"], ["no"], ["yes"], ["no"], ["yes"]]


@pytest.mark.parametrize(("key", "code"), [("&", "Digit1"), ("١", "Digit1"), ("1", "Numpad1")])
def test_a_digit_is_meant_by_its_place_on_the_keyboard(world: World, desk: Desk, key: str, code: str) -> None:
    page = sign_in(desk(), "rex")
    begin(page, world)
    page.evaluate(
        "([key, code]) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, code, bubbles: true }))",
        [key, code],
    )
    expect_saved(page)
    assert answers(check_of(world, "alder", THINGS[0])) == ["yes"]


def test_the_last_answer_of_a_sample_leads_to_the_leaderboard(world: World, desk: Desk) -> None:
    let_view_scores(world)
    sample = sample_checks(project=world.project, by=world.mona, method="uniform", share=1.0, seed=1)
    *others, last = sample.sampled_checks.order_by("pk")
    for row in others:
        override(check=row.check_row, by=world.rex, label="yes")
    page = sign_in(desk(), "rex")
    page.goto(f"/p/harbour/review/?sample={sample.public_id}")
    page.keyboard.press("n")
    page.locator("#claim", has_text=last.check_row.claim.text).wait_for()
    page.wait_for_load_state()
    page.wait_for_timeout(CALM_MS)
    # The page fetched the end of the sample in advance, while this claim was still open.
    page.keyboard.press("1")
    page.get_by_role("link", name="View the leaderboard").click()
    page.wait_for_url("**/scores/")


def test_the_judges_verdict_comes_in_the_strip_and_one_key_takes_it_over(world: World, desk: Desk) -> None:
    let_view_scores(world)
    page = sign_in(desk(), "rex")
    begin(page, world)
    page.keyboard.press("2")
    page.locator("#strip", has_text="The judge had said").wait_for()
    at_claim(page, "wall")
    page.keyboard.press("y")
    page.locator("#strip", has_text="Coverage 0.900 → 1.000").wait_for()
    assert answers(check_of(world, "alder", "ferry")) == ["no", "yes"]
    assert page.locator("#claim").inner_text() == "The wall is old"


def test_undo_goes_back_answer_by_answer_as_far_as_this_page_was_answered(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "rex")
    begin(page, world)
    things = ("ferry", "wall", "quay")
    for key, thing in zip("213", ("wall", "quay", "crane"), strict=True):
        page.keyboard.press(key)
        at_claim(page, thing)
        expect_saved(page)
    # The keys are pressed at once, and each undo is sent after the previous undo has finished.
    for key in "uuu":
        page.keyboard.press(key)
    page.locator("#outcome", has_text="Answer withdrawn.").wait_for()
    at_claim(page, "ferry")
    assert [answers(check_of(world, "alder", thing)) for thing in things] == [[], [], []]
    assert page.locator("form.undo").count() == 0
    for key, thing in zip("131", ("wall", "quay", "crane"), strict=True):
        page.keyboard.press(key)
        at_claim(page, thing)
        expect_saved(page)
    assert [answers(check_of(world, "alder", thing)) for thing in things] == [["yes"], ["unsure"], ["yes"]]
    page.keyboard.press("u")
    at_claim(page, "quay")
    # The strip names the claim of the previous answer.
    assert page.locator("#strip .of").inner_text() == "The wall is old"
    assert page.locator("#strip .line", has_text="You said").get_by_text("unsure").count() == 1
    page.keyboard.press("n")
    at_claim(page, "crane")
    page.keyboard.press("u")
    at_claim(page, "wall")
    assert [answers(check_of(world, "alder", thing)) for thing in things] == [["yes"], [], []]


@pytest.mark.parametrize("way", ["slow", "offline"])
def test_undo_knows_answers_that_were_not_heard_yet_when_the_next_was_given(
    world: World, desk: Desk, way: str
) -> None:
    page = sign_in(desk(), "rex")
    begin(page, world)
    page.wait_for_load_state("networkidle")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    if way == "slow":
        # A sleeping handler would delay the test too, and the answer would arrive before the next key.
        page.route("**/answer/*", hold, times=1)
    else:
        page.context.set_offline(True)
    page.keyboard.press("1")
    if way == "slow":
        at_claim(page, "wall")
        page.keyboard.press("2")
    # The key is pressed before the server has heard of the first answer, and waits until it has.
    page.keyboard.press("u")
    for route in held:
        route.continue_()
    page.context.set_offline(False)
    thing = "wall" if way == "slow" else "ferry"
    page.locator("#outcome", has_text="Answer withdrawn.").wait_for()
    at_claim(page, thing)
    assert answers(check_of(world, "alder", thing)) == []
    if way == "slow":
        assert answers(check_of(world, "alder", "ferry")) == ["yes"]
        assert page.locator("#strip .of").inner_text() == "The ferry is old"
        page.keyboard.press("u")
        at_claim(page, "ferry")
        assert answers(check_of(world, "alder", "ferry")) == []
    page.locator("#strip", has_text="Your last answer appears here, with undo.").wait_for()
    desk.watch.expect("Failed to fetch")


def test_a_refused_answer_leaves_undo_of_the_one_before(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "rex")
    begin(page, world)
    page.keyboard.press("1")
    at_claim(page, "wall")
    expect_saved(page)
    override(check=check_of(world, "alder", "wall"), by=world.rex, label="unsure")
    page.keyboard.press("2")
    page.locator("#problems", has_text="You answered this check in another window").wait_for()
    at_claim(page, "quay")
    assert page.locator("#strip .of").inner_text() == "The ferry is old"
    page.keyboard.press("u")
    at_claim(page, "ferry")
    assert answers(check_of(world, "alder", "ferry")) == []


def fill_in(page: Page) -> None:
    for key in ("e", "2", "Enter", "1", "0", "Enter", "Escape", "w", "S", "o", "Escape", "x", "o", "Escape"):
        page.keyboard.press(key)
    for key in ("c", "9", "Escape"):
        page.keyboard.press(key)


def filled_in(page: Page) -> dict[str, object]:
    marked = page.locator("[name=evidence]:checked")
    return {
        "reason": page.locator("#reason").input_value(),
        "error": page.locator("#error-type").input_value(),
        "confidence": page.locator("#confidence").input_value(),
        "evidence": [box.get_attribute("value") for box in marked.all()],
    }


FILLED_IN = {"reason": "So", "error": "omission", "confidence": "0.9", "evidence": ["2", "10"]}
NOTHING = {"reason": "", "error": "", "confidence": "", "evidence": []}


def test_an_answer_that_is_taken_back_comes_back_filled_in_as_it_was_given(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "rex")
    begin(page, world)
    fill_in(page)
    page.keyboard.press("2")
    page.locator("#strip .moved").wait_for()
    at_claim(page, "wall")
    assert filled_in(page) == NOTHING
    page.keyboard.press("u")
    page.locator("#outcome", has_text="Answer withdrawn.").wait_for()
    at_claim(page, "ferry")
    assert filled_in(page) == FILLED_IN
    # The draft also survives a reload.
    page.reload()
    at_claim(page, "ferry")
    assert filled_in(page) == FILLED_IN
    page.keyboard.press("1")
    at_claim(page, "wall")
    expect_saved(page)
    assert filled_in(page) == NOTHING
    said = Verdict.objects.get(person=world.rex, withdrawn_at=None)
    assert (said.label, said.reason, said.error_type, said.confidence) == ("yes", "So", "omission", 0.9)
    assert said.evidence == [2, 10]
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.includes('draft'))") == []


def test_old_drafts_are_forgotten_past_one_that_cannot_be_read(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "rex")
    begin(page, world)
    page.evaluate(
        """() => {
          const day = 24 * 3600 * 1000;
          const keep = (name, text) => localStorage.setItem(`coverdict:draft:${name}`, text);
          keep("rex:a", "{cut o");
          keep("rex:b", "null");
          keep("rex:c", JSON.stringify({ values: [], at: Date.now() - 31 * day }));
          keep("rex:d", JSON.stringify({ values: [], at: Date.now() - 29 * day }));
          localStorage.setItem("another's", "{");
        }"""
    )
    page.reload()
    at_claim(page, "ferry")
    left = page.evaluate("Object.keys(localStorage).filter((key) => /draft|another/.test(key)).sort()")
    assert left == ["another's", "coverdict:draft:rex:d"]


def test_whoever_was_taken_out_of_the_project_meanwhile_is_told(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "rex")
    begin(page, world)
    world.rex.memberships.all().delete()
    for key in ("w", "S", "o", "Escape", "2"):
        page.keyboard.press(key)
    problem = page.locator("#problems", has_text="Not saved.")
    problem.wait_for()
    assert "Your roles in this project may have changed" in problem.inner_text()
    page.wait_for_load_state("networkidle")
    assert "Saving" not in page.locator("#strip").inner_text()
    assert not Verdict.objects.filter(person=world.rex).exists()
    page.keyboard.press("b")
    at_claim(page, "ferry")
    assert page.locator("#reason").input_value() == "So"


def test_whoever_was_signed_out_is_told_until_an_answer_is_saved_again(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "rex")
    begin(page, world)
    page.wait_for_load_state("networkidle")
    kept = page.context.cookies()
    page.context.clear_cookies()
    page.keyboard.press("2")
    problem = page.locator("#problems", has_text="You have been signed out.")
    problem.wait_for()
    assert "Your roles" not in problem.inner_text()
    page.locator("#notices [data-signed-out]").wait_for()
    page.context.add_cookies(kept)
    page.keyboard.press("b")
    at_claim(page, "ferry")
    page.keyboard.press("2")
    page.locator("#strip .moved", has_text="Saved: no.").wait_for()
    assert page.locator("[data-signed-out]").count() == 0


@pytest.mark.parametrize("gap_ms", [0, 240])
def test_a_double_click_answers_one_claim(world: World, desk: Desk, gap_ms: int) -> None:
    page = timed(desk)
    begin(page, world)
    # The next claim is loaded already, so it appears between the two clicks.
    page.wait_for_load_state("networkidle")
    with standing_still(page):
        page.locator("#answer-no").click()
        at_claim(page, "wall")
        page.clock.run_for(gap_ms)
        page.locator("#answer-no").click()
        page.locator("#strip .moved", has_text="Saved: no.").wait_for()
    at_claim(page, "wall")
    assert list(Verdict.objects.filter(person=world.rex).values_list("check_row", "label")) == [
        (check_of(world, "alder", "ferry").pk, "no")
    ]
    # Enough time has passed, so the click answers.
    page.locator("#answer-yes").click()
    page.locator("#strip .moved", has_text="Saved: yes.").wait_for()
    assert answers(check_of(world, "alder", "wall")) == ["yes"]


def test_what_was_filled_in_is_there_again_however_the_claim_was_left(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "rex")
    begin(page, world)
    fill_in(page)
    here = page.url
    page.keyboard.press("n")
    at_claim(page, "wall")
    assert filled_in(page) == NOTHING
    for leave in (page.reload, lambda: page.keyboard.press("q")):
        page.goto(here)
        at_claim(page, "ferry")
        assert filled_in(page) == FILLED_IN
        with page.expect_navigation():
            leave()


def test_what_was_filled_in_is_its_authors_alone(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "rex")
    begin(page, world)
    here = page.url
    for key in ("w", "S", "o", "Escape"):
        page.keyboard.press(key)
    for name, there in (("cleo", ""), ("rex", "So")):
        page.context.clear_cookies()
        sign_in(page, name)
        page.goto(here)
        at_claim(page, "ferry")
        assert page.locator("#reason").input_value() == there


def test_an_answer_from_another_window_costs_nothing_and_can_be_gone_back_to(
    world: World, desk: Desk
) -> None:
    page = sign_in(desk(), "rex")
    begin(page, world)
    check = check_of(world, "alder", "ferry")
    override(check=check, by=world.rex, label="unsure", reason="hard to say")
    for key in ("w", "m", "i", "n", "e", "Escape", "2"):
        page.keyboard.press(key)
    at_claim(page, "wall")
    problem = page.locator("#problems", has_text="You answered this check in another window")
    problem.wait_for()
    assert "hard to say" in problem.inner_text()
    assert answers(check) == ["unsure"]
    page.keyboard.press("b")
    at_claim(page, "ferry")
    assert page.locator("#reason").input_value() == "mine"
    page.keyboard.press("2")
    page.locator("#strip .moved").wait_for()
    at_claim(page, "wall")
    assert answers(check) == ["unsure", "no"]


def test_a_lost_connection_keeps_the_answer_and_sends_it_later(world: World, desk: Desk) -> None:
    let_view_scores(world)
    page = sign_in(desk(), "rex")
    begin(page, world)
    page.context.set_offline(True)
    page.keyboard.press("2")
    page.get_by_text("Not saved yet").wait_for()
    at_claim(page, "wall")
    page.context.set_offline(False)
    page.locator("#strip .moved", has_text="Coverage 1.000 → 0.900").wait_for()
    assert answers(check_of(world, "alder", "ferry")) == ["no"]
    desk.watch.expect("Failed to fetch")


def test_back_shows_ones_answer_and_a_reload_the_claim_in_view(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "rex")
    begin(page, world)
    page.keyboard.press("2")
    page.locator("#strip .moved").wait_for()
    at_claim(page, "wall")
    page.reload()
    at_claim(page, "wall")
    page.go_back()
    page.locator("#answer-no[aria-pressed=true]").wait_for()
    at_claim(page, "ferry")
