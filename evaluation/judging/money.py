"""A cap on what calls cost."""

import asyncio
import threading

from evaluation._guards import checked_scale
from evaluation.judging.errors import BudgetSpent

LOOK_AGAIN_SECONDS = 0.02


def cost_of_next_call(cost: float) -> str:
    """A sentence for budgets that have no room: what the next call is expected to cost."""
    return f"The next one is expected to cost {cost:.4g}: its prompt, and a reply as long as those so far."


class MoneyCap:
    """A budget of a fixed sum. Safe to share between judges, loops and threads.

    Before a call, what such calls have cost so far is set aside (at first its prompt and a tenth of the longest reply);
    what it costs is known from its reply. Calls that find no room wait for those under way. The sum is exceeded at most
    by what the replies under way are longer than expected. One that was broken off has no reply, and counts with its
    prompt alone (see `Usage`).
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
        """Set aside what a call should cost, once there is room. Raises BudgetSpent if there will be none."""
        while not self._take(cost):  # noqa: ASYNC110 - calls of other loops and threads make room too
            await asyncio.sleep(LOOK_AGAIN_SECONDS)

    async def settle(self, reserved: float, cost: float) -> None:
        """Give back what was reserved and take what the call did cost."""
        with self._guard:
            self._open -= 1
            # No rest of rounding stays behind.
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
