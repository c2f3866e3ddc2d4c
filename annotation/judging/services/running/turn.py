"""A worker's turn at a run: it judges many document sets concurrently, and writes their answers in groups.

The judge works in the event loop of another thread, with a task for each set; this thread reads and writes rows. A
group needs a fixed number of statements.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from django.db import Error, connection, transaction
from django.db.models import Case, F, Value, When
from structlog.contextvars import bind_contextvars

from annotation.core import jobs
from annotation.core.criteria import asked_of_judges
from annotation.core.refusals import Refusal
from annotation.judging.queries.run_metrics import parts_of
from annotation.judging.queries.runs import is_without_use, why_without_use
from annotation.judging.services.end_run import settle, stop_run
from annotation.judging.services.judges import JudgeAtWork, at_work, kept_signature
from annotation.judging.services.running.answers import Given, Judged, JudgeOfRun, write
from annotation.judging.services.running.claims import FoundClaims, Owner, active_claims, keep_claims
from annotation.judging.services.running.database_thread import tell
from annotation.judging.services.running.desk import Known, RowDesk
from annotation.judging.services.running.questions import ActiveQuestions
from annotation.judging.services.running.texts import TextsToJudge
from annotation.models import Check, DocumentSet, Job, Judge, Run, Score, Summary
from annotation.scoring.rescore import rescore_now
from evaluation.judging.errors import BudgetSpent, JudgeRefused, JudgeSettings, JudgeUnavailable
from evaluation.judging.orchestration import judge_texts
from evaluation.judging.protocol import DocumentReading, one_pass

if TYPE_CHECKING:
    from django.db.models import QuerySet

TURN_SECONDS = 20.0
"""After these seconds, another waiting run has its turn, and the judge is read again."""
CHECKS_A_TRANSACTION = 100
OFFLINE_SETS_AT_ONCE = 50
OFFLINE_SUMMARIES_AT_ONCE = 10
UNAVAILABLE_IN_A_ROW = 10
"""The number of consecutive document sets without a reply after which the server counts as unavailable."""
LOOK_SECONDS = 1.0
GATHER_SECONDS = 0.03
"""The seconds for which more work is collected after the first piece of a group."""

_ENDED = "ended"

logger = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Set:
    """A document set in progress, with its numbers of unusable and usable answers."""

    claimed: jobs.Claimed
    desk: RowDesk
    context: contextvars.Context = field(default_factory=contextvars.copy_context)
    task: Future[None] = field(default_factory=Future)
    unscored: int = 0
    usable: int = 0

    @property
    def key(self) -> int:
        return self.claimed.job.pk


@dataclass(frozen=True, slots=True)
class _Due:
    """Database work for a set, and the future that gets its result."""

    kind: str
    of: _Set
    value: Any
    result: Future[Any] = field(default_factory=Future)


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
    """The jobs of a run that a worker has taken. It implements `Rows` for the desks of their document sets."""

    def __init__(self, run: Run, judge: JudgeAtWork, token: str) -> None:
        self.run = run
        self.judge = judge
        self.token = token
        self._by = JudgeOfRun(judge.row, kept_signature(judge.judge.signature), run)
        self._parts = parts_of(run.metrics)
        self._only = frozenset(run.summaries.values_list("pk", flat=True)) if run.is_trial else None
        self._claims: dict[Owner, Any] = {}
        self._questions = ActiveQuestions(self._by, run.n_questions)
        self._sets: dict[int, _Set] = {}
        self._of_desk: dict[RowDesk, _Set] = {}
        self._due: SimpleQueue[_Due] = SimpleQueue()
        # Work is done in this order: claims first, because they lead to further calls.
        self._kinds: dict[str, Callable[[Sequence[_Due]], Sequence[Any] | None]] = {
            "claims": self._keep_claims,
            "questions": self._keep_questions,
            "progress": self._note_progress,
            "answers": self._write,
        }
        self._unavailable_in_a_row = 0
        self._stop: tuple[_Set, BaseException] | None = None
        self._is_without_use = False
        is_offline = judge.row.kind == Judge.Kind.LEXICAL
        # Work on twice as many sets as there are simultaneous calls, so that calls continue while answers are written.
        self._sets_at_once = OFFLINE_SETS_AT_ONCE if is_offline else 2 * judge.judge.concurrency
        self._summaries_at_once = OFFLINE_SUMMARIES_AT_ONCE if is_offline else 2 * judge.row.concurrency

    # Taking work

    def pull(self, *, most: int | None, is_stopping: Callable[[], bool]) -> bool:
        """Take and do jobs until none is waiting or the turn ends. Returns False if the server is unavailable."""
        end = time.monotonic() + TURN_SECONDS
        room = self._sets_at_once if most is None else most
        is_more = True
        while True:
            is_open = is_more and time.monotonic() < end and not is_stopping() and not self._is_over
            # A set takes as many places as it has summaries, because its summaries are judged at the same time.
            free = room - sum(max(1, each.claimed.job.total) for each in self._sets.values())
            # Take at least a fourth at a time, so that many sets are read together.
            if is_open and (free >= room / 4 or not self._sets):
                taken = jobs.take(_due_jobs(self.run), most=max(1, free), token=self.token)
                is_more = bool(taken) and most is None
                self.begin(taken)
            elif not self._sets:
                break
            if is_stopping():
                # Do not wait for a server that hangs: an interrupted command cancels its run, which loses the jobs.
                self._drop_lost()
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
            desks = self._desks(claimed) if claimed else []
        except Exception as failure:
            if len(claimed) > 1:
                # Load each set alone, so that a set that cannot be read does not affect the others.
                for each in claimed:
                    self.begin([each])
                return
            logger.exception("Job %s failed", claimed[0].job.public_id)
            jobs.try_later(claimed[0], error=f"{type(failure).__name__}: {failure}")
            return
        for each, desk in zip(claimed, desks, strict=True):
            # This turn has the job already: another worker returned it to the queue, and this turn took it again with
            # the same token. The earlier work is discarded.
            if (former := self._sets.get(each.job.pk)) is not None:
                self._drop(former)
            one = self._sets[each.job.pk] = self._of_desk[desk] = _Set(each, desk)
            one.context.run(bind_contextvars, **jobs.log_context(each.job))
            one.task = one.context.run(self.judge.begin, self._work(one))
            one.task.add_done_callback(partial(self._put_ended, one))

    def _put_ended(self, one: _Set, task: Future[None]) -> None:
        self._due.put(_Due(_ENDED, one, task))

    def _desks(self, claimed: Sequence[jobs.Claimed]) -> list[RowDesk]:
        sets = [_document_set(each) for each in claimed]
        # Use the run of the taken jobs, because the project's rules may have changed since the turn began.
        run = claimed[0].job.run or self.run
        texts = TextsToJudge(sets, run.project, self._only)
        summaries = [summary for each in sets for summary in texts.summaries[each.pk]]
        references = [reference for each in sets for reference in texts.references(each.pk)]
        owners: list[Owner] = [(one.pk, None) for one in (*summaries, *references)] + [
            (None, one.pk) for one in sets
        ]
        for owner in owners:
            self._claims.pop(owner, None)
        self._claims |= active_claims(owners)
        if "questions" in self._parts:
            self._questions.load([each.pk for each in sets])
        keys = [summary.pk for summary in summaries]
        checked: defaultdict[int, set[int]] = defaultdict(set)
        if empty := [summary.pk for summary in summaries if summary.is_empty]:
            for summary, claim in Check.objects.filter(summary__in=empty).values_list(
                "summary_id", "claim_id"
            ):
                checked[summary or 0].add(claim)
        known = Known(
            texts,
            self._claims,
            self._questions,
            Given.of(self.judge.row, keys),
            {row.name: row for row in asked_of_judges(self.run.project)} if "criteria" in self._parts else {},
            frozenset(Score.objects.filter(summary__in=keys).values_list("summary_id", flat=True)),
            checked,
        )
        return [
            RowDesk(
                each,
                known,
                judge=self.judge.judge_of(each),
                again=self.judge.repeat_judge(each, self.run),
                repeats=self._repeats,
                signature=self._by.signature,
                parts=self._parts,
                rows=self,
            )
            for each in sets
        ]

    def _repeats(self, summary: int) -> bool:
        """True if the judge is asked again about a summary. The choice is random, but the same after the run is
        resumed.
        """
        return random.Random(f"{self.run.public_id} {summary}").random() < (self.run.repeat_share or 0.0)

    async def _work(self, one: _Set) -> None:
        await judge_texts(one.desk.judge, one.desk, at_once=self._summaries_at_once, repeat=one.desk.repeat)
        one.desk.require_whole()

    # Calls from desks, in the event loop

    async def keep_claims(self, desk: RowDesk, found: Sequence[FoundClaims]) -> None:
        await self._done("claims", desk, found)

    async def keep_questions(self, desk: RowDesk, reading: DocumentReading) -> bool:
        return bool(await self._done("questions", desk, reading))

    def note_progress(self, desk: RowDesk, done: int, total: int) -> None:
        self._due.put(_Due("progress", self._of_desk[desk], (done, total)))

    async def write(self, desk: RowDesk, judged: Judged) -> None:
        await self._done("answers", desk, judged)

    async def _done(self, kind: str, desk: RowDesk, value: Any) -> Any:
        due = _Due(kind, self._of_desk[desk], value)
        self._due.put(due)
        return await asyncio.wrap_future(due.result)

    # Database work, in this thread

    def _do_what_is_due(self) -> None:
        """Do all due work, in groups of one kind. Waits for the first piece."""
        groups: dict[str, list[_Due]] = {kind: [] for kind in (*self._kinds, _ENDED)}
        for due in self._gathered():
            groups[due.kind].append(due)
        for kind in self._kinds:
            for group in _by_size(groups[kind]):
                self._attempt(kind, group)
        self._end([(due.of, due.value) for due in groups[_ENDED] if self._is_under_way(due.of)])

    def _gathered(self) -> Iterator[_Due]:
        waiting: set[int] = set()
        end = 0.0
        try:
            # Stop waiting if every set waits for this thread, because then no more work can arrive.
            while len(waiting) < len(self._sets):
                due = self._due.get(timeout=max(0.0, end - time.monotonic()) if end else LOOK_SECONDS)
                end = end or time.monotonic() + GATHER_SECONDS
                if due.kind != "progress":
                    waiting.add(due.of.key)
                yield due
        except Empty:
            self.judge.require_asking()

    def _attempt(self, kind: str, group: Sequence[_Due], *, is_again: bool = False) -> None:
        """Do the work of a group in one transaction; if that fails, one by one. Skip sets whose job is lost."""
        group = [due for due in group if self._is_under_way(due.of) and not due.result.cancelled()]
        # Sort, so that two workers cannot deadlock.
        group.sort(key=lambda due: due.of.desk.document_set.pk)
        if not group:
            return
        try:
            with transaction.atomic():
                held = self._held(group)
                results = (self._kinds[kind](held) if held else None) or [None] * len(held)
        except Error as failure:
            if not connection.in_atomic_block:
                connection.close_if_unusable_or_obsolete()
            if not is_again:
                logger.warning("A group of %s is written one by one", len(group), exc_info=True)
            for due in group:
                if is_again:
                    _tell(due, failure)
                else:
                    self._attempt(kind, [due], is_again=True)
            return
        for due, result in zip(held, results, strict=True):
            if isinstance(due.value, Judged):
                unscored = due.value.asked.count(None)
                due.of.unscored += unscored
                due.of.usable += len(due.value.asked) - unscored
            _tell(due, result)

    def _held(self, group: Sequence[_Due]) -> list[_Due]:
        """Lock the jobs that this worker still owns, and return their work; drop the work of lost jobs."""
        mine = jobs.hold([*{due.of.key: due.of.claimed for due in group}.values()])
        held = [due for due in group if due.of.key in mine]
        if len(held) < len(group):
            self._drop_lost()
        return held

    def _drop_lost(self) -> None:
        """Drop the sets whose job was cancelled or given to another worker."""
        own = Job.objects.filter(token=self.token, state=Job.State.WORKING).values_list("pk", flat=True)
        for key in self._sets.keys() - set(own):
            logger.warning("Job %s is no longer this worker's", self._sets[key].claimed.job.public_id)
            self._drop(self._sets[key])

    def _is_under_way(self, one: _Set) -> bool:
        return self._sets.get(one.key) is one

    def _drop(self, one: _Set) -> None:
        one.task.cancel()
        self._of_desk.pop(one.desk, None)
        if self._is_under_way(one):
            del self._sets[one.key]

    def _keep_claims(self, held: Sequence[_Due]) -> None:
        self._claims |= keep_claims([found for due in held for found in due.value], self._by.signature)

    def _keep_questions(self, held: Sequence[_Due]) -> list[bool]:
        return [
            self._questions.keep(due.of.desk.document_set.pk, due.value.questions or (), due.of.desk.source)
            for due in held
        ]

    def _note_progress(self, held: Sequence[_Due]) -> None:
        alike: dict[tuple[int, int], list[int]] = defaultdict(list)
        for due in held:
            alike[due.value].append(due.of.key)
        for (done, total), keys in alike.items():
            Job.objects.filter(pk__in=keys).update(total=total, done=done, unscored=0)

    def _write(self, held: Sequence[_Due]) -> None:
        """Write answers about summaries, and recompute their scores."""
        summaries = sorted(due.value.summary.pk for due in held)
        # Lock the summaries first, as every change of a check does. Sort, so that two jobs cannot deadlock.
        locked = Summary.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=summaries)
        list(locked.order_by("pk").values_list("pk", flat=True))
        write([due.value for due in held], project=self.run.project, by=self._by)
        rescore_now(project=self.run.project, summary_ids=summaries)
        counts: defaultdict[int, Counter[str]] = defaultdict(Counter)
        for due in held:
            unscored, asked = due.value.asked.count(None), len(due.value.asked)
            counts[due.of.key].update(done=1, unscored=unscored, usable=asked - unscored)
        columns = {name: F(name) + _by_key(counts, name) for name in ("done", "unscored", "usable")}
        Job.objects.filter(pk__in=counts).update(**columns)

    # How jobs end

    def _end(self, ended: Sequence[tuple[_Set, Future[None]]]) -> None:
        done = [one for one, task in ended if not task.cancelled() and task.exception() is None]
        if done:
            jobs.finish(*(one.claimed for one in done))
            self._unavailable_in_a_row = 0
        for one in done:
            self._drop(one)
            one.context.run(logger.info, "A document set is judged")
        failed = [(one, task.exception()) for one, task in ended if one not in done]
        for one, failure in failed:
            self._drop(one)
            self._fail(one, failure or asyncio.CancelledError())
        # Test this only after a set without a usable answer, because it costs a query.
        if failed or any(one.unscored and not one.usable for one in done):
            self._is_without_use = self._is_without_use or is_without_use(self.run)

    def _fail(self, one: _Set, failure: BaseException) -> None:
        one.context.run(logger.warning, "A document set was not judged: %s", type(failure).__name__)
        match failure:
            case BudgetSpent() | JudgeRefused() | JudgeSettings():
                # Stop after the open calls of other sets, so that their answers are written.
                if self._stop is None:
                    self._stop = one, failure
                else:
                    jobs.try_later(one.claimed, error=str(failure))
            case Refusal():
                jobs.finish(one.claimed, state=Job.State.FAILED, error=str(failure))
            case JudgeUnavailable():
                self._unavailable_in_a_row += 1
                jobs.try_later(one.claimed, error=str(failure))
            case _:
                logger.error("Job %s failed", one.claimed.job.public_id, exc_info=failure)
                jobs.try_later(one.claimed, error=f"{type(failure).__name__}: {failure}")

    def _end_turn(self) -> None:
        """Stop the run if it cannot continue; end it if all its jobs have ended."""
        if self._stop is not None:
            one, failure = self._stop
            state = Job.State.CANCELLED if isinstance(failure, BudgetSpent) else Job.State.FAILED
            stop_run(self.run, reason=str(failure), met_by=one.claimed, state=state)
        elif self._is_without_use:
            stop_run(self.run, reason=why_without_use(self.run))
        settle(self.run)


def _document_set(claimed: jobs.Claimed) -> DocumentSet:
    assert claimed.job.document_set is not None, "a job of a run"
    return claimed.job.document_set


def _tell(due: _Due, outcome: object) -> None:
    # Do the work even if the task was cancelled meanwhile.
    if due.result.set_running_or_notify_cancel():
        tell(due.result, outcome)


def _by_key(counts: Mapping[int, Counter[str]], name: str) -> Case | Value:
    if len(same := {each[name] for each in counts.values()}) == 1:
        return Value(same.pop())
    return Case(*(When(pk=key, then=Value(each[name])) for key, each in counts.items()))


def _by_size(group: Sequence[_Due]) -> Iterator[list[_Due]]:
    """Yield batches of at most CHECKS_A_TRANSACTION checks; work other than answers counts as 1.

    A larger item is a batch of its own.
    """
    some: list[_Due] = []
    size = 0
    for due in group:
        own = len(due.value.sides) if due.kind == "answers" else 1
        if some and size + own > CHECKS_A_TRANSACTION:
            yield some
            some, size = [], 0
        some.append(due)
        size += own
    if some:
        yield some
