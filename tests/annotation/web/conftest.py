"""What the tests of the web share: somebody at a browser, with htmx or without scripts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from django.test import Client

if TYPE_CHECKING:
    from django.contrib.auth.models import User

HTMX = {"HX-Request": "true"}


@pytest.fixture
def signed_in() -> Callable[[User], Client]:
    """`signed_in(world.ana)`: a browser in which that person has signed in."""

    def sign_in(person: User) -> Client:
        client = Client(headers={"Referer": "http://testserver/p/harbour/"})
        client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
        return client

    return sign_in
