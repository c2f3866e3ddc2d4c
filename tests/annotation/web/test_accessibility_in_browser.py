"""axe-core finds nothing on any page, light or dark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from annotation.models import Notice
from annotation.services.invite import invite
from annotation.services.notices import tell
from annotation.web.urls import project_urls
from tests.accessibility import violations
from tests.annotation.route_verbs import POSTED
from tests.annotation.web.places import addresses
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.annotation.web.test_pages import NOT_PAGES

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


@pytest.mark.parametrize("width", [390, 320, 1000])
def test_no_door_of_a_project_is_cut_off(world: World, desk: Desk, width: int) -> None:
    page = sign_in(desk(viewport={"width": width, "height": 700}), "olga")
    page.goto("/p/harbour/")
    cut = page.evaluate(
        """[...document.querySelectorAll(".top a")].filter((each) => {
          const { left, right } = each.getBoundingClientRect();
          return left < 0 || right > innerWidth || each.scrollWidth > each.clientWidth + 1;
        }).map((each) => each.textContent)"""
    )
    assert cut == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_violations_where_nobody_is_signed_in(
    world: World, desk: Desk, scheme: Literal["light", "dark"]
) -> None:
    page = desk(color_scheme=scheme)
    secret = invite(project=world.project, roles=["reviewer"], by=world.olga).secret
    for address in ("/sign-in/", f"/invitations/{secret}/"):
        page.goto(address)
        assert (address, violations(page)) == (address, [])
    leave_notice(world)
    sign_in(page, "olga")
    for address in ("/", "/notices/"):
        page.goto(address)
        assert (address, violations(page)) == (address, [])


def leave_notice(world: World) -> None:
    kind, address = Notice.Kind.EXPORT, "/p/harbour/exports/"
    tell(project=world.project, people=[world.olga], kind=kind, text="Ready.", address=address)
