"""Long lists: searched, sorted by their heads and read page by page, without scripts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from annotation.assessing.services.assign import assign
from annotation.core import paging
from annotation.models import Check, Membership, Summary
from tests.annotation.conftest import HTMX

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World

    SignIn = Callable[[User], Client]

PEOPLE, UNITS, QUEUE = (f"/p/harbour/{page}" for page in ("settings/people/", "units/", "review/"))


def walked(client: Client, address: str, row: str) -> list[str]:
    """The rows of all pages, as the links lead through them."""
    found = []
    while address:
        page = client.get(address).text
        found += re.findall(row, page)
        link = re.search(r'href="([^"]*after=[^"]*)">More', page)
        address = link[1].replace("&amp;", "&") if link else ""
    return found


@pytest.mark.parametrize("page", [PEOPLE, UNITS, QUEUE])
def test_where_nothing_is_found_the_page_says_so_and_how_to_go_back(
    world: World, signed_in: SignIn, page: str
) -> None:
    text = signed_in(world.olga).get(page, {"q": "<zzz>"}).text
    assert "Nothing found for “<bdi>&lt;zzz&gt;</bdi>”" in text
    assert f'href="{page}?' in text
    assert 'value="&lt;zzz&gt;"' in text


def test_members_are_found_by_either_name(world: World, signed_in: SignIn) -> None:
    world.ana.first_name, world.ana.last_name = "Ana", "Bergström"
    world.ana.save()
    olga = signed_in(world.olga)
    found = [member.username for member in olga.get(f"{PEOPLE}?q=a BERG").context["page"].members]
    assert found == ["ana"]
    found = [member.username for member in olga.get(f"{PEOPLE}?q=CLE").context["page"].members]
    assert found == ["cleo"]


@pytest.mark.parametrize("sort", ["", "-name", "since", "-since"])
def test_members_are_read_in_any_order_without_a_gap(
    world: World, signed_in: SignIn, monkeypatch: pytest.MonkeyPatch, sort: str
) -> None:
    monkeypatch.setattr(paging, "ROWS_ON_A_PAGE", 3)
    # All but one came at the same time: the public id tells them apart.
    Membership.objects.exclude(user=world.ana).update(created_at=world.project.created_at)
    members = world.project.memberships
    by = {"": "user__username", "-name": "-user__username", "since": "created_at", "-since": "-created_at"}[
        sort
    ]
    tie = "-public_id" if sort.startswith("-") else "public_id"
    expected = list(members.order_by(by, tie).values_list("user__username", flat=True))
    found = walked(signed_in(world.olga), f"{PEOPLE}?sort={sort}", r'class="who">\s*<span dir="auto">(\w+)')
    assert found == expected


def test_a_head_says_how_its_column_is_sorted_and_turns_it(world: World, signed_in: SignIn) -> None:
    olga = signed_in(world.olga)
    page = olga.get(f"{PEOPLE}?sort=since&q=a").text
    assert re.findall(r'aria-sort="(\w+)"', page) == ["ascending"]
    assert f'href="{PEOPLE}?sort=-since&amp;q=a"' in page
    assert f'href="{PEOPLE}?sort=name&amp;q=a"' in page
    assert olga.get(f"{PEOPLE}?sort=roles").status_code == 422


def test_what_is_refused_is_said_on_the_page_that_it_was_sent_from(
    world: World, signed_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "ROWS_ON_A_PAGE", 1)
    olga = signed_in(world.olga)
    page = olga.get(f"{PEOPLE}?q=e&sort=-name").text
    (action,) = re.findall(r'action="([^"]*/roles/[^"]*)"', page)
    answer = olga.post(action.replace("&amp;", "&"), {"roles": []})
    assert answer.status_code == 422
    assert "Choose at least one role." in answer.text
    assert f'href="{PEOPLE}?sort=name&amp;q=e"' in answer.text


def test_units_are_found_by_the_set_and_by_the_text(world: World, signed_in: SignIn) -> None:
    Summary.objects.filter(pk=world.peers["bridge", "alder"].pk).update(text="A heron stood there.")
    mona = signed_in(world.mona)
    (found,) = mona.get(f"{UNITS}?q=HERON").context["page"].sets
    assert (found.name, len(found.texts)) == ("bridge", 1)
    (found,) = mona.get(f"{UNITS}?q=bridge").context["page"].sets
    assert len(found.texts) == 3


def test_a_set_that_one_judges_is_not_found_by_its_texts(world: World, signed_in: SignIn) -> None:
    Summary.objects.filter(pk=world.models["bridge"].pk).update(text="A heron stood there.")
    world.ana.memberships.update(roles=["assessor", "manager"])
    assign(document_set=world.sets["bridge"], assessor=world.ana, by=None)
    ana = signed_in(world.ana)
    assert ana.get(f"{UNITS}?q=heron").context["page"].sets == ()
    (found,) = ana.get(f"{UNITS}?q=bridge").context["page"].sets
    assert found.texts == ()


def test_the_claims_of_a_long_text_are_searched(
    world: World, signed_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = f"/p/harbour/claims/{world.models['port'].public_id}/"
    rex = signed_in(world.rex)
    assert 'type="search"' not in rex.get(claims).text
    monkeypatch.setattr("annotation.texts.web.claims.MANY_CLAIMS", 3)
    assert 'type="search"' in rex.get(claims).text
    page = rex.get(f"{claims}?q=WALL")
    assert [claim.text for group in page.context["groups"] for claim in group.claims] == ["its wall is weak"]
    assert "Nothing found for “<bdi>zzz</bdi>”" in rex.get(f"{claims}?q=zzz").text


def test_the_review_queue_is_searched_and_goes_on_within_what_was_found(
    world: World, signed_in: SignIn
) -> None:
    rex = signed_in(world.rex)
    rows = rex.get(f"{QUEUE}?q=WALL").context["page"].rows
    assert {row.claim for row in rows} == {"its wall is weak"}
    assert len(rows) == 2
    first, second = (Check.objects.get(public_id=row.check_id) for row in rows)
    answer = rex.post(f"{QUEUE}next/?q=WALL", {"here": first.public_id}, headers=HTMX)
    assert f'data-check="{second.public_id}"' in answer.text
    assert len(rex.get(f"{QUEUE}?q=port").context["page"].rows) == 6
