from __future__ import annotations

import io
import re
import signal
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.db.models.signals import post_save
from django.test.utils import CaptureQueriesContext

from annotation.analysis.leaderboard.leaderboard import leaderboard
from annotation.core.criteria import criteria_in_force
from annotation.core.refusals import Conflict
from annotation.judging.services.start_run import start_run
from annotation.management.commands.evaluate import Command, ScoreBar, _check_bars
from annotation.models import Job, Judge, Project, Run, Score, Summary, Verdict, Worker
from annotation.operator_commands import as_typed
from annotation.sampling.services.sample_checks import sample_checks
from annotation.workers import report_alive
from tests.annotation.judging.processes import manage, start_manage, wait_until
from tests.annotation.planning import answer_sample, lay_sets
from tests.llm_server import LLMServer, faults

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.annotation.cast import World


@pytest.fixture
def slow_server() -> Iterator[LLMServer]:
    with LLMServer(latency=0.5) as server:
        yield server


@pytest.fixture
def slow_judge(transactional_db: None, slow_server: LLMServer) -> Judge:
    return Judge.objects.create(
        name="slow", kind="openai", model="scripted", base_url=slow_server.base_url, concurrency=1
    )


def evaluate(*arguments: str) -> tuple[str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    call_command("evaluate", *arguments, stdout=stdout, stderr=stderr)
    return stdout.getvalue(), stderr.getvalue()


def complaint(*arguments: str) -> CommandError:
    with pytest.raises(CommandError) as refused:
        evaluate(*arguments)
    return refused.value


def test_a_run_is_queued_and_nobody_to_do_it_is_told(world: World) -> None:
    said, warned = evaluate("harbour", "--metrics", "coverage,alignment")
    run = Run.objects.get()
    assert said == f"Run {run.public_id} of lexical is queued: 2 document sets.\n"
    assert warned == f"No worker is running. Start one, or use --wait: {as_typed('worker')}\n"
    assert run.metrics == ["coverage", "alignment"]


def test_the_deciding_judge_is_taken_unless_another_is_named(world: World) -> None:
    other = Judge.objects.create(name="other", kind="lexical")
    evaluate("harbour", "--judge", "other")
    world.project.deciding_judge = other
    world.project.save()
    Run.objects.update(state="cancelled")
    report_alive("ada:1")
    assert evaluate("harbour")[1] == ""
    assert set(Run.objects.values_list("judge__name", flat=True)) == {"other"}


def test_a_project_without_a_judge_gets_the_lexical_one(world: World) -> None:
    world.project.deciding_judge = None
    world.project.save()
    evaluate("harbour")
    assert Run.objects.get().judge == world.judge


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["harbor"], "There is no project 'harbor'. There are: harbour, quarry."),
        (["harbour", "--judge", "gpt"], "There is no judge 'gpt'. Known judges: lexical."),
        (["harbour", "--metrics", "bleu"], "Metrics of a run: coverage, alignment"),
        (["harbour", "--questions", "7"], "used only for question coverage"),
        (["harbour", "--max-cost", "1"], "has no price"),
        *(
            (["harbour", "--wait", "--fail-under", bar], "--fail-under")
            for bar in ("coverage", "coverage=nan", "bleu=0.5")
        ),
    ],
)
def test_what_cannot_be_run_is_told(world: World, words: list[str], told: str) -> None:
    assert told in str(complaint(*words))


def joined(world: World, metrics: list[str]) -> Run:
    return Command(stderr=io.StringIO())._run(
        world.project, world.judge, metrics, None, None, None, wait=True
    )


def test_a_run_under_way_is_joined_under_any_name_of_its_metric(world: World) -> None:
    run = start_run(project=world.project, judge=world.judge, metrics=["alignment"], by=None)
    assert joined(world, ["faithfulness"]) == run


@pytest.mark.parametrize("other", ["trial", "changed claims", "another cap"])
def test_a_run_of_something_else_is_not_joined(world: World, other: str) -> None:
    trial_of = [Summary.objects.filter(is_summary=True).earliest("pk").pk] if other == "trial" else None
    run = start_run(project=world.project, judge=world.judge, trial_of=trial_of, by=None)
    if other == "changed claims":
        Job.objects.filter(run=run).latest("pk").delete()
    if other == "another cap":
        Run.objects.update(max_cost=3.0)
    with pytest.raises(Conflict, match="already running on Harbour study"):
        joined(world, ["coverage"])


def test_rules_of_summarization_are_the_projects_from_then_on(world: World) -> None:
    evaluate("harbour", "--threshold", "0.7", "--strict", "--scale", "10")
    rules = Project.objects.values_list(
        "summarization_threshold", "summarization_strict", "summarization_scale"
    )
    assert rules.get(pk=world.project.pk) == (0.7, True, 10.0)
    evaluate_again = complaint("harbour", "--scale", "0")
    assert "write a number above 0" in str(evaluate_again)
    # A refused run changes no settings.
    complaint("harbour", "--threshold", "0.9", "--metrics", "nonsense")
    assert rules.get(pk=world.project.pk) == (0.7, True, 10.0)


