"""A judge is one model: where its server answers with another one, a run stops until somebody has seen to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.core.refusals import Conflict
from annotation.judging.services.follow_model import follow_model
from annotation.judging.services.save_judge import add_judge, change_judge, copy_judge
from annotation.judging.services.start_run import resume_run
from annotation.models import CallClaim, Job, Judge, JudgeCall, JudgeExamples, Project, Run, Verdict
from tests.annotation.judging.doing import add_document_set, perform_all, run_to_end
from tests.llm_server import Fault

if TYPE_CHECKING:
    from tests.llm_server import LLMServer

ELM = "The mill burned down at night. Nobody was hurt."


@pytest.fixture
def project(db: None) -> Project:
    made = Project.objects.create(slug="mill", name="Mill study")
    add_set(made, "a")
    return made


def add_set(project: Project, name: str) -> None:
    add_document_set(
        project,
        external_id=name,
        documents=[f"The mill {name} burned down at night. Nobody was hurt."],
        reference=ELM,
        peers={"elm": f"The mill {name} burned down.", "fir": f"Rain fell on {name}."},
    )


def serve(server: LLMServer, model: str) -> None:
    server.always(Fault(completion=lambda said: {**said, "model": model}))


@pytest.fixture
def stopped(project: Project, llm_judge: Judge, llm_server: LLMServer) -> Run:
    """A run that met another model than the run before it."""
    serve(llm_server, "gpt-may")
    assert run_to_end(project, llm_judge).state == Run.State.FINISHED
    add_set(project, "b")
    serve(llm_server, "gpt-june")
    return run_to_end(project, llm_judge)


def verdicts_of(name: str) -> int:
    return Verdict.objects.filter(judge__name=name).count()


def test_a_run_stops_and_keeps_no_verdict_of_the_new_model(stopped: Run, llm_judge: Judge) -> None:
    llm_judge.refresh_from_db()
    assert llm_judge.served_model == "gpt-may"
    assert stopped.state == Run.State.STOPPED
    assert "answers with the model gpt-june, not with gpt-may as before" in stopped.stop_reason
    assert set(Verdict.objects.values_list("check_row__document_set__external_id", flat=True)) == {"a"}
    # What was paid for is kept.
    assert JudgeCall.objects.filter(run=stopped, served_model="gpt-june").exists()


def test_the_run_goes_on_where_the_judges_model_answers_again(stopped: Run, llm_server: LLMServer) -> None:
    assert not CallClaim.objects.exists()
    serve(llm_server, "gpt-may")
    resume_run(run=stopped, max_cost=None, by=None)
    perform_all(stopped)
    assert stopped.state == Run.State.FINISHED
    # What the other model said to the same questions is kept, and stands for nothing.
    asked = JudgeCall.objects.filter(run=stopped)
    assert asked.filter(served_model="gpt-june").exists()
    assert asked.filter(served_model="gpt-may").exists()


def test_the_new_model_becomes_a_judge_that_decides_nothing(
    project: Project, stopped: Run, llm_server: LLMServer
) -> None:
    made = len(llm_server.calls)
    run = follow_model(run=stopped, by=None)
    perform_all(run)
    assert (run.judge.name, run.judge.served_model, run.metrics) == ("scripted-2", "gpt-june", ["coverage"])
    assert run.state == Run.State.FINISHED
    # Both sets, asked anew: replies of the first model are not its own.
    assert verdicts_of("scripted-2") == 2 * verdicts_of("scripted")
    assert len(llm_server.calls) - made == JudgeCall.objects.filter(judge=run.judge).count() > 0
    project.refresh_from_db()
    assert project.deciding_judge is not None
    assert project.deciding_judge.name == "scripted"


def test_of_a_panel_the_member_is_followed_that_changed(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    words = add_judge(project=project, by=None, kind="lexical", name="words")
    panel = add_judge(project=project, by=None, kind="panel", name="both", members=[llm_judge, words])
    serve(llm_server, "gpt-may")
    run_to_end(project, panel)
    add_set(project, "b")
    serve(llm_server, "gpt-june")
    stopped = run_to_end(project, panel)
    assert stopped.state == Run.State.STOPPED
    run = follow_model(run=stopped, by=None)
    perform_all(run)
    assert (run.judge.name, run.state) == ("both-2", Run.State.FINISHED)
    members = run.judge.members.order_by("name").values_list("name", "served_model")
    assert list(members) == [("scripted-2", "gpt-june"), ("words", "")]
    # Once more: the same panel is asked, and there is no third.
    assert follow_model(run=stopped, by=None).judge == run.judge


@pytest.mark.parametrize("other", ["temperature", "examples"])
def test_a_judge_that_is_asked_otherwise_is_not_taken_for_the_new_one(
    project: Project, stopped: Run, llm_judge: Judge, other: str
) -> None:
    there = copy_judge(project=project, judge=llm_judge, stem="other", by=None)
    there.served_model = "gpt-june"
    if other == "temperature":
        there.temperature = 1.5
    else:
        JudgeExamples.objects.create(judge=there, base=llm_judge)
    there.save()
    assert follow_model(run=stopped, by=None).judge.name == "scripted-2"


def test_a_judge_with_examples_is_not_followed_without_them(stopped: Run, llm_judge: Judge) -> None:
    base = Judge.objects.create(name="base", kind="lexical")
    JudgeExamples.objects.create(judge=llm_judge, base=base)
    with pytest.raises(Conflict, match="no other model"):
        follow_model(run=stopped, by=None)


def test_a_form_that_is_sent_twice_makes_one_judge(stopped: Run) -> None:
    follow_model(run=stopped, by=None)
    with pytest.raises(Conflict, match="already running on Mill study"):
        follow_model(run=stopped, by=None)
    assert Judge.objects.filter(kind="openai").count() == 2


def test_there_is_nothing_to_follow_where_the_model_stayed(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    serve(llm_server, "gpt-may")
    run = run_to_end(project, llm_judge)
    with pytest.raises(Conflict, match="no other model"):
        follow_model(run=run, by=None)


def test_a_judge_may_be_let_go_on_with_other_models(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    serve(llm_server, "gpt-may")
    run_to_end(project, llm_judge)
    change_judge(judge=llm_judge, by=None, may_change_model=True)
    add_set(project, "b")
    serve(llm_server, "gpt-june")
    run = run_to_end(project, Judge.objects.get(pk=llm_judge.pk))
    assert run.state == Run.State.FINISHED
    assert Job.objects.filter(run=run, state=Job.State.DONE).count() == 2


def test_a_server_that_names_no_model_changes_nothing(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    serve(llm_server, "gpt-may")
    run_to_end(project, llm_judge)
    add_set(project, "b")
    serve(llm_server, "")
    assert run_to_end(project, llm_judge).state == Run.State.FINISHED
