"""What a run's calls cost: set aside before a call, taken after it."""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Case, F, FloatField, Q, Sum, Value, When
from django.db.models.functions import Greatest

from annotation.core.jobs import locked
from annotation.core.shared.clock import shared_now
from annotation.judging.services.database_thread import DatabaseThread, Grouped
from annotation.models import Job, Run
from evaluation.judging.errors import BudgetSpent
from evaluation.judging.protocol import cost_of_next_call
from evaluation.judging.turns import Queue, Room

paying_job: ContextVar[int] = ContextVar("paying_job")
"""The key of the job that a call is made for."""

LOOK_AGAIN_SECONDS = 0.1
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class _Bill:
    """What a call of a job sets aside, gives back and cost; `beside` has to fit too."""

    job: int
    aside: float = 0.0
    beside: float = 0.0
    back: float = 0.0
    cost: float = 0.0


class RunBudget:
    """The budget of a run, shared by all workers at it; calls are made for the `paying_job` in place.

    What is set aside stands in the row of the job that asks, so that a worker that dies takes nothing
    with it: the job's next attempt begins with nothing set aside. Calls that find no room wait for those under way,
    whichever worker makes them.
    """

    def __init__(self, run: Run) -> None:
        self._run_id = run.pk
        self._thread = DatabaseThread("run-budget")
        self._queue = Queue(LOOK_AGAIN_SECONDS)
        self._reserving: Grouped[_Bill, Room] = Grouped(self._thread, self._reserve)
        self._settling = Grouped(self._thread, self._settle)

    def close(self) -> None:
        """End the thread and its connection, once everything is settled."""
        self._thread.close()

    async def reserve(self, cost: float) -> None:
        """Set aside what a call is expected to cost, once there is room. Raises BudgetSpent where there will be none.

        Whoever is cancelled meanwhile has set nothing aside.
        """
        await self._queue.take(cost, self._take)

    async def _take(self, cost: float, beside: float) -> Room:
        bill = _Bill(paying_job.get(), aside=cost, beside=beside)
        asked = self._reserving.begin(bill)
        try:
            return await asyncio.wrap_future(asked)
        except asyncio.CancelledError:
            if not asked.cancel():
                self._thread.begin(lambda: self._take_back(asked, bill))
            raise

    async def settle(self, reserved: float, cost: float) -> None:
        """Give back what was set aside and take what the call did cost, also for a task that is cancelled."""
        self._queue.settled(cost)
        await self._settling.do_surely(_Bill(paying_job.get(), back=reserved, cost=cost))

    @transaction.atomic
    def _reserve(self, bills: Sequence[_Bill]) -> list[Room | BudgetSpent]:
        # Workers reserve one after the other: two must not both find room for the last call.
        run = Run.objects.select_for_update(of=("self",), no_key=True).get(pk=self._run_id)
        left, aside, is_busy = math.inf, 0.0, False
        if run.max_cost is not None:
            left = run.max_cost - run.cost
            # What a dead worker has set aside may have been spent, but nobody gives it back.
            live = Q(lease_until__gt=shared_now())
            sums = Job.objects.filter(run=run, state=Job.State.WORKING).aggregate(
                all=Sum("reserved_cost", default=0.0),
                live=Sum("reserved_cost", filter=live, default=0.0),
            )
            aside, is_busy = sums["all"], sums["live"] > _ROUNDING
        granted: list[_Bill] = []
        told: list[Room | BudgetSpent] = []
        for bill in bills:
            if aside + bill.aside + bill.beside <= left:
                aside += bill.aside
                is_busy = True
                granted.append(bill)
                told.append("taken")
            elif bill.aside <= left and is_busy:
                told.append("busy")
            elif aside + bill.aside <= left:
                told.append("idle")
            else:
                told.append(
                    BudgetSpent(
                        f"The run may cost {run.max_cost:g}, which leaves no room for another call. "
                        f"{cost_of_next_call(bill.aside)} Resume it with a higher cap; stored answers are not "
                        "paid again."
                    )
                )
        _change_reserved(granted)
        return told

    def _take_back(self, asked: Future[Room], bill: _Bill) -> None:
        # It stood before us in the one thread, so it has ended.
        if asked.exception() is None and asked.result() == "taken":
            self._settle([_Bill(bill.job, back=bill.aside)])

    @transaction.atomic
    def _settle(self, bills: Sequence[_Bill]) -> list[None]:
        Run.objects.filter(pk=self._run_id).update(cost=F("cost") + sum(bill.cost for bill in bills))
        _change_reserved(bills)
        return [None] * len(bills)


def _change_reserved(bills: Sequence[_Bill]) -> None:
    """What the jobs have set aside, after these bills; in one statement."""
    moved: dict[int, float] = defaultdict(float)
    for bill in bills:
        moved[bill.job] += bill.aside - bill.back
    if moved:
        by_job = Case(*(When(pk=job, then=Value(by)) for job, by in moved.items()), output_field=FloatField())
        jobs = Job.objects.filter(pk__in=locked(Job.objects.filter(pk__in=moved)))
        jobs.update(reserved_cost=Greatest(F("reserved_cost") + by_job, 0.0))
