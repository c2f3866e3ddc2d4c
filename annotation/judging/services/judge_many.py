"""A worker's turn at a run: many document sets are asked about side by side, and written together as answers come.

The judge is asked in an event loop of its own thread; this thread reads and writes the rows meanwhile. Every group of
steps that is due takes the same number of statements, however many document sets are in it.
"""

from __future__ import annotations

import contextvars
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import Error, connection, transaction
from django.db.models import Case, F, Value, When
from structlog.contextvars import bind_contextvars

from annotation.core import jobs
from annotation.core.refusals import Refusal
from annotation.judging.queries.runs import is_without_use, why_without_use
from annotation.judging.services.asked_claims import ActiveClaims, keep_claims
from annotation.judging.services.asked_questions import ActiveQuestions
from annotation.judging.services.asked_texts import TextsToJudge
from annotation.judging.services.end_run import settle, stop_run
from annotation.judging.services.judge_document_set import (
    Ask,
    DocumentSetWork,
    KeepClaims,
    KeepQuestions,
    NoteProgress,
    Reading,
    Step,
    Steps,
    WriteAnswers,
    parts_of,
)
from annotation.judging.services.judges import JudgeAtWork, at_work, kept_signature
from annotation.judging.services.kept_answers import Given, Judged, write
from annotation.judging.services.let_decide import decide_after
from annotation.models import DocumentSet, Job, Judge, Run, Score, Summary
from annotation.scoring.rescore import rescore_now
from evaluation.judging.errors import BudgetSpent, JudgeRefused, JudgeSettings, JudgeUnavailable
from evaluation.judging.protocol import one_pass

if TYPE_CHECKING:
    from django.db.models import QuerySet

TURN_SECONDS = 20.0
"""After so long another run that waits has its turn, and the judge is read again."""
CHECKS_A_TRANSACTION = 100
OFFLINE_SETS_AT_ONCE = 50
UNAVAILABLE_IN_A_ROW = 10
"""So many document sets that the server did not answer for, and no other, mean that it is away."""
LOOK_SECONDS = 1.0
GATHER_SECONDS = 0.03
"""What is answered so soon after an answer is written together with it."""

logger = logging.getLogger(__name__)

StepKind = TypeVar("StepKind", bound=Step)


@dataclass(slots=True)
class _Flow:
    """One job under way; `written` are the peers that are done, `unscored` and `usable` count their answers."""

    claimed: jobs.Claimed
    work: DocumentSetWork
    steps: Steps
    context: contextvars.Context
    written: set[int] = field(default_factory=set)
    unscored: int = 0
    usable: int = 0

    @classmethod
    def started(cls, claimed: jobs.Claimed, work: DocumentSetWork) -> _Flow:
        context = contextvars.copy_context()
        context.run(bind_contextvars, **jobs.told_of(claimed.job))
        return cls(claimed, work, work.steps(), context)


_Due = tuple[_Flow, StepKind]


@dataclass(slots=True)
class _DueSteps:
    """Steps that wait to be done, of all flows."""

    claims: list[_Due[KeepClaims]] = field(default_factory=list)
    questions: list[_Due[KeepQuestions]] = field(default_factory=list)
    progress: list[_Due[NoteProgress]] = field(default_factory=list)
    answers: list[_Due[WriteAnswers]] = field(default_factory=list)


def judge_run(run: Run, *, most: int | None = None, is_stopping: Callable[[], bool] = lambda: False) -> bool:
    """Have the run's judge answer document sets, as many side by side as fill its calls, until none of the run waits or
    the turn is over; at most `most` of them. False where the judge's server is away.
    """
    try:
        with one_pass(), at_work(run.judge, run=run) as judge:
            turn = _Turn(run, judge, jobs.new_token())
            with jobs.Lease(turn.token):
                return turn.pull(most=most, is_stopping=is_stopping)
    except JudgeSettings as failure:
        for claimed in jobs.take(_due(run)):
            stop_run(run, reason=str(failure), met_by=claimed)
        return False


