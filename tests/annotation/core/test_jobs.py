from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import time_machine
from django.db import connection, transaction
from django.utils import timezone

from annotation import perform_job
from annotation.core import jobs
from annotation.judging.queries.runs import run_to_work_on, runs_to_settle
from annotation.judging.services.end_run import settle, stop_run
from annotation.judging.services.start_run import cancel_run, resume_run, start_run
from annotation.models import Event, Job, Judge, Project, Run
from tests.annotation.at_once import at_once
from tests.annotation.exports.doing import export_with_job
from tests.annotation.judging.doing import add_document_set, claim_job, due

if TYPE_CHECKING:
    from tests.annotation.cast import World

PATIENCE_SECONDS = 60


@pytest.fixture
def run(world: World) -> Run:
    return start_run(project=world.project, judge=world.judge, by=None)


def job_of(run: Run, number: int = 1) -> Job:
    return list(run.jobs.order_by("pk"))[number - 1]


def claim(run: Run, number: int = 1) -> jobs.Claimed:
    return claim_job(job_of(run, number))


def change(run: Run, number: int = 1, **columns: Any) -> Job:
    Job.objects.filter(pk=job_of(run, number).pk).update(**columns)
    return job_of(run, number)


def let_the_lease_run_out(run: Run, number: int = 1) -> None:
    change(run, number, lease_until=timezone.now() - timedelta(seconds=1))


