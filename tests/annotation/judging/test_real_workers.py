from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.db.models import Count

from annotation.models import Check, Job, Judge, JudgeCall, Project, Run, Score
from annotation.tasks import NICENESS
from tests.annotation.judging.doing import add_document_set
from tests.annotation.judging.processes import manage, wait_until, workers
from tests.llm_server import LLMServer

if TYPE_CHECKING:
    from collections.abc import Iterator

QUICK = "tests.annotation.judging.quick_settings"
PLACES = ("mill", "barn", "school", "bridge", "church", "bakery", "station", "library")


@pytest.fixture
def slow_server() -> Iterator[LLMServer]:
    with LLMServer(latency=0.15) as server:
        yield server


@pytest.fixture
def slow_judge(transactional_db: None, slow_server: LLMServer) -> Judge:
    return Judge.objects.create(
        name="slow", kind="openai", model="scripted", base_url=slow_server.base_url, concurrency=1
    )


@pytest.fixture
def project(transactional_db: None) -> Project:
    return Project.objects.create(slug="mill", name="Mill study")


def summaries() -> dict[str, str]:
    return {f"system {place}": f"The {place} burned down at night." for place in PLACES}


def verdicts_a_check() -> set[int]:
    return set(Check.objects.annotate(n=Count("verdicts")).values_list("n", flat=True))


def start(environment: dict[str, str], project: Project, judge: Judge) -> Run:
    started = manage(environment, "evaluate", project.slug, "--judge", judge.name, "--metrics=coverage")
    assert started.returncode == 0, started.stderr
    return Run.objects.get()


def is_over(run: Run) -> bool:
    return not Run.objects.filter(pk=run.pk, state="active").exists()


def test_a_worker_killed_in_mid_run_loses_nothing_and_repeats_nothing(
    project: Project, slow_judge: Judge, slow_server: LLMServer, subprocess_env: dict[str, str]
) -> None:
    environment = {**subprocess_env, "DJANGO_SETTINGS_MODULE": QUICK}
    add_document_set(
        project,
        "The mill burned down at night.",
        reference="The mill burned down at night. Nobody was hurt.",
        **summaries(),
    )
    # One call extracts claims from the reference, and eight check them against the summaries.
    questions = 1 + len(PLACES)
    run = start(environment, project, slow_judge)
    with workers(environment) as [first]:
        wait_until(lambda: Job.objects.get(run=run).done >= 2)
        os.kill(first.pid, signal.SIGKILL)
        first.wait(60)
    half_way = Job.objects.get(run=run)
    assert half_way.state == "working"
    assert half_way.done < len(PLACES)
    answered_before, asked_before = JudgeCall.objects.count(), len(slow_server.calls)
    with workers(environment):
        wait_until(lambda: is_over(run))
    job = Job.objects.get(run=run)
    assert (job.state, job.attempt, job.done, job.unscored) == ("done", 2, len(PLACES), 0)
    run.refresh_from_db()
    assert run.state == "finished"
    # Two claims compared with eight summaries, each answered once.
    assert Check.objects.count() == 2 * len(PLACES)
    assert verdicts_a_check() == {1}
    # Only calls in flight at the kill were repeated.
    assert len(slow_server.calls) - asked_before == questions - answered_before
    assert JudgeCall.objects.count() == questions
    # Only the summary about the mill expresses the first of the two sentences.
    scores = Score.objects.filter(project=project).values_list("summary__system__name", "coverage")
    assert dict(scores) == {name: 0.5 if name == "system mill" else 0.0 for name in summaries()}


def test_a_worker_lets_people_go_first(transactional_db: None, subprocess_env: dict[str, str]) -> None:
    lower = 0 if connection.vendor == "sqlite" else NICENESS
    with workers(subprocess_env) as [worker]:
        assert os.getpriority(os.PRIO_PROCESS, worker.pid) == os.getpriority(os.PRIO_PROCESS, 0) + lower
