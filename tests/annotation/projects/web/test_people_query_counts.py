"""No page of people and history asks the database more often because there is more in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Membership
from annotation.projects.services.invite import invite
from annotation.projects.services.write_guidelines import write_guidelines
from annotation.reviewing.services.comment import comment_on_claim
from annotation.reviewing.services.review import override

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.test import Client

    from tests.annotation.cast import World

MORE = 4


def grow(world: World, first: int) -> None:
    for number in range(first, first + MORE):
        person = User.objects.create_user(f"more-{number}")
        Membership.objects.create(project=world.project, user=person, roles=["reviewer"])
        invite(project=world.project, roles=["viewer"], by=world.olga)
        write_guidelines(project=world.project, text=f"Number {number}.", by=world.mona)
        claim = world.check("alder", 1 + number % 3).claim
        comment_on_claim(project=world.project, claim=claim, by=world.rex, text="Hm.")
        override(check=world.check("birch", 1 + number % 3), by=world.rex, label="no")


@pytest.mark.parametrize("page", ["people", "guidelines", "log", "thread"])
def test_the_number_of_queries_does_not_grow(
    world: World, signed_in: Callable[[User], Client], page: str
) -> None:
    claim = world.check("alder", 1).claim
    address = {
        "people": "/p/harbour/settings/people/",
        "guidelines": "/p/harbour/settings/guidelines/",
        "log": "/p/harbour/settings/log/",
        "thread": f"/p/harbour/comments/claims/{claim.public_id}/",
    }[page]
    client = signed_in(world.olga)
    grow(world, first=0)

    def count() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert client.get(address).status_code == 200
        return len(asked)

    before = count()
    grow(world, first=MORE)
    assert count() == before
