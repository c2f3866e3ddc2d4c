"""What was judged and answered on each day."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from annotation.analysis.pictures.work_by_day import DayCounts, answered_by_day, judged_by_day, payload
from annotation.analysis.stored import read
from annotation.models import UnitJudgment, Verdict
from annotation.reviewing.services.review import override, withdraw_verdict
from tests.annotation.cast import add_imported_verdict
from tests.annotation.sitting import say, sit

if TYPE_CHECKING:
    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db
MARCH = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_units_count_on_the_day_of_their_percent(world: World) -> None:
    sitting = sit(world, "ana", "port")
    say(sitting, "alder", (40, (1,), 10), (60, (2,), 10))
    first = UnitJudgment.objects.filter(is_current=True).earliest("pk")
    UnitJudgment.objects.filter(pk=first.pk).update(created_at=MARCH)
    counts = judged_by_day(world.project, viewer=world.mona)
    # Two systems, two units each.
    assert counts.scope == 4
    assert counts.by_day == {MARCH.date(): 1, timezone.localdate(): 1}


def test_a_set_that_the_viewer_has_open_is_left_out(world: World) -> None:
    say(sit(world, "ana", "port"), "alder", (40, (1,), 10))
    sit(world, "ben", "port")
    counts = judged_by_day(world.project, viewer=world.ana)
    assert (counts.scope, counts.by_day) == (0, {})
    assert judged_by_day(world.project, viewer=world.mona).scope == 8


def test_a_claim_counts_once_on_the_day_of_its_first_answer(world: World) -> None:
    check = world.check("alder", 1)
    override(check=check, by=world.rex, label="yes")
    Verdict.objects.filter(source="reviewer").update(created_at=MARCH)
    override(check=check, by=world.cleo, label="no")
    counts = answered_by_day(world.project)
    # Three claims of two systems.
    assert (counts.scope, counts.by_day) == (6, {MARCH.date(): 1})


def test_an_answer_that_was_taken_back_counts_for_nothing(world: World) -> None:
    verdict = override(check=world.check("alder", 1), by=world.rex, label="yes").verdict
    withdraw_verdict(verdict=verdict, by=world.rex)
    assert answered_by_day(world.project).done == 0


def test_answers_that_came_with_a_file_are_nobodys_work(world: World) -> None:
    add_imported_verdict(world.check("alder", 1), "yes")
    add_imported_verdict(world.check("alder", 2), "no", origin_name="one.jsonl")
    add_imported_verdict(world.check("alder", 2), "no", origin_name="two.jsonl")
    counts = answered_by_day(world.project)
    # Of six claims two came with their answers.
    assert (counts.scope, counts.done) == (4, 0)


def test_a_claim_that_came_with_an_answer_is_work_once_somebody_answers_it(world: World) -> None:
    check = world.check("alder", 1)
    verdict = add_imported_verdict(check, "yes")
    Verdict.objects.filter(pk=verdict.pk).update(created_at=MARCH)
    override(check=check, by=world.rex, label="no")
    counts = answered_by_day(world.project)
    assert (counts.scope, counts.by_day) == (6, {timezone.localdate(): 1})


def test_another_project_has_nothing_of_it(world: World) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="yes")
    assert answered_by_day(world.other_project).scope == 0
    assert judged_by_day(world.other_project, viewer=world.dan).scope == 0


def test_what_is_stored_reads_as_what_was_counted(world: World) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="yes")
    Verdict.objects.filter(source="reviewer").update(created_at=MARCH)
    stored = payload(world.project)
    assert stored == {"scope": 6, "by_day": {"2026-03-01": 1}}
    assert read(DayCounts, stored) == answered_by_day(world.project)
