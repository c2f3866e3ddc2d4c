"""The leaderboard and a system's means in a real browser, with every score that a project may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from annotation.models import Score
from tests.accessibility import violations
from tests.annotation.queries.mixing import mix_summarization
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.browser import PHONE

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def places(world: World) -> list[str]:
    mix_summarization(world)
    Score.objects.update(conciseness=0.4, completeness=0.6, factual_alignment=0.5)
    return [
        "/p/harbour/scores/?by=summarization",
        f"/p/harbour/scores/systems/{world.systems['alder'].public_id}/",
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(places: list[str], desk: Desk, scheme: Literal["light", "dark"]) -> None:
    page = sign_in(desk(color_scheme=scheme), "vic")
    found = {}
    for place in places:
        page.goto(place)
        if faults := violations(page):
            found[place] = faults
    assert found == {}


def test_nothing_runs_off_a_phone(places: list[str], desk: Desk) -> None:
    page = sign_in(desk(viewport=PHONE), "vic")
    found = {}
    for place in places:
        page.goto(place)
        found[place] = page.evaluate(OVERFLOW)
    assert found == dict.fromkeys(places, 0)


def test_another_score_is_drawn_in_place_and_the_address_follows(places: list[str], desk: Desk) -> None:
    page = sign_in(desk(), "vic")
    page.goto("/p/harbour/scores/")
    page.get_by_role("navigation", name="Other scores").get_by_role("link", name="Conciseness").click()
    page.get_by_role("heading", name="Which system wastes fewest words?").wait_for()
    assert "by=conciseness" in page.url
