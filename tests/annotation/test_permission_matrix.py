"""Requests with every role, by an outsider, by a blind person and without sign-in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from annotation.assessing.services.assign import assign
from annotation.config.web_urls import project_urls
from annotation.config.web_urls import urlpatterns as web_urls
from annotation.core.permissions import BLIND_VERBS, ROLE_VERBS, Verb
from annotation.models import Dispute, Membership, Role
from tests.annotation.admin.rows import address, fill
from tests.annotation.admin.test_disputes import disputed
from tests.annotation.api import routes as api
from tests.annotation.cast import MEMBERS, World
from tests.annotation.hidden import kept_from, plant, telling, told
from tests.annotation.route_verbs import (
    ALSO_READ,
    NAMED_IN_FORM,
    OF_TEXT_IN_HAND,
    OUTSIDE,
    OWN,
    POSTED,
    SCRIPTED,
    WEB,
)
from tests.annotation.web.places import Ids

LET_IN = (200, 201, 202, 204, 302, 409, 415, 422)
"""Statuses of requests that were carried out, or refused for another reason than permission."""
KEPT_OUT = (403, 404)
WITHOUT_ROWS = {"step", "version", "table"}
"""Converters of addresses that need no row."""
BLIND = "blind"
"""Ana with every role and with open work."""
INSIDE = (*MEMBERS, BLIND)
OPEN_TO_STRANGERS = ("tokens/",)
"""Routes of the API for people who are not signed in."""
SITE = admin.site


@dataclass(frozen=True)
class Ask:
    name: str
    method: str
    path: str
    verbs: tuple[Verb, ...]
    owner: str = ""
    body: dict[str, object] | None = field(default=None, hash=False)

    def sent_by(self, client: Client) -> Any:
        more: dict[str, Any] = {}
        if self.body is not None:
            more = {"data": self.body, "content_type": "application/json"}
        with transaction.atomic():
            answer = getattr(client, self.method)(self.path, **more)
            transaction.set_rollback(True)
        return answer


def person_of(world: World, name: str) -> Any:
    return world.ana if name == BLIND else world.users[name]


def client_of(world: World, name: str) -> Client:
    if name == BLIND:
        Membership.objects.filter(user=world.ana).update(roles=list(Role.values))
    client = Client()
    client.force_login(person_of(world, name))
    return client


def verbs_of(name: str) -> frozenset[Verb]:
    if name == BLIND:
        return BLIND_VERBS
    verbs = frozenset[Verb]().union(*(ROLE_VERBS[role] for role in MEMBERS[name]))
    return verbs & BLIND_VERBS if name == "ana" else verbs


def expected(ask: Ask, name: str) -> str:
    if not set(ask.verbs) & verbs_of(name):
        return "not allowed"
    if ask.name in NAMED_IN_FORM:
        return "not found"
    if name == BLIND and ask.name in OF_TEXT_IN_HAND:
        return "not allowed"
    is_own = ask.owner in ("", "ana" if name == BLIND else name)
    return "let in" if is_own else "kept out"


def got(status: int) -> str:
    return {403: "not allowed", 404: "not found"}.get(status, "let in" if status in LET_IN else str(status))


def surprises(world: World, asks: list[Ask]) -> dict[str, str]:
    plant(world)
    wrong = {}
    for name in INSIDE:
        client = client_of(world, name)
        for ask in asks:
            answer = ask.sent_by(client)
            wanted, status = expected(ask, name), answer.status_code
            is_right = status in KEPT_OUT if wanted == "kept out" else got(status) == wanted
            if not is_right:
                wrong[f"{name}: {ask.method} {ask.name}"] = f"{wanted} expected, {status} came"
            is_at_work = name in ("ana", BLIND)
            words = telling("ana") if is_at_work else kept_from(verbs_of(name), ask.name, has_answered=False)
            if heard := told(answer, words, f"{ask.path} {ask.body}"):
                wrong[f"{name}: {ask.method} {ask.name} tells"] = str(heard)
    return wrong


def web_asks(world: World, slug: str = "harbour") -> list[Ask]:
    ids = Ids.of(world)
    return [
        Ask(
            name=str(route.name),
            method=method,
            path=ids.address(route, slug),
            verbs=(WEB[str(route.name)],),
            owner=OWN.get(str(route.name), ""),
            body={} if route.name in SCRIPTED else None,
        )
        for route in project_urls
        for method in methods_of(str(route.name))
    ]


def methods_of(name: str) -> tuple[str, ...]:
    if name in ALSO_READ:
        return ("get", "post")
    return ("post",) if name in POSTED else ("get",)


def test_every_route_of_the_web_has_an_entry_and_every_entry_a_route() -> None:
    assert {str(route.name) for route in project_urls} == set(WEB)
    assert set(POSTED) | set(OWN) | ALSO_READ <= set(WEB)


def test_a_page_opens_exactly_to_those_whom_the_table_names(world: World) -> None:
    assert surprises(world, web_asks(world)) == {}


def test_a_page_answers_only_the_methods_that_it_is_for(world: World) -> None:
    client = client_of(world, "olga")
    Membership.objects.filter(user=world.olga).update(roles=list(Role.values))
    for ask in web_asks(world):
        other = "post" if ask.method == "get" else "get"
        if other not in methods_of(ask.name):
            assert (ask.name, getattr(client, other)(ask.path).status_code) == (ask.name, 405)


def test_no_page_of_a_project_is_there_for_an_outsider(world: World) -> None:
    client = client_of(world, "dan")
    assert {ask.name: ask.sent_by(client).status_code for ask in web_asks(world)} == dict.fromkeys(WEB, 404)


def test_no_page_of_another_project_is_there_for_a_member(world: World) -> None:
    client = client_of(world, "olga")
    found = {ask.name: ask.sent_by(client).status_code for ask in web_asks(world, slug="quarry")}
    assert found == dict.fromkeys(WEB, 404)


def test_ids_of_another_project_lead_nowhere_in_ones_own(world: World) -> None:
    # Dan owns "quarry" and may do everything there, but the ids are those of "harbour".
    Membership.objects.filter(user=world.dan).update(roles=list(Role.values))
    nested = {str(route.name) for route in project_urls if set(route.pattern.converters) - WITHOUT_ROWS}
    client = client_of(world, "dan")
    asks = [ask for ask in web_asks(world, slug="quarry") if ask.name in nested]
    assert {ask.name: ask.sent_by(client).status_code for ask in asks} == dict.fromkeys(nested, 404)


def test_a_stranger_is_sent_to_sign_in_from_every_page(world: World) -> None:
    for ask in web_asks(world):
        answer = ask.sent_by(Client())
        if ask.name in SCRIPTED:
            assert (ask.name, answer.status_code) == (ask.name, 401)
        else:
            assert (ask.name, answer.status_code, answer["Location"].split("?")[0]) == (
                ask.name,
                302,
                reverse("account_login"),
            )


def test_every_address_belongs_to_a_door_whose_routes_are_tried() -> None:
    doors = ("admin/", "api/v1/")
    for pattern, path in leaves(get_resolver().url_patterns):
        is_in_project = path.startswith("p/<slug:slug>/")
        if not is_in_project and not path.startswith(doors):
            assert (pattern.name or path) in OUTSIDE, path


def test_an_address_outside_of_projects_asks_for_a_sign_in_where_it_should(world: World) -> None:
    for pattern in web_urls:
        if isinstance(pattern, URLPattern):
            path = reverse(str(pattern.name), args=["nothing"] * len(pattern.pattern.converters))
            status = Client().get(path).status_code
            is_closed = status == 302 if status != 405 else Client().post(path).status_code == 302
            to_sign_in = is_closed and pattern.name != "account_logout"
            assert (pattern.name, to_sign_in) == (pattern.name, OUTSIDE[str(pattern.name)])


def leaves(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[tuple[URLPattern, str]]:
    for pattern in patterns:
        path = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from leaves(pattern.url_patterns, path)
        else:
            yield pattern, path


def api_asks(world: World, slug: str = "harbour", outside: tuple[str, ...] = ()) -> list[Ask]:
    ids = api.ids_of(world)
    routes = [*api.IN_PROJECT, *(route for route in api.OUTSIDE if route.path in outside)]
    return [
        Ask(
            name=route.path,
            method=route.method,
            path=route.address(ids, slug=slug),
            verbs=route.verbs,
            owner=route.owner,
            body=None if route.method == "get" else api.body_of(route, ids),
        )
        for route in routes
    ]


def test_every_route_of_the_api_has_an_entry_and_every_entry_a_route() -> None:
    assert {api.as_pattern(route) for route in (*api.IN_PROJECT, *api.OUTSIDE)} == api.walked()


def test_a_route_of_the_api_opens_exactly_to_those_whom_the_table_names(world: World) -> None:
    assert surprises(world, api_asks(world)) == {}


def test_a_refusal_of_the_api_says_whether_roles_or_open_work_stand_in_the_way(world: World) -> None:
    asks = api_asks(world)
    for name, code in (("vic", "not_allowed"), (BLIND, "blind")):
        client = client_of(world, name)
        closed = [ask for ask in asks if not set(ask.verbs) & verbs_of(name)]
        assert closed
        for ask in closed:
            assert (ask.name, ask.sent_by(client).json()["error"]["code"]) == (ask.name, code)


def test_no_route_of_the_api_is_there_for_outsiders_and_of_other_projects(world: World) -> None:
    asks, elsewhere = api_asks(world), "/api/v1/projects/quarry/"
    for name, theirs in (("dan", "/api/v1/projects/harbour/"), ("olga", elsewhere)):
        client = client_of(world, name)
        for ask in asks:
            moved = Ask(
                ask.name, ask.method, ask.path.replace("/api/v1/projects/harbour/", theirs), (), body=ask.body
            )
            answer = moved.sent_by(client)
            assert (ask.name, answer.status_code, answer.json()["error"]["code"]) == (
                ask.name,
                404,
                "not_found",
            )


def test_ids_of_another_project_are_not_found_in_the_api_of_ones_own(world: World) -> None:
    Membership.objects.filter(user=world.dan).update(roles=list(Role.values))
    client = client_of(world, "dan")
    asks = [ask for ask in api_asks(world, slug="quarry") if ask.name.count("{") > 1]
    assert {ask.name: ask.sent_by(client).status_code for ask in asks} == {ask.name: 404 for ask in asks}


def test_the_api_asks_strangers_to_sign_in(world: World) -> None:
    outside = ("projects/", "tokens/current/")
    for ask in api_asks(world, outside=outside):
        answer = ask.sent_by(Client())
        told = answer.headers.get("WWW-Authenticate")
        assert (ask.name, answer.status_code, told) == (ask.name, 401, "Token")


def test_the_api_tells_nothing_by_options(world: World) -> None:
    ids, member = api.ids_of(world), client_of(world, "olga")
    for route in (*api.IN_PROJECT, *api.OUTSIDE):
        path = route.address(ids)
        is_open = route.path in OPEN_TO_STRANGERS
        assert (path, member.options(path).status_code) == (path, 405)
        assert (path, Client().options(path).status_code) == (path, 405 if is_open else 401)


def test_the_schema_answers_options_without_a_fault(world: World) -> None:
    for path in ("/api/schema/", "/api/docs/", "/api/v1/nowhere/"):
        assert client_of(world, "olga").options(path).status_code < 500, path


def staff_of(world: World, name: str) -> Client:
    person = person_of(world, name)
    person.is_staff = True
    person.save(update_fields=["is_staff"])
    return client_of(world, name)


def admin_pages(world: World) -> dict[str, bool]:
    rows = {model: model._default_manager.order_by("pk").first() for model in SITE._registry}
    pages = {"/admin/": True}
    for model, row in rows.items():
        names = ("changelist", "add", *(("change", "history", "delete") if row else ()))
        for name in names:
            path = reverse(
                f"admin:{model._meta.app_label}_{model._meta.model_name}_{name}",
                args=[row.pk] if row and name not in ("changelist", "add") else [],
            )
            pages[path] = model is Dispute and name in ("changelist", "change", "history")
    return pages


def test_the_admin_opens_to_staff_who_adjudicate_and_for_them_disputes_alone(world: World) -> None:
    fill(world)
    disputed(world)
    pages = admin_pages(world)
    for name in INSIDE:
        with transaction.atomic():
            client, may = staff_of(world, name), Verb.ADJUDICATE in verbs_of(name)
            for path, is_for_adjudicators in pages.items():
                answer = client.get(path)
                is_in = answer.status_code == 200
                assert (name, path, is_in) == (name, path, may and is_for_adjudicators)
                assert (name, path, is_in or is_kept_out(answer)) == (name, path, True)
                if not is_in:
                    sent = Ask(path, "post", path, ()).sent_by(client)
                    assert (name, path, is_kept_out(sent)) == (name, path, True)
            transaction.set_rollback(True)


def is_kept_out(answer: Any) -> bool:
    return answer.status_code in KEPT_OUT or "/admin/login/" in answer.headers.get("Location", "")


def test_a_dispute_is_not_there_for_adjudicators_of_other_projects(world: World) -> None:
    dispute = disputed(world)
    Membership.objects.filter(user=world.dan).update(roles=list(Role.values))
    client = staff_of(world, "dan")
    assert client.get(address(Dispute)).context["cl"].result_count == 0
    for page in ("change", "history", "delete"):
        for method in ("get", "post"):
            path = address(Dispute, f"{dispute.pk}/{page}/")
            assert (path, Ask(path, method, path, ()).sent_by(client).status_code in KEPT_OUT) == (path, True)


def test_a_superuser_with_open_work_is_refused(world: World) -> None:
    fill(world)
    root = User.objects.create_superuser("at-the-root")
    client = Client()
    client.force_login(root)
    pages = admin_pages(world)
    assert client.get("/admin/").status_code == 200
    assign(document_set=world.sets["port"], assessor=root, by=None)
    for path in pages:
        assert (path, is_kept_out(client.get(path))) == (path, True)
    assert client.get("/admin/", follow=True).status_code == 403


def test_the_admin_lets_nobody_in_who_is_not_staff(world: World) -> None:
    fill(world)
    for client in (Client(), client_of(world, "olga")):
        for pattern, path in leaves(SITE.urls[0]):
            if pattern.name in ("login", "logout"):
                continue
            real = "/admin/" + path.replace("^", "").replace("$", "").replace(
                "<path:object_id>", "1"
            ).replace("<path:content_type_id>", "1")
            if "(?P<app_label>" in real or "(?P<url>" in real:
                continue
            answer = client.get(real)
            assert (real, answer.status_code, "/admin/login/" in answer.headers.get("Location", "")) == (
                real,
                302,
                True,
            )
