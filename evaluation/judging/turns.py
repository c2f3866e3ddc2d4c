"""Whose calls go first where money is short: what was begun is finished before anything else begins."""

import asyncio
import itertools
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

LOOK_AGAIN_SECONDS = 0.02
IDLE_SECONDS = 0.2
"""Where nothing was under way for so long, those that were begun wait for something else than money."""

Room = Literal["taken", "busy", "idle"]
Take = Callable[[float, float], Awaitable[Room]]
"""Sets the first sum aside if both fit into what is left. Else "busy" where calls under way may give some back,
"idle" where there are none and the first sum alone would fit. Raises BudgetSpent where it never will."""


class Turn:
    """The place of one summary, or one job, among those that are judged together; lower orders are finished first."""

    def __init__(self, order: int) -> None:
        self.order = order
        self.calls = 0
        self.is_over = False


_TURN: ContextVar[Turn | None] = ContextVar("_TURN", default=None)


def take_turn(order: int) -> Turn:
    """The turn that calls in this context, and in tasks begun in it, belong to from now on, until it is over."""
    turn = Turn(order)
    _TURN.set(turn)
    return turn


@contextmanager
def in_turn(order: int) -> Iterator[None]:
    """A turn that is over with this context."""
    turn = take_turn(order)
    try:
        yield
    finally:
        turn.is_over = True
        _TURN.set(None)


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    turn: Turn | None
    arrival: int


class Queue:
    """Calls that wait for money. Safe for several loops and threads.

    One of a turn that was begun goes before all others, in the order of turns. A new turn starts only if the money left
    covers the started turns, assuming each makes as many calls as the longest so far, each at the highest cost so far.
    So parallel work finishes as many as sequential work would.
    """

    def __init__(self, look_again_seconds: float = LOOK_AGAIN_SECONDS) -> None:
        self._look_again_seconds = look_again_seconds
        self._guard = threading.Lock()
        self._arrivals = itertools.count()
        self._waiting: list[_Place] = []
        self._begun: set[Turn] = set()
        self._most_calls = 2
        self._dearest: float | None = None

    async def take(self, cost: float, take: Take) -> None:
        """Returns when the sum is set aside. Raises BudgetSpent."""
        place = _Place(_TURN.get(), next(self._arrivals))
        clock = asyncio.get_running_loop().time
        busy_at = clock()
        try:
            while True:
                if self._is_first(place):
                    is_idle = clock() - busy_at > IDLE_SECONDS
                    room = await take(cost, 0.0 if is_idle else self._for_others(place, cost))
                    if room == "taken":
                        self._begin(place)
                        return
                    if room == "busy":
                        busy_at = clock()
                    self._step_back(place)
                    self._wait(place)
                await asyncio.sleep(self._look_again_seconds)
        finally:
            self._step_back(place)
            self._leave(place)

    def _is_first(self, place: _Place) -> bool:
        """Whether none that waits goes before; else the place waits too."""
        with self._guard:
            self._begun = {turn for turn in self._begun if not turn.is_over}
            is_first = all(self._key(place) <= self._key(other) for other in self._waiting)
        if not is_first:
            self._wait(place)
        return is_first

    def _wait(self, place: _Place) -> None:
        with self._guard:
            if place not in self._waiting:
                self._waiting.append(place)

    def _key(self, place: _Place) -> tuple[bool, int, int]:
        if place.turn is None:
            return False, 0, place.arrival
        return place.turn not in self._begun, place.turn.order, place.arrival

    def settled(self, cost: float) -> None:
        """Tells what a call did cost."""
        with self._guard:
            self._dearest = max(self._dearest or 0.0, cost)

    def _for_others(self, place: _Place, cost: float) -> float:
        """What those begun may still need before a new one begins."""
        with self._guard:
            if place.turn is None or place.turn in self._begun:
                return 0.0
            calls = sum(max(0, self._most_calls - turn.calls) for turn in self._begun)
            # Before its call has room, so that turns which ask at the same time count each other.
            self._begun.add(place.turn)
            return calls * (cost if self._dearest is None else self._dearest)

    def _begin(self, place: _Place) -> None:
        if place.turn is not None:
            with self._guard:
                self._begun.add(place.turn)
                place.turn.calls += 1
                self._most_calls = max(self._most_calls, place.turn.calls)

    def _step_back(self, place: _Place) -> None:
        """A turn without a call has not begun."""
        with self._guard:
            if place.turn is not None and place.turn.calls == 0:
                self._begun.discard(place.turn)

    def _leave(self, place: _Place) -> None:
        with self._guard:
            if place in self._waiting:
                self._waiting.remove(place)