def eventually(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return False


def test_a_claim_takes_the_job_with_a_token_a_lease_and_an_attempt(run: Run) -> None:
    claimed = claim(run)
    job = job_of(run)
    assert (job.state, job.token, job.attempt) == ("working", claimed.token, 1)
    assert timedelta(seconds=5) < job.lease_until - timezone.now() <= timedelta(seconds=10)


@pytest.mark.parametrize("state", ["done", "failed", "cancelled"])
def test_a_job_that_is_over_is_not_given_out(run: Run, state: str) -> None:
    assert claim_job(change(run, state=state)) is None


def test_of_many_workers_that_claim_at_once_one_gets_the_job(transactional_db: None, world: World) -> None:
    job = job_of(start_run(project=world.project, judge=world.judge, by=None))
    got = at_once(*[lambda: claim_job(job)] * 6)
    assert len([claimed for claimed in got if claimed is not None]) == 1


def test_many_jobs_are_taken_under_one_token_in_as_many_statements_as_one(
    db: None, django_assert_max_num_queries: Any
) -> None:
    project = Project.objects.create(slug="mill", name="Mill")
    judge = Judge.objects.create(name="lexical", kind="lexical")
    for number in range(30):
        add_document_set(project, "D.", external_id=str(number), elm="The mill burned.")
    run = start_run(project=project, judge=judge, by=None)
    with django_assert_max_num_queries(6):
        first = jobs.take(due(run), most=20)
    assert (len(first), {each.token for each in first}) == (20, {first[0].token})
    assert [each.job.pk for each in first] == list(run.jobs.values_list("pk", flat=True)[:20])
    assert len(jobs.take(due(run), most=20)) == 10
    assert jobs.take(due(run), most=20) == []


def test_the_run_that_the_fewest_workers_are_at_comes_next(world: World) -> None:
    first = start_run(project=world.project, judge=world.judge, by=None)
    assert run_to_work_on() == first
    claim(first)
    other = Judge.objects.create(name="other", kind="lexical")
    second = start_run(project=world.project, judge=other, by=None)
    assert run_to_work_on() == second
    cancel_run(run=second, by=None)
    assert run_to_work_on() == first
    jobs.take(due(first))
    assert run_to_work_on() is None


def test_runs_have_their_turns_and_the_one_that_waited_longest_comes_next(world: World) -> None:
    first = start_run(project=world.project, judge=world.judge, by=None)
    other = Judge.objects.create(name="other", kind="lexical")
    second = start_run(project=world.project, judge=other, by=None)
    for run in (first, second):
        assert run_to_work_on() == run
        jobs.finish(claim(run), state=Job.State.DONE)
    # Both runs were served; the first was served longer ago.
    assert run_to_work_on() == first
    assert run_to_work_on(besides=[first.pk]) == second


def test_what_is_due_is_told_by_kind(run: Run) -> None:
    assert (jobs.due(Job.Kind.RUN).exists(), jobs.due(Job.Kind.EXPORT).exists()) == (True, False)
    jobs.take(due(run), most=2)
    export_with_job(run.project)
    assert (jobs.due(Job.Kind.RUN).exists(), jobs.due(Job.Kind.EXPORT).exists()) == (False, True)


def test_a_job_ends_only_with_its_token(run: Run) -> None:
    claimed = claim(run)
    other = jobs.Claimed(job=claimed.job, token="somebody else's")
    assert jobs.finish(other, state=Job.State.DONE) is False
    assert job_of(run).state == "working"
    assert jobs.finish(claimed, state=Job.State.DONE) is True
    assert jobs.finish(claimed, state=Job.State.FAILED) is False
    assert job_of(run).state == "done"


def test_the_last_job_finishes_the_run(run: Run) -> None:
    first, second = claim(run, 1), claim(run, 2)
    jobs.finish(first)
    settle(run)
    run.refresh_from_db()
    assert (run.state, run.finished_at) == ("active", None)
    jobs.finish(second, state=Job.State.FAILED, error="broke")
    assert list(runs_to_settle()) == [run]
    settle(run)
    run.refresh_from_db()
    assert run.state == "finished"
    assert run.finished_at is not None
    assert Event.objects.get(verb="finish run").data == {"failed": 1}


def test_two_last_jobs_that_end_at_once_finish_the_run(transactional_db: None, world: World) -> None:
    run = start_run(project=world.project, judge=world.judge, by=None)
    claims = [claim(run, 1), claim(run, 2)]

    def end(claimed: jobs.Claimed) -> None:
        jobs.finish(claimed)
        settle(run)

    at_once(*(partial(end, claimed) for claimed in claims))
    run.refresh_from_db()
    assert run.state == "finished"
    assert Event.objects.filter(verb="finish run").count() == 1


def test_a_failure_that_may_pass_lets_the_job_wait_for_a_while(run: Run) -> None:
    claimed = claim(run)
    jobs.try_later(claimed, error="The server is away.")
    job = job_of(run)
    assert (job.state, job.error, job.token, job.lease_until) == ("waiting", "The server is away.", "", None)
    assert claim_job(job) is None
    change(run, queued_at=timezone.now())
    again = claim_job(job)
    assert again.job.attempt == 2


def test_pauses_double(run: Run) -> None:
    change(run, attempt=2)
    change(run, queued_at=timezone.now() - timedelta(seconds=1))
    jobs.try_later(claim(run), error="away")
    # The third attempt failed. The pauses after the first three attempts are 5, 10 and 20 s.
    pause = job_of(run).queued_at - timezone.now()
    assert timedelta(seconds=15) < pause <= timedelta(seconds=20)


def test_a_job_from_before_the_clock_jumped_back_does_not_wait_for_it(run: Run) -> None:
    jobs.try_later(claim(run), error="away")
    # The longest pause is 40 seconds.
    change(run, queued_at=timezone.now() + timedelta(seconds=30))
    assert job_of(run) not in due(run)
    change(run, queued_at=timezone.now() + timedelta(hours=1))
    assert job_of(run) in due(run)


def test_after_the_last_attempt_a_job_has_failed_with_its_reason(run: Run) -> None:
    change(run, attempt=len(jobs.PAUSES_SECONDS))
    jobs.try_later(claim(run), error="The server is away.")
    job = job_of(run)
    assert (job.state, job.error) == ("failed", "The server is away. (Given up after 5 attempts.)")


def test_a_run_has_failed_where_no_document_set_came_through(run: Run) -> None:
    run.jobs.update(attempt=len(jobs.PAUSES_SECONDS))
    for job in run.jobs.order_by("pk"):
        claimed = claim_job(job)
        jobs.try_later(claimed, error="The server is away.")
    settle(run)
    run.refresh_from_db()
    assert (run.state, run.stop_reason) == ("failed", "2 of 2 document sets failed.")


def test_a_failed_attempt_of_a_cancelled_run_is_not_tried_again(run: Run) -> None:
    claimed = claim(run)
    cancel_run(run=run, by=None)
    jobs.try_later(claimed, error="away")
    assert job_of(run).state == "cancelled"


def test_what_stops_a_run_cancels_what_waits(run: Run) -> None:
    stop_run(run, reason="The judge 'x' refused.", met_by=claim(run))
    run.refresh_from_db()
    assert (run.state, run.stop_reason) == ("stopped", "The judge 'x' refused.")
    assert list(run.jobs.order_by("pk").values_list("state", "error")) == [
        ("failed", "The judge 'x' refused."),
        ("cancelled", ""),
    ]
    assert Event.objects.get(verb="stop run").actor is None


def test_a_worker_that_lost_its_job_does_not_stop_the_run(run: Run) -> None:
    claimed = claim(run)
    change(run, token="somebody else's")
    stop_run(run, reason="refused", met_by=claimed)
    run.refresh_from_db()
    assert run.state == "active"


def test_a_job_of_a_run_that_is_resumed_at_once_waits_for_whoever_takes_it_next(run: Run) -> None:
    claimed = claim(run)
    cancel_run(run=run, by=None)
    resume_run(run=run, by=None)
    assert jobs.finish(claimed) is False
    assert job_of(run).state == "waiting"


def test_only_jobs_of_one_s_own_are_held(run: Run) -> None:
    first, second = jobs.take(due(run), most=2)
    with transaction.atomic():
        assert jobs.hold([first, second]) == {first.job.pk, second.job.pk}
    change(run, token="somebody else's")
    with transaction.atomic():
        assert jobs.hold([first, second]) == {second.job.pk}


def test_a_lease_is_renewed_while_the_work_goes_on(
    transactional_db: None, world: World, settings: Any
) -> None:
    settings.JOB_LEASE_SECONDS = 0.6
    run = start_run(project=world.project, judge=world.judge, by=None)
    claimed = claim(run)
    before = job_of(run).lease_until
    with jobs.Lease(claimed.token):
        assert eventually(lambda: (job_of(run).lease_until or before) > before + timedelta(seconds=0.3))
    jobs.finish(claimed, state=Job.State.DONE)
    assert job_of(run).lease_until is None


def test_a_lease_is_renewed_in_the_order_in_which_jobs_are_held(transactional_db: None, world: World) -> None:
    """In another order, the heartbeat's thread and the thread that stores verdicts could wait for each other."""
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has no locks of rows")
    run = start_run(project=world.project, judge=world.judge, by=None)
    first, second = jobs.take(due(run), most=2)
    # PostgreSQL writes the changed row behind the second row, so a statement without an order would lock the second row
    # first.
    change(run, done=0)
    pids: list[int] = []

    def renew() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            pids.extend(cursor.fetchone())
        jobs.Lease(first.token).beat()
        connection.close()

    def waits() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE pid = ANY(%s) AND NOT granted", [pids])
            return bool(cursor.fetchone()[0])

    thread = threading.Thread(target=renew)
    with transaction.atomic():
        Job.objects.select_for_update(no_key=True).get(pk=first.job.pk)
        thread.start()
        assert eventually(waits)
        Job.objects.select_for_update(no_key=True, nowait=True).get(pk=second.job.pk)
    thread.join(PATIENCE_SECONDS)


def test_a_job_whose_lease_has_run_out_waits_again(run: Run) -> None:
    claim(run)
    let_the_lease_run_out(run)
    jobs.reap()
    job = job_of(run)
    assert (job.state, job.token, job.lease_until, job.attempt) == ("waiting", "", None, 1)
    assert claim_job(job) is not None


def test_a_process_does_not_take_for_dead_what_it_is_at(transactional_db: None, world: World) -> None:
    run = start_run(project=world.project, judge=world.judge, by=None)
    claimed = claim(run)
    with jobs.Lease(claimed.token):
        # The lease runs out as if the database had been locked for longer than a lease.
        let_the_lease_run_out(run)
        jobs.reap()
        assert job_of(run).token == claimed.token
    jobs.reap()
    assert job_of(run).state == "waiting"


def test_a_job_with_a_good_lease_is_left_alone(run: Run) -> None:
    claimed = claim(run)
    jobs.reap()
    assert job_of(run).token == claimed.token


@pytest.mark.parametrize("hours", [1, -1])
def test_leases_go_by_the_clock_of_the_database(run: Run, hours: int) -> None:
    """If the clock of a worker's host is wrong by an hour, leases expire neither earlier nor later."""
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has the clock of the one machine that it is on")
    claimed = claim(run)
    wrong = time_machine.travel(timezone.now() + timedelta(hours=hours))
    with wrong:
        jobs.reap()
        of_the_wrong = claim(run, 2)
    assert job_of(run).token == claimed.token
    lease = job_of(run, 2).lease_until
    assert timedelta(seconds=5) < lease - timezone.now() <= timedelta(seconds=10)
    let_the_lease_run_out(run)
    with wrong:
        jobs.reap()
    assert [job_of(run).state, job_of(run, 2).token] == ["waiting", of_the_wrong.token]


def test_many_reapers_take_a_job_back_once(transactional_db: None, world: World) -> None:
    run = start_run(project=world.project, judge=world.judge, by=None)
    claim(run)
    let_the_lease_run_out(run)
    at_once(*[jobs.reap] * 4)
    assert (job_of(run).state, job_of(run).attempt) == ("waiting", 1)
    claim(run)
    jobs.reap()
    assert (job_of(run).state, job_of(run).attempt) == ("working", 2)


def test_a_job_that_killed_its_worker_too_often_has_failed(run: Run) -> None:
    change(run, attempt=len(jobs.PAUSES_SECONDS))
    change(run, 2, state="done")
    claim(run)
    let_the_lease_run_out(run)
    jobs.reap()
    job = job_of(run)
    assert job.state == "failed"
    assert "crashed at each of 5 attempts" in job.error
    perform_job.work_on(Job.Kind.RUN)
    run.refresh_from_db()
    assert run.state == "finished"


def test_a_cancelled_job_keeps_its_lease_while_somebody_is_at_it(
    transactional_db: None, world: World
) -> None:
    """The lease shows that calls are in flight, which a resumed run must count against its budget."""
    run = start_run(project=world.project, judge=world.judge, by=None)
    claimed = claim(run)
    with jobs.Lease(claimed.token) as lease:
        cancel_run(run=run, by=None)
        let_the_lease_run_out(run)
        lease.beat()
        held = job_of(run).lease_until
        assert held > timezone.now()
        with pytest.raises(jobs.StoppedJob):
            lease.require()
    assert (job_of(run).state, job_of(run).token, job_of(run).lease_until) == ("cancelled", "", None)


def test_the_one_who_took_over_is_not_disturbed_by_the_one_who_came_back(run: Run) -> None:
    first = claim(run)
    let_the_lease_run_out(run)
    jobs.reap()
    second = claim(run)
    assert jobs.finish(first, state=Job.State.DONE) is False
    assert jobs.finish(second, state=Job.State.DONE) is True
