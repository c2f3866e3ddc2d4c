from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from annotation.assessing.services.assign import assign
from annotation.models import Summary

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn


PEOPLE, UNITS, QUEUE = (f"/p/harbour/{page}" for page in ("settings/people/", "units/", "review/"))


@pytest.mark.parametrize("page", [PEOPLE, UNITS, QUEUE])
def test_where_nothing_is_found_the_page_says_so_and_how_to_go_back(
    world: World, signed_in: SignIn, page: str
) -> None:
    text = signed_in(world.olga).get(page, {"q": "<zzz>"}).text
    assert "Nothing found for “<bdi>&lt;zzz&gt;</bdi>”" in text
    assert f'href="{page}' in text
    assert 'value="&lt;zzz&gt;"' in text


def test_members_are_found_by_either_name(world: World, signed_in: SignIn) -> None:
    world.ana.first_name, world.ana.last_name = "Ana", "Bergström"
    world.ana.save()
    olga = signed_in(world.olga)
    for words, username in (("a BERG", "ana"), ("CLE", "cleo")):
        assert re.findall(r"Change<span class=\"sr\"> (\w+)", olga.get(PEOPLE, {"q": words}).text) == [
            username
        ]


def test_what_is_refused_is_said_on_the_page_that_it_was_sent_from(world: World, signed_in: SignIn) -> None:
    olga = signed_in(world.olga)
    page = olga.get(f"{PEOPLE}?q=cleo&sort=-username").text
    (action,) = re.findall(r'action="([^"]*/roles/[^"]*)"', page)
    answer = olga.post(action.replace("&amp;", "&"), {"roles": []})
    assert answer.status_code == 422
    assert "Choose at least one role." in answer.text
    assert f'href="{PEOPLE}?q=cleo&amp;sort=username"' in answer.text


def test_a_set_that_one_judges_is_not_found_by_its_texts(world: World, signed_in: SignIn) -> None:
    Summary.objects.filter(pk=world.references["bridge"].pk).update(text="A heron stood there.")
    world.ana.memberships.update(roles=["assessor", "manager"])
    assert "heron" in signed_in(world.mona).get(f"{UNITS}?q=heron").text.split("</form>", 1)[1]
    assign(document_set=world.sets["bridge"], assessor=world.ana, by=None)
    for words in ("heron", "bridge"):
        assert "A heron" not in signed_in(world.ana).get(f"{UNITS}?q={words}").text


def test_the_claims_of_a_long_text_are_searched(
    world: World, signed_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = f"/p/harbour/claims/{world.references['port'].public_id}/"
    rex = signed_in(world.rex)
    assert 'type="search"' not in rex.get(claims).text
    monkeypatch.setattr("annotation.texts.web.claims.MANY_CLAIMS", 3)
    assert 'type="search"' in rex.get(claims).text
    page = rex.get(f"{claims}?q=WALL")
    assert [claim.text for group in page.context["groups"] for claim in group.claims] == ["its wall is weak"]
    assert "Nothing found for “<bdi>zzz</bdi>”" in rex.get(f"{claims}?q=zzz").text
