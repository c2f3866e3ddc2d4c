from __future__ import annotations

import ast
import re
import socket
from typing import TYPE_CHECKING

import pytest
from celery import current_app
from django.apps import apps
from django.core import mail
from django.db import models
from django.db.models import F, Value
from django.db.models.functions import Concat
from django.test import Client

from annotation.config.web_urls import project_urls
from annotation.models import Membership, Summary
from annotation.scoring.rescore import rescore
from tests.annotation.imports.files import DOCUMENT
from tests.annotation.imports.test_api import upload
from tests.annotation.route_verbs import POSTED
from tests.annotation.web.places import addresses
from tests.sources import modules

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor, SignIn

SCRIPT = "</script><script>alert(4711)</script><img src=x onerror=alert(4712)>'\"`"
# Ten digits, which a time or token on a page hardly contains by chance.
TEMPLATE = "{{ 4713004713|add:1 }}{% now 'Y' %}{{ settings.SECRET_KEY }}"
PAYLOAD = f" {SCRIPT}{TEMPLATE}"


def is_harmless(page: str) -> bool:
    return not re.search(r"<script>alert\(4711|<img src=x|4713004714", page)


@pytest.fixture
def olga(world: World, signed_in: SignIn) -> Client:
    return signed_in(world.olga)


def texts_of(row: type[models.Model]) -> list[models.Field[object, object]]:
    return [
        column
        for column in row._meta.concrete_fields
        if isinstance(column, models.TextField)
        or (isinstance(column, models.CharField) and column.max_length >= 200)
        if not (column.choices or column.unique or column.name in {"url", "base_url", "secret", "signature"})
    ]


def test_stored_markup_and_templates_are_shown_as_words_on_every_page(
    world: World, signed_in: SignIn
) -> None:
    pages = addresses(world)
    written = 0
    for row in apps.get_app_config("annotation").get_models():
        for column in texts_of(row):
            limit = getattr(column, "max_length", None)
            if limit and limit < len(PAYLOAD) + 60:
                continue
            written += row._default_manager.update(
                **{column.name: Concat(F(column.name), Value(PAYLOAD), output_field=models.TextField())}
            )
    assert written > 50
    world.olga.first_name = SCRIPT[:150]
    world.olga.save()
    rescore(project=world.project)
    olga = signed_in(world.olga)
    shown = 0
    for name, address in pages.items():
        if name in POSTED:
            continue
        answer = olga.get(address)
        assert answer.status_code < 500, name
        if not answer.streaming and answer["Content-Type"].startswith(("text/html", "image/svg")):
            page = answer.content.decode()
            assert is_harmless(page), name
            shown += "alert(4711)" in page
    assert shown > 20


HTML_ROUTES = [str(route.name) for route in project_urls if str(route.name) not in POSTED]
INPUTS = [
    "q",
    "after",
    "before",
    "sort",
    "order",
    "filter",
    "system",
    "set",
    "label",
    "person",
    "kind",
    "page",
    "target",
    "metric",
    "next",
]


def test_what_an_address_says_is_never_markup_nor_sql(world: World, olga: Client) -> None:
    for name, address in addresses(world).items():
        if name not in HTML_ROUTES:
            continue
        for given in (
            SCRIPT,
            TEMPLATE,
            "' OR 1=1; DROP TABLE annotation_project; --",
            "user__password__startswith",
        ):
            answer = olga.get(address, dict.fromkeys(INPUTS, given))
            assert answer.status_code < 500, (name, given)
            if not answer.streaming:
                assert is_harmless(answer.content.decode(errors="replace")), (name, given)
    assert world.project.__class__.objects.filter(pk=world.project.pk).exists()


