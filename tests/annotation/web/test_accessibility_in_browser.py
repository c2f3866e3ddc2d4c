"""Pages are checked with axe-core. With `EVERY_WIDTH`, as in `make test-widths`, more widths are checked."""

from __future__ import annotations

import os
from itertools import product
from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import User

from annotation.config.web_urls import project_urls
from annotation.models import Dispute
from annotation.projects.services.invite import invite
from annotation.reviewing.services.review import override
from tests.accessibility import runs_off, violations
from tests.annotation.cast import add_imported_verdict
from tests.annotation.route_verbs import POSTED
from tests.annotation.web.places import addresses
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.annotation.web.test_pages import NOT_PAGES

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

PAGES = sorted({str(route.name) for route in project_urls} - POSTED - NOT_PAGES)
ANAS = ("assess", "work")
"""Pages that the assessor opens; the owner opens the others."""

WIDTHS = (390, 820, 1280, 1920) if os.environ.get("EVERY_WIDTH") else (1280,)

at_every_width = pytest.mark.parametrize("width", WIDTHS)


@at_every_width
def test_no_violations(world: World, desk: Desk, width: int) -> None:
    found: dict[str, list[str]] = {}
    places = addresses(world)
    for person in ("olga", "ana"):
        page = sign_in(desk(viewport={"width": width, "height": 900}), person)
        for name in PAGES:
            if (person == "ana") is name.startswith(ANAS):
                page.goto(places[name])
                if faults := violations(page):
                    found[name] = faults
    assert found == {}


def test_no_door_of_a_project_is_cut_off(world: World, desk: Desk) -> None:
    page = sign_in(desk(), "olga")
    page.goto("/p/harbour/")
    for width, name in product((390, 320, 1000), ("Work", "Results", "Data", "Settings")):
        page.set_viewport_size({"width": width, "height": 700})
        page.locator(".doors summary", has_text=name).click()
        seen, cut = page.evaluate(
            """() => {
              const seen = [...document.querySelectorAll(".top a")].filter((each) => each.checkVisibility());
              const cut = seen.filter((each) => {
                const { left, right } = each.getBoundingClientRect();
                return left < 0 || right > innerWidth || each.scrollWidth > each.clientWidth + 1;
              });
              return [seen, cut].map((links) => links.map((each) => each.textContent));
            }"""
        )
        assert cut == []
        assert len(seen) > 3, (width, name)
        assert runs_off(page) == []
        page.keyboard.press("Escape")


@at_every_width
def test_no_violations_outside_of_projects(world: World, desk: Desk, width: int) -> None:
    page = desk(viewport={"width": width, "height": 900})
    secret = invite(project=world.project, roles=["reviewer"], by=world.olga).secret
    for address in (
        "/",
        "/accounts/login/",
        "/accounts/password/reset/",
        f"/invitations/{secret}/",
        "/help/",
        "/help/tutorial/",
        "/help/columns/",
    ):
        page.goto(address)
        assert (address, violations(page)) == (address, [])
    sign_in(page, "olga")
    own = ("password/change/", "2fa/", "email/", "sessions/", "3rdparty/", "reauthenticate/")
    for address in ("/", "/account/", *(f"/accounts/{name}" for name in own), "/sample/", "/projects/new/"):
        page.goto(address)
        assert (address, violations(page)) == (address, [])


@at_every_width
def test_no_violations_in_the_admin(world: World, desk: Desk, width: int) -> None:
    pages = admin_pages(world)
    page = sign_in(desk(viewport={"width": width, "height": 900}), "olga")
    found: dict[str, list[str]] = {}
    for address in pages:
        page.goto(address)
        if faults := violations(page):
            found[address] = faults
    assert {place: faults for place, faults in found.items() if faults} == {}


def admin_pages(world: World) -> list[str]:
    User.objects.filter(username="olga").update(is_staff=True, is_superuser=True)
    check = world.check("alder", 1)
    override(check=check, by=world.rex, label="no")
    add_imported_verdict(check, "yes")
    rows = [
        f"dispute/{Dispute.objects.get().pk}",
        f"summary/{world.summaries['port', 'alder'].pk}",
        f"judge/{world.judge.pk}",
    ]
    lists = ("dispute", "summary", "job")
    return [
        "/admin/",
        "/admin/annotation/judge/add/",
        *(f"/admin/annotation/{name}/" for name in lists),
        *(f"/admin/annotation/{row}/change/" for row in rows),
    ]
