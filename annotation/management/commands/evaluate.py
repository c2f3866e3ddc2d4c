"""Run a judge on a project; with `--wait`, wait for the end."""

from __future__ import annotations

import logging
import math
import signal
import sys
import threading
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from annotation import perform_job
from annotation.core.criteria import criteria_in_force
from annotation.core.refusals import Conflict, Invalid, NotFound, Refusal
from annotation.judging.queries.judges import judges_of
from annotation.judging.queries.run_metrics import RUN_METRICS
from annotation.judging.queries.runs import RunProgress, is_under_way, is_whole, is_worker_alive, run_progress
from annotation.judging.services.judges import LEXICAL, judge_by_name
from annotation.judging.services.save_judge import change_judge, copy_judge
from annotation.judging.services.start_run import cancel_run, names_once, start_run
from annotation.management.named import project_named
from annotation.models import SCORES, Check, Job, Judge, Project, Run, Verdict
from annotation.operator_commands import add_summarization, as_typed
from annotation.projects.services.change_project import change_project
from annotation.workers import Heartbeat, new_worker_name
from evaluation.errors import EvaluationError
from evaluation.metrics import Criterion, read_criteria

BELOW_THE_BAR = 3
"""The exit code for a mean below its minimum; 2 means invalid arguments, as for every command."""
PROGRESS_EVERY_SECONDS = 5.0
LOOK_SECONDS = 0.1


class ScoreBar(NamedTuple):
    """A minimum of the option `--fail-under`: every system's mean of `score` must be at least `least`."""

    score: str
    least: float


class Command(BaseCommand):
    # Django's checks would load every page and all statistics, so skip them.
    requires_system_checks = ()
    help = (
        "Run a judge on a project. Exit codes: 1 failed, 2 invalid arguments, 3 a system is below "
        "--fail-under."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="the project's slug")
        parser.add_argument(
            "--judge", metavar="NAME", help="by default the project's deciding judge, else lexical"
        )
        parser.add_argument(
            "--metrics",
            metavar="A,B",
            help=f"of {', '.join(RUN_METRICS)}; by default coverage and alignment",
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
            "--criteria",
            metavar="FILE",
            type=_criteria,
            help="JSON with own criteria for the project, see the help; a criterion of the same name is replaced",
        )
        parser.add_argument(
            "--wait",
            action="store_true",
            help="wait until the run ends, and work on it here if no worker is running",
        )
        parser.add_argument(
            "--instruction",
            metavar="TEXT",
            default="",
            help="an addition to the judge's instructions; a copy of the judge with its own name gets it",
        )
        add_summarization(parser)
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
        instruction: str,
        criteria: tuple[Criterion, ...] | None,
        **options: Any,
    ) -> None:
        if bars and not wait:
            raise CommandError("--fail-under needs --wait, because nothing has been judged before that.")
        row = project_named(project)
        rules = {
            f"summarization_{name}": options[name]
            for name in ("threshold", "strict", "scale")
            if options[name] is not None
        }
        try:
            # In one transaction, a refused run also rolls back changed settings and the copy of a judge.
            with transaction.atomic():
                if criteria:
                    replaced = {each.name for each in criteria}
                    kept = [each.fact for each in criteria_in_force(row) if each.name not in replaced]
                    row = change_project(project=row, by=None, criteria=[*kept, *criteria])
                row = change_project(project=row, by=None, **rules) if rules else row
                _require_scores(bars, row)
                chosen = _instructed(_judge_named(judge, row), row, instruction.strip())
                if bars:
                    _require_deciding(chosen, row)
                wanted = row.usual_metrics
                if metrics is not None:
                    wanted = [name.strip() for name in metrics.split(",") if name.strip()]
                run = self._run(row, chosen, wanted, n_questions, max_cost, repeat_share, wait)
        except Refusal as refusal:
            wrong = 2 if isinstance(refusal, (Invalid, NotFound)) else 1
            raise CommandError(refusal.message, returncode=wrong) from refusal
        if not wait:
            self._say_started(run)
            return
        self._report(run, self._wait(run))
        if bars:
            row.refresh_from_db()
            _require_deciding(run.judge, row)
            self.stdout.write(_check_bars(bars, row))

    def _run(
        self,
        project: Project,
        chosen: Judge,
        metrics: list[str],
        n_questions: int | None,
        max_cost: float | None,
        repeat_share: float | None,
        wait: bool,
    ) -> Run:
        """Start a run. With `wait`, continue an active run with the same judge and options instead, if there is one."""
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
        """Wait until the run is over, and return the seconds.

        If no worker is alive, this process works on the run. If this process has worked on the run, an interrupt
        cancels the run.
        """
        began, line, shown_at, own = time.monotonic(), _ProgressLine(self), -math.inf, _OwnWorker()
        with _interrupted() as is_interrupted, own:
            while is_under_way(run) and not is_interrupted.is_set():
                # Check repeatedly, because a killed worker counts as alive for a while.
                if own.has_begun or not is_worker_alive():
                    own.ensure_running()
                if time.monotonic() - shown_at > PROGRESS_EVERY_SECONDS:
                    line.show(run_progress(run))
                    shown_at = time.monotonic()
                is_interrupted.wait(LOOK_SECONDS)
            line.show(run_progress(run))
            line.end()
            if not is_interrupted.is_set():
                return time.monotonic() - began
            if own.has_begun:
                cancel_run(run=run, by=None)
        raise CommandError(
            "Interrupted; the run is cancelled. The same command resumes it."
            if own.has_begun
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


@contextmanager
def _interrupted() -> Iterator[threading.Event]:
    event = threading.Event()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda *_: event.set()) for number in numbers]
    try:
        yield event
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


