"""Let a judge work through a project, and wait for it if asked to."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError
from functools import partial
from typing import Any, NamedTuple

from django.core.management.base import BaseCommand, CommandError

from annotation.analysis.leaderboard.leaderboard import leaderboard
from annotation.core.jobs import reap
from annotation.core.refusals import Conflict, Refusal
from annotation.judging.queries.run_metrics import RUN_METRICS
from annotation.judging.queries.runs import RunProgress, is_under_way, is_whole, is_worker_alive, run_progress
from annotation.judging.services.judges import LEXICAL, judge_by_name
from annotation.judging.services.start_run import cancel_run, names_once, start_run
from annotation.management.named import project_named
from annotation.management.supervisor import Child, Supervisor, spawned
from annotation.models import SCORES, Check, Judge, Project, Run, Verdict
from annotation.operator_commands import as_typed
from annotation.workers import worker_command, worker_environment
from evaluation.gate import is_below

BELOW_THE_BAR = 3
"""Exit code 2 is what every command ends with that was called in a wrong way."""
TOLD_EVERY_SECONDS = 5.0
REAP_EVERY_SECONDS = 5.0


class ScoreBar(NamedTuple):
    """A score that every system's mean must reach."""

    score: str
    least: float


class Command(BaseCommand):
    help = (
        "Run a judge on a project. Exit codes: 1 failed, 2 invalid arguments, 3 a system is below "
        "--fail-under."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="the project's slug")
        parser.add_argument(
            "--judge", metavar="NAME", help="the project's deciding judge unless named, else lexical"
        )
        parser.add_argument(
            "--metrics",
            metavar="A,B",
            help=f"of {', '.join(RUN_METRICS)}; coverage and alignment unless named",
        )
        parser.add_argument(
            "--questions",
            metavar="N",
            type=int,
            dest="n_questions",
            help="for question_coverage: number of questions per document set; by default, the judge "
            "generates some only if none were added",
        )
        parser.add_argument(
            "--wait",
            action="store_true",
            help="wait until the run ends, with its own worker if none is running",
        )
        parser.add_argument(
            "--max-cost",
            metavar="SUM",
            type=float,
            help="stop before calls cost more, at the judge's prices",
        )
        parser.add_argument(
            "--repeat",
            metavar="SHARE",
            type=float,
            dest="repeat_share",
            help="ask again about this random share of the summaries, such as .1, past the stored calls",
        )
        parser.add_argument(
            "--fail-under",
            metavar="SCORE=VALUE",
            action="append",
            default=[],
            type=_bar,
            dest="bars",
            help="exit with 3 if any system's mean of the score is below the value or missing; only with the "
            "deciding judge",
        )

    def handle(
        self,
        *_: Any,
        project: str,
        judge: str | None,
        metrics: str | None,
        n_questions: int | None,
        max_cost: float | None,
        repeat_share: float | None,
        wait: bool,
        bars: list[ScoreBar],
        **__: Any,
    ) -> None:
        if bars and not wait:
            raise CommandError("--fail-under needs --wait, because nothing has been judged before that.")
        row = project_named(project)
        try:
            if bars:
                _require_deciding(_judge_named(judge, row), row)
            wanted = row.usual_metrics
            if metrics is not None:
                wanted = [name.strip() for name in metrics.split(",") if name.strip()]
            run = self._run(row, judge, wanted, n_questions, max_cost, repeat_share, wait)
        except Refusal as refusal:
            raise CommandError(refusal.message) from refusal
        if not wait:
            self._say_started(run)
            return
        self._report(run, self._wait(run))
        if bars:
            row.refresh_from_db()
            _require_deciding(run.judge, row)
            _check_bars(bars, row)

    def _run(
        self,
        project: Project,
        judge: str | None,
        metrics: list[str],
        n_questions: int | None,
        max_cost: float | None,
        repeat_share: float | None,
        wait: bool,
    ) -> Run:
        """A new run, or with --wait the one that this judge has under way over all of the project for the same."""
        chosen = _judge_named(judge, project)
        try:
            return start_run(
                project=project,
                judge=chosen,
                metrics=metrics,
                n_questions=n_questions,
                max_cost=max_cost,
                repeat_share=repeat_share,
                by=None,
            )
        except Conflict as conflict:
            run = Run.objects.filter(public_id=conflict.details.get("run", "")).first()
            asked = (set(names_once(metrics)), n_questions, max_cost, repeat_share)
            if (
                run is None
                or not wait
                or (set(run.metrics), run.n_questions, run.max_cost, run.repeat_share) != asked
                or not is_whole(run)
            ):
                raise
            self.stderr.write(
                f"The judge {chosen.name} is running on {project.name} already: waiting for that run."
            )
            return run

    def _say_started(self, run: Run) -> None:
        jobs = run_progress(run).total_jobs
        self.stdout.write(f"Run {run.public_id} of {run.judge} is queued: {jobs} document sets.")
        if not is_worker_alive():
            self.stderr.write(f"No worker is running. Start one, or use --wait: {as_typed('worker')}")

    def _wait(self, run: Run) -> float:
        """Wait until the run is over; the seconds that it took.

        Anyone who interrupts cancels the run, unless workers of others are at it.
        """
        began = time.monotonic()
        line = _ProgressLine(self)

        with Supervisor(
            say=self.stderr.write, chore=reap, chore_every_seconds=REAP_EVERY_SECONDS
        ) as supervisor:
            has_own_worker = False
            # A worker that was killed counts as alive for a while, so the question is asked again and again.
            while not supervisor.stopping.is_set():
                line.show(run_progress(run))
                if not has_own_worker and not is_worker_alive():
                    # Standard output is the result's: Celery says there that it stops.
                    begin = partial(
                        spawned, worker_command(), worker_environment(), stdout=subprocess.DEVNULL
                    )
                    supervisor.add(Child("worker", begin))
                    has_own_worker = True
                if supervisor.watch(lambda: not is_under_way(run), seconds=TOLD_EVERY_SECONDS):
                    line.end()
                    return time.monotonic() - began
            line.end()
            if has_own_worker:
                cancel_run(run=run, by=None)
        raise CommandError(
            "Interrupted; the run is cancelled. The same command resumes it."
            if has_own_worker
            else f"Interrupted. Run {run.public_id} continues on other workers.",
            returncode=130,
        )

    def _report(self, run: Run, seconds: float) -> None:
        run.refresh_from_db()
        progress = run_progress(run)
        asked = Verdict.objects.filter(run=run).count()
        checks = (
            Check.objects.filter(verdicts__judge=run.judge, project=run.project).order_by().distinct().count()
        )
        if run.state != Run.State.FAILED:
            self.stdout.write(
                f"Judged by {run.judge} in {seconds:.1f} s: {progress.summaries_done:,} of "
                f"{progress.summaries_total:,} summaries in {progress.total_jobs:,} document sets, "
                f"{checks:,} checks, {asked:,} of them now, {progress.unscored:,} unscored."
            )
        if progress.calls:
            self.stdout.write(_paid(progress))
        for failure in progress.failures:
            self.stderr.write(f"{failure.document_set}: {failure.error}")
        for reason, times in progress.unscored_reasons:
            self.stderr.write(f"Unscored {times:,} times: {reason}")
        if run.state != Run.State.FINISHED or progress.failed:
            raise CommandError(f"The run is {run.get_state_display().lower()}. {run.stop_reason}")


