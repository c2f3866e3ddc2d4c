"""A limit on the cost of calls."""

import asyncio
import threading

from evaluation._guards import checked_scale
from evaluation.judging.errors import BudgetSpent

LOOK_AGAIN_SECONDS = 0.02


def cost_of_next_call(cost: float) -> str:
    """Write a sentence for the message of BudgetSpent that names the expected cost of the next call."""
    return f"The next one is expected to cost {cost:.4g}: its prompt, and a reply as long as those so far."


class MoneyCap:
    """A budget of a fixed sum. Several judges, event loops and threads can share it.

    The expected cost of a call is reserved before the call, and replaced by the actual cost when the reply arrives. A
    call that does not fit waits for open calls. The sum can be exceeded if open calls cost more than expected. Raises
    InvalidWeight unless the sum is finite and above 0. Example: `OpenAIJudge("m", price=Price(2.0, 8.0),
    budget=MoneyCap(5.0))`.
    """

    def __init__(self, limit: float, spent: float = 0.0) -> None:
        self.limit = checked_scale("A money cap", limit)
        self.spent = spent
        self._reserved = 0.0
        self._open = 0
        self._guard = threading.Lock()

    async def reserve(self, cost: float) -> None:
        """Reserve the expected cost of a call; wait until it fits. Raises BudgetSpent if it can never fit."""
        while not self._take(cost):  # noqa: ASYNC110 - calls of other loops and threads make room too
            await asyncio.sleep(LOOK_AGAIN_SECONDS)

    async def settle(self, reserved: float, cost: float) -> None:
        """Replace a reservation by the actual cost of the call."""
        with self._guard:
            self._open -= 1
            # Without open calls, set the reserved sum to 0, so that rounding errors do not accumulate.
            self._reserved = self._reserved - reserved if self._open else 0.0
            self.spent += cost

    def _take(self, cost: float) -> bool:
        with self._guard:
            left = self.limit - self.spent
            if cost > left:
                told = f"The money cap of {self.limit:g} leaves no room for another call. {cost_of_next_call(cost)}"
                way_out = "Raise the cap and start again: what was answered is kept and not paid for twice."
                raise BudgetSpent(f"{told} {way_out}")
            if self._reserved + cost > left:
                return False
            self._reserved += cost
            self._open += 1
            return True
