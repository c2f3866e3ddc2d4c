from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from annotation.core.lists import Listing, Viewer
from annotation.models import Check, Look
from annotation.reviewing.queries.review_queue import QUEUE
from annotation.reviewing.services.lease_check import hand_out, look_and_hand_out, renew_lease
from annotation.reviewing.services.leases import LEASE, SPARE
from annotation.reviewing.services.look_at_check import look_at
from annotation.reviewing.services.review import override
from tests.annotation.at_once import at_once

if TYPE_CHECKING:
    from datetime import datetime

    from django.contrib.auth.models import User

    from tests.annotation.cast import World


def queue(world: World, person: User, query: dict[str, str] | None = None) -> Listing:
    return QUEUE.look(Viewer.now(person, world.project), query or {})


def handed(world: World, person: User, query: dict[str, str] | None = None) -> Check:
    return hand_out(look=queue(world, person, query))


def test_an_answered_check_is_no_longer_held(world: World) -> None:
    check = handed(world, world.rex)
    override(check=check, by=world.rex, label="no")
    assert handed(world, world.cleo, {"only": "answered"}) == check
    override(check=check, by=world.cleo, label="no")
    # A person who opens the check again gets the lease again.
    renew_lease(check=Check.objects.get(pk=check.pk), by=world.rex)
    assert Check.objects.get(pk=check.pk).leased_to == world.rex


def held_until(check: Check) -> datetime:
    return Check.objects.get(pk=check.pk).lease_until


def lease(check: Check, person: User, left: timedelta) -> datetime:
    until = timezone.now() + left
    Check.objects.filter(pk=check.pk).update(leased_to=person, lease_until=until)
    check.refresh_from_db()
    return until


def test_it_is_promised_for_five_minutes_and_written_for_one_more(world: World) -> None:
    before = timezone.now()
    until = held_until(handed(world, world.rex))
    assert before + timedelta(minutes=6) <= until <= timezone.now() + timedelta(minutes=6)


def test_a_sign_within_the_minute_writes_nothing(world: World) -> None:
    check = world.check("alder", 1)
    until = lease(check, world.rex, LEASE + SPARE / 2)
    renew_lease(check=check, by=world.rex)
    assert held_until(check) == until


@pytest.mark.parametrize("left", [LEASE - timedelta(seconds=1), timedelta(0), -LEASE])
def test_a_sign_after_it_holds_for_five_minutes_from_then_on(world: World, left: timedelta) -> None:
    check = world.check("alder", 1)
    lease(check, world.rex, left)
    before = timezone.now()
    renew_lease(check=check, by=world.rex)
    assert held_until(check) >= before + LEASE


def test_a_sign_of_somebody_else_takes_it_only_once_it_is_free(world: World) -> None:
    check = world.check("alder", 1)
    lease(check, world.cleo, LEASE)
    renew_lease(check=check, by=world.rex)
    assert Check.objects.get(pk=check.pk).leased_to == world.cleo
    lease(check, world.cleo, -timedelta(seconds=1))
    renew_lease(check=check, by=world.rex)
    assert Check.objects.get(pk=check.pk).leased_to == world.rex


def test_going_on_looks_at_the_claim_on_screen_and_takes_the_next(world: World) -> None:
    here = handed(world, world.rex)
    until = held_until(here)
    following = look_and_hand_out(look=queue(world, world.rex), here=here.public_id)
    assert following.pk != here.pk
    assert Look.objects.get(person=world.rex).check_row == here
    # The person holds both checks. The first lease is recent, so it was not renewed.
    assert set(Check.objects.filter(leased_to=world.rex)) == {here, following}
    assert held_until(here) == until


def in_hand(world: World, person: User) -> set[int]:
    now = timezone.now()
    return set(Check.objects.filter(leased_to=person, lease_until__gt=now).values_list("pk", flat=True))


def test_what_somebody_skips_is_anybodys_but_for_the_newest_three(world: World) -> None:
    here = handed(world, world.rex)
    met = [here.pk]
    for _ in range(4):
        following = look_and_hand_out(look=queue(world, world.rex), here=here.public_id)
        here = following
        met.append(here.pk)
        assert len(in_hand(world, world.rex)) <= 3
    assert in_hand(world, world.rex) == set(met[-3:])


def test_what_somebody_holds_in_another_project_stays_theirs(world: World) -> None:
    opened = [*world.checks("alder"), *world.checks("birch")]
    lease(opened[0], world.rex, LEASE)
    look_at(check=opened[0], by=world.rex)
    Check.objects.filter(pk=opened[0].pk).update(project=world.other_project)
    for check in opened[1:]:
        look_at(check=check, by=world.rex)
        renew_lease(check=check, by=world.rex)
    assert in_hand(world, world.rex) == {check.pk for check in (opened[0], *opened[-3:])}


def test_nothing_free_hands_out_nothing(world: World) -> None:
    Check.objects.update(leased_to=world.cleo, lease_until=timezone.now() + LEASE)
    assert hand_out(look=queue(world, world.rex)) is None


@pytest.mark.django_db(transaction=True)
def test_what_somebody_writes_at_this_moment_is_passed_over(world: World) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite lets one writer in at a time")
    Check.objects.update(queue_key=F("pk"))
    first, second = Check.objects.order_by(*QUEUE.order).values_list("pk", flat=True)[:2]
    with transaction.atomic():
        Check.objects.select_for_update().get(pk=first)
        (found,) = at_once(lambda: handed(world, world.rex).pk)
    assert found == second


@pytest.mark.parametrize("query", [{"only": "split"}, {"only": "split", "label": "yes"}])
def test_a_queue_that_can_hold_nothing_hands_out_nothing(world: World, query: dict[str, str]) -> None:
    # There is no panel, so there is no check on which the members of a panel differ.
    assert hand_out(look=queue(world, world.rex, query)) is None
    assert hand_out(look=queue(world, world.rex, query), after=world.check("alder", 1)) is None
