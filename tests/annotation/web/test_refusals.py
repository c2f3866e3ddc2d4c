"""What people get who are signed out, outside, not allowed or too late, as a page and as a notice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.test import Client

from annotation.permissions import BLIND_VERBS, ROLE_VERBS, Verb
from annotation.services.assign import assign
from annotation.web.rooms import DOORS
from annotation.web.urls import project_urls
from tests.annotation.cast import MEMBERS
from tests.annotation.web.conftest import HTMX
from tests.annotation.web.places import addresses

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User

    from tests.annotation.cast import World

ROUTES = [str(route.name) for route in project_urls]

SCRIPTED = {"acts", "pen", "alive"}
"""Addresses that a script of ours posts JSON to."""

POSTED = {
    *SCRIPTED,
    "close-sitting",
    "judge-unit",
    "answer-quality",
    "answer-unmarked",
    "override",
    "withdraw-verdict",
    "start-run",
    "cancel-run",
    "resume-run",
    "assign",
    "recall-sitting",
    "reassign-sitting",
    "requeue-sitting",
    "name-author",
    "pull-sitting",
    "take-up-sitting",
    "give-back-sitting",
    "join-units",
    "split-unit",
    "undo-units",
    "weigh-unit",
    "reopen-units",
    "request-export",
    "ask-questions",
    "retire-question",
    "preview-prompt",
    "reword-prompt",
    "restore-prompt",
}

VERBS = {
    "project": Verb.VIEW_PROJECT,
    **dict.fromkeys(("work", "assess", "assess-source", "judge-unit", "close-sitting"), Verb.ASSESS),
    **dict.fromkeys(("answer-quality", "answer-unmarked", *SCRIPTED), Verb.ASSESS),
    **dict.fromkeys(("review", "check", "override", "withdraw-verdict"), Verb.REVIEW),
    **dict.fromkeys(("scores", "system", "summary", "questions"), Verb.VIEW_SCORES),
    **dict.fromkeys(("ask-questions", "retire-question"), Verb.CHANGE_PROJECT),
    **dict.fromkeys(("runs", "run"), Verb.VIEW_RUNS),
    **dict.fromkeys(("start-run", "cancel-run", "resume-run"), Verb.RUN),
    **dict.fromkeys(("assignments", "assign"), Verb.ASSIGN),
    **dict.fromkeys(("recall-sitting", "reassign-sitting", "requeue-sitting"), Verb.ASSIGN),
    "name-author": Verb.NAME_AUTHORS,
    "progress": Verb.ASSIGN,
    **dict.fromkeys(("pull-sitting", "take-up-sitting", "give-back-sitting"), Verb.ASSESS),
    **dict.fromkeys(("exports", "request-export", "download-export", "export-manifest"), Verb.EXPORT),
    **dict.fromkeys(("unit-texts", "units", "join-units", "split-unit"), Verb.IMPORT),
    **dict.fromkeys(("undo-units", "weigh-unit"), Verb.IMPORT),
    "reopen-units": Verb.REOPEN_UNITS,
    "project-settings": Verb.CHANGE_PROJECT,
    **dict.fromkeys(("prompts", "prompt"), Verb.VIEW_RUNS),
    **dict.fromkeys(("preview-prompt", "reword-prompt", "restore-prompt"), Verb.CHANGE_PROJECT),
}
"""What each route asks for; a new route without an entry fails below."""


def ask(client: Client, route: str, address: str, **headers: str) -> int:
    answer = (
        client.post(address, headers=headers) if route in POSTED else client.get(address, headers=headers)
    )
    return answer.status_code


def test_every_route_is_in_the_table_of_verbs() -> None:
    assert set(VERBS) == set(ROUTES)


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "htmx"])
def test_an_outsider_finds_nothing_at_any_address(
    world: World, signed_in: Callable[[User], Client], headers: dict[str, str]
) -> None:
    client = signed_in(world.dan)
    got = {name: ask(client, name, address, **headers) for name, address in addresses(world).items()}
    assert got == dict.fromkeys(ROUTES, 404)


def test_a_row_of_another_project_is_not_found_under_ones_own(
    world: World, signed_in: Callable[[User], Client]
) -> None:
    nested = {
        name: address
        for name, address in addresses(world, slug="quarry").items()
        if address.count("/") > 4
        # The steps of a prompt are the same in every project.
        and name not in ("start-run", "assign", "request-export", "pull-sitting")
        and not name.endswith(("prompt", "prompts"))
    }
    client = signed_in(world.dan)
    got = {name: ask(client, name, address) for name, address in nested.items()}
    assert got == dict.fromkeys(nested, 404)


def test_a_stranger_is_sent_to_sign_in_and_back(world: World) -> None:
    answer = Client().get("/p/harbour/scores/")
    assert answer["Location"] == "/sign-in/?next=/p/harbour/scores/"


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
    assert client.post("/p/harbour/runs/start/")["Location"] == "/sign-in/?next=/p/harbour/runs/"


@pytest.mark.parametrize("name", MEMBERS)
def test_a_member_is_let_in_exactly_where_the_table_of_roles_says(
    world: World, signed_in: Callable[[User], Client], name: str
) -> None:
    person = getattr(world, name)
    places = addresses(world)
    # Ana was given work on the way, which makes her blind; her role opens no blind verb's opposite.
    (role,) = MEMBERS[name]
    allowed = ROLE_VERBS[role] & (BLIND_VERBS if name == "ana" else frozenset(Verb))
    client = signed_in(person)
    for route, address in places.items():
        is_closed = ask(client, route, address) == 403
        assert (route, is_closed) == (route, VERBS[route] not in allowed)


def test_whoever_holds_open_work_is_sent_to_it(world: World, signed_in: Callable[[User], Client]) -> None:
    assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    world.ana.memberships.update(roles=["assessor", "viewer"])
    answer = signed_in(world.ana).get("/p/harbour/scores/")
    assert answer.status_code == 403
    assert b'href="/p/harbour/work/"' in answer.content


def test_a_refusal_is_a_page_without_htmx_and_a_notice_with_it(
    world: World, signed_in: Callable[[User], Client]
) -> None:
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
    world: World, signed_in: Callable[[User], Client], method: str, address: str
) -> None:
    assert getattr(signed_in(world.olga), method)(address).status_code == 405


def test_the_answer_says_that_it_depends_on_htmx_and_belongs_to_one_person(
    world: World, signed_in: Callable[[User], Client]
) -> None:
    answer = signed_in(world.olga).get("/p/harbour/scores/")
    assert "HX-Request" in answer["Vary"]
    assert "private" in answer["Cache-Control"]


def test_a_restored_history_gets_the_whole_page(world: World, signed_in: Callable[[User], Client]) -> None:
    client = signed_in(world.olga)
    restored = client.get("/p/harbour/scores/", headers={**HTMX, "HX-History-Restore-Request": "true"})
    assert b"<html" in restored.content
    assert b"<html" not in client.get("/p/harbour/scores/", headers=HTMX).content


def test_the_rooms_in_the_header_are_those_that_open(
    world: World, signed_in: Callable[[User], Client]
) -> None:
    for name, (role,) in MEMBERS.items():
        page = signed_in(getattr(world, name)).get("/p/harbour/").content.decode()
        for words, _, verb in DOORS:
            assert (name, words, f">{words}</a>" in page) == (name, words, verb in ROLE_VERBS[role])
