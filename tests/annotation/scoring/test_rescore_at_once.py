from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest
from django.db import connection, transaction

from annotation.models import Check, Score
from annotation.reviewing.services.review import override
from annotation.scoring.rescore import rescore

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE_SECONDS = 60


def in_thread(act: Callable[[], object]) -> threading.Thread:
    def do() -> None:
        try:
            act()
        finally:
            connection.close()

    thread = threading.Thread(target=do)
    thread.start()
    return thread


def wait_until_somebody_waits() -> None:
    if connection.vendor != "postgresql":
        time.sleep(0.5)
        return
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            if cursor.fetchone() != (0,):
                return
        time.sleep(0.02)
    pytest.fail("nothing ever waited for the open override")


def test_an_answer_that_is_not_committed_yet_is_waited_for(world: World) -> None:
    check = world.check("alder", 1)
    before = Score.objects.get(summary=check.summary).claim_coverage
    answered, let_go = threading.Event(), threading.Event()

    def answer() -> None:
        with transaction.atomic():
            override(check=check, by=world.rex, label="no" if check.final_label == "yes" else "yes")
            answered.set()
            assert let_go.wait(PATIENCE_SECONDS)

    reviewer = in_thread(answer)
    assert answered.wait(PATIENCE_SECONDS)
    rebuilder = in_thread(lambda: rescore(project=world.project))
    wait_until_somebody_waits()
    let_go.set()
    reviewer.join(PATIENCE_SECONDS)
    rebuilder.join(PATIENCE_SECONDS)

    after = Score.objects.get(summary=check.summary).claim_coverage
    assert after != before
    row = Check.objects.get(pk=check.pk)
    assert (row.final_source, row.final_label == check.final_label) == ("reviewer", False)
    rescore(project=world.project)
    assert Score.objects.get(summary=check.summary).claim_coverage == after
