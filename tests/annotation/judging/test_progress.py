from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from annotation.judging.queries.runs import Failure, is_under_way, latest_run, run_progress
from annotation.judging.services.start_run import cancel_run, start_run
from annotation.models import Job, Verdict
from tests.annotation.judging.doing import run_to_end

if TYPE_CHECKING:
    from tests.annotation.cast import World


def test_a_run_that_waits(world: World) -> None:
    run = start_run(project=world.project, judge=world.judge, by=None)
    progress = run_progress(run)
    assert (progress.total_jobs, progress.waiting, is_under_way(run)) == (2, 2, True)
    assert (progress.summaries_total, progress.summaries_done, progress.share_done) == (4, 0, 0.0)


def test_a_run_that_is_done(world: World) -> None:
    run = run_to_end(world.project, world.judge)
    progress = run_progress(run)
    assert (progress.done, progress.waiting, progress.working, is_under_way(run)) == (2, 0, 0, False)
    assert (progress.summaries_done, progress.share_done, progress.failures) == (4, 1.0, [])


def test_what_failed_and_what_is_to_be_tried_again_is_told(world: World) -> None:
    run = start_run(project=world.project, judge=world.judge, by=None)
    port, bridge = run.jobs.order_by("pk")
    Job.objects.filter(pk=port.pk).update(state="failed", error="broke", attempt=5, unscored=2, done=1)
    Job.objects.filter(pk=bridge.pk).update(state="waiting", error="away", attempt=1, unscored=1)
    progress = run_progress(run)
    assert (progress.failed, progress.waiting, progress.unscored, progress.share_done) == (1, 1, 3, 0.25)
    assert progress.failures == [Failure("bridge", "away", 1), Failure("port", "broke", 5)]


@pytest.mark.parametrize(
    ("port", "bridge", "outcome"),
    [
        # A pair is the state and the error of a document set. Both sets wait for another attempt.
        (("waiting", "away"), ("waiting", "away"), "unusable"),
        # A refused key ends the run before the other set is tried.
        (("failed", "HTTP 401"), ("cancelled", ""), "unusable"),
        (("working", "away"), ("waiting", ""), "unusable"),
        # One of the two attempted sets has an error.
        (("done", ""), ("waiting", "away"), "poor"),
        (("done", ""), ("cancelled", ""), "good"),
        (("waiting", ""), ("waiting", ""), "good"),
    ],
)
def test_the_outcome_follows_from_the_document_sets_that_were_tried(
    world: World, port: tuple[str, str], bridge: tuple[str, str], outcome: str
) -> None:
    run = start_run(project=world.project, judge=world.judge, by=None)
    until = timezone.now() + timedelta(minutes=1)
    for job, (state, error) in zip(run.jobs.order_by("pk"), (port, bridge), strict=True):
        lease = {"token": "a", "lease_until": until} if state == "working" else {}
        Job.objects.filter(pk=job.pk).update(state=state, error=error, **lease)
    assert run_progress(run).outcome == outcome


def test_a_job_that_succeeded_at_last_is_no_failure(world: World) -> None:
    run = start_run(project=world.project, judge=world.judge, by=None)
    run.jobs.update(state="done", error="away")
    assert run_progress(run).failures == []


def test_the_latest_run_is_the_newest(world: World) -> None:
    assert latest_run(world.project) is None
    first = start_run(project=world.project, judge=world.judge, by=None)
    cancel_run(run=first, by=None)
    second = start_run(project=world.project, judge=world.judge, by=None)
    assert latest_run(world.project) == second
    assert latest_run(world.other_project) is None


def test_why_answers_were_not_usable_is_told_the_commonest_first(world: World) -> None:
    run = start_run(project=world.project, judge=world.judge, by=None)
    run.jobs.update(unscored=1)
    for system, position, reason in (
        ("alder", 1, "garbled"),
        ("alder", 2, "refused"),
        ("birch", 1, "garbled"),
    ):
        Verdict.objects.create(
            check_row=world.check(system, position),
            role=Verdict.Role.JUDGE,
            judge=world.judge,
            run=run,
            reason=reason,
        )
    assert run_progress(run).unscored_reasons == [("garbled", 2), ("refused", 1)]
