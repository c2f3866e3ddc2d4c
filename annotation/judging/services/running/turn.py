"""A worker's turn at a run: it judges many document sets concurrently, and writes their answers in groups.

The judge works in the event loop of another thread, with a task for each set; this thread reads and writes rows.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from django.db import Error, connection, transaction
from django.db.models import F
from structlog.contextvars import bind_contextvars

from annotation.core import jobs
from annotation.core.refusals import Refusal
from annotation.judging.queries.run_metrics import parts_of
from annotation.judging.queries.runs import is_without_use, why_without_use
from annotation.judging.services.end_run import settle, stop_run
from annotation.judging.services.judges import JudgeAtWork, at_work
from annotation.judging.services.running.answers import Judged, JudgeOfRun, write
from annotation.judging.services.running.claims import ActiveClaims, Owner, keep_claims
from annotation.judging.services.running.database_thread import Grouped
from annotation.judging.services.running.desk import Batch, Due, RowDesk
from annotation.judging.services.running.questions import ActiveQuestions
from annotation.models import Job, Run, Summary
from annotation.scoring.rescore import rescore_now
from evaluation.judging.errors import BudgetSpent, JudgeRefused, JudgeSettings, JudgeUnavailable
from evaluation.judging.orchestration import chunks, judge_texts
from evaluation.judging.protocol import one_pass

if TYPE_CHECKING:
    from django.db.models import QuerySet

TURN_SECONDS = 20.0
"""After these seconds, another waiting run has its turn, and the judge is read again."""
CHECKS_A_TRANSACTION = 100
UNAVAILABLE_IN_A_ROW = 10
"""The number of consecutive document sets without a reply after which the server counts as unavailable."""
LOOK_SECONDS = 1.0
GATHER_SECONDS = 0.01
"""The seconds for which more work is collected after the first piece of a group."""

_Act = Callable[[Sequence[Due]], Sequence[Any] | None]
"""Does database work of one kind, and returns the results; None for no results."""

logger = logging.getLogger(__name__)


def judge_run(run: Run, *, most: int | None = None, is_stopping: Callable[[], bool] = lambda: False) -> bool:
    """Judge up to `most` document sets of a run, until no job waits or the turn ends.

    Returns False if the judge's server is unavailable. If the judge cannot be built, the run stops and the result is
    False.
    """
    try:
        with one_pass(), at_work(run.judge, run=run) as judge:
            turn = Turn(run, judge, jobs.new_token())
            with jobs.Lease(turn.token):
                return turn.pull(most=most, is_stopping=is_stopping)
    except JudgeSettings as failure:
        for claimed in jobs.take(_due_jobs(run)):
            stop_run(run, reason=str(failure), met_by=claimed)
        return False


def _due_jobs(run: Run) -> QuerySet[Job]:
    return jobs.due(Job.Kind.RUN).filter(run=run)


class Turn:
    """The jobs of a run that a worker has taken, with a desk for each."""

    def __init__(self, run: Run, judge: JudgeAtWork, token: str) -> None:
        self.run = run
        self.judge = judge
        self.token = token
        self.by = JudgeOfRun(judge.row, judge.judge.signature, run)
        self.parts = parts_of(run.metrics)
        self.only = frozenset(run.summaries.values_list("pk", flat=True)) if run.is_trial else None
        self.claims: dict[Owner, ActiveClaims] = {}
        self.questions = ActiveQuestions(self.by, run.n_questions)
        self._desks: dict[int, RowDesk] = {}
        self._due: SimpleQueue[Callable[[], None]] = SimpleQueue()
        acts: dict[str, _Act] = {
            "claims": self._keep_claims,
            "questions": self._keep_questions,
            "progress": self._note_progress,
            "answers": self._write,
        }
        self.rows: dict[str, Grouped[Due, Any]] = {
            kind: Grouped(self._due.put, partial(self._attempt, act)) for kind, act in acts.items()
        }
        self._ended = Grouped(self._due.put, self._end)
        self._unavailable_in_a_row = 0
        self._stop: tuple[RowDesk, BaseException] | None = None
        self._is_without_use = False
        # Work on twice as many texts as there are simultaneous calls, so that calls continue while answers are written.
        self._at_once = 2 * judge.judge.concurrency

    # Taking work

    def pull(self, *, most: int | None, is_stopping: Callable[[], bool]) -> bool:
        """Take and do jobs until none is waiting or the turn ends. Returns False if the server is unavailable."""
        end = time.monotonic() + TURN_SECONDS
        room = self._at_once if most is None else most
        is_more = True
        while True:
            is_open = is_more and time.monotonic() < end and not is_stopping() and not self._is_over
            # A set takes as many places as it has summaries, because its summaries are judged at the same time.
            free = room - sum(max(1, desk.claimed.job.total) for desk in self._desks.values())
            # Take at least a fourth at a time, so that many sets are read together.
            if is_open and (free >= room / 4 or not self._desks):
                taken = jobs.take(_due_jobs(self.run), most=max(1, free), token=self.token)
                is_more = bool(taken) and most is None
                if taken:
                    self.begin(taken)
            elif not self._desks:
                break
            if is_stopping():
                # An interrupted command cancels its run. Drop the cancelled jobs: a hanging server must not delay it.
                self._drop_lost()
            if self._desks:
                self._do_what_is_due()
        self._end_turn()
        return self._unavailable_in_a_row < UNAVAILABLE_IN_A_ROW

    @property
    def _is_over(self) -> bool:
        is_away = self._unavailable_in_a_row >= UNAVAILABLE_IN_A_ROW
        return is_away or self._is_without_use or self._stop is not None

    def begin(self, claimed: Sequence[jobs.Claimed]) -> None:
        """Load the rows of these jobs' document sets, and start asking."""
        try:
            batch = Batch(self, claimed)
            desks = [RowDesk(each, batch) for each in claimed]
        except Exception as failure:
            if len(claimed) > 1:
                # Load each set alone, so that a set that cannot be read does not affect the others.
                for each in claimed:
                    self.begin([each])
                return
            logger.exception("Job %s failed", claimed[0].job.public_id)
            jobs.try_later(claimed[0], error=f"{type(failure).__name__}: {failure}")
            return
        for desk in desks:
            # This turn has the job already: another worker returned it to the queue, and this turn took it again with
            # the same token. The earlier work is discarded.
            if (former := self._desks.get(desk.key)) is not None:
                self._drop(former)
            self._desks[desk.key] = desk
            desk.context.run(bind_contextvars, **jobs.log_context(desk.claimed.job))
            desk.task = desk.context.run(self.judge.begin, self._work(desk))
            desk.task.add_done_callback(partial(self._note_end, desk))

    def _note_end(self, desk: RowDesk, task: Future[None]) -> None:
        self._ended.begin((desk, task))

    async def _work(self, desk: RowDesk) -> None:
        await judge_texts(desk.judge, desk, at_once=self._at_once, repeat=desk.repeat)
        desk.require_whole()

    # Database work, in this thread

    def _do_what_is_due(self) -> None:
        """Wait for database work, and do it. Work of one kind that arrives meanwhile is done in groups."""
        try:
            due = [self._due.get(timeout=LOOK_SECONDS)]
        except Empty:
            return
        if len(self._desks) > 1:
            time.sleep(GATHER_SECONDS)
        due += [self._due.get() for _ in range(self._due.qsize())]
        for work in due:
            work()

    def _attempt(self, act: _Act, due: Sequence[Due]) -> list[Any]:
        """Do work of one kind, in few transactions; if one fails, do its work one by one.

        For each piece of work, returns its result or the exception to raise: StoppedJob if the job is lost.
        """
        outcomes: list[Any] = [jobs.StoppedJob()] * len(due)
        # Sort, so that two workers cannot deadlock.
        places = sorted(range(len(due)), key=lambda place: due[place][0].document_set.pk)
        for some in chunks(places, len(due), CHECKS_A_TRANSACTION, lambda place: _checks(due[place])):
            try:
                self._transaction(act, due, some, outcomes)
            except Error:
                logger.warning("A group is written one by one", exc_info=True)
                for place in some:
                    try:
                        self._transaction(act, due, [place], outcomes)
                    except Error as failure:
                        outcomes[place] = failure
        return outcomes

    def _transaction(self, act: _Act, due: Sequence[Due], places: Sequence[int], outcomes: list[Any]) -> None:
        current = [place for place in places if self._is_under_way(due[place][0])]
        if not current:
            return
        try:
            with transaction.atomic():
                # Lock the jobs that this worker still owns.
                mine = jobs.hold([due[place][0].claimed for place in current])
                held = [place for place in current if due[place][0].key in mine]
                results = act([due[place] for place in held]) if held else None
        except Error:
            if not connection.in_atomic_block:
                connection.close_if_unusable_or_obsolete()
            raise
        for place, result in zip(held, results or [None] * len(held), strict=True):
            outcomes[place] = result
        if len(held) < len(current):
            self._drop_lost()

    def _drop_lost(self) -> None:
        """Drop the sets whose job was cancelled or given to another worker."""
        own = Job.objects.filter(token=self.token, state=Job.State.WORKING).values_list("pk", flat=True)
        for key in self._desks.keys() - set(own):
            logger.warning("Job %s is no longer this worker's", self._desks[key].claimed.job.public_id)
            self._drop(self._desks[key])

    def _is_under_way(self, desk: RowDesk) -> bool:
        return self._desks.get(desk.key) is desk

    def _drop(self, desk: RowDesk) -> None:
        desk.task.cancel()
        if self._is_under_way(desk):
            del self._desks[desk.key]

    def _keep_claims(self, held: Sequence[Due]) -> None:
        self.claims |= keep_claims([found for _, some in held for found in some], self.by.signature)

    def _keep_questions(self, held: Sequence[Due]) -> list[bool]:
        return [
            self.questions.keep(desk.document_set.pk, reading.questions or (), desk.source)
            for desk, reading in held
        ]

    def _note_progress(self, held: Sequence[Due]) -> None:
        rows = [Job(pk=desk.key, done=done, total=total, unscored=0) for desk, (done, total) in held]
        Job.objects.bulk_update(rows, ["done", "total", "unscored"])

    def _write(self, held: Sequence[Due]) -> None:
        """Write answers about summaries, and recompute their scores."""
        summaries = sorted(judged.summary.pk for _, judged in held)
        # Lock the summaries first. Sort, so that two jobs cannot deadlock.
        locked = Summary.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=summaries)
        list(locked.order_by("pk").values_list("pk", flat=True))
        write([judged for _, judged in held], project=self.run.project, by=self.by)
        rescore_now(project=self.run.project, summary_ids=summaries)
        counts: defaultdict[int, Counter[str]] = defaultdict(Counter)
        for desk, judged in held:
            unscored = judged.asked.count(None)
            counts[desk.key].update(done=1, unscored=unscored, usable=len(judged.asked) - unscored)
        added = [
            {"pk": key} | {name: F(name) + count for name, count in each.items()}
            for key, each in counts.items()
        ]
        Job.objects.bulk_update([Job(**columns) for columns in added], ["done", "unscored", "usable"])

    # How jobs end

    def _end(self, ended: Sequence[tuple[RowDesk, Future[None]]]) -> list[None]:
        current = [(desk, task) for desk, task in ended if self._is_under_way(desk)]
        failures = {
            desk: asyncio.CancelledError() if task.cancelled() else task.exception() for desk, task in current
        }
        done = [desk for desk, failure in failures.items() if failure is None]
        if done:
            jobs.finish(*(desk.claimed for desk in done))
            self._unavailable_in_a_row = 0
        for desk, failure in failures.items():
            self._drop(desk)
            if failure is None:
                desk.context.run(logger.info, "A document set is judged")
            else:
                self._fail(desk, failure)
        # Test this only after a set without a usable answer, because it costs a query.
        if len(done) < len(current) or any(desk.is_without_use for desk in done):
            self._is_without_use = self._is_without_use or is_without_use(self.run)
        return [None] * len(ended)

    def _fail(self, desk: RowDesk, failure: BaseException) -> None:
        claimed = desk.claimed
        desk.context.run(logger.warning, "A document set was not judged: %s", type(failure).__name__)
        match failure:
            case BudgetSpent() | JudgeRefused() | JudgeSettings():
                # Stop after the open calls of other sets, so that their answers are written.
                if self._stop is None:
                    self._stop = desk, failure
                else:
                    jobs.try_later(claimed, error=str(failure))
            case Refusal():
                jobs.finish(claimed, state=Job.State.FAILED, error=str(failure))
            case JudgeUnavailable():
                self._unavailable_in_a_row += 1
                jobs.try_later(claimed, error=str(failure))
            case _:
                logger.error("Job %s failed", claimed.job.public_id, exc_info=failure)
                jobs.try_later(claimed, error=f"{type(failure).__name__}: {failure}")

    def _end_turn(self) -> None:
        """Stop the run if it cannot continue; end it if all its jobs have ended."""
        if self._stop is not None:
            desk, failure = self._stop
            state = Job.State.CANCELLED if isinstance(failure, BudgetSpent) else Job.State.FAILED
            stop_run(self.run, reason=str(failure), met_by=desk.claimed, state=state)
        elif self._is_without_use:
            stop_run(self.run, reason=why_without_use(self.run))
        settle(self.run)


def _checks(due: Due) -> int:
    """The number of checks that the work writes; work other than answers counts as 1."""
    return len(due[1].sides) if isinstance(due[1], Judged) else 1
