"""Two disputes that open at once in different summaries: both are told of, in one notice."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from django.db import transaction

from annotation.models import Notice
from annotation.reviewing.services.review import override
from tests.annotation.scoring.test_rescore_at_once import (
    PATIENCE_SECONDS,
    in_thread,
    wait_until_somebody_waits,
)

if TYPE_CHECKING:
    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("unread", [0, 1])
def test_both_count_in_the_adjudicators_one_notice(world: World, unread: int) -> None:
    world.project.audit_share = 0
    world.project.save()
    first, second, third = world.check("alder", 1), world.check("birch", 1), world.check("alder", 2)
    for check in (first, second, third):
        override(check=check, by=world.rex, label="no")
    if unread:
        override(check=third, by=world.olga, label="yes")
    opened, let_go = threading.Event(), threading.Event()

    def open_first() -> None:
        with transaction.atomic():
            override(check=first, by=world.olga, label="yes")
            opened.set()
            assert let_go.wait(PATIENCE_SECONDS)

    earlier = in_thread(open_first)
    assert opened.wait(PATIENCE_SECONDS)
    later = in_thread(lambda: override(check=second, by=world.olga, label="yes"))
    wait_until_somebody_waits()
    let_go.set()
    earlier.join(PATIENCE_SECONDS)
    later.join(PATIENCE_SECONDS)
    rows = Notice.objects.filter(person=world.cleo, kind="dispute")
    assert list(rows.values_list("count", "text")) == [(2 + unread, f"{2 + unread} disputes opened.")]
