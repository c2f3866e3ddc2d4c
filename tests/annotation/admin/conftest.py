"""Staff of several kinds at the admin's door."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from django.test import Client

    from tests.annotation.cast import World

Door = Callable[[str], "Client"]


@pytest.fixture
def staff(world: World) -> Door:
    """A client signed in as the person of that name, who is staff; "root" is a superuser."""
    from django.contrib.auth.models import User
    from django.test import Client

    def sign_in(name: str) -> Client:
        if name == "root":
            person, _ = User.objects.get_or_create(
                username="root", defaults={"is_staff": True, "is_superuser": True}
            )
        else:
            person = world.users[name]
            person.is_staff = True
            person.save(update_fields=["is_staff"])
        client = Client()
        client.force_login(person)
        return client

    return sign_in
