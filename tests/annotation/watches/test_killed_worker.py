"""A watch in worker processes of its own: two beats at once, and a kill in the middle."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
from django.db import connection, transaction
from django.db.models import Count

from annotation.models import Check, Job, Judge, JudgeCall, Project, Run, WatchPeriod
from tests.annotation.judging.processes import wait_until, workers
from tests.annotation.watches.streams import pushed, watched
from tests.llm_server import LLMServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.annotation.cast import World

QUICK = "tests.annotation.judging.quick_settings"

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.process, pytest.mark.slow]


@pytest.fixture
def slow_judge(world: World) -> Iterator[Judge]:
    """The deciding judge answers one call at a time, and takes a while for each."""
    with LLMServer(latency=0.2) as server:
        judge = Judge.objects.create(
            name="slow", kind="openai", model="scripted", base_url=server.base_url, concurrency=1
        )
        Project.objects.filter(pk=world.project.pk).update(deciding_judge=judge)
        yield judge


def is_done() -> bool:
    asked = WatchPeriod.objects.exclude(asked={}).filter(state=WatchPeriod.State.SETTLED)
    return asked.exists() and not Run.objects.filter(state=Run.State.ACTIVE).exists()


def assert_judged_once(summaries: int) -> None:
    [period] = WatchPeriod.objects.filter(total__gt=0)
    assert period.total == summaries
    # One run judges the period, and one asks its anchors again.
    assert Run.objects.filter(repeat_share=None).get() == period.run
    assert Run.objects.exclude(repeat_share=None).get() == period.anchor_run
    of_watch = Check.objects.filter(summary__in=period.run.summaries.all())
    assert set(of_watch.annotate(n=Count("verdicts")).values_list("n", flat=True)) == {1}


def test_two_workers_of_which_one_is_killed_in_the_middle_judge_a_period_once(
    world: World, slow_judge: Judge, subprocess_env: dict[str, str]
) -> None:
    environment = {**subprocess_env, "DJANGO_SETTINGS_MODULE": QUICK}
    pushed(world.project, ago=2, kept=0.8)
    watched(world.project, ago=2, reference_periods=1)
    with workers(environment, count=2) as started:
        wait_until(lambda: JudgeCall.objects.filter(judge=slow_judge).count() > 2)
        for each in started:
            os.kill(each.pid, signal.SIGKILL)
            each.wait(60)
    assert not is_done()
    with workers(environment, count=2):
        wait_until(is_done)
    assert_judged_once(12)


def test_a_worker_killed_while_it_closes_a_period_leaves_nothing_half_done(
    world: World, slow_judge: Judge, subprocess_env: dict[str, str]
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("with SQLite nobody can take a job while the test holds the project")
    environment = {**subprocess_env, "DJANGO_SETTINGS_MODULE": QUICK}
    pushed(world.project, ago=2, kept=0.8)
    watch = watched(world.project, ago=2, reference_periods=1)
    with transaction.atomic():
        # The worker takes the job and waits for the project.
        Project.objects.select_for_update().get(pk=world.project.pk)
        with workers(environment) as [first]:
            wait_until(lambda: Job.objects.get(watch=watch).state == Job.State.WORKING)
            os.kill(first.pid, signal.SIGKILL)
            first.wait(60)
    assert not WatchPeriod.objects.exists()
    with workers(environment):
        wait_until(is_done)
    assert_judged_once(12)
