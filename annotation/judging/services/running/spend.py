"""The cost of a run's calls, and its cap."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future

from django.db.models import F, Sum
from django.db.models.functions import Greatest

from annotation.judging.services.running.database_thread import DatabaseThread, Grouped
from annotation.models import JudgeCall, Run
from evaluation.judging.errors import BudgetSpent
from evaluation.judging.money import cost_of_next_call
from evaluation.judging.protocol import Price

LOOK_AGAIN_SECONDS = 0.1


class RunBudget:
    """The budget of a run, whose column `cost` has the cost of its calls, and with a cap also the reservations."""

    def __init__(self, run: Run, thread: DatabaseThread) -> None:
        self._run = Run.objects.filter(pk=run.pk)
        self._has_cap = run.max_cost is not None
        self._open = 0
        self._thread = thread
        self._settling = Grouped(thread.begin, self._settle)

    async def reserve(self, cost: float) -> None:
        """Reserve the expected cost of a call; wait while the cap leaves too little.

        Without a cap, nothing is reserved. Raises BudgetSpent if the cap leaves too little although this process has no
        open calls. If the caller is cancelled, nothing stays reserved.
        """
        while self._has_cap and not await self._take(cost):  # noqa: ASYNC110 - see below
            # Poll, because another process may free money.
            await asyncio.sleep(LOOK_AGAIN_SECONDS)

    async def _take(self, cost: float) -> bool:
        asked = self._thread.begin(lambda: self._hold(cost))
        try:
            return await asyncio.wrap_future(asked)
        except asyncio.CancelledError:
            if not asked.cancel():
                self._thread.begin(lambda: self._take_back(asked, cost))
            raise

    def _hold(self, cost: float) -> bool:
        """True if the cost fits and was reserved; False if it may fit after open calls have ended."""
        if self._run.filter(max_cost__gte=F("cost") + cost).update(cost=F("cost") + cost):
            self._open += 1
            return True
        if self._open:
            return False
        cap = self._run.get().max_cost or 0.0
        told = f"The run may cost {cap:g}, which leaves no room for another call. {cost_of_next_call(cost)}"
        raise BudgetSpent(f"{told} Resume it with a higher cap; stored answers are not paid again.")

    def _take_back(self, asked: Future[bool], cost: float) -> None:
        # The thread does one piece of work at a time, so `asked` has ended.
        if asked.exception() is None and asked.result():
            self._settle([(cost, 0.0)])

    async def settle(self, reserved: float, cost: float) -> None:
        """Replace a reservation by the actual cost, even if the task is cancelled."""
        await self._settling.do((reserved, cost), surely=True)

    def _settle(self, bills: Sequence[tuple[float, float]]) -> list[None]:
        held = sum(reserved for reserved, _ in bills) if self._has_cap else 0.0
        self._run.update(cost=Greatest(F("cost") - held + sum(cost for _, cost in bills), 0.0))
        self._open -= len(bills)
        return [None] * len(bills)


def cost_of_calls(run: Run) -> float:
    """Compute the cost of the run's stored calls at the judges' prices."""
    calls = JudgeCall.objects.filter(run=run).order_by()
    sums = calls.values_list("judge__prompt_price", "judge__completion_price").annotate(
        Sum("prompt_tokens"), Sum("completion_tokens")
    )
    return sum(Price(*prices).of(prompt, completion) for *prices, prompt, completion in sums)