def _due(run: Run) -> QuerySet[Job]:
    return jobs.due(Job.Kind.RUN).filter(run=run)


class _Turn:
    """The jobs that a worker has taken of a run, each somewhere on its way."""

    def __init__(self, run: Run, judge: JudgeAtWork, token: str) -> None:
        self.run = run
        self.judge = judge
        self.token = token
        self.signature = kept_signature(judge.judge.signature)
        self.parts = parts_of(run.metrics)
        self.only = frozenset(run.peers.values_list("pk", flat=True)) if run.is_trial else None
        self.claims = ActiveClaims()
        self.questions = ActiveQuestions(judge.row, self.signature, run.n_questions)
        self.flows: dict[int, _Flow] = {}
        self.asked = 0
        self.answered: SimpleQueue[tuple[_Flow, Any]] = SimpleQueue()
        self.due = _DueSteps()
        self.done: list[_Flow] = []
        self.failed: list[tuple[_Flow, BaseException]] = []
        self.unavailable_in_a_row = 0
        self.stop: tuple[_Flow, BaseException] | None = None
        self.is_without_use = False

    # Taking work

    def pull(self, *, most: int | None, is_stopping: Callable[[], bool]) -> bool:
        """Take and do jobs until none waits, the turn is over, or no more can be asked."""
        end = time.monotonic() + TURN_SECONDS
        room = self._sets_at_once() if most is None else most
        is_more = True
        while True:
            is_open = is_more and time.monotonic() < end and not is_stopping() and not self._is_over
            free = room - self._weight()
            # A fourth at a time, so that many are read together.
            if is_open and (free >= room / 4 or not self.flows):
                taken = jobs.take(_due(self.run), most=max(1, free), token=self.token)
                is_more = bool(taken) and most is None
                self.begin(taken)
            elif not self.flows:
                break
            self._go_on()
        self._end_turn()
        return self.unavailable_in_a_row < UNAVAILABLE_IN_A_ROW

    @property
    def _is_over(self) -> bool:
        is_away = self.unavailable_in_a_row >= UNAVAILABLE_IN_A_ROW
        return is_away or self.is_without_use or self.stop is not None

    def _sets_at_once(self) -> int:
        if self.judge.row.kind == Judge.Kind.LEXICAL:
            return OFFLINE_SETS_AT_ONCE
        # Twice as many as calls may run at once: while some are written, the others' calls are under way.
        return 2 * self.judge.judge.concurrency

    def _weight(self) -> int:
        """How many sets of one summary what is under way is worth."""
        return sum(max(1, flow.claimed.job.total) for flow in self.flows.values())

    def begin(self, claimed: Sequence[jobs.Claimed]) -> None:
        """Read what is in the rows of these jobs' document sets, and take the first steps."""
        try:
            flows = self._flows(claimed) if claimed else []
        except Exception as failure:
            if len(claimed) > 1:
                # One that cannot be read must not keep the others.
                for each in claimed:
                    self.begin([each])
                return
            logger.exception("Job %s failed", claimed[0].job.public_id)
            jobs.try_later(claimed[0], error=f"{type(failure).__name__}: {failure}")
            return
        for flow in flows:
            # Taken back by another worker and taken again here, under the same token: it starts over.
            if (former := self.flows.get(flow.claimed.job.pk)) is not None:
                self._drop(former)
            self.flows[flow.claimed.job.pk] = flow
            self._advance(flow, None)

    def _is_under_way(self, flow: _Flow) -> bool:
        return self.flows.get(flow.claimed.job.pk) is flow

    def _flows(self, claimed: Sequence[jobs.Claimed]) -> list[_Flow]:
        sets = [_document_set(each) for each in claimed]
        keys = [each.pk for each in sets]
        # As the jobs were taken with it: the rules may have been changed since the turn began.
        run = claimed[0].job.run
        texts = TextsToJudge(sets, self.run.project if run is None else run.project, self.only)
        peers = [peer.pk for key in keys for peer in texts.peers[key]]
        models = [model.pk for key in keys for model in texts.models(key)]
        self.claims.load(summaries=[*peers, *models], document_sets=keys)
        if "questions" in self.parts:
            self.questions.load(keys)
        read = Reading(
            judge=self.judge,
            signature=self.signature,
            parts=self.parts,
            texts=texts,
            claims=self.claims,
            questions=self.questions,
            given=Given.of(self.judge.row, peers),
            scored=frozenset(Score.objects.filter(summary__in=peers).values_list("summary_id", flat=True)),
        )
        return [
            _Flow.started(
                each, DocumentSetWork(document_set, replace(read, judge=self.judge.judge_of(document_set)))
            )
            for each, document_set in zip(claimed, sets, strict=True)
        ]

    # Going on

    def _go_on(self) -> None:
        """Take in what was answered, waiting for it where nothing else is due, and do what follows."""
        for flow, reply in self._replies():
            self._advance(flow, reply)
        # Claims first: they lead to further calls.
        self._in_groups(self.due.claims, self._keep_claims)
        self._in_groups(self.due.questions, self._keep_questions, most=1)
        self._in_groups(self.due.progress, self._note_progress)
        self._in_groups(self.due.answers, self._write_answers)
        self._end()

    def _replies(self) -> Iterator[tuple[_Flow, Any]]:
        due = self.due
        is_idle = not (due.claims or due.questions or due.progress or due.answers or self.done or self.failed)
        try:
            if is_idle and self.asked:
                yield self._heard(self.answered.get(timeout=LOOK_SECONDS))
            end = time.monotonic() + GATHER_SECONDS
            while self.asked:
                yield self._heard(self.answered.get(timeout=max(0.0, end - time.monotonic())))
        except Empty:
            self.judge.require_asking()

    def _heard(self, reply: tuple[_Flow, Any]) -> tuple[_Flow, Any]:
        self.asked -= 1
        return reply

    def _advance(self, flow: _Flow, reply: Any) -> None:
        """Take the flow to its next step."""
        if not self._is_under_way(flow):
            return
        try:
            step = flow.steps.send(reply)
        except StopIteration:
            self.done.append(flow)
        except Exception as failure:  # noqa: BLE001 - the boundary of a job, which `_fail` logs
            self.failed.append((flow, failure))
        else:
            self._put(flow, step)

    def _put(self, flow: _Flow, step: Step) -> None:
        match step:
            case Ask():
                self.asked += 1
                asking = flow.context.run(self.judge.begin, step.questions)
                asking.add_done_callback(partial(self._take_in, flow))
            case KeepClaims():
                self.due.claims.append((flow, step))
            case KeepQuestions():
                self.due.questions.append((flow, step))
            case NoteProgress():
                self.due.progress.append((flow, step))
            case WriteAnswers():
                self.due.answers.append((flow, step))

    def _take_in(self, flow: _Flow, asking: Any) -> None:
        # What is broken off at the end of a turn is awaited by nobody.
        if not asking.cancelled():
            self.answered.put((flow, asking.result()))

    def _in_groups(
        self, due: list[_Due[StepKind]], do: Callable[[Sequence[_Due[StepKind]]], None], most: int = 100
    ) -> None:
        """Do these steps together, each group in one transaction; where a group fails, one by one."""
        while due:
            group, due[:] = [each for each in due[:most] if self._is_under_way(each[0])], due[most:]
            if not group:
                continue
            try:
                self._attempt(group, do)
            except Error:
                logger.warning("A group of %s document sets is written one by one", len(group), exc_info=True)
                for each in group:
                    try:
                        self._attempt([each], do)
                    except Error as failure:
                        self.failed.append((each[0], failure))

    def _attempt(
        self, group: Sequence[_Due[StepKind]], do: Callable[[Sequence[_Due[StepKind]]], None]
    ) -> None:
        try:
            do(group)
        except Error:
            if not connection.in_atomic_block:
                connection.close_if_unusable_or_obsolete()
            raise

    def _held(self, group: Sequence[_Due[StepKind]]) -> list[_Due[StepKind]]:
        """Those whose job is still this worker's, held until the transaction ends. Where one was lost, all that were
        are let go: a run is cancelled as a whole.
        """
        mine = jobs.hold([flow.claimed for flow, _ in group])
        held = [each for each in group if each[0].claimed.job.pk in mine]
        if len(held) < len(group):
            own = set(
                Job.objects.filter(token=self.token, state=Job.State.WORKING).values_list("pk", flat=True)
            )
            for flow in [flow for key, flow in self.flows.items() if key not in own]:
                logger.warning("Job %s is no longer this worker's", flow.claimed.job.public_id)
                self._drop(flow)
        return held

    def _drop(self, flow: _Flow) -> None:
        flow.steps.close()
        if self._is_under_way(flow):
            del self.flows[flow.claimed.job.pk]

    # What is written

    def _keep_claims(self, group: Sequence[_Due[KeepClaims]]) -> None:
        with transaction.atomic():
            held = self._held(group)
            found = [each for _, step in held for each in step.found]
            kept = keep_claims(found, self.signature)
        self.claims.take_kept(found, kept)
        for flow, _ in held:
            self._advance(flow, None)

    def _keep_questions(self, group: Sequence[_Due[KeepQuestions]]) -> None:
        for flow, step in group:
            with transaction.atomic():
                if not self._held([(flow, step)]):
                    continue
                work = flow.work
                has_news = self.questions.keep(
                    work.document_set.pk, step.reading.questions or (), work.source, self.run
                )
            self._advance(flow, has_news)

    def _note_progress(self, group: Sequence[_Due[NoteProgress]]) -> None:
        with transaction.atomic():
            held = self._held(group)
            alike: dict[tuple[int, int], list[int]] = defaultdict(list)
            for flow, step in held:
                job = flow.claimed.job
                if (job.done, job.total, job.unscored) != (step.done, step.total, 0):
                    alike[step.done, step.total].append(job.pk)
            for (done, total), keys in alike.items():
                Job.objects.filter(pk__in=keys).update(total=total, done=done, unscored=0)
        for flow, _ in held:
            self._advance(flow, None)

    def _write_answers(self, group: Sequence[_Due[WriteAnswers]]) -> None:
        """Write the answers of peers with the scores that follow from them, some dozens of checks a transaction."""
        flows = {flow.claimed.job.pk: flow for flow, _ in group}
        # Some may stand already, where a group broke off and is written one by one.
        judged = [
            (flow, each) for flow, step in group for each in step.judged if each.peer.pk not in flow.written
        ]
        for some in _by_size(judged, CHECKS_A_TRANSACTION):
            with transaction.atomic():
                held = {flow.claimed.job.pk for flow, _ in self._held(_distinct(some, group))}
                self._write([(flow, each) for flow, each in some if flow.claimed.job.pk in held])
            for flow, each in some:
                flow.written.add(each.peer.pk)
                flow.unscored += each.asked.count(None)
                flow.usable += len(each.asked) - each.asked.count(None)
        for flow in flows.values():
            self._advance(flow, None)

    def _write(self, some: Sequence[tuple[_Flow, Judged]]) -> None:
        if not some:
            return
        peers = sorted(each.peer.pk for _, each in some)
        # Anyone who decides a check locks the summary first; in one order, so that two jobs never deadlock.
        locked = Summary.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=peers)
        list(locked.order_by("pk").values_list("pk", flat=True))
        write(
            [each for _, each in some],
            project=self.run.project,
            judge=self.judge.row,
            signature=self.signature,
            run=self.run,
        )
        rescore_now(project=self.run.project, summary_ids=peers)
        done: dict[int, int] = defaultdict(int)
        unscored: dict[int, int] = defaultdict(int)
        for flow, each in some:
            done[flow.claimed.job.pk] += 1
            unscored[flow.claimed.job.pk] += each.asked.count(None)
        Job.objects.filter(pk__in=done).update(
            done=F("done") + _by_key(done), unscored=F("unscored") + _by_key(unscored)
        )

    # How jobs end

    def _end(self) -> None:
        done, self.done = [flow for flow in self.done if self._is_under_way(flow)], []
        failed, self.failed = [each for each in self.failed if self._is_under_way(each[0])], []
        if done:
            jobs.finish(*(flow.claimed for flow in done))
            self.unavailable_in_a_row = 0
        for flow in done:
            self._drop(flow)
            flow.context.run(logger.info, "A document set is judged")
        for flow, failure in failed:
            self._drop(flow)
            self._fail(flow, failure)
        # Asked only where a document set came to nothing.
        if failed or any(flow.unscored and not flow.usable for flow in done):
            self.is_without_use = self.is_without_use or is_without_use(self.run)

    def _fail(self, flow: _Flow, failure: BaseException) -> None:
        flow.context.run(logger.warning, "A document set was not judged: %s", type(failure).__name__)
        match failure:
            case BudgetSpent() | JudgeRefused() | JudgeSettings():
                # The others' calls are under way: what they answer is written before the run stops.
                if self.stop is None:
                    self.stop = flow, failure
                else:
                    jobs.try_later(flow.claimed, error=str(failure))
            case Refusal():
                jobs.finish(flow.claimed, state=Job.State.FAILED, error=str(failure))
            case JudgeUnavailable():
                self.unavailable_in_a_row += 1
                jobs.try_later(flow.claimed, error=str(failure))
            case _:
                logger.error("Job %s failed", flow.claimed.job.public_id, exc_info=failure)
                jobs.try_later(flow.claimed, error=f"{type(failure).__name__}: {failure}")

    def _end_turn(self) -> None:
        """Stop the run where it cannot go on; where it is finished its judge may come to decide."""
        if self.stop is not None:
            flow, failure = self.stop
            state = Job.State.CANCELLED if isinstance(failure, BudgetSpent) else Job.State.FAILED
            stop_run(self.run, reason=str(failure), met_by=flow.claimed, state=state)
        elif self.is_without_use:
            stop_run(self.run, reason=why_without_use(self.run))
        settle(self.run)
        if self.run.decides_after:
            decide_after(run=self.run)


def _document_set(claimed: jobs.Claimed) -> DocumentSet:
    assert claimed.job.document_set is not None, "a job of a run"
    return claimed.job.document_set


def _distinct(
    some: Sequence[tuple[_Flow, Judged]], group: Sequence[_Due[WriteAnswers]]
) -> list[_Due[WriteAnswers]]:
    wanted = {flow.claimed.job.pk for flow, _ in some}
    return [each for each in group if each[0].claimed.job.pk in wanted]


def _by_key(numbers: dict[int, int]) -> Case | Value:
    if len(same := set(numbers.values())) == 1:
        return Value(same.pop())
    return Case(*(When(pk=key, then=Value(number)) for key, number in numbers.items()))


def _by_size(
    judged: Sequence[tuple[_Flow, Judged]], most_checks: int
) -> Iterator[list[tuple[_Flow, Judged]]]:
    """Groups of peers with so many checks together, or of one peer that has more alone."""
    group: list[tuple[_Flow, Judged]] = []
    checks = 0
    for flow, each in judged:
        if group and checks + len(each.sides) > most_checks:
            yield group
            group, checks = [], 0
        group.append((flow, each))
        checks += len(each.sides)
    if group:
        yield group