def test_an_instruction_makes_a_judge_of_the_projects_own_once(world: World) -> None:
    Judge.objects.create(name="wise", kind="openai", model="m", base_url="http://127.0.0.1:9/v1")
    for _ in range(2):
        evaluate("harbour", "--judge", "wise", "--instruction", "Numbers may be rounded.")
        Run.objects.update(state="cancelled")
    judges = {run.judge for run in Run.objects.all()}
    assert [(judge.name, judge.custom_instruction, judge.model) for judge in judges] == [
        ("wise-instructed", "Numbers may be rounded.", "m")
    ]
    assert "needs a language model" in str(complaint("harbour", "--instruction", "Be strict."))


def test_a_bar_needs_waiting(world: World) -> None:
    assert "--fail-under needs --wait" in str(complaint("harbour", "--fail-under", "coverage=.5"))
    assert not Run.objects.exists()


def test_a_bar_is_refused_for_a_judge_that_does_not_decide_before_it_costs_anything(world: World) -> None:
    Judge.objects.create(name="other", kind="lexical")
    told = str(complaint("harbour", "--judge", "other", "--wait", "--fail-under", "coverage=0"))
    assert told == (
        "--fail-under tests the scores of Harbour study, which use the judge lexical, not other. Make other the "
        "deciding judge first, or leave --fail-under out."
    )
    assert not Run.objects.exists()


def test_a_wrong_call_ends_otherwise_than_a_low_score(world: World, subprocess_env: dict[str, str]) -> None:
    wrong = manage(subprocess_env, "evaluate", "harbour", "--wait", "--fail-under", "bleu=0.5")
    assert (wrong.returncode, "there is no score 'bleu'" in wrong.stderr) == (2, True)
    assert complaint("harbour", "--metrics", "bleu").returncode == 2


def test_a_broker_that_is_away_costs_no_run(world: World, subprocess_env: dict[str, str]) -> None:
    # Nothing listens on port 9.
    done = manage({**subprocess_env, "CELERY_BROKER_URL": "redis://127.0.0.1:9/0"}, "evaluate", "harbour")
    assert done.returncode == 0, done.stderr
    assert "broker does not take messages" in done.stderr
    assert set(Job.objects.values_list("state", flat=True)) == {"waiting"}


def test_the_result_is_told(world: World, colleague: None) -> None:
    said, _ = evaluate("harbour", "--wait")
    checks = Verdict.objects.filter(run=Run.objects.get()).count()
    expected = (
        rf"Judged by lexical in \d+\.\d s: 4 of 4 summaries in 2 document sets, {checks} checks, "
        rf"{checks} of them now, 0 unscored\.\n"
    )
    assert re.fullmatch(expected, said), said


def test_a_run_under_way_is_waited_for(world: World, colleague: None, slow_judge: Judge) -> None:
    run = start_run(project=world.project, judge=slow_judge, metrics=["alignment", "coverage"], by=None)
    _, told = evaluate("harbour", "--judge", "slow", "--wait")
    assert "waiting for that run" in told
    run.refresh_from_db()
    assert (run.state, Run.objects.count()) == ("finished", 1)


def test_systems_below_a_bar_are_named_and_the_exit_code_is_2(world: World, colleague: None) -> None:
    # No mean reaches .99 and every mean reaches 0. Alignment has no mean, because nothing was aligned.
    failed = complaint(
        "harbour",
        "--metrics=coverage",
        "--wait",
        "--fail-under=coverage=0.99",
        "--fail-under=coverage=0",
        "--fail-under=alignment=0",
    )
    assert failed.returncode == 3
    assert re.fullmatch(
        r"Below the threshold by an unchecked judge:\nalder: coverage 0\.\d{4} < 0\.99, judge only, unchecked\n"
        r"birch: coverage 0\.\d{4} < 0\.99, judge only, unchecked\n"
        r"alder: alignment none < 0, judge only, unchecked\nbirch: alignment none < 0, judge only, unchecked",
        str(failed),
    ), str(failed)


@pytest.mark.parametrize("is_checked", [False, True])
def test_a_bar_is_compared_with_the_value_that_the_leaderboard_shows(
    world: World, colleague: None, is_checked: bool
) -> None:
    lay_sets(world, 15)
    if is_checked:
        answer_sample(
            world, sample_checks(project=world.project, by=world.mona, method="uniform", share=0.9, seed=1)
        )
    title, *lines = str(
        complaint("harbour", "--metrics=coverage", "--wait", "--fail-under=coverage=1")
    ).splitlines()
    (table,) = leaderboard(world.project).tables
    name = table.bases["coverage"].name
    assert name.startswith("estimated from" if is_checked else "judge only, unchecked")
    assert title == f"Below the threshold{'' if is_checked else ' by an unchecked judge'}:"
    assert sorted(lines) == sorted(
        f"{row.system}: coverage {row.scores['coverage'].mean:.4f} < 1, {name}" for row in table.rows
    )
    passed, _ = evaluate("harbour", "--metrics=coverage", "--wait", "--fail-under=coverage=0")
    assert passed.splitlines()[-1] == f"Passed{'' if is_checked else ' by an unchecked judge'}."


