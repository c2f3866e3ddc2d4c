"""What a reviewer has in hand: taken as it is found, and held for at least five minutes after each sign of theirs."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from annotation.models import Check, CheckLook
from annotation.queries.reveal import Reader
from annotation.queries.review_queue import Filter
from annotation.refusals import NotAllowed, NotFound
from annotation.services.lease_check import LEASE, SPARE, hand_out, keep, move_on
from tests.annotation.services.test_adjudicate_at_once import at_once

if TYPE_CHECKING:
    from datetime import datetime

    from django.contrib.auth.models import User

    from tests.annotation.cast import World


def handed(world: World, person: User, query: dict[str, str] | None = None) -> Check:
    filters = Filter.read(query or {})
    found = hand_out(project=world.project, reader=Reader(person), filters=filters)
    assert found is not None
    return found


def held_until(check: Check) -> datetime:
    until = Check.objects.get(pk=check.pk).lease_until
    assert until is not None
    return until


def lease(check: Check, person: User, left: timedelta) -> datetime:
    until = timezone.now() + left
    Check.objects.filter(pk=check.pk).update(leased_to=person, lease_until=until)
    check.refresh_from_db()
    return until


def test_what_is_handed_out_is_its_row_as_it_stands_now(world: World) -> None:
    found, row = handed(world, world.rex), Check.objects.get(leased_to=world.rex)
    named = [field.attname for field in Check._meta.concrete_fields]
    assert [getattr(found, name) for name in named] == [getattr(row, name) for name in named]


def test_it_is_promised_for_five_minutes_and_written_for_one_more(world: World) -> None:
    before = timezone.now()
    until = held_until(handed(world, world.rex))
    assert before + timedelta(minutes=6) <= until <= timezone.now() + timedelta(minutes=6)


def test_a_sign_within_the_minute_writes_nothing(world: World) -> None:
    check = world.check("alder", 1)
    until = lease(check, world.rex, LEASE + SPARE / 2)
    keep(check=check, by=world.rex)
    assert held_until(check) == until


@pytest.mark.parametrize("left", [LEASE - timedelta(seconds=1), timedelta(0), -LEASE])
def test_a_sign_after_it_holds_for_five_minutes_from_then_on(world: World, left: timedelta) -> None:
    check = world.check("alder", 1)
    lease(check, world.rex, left)
    before = timezone.now()
    keep(check=check, by=world.rex)
    assert held_until(check) >= before + LEASE


def test_a_sign_of_somebody_else_takes_it_only_once_it_is_free(world: World) -> None:
    check = world.check("alder", 1)
    lease(check, world.cleo, LEASE)
    keep(check=check, by=world.rex)
    assert Check.objects.get(pk=check.pk).leased_to == world.cleo
    lease(check, world.cleo, -timedelta(seconds=1))
    keep(check=check, by=world.rex)
    assert Check.objects.get(pk=check.pk).leased_to == world.rex


def test_going_on_looks_at_the_claim_on_screen_and_takes_the_next(world: World) -> None:
    here = handed(world, world.rex)
    until = held_until(here)
    following = move_on(
        project=world.project, reader=Reader(world.rex), filters=Filter(), here=here.public_id
    )
    assert following is not None
    assert following.pk != here.pk
    assert CheckLook.objects.get(person=world.rex).check_row == here
    # Both are in hand, and the first was just taken.
    assert set(Check.objects.filter(leased_to=world.rex)) == {here, following}
    assert held_until(here) == until


@pytest.mark.parametrize(("name", "refusal"), [("vic", NotAllowed), ("dan", NotFound)])
def test_whoever_may_not_review_goes_nowhere(world: World, name: str, refusal: type[Exception]) -> None:
    here = world.check("alder", 1).public_id
    with pytest.raises(refusal):
        move_on(project=world.project, reader=Reader(getattr(world, name)), filters=Filter(), here=here)
    assert not CheckLook.objects.exists()
    assert not Check.objects.filter(leased_to__isnull=False).exists()


def test_nothing_free_hands_out_nothing(world: World) -> None:
    Check.objects.update(leased_to=world.cleo, lease_until=timezone.now() + LEASE)
    found = hand_out(project=world.project, reader=Reader(world.rex), filters=Filter())
    assert found is None


@pytest.mark.django_db(transaction=True)
def test_what_somebody_writes_at_this_moment_is_passed_over(world: World) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite lets one writer in at a time")
    Check.objects.update(queue_key=F("pk"))
    first, second = Check.objects.order_by("-doubt", "queue_key").values_list("pk", flat=True)[:2]
    with transaction.atomic():
        Check.objects.select_for_update().get(pk=first)
        (found,) = at_once(lambda: handed(world, world.rex).pk)
    assert found == second
