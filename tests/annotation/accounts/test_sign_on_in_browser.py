from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from allauth.account.models import EmailAddress

from annotation.config import environment
from tests.annotation.accounts.codes import code_at
from tests.oidc_provider import running

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from pytest_django.fixtures import SettingsWrapper

    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db(transaction=True)


def at_provider(page: Page, sub: str) -> None:
    page.get_by_placeholder("sub").fill(sub)
    page.get_by_role("button", name="Authorize").click()


def test_from_the_provider_to_a_second_factor_and_in_again(
    desk: Callable[[], Page], world: World, settings: SettingsWrapper
) -> None:
    settings.AXES_ENABLED = True
    world.rex.email = "rex@example.org"
    world.rex.save()
    EmailAddress.objects.create(user=world.rex, email="rex@example.org", verified=True, primary=True)
    with running() as provider:
        settings.SOCIALACCOUNT_PROVIDERS = environment.single_sign_on(
            provider.issuer, "coverdict", "a secret", "Example SSO"
        )
        provider.knows("rex-1", email="rex@example.org", email_verified=True)
        page = desk()
        page.goto("/account/")
        page.get_by_role("button", name="Sign in with Example SSO").click()
        at_provider(page, "rex-1")
        page.get_by_role("heading", name="Your account").wait_for()

        page.get_by_role("link", name="Second factor").click()
        page.get_by_role("link", name="Activate").click()
        page.get_by_label("Password").fill("rex-secret")
        page.get_by_role("button", name="Confirm").click()
        page.locator("img.qr").wait_for()
        assert page.evaluate("document.querySelector('img.qr').naturalWidth") > 0
        secret = page.get_by_label("Authenticator secret").input_value()
        page.get_by_label("Authenticator code").fill(code_at(secret))
        page.get_by_role("button", name="Activate").click()
        codes = page.get_by_label("Unused codes").input_value().split()
        assert len(codes) == 10
