from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders

from tests.annotation.route_verbs import OWN, POSTED
from tests.annotation.web.places import addresses

if TYPE_CHECKING:
    from django.test import Client

    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

NOT_PAGES = {
    "download-export",
    "export-manifest",
    "run-estimate",
    "league-file",
    "pairs-file",
    "units-of-set",
}
FORBIDDEN = re.compile(r"<style|\sstyle=|<script(?![^>]*\ssrc=)|\son[a-z]+=|hx-on|javascript:|\bjs:")


@pytest.fixture
def pages(world: World, signed_in: SignIn) -> dict[str, str]:
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

    return Client().get("/accounts/login/").content.decode()


def faults_of(html: str) -> list[str]:
    ids = Counter(re.findall(r'\sid="([^"]+)"', html))
    forms = re.findall(r'<form[^>]*method="post".*?</form>', html, flags=re.DOTALL)
    headings = len(re.findall(r"<h1[ >]", html))
    landmarks = ('href="#main"', '<main id="main"', '<html lang="en">')
    return [
        *(f"refused by the policy: {hit}" for hit in FORBIDDEN.findall(html)),
        *(f"an id given {count} times: {each}" for each, count in ids.items() if count > 1),
        *(f"a form without a token: {form}" for form in forms if "csrfmiddlewaretoken" not in form),
        *(f"missing: {each}" for each in landmarks if each not in html),
        *([f"{headings} headings"] if headings != 1 else []),
        *(["not one token for htmx on the body"] if html.count("hx-headers:inherited=") != 1 else []),
    ]


def test_every_page_gives_what_all_pages_owe_and_a_title_that_tells_it_apart(pages: dict[str, str]) -> None:
    found = {name: faults_of(html) for name, html in pages.items()}
    assert {name: faults for name, faults in found.items() if faults} == {}
    titles = {name: re.search(r"<title>(.*?)</title>", html, re.DOTALL) for name, html in pages.items()}
    assert all(title and title[1].endswith("· Coverdict") for title in titles.values())
    assert len({title[1] for title in titles.values() if title}) >= len(titles) - 2


def test_an_address_that_does_not_exist_is_404(world: World, signed_in: SignIn) -> None:
    assert signed_in(world.vic).get("/nowhere/").status_code == 404


def test_the_icon_is_found_from_every_page(client: Client) -> None:
    assert finders.find(client.get("/favicon.ico")["Location"].removeprefix(settings.STATIC_URL))
