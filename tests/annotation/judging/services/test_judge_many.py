from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation import perform_job
from annotation.core import jobs
from annotation.judging.queries.runs import run_to_work_on
from annotation.judging.services.judges import at_work
from annotation.judging.services.running import turn
from annotation.judging.services.running.spend import cost_of_calls
from annotation.judging.services.running.turn import Turn, judge_run
from annotation.judging.services.start_run import resume_run, start_run
from annotation.models import Job, Judge, Project, Run, Score, Verdict
from evaluation.judging.protocol import one_pass
from tests.annotation.judging.doing import add_document_set, due
from tests.annotation.judging.processes import wait_until
from tests.llm_server import faults

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.llm_server import Call, LLMServer

PLACES = ("mill", "barn", "school", "bridge", "church", "bakery", "station", "library")


def project_of(sets: int) -> Project:
    project = Project.objects.create(slug=f"study-{sets}", name="Study")
    for number in range(sets):
        place = PLACES[number % len(PLACES)]
        add_document_set(
            project,
            f"The {place} {number} burned down at night. Nobody was hurt.",
            external_id=str(number),
            reference=f"The {place} {number} burned down.",
            elm=f"The {place} {number} burned down.",
        )
    return project


def started(project: Project, judge: Judge, **options: Any) -> Run:
    return start_run(project=project, judge=judge, metrics=["coverage", "alignment"], by=None, **options)


def states(run: Run) -> dict[str, int]:
    found = list(run.jobs.values_list("state", flat=True))
    return {state: found.count(state) for state in set(found)}


@pytest.fixture
def lexical(transactional_db: None) -> Judge:
    return Judge.objects.create(name="lexical", kind="lexical")


def test_statements_do_not_grow_with_document_sets(lexical: Judge) -> None:
    counts = {}
    for sets in (4, 24):
        run = started(project_of(sets), lexical)
        with CaptureQueriesContext(connection) as asked:
            judge_run(run)
        counts[sets] = len(asked)
        run.refresh_from_db()
        assert (run.state, Score.objects.filter(project=run.project).count()) == ("finished", sets)
    # Sets are written in groups. Six times as many sets make at most one or two more groups, if answers arrive apart.
    assert counts[24] < 2 * counts[4]