def test_many_bars_take_one_leaderboard_and_allow_for_rounding(world: World) -> None:
    # The mean of .3 and .6 is .44999999999999996 in floating point, which must count as the bar of .45.
    for name, value in (("port", 0.3), ("bridge", 0.6)):
        Score.objects.filter(summary__document_set=world.sets[name]).update(coverage=value, alignment=value)
    statements = []
    for bars in (["coverage"], ["coverage", "alignment"]):
        with CaptureQueriesContext(connection) as asked:
            _check_bars([ScoreBar(score, 0.45) for score in bars], world.project)
        statements.append(len(asked))
    assert statements[0] == statements[1] > 0


def test_a_bar_goes_with_the_judge_that_comes_to_decide(world: World, colleague: None) -> None:
    Judge.objects.create(name="first", kind="lexical")
    world.project.deciding_judge = None
    world.project.save()
    failed = complaint("harbour", "--judge", "first", "--wait", "--fail-under", "coverage=1")
    assert failed.returncode == 3
    world.project.refresh_from_db()
    assert str(world.project.deciding_judge) == "first"


def test_a_bar_is_refused_where_another_judge_came_to_decide_meanwhile(world: World, colleague: None) -> None:
    other = Judge.objects.create(name="other", kind="lexical")

    def choose_other(instance: Run, **_: Any) -> None:
        if instance.state == "finished":
            Project.objects.filter(pk=instance.project_id).update(deciding_judge=other)

    post_save.connect(choose_other, sender=Run)
    try:
        failed = complaint("harbour", "--wait", "--fail-under", "coverage=0")
    finally:
        post_save.disconnect(choose_other, sender=Run)
    assert failed.returncode == 1
    assert "which use the judge other, not lexical" in str(failed)


def test_document_sets_that_failed_are_told(
    world: World, colleague: None, slow_judge: Judge, slow_server: LLMServer
) -> None:
    slow_server.where(lambda call: faults.text("garbage") if "reference" in call.question else None)
    stderr = io.StringIO()
    with pytest.raises(CommandError, match="1 of 2 document sets failed") as failed:
        call_command("evaluate", "harbour", "--judge", "slow", "--wait", stdout=io.StringIO(), stderr=stderr)
    assert failed.value.returncode == 1
    assert "bridge: No claims could be extracted from the reference" in stderr.getvalue()


@pytest.mark.parametrize("metric", ["coverage", "coherence"])
def test_a_judge_without_any_usable_answer_is_a_failure_with_the_reasons(
    world: World, colleague: None, slow_judge: Judge, slow_server: LLMServer, metric: str
) -> None:
    slow_server.where(lambda call: None if "reference" in call.question else faults.text("Well, well."))
    # A second run fails again.
    for _ in range(2):
        out, err = io.StringIO(), io.StringIO()
        words = ("harbour", "--judge", "slow", "--wait", "--metrics", metric)
        with pytest.raises(CommandError, match=r"The run is failed\. No answer was usable\.") as failed:
            call_command("evaluate", *words, stdout=out, stderr=err)
        assert failed.value.returncode == 1
        assert "Judged by" not in out.getvalue()
        assert re.search(r"Unscored \d+ times: \w+", err.getvalue())


def test_waiting_brings_a_worker_and_takes_it_away_again(
    world: World, subprocess_env: dict[str, str]
) -> None:
    done = manage(subprocess_env, "evaluate", "harbour", "--judge", "lexical", "--wait")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Judged by lexical in ")
    assert Run.objects.get().state == "finished"
    # The worker has ended and deleted its row.
    assert not Worker.objects.exists()


def test_an_interrupt_stops_the_worker_and_cancels_the_run(
    world: World, subprocess_env: dict[str, str], slow_judge: Judge
) -> None:
    process = start_manage(subprocess_env, "evaluate", "harbour", "--judge", "slow", "--wait")
    try:
        wait_until(lambda: Job.objects.filter(state="working").exists())
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, stderr
    assert "Interrupted; the run is cancelled." in stderr
    run = Run.objects.get()
    assert run.state == "cancelled"
    assert not Job.objects.filter(state="waiting").exists()
    assert not Worker.objects.exists()


def test_criteria_of_a_file_become_the_projects(world: World, tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_text(
        '[{"name": "tone", "question": "Is it neutral?", "scale": [1, 5], "answered_by": "both"}]'
    )
    evaluate("harbour", "--criteria", str(path))
    assert [row.name for row in criteria_in_force(world.project)] == ["unmarked", "tone"]
    assert "criteria" in Run.objects.get().metrics
    path.write_text("[3]")
    assert "JSON list" in str(complaint("harbour", "--criteria", str(path)))


def test_a_run_that_is_under_way_is_not_started_twice(world: World) -> None:
    start_run(project=world.project, judge=world.judge, by=None)
    assert "already running on Harbour study" in str(complaint("harbour"))