def test_no_page_lets_foreign_scripts_or_frames_in(world: World, olga: Client) -> None:
    answer = olga.get("/p/harbour/")
    policy = answer["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "'unsafe-eval'" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_an_address_in_an_imported_file_is_text_and_is_never_called(world: World, client_of: ApiDoor) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.5)
        there = f"http://127.0.0.1:{listening.getsockname()[1]}/latest/meta-data"
        said = f"See {there}"
        rows = (
            f"document_id,document,reference,system,summary\n{there},{there} {DOCUMENT},{said},alder,{said}\n"
        )
        answer = upload(client_of("mona"), {"a.csv": rows.encode()}, source=there, url=there)
        assert answer.status_code in (200, 400, 422)
        plain = upload(client_of("mona"), {"a.csv": rows.encode()})
        assert plain.status_code == 200, plain.content
        assert Summary.objects.filter(text=said).exists()
        with pytest.raises(TimeoutError):
            listening.accept()


@pytest.mark.parametrize(
    "given", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"]
)
def test_a_sign_in_leads_to_no_other_site_and_gives_a_new_session(world: World, given: str) -> None:
    client = Client()
    client.get("/accounts/login/")
    session = client.session
    session["left"] = "by somebody else"
    session.save()
    before = session.session_key
    answer = client.post(
        f"/accounts/login/?next={given}", {"login": "rex", "password": "rex-secret", "next": given}
    )
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert client.session.session_key not in (None, before)
    assert Client(headers={"Cookie": f"sessionid={before}"}).get("/account/").status_code == 302


@pytest.mark.usefixtures("mailing")
def test_a_reset_mail_is_not_sent_under_a_host_that_somebody_claims(world: World, settings: object) -> None:
    settings.ALLOWED_HOSTS = ["testserver"]  # type: ignore[attr-defined]
    world.rex.email = "rex@example.org"
    world.rex.save()
    for headers in ({"host": "evil.example"}, {"X-Forwarded-Host": "evil.example"}):
        Client().post("/accounts/password/reset/", {"email": "rex@example.org"}, headers=headers)
    assert [sent for sent in mail.outbox if "evil.example" in str(sent.message())] == []
    assert len(mail.outbox) == 1  # only the request with our own host sent a mail


def test_members_that_a_request_adds_of_its_own_are_refused(world: World, client_of: ApiDoor) -> None:
    check = world.check("alder", 1)
    answer = client_of("rex").post(
        f"/api/v1/projects/harbour/checks/{check.public_id}/verdicts/",
        {"label": "yes", "person": "olga", "source": "adjudicator", "is_staff": True},
        format="json",
    )
    assert answer.status_code in (400, 422)
    assert not check.verdicts.filter(person=world.olga).exists()
    told = client_of("mona").patch(
        "/api/v1/projects/harbour/", {"owner": "mona", "is_superuser": True}, format="json"
    )
    assert told.status_code in (400, 403, 405, 422)
    assert "owner" not in Membership.objects.get(project=world.project, user=world.mona).roles


@pytest.mark.parametrize(
    "address",
    [
        "/static../manage.py",
        "/static/../manage.py",
        "/static/%2e%2e/manage.py",
        "/help/..%2f..%2fmanage",
        "/help/../README",
    ],
)
def test_no_address_leads_to_a_file_beside_ours(db: None, address: str) -> None:
    assert Client().get(address).status_code in (400, 404)


@pytest.mark.parametrize("address", ["/sign-up/", "/signup/", "/register/", "/user/signup", "/api/v1/users/"])
def test_nobody_makes_an_account_without_an_invitation(db: None, address: str) -> None:
    assert Client().get(address).status_code in (401, 404)
    assert Client().post(address, {"username": "eve", "password": "eve-secret-4711"}).status_code in (
        401,
        403,
        404,
    )


# This file unpickles Django's cache in the database, which only the application writes.
OWN_PICKLES = {"annotation/config/table_cache.py"}
EXECUTING = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "jsonpickle", "yaml", "jinja2"}


def test_nothing_of_ours_unpickles_or_executes_what_it_reads() -> None:
    found = set()
    named = rf"\b({'|'.join(EXECUTING | {'eval', 'exec'})})\b"
    for place, tree in modules("annotation", "evaluation", holding=named):
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name.partition(".")[0] for alias in node.names}
                names |= (
                    {(node.module or "").partition(".")[0]} if isinstance(node, ast.ImportFrom) else set()
                )
                is_bad = bool(names & EXECUTING)
            else:
                is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
                is_bad = is_call and node.func.id in {"eval", "exec"}  # type: ignore[attr-defined]
            if is_bad:
                found.add(place)
    assert found == OWN_PICKLES
    assert set(current_app.conf.accept_content) == {"json"}
