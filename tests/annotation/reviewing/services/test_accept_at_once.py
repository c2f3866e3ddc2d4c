"""Two people with one link at the same moment: one comes in."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import User
from django.db import connection

from annotation.core.refusals import Conflict
from annotation.models import Invitation, Membership
from annotation.projects.services.accept_invitation import accept_invitation
from annotation.projects.services.invite import invite

if TYPE_CHECKING:
    from tests.annotation.cast import World


@pytest.mark.django_db(transaction=True)
def test_one_of_two_comes_in(world: World) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite lets one write at a time, so nobody is there at the same moment")
    secret = invite(project=world.project, roles=["viewer"], by=world.olga).secret
    eve = User.objects.create_user("eve")
    start, got = threading.Barrier(2, timeout=60), []

    def come(person: User) -> None:
        start.wait()
        try:
            accept_invitation(secret=secret, by=person)
            got.append("in")
        except Conflict as refusal:
            got.append(refusal.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=come, args=[person]) for person in (world.dan, eve)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == ["in", "used"]
    row = Invitation.objects.get()
    newcomers = Membership.objects.filter(project=world.project, user__in=[world.dan, eve])
    assert [row.accepted_by] == [membership.user for membership in newcomers]
