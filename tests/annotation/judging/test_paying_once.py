from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from django.db import connection

from annotation.models import Job, Judge, JudgeCall, Project, Run, Verdict
from tests.annotation.judging.doing import add_document_set
from tests.annotation.judging.processes import ROOT, start_manage, wait_until, workers
from tests.llm_server import faults

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.llm_server import LLMServer

ANSWER_SECONDS = 180


class Asker:
    def __init__(self, environment: Mapping[str, str], judge: Judge, claim_seconds: float) -> None:
        command = [sys.executable, "-m", "tests.annotation.judging.asking", judge.name, str(claim_seconds)]
        self.process = subprocess.Popen(
            command, env=dict(environment), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n", "the process ended; what it said is above"

    def ask(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("now\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        said, _ = self.process.communicate(timeout=ANSWER_SECONDS)
        return said.strip()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def test_two_processes_that_wait_for_a_dead_one_pay_once_together(
    llm_judge: Judge, llm_server: LLMServer, subprocess_env: dict[str, str]
) -> None:
    llm_server.then(faults.hang())
    with ExitStack() as ending:
        dead, second, third = (Asker(subprocess_env, llm_judge, 3.0) for _ in range(3))
        for each in (second, third):
            ending.callback(each.end)
        dead.ask()
        llm_server.wait_for_calls(1)
        dead.end()
        llm_server.latency = 1.0
        second.ask()
        third.ask()
        assert (second.answer(), third.answer()) == ("yes", "yes")
    assert len(llm_server.calls) == 2
    assert JudgeCall.objects.count() == 1


SENTENCES = ("The mill burned down at night.", "Nobody was hurt.", "A new mill opens in June.")
SLUGS = ("one", "other")


def test_two_workers_at_runs_over_the_same_texts_pay_once(
    llm_judge: Judge, llm_server: LLMServer, subprocess_env: dict[str, str], redis_url: str
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("this run of the tests is on SQLite")
    Judge.objects.update(concurrency=2)
    llm_server.then(faults.slow(8.0))
    environment = {**subprocess_env, "CELERY_BROKER_URL": redis_url}
    for slug in SLUGS:
        add_document_set(
            Project.objects.create(slug=slug, name=slug),
            " ".join(SENTENCES),
            reference=" ".join(SENTENCES),
            **{f"system {number}": sentence for number, sentence in enumerate(SENTENCES)},
        )
    with workers(environment, 2):
        for starting in [
            start_manage(environment, "evaluate", slug, "--judge", llm_judge.name, "--metrics=coverage")
            for slug in SLUGS
        ]:
            _, complaints = starting.communicate(timeout=ANSWER_SECONDS)
            assert starting.returncode == 0, complaints
        # Both runs are in progress before the first question is answered.
        wait_until(lambda: Job.objects.filter(state="working").count() == 2)
        llm_server.wait_for_calls(1)
        assert len(llm_server.calls) == 1
        wait_until(lambda: not Run.objects.filter(state="active").exists())
    assert set(Run.objects.values_list("state", flat=True)) == {"finished"}
    assert Verdict.objects.count() == 2 * 3 * 3
    # One call extracts the claims of the reference, and three check them against the summaries. Each run needs all of
    # them.
    assert len(llm_server.calls) == 1 + 3
    # Each call names the run that paid for it.
    assert JudgeCall.objects.filter(run__isnull=False).count() == 1 + 3
