from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.test import Client

from annotation.assessing.services.assign import assign
from annotation.core.permissions import ROLE_VERBS
from annotation.web.rooms import GROUPS
from tests.annotation.cast import MEMBERS
from tests.annotation.conftest import HTMX
from tests.annotation.route_verbs import POSTED, SCRIPTED
from tests.annotation.web.places import addresses

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn


def test_a_stranger_learns_nothing_of_a_project_from_where_they_are_sent(world: World) -> None:
    there, nowhere = (Client().get(f"/p/{slug}/") for slug in ("harbour", "nowhere"))
    assert there.status_code == nowhere.status_code == 302


def test_an_expired_htmx_request_gets_401_for_the_notices_and_no_redirect(world: World) -> None:
    for name, address in addresses(world).items():
        if name in SCRIPTED:
            continue
        client = Client()
        answer = client.post(address, headers=HTMX) if name in POSTED else client.get(address, headers=HTMX)
        assert (name, answer.status_code, answer["HX-Retarget"]) == (name, 401, "#notices")
        assert b"<html" not in answer.content


def test_a_script_of_somebody_signed_out_is_told_so(world: World) -> None:
    places = addresses(world)
    for name in SCRIPTED:
        answer = Client().post(places[name], {}, content_type="application/json")
        assert (name, answer.status_code, answer.json()["code"]) == (name, 401, "signed_out")


def test_a_plain_form_of_somebody_signed_out_leads_back_to_its_page(world: World) -> None:
    client = Client(headers={"Referer": "http://testserver/p/harbour/runs/"})
    assert client.post("/p/harbour/runs/start/")["Location"] == "/accounts/login/?next=/p/harbour/runs/"


def test_whoever_holds_open_work_is_sent_to_it(world: World, signed_in: SignIn) -> None:
    assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    world.ana.memberships.update(roles=["assessor", "viewer"])
    answer = signed_in(world.ana).get("/p/harbour/scores/")
    assert answer.status_code == 403
    assert b'href="/p/harbour/work/"' in answer.content


def test_a_refusal_is_a_page_without_htmx_and_a_notice_with_it(world: World, signed_in: SignIn) -> None:
    client = signed_in(world.rex)
    page, notice = client.get("/p/harbour/scores/"), client.get("/p/harbour/scores/", headers=HTMX)
    assert page.status_code == notice.status_code == 403
    assert b"<html" in page.content
    assert "HX-Retarget" not in page
    assert b"<html" not in notice.content
    assert notice["HX-Retarget"] == "#notices"


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("post", "/"),
        ("get", "/p/harbour/runs/start/"),
        ("put", "/p/harbour/"),
        ("delete", "/p/harbour/scores/"),
    ],
)
def test_a_method_that_is_not_declared_is_refused(
    world: World, signed_in: SignIn, method: str, address: str
) -> None:
    refused = getattr(signed_in(world.olga), method)(address)
    assert (refused.status_code, b"receives a form and shows nothing" in refused.content) == (405, True)


def test_the_answer_says_that_it_depends_on_htmx_and_belongs_to_one_person(
    world: World, signed_in: SignIn
) -> None:
    answer = signed_in(world.olga).get("/p/harbour/scores/")
    assert "HX-Request" in answer["Vary"]
    assert "private" in answer["Cache-Control"]


def test_a_restored_history_gets_the_whole_page(world: World, signed_in: SignIn) -> None:
    client = signed_in(world.olga)
    restored = client.get("/p/harbour/scores/", headers={**HTMX, "HX-History-Restore-Request": "true"})
    assert b"<html" in restored.content
    assert b"<html" not in client.get("/p/harbour/scores/", headers=HTMX).content


def test_the_rooms_in_the_header_are_those_that_open(world: World, signed_in: SignIn) -> None:
    for name, roles in MEMBERS.items():
        verbs = frozenset().union(*(ROLE_VERBS[role] for role in roles))
        page = signed_in(getattr(world, name)).get("/p/harbour/").content.decode()
        for _, doors in GROUPS:
            for words, _, verb in doors:
                assert (name, words, f">{words}</a>" in page) == (name, words, verb in verbs)
