"""A cap on the cost of calls."""

import asyncio
import threading

from evaluation._guards import checked_scale
from evaluation.judging.errors import BudgetSpent

LOOK_AGAIN_SECONDS = 0.02


def cost_of_next_call(cost: float) -> str:
    """The sentence about the expected cost of the next call in the message of BudgetSpent."""
    return f"The next one is expected to cost {cost:.4g}: its prompt, and a reply as long as those so far."


class MoneyCap:
    """A budget of a fixed sum. Safe to share between judges, loops and threads.

    Before a call, its expected cost is reserved: that of earlier calls, at first of its prompt and a tenth of the
    longest reply. Its reply determines the actual cost. Calls without room wait for open calls. The sum is exceeded
    by no more than the unexpected length of open replies. An interrupted call costs its prompt alone (see `Usage`).
    Raises InvalidWeight unless the sum is finite and above 0.
    Example: `OpenAIJudge("m", price=Price(2.0, 8.0), budget=MoneyCap(5.0))`.
    """

    def __init__(self, limit: float, spent: float = 0.0) -> None:
        self.limit = checked_scale("A money cap", limit)
        self.spent = spent
        self._reserved = 0.0
        self._open = 0
        self._guard = threading.Lock()

    async def reserve(self, cost: float) -> None:
        """Reserve the expected cost of a call, and wait for room if needed. Raises BudgetSpent if there can be none."""
        while not self._take(cost):  # noqa: ASYNC110 - calls of other loops and threads make room too
            await asyncio.sleep(LOOK_AGAIN_SECONDS)

    async def settle(self, reserved: float, cost: float) -> None:
        """Replace a reservation by the actual cost of the call."""
        with self._guard:
            self._open -= 1
            # Set to 0 without open calls, so that rounding errors do not add up.
            self._reserved = self._reserved - reserved if self._open else 0.0
            self.spent += cost

    def _take(self, cost: float) -> bool:
        with self._guard:
            left = self.limit - self.spent
            if cost > left:
                raise BudgetSpent(
                    f"The money cap of {self.limit:g} leaves no room for another call. {cost_of_next_call(cost)} "
                    "Raise the cap and start again: what was answered is kept and not paid for twice."
                )
            if self._reserved + cost > left:
                return False
            self._reserved += cost
            self._open += 1
            return True
