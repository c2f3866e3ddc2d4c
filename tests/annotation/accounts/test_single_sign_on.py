from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.contrib.auth.models import User
from django.test import Client

from annotation.config import environment
from annotation.models import AccountEvent
from annotation.projects.services.invite import invite, revoke_invitation
from tests.annotation.accounts.codes import code_at
from tests.annotation.accounts.test_second_factor import CODE_PAGE, sets_up
from tests.oidc_provider import Provider, onward, running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.http import HttpResponse
    from pytest_django.fixtures import SettingsWrapper

    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

Kind = AccountEvent.Kind
CONNECTIONS = "/accounts/3rdparty/"
BEGIN = "/accounts/oidc/sso/login/"
REX = "rex@example.org"


@pytest.fixture(scope="module")
def server() -> Iterator[Provider]:
    with running() as provider:
        yield provider


@pytest.fixture(autouse=True)
def provider(server: Provider, world: World, settings: SettingsWrapper) -> Provider:
    settings.AXES_ENABLED = True
    settings.SOCIALACCOUNT_PROVIDERS = led_to(server.issuer)
    world.rex.email = REX
    world.rex.save()
    return server


def led_to(issuer: str) -> dict[str, object]:
    return environment.single_sign_on(issuer, "coverdict", "a secret", "Example SSO")


def signs_on(provider: Provider, sub: str, *, client: Client | None = None, **form: str) -> HttpResponse:
    client = client or Client()
    page = client.post(BEGIN, form)
    assert page.status_code == 200, page.content.decode()
    return client.get(provider.let_in(onward(page.content.decode()), sub))  # type: ignore[return-value]


def verify(person: User, email: str = REX) -> None:
    EmailAddress.objects.create(user=person, email=email, verified=True, primary=True)


def state_of(address: str) -> str:
    return parse_qs(urlsplit(address).query)["state"][0]


def who(client: Client) -> str | None:
    answer = client.get("/account/")
    return str(answer.wsgi_request.user) if answer.status_code == 200 else None


def test_a_verified_address_on_both_sides_links_once_and_for_all(provider: Provider, world: World) -> None:
    verify(world.rex)
    provider.knows("r1", email="Rex@Example.org", email_verified=True, name="Rex M")
    client = Client()
    assert signs_on(provider, "r1", client=client, next="/sample/")["Location"] == "/sample/"
    assert who(client) == "rex"
    row = SocialAccount.objects.get()
    # The identifier is stored as a hash.
    assert (row.user, row.extra_data, len(row.uid)) == (world.rex, {}, 64)
    assert not SocialToken.objects.exists()
    assert list(AccountEvent.objects.filter(person=world.rex).order_by("pk").values_list("kind", "note")) == [
        ("identity", ""),
        ("sign in", "single sign-on"),
    ]
    # Now the identity is linked, so a changed address does not matter.
    provider.knows("r1", email="married@example.org", email_verified=False)
    again = Client()
    assert signs_on(provider, "r1", client=again).status_code == 302
    assert (who(again), SocialAccount.objects.count()) == ("rex", 1)


@pytest.mark.parametrize(
    "claims",
    [
        {"email": REX, "email_verified": False},
        {"email": REX},
        {"email": REX, "email_verified": "false"},
        {"email": REX, "email_verified": "true"},
        {"email": REX, "email_verified": None},
        {"email": "somebody@example.org", "email_verified": True},
        {"email_verified": True},
        {},
    ],
)
def test_an_address_that_the_provider_has_not_verified_opens_nothing(
    provider: Provider, world: World, settings: SettingsWrapper, claims: dict[str, object]
) -> None:
    verify(world.rex)
    settings.OIDC_NEW_ACCOUNTS = ["example.net"]
    provider.knows("thief", **claims)
    client, before = Client(), User.objects.count()
    assert signs_on(provider, "thief", client=client).status_code == 403
    assert (who(client), SocialAccount.objects.count(), User.objects.count()) == (None, 0, before)
    event = AccountEvent.objects.latest("pk")
    assert (event.kind, event.person, event.note) == (Kind.REFUSED, None, "no_account")


