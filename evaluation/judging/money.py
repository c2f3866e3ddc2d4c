"""A cap on what calls cost, and whose calls go first where money is short: what was started is finished first."""

import asyncio
import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from evaluation._guards import checked_scale
from evaluation.judging.errors import BudgetSpent

LOOK_AGAIN_SECONDS = 0.02
IDLE_SECONDS = 0.2
"""Where nothing was under way for so long, those that were started wait for something else than money."""


class Turn:
    """The place of one summary among those that are judged together; lower orders are finished first."""

    def __init__(self, order: int) -> None:
        self.order = order
        self.calls = 0
        self.is_over = False


_TURN: ContextVar[Turn | None] = ContextVar("_TURN", default=None)


@contextmanager
def in_turn(order: int) -> Iterator[None]:
    """The turn that calls in this context, and in tasks started in it, belong to."""
    turn = Turn(order)
    _TURN.set(turn)
    try:
        yield
    finally:
        turn.is_over = True
        _TURN.set(None)


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    turn: Turn | None
    arrival: int


def cost_of_next_call(cost: float) -> str:
    """A sentence for budgets that have no room: what the next call is expected to cost."""
    return f"The next one is expected to cost {cost:.4g}: its prompt, and a reply as long as those so far."


class MoneyCap:
    """A budget of a fixed sum. Safe to share between judges, loops and threads.

    Before a call, what such calls have cost so far is set aside (at first its prompt and a tenth of the longest reply);
    what it costs is known from its reply. Calls that find no room wait for those under way. The sum is exceeded at most
    by what the replies under way are longer than expected. One that was broken off has no reply, and counts with its
    prompt alone (see `Usage`).

    A call of a summary that was started goes before all others, in the order of summaries. A new one starts only if the
    money left covers those started, if each makes as many calls as the longest so far, each at the highest cost so
    far. So parallel work finishes as many as sequential work would.
    Raises InvalidWeight unless the sum is finite and above 0.
    Example: `OpenAIJudge("m", price=Price(2.0, 8.0), budget=MoneyCap(5.0))`.
    """

    def __init__(self, limit: float, spent: float = 0.0) -> None:
        self.limit = checked_scale("A money cap", limit)
        self.spent = spent
        self._reserved = 0.0
        self._open = 0
        self._guard = threading.Lock()
        self._arrivals = itertools.count()
        self._waiting: list[_Place] = []
        self._begun: set[Turn] = set()
        self._most_calls = 2
        self._dearest = 0.0

    async def reserve(self, cost: float) -> None:
        """Set aside what a call should cost, once there is room. Raises BudgetSpent where there will be none."""
        place = _Place(_TURN.get(), next(self._arrivals))
        clock = asyncio.get_running_loop().time
        busy_at = clock()
        with self._guard:
            self._waiting.append(place)
        try:
            while not self._take(place, cost, is_idle=clock() - busy_at > IDLE_SECONDS):
                busy_at = clock() if self._open else busy_at
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
        finally:
            with self._guard:
                self._waiting.remove(place)

    async def settle(self, reserved: float, cost: float) -> None:
        """Give back what was reserved and take what the call did cost."""
        with self._guard:
            self._open -= 1
            # No rest of rounding stays behind.
            self._reserved = self._reserved - reserved if self._open else 0.0
            self.spent += cost
            self._dearest = max(self._dearest, cost)

    def _take(self, place: _Place, cost: float, *, is_idle: bool) -> bool:
        """Whether the sum is set aside: none that waits goes before, and there is room."""
        with self._guard:
            self._begun = {turn for turn in self._begun if not turn.is_over}
            if min(self._waiting, key=self._key) is not place:
                return False
            left, turn = self.limit - self.spent, place.turn
            others = 0.0 if is_idle or turn is None or turn in self._begun else self._for_begun(cost)
            if self._reserved + cost + others > left:
                if cost > left:
                    raise BudgetSpent(
                        f"The money cap of {self.limit:g} leaves no room for another call. {cost_of_next_call(cost)} "
                        "Raise the cap and start again: what was answered is kept and not paid for twice."
                    )
                return False
            self._reserved += cost
            self._open += 1
            if turn is not None:
                self._begun.add(turn)
                turn.calls += 1
                self._most_calls = max(self._most_calls, turn.calls)
            return True

    def _key(self, place: _Place) -> tuple[bool, int, int]:
        if place.turn is None:
            return False, 0, place.arrival
        return place.turn not in self._begun, place.turn.order, place.arrival

    def _for_begun(self, cost: float) -> float:
        """What those started may still need before a new one begins."""
        calls = sum(max(0, self._most_calls - turn.calls) for turn in self._begun)
        return calls * (self._dearest or cost)