def test_a_turn_without_work_does_not_wait(lexical: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    run = started(project_of(1), lexical)
    judge_run(run)
    # Waiting with a negative timeout raises an error.
    monkeypatch.setattr(turn, "LOOK_SECONDS", -1.0)
    assert judge_run(run)


@pytest.mark.slow
def test_as_many_calls_as_the_judge_may_make_are_under_way(llm_judge: Judge, llm_server: LLMServer) -> None:
    Judge.objects.update(concurrency=6, reply_format="json_schema")
    llm_server.latency = 0.3
    llm_judge.refresh_from_db()
    run = started(project_of(12), llm_judge)
    assert judge_run(run)
    assert llm_server.most_at_once == 6
    assert states(run) == {"done": 12}
    # One call extracts claims from each reference, and each summary needs one call for coverage and one for
    # alignment.
    assert len(llm_server.calls) == 3 * 12


def test_a_set_that_cannot_be_read_keeps_no_other(lexical: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    run = started(project_of(4), lexical)
    read = turn.RowDesk.__init__

    def breaks(self: Any, claimed: Any, *known: Any, **options: Any) -> None:
        if claimed.job.document_set.external_id == "2":
            raise ValueError("not to be read")
        read(self, claimed, *known, **options)

    monkeypatch.setattr(turn.RowDesk, "__init__", breaks)
    judge_run(run)
    assert states(run) == {"done": 3, "waiting": 1}
    assert run.jobs.get(state="waiting").error == "ValueError: not to be read"


def test_a_group_that_cannot_be_written_is_written_one_by_one(
    lexical: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = started(project_of(4), lexical)
    keep = turn.keep_claims

    def breaks(found: Any, signature: str) -> Any:
        kept = keep(found, signature)
        if any("mill" in claim.text for each in found for claim in each.claims):
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1 FROM no_such_table")
        return kept

    monkeypatch.setattr(turn, "keep_claims", breaks)
    judge_run(run)
    # Only the set of the mill will be tried again.
    assert states(run) == {"done": 3, "waiting": 1}
    assert run.jobs.filter(state="waiting", document_set__external_id="0").exists()


def test_a_server_that_is_away_costs_no_set_more_than_one_attempt(
    llm_judge: Judge, llm_server: LLMServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.judging.openai._caller._FIRST_BACKOFF_SECONDS", 0.01)
    monkeypatch.setattr(turn, "UNAVAILABLE_IN_A_ROW", 2)
    Judge.objects.update(concurrency=1)
    llm_judge.refresh_from_db()
    llm_server.always(faults.status(503))
    run = started(project_of(8), llm_judge)
    # Two sets are asked about at a time. After two failures no set is taken, but the first failure makes room for a
    # third.
    assert not judge_run(run)
    attempts = list(run.jobs.values_list("attempt", flat=True))
    assert (max(attempts), sum(attempts) <= 3) == (1, True)
    llm_server.always(None)
    assert judge_run(run, most=1)
    assert states(run)["done"] == 1


def test_what_others_have_in_flight_is_written_before_a_spent_run_stops(
    llm_judge: Judge, llm_server: LLMServer
) -> None:
    Judge.objects.update(concurrency=4, prompt_price=1.0, completion_price=1.0, max_tokens=100)
    llm_judge.refresh_from_db()
    run = started(project_of(8), llm_judge, max_cost=0.003)
    while Run.objects.get(pk=run.pk).state == "active" and run_to_work_on():
        judge_run(run)
    run.refresh_from_db()
    assert run.state == "stopped"
    assert run.cost <= 0.003
    done = run.jobs.filter(state="done").count()
    assert set(states(run)) <= {"done", "cancelled"}
    assert Verdict.objects.filter(run=run).count() >= 2 * done
    assert run.cost == pytest.approx(cost_of_calls(run))


def test_a_server_that_is_away_keeps_no_other_run(
    llm_judge: Judge, llm_server: LLMServer, lexical: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.judging.openai._caller._FIRST_BACKOFF_SECONDS", 0.01)
    monkeypatch.setattr(turn, "UNAVAILABLE_IN_A_ROW", 1)
    monkeypatch.setattr(perform_job, "FIRST_PAUSE_SECONDS", 60.0)
    monkeypatch.setattr(perform_job, "LONGEST_PAUSE_SECONDS", 60.0)
    llm_server.always(faults.status(503))
    away, other = started(project_of(8), llm_judge), started(project_of(4), lexical)
    working = threading.Thread(target=perform_job.work_on, args=(Job.Kind.RUN,))
    working.start()
    try:
        # The other run finishes before the first run is tried again.
        wait_until(lambda: Run.objects.get(pk=other.pk).state == "finished", seconds=50)
        assert Run.objects.get(pk=away.pk).state == "active"
    finally:
        perform_job.stopping.set()
        working.join()
        perform_job.stopping.clear()


def test_what_stands_is_not_counted_twice_where_a_group_breaks_off(
    lexical: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn, "CHECKS_A_TRANSACTION", 1)
    run = started(project_of(4), lexical)
    write, written = turn.write, list[Any]()

    def breaks_once(judged: Any, **options: Any) -> None:
        written.append(judged)
        if len(written) == 3:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1 FROM no_such_table")
        write(judged, **options)

    monkeypatch.setattr(turn, "write", breaks_once)
    judge_run(run)
    assert set(run.jobs.values_list("state", "done", "total")) == {("done", 1, 1)}


def test_a_job_that_is_taken_again_in_the_same_turn_is_answered_once(
    llm_judge: Judge, llm_server: LLMServer
) -> None:
    """A turn takes a job a second time, because the job's lease seems to have expired, as after a leap of the
    database's clock.
    """
    run = started(project_of(1), llm_judge)
    with one_pass(), at_work(llm_judge, run=run) as judge:
        working = Turn(run, judge, jobs.new_token())
        for _ in range(2):
            run.jobs.update(state="waiting", lease_until=None)
            working.begin(jobs.take(due(run), token=working.token))
        working.pull(most=None, is_stopping=lambda: True)
    assert states(run) == {"done": 1}
    verdicts = Verdict.objects.filter(run=run)
    # There is one claim for coverage and one for alignment.
    assert verdicts.count() == verdicts.values("check_row").distinct().count() == 2


def work_off(run: Run) -> str:
    while Run.objects.get(pk=run.pk).state == "active" and run_to_work_on():
        judge_run(run)
    run.refresh_from_db()
    return run.state


def asks_for_claims(call: Call) -> bool:
    return not call.question.keys() & {"claims", "summary"}


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [(lambda call: True, "failed"), (lambda call: not asks_for_claims(call), "done")],
    ids=["no claims are extracted", "no verdict is usable"],
)
@pytest.mark.slow
def test_a_judge_of_no_use_is_not_asked_about_the_whole_project(
    llm_judge: Judge, llm_server: LLMServer, rule: Callable[[Call], bool], outcome: str
) -> None:
    Judge.objects.update(concurrency=1)
    llm_judge.refresh_from_db()
    llm_server.where(lambda call: faults.text("I would rather not.") if rule(call) else None)
    run = start_run(project=project_of(24), judge=llm_judge, metrics=["coverage"], by=None)
    assert work_off(run) == "stopped"
    assert run.stop_reason.startswith("No usable answer for the last 10 document sets.")
    # Two sets are judged at a time, so a set that was in progress with the tenth is still written.
    assert 10 <= states(run)[outcome] <= 12
    assert Verdict.objects.filter(run=run, label__isnull=False).count() == 0
    # A resumed run may fail on as many sets again; after the repair it finishes.
    resume_run(run=run, by=None)
    assert work_off(run) == "stopped"
    llm_server.where(lambda call: None)
    resume_run(run=run, by=None)
    assert work_off(run) == "finished"


def test_a_set_that_is_tried_again_does_not_hide_that_a_judge_is_of_no_use(
    llm_judge: Judge, llm_server: LLMServer
) -> None:
    Judge.objects.update(concurrency=1)
    llm_judge.refresh_from_db()
    llm_server.always(faults.text("I would rather not."))
    run = started(project_of(14), llm_judge)
    # A set with a temporary failure waits for a later attempt.
    later = timezone.now() + timedelta(minutes=1)
    run.jobs.filter(document_set__external_id="13").update(attempt=1, queued_at=later)
    assert work_off(run) == "stopped"


@pytest.mark.slow
def test_a_judge_that_is_of_some_use_is_asked_to_the_end(llm_judge: Judge, llm_server: LLMServer) -> None:
    Judge.objects.update(concurrency=1)
    llm_judge.refresh_from_db()
    # The eight names repeat, so one of every eight document sets is judged.
    llm_server.where(
        lambda call: (
            None
            if asks_for_claims(call) or "bridge" in str(call.question)
            else faults.text("I would rather not.")
        )
    )
    run = started(project_of(24), llm_judge)
    assert work_off(run) == "finished"
    assert Verdict.objects.filter(run=run, label__isnull=False).count() == 3 * 2