def test_an_address_that_nobody_has_verified_here_opens_nothing(
    provider: Provider, world: World, settings: SettingsWrapper
) -> None:
    """Rex may have entered a stranger's address and wait for the stranger to sign on."""
    settings.OIDC_NEW_ACCOUNTS = ["example.org"]
    provider.knows("r2", email=REX, email_verified=True)
    client = Client()
    answer = signs_on(provider, "r2", client=client)
    assert (answer.status_code, who(client)) == (409, None)
    assert "was not verified" in answer.content.decode()
    # A verified address that the account no longer has does not count either.
    verify(world.rex)
    world.rex.email = "other@example.org"
    world.rex.save()
    assert signs_on(provider, "r2", client=client).status_code == 409
    assert not SocialAccount.objects.exists()


@pytest.mark.parametrize(
    ("opened", "email", "comes_in"),
    [
        ([], "zoe@example.net", False),
        (["example.net"], "zoe@example.net", True),
        (["example.net"], "zoe@EXAMPLE.net", True),
        (["example.net"], "zoe@sub.example.net", False),
        (["example.net"], "zoe@notexample.net", False),
        (["invited"], "zoe@example.net", False),
    ],
)
def test_the_operator_says_who_gets_an_account(
    provider: Provider, settings: SettingsWrapper, opened: list[str], email: str, comes_in: bool
) -> None:
    settings.OIDC_NEW_ACCOUNTS = opened
    provider.knows("z1", email=email, email_verified=True, preferred_username="zoe", name="Zoe Lind")
    client = Client()
    assert signs_on(provider, "z1", client=client).status_code == (302 if comes_in else 403)
    assert who(client) == ("zoe" if comes_in else None)
    if comes_in:
        zoe = User.objects.get(username="zoe")
        assert (zoe.get_full_name(), zoe.has_usable_password(), zoe.is_staff) == ("Zoe Lind", False, False)


def test_an_invitation_makes_an_account_while_it_is_open(
    provider: Provider, world: World, settings: SettingsWrapper
) -> None:
    settings.OIDC_NEW_ACCOUNTS = ["invited"]
    settings.EMAIL_URL, settings.DEFAULT_FROM_EMAIL = "memorymail://", "coverdict@example.org"
    provider.knows("z2", email="zoe@example.com", email_verified=True, preferred_username="rex")
    issued = invite(
        project=world.project, roles=["viewer"], by=world.olga, email="zoe@example.com", address="http://x"
    )
    revoke_invitation(invitation=issued.invitation, by=world.olga)
    assert signs_on(provider, "z2").status_code == 403
    invite(
        project=world.project, roles=["viewer"], by=world.olga, email="zoe@example.com", address="http://x"
    )
    client = Client()
    assert signs_on(provider, "z2", client=client).status_code == 302
    # The username rex is taken, so the new account has another.
    assert who(client) not in (None, "rex")


def test_an_account_is_connected_with_its_password_and_disconnected(
    provider: Provider, world: World, signed_in: SignIn
) -> None:
    provider.knows("r3", email="private@example.net", email_verified=False)
    rex, ana = signed_in(world.rex), signed_in(world.ana)
    connect = f"{BEGIN}?process=connect"
    back = provider.let_in(onward(rex.post(connect).content.decode()), "r3")
    # A borrowed session is not enough; the password must be entered.
    assert rex.get(back)["Location"] == "/accounts/reauthenticate/"
    assert not SocialAccount.objects.exists()
    rex.post("/accounts/reauthenticate/", {"password": "rex-secret"})
    assert SocialAccount.objects.get().user == world.rex
    client = Client()
    signs_on(provider, "r3", client=client)
    assert who(client) == "rex"
    # The identity stays linked to its first account.
    ana.post("/accounts/reauthenticate/", {"password": "ana-secret"})
    ana.get(provider.let_in(onward(ana.post(connect).content.decode()), "r3"))
    assert SocialAccount.objects.get().user == world.rex
    rex.post(CONNECTIONS, {"account": SocialAccount.objects.get().pk})
    assert signs_on(provider, "r3").status_code == 403
    kinds = AccountEvent.objects.filter(person=world.rex).values_list("kind", flat=True)
    assert {Kind.IDENTITY, Kind.IDENTITY_END} <= set(kinds)