class _ProgressLine:
    """How far the run is: one line that changes on a terminal, else a new one every few seconds."""

    def __init__(self, command: BaseCommand) -> None:
        self._command = command
        self._is_terminal = sys.stderr.isatty()
        self._told = ""

    def show(self, progress: RunProgress) -> None:
        line = (
            f"{progress.summaries_done:,} of {progress.summaries_total:,} summaries judged, "
            f"{progress.done} of {progress.total_jobs} document sets done"
            f"{f', {progress.failed} failed' if progress.failed else ''}"
            f"{f'; to be tried again: {progress.failures[0].error}' if progress.failures else ''}"
        )
        if line == self._told:
            return
        self._told = line
        self._command.stderr.write(
            f"\r{line}" if self._is_terminal else line, ending="" if self._is_terminal else "\n"
        )
        self._command.stderr.flush()

    def end(self) -> None:
        if self._is_terminal and self._told:
            self._command.stderr.write("")


def _paid(progress: RunProgress) -> str:
    cost = f", cost {progress.cost:.4f}" if progress.cost else ""
    return (
        f"{progress.calls:,} calls, {progress.prompt_tokens:,} prompt tokens, "
        f"{progress.completion_tokens:,} reply tokens{cost}."
    )


def _bar(argument: str) -> ScoreBar:
    name, _, value = argument.partition("=")
    if name not in SCORES:
        raise ArgumentTypeError(f"there is no score {name!r}; scores are {', '.join(SCORES)}")
    try:
        least = float(value)
    except ValueError:
        least = math.nan
    if not 0.0 <= least <= 1.0:
        raise ArgumentTypeError(f"write SCORE=VALUE with a value from 0 to 1, not {argument!r}")
    return ScoreBar(name, least)


def _judge_named(name: str | None, project: Project) -> Judge:
    """The judge of that name, unless named the deciding one, else the lexical one."""
    deciding = project.deciding_judge.name if project.deciding_judge else LEXICAL
    return judge_by_name(name or deciding, project)


def _require_deciding(judge: Judge, project: Project) -> None:
    """Refuse a bar for a judge whose answers the scores do not rest on: it would be held against another's."""
    deciding = project.deciding_judge
    if deciding is not None and deciding != judge:
        raise CommandError(
            f"--fail-under tests the scores of {project.name}, which use the judge {deciding}, not {judge}. "
            f"Make {judge} the deciding judge first, or leave --fail-under out."
        )


def _check_bars(bars: list[ScoreBar], project: Project) -> None:
    """Refuse if any system's mean is below a bar, at any target length; no mean reaches no bar."""
    tables = leaderboard(project).tables
    below = [
        f"{row.system}: {bar.score} {'none' if mean is None else f'{mean:.4f}'} < {bar.least:g}"
        for bar in bars
        for table in tables
        for row in table.rows
        if (mean := row.scores[bar.score].mean) is None or is_below(mean, bar.least)
    ]
    if below:
        raise CommandError("Below the threshold:\n" + "\n".join(below), returncode=BELOW_THE_BAR)
