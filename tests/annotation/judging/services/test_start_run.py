from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings

from annotation.core.refusals import Conflict, Invalid
from annotation.judging.services.start_run import cancel_run, resume_run, start_run
from annotation.models import Event, Job, Judge, Project, Score, Worker
from tests.annotation.judging.doing import add_document_set, claim_job, run_to_end

if TYPE_CHECKING:
    from tests.annotation.cast import World


def other_judge(**columns: Any) -> Judge:
    return Judge.objects.create(
        **{"name": "other", "kind": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1", **columns}
    )


def test_a_run_has_one_job_for_each_document_set_with_summaries(world: World) -> None:
    add_document_set(world.project, "A text.", external_id="no summaries")
    run = start_run(project=world.project, judge=world.judge, metrics=["coverage"], by=world.mona)
    assert list(run.jobs.values_list("document_set__external_id", "total", "state")) == [
        ("port", 2, "waiting"),
        ("bridge", 2, "waiting"),
    ]
    assert (run.state, run.metrics, run.started_by) == ("active", ["coverage"], world.mona)


def test_a_run_knows_metrics_by_their_other_names_and_brevity(world: World) -> None:
    named = ["faithfulness", "claim_coverage", "factual_consistency", "alignment", "brevity"]
    run = run_to_end(world.project, world.judge, named)
    assert run.metrics == ["alignment", "coverage", "brevity"]
    # The checks against the sources are answered too.
    assert set(Score.objects.values_list("alignment", flat=True)) != {None}


def test_a_start_is_logged(world: World) -> None:
    run = start_run(project=world.project, judge=world.judge, by=world.mona)
    event = Event.objects.get(verb="start run")
    assert (event.actor, event.target_id) == (world.mona, run.public_id)
    assert event.data == {
        "judge": "lexical",
        "metrics": ["coverage"],
        "n_questions": None,
        "document_sets": 2,
        "prompts": [],
        "max_cost": None,
    }


@pytest.mark.parametrize("metrics", [["topics"], ["coverage", "nonsense"], []])
def test_metrics_that_no_judge_answers_are_refused_with_those_that_are(
    world: World, metrics: list[str]
) -> None:
    with pytest.raises(Invalid, match="coverage, alignment, factual_alignment, question_coverage") as refused:
        start_run(project=world.project, judge=world.judge, metrics=metrics, by=None)
    assert refused.value.code == "unknown_metric"


def test_a_project_without_summary_summaries_is_refused(world: World) -> None:
    with pytest.raises(Invalid, match="no summaries") as refused:
        start_run(project=world.other_project, judge=world.judge, by=None)
    assert refused.value.code == "no_summaries"


def test_a_second_run_of_the_same_judge_is_refused_and_names_the_first(world: World) -> None:
    run = start_run(project=world.project, judge=world.judge, by=None)
    with pytest.raises(Conflict) as refused:
        start_run(project=world.project, judge=world.judge, by=None)
    assert (refused.value.code, refused.value.details) == ("run_active", {"run": run.public_id})


def test_another_judge_may_run_at_the_same_time(world: World) -> None:
    start_run(project=world.project, judge=world.judge, by=None)
    assert start_run(project=world.project, judge=other_judge(), by=None).state == "active"


def test_the_first_judge_of_a_project_becomes_its_deciding_one(world: World) -> None:
    Project.objects.filter(pk=world.project.pk).update(deciding_judge=None)
    start_run(project=world.project, judge=world.judge, by=world.mona)
    world.project.refresh_from_db()
    assert world.project.deciding_judge == world.judge
    event = Event.objects.get(verb="change project")
    assert event.data == {"changed": {"deciding_judge": [None, "lexical"]}}


def test_a_judge_that_decides_again_moves_the_scores_at_once(world: World) -> None:
    Project.objects.filter(pk=world.project.pk).update(deciding_judge=None)
    world.project.refresh_from_db()
    Score.objects.filter(summary=world.summaries["port", "alder"]).update(coverage=None)
    start_run(project=world.project, judge=world.judge, by=None)
    # The old verdicts on alder are yes and no in the first unit, and yes in the second: (1/2 + 1) / 2.
    assert Score.objects.get(summary=world.summaries["port", "alder"]).coverage == 0.75


def test_a_deciding_judge_is_not_replaced(world: World) -> None:
    start_run(project=world.project, judge=other_judge(), by=None)
    world.project.refresh_from_db()
    assert world.project.deciding_judge == world.judge


def test_workers_are_told_after_the_commit_and_not_before(
    world: World, django_capture_on_commit_callbacks: Any
) -> None:
    Worker.objects.all().delete()
    folder = Path(settings.VAR_DIR) / "queue" / "messages"
    for message in folder.iterdir():
        message.unlink()
    with django_capture_on_commit_callbacks() as callbacks:
        run = start_run(project=world.project, judge=world.judge, by=None)
    assert list(folder.iterdir()) == []
    for callback in callbacks:
        callback()
    messages = [json.loads(path.read_text()) for path in folder.iterdir()]
    # One message is sent per worker. No worker lives, so one message waits for the first worker that starts.
    told = [(message["headers"]["task"], message["headers"]["argsrepr"]) for message in messages]
    assert told == [("annotation.work", "('run',)")]
    assert run.jobs.count() == 2


def test_cancelling_stops_what_waits_and_is_logged(world: World) -> None:
    run = start_run(project=world.project, judge=world.judge, by=None)
    run = cancel_run(run=run, by=world.mona)
    assert (run.state, run.stop_reason) == ("cancelled", "Cancelled by mona.")
    assert set(run.jobs.values_list("state", flat=True)) == {"cancelled"}
    assert Event.objects.get(verb="cancel run").data == {"jobs": 2}


def test_cancelling_twice_changes_nothing(world: World) -> None:
    run = start_run(project=world.project, judge=world.judge, by=None)
    cancel_run(run=run, by=world.mona)
    assert cancel_run(run=run, by=world.olga).stop_reason == "Cancelled by mona."
    assert Event.objects.filter(verb="cancel run").count() == 1


def test_cancelling_takes_a_job_from_the_worker_that_is_at_it(world: World) -> None:
    run = start_run(project=world.project, judge=world.judge, by=None)
    first = run.jobs.first()
    assert first is not None
    assert claim_job(first)
    cancel_run(run=run, by=None)
    assert list(run.jobs.values_list("state", flat=True)) == ["cancelled", "cancelled"]


def test_a_resumed_run_waits_again_from_the_first_attempt(world: World) -> None:
    run = start_run(project=world.project, judge=world.judge, by=None)
    cancel_run(run=run, by=None)
    Job.objects.filter(run=run).update(attempt=5, error="broke")
    run = resume_run(run=run, by=world.mona)
    assert (run.state, run.stop_reason, run.finished_at) == ("active", "", None)
    assert set(run.jobs.values_list("state", "attempt", "error")) == {("waiting", 0, "")}
    assert Event.objects.get(verb="resume run").data == {"jobs": 2}


def test_a_finished_run_with_a_failed_job_can_be_resumed(world: World) -> None:
    run = run_to_end(world.project, world.judge)
    failed = run.jobs.first()
    assert failed is not None
    Job.objects.filter(pk=failed.pk).update(state="failed", error="broke")
    resume_run(run=run, by=None)
    assert list(run.jobs.values_list("state", flat=True)) == ["waiting", "done"]


def test_a_run_with_nothing_left_cannot_be_resumed(world: World) -> None:
    run = run_to_end(world.project, world.judge)
    with pytest.raises(Conflict) as refused:
        resume_run(run=run, by=None)
    assert refused.value.code == "nothing_to_resume"


def test_a_run_is_not_resumed_beside_another_one_of_its_judge(world: World) -> None:
    first = start_run(project=world.project, judge=world.judge, by=None)
    cancel_run(run=first, by=None)
    second = start_run(project=world.project, judge=world.judge, by=None)
    with pytest.raises(Conflict) as refused:
        resume_run(run=first, by=None)
    assert refused.value.details == {"run": second.public_id}


def test_a_run_cancelled_after_its_last_job_ended_is_finished_by_resuming(world: World) -> None:
    run = start_run(project=world.project, judge=world.judge, by=None)
    cancel_run(run=run, by=None)
    Job.objects.filter(run=run).update(state="done")
    run = resume_run(run=run, by=None)
    assert run.state == "finished"