def test_nobody_signs_on_as_a_closed_account(provider: Provider, world: World) -> None:
    person = world.rex
    person.is_active = False
    person.save()
    verify(person, person.email)
    provider.knows("gone", email=person.email, email_verified=True)
    client = Client()
    for _ in range(2):
        assert signs_on(provider, "gone", client=client)["Location"] == "/accounts/inactive/"
        assert who(client) is None


def test_the_second_factor_is_asked_for_as_after_a_password(
    provider: Provider, world: World, settings: SettingsWrapper, signed_in: SignIn
) -> None:
    verify(world.rex)
    provider.knows("r4", email=REX, email_verified=True)
    with time_machine.travel(datetime.fromisoformat("2026-05-04T09:00:00+00:00"), tick=False):
        secret, _ = sets_up(signed_in(world.rex))
    # Use the machine's clock, because the provider's signatures use it.
    client = Client()
    assert signs_on(provider, "r4", client=client)["Location"] == CODE_PAGE
    assert who(client) is None
    assert client.post(CODE_PAGE, {"code": code_at(secret)}).status_code == 302
    assert who(client) == "rex"
    assert AccountEvent.objects.filter(kind=Kind.SIGN_IN).latest("pk").note == "single sign-on, second factor"


def test_what_comes_back_is_good_once_and_in_its_own_browser(provider: Provider, world: World) -> None:
    verify(world.rex)
    provider.knows("r5", email=REX, email_verified=True)
    mine, theirs = Client(), Client()
    back = provider.let_in(onward(mine.post(BEGIN).content.decode()), "r5")
    # Another person's browser must not accept an answer that was meant for this one.
    assert theirs.get(back).status_code == 401
    assert who(theirs) is None
    assert mine.get(back).status_code == 302
    mine.post("/accounts/logout/")
    assert mine.get(back).status_code == 401
    late = provider.let_in(onward(mine.post(BEGIN).content.decode()), "r5")
    with time_machine.travel(datetime.now().astimezone() + timedelta(minutes=11)):
        assert mine.get(late).status_code == 401
    assert who(mine) is None


@pytest.mark.parametrize("query", ["", "?code=x", "?state=x&code=x", "?error=server_error"])
def test_an_answer_that_nobody_asked_for_is_refused(query: str) -> None:
    answer = Client().get(f"/accounts/oidc/sso/login/callback/{query}")
    assert answer.status_code == 401
    assert "Traceback" not in answer.content.decode()


def test_a_provider_that_is_away_closes_no_other_door(settings: SettingsWrapper) -> None:
    settings.SOCIALACCOUNT_PROVIDERS = led_to("http://127.0.0.1:9")
    answer = Client().post(BEGIN)
    assert (answer.status_code, "Sign in with your password" in answer.content.decode()) == (503, True)
    assert Client().post("/accounts/login/", {"login": "rex", "password": "rex-secret"}).status_code == 302


def test_another_provider_with_the_same_keys_is_another_identity(
    provider: Provider, world: World, settings: SettingsWrapper
) -> None:
    verify(world.rex)
    provider.knows("1", email=REX, email_verified=True)
    assert signs_on(provider, "1").status_code == 302
    with running() as other:
        settings.SOCIALACCOUNT_PROVIDERS = led_to(other.issuer)
        other.knows("1", email="eve@example.net", email_verified=True)
        client = Client()
        assert signs_on(other, "1", client=client).status_code == 403
        assert who(client) is None


def test_starts_are_limited() -> None:
    said = [Client().post(BEGIN).status_code for _ in range(61)]
    assert said == [200] * 60 + [429]


def test_it_is_off_unless_named(settings: SettingsWrapper, world: World) -> None:
    settings.SOCIALACCOUNT_PROVIDERS = {}
    client = Client()
    assert "Sign in with" not in client.get("/accounts/login/").content.decode()
    assert client.post(BEGIN).status_code == 404
    assert client.get("/accounts/oidc/sso/login/callback/?state=x&code=y").status_code == 404


def test_a_page_elsewhere_begins_no_sign_on() -> None:
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(BEGIN).status_code == 403
    assert "refresh" not in Client().get(BEGIN).content.decode()
