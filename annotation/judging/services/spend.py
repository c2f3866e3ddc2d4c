"""What a run's calls cost: set aside before a call, taken after it, never more than the run may spend."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future

from django.db import transaction
from django.db.models import F, Sum
from django.db.models.functions import Greatest

from annotation.judging.services.database_thread import DatabaseThread
from annotation.models import Job, Run
from evaluation.judging.errors import BudgetSpent
from evaluation.judging.protocol import most_of_a_call


class RunBudget:
    """The budget of a run, shared by all workers at it.

    What is set aside stands in the row of the job that asks, so that a worker that dies takes nothing
    with it: the job's next attempt begins with nothing set aside.
    """

    def __init__(self, run: Run, job: Job) -> None:
        self._run_id = run.pk
        self._job_id = job.pk
        self._thread = DatabaseThread("run-budget")

    def close(self) -> None:
        """End the thread and its connection, once everything is settled."""
        self._thread.close()

    async def reserve(self, cost: float) -> None:
        """Set aside what a call may cost at most. Raises BudgetSpent where that is more than is left.

        Whoever is cancelled meanwhile has set nothing aside.
        """
        asked = self._thread.begin(lambda: self._reserve(cost))
        try:
            await asyncio.wrap_future(asked)
        except asyncio.CancelledError:
            if not asked.cancel():
                self._thread.begin(lambda: self._take_back(asked, cost))
            raise

    async def settle(self, reserved: float, cost: float) -> None:
        """Give back what was set aside and take what the call did cost, also for a task that is cancelled."""
        await self._thread.do_surely(lambda: self._settle(reserved, cost))

    @transaction.atomic
    def _reserve(self, cost: float) -> None:
        # Workers reserve one after the other: two must not both find room for the last call.
        run = Run.objects.select_for_update(of=("self",), no_key=True).get(pk=self._run_id)
        if run.max_cost is not None:
            working = Job.objects.filter(run=run, state=Job.State.WORKING)
            aside = working.aggregate(sum=Sum("reserved_cost", default=0.0))["sum"]
            if run.cost + aside + cost > run.max_cost:
                raise BudgetSpent(
                    f"The run may cost {run.max_cost:g}, which leaves no room for another call. {most_of_a_call(cost)} "
                    "Let it go on with a higher cap: nothing is paid for twice."
                )
        Job.objects.filter(pk=self._job_id).update(reserved_cost=F("reserved_cost") + cost)

    def _take_back(self, asked: Future[None], cost: float) -> None:
        # It stood before us in the one thread, so it has ended.
        if asked.exception() is None:
            self._settle(cost, 0.0)

    @transaction.atomic
    def _settle(self, reserved: float, cost: float) -> None:
        Run.objects.filter(pk=self._run_id).update(cost=F("cost") + cost)
        Job.objects.filter(pk=self._job_id).update(reserved_cost=Greatest(F("reserved_cost") - reserved, 0.0))
