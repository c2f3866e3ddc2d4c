"""axe-core finds nothing on any page, light or dark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from annotation.web.urls import project_urls
from tests.accessibility import violations
from tests.annotation.web.places import addresses
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.annotation.web.test_pages import NOT_PAGES
from tests.annotation.web.test_refusals import POSTED

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)

PAGES = sorted({str(route.name) for route in project_urls} - POSTED - NOT_PAGES)
ANAS = ("assess", "work")
"""Pages of these names are opened by the assessor; the others by the owner."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_violations(world: World, desk: Desk, scheme: Literal["light", "dark"]) -> None:
    found: dict[str, list[str]] = {}
    places = addresses(world)
    for person in ("olga", "ana"):
        page = sign_in(desk(color_scheme=scheme), person)
        for name in PAGES:
            if (person == "ana") is name.startswith(ANAS):
                page.goto(places[name])
                if faults := violations(page):
                    found[name] = faults
    assert found == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_violations_where_nobody_is_signed_in(
    world: World, desk: Desk, scheme: Literal["light", "dark"]
) -> None:
    page = desk(color_scheme=scheme)
    page.goto("/sign-in/")
    assert violations(page) == []
    sign_in(page, "olga").goto("/")
    assert violations(page) == []
