"""What every page owes to those who read it: one policy, one title, a way past the header."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders

from annotation.assessing.services.assign import assign
from tests.annotation.route_verbs import OWN, POSTED
from tests.annotation.web.places import addresses

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World

NOT_PAGES = {
    "agreement-file",
    "bias-file",
    "download-export",
    "export-manifest",
    "import-rejects",
    "run-estimate",
    "run-permission",
    "judge-file",
    "league-file",
    "log-file",
    "picture-file",
    "work-file",
    "plan-file",
    "sensitivity-file",
}
FORBIDDEN = re.compile(r"<style|\sstyle=|<script(?![^>]*\ssrc=)|\son[a-z]+=|hx-on|javascript:|\bjs:")


@pytest.fixture
def pages(world: World, signed_in: Callable[[User], Client]) -> dict[str, str]:
    """The HTML of every page that an owner, and the assessor of the open work, can open."""
    owner, ana = signed_in(world.olga), signed_in(world.ana)
    html = {"sign-in": world_sign_in()}
    for name, address in addresses(world).items():
        if name in POSTED | NOT_PAGES:
            continue
        client = ana if name.startswith(("assess", "work")) else owner
        if OWN.get(name) == "mona":
            client = signed_in(world.mona)
        answer = client.get(address)
        assert (name, answer.status_code) == (name, 200)
        html[name] = answer.content.decode()
    return html


def world_sign_in() -> str:
    from django.test import Client

    return Client().get("/sign-in/").content.decode()


def test_nothing_inline_that_the_policy_would_refuse(pages: dict[str, str]) -> None:
    assert {name: FORBIDDEN.findall(html) for name, html in pages.items() if FORBIDDEN.search(html)} == {}


def test_every_page_has_one_heading_landmarks_and_a_way_past_them(pages: dict[str, str]) -> None:
    for name, html in pages.items():
        assert (name, len(re.findall(r"<h1[ >]", html))) == (name, 1)
        assert 'href="#main"' in html
        assert '<main id="main"' in html
        assert '<html lang="en">' in html


def test_every_id_is_given_once(pages: dict[str, str]) -> None:
    for name, html in pages.items():
        ids = re.findall(r'\sid="([^"]+)"', html)
        assert (name, sorted({one for one in ids if ids.count(one) > 1})) == (name, [])


def test_every_form_that_posts_carries_a_token(pages: dict[str, str]) -> None:
    for name, html in pages.items():
        forms = re.findall(r'<form[^>]*method="post".*?</form>', html, flags=re.DOTALL)
        assert (name, [form for form in forms if "csrfmiddlewaretoken" not in form]) == (name, [])


def test_the_token_for_htmx_stands_once_on_the_body(pages: dict[str, str]) -> None:
    for html in pages.values():
        assert html.count("hx-headers:inherited=") == 1


def test_titles_tell_pages_apart(world: World, pages: dict[str, str]) -> None:
    titles = {name: re.search(r"<title>(.*?)</title>", html, re.DOTALL) for name, html in pages.items()}
    assert all(title and title[1].endswith("· Coverdict") for title in titles.values())
    assert len({title[1] for title in titles.values() if title}) >= len(titles) - 2


def test_an_address_that_does_not_exist_is_404(world: World, signed_in: Callable[[User], Client]) -> None:
    assert signed_in(world.vic).get("/nowhere/").status_code == 404


def test_the_work_of_an_assessor_says_what_is_left(world: World, signed_in: Callable[[User], Client]) -> None:
    assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    page = " ".join(signed_in(world.ana).get("/p/harbour/work/").content.decode().split())
    assert "Complete 2 of 2 summaries before closing the set" in page


def test_the_icon_is_found_from_every_page(client: Client) -> None:
    assert finders.find(client.get("/favicon.ico")["Location"].removeprefix(settings.STATIC_URL))