class _OwnWorker:
    """A worker for runs in this process. Its heartbeat makes other processes count it as a worker."""

    def __init__(self) -> None:
        self._heartbeat = Heartbeat(new_worker_name())
        self._thread: threading.Thread | None = None

    @property
    def has_begun(self) -> bool:
        return self._thread is not None

    def ensure_running(self) -> None:
        if self._thread is None:
            # Log lines would disturb the command's own output.
            logging.getLogger("annotation").setLevel(logging.WARNING)
            self._heartbeat.start()
        elif self._thread.is_alive():
            return
        self._thread = threading.Thread(
            target=perform_job.work_on_in_thread, args=(Job.Kind.RUN,), name="runs"
        )
        self._thread.start()

    def __enter__(self) -> _OwnWorker:
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is None:
            return
        perform_job.stopping.set()
        self._thread.join()
        perform_job.stopping.clear()
        self._heartbeat.stop()


class _ProgressLine:
    def __init__(self, command: BaseCommand) -> None:
        self._command = command
        self._is_terminal = sys.stderr.isatty()
        self._shown = ""

    def show(self, progress: RunProgress) -> None:
        line = (
            f"{progress.summaries_done:,} of {progress.summaries_total:,} summaries judged, "
            f"{progress.done} of {progress.total_jobs} document sets done"
            f"{f', {progress.failed} failed' if progress.failed else ''}"
            f"{f'; to be tried again: {progress.failures[0].error}' if progress.failures else ''}"
        )
        if line == self._shown:
            return
        self._shown = line
        self._command.stderr.write(
            f"\r{line}" if self._is_terminal else line, ending="" if self._is_terminal else "\n"
        )
        self._command.stderr.flush()

    def end(self) -> None:
        if self._is_terminal and self._shown:
            self._command.stderr.write("")


def _paid(progress: RunProgress) -> str:
    cost = f", cost {progress.cost:.4f}" if progress.cost else ""
    return (
        f"{progress.calls:,} calls, {progress.prompt_tokens:,} prompt tokens, "
        f"{progress.completion_tokens:,} reply tokens{cost}."
    )


def _bar(argument: str) -> ScoreBar:
    name, _, value = argument.partition("=")
    try:
        least = float(value)
    except ValueError:
        least = math.nan
    if not 0.0 <= least <= 1.0:
        raise ArgumentTypeError(f"write SCORE=VALUE with a value from 0 to 1, not {argument!r}")
    return ScoreBar(name, least)


def _criteria(argument: str) -> tuple[Criterion, ...]:
    try:
        return read_criteria(Path(argument).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, EvaluationError) as error:
        raise ArgumentTypeError(str(error)) from error


def _judge_named(name: str | None, project: Project) -> Judge:
    deciding = project.deciding_judge.name if project.deciding_judge else LEXICAL
    return judge_by_name(name or deciding, project)


def _instructed(judge: Judge, project: Project, instruction: str) -> Judge:
    if instruction in ("", judge.custom_instruction):
        return judge
    if judge.kind != Judge.Kind.OPENAI:
        raise CommandError(f"--instruction needs a language model as the judge; {judge} has no use for one.")
    alike = {name: getattr(judge, name) for name in ("kind", "model", "base_url")}
    known = judges_of(project).filter(
        project=project, archived_at=None, custom_instruction=instruction, **alike
    )
    if (found := known.first()) is not None:
        return found
    made = copy_judge(project=project, judge=judge, stem=f"{judge.name}-instructed", by=None)
    return change_judge(judge=made, custom_instruction=instruction, by=None)


def _require_scores(bars: list[ScoreBar], project: Project) -> None:
    known = [*SCORES, *(each.name for each in criteria_in_force(project))]
    for bar in bars:
        if bar.score not in known:
            raise CommandError(
                f"--fail-under: there is no score {bar.score!r}; scores are {', '.join(known)}.", returncode=2
            )


def _require_deciding(judge: Judge, project: Project) -> None:
    """Refuse minimums if another judge decides, because they would test that judge's scores."""
    deciding = project.deciding_judge
    if deciding is not None and deciding != judge:
        raise CommandError(
            f"--fail-under tests the scores of {project.name}, which use the judge {deciding}, not {judge}. "
            f"Make {judge} the deciding judge first, or leave --fail-under out."
        )


def _check_bars(bars: list[ScoreBar], project: Project) -> str:
    from annotation.analysis.leaderboard.leaderboard import leaderboard  # noqa: PLC0415 - loads all statistics
    from evaluation.gate import is_below  # noqa: PLC0415

    tables = leaderboard(project).tables
    is_unchecked = any(table.bases[bar.score].is_unchecked for table in tables for bar in bars)
    by = " by an unchecked judge" if is_unchecked else ""
    below = [
        f"{row.system}: {bar.score} {'none' if mean is None else f'{mean:.4f}'} < {bar.least:g}, "
        f"{table.bases[bar.score].name}".removesuffix(", ")
        for bar in bars
        for table in tables
        for row in table.rows
        if (mean := row.scores[bar.score].mean) is None or is_below(mean, bar.least)
    ]
    if below:
        raise CommandError(f"Below the threshold{by}:\n" + "\n".join(below), returncode=BELOW_THE_BAR)
    return f"Passed{by}."
